/*
 * Into ring 3 and back. What stands here is in the branch records and counts of the experiments that run
 * user code, so there is no branch but those that user.h names.
 *
 * The kernel's stack pointer waits in struct percpu, and in the TSS, so that an interrupt from ring 3 pushes
 * its frame below what is live here.
 */
#include "x86/regs.h"
#include "kernel/percpu.h"
#include "kernel/user.h"

    .text
/* void user_enter(uint64_t arg) */
    .globl user_enter, user_iretq
    .type user_enter, @function
user_enter:
    pushq %rbp
    movq %rsp, %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    pushfq
    cli /* from here to IRETQ the stack pointer and GS are in between */
    movq %rsp, %gs:PERCPU_USER_RSP
    movq %rsp, %gs:PERCPU_TSS_RSP0
    movq (%rsp), %rax
    andl $RFLAGS_IF, %eax
    orl $RFLAGS_FIXED1, %eax
    pushq $(SEG_USER_DATA | SEG_RPL)
    pushq %gs:PERCPU_USER_STACK
    pushq %rax
    pushq $(SEG_USER_CODE64 | SEG_RPL)
    pushq %gs:PERCPU_USER_CODE
    xorl %eax, %eax
    xorl %ebx, %ebx
    xorl %ecx, %ecx
    xorl %edx, %edx
    xorl %esi, %esi
    xorl %ebp, %ebp
    xorl %r8d, %r8d
    xorl %r9d, %r9d
    xorl %r10d, %r10d
    xorl %r11d, %r11d
    xorl %r12d, %r12d
    xorl %r13d, %r13d
    xorl %r14d, %r14d
    xorl %r15d, %r15d
    swapgs
user_iretq:
    iretq
    .size user_enter, . - user_enter

/* Returns to the caller of user_enter(), its RFLAGS last: IF may be on in them. IRETQ to ring 3 has cleared
 * the data segments that ring 3 may not use (SDM vol. 2 "IRET"). */
    .macro back_to_caller name
    swapgs
    movq %gs:PERCPU_USER_RSP, %rsp
    movq %rax, %gs:PERCPU_USER_RESULT
    movl $SEG_KERNEL_DATA, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    popfq
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
\name\()_ret:
    ret
    .endm

    .globl user_syscall_ret, user_sysenter_ret, user_interrupt_ret
    .globl user_syscall_entry, user_sysenter_entry, user_interrupt_entry
    .type user_syscall_entry, @function
user_syscall_entry:
    back_to_caller user_syscall
    .size user_syscall_entry, . - user_syscall_entry

    .type user_sysenter_entry, @function
user_sysenter_entry:
    back_to_caller user_sysenter
    .size user_sysenter_entry, . - user_sysenter_entry

/* The vector may also come from outside while ring 0 runs: then it is a trap like any other. */
    .type user_interrupt_entry, @function
user_interrupt_entry:
    testb $SEG_RPL, 8(%rsp) /* the CS that was pushed */
    jz 1f
    back_to_caller user_interrupt
1:  pushq $0
    pushq $USER_VECTOR
    jmp trap_entry
    .size user_interrupt_entry, . - user_interrupt_entry

/* Copied behind the user's code by user_load(). */
    .macro exit_by name, instruction:vararg
    .globl user_exit_\name
    .type user_exit_\name, @function
user_exit_\name:
    \instruction
    ud2
    .size user_exit_\name, . - user_exit_\name
    .endm
    exit_by syscall syscall
    exit_by sysenter sysenter
    exit_by interrupt int $USER_VECTOR

    .section .note.GNU-stack, "", @progbits
