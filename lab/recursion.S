/*
 * The recursion of 23-6. RDI = the struct recursion, ESI = how much deeper it goes, R8 = the returns until
 * the recording ends. System V calling convention; only caller-saved registers are changed.
 */
#include "lab/recursion.h"
#include "x86/pmu.h"

.macro FUNCTION name
    .text
    .globl  \name
    .type   \name, @function
    .p2align 4
\name:
.endm

.macro AT name
    .globl  \name
\name:
.endm

/* No branch is taken from here to the end of the recording. */
.macro STOP
    movl    RECURSION_MSR(%rdi), %ecx
    movl    RECURSION_OFF(%rdi), %eax
    movl    RECURSION_OFF+4(%rdi), %edx
    wrmsr
.endm

/* Ends the recording when so many have returned. */
.macro RETURNED
    testq   %r8, %r8
    jnz     9f
    STOP
9:
    decq    %r8
.endm

    FUNCTION recursion
    movl    RECURSION_DOWN(%rdi), %esi
    movq    RECURSION_UP(%rdi), %r8
    AT recursion_call
    call    recursion_even
    ret

    FUNCTION recursion_even
    testl   %esi, %esi
    jz      1f
    decl    %esi
    call    recursion_leaf
    AT recursion_even_call
    call    recursion_odd
1:
    RETURNED
    ret

    FUNCTION recursion_odd
    testl   %esi, %esi
    jz      1f
    decl    %esi
    leaq    recursion_leaf(%rip), %rax
    call    *%rax
    AT recursion_odd_call
    call    recursion_even
1:
    RETURNED
    ret

    FUNCTION recursion_leaf
    nop
    ret

    FUNCTION recursion_next
    call    1f
1:
    popq    %rax
    STOP
    ret

    .section .rodata
    .globl  recursion_next_run
    .p2align 3
recursion_next_run:
    .quad   1
    .quad   pmu_window_call, recursion_next, LBR_SELECT_NEAR_IND_CALL

    .section .note.GNU-stack, "", @progbits
