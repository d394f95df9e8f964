/*
 * loads: near loads from one line of memory that is always in the first cache; far flushes a line and loads it again,
 * so that it comes from memory. 8 near loads for each far one.
 */
#include "linux/system.inc"

#define ROUNDS 4000
#define LINE   64
#define LINES  512

    .globl _start
    .type _start, @function
_start:
    mov $ROUNDS, %ebx
    xor %r12d, %r12d
1:  call near
    call far
    dec %ebx
    jnz 1b
    xor %edi, %edi
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start

    .type near, @function
near:
    lea near_data(%rip), %rsi
    .rept 8
    mov (%rsi), %rax
    .endr
    ret
    .size near, . - near

    .type far, @function
far:
    lea far_data(%rip), %rsi
    add %r12, %rsi
    clflush (%rsi)
    mfence
    mov (%rsi), %rax
    mfence
    add $LINE, %r12d
    and $(LINES * LINE - 1), %r12d
    ret
    .size far, . - far

    .bss
    .balign 4096
    .type near_data, @object
near_data:
    .skip LINE
    .size near_data, . - near_data
    .balign 4096
    .type far_data, @object
far_data:
    .skip LINES * LINE
    .size far_data, . - far_data
