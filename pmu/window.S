/*
 * The counting window: one WRMSR opens all counters, one closes them, and between the two there is nothing
 * but the code under test and the instructions listed here. Where no register enables all, one WRMSR opens one
 * counter, and several have a window of their own, below.
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

/*
 * The window of several counters where no register enables all (struct window_step: an MSR, what opens its counter,
 * what closes it). They are opened one after the other and closed in the same order, so that a counter that is opened
 * later is closed later by as much. Of n counters each one counts
 *
 *      its own opening WRMSR and what follows it in its step, and its closing step up to the WRMSR: one step together;
 *      the opening steps of those behind it, and the closing steps of those before it: n - 1 steps together;
 *      the CALL and what sets the pointer back,
 *
 * which is the same number whichever it is, EACH n times and ONCE once. Closed in the opposite order the first would
 * count every step of the others twice, and the last none. The two loops are one macro's, so that the steps are also
 * of the same kinds: an opening step and a closing one differ by what is written alone. So every counter has the same
 * number of branches too, and of taken ones: only the last JNE of a loop is not taken, and each counter has just one
 * such, that of the opening loop. What the steps take in cycles need not be the same.
 *
 * CMP and JNE stand apart, so that no processor fuses them.
 */
    .set    in_turn_once, 0
    .set    in_turn_each, 0         /* of both loops */

.macro ONCE line:vararg
    \line
    .set    in_turn_once, in_turn_once + 1
.endm

.macro EACH line:vararg
    \line
    .set    in_turn_each, in_turn_each + 1
.endm

#define STEP_MSR  0
#define STEP_ON   8
#define STEP_OFF  16
#define STEP_SIZE 24

/* R12 to R13, the first and the last step; at is the label of the WRMSR. */
.macro WRITE_ALL value, at
1:  EACH    movl STEP_MSR(%rbx), %ecx
    EACH    movl \value(%rbx), %eax
    EACH    movl \value + 4(%rbx), %edx
\at:
    EACH    wrmsr
    EACH    cmpq %r13, %rbx
    EACH    leaq STEP_SIZE(%rbx), %rbx
    EACH    jne 1b
.endm

    .text
    .globl  pmu_window_in_turn, pmu_window_in_turn_open, pmu_window_in_turn_call, pmu_window_in_turn_close
    .type   pmu_window_in_turn, @function

/* void pmu_window_in_turn(const struct window_step *first, const struct window_step *last, window_body body,
 *                         rdi                              rsi                             rdx
 *                         uint64_t arg)
 *                         rcx */
    .p2align 6
pmu_window_in_turn:
    pushq   %rbp
    movq    %rsp, %rbp
    pushq   %rbx
    pushq   %r12
    pushq   %r13
    pushq   %r14                    /* keeps RSP 16-byte aligned at the call */
    movq    %rdi, %r12
    movq    %rsi, %r13
    movq    %rdx, %r14
    movq    %rcx, %rdi
    movq    %r12, %rbx
    WRITE_ALL STEP_ON, pmu_window_in_turn_open
pmu_window_in_turn_call:
    ONCE    call *%r14              /* the body, its own instructions and RET not included */
    ONCE    movq %r12, %rbx
    WRITE_ALL STEP_OFF, pmu_window_in_turn_close
    popq    %r14
    popq    %r13
    popq    %r12
    popq    %rbx
    popq    %rbp
    ret
    .size   pmu_window_in_turn, . - pmu_window_in_turn

    .section .rodata
    .globl  pmu_window_insns, pmu_window_in_turn_once, pmu_window_in_turn_each
    .p2align 3
pmu_window_insns:
    .quad   window_insns
pmu_window_in_turn_once:
    .quad   in_turn_once
pmu_window_in_turn_each:
    .quad   in_turn_each / 2

    .section .note.GNU-stack, "", @progbits
