/*
 * known: KNOWN_INSTRUCTIONS instructions of user mode, KNOWN_BRANCHES of them branches, on every processor and
 * whatever Linux does meanwhile. The last is the SYSCALL that ends it.
 */
#include "linux/system.inc"

#define LOOPS              250000
#define KNOWN_INSTRUCTIONS (1 + 4 * LOOPS + 3)
#define KNOWN_BRANCHES     (LOOPS + 1) /* and the SYSCALL, a far branch */

    .globl _start
    .type _start, @function
_start:
    mov $LOOPS, %ecx
1:  add $1, %eax
    add $2, %edx
    dec %ecx
    jnz 1b
    xor %edi, %edi
    mov $SYS_EXIT, %eax
    syscall
    .size _start, . - _start
