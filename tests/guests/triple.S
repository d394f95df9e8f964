/* A triple fault: an exception with no IDT shuts the processor down. SDM vol. 3 "Interrupt 8—Double Fault". */
#include "long.inc"

main:
        TRY "a check before the end", none
        END
        lidt no_idt
        ud2

        .section .data
no_idt: .word 0
        .quad 0
