/*
 * mixed: the function that experiment 15-2 counts, as often: lab/bodies.S is linked to it. What stands around the
 * call here are MIXED_AROUND instructions.
 */
#include "linux/system.inc"

#define MIXED_ITERATIONS 1000 /* as in experiments/15/ex15_2.c */
#define MIXED_AROUND     5

    .globl _start
    .type _start, @function
_start:
    mov $MIXED_ITERATIONS, %edi
    call body_mixed
    xor %edi, %edi
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start
