/*
 * One instruction that the simulator does not execute: #UD where CPUID does not announce AES, the end of the run where it
 * does (t_guests.py sets the bit).
 */
#include "long.inc"

main:   mov $1, %eax
        cpuid
        bt $24, %edx            /* FXSR */
        jnc 1f
        mov $0x220, %eax        /* OSFXSR, PAE */
        mov %rax, %cr4
1:
        TRY "AESENC: #UD", 6
        aesenc %xmm1, %xmm0
        END
        jmp finish
