/*
 * calls: _start calls outer, outer calls middle, middle calls inner, again and again; each has its work before the
 * call, so that a sample's stack of calls is known by its place. All the branches that are ever taken:
 * three calls, three returns, and the two loops (.Lturn in inner, .Lagain in _start).
 */
#include "linux/system.inc"

#define ROUNDS 400000
#define TURNS  4

    .globl _start
    .type _start, @function
_start:
    mov $ROUNDS, %ebx
.Lagain:
    call outer
    dec %ebx
    jnz .Lagain
    xor %edi, %edi
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start

    .type outer, @function
outer:
    add $1, %eax
    call middle
    ret
    .size outer, . - outer

    .type middle, @function
middle:
    add $1, %eax
    call inner
    ret
    .size middle, . - middle

    .type inner, @function
inner:
    mov $TURNS, %ecx
.Lturn:
    add $2, %edx
    dec %ecx
    jnz .Lturn
    ret
    .size inner, . - inner
