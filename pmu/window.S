/*
 * The counting window: one WRMSR opens all counters, one closes them, and between the two there is nothing
 * but the code under test and the instructions listed here.
 *
 * What the window adds to a count of retired instructions is pmu_window_insns. Each instruction of the window
 * stands in an INSN, which emits it and adds one to the sum, so that the constant is the listing's own length.
 * Of the two WRMSRs exactly one is in the count: the write takes effect while the instruction executes, and an
 * instruction is counted when it retires, afterwards. So the opening WRMSR retires with the counter already
 * running and is counted; the closing one retires with the counter already stopped and is not. The SDM does
 * not say it in so many words (vol. 3 "Pre-defined Architectural Performance Events", Instructions Retired,
 * counts "at retirement"), so experiment 15-2 measures it with an empty body. (KVM's own tests, x86/pmu.c, find
 * one of the two in the count as well, on general and on fixed counters.)
 */
    .set    window_insns, 0

.macro INSN line:vararg
    \line
    .set    window_insns, window_insns + 1
.endm

    .text
    .globl  pmu_window, pmu_window_open, pmu_window_call, pmu_window_return, pmu_window_close, pmu_window_end
    .type   pmu_window, @function

/* void pmu_window(uint32_t msr, uint64_t on, uint64_t off, window_body body, uint64_t arg)
 *                 edi           rsi          rdx           rcx               r8 */
    .p2align 6
pmu_window:
    pushq   %rbp
    movq    %rsp, %rbp
    pushq   %rbx
    pushq   %r12
    pushq   %r13
    pushq   %r14                    /* keeps RSP 16-byte aligned at the call */
    movl    %edi, %ebx              /* what the closing write needs stays in registers */
    movl    %edx, %r12d
    movq    %rdx, %r13
    shrq    $32, %r13
    movq    %rcx, %r14
    movq    %r8, %rdi
    movl    %ebx, %ecx
    movl    %esi, %eax
    movq    %rsi, %rdx
    shrq    $32, %rdx
pmu_window_open:
    INSN    wrmsr                   /* opens: retires with the counters running, counted */
pmu_window_call:
    INSN    call *%r14              /* the body, its own instructions and RET not included */
pmu_window_return:
    INSN    movl %ebx, %ecx
    INSN    movl %r12d, %eax
    INSN    movl %r13d, %edx
pmu_window_close:
    wrmsr                           /* closes: retires with the counters stopped, not counted */
pmu_window_end:
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbx
    popq    %rbp
    ret
    .size   pmu_window, . - pmu_window

    .section .rodata
    .globl  pmu_window_insns
    .p2align 3
pmu_window_insns:
    .quad   window_insns

    .section .note.GNU-stack, "", @progbits
