/*
 * hops: counts on processor 1, then on processor 0, and so on in turn, HOPS times in all. It goes by
 * sched_setaffinity(2): what stands behind that SYSCALL runs on the other processor already.
 */
#include "linux/system.inc"

#define HOPS              10 /* an even number: the last is to processor 0 */
#define TURNS             50000
#define HOPS_BEFORE       6               /* of each hop, where it comes from: the SYSCALL is the last */
#define HOPS_AFTER        (4 * TURNS + 3) /* … and where it goes to */
#define HOPS_START        1
#define HOPS_END          3
#define HOPS_BRANCHES     (TURNS + 2) /* of each hop: its SYSCALL is one */
#define HOPS_INSTRUCTIONS (HOPS_START + HOPS * (HOPS_BEFORE + HOPS_AFTER) + HOPS_END)

    .globl _start
    .type _start, @function
_start:
    mov $HOPS, %ebx
1:  xorl $3, mask(%rip)
    mov $SYS_SCHED_SETAFFINITY, %eax
    xor %edi, %edi /* this process */
    mov $8, %esi
    lea mask(%rip), %rdx
    syscall
    mov $TURNS, %ecx
2:  add $1, %eax
    add $2, %edx
    dec %ecx
    jnz 2b
    dec %ebx
    jnz 1b
    xor %edi, %edi
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start

    .data
    .balign 8
mask: /* of the processors that it may run on */
    .quad 1
