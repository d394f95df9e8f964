/*
 * Sends back what it receives, by interrupts alone: between two bytes it halts. A q ends it.
 */
#include "long.inc"
#include "pc.inc"

        .set MOST, 16           /* bytes */

main:   mov $0xfee00000, %r15d
        movl $0x1ff, SVR(%r15)
        movl $EXTINT, LVT_LINT0(%r15)
        PIC_INIT 1
        OPEN 0x10
        PUT UART + 4, 8
        PUT UART + 1, 1
        mov $MOST, %r12d
1:      GATE BASE + 4, received
        sti
2:      hlt
        jmp 2b
received:
        GET UART
        mov %eax, %ebx
        out %al, %dx
        PUT MASTER, 0x20
        mov $stack_top, %rsp
        cmp $'q', %bl
        je 3f
        dec %r12d
        jnz 1b
3:      PUT UART + 1, 0
        PUT UART, 10
        TRY "the end", none
        END
        jmp finish
