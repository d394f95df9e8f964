/*
 * Trap entry and exit, and the switch to and from the experiment stack.
 * SDM vol. 3 "Exception and Interrupt Handling in 64-bit Mode", "Handling Multiple NMIs".
 *
 * Two things need care. GS: in ring 0 its base is always that of struct percpu, in ring 3 the user's; the
 * saved CS tells which it was, except that an NMI, #DF or #MC may strike between the entry from ring 3
 * and its SWAPGS; these look at the base itself. NMIs: IRET ends their blocking, also the IRET of a fault
 * that the NMI handler itself took and had fixed up; a second NMI would then overwrite the frame of the
 * first at the top of the IST stack. So while an NMI is handled, a fault in ring 0 returns without IRET.
 */
#include "x86/msr.h"
#include "x86/regs.h"
#include "kernel/percpu.h"

/* Offsets in struct trap_frame (kernel/trap.h); trap.c asserts them. */
#define FRAME_ERROR 128
#define FRAME_RIP 136
#define FRAME_CS 144
#define FRAME_RFLAGS 152
#define FRAME_RSP 160
#define VECTOR_AND_ERROR 16

#define STUB_SIZE 9 /* two pushes of a byte, a near jump */
#define VECTORS 256

    .text
    .macro push_registers
    pushq %rax
    pushq %rbx
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %rbp
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    .endm

    .macro pop_registers
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rbp
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rbx
    popq %rax
    .endm

    /* One stub a vector, all of the same size: IDT entry n points to trap_stubs + n * STUB_SIZE. Those
     * without an error code push a 0 for it (SDM vol. 3 "Exceptions and Interrupts", table of the
     * protected-mode exceptions; 21 #CP, 29 #VC and 30 #SX have one too). PUSH sign-extends its byte;
     * trap_dispatch cuts the vector back to eight bits. */
    .globl trap_stubs
trap_stubs:
    .set vector, 0
    .rept VECTORS
    .org trap_stubs + vector * STUB_SIZE
    .if !(vector == VEC_DF || (vector >= VEC_TS && vector <= VEC_PF) || vector == VEC_AC || \
          vector == 21 || vector == 29 || vector == 30)
    pushq $0
    .endif
    pushq $(vector - ((vector & 0x80) << 1))
    .if vector == VEC_DF || vector == VEC_NMI || vector == VEC_MC
    jmp trap_entry_ist
    .else
    jmp trap_entry
    .endif
    .set vector, vector + 1
    .endr

    .globl trap_entry
/* RBX, which C keeps, says whether the exit has to swap GS back. */
trap_entry:
    push_registers
    cld
    xorl %ebx, %ebx
    testb $SEG_RPL, FRAME_CS(%rsp)
    jz 1f
    swapgs
    incl %ebx
1:  movq %rsp, %rdi
    call trap_dispatch
    testb $SEG_RPL, FRAME_CS(%rsp)
    jnz trap_exit
    cmpq $0, %gs:PERCPU_NMI_DEPTH
    jne trap_exit_in_nmi

trap_exit:
    testl %ebx, %ebx
    jz 1f
    swapgs
1:  pop_registers
    addq $VECTOR_AND_ERROR, %rsp
    iretq

/* Back into the NMI handler: RFLAGS and RIP go below the interrupted RSP (the kernel has no red zone) and
 * are popped from there. They may overwrite the frame's own SS and RSP, so all is read before. */
trap_exit_in_nmi:
    movq FRAME_RSP(%rsp), %rax
    movq FRAME_RIP(%rsp), %rcx
    movq FRAME_RFLAGS(%rsp), %rdx
    subq $16, %rax
    movq %rax, FRAME_ERROR(%rsp)
    movq %rcx, 8(%rax)
    movq %rdx, (%rax)
    pop_registers
    movq 8(%rsp), %rsp
    popfq
    ret

trap_entry_ist:
    push_registers
    cld
    xorl %ebx, %ebx
    testb $SEG_RPL, FRAME_CS(%rsp)
    jnz 1f
    movl $MSR_IA32_GS_BASE, %ecx
4:  rdmsr
    testl %edx, %edx
    jnz 1f
    cmpl $percpus, %eax
    jb 1f
    cmpl $(percpus + PERCPU_ARRAY_SIZE), %eax
    jb 2f
1:  swapgs
    incl %ebx
    /* Should the read be refused: ring 0 has the kernel's GS but for a few instructions. */
    .pushsection .ex_table, "a"
    .long 4b, 2f
    .popsection
2:  cmpb $VEC_NMI, FRAME_ERROR - 8(%rsp)
    jne 3f
    incq %gs:PERCPU_NMI_DEPTH
    movq %rsp, %rdi
    call trap_dispatch
    decq %gs:PERCPU_NMI_DEPTH
    jmp trap_exit
3:  movq %rsp, %rdi
    call trap_dispatch
    testb $SEG_RPL, FRAME_CS(%rsp)
    jnz trap_exit
    testl %ebx, %ebx /* a ring-0 frame with the user's GS: the NMI handler has the kernel's */
    jnz trap_exit
    cmpq $0, %gs:PERCPU_NMI_DEPTH
    jne trap_exit_in_nmi
    jmp trap_exit

/* bool guard_enter(void (*fn)(void *), void *arg): calls fn(arg) on the experiment stack. True when it
 * returned, false when guard_resume() ended it. */
    .globl guard_enter
guard_enter:
    pushq %rbp
    movq %rsp, %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    pushfq
    movq %rsp, %gs:PERCPU_GUARD_RSP
    movq %gs:PERCPU_EXPERIMENT_TOP, %rsp
    movq %rdi, %rax
    movq %rsi, %rdi
    call *%rax
    cli /* the watchdog must not find the run ended before the runner has stopped it */
    movl $1, %eax
    movq %gs:PERCPU_GUARD_RSP, %rsp
guard_leave:
    movq $0, %gs:PERCPU_GUARD_RSP
    popfq
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret

/* _Noreturn void guard_resume(void): back to the caller of guard_enter(), with false. By IRET, because the
 * way here may have been an NMI, which only an IRET unblocks. The NMI depth is cleared before, while NMIs
 * are still blocked. Interrupts stay off until guard_leave has the caller's RFLAGS. */
    .globl guard_resume
guard_resume:
    movq %gs:PERCPU_GUARD_RSP, %rax
    movq %rax, %rsp
    movq $0, %gs:PERCPU_NMI_DEPTH
    pushq $SEG_KERNEL_DATA
    pushq %rax
    pushq $RFLAGS_FIXED1
    pushq $SEG_KERNEL_CODE
    pushq $1f
    iretq
1:  xorl %eax, %eax
    jmp guard_leave

    .section .note.GNU-stack, "", @progbits
