/* The way into a sequence on the host and out of it: every register and RFLAGS come
 * from the block and go back there. The stack pointer is the sequence's own in between. */
#include "tests/diff/layout.h"

        .macro  all_registers op
        \op     0, rax
        \op     1, rcx
        \op     2, rdx
        \op     3, rbx
        \op     4, rsp
        \op     5, rbp
        \op     6, rsi
        \op     7, rdi
        \op     8, r8
        \op     9, r9
        \op     10, r10
        \op     11, r11
        \op     12, r12
        \op     13, r13
        \op     14, r14
        \op     15, r15
        .endm
        .macro  load_one n, reg
        movq    BLOCK_IN + 8 * \n, %\reg
        .endm
        .macro  store_one n, reg
        movq    %\reg, BLOCK_OUT + 8 * \n
        .endm

        .macro  all_uppers op
        \op     0
        \op     1
        \op     2
        \op     3
        \op     4
        \op     5
        \op     6
        \op     7
        \op     8
        \op     9
        \op     10
        \op     11
        \op     12
        \op     13
        \op     14
        \op     15
        .endm
        .macro  load_upper n
        vinsertf128 $1, BLOCK_IN + BLOCK_UPPER + 16 * \n, %ymm\n, %ymm\n
        .endm
        .macro  store_upper n
        vextractf128 $1, %ymm\n, BLOCK_OUT + BLOCK_UPPER + 16 * \n
        .endm

        .text
        .globl  native_enter, native_exit, native_leave
native_enter:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        movq    %rsp, BLOCK_RSP
        fxsave64 BLOCK_OWN
        fxrstor64 BLOCK_IN + BLOCK_FX
        cmpq    $0, BLOCK_AVX
        je      1f
        all_uppers load_upper
1:
        pushq   BLOCK_IN + BLOCK_FLAGS
        popfq
        all_registers load_one
        jmp     *BLOCK_TARGET

native_exit:                            /* the exit page jumps here */
        all_registers store_one
        movq    BLOCK_RSP, %rsp
        pushfq
        popq    BLOCK_OUT + BLOCK_FLAGS
        fxsave64 BLOCK_OUT + BLOCK_FX
        cmpq    $0, BLOCK_AVX
        je      native_leave
        all_uppers store_upper
native_leave:                           /* the signal handler goes on here after a fault */
        movq    BLOCK_RSP, %rsp
        fninit                          /* nothing waits any more */
        fxrstor64 BLOCK_OWN
        cld
        cmpq    $0, BLOCK_AVX
        je      1f
        vzeroupper
1:
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret

        .section .note.GNU-stack, "", @progbits
