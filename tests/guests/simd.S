/*
 * MMX and SSE: when they fault (#UD, #NM, #MF, #GP), what they do to x87's state, FXSAVE and FXRSTOR, MXCSR. SDM vol. 2
 * "Exception Conditions", "FXSAVE", "LDMXCSR", "EMMS"; vol. 1 "MMX Instructions and the x87 FPU Tag Word". What the
 * instructions compute is compared with a processor by tests/diff.
 */
#include "long.inc"

        .set MP, 2
        .set EM, 4
        .set TS, 8
        .set CR0, 0x80010031    /* PG, WP, NE, ET, PE */
        .set CR4, 0x20          /* PAE */
        .set OSFXSR, 0x200

        .macro CR0_WITH bits
        mov $CR0 + (\bits), %eax
        mov %rax, %cr0
        .endm
        .macro CR4_WITH bits
        mov $CR4 + (\bits), %eax
        mov %rax, %cr4
        .endm
/* QUAD "text", register, wanted: the low quadword of an XMM register. Changes RAX, RCX. */
        .macro QUAD text, register, wanted
        movq %\register, %rax
        movabs $\wanted, %rcx
        EQUAL "\text", %rax, %rcx
        .endm

main:   mov $1, %eax
        cpuid
        and $0x07800000, %edx   /* MMX, FXSR, SSE, SSE2 */
        cmp $0x07800000, %edx
        je 1f
        SKIP "MMX, SSE", "CPUID announces not all of MMX, FXSR, SSE, SSE2"
        jmp finish
1:
        /* Permissions. */
        CR4_WITH 0
        TRY "without CR4.OSFXSR: #UD on an XMM register", 6
        paddb %xmm0, %xmm1
        END
        TRY "... and for LDMXCSR", 6
        ldmxcsr reset
        END
        TRY "... but not on an MMX register", none
        paddb %mm0, %mm1
        END
        TRY "... nor for PSHUFW, SSE's on MMX registers", none
        pshufw $0, %mm0, %mm1
        END
        TRY "... nor for MOVNTI", none
        movnti %eax, area
        END
        CR4_WITH OSFXSR
        CR0_WITH EM
        TRY "EM: SSE is #UD", 6
        movaps %xmm0, %xmm1
        END
        TRY "EM: MMX is #UD", 6
        emms
        END
        TRY "EM: FXSAVE is #NM", 7
        fxsave area
        END
        CR0_WITH EM + TS
        TRY "EM and TS: SSE is #UD", 6
        movaps %xmm0, %xmm1
        END
        CR0_WITH TS
        TRY "TS: SSE is #NM", 7
        movaps %xmm0, %xmm1
        END
        TRY "TS: MMX is #NM", 7
        movd %eax, %mm0
        END
        TRY "TS: FXRSTOR is #NM", 7
        fxrstor area
        END
        TRY "TS: STMXCSR is #NM", 7
        stmxcsr area
        END
        TRY "TS: MOVNTI is not", none
        movnti %eax, area
        END
        CR0_WITH TS
        CR4_WITH 0
        TRY "TS without OSFXSR: #UD goes first", 6
        movaps %xmm0, %xmm1
        END
        CR4_WITH OSFXSR
        CR0_WITH 0

        /* Alignment. */
        mov $area + 8, %ebx
        TRY "MOVAPS from a quadword's boundary: #GP", 13
        movaps (%rbx), %xmm0
        END
        TRY "PADDB likewise: #GP", 13
        paddb (%rbx), %xmm0
        END
        TRY "MOVNTDQ to it: #GP", 13
        movntdq %xmm0, (%rbx)
        END
        TRY "MOVDQU takes it", none
        movdqu (%rbx), %xmm0
        END
        TRY "MOVHPS, 8 bytes, takes any address", none
        movhps 1(%rbx), %xmm0
        END
        TRY "MMX takes any address", none
        paddb 1(%rbx), %mm0
        END
        emms

        /* A fault in the second page leaves register and first page as they were. */
        movl $0, window_table + 8
        movl $area + 0x87, window_table + 0     /* P, R/W, U/S; the page of area */
        andl $0xfffff087, window_table + 0
        invlpg WINDOW
        invlpg WINDOW + 0x1000
        mov $WINDOW + 0xff8, %ebx
        movabs $0x1122334455667788, %rax
        mov %rax, (%rbx)
        movq %rax, %xmm1
        TRY "a load across a page that is not there: #PF", 14
        movdqu (%rbx), %xmm1
        END
        QUAD "... leaves the register", xmm1, 0x1122334455667788
        pxor %xmm2, %xmm2
        TRY "a store likewise: #PF", 14, 2
        movups %xmm2, (%rbx)
        END
        mov (%rbx), %rax
        movabs $0x1122334455667788, %rcx
        EQUAL "... leaves the first page", %rax, %rcx

        /* Moves and what they leave or clear. */
        pcmpeqd %xmm3, %xmm3
        mov $0x12345678, %eax
        movd %eax, %xmm3
        QUAD "MOVD to XMM clears above", xmm3, 0x12345678
        psrldq $8, %xmm3
        QUAD "... to bit 127", xmm3, 0
        pcmpeqd %xmm3, %xmm3
        mov $0x12345678, %eax
        movd %eax, %xmm4
        movss %xmm4, %xmm3
        QUAD "MOVSS between registers leaves the rest", xmm3, 0xffffffff12345678
        movl $0x9abcdef0, area
        movss area, %xmm3
        QUAD "MOVSS from memory clears it", xmm3, 0x9abcdef0
        pcmpeqd %xmm3, %xmm3
        movsd quads, %xmm3
        psrldq $8, %xmm3
        QUAD "MOVSD from memory clears the upper half", xmm3, 0
        movaps quads, %xmm5
        pshufd $0x4e, %xmm5, %xmm6
        QUAD "PSHUFD 4EH swaps the halves", xmm6, 0x1716151413121110
        punpcklqdq %xmm5, %xmm6
        psrldq $8, %xmm6
        QUAD "PUNPCKLQDQ puts the source above", xmm6, 0x0706050403020100
        pmovmskb %xmm5, %eax
        EQUAL "PMOVMSKB: no sign", %rax, $0
        pcmpeqb %xmm6, %xmm6
        mov $-1, %rax
        pmovmskb %xmm6, %eax
        EQUAL "... all, and RAX's upper half cleared", %rax, $0xffff

        /* MMX and x87. */
        fninit
        fld1
        movd %eax, %mm3
        fxsave area
        movzbl area + 4, %eax
        EQUAL "MMX makes all tags valid", %rax, $0xff
        movzwl area + 2, %eax
        EQUAL "... and TOP 0", %rax, $0
        movzwl area + 32 + 3 * 16 + 8, %eax
        EQUAL "... and sign and exponent all ones", %rax, $0xffff
        mov area + 32 + 3 * 16, %eax
        EQUAL "... and the mantissa is the MMX register", %rax, $0xffff
        emms
        fxsave area
        movzbl area + 4, %eax
        EQUAL "EMMS makes all tags empty", %rax, $0
        fninit
        movl $0x37b, area       /* ZM = 0 */
        fldcw area
        fld1
        fldz
        fdivrp
        TRY "MMX with an x87 exception pending: #MF", 16
        movd %eax, %mm0
        END
        TRY "SSE does not care", none
        movaps %xmm0, %xmm1
        END
        TRY "FXSAVE does not wait", none
        fxsave area
        END
        movzwl area + 2, %eax
        and $0xb8ff, %eax
        EQUAL "... and shows ES, B, ZE, TOP", %rax, $0x8084 + (6 << 11)
        fnclex
        fninit

        /* FXSAVE, FXRSTOR, MXCSR. */
        TRY "FXSAVE to a quadword's boundary: #GP", 13
        fxsave area + 8
        END
        mov area + 28, %eax
        or $0x40, %eax
        EQUAL "MXCSR_MASK has no reserved bit", %rax, $0xffff
        movaps quads, %xmm15
        movl $0x1fa0, area
        ldmxcsr area
        movq $-1, area + 464
        movq $-1, area + 504
        fxsave64 area
        mov area + 24, %eax
        EQUAL "FXSAVE: MXCSR", %rax, $0x1fa0
        mov area + 160 + 15 * 16, %rax
        cmp quads, %rax
        CHECK "FXSAVE: XMM15", z
        mov area + 464, %rax
        and area + 504, %rax
        EQUAL "FXSAVE leaves software's bytes", %rax, $-1
        pxor %xmm15, %xmm15
        ldmxcsr reset
        fxrstor64 area
        QUAD "FXRSTOR: XMM15", xmm15, 0x0706050403020100
        stmxcsr reset + 4
        mov reset + 4, %eax
        EQUAL "FXRSTOR: MXCSR", %rax, $0x1fa0
        movl $0x11f80, area + 24
        pxor %xmm15, %xmm15
        TRY "FXRSTOR of a reserved bit of MXCSR: #GP", 13
        fxrstor area
        END
        QUAD "... changes nothing", xmm15, 0
        TRY "LDMXCSR of one: #GP", 13
        ldmxcsr area + 24
        END
        stmxcsr reset + 4
        mov reset + 4, %eax
        EQUAL "... changes nothing", %rax, $0x1fa0
        jmp finish

        .section .data
        .balign 16
quads:  .byte 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
reset:  .long 0x1f80, 0
        .section .bss
        .balign 4096
area:   .skip 4096
