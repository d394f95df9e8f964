/*
 * finish STATUS: ends the machine, and tells who started it the status.
 * It goes over the serial line as a string that a terminal ignores (an APC of ECMA-48), because the debug-exit port
 * knows only good and bad; scripts/linux takes it out.
 */
#include "linux/system.inc"
#include "x86/debug_exit.h"

#define TCSBRK     0x5409 /* with an argument: waits until all is sent, as tcdrain(3) */

    .globl _start
    .type _start, @function
_start:
    lea before(%rip), %rsi
    mov $before_end - before, %edx
    call write
    cmpq $2, (%rsp) /* argc */
    jne 1f
    mov 16(%rsp), %rsi /* argv[1] */
    xor %edx, %edx
0:  cmpb $0, (%rsi,%rdx)
    lea 1(%rdx), %rdx
    jne 0b
    dec %edx
    call write
1:  lea after(%rip), %rsi
    mov $after_end - after, %edx
    call write
    mov $SYS_IOCTL, %eax
    mov $1, %edi
    mov $TCSBRK, %esi
    mov $1, %edx
    syscall
    mov $SYS_IOPERM, %eax
    mov $DEBUG_EXIT_PORT, %edi
    mov $1, %esi
    mov $1, %edx
    syscall
    mov $DEBUG_EXIT_OK, %eax
    out %al, $DEBUG_EXIT_PORT
    mov $SYS_EXIT, %eax
    mov $1, %edi
    syscall

write:
    mov $SYS_WRITE, %eax
    mov $1, %edi
    syscall
    ret

    .section .rodata
before:
    .ascii "\033_status "
before_end:
after:
    .ascii "\033\\"
after_end:
