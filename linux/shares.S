/*
 * shares: of its instructions, and of its time, 60 in 100 are in sixty, 30 in thirty and 10 in ten, but for 30 in
 * 40,000 of the loop around them. All three are the same loop.
 */
#include "linux/system.inc"

#ifndef ROUNDS
#define ROUNDS 400
#endif

    .macro share name turns
    .type \name, @function
\name:
    mov $\turns, %ecx
1:  add $1, %eax
    add $2, %edx
    dec %ecx
    jnz 1b
    ret
    .size \name, . - \name
    .endm

    .globl _start
    .type _start, @function
_start:
    mov $ROUNDS, %ebx
1:  call sixty
    call thirty
    call ten
    dec %ebx
    jnz 1b
    xor %edi, %edi
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start

    share sixty, 6000
    share thirty, 3000
    share ten, 1000
