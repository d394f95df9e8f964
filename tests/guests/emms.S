/*
 * One instruction that the simulator does not execute: #UD where CPUID does not announce MMX, the end of the run where it
 * does (t_guests.py sets the bit).
 */
#include "long.inc"

main:   TRY "EMMS: #UD", 6
        emms
        END
        jmp finish
