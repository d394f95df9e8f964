/*
 * The XSAVE feature set: SDM vol. 1 "Managing State Using the XSAVE Feature Set", vol. 2 of each instruction.
 *
 * R12D: CPUID.(0DH,1):EAX. The area at `area` is filled with 5AH where a point asks what is left alone.
 */
#include "long.inc"

        .set X87, 1
        .set SSE, 2
        .set AVX, 4
        .set BV, 512
        .set COMP_BV, 520
        .set MXCSR, 24
        .set XMM, 160
        .set YMM, 576           /* in the standard format */

        /* MASK n: what the next instruction is asked for, in EDX:EAX */
        .macro MASK low, high=0
        mov $\low, %eax
        mov $\high, %edx
        .endm
        .macro FILL byte
        mov $area, %edi
        mov $\byte, %eax
        mov $2048, %ecx
        rep stosb
        .endm
        .macro CLEAR_HEADER
        mov $area + BV, %edi
        xor %eax, %eax
        mov $64, %ecx
        rep stosb
        .endm
        /* SET_BV n, compaction: the header's first two words */
        .macro HEADER bv, comp=0
        CLEAR_HEADER
        mov $\bv, %rax
        mov %rax, area + BV
        movabs $\comp, %rax
        mov %rax, area + COMP_BV
        .endm

main:
        TRY "XGETBV without CR4.OSXSAVE: #UD", 6
        xor %ecx, %ecx
        xgetbv
        END
        TRY "XSAVE without CR4.OSXSAVE: #UD", 6
        xsave area
        END
        mov %cr4, %rax
        or $0x40600, %eax       /* OSXSAVE, OSFXSR, OSXMMEXCPT */
        mov %rax, %cr4
        mov $1, %eax
        cpuid
        bt $27, %ecx
        CHECK "CPUID.1:ECX.OSXSAVE follows CR4", c

        /* XCR0 */
        xor %ecx, %ecx
        xgetbv
        EQUAL "XCR0 after reset: x87", %rax, $1
        mov $0xd, %eax
        xor %ecx, %ecx
        cpuid
        mov %eax, %ebp          /* what XCR0 can have */
        EQUAL "leaf 0DH: the area for x87 alone", %rbx, $576
        test $SSE, %bpl
        CHECK "leaf 0DH: SSE", nz
        TRY "XCR0 without x87: #GP", 13, 0
        MASK 2
        xor %ecx, %ecx
        xsetbv
        END
        TRY "XCR0: AVX without SSE: #GP", 13, 0
        MASK 5
        xor %ecx, %ecx
        xsetbv
        END
        TRY "XCR0 bit 62: #GP", 13, 0
        MASK 3, 0x40000000
        xor %ecx, %ecx
        xsetbv
        END
        TRY "XCR1 cannot be written: #GP", 13, 0
        MASK 3
        mov $1, %ecx
        xsetbv
        END
        TRY "XGETBV of XCR2: #GP", 13, 0
        mov $2, %ecx
        xgetbv
        END
        xor %ecx, %ecx
        xor %edx, %edx
        mov %ebp, %eax
        xsetbv
        xor %ecx, %ecx
        xgetbv
        EQUAL "XCR0 takes all that there is", %rax, %rbp
        mov $0xd, %eax
        xor %ecx, %ecx
        cpuid
        EQUAL "leaf 0DH: the area for XCR0 is the greatest now", %rbx, %rcx
        mov $0xd, %eax
        mov $1, %ecx
        cpuid
        mov %eax, %r12d

        /* XSAVE */
        TRY "XSAVE off 64 bytes: #GP", 13, 0
        MASK 3
        xsave area + 32
        END
        mov %cr0, %rax
        or $8, %eax
        mov %rax, %cr0
        TRY "XSAVE with CR0.TS: #NM", 7
        MASK 3
        xsave area
        END
        clts
        FILL 0x5a
        CLEAR_HEADER
        fninit
        movabs $0x1122334455667788, %rax
        movq %rax, %xmm3
        movq %rax, %xmm12
        MASK X87 + SSE
        xsave area
        mov area + XMM + 3 * 16, %rax
        movabs $0x1122334455667788, %rsi
        EQUAL "XSAVE: XMM3", %rax, %rsi
        mov area + XMM + 12 * 16, %rax
        EQUAL "XSAVE: XMM12", %rax, %rsi
        movzwl area, %eax
        EQUAL "XSAVE: FCW", %rax, $0x37f
        mov area + MXCSR, %eax
        EQUAL "XSAVE: MXCSR", %rax, $0x1f80
        mov area + BV, %rax
        and $SSE, %eax
        EQUAL "XSTATE_BV: SSE is in use", %rax, $SSE
        mov area + 464, %rax
        movabs $0x5a5a5a5a5a5a5a5a, %rsi
        EQUAL "XSAVE leaves bytes 511:464", %rax, %rsi
        mov area + YMM, %rax
        EQUAL "XSAVE leaves what is not asked for", %rax, %rsi
        FILL 0x5a
        HEADER SSE
        MASK X87
        xsave area
        mov area + BV, %rax
        and $SSE, %eax
        EQUAL "XSAVE of x87 alone leaves the bit of SSE", %rax, $SSE
        mov area + MXCSR, %eax
        EQUAL "and MXCSR", %rax, $0x5a5a5a5a
        mov area + XMM, %rax
        EQUAL "and the XMM registers", %rax, %rsi
        mov area + COMP_BV, %rax
        EQUAL "XSAVE leaves XCOMP_BV", %rax, $0

        /* XRSTOR of the standard format */
        FILL 0
        HEADER SSE
        movl $0x1f80, area + MXCSR
        movabs $0xaabbccdd00112233, %rax
        mov %rax, area + XMM + 5 * 16
        MASK SSE
        xrstor area
        movq %xmm5, %rax
        movabs $0xaabbccdd00112233, %rsi
        EQUAL "XRSTOR: XMM5", %rax, %rsi
        HEADER 0
        movl $0x1fa0, area + MXCSR
        MASK SSE
        xrstor area
        movq %xmm5, %rax
        EQUAL "XRSTOR with XSTATE_BV[1] = 0 initializes the XMM registers", %rax, $0
        stmxcsr scratch
        mov scratch, %eax
        EQUAL "but loads MXCSR", %rax, $0x1fa0
        movl $0x1f80, area + MXCSR
        MASK SSE
        xrstor area
        fldcw control
        fld1
        HEADER 0
        MASK X87
        xrstor area
        fnstcw scratch
        movzwl scratch, %eax
        EQUAL "XRSTOR with XSTATE_BV[0] = 0: FCW as FNINIT", %rax, $0x37f
        fnstenv scratch
        movzwl scratch + 8, %eax
        EQUAL "and all registers empty", %rax, $0xffff
        fninit
        movl $0x10000, area + MXCSR
        TRY "XRSTOR: a reserved bit of MXCSR: #GP", 13, 0
        MASK SSE
        xrstor area
        END
        movl $0x1f80, area + MXCSR
        HEADER 0
        movb $0x40, area + BV + 7
        TRY "XSTATE_BV with a bit that XCR0 lacks: #GP", 13, 0
        MASK 1
        xrstor area
        END
        HEADER 0, 2
        TRY "XCOMP_BV other than 0 in the standard format: #GP", 13, 0
        MASK 1
        xrstor area
        END
        HEADER 0
        movb $1, area + BV + 16
        TRY "a byte of 23:16 of the header: #GP", 13, 0
        MASK 1
        xrstor area
        END
        HEADER 0
        movb $1, area + BV + 24
        TRY "byte 24 is not looked at", none
        MASK 1
        xrstor area
        END
        HEADER 0
        TRY "XRSTOR off 64 bytes: #GP", 13, 0
        MASK 3
        xrstor area + 16
        END

        /* AVX */
        test $AVX, %bpl
        jz no_avx
        mov $0xd, %eax
        mov $2, %ecx
        cpuid
        EQUAL "leaf 0DH, AVX: 256 bytes", %rax, $256
        EQUAL "at 576", %rbx, $576
        vpcmpeqd %xmm1, %xmm1, %xmm1
        vinsertf128 $1, %xmm1, %ymm1, %ymm7
        FILL 0
        MASK AVX
        xsave area
        mov area + YMM + 7 * 16, %rax
        EQUAL "XSAVE: the upper half of YMM7", %rax, $-1
        mov area + MXCSR, %eax
        EQUAL "XSAVE of AVX alone saves MXCSR", %rax, $0x1f80
        mov area + BV, %rax
        EQUAL "XSTATE_BV: AVX", %rax, $AVX
        vzeroall
        MASK AVX
        xrstor area
        vextractf128 $1, %ymm7, %xmm0
        movq %xmm0, %rax
        EQUAL "XRSTOR: the upper half of YMM7", %rax, $-1
        vzeroall
        jmp avx_done
no_avx: mov $0xd, %eax
        mov $2, %ecx
        cpuid
        EQUAL "leaf 0DH without AVX: no component 2", %rax, $0
avx_done:

        /* XSAVEOPT: what is in its initial configuration is not written. */
        bt $0, %r12d
        jnc no_opt
        xorps %xmm0, %xmm0
        HEADER 0
        MASK SSE
        xrstor area             /* all XMM registers are 0 */
        fninit
        FILL 0x5a
        HEADER X87 + SSE
        MASK X87 + SSE
        xsaveopt area
        mov area + XMM, %rax
        movabs $0x5a5a5a5a5a5a5a5a, %rsi
        mov area + BV, %rbx
        test $SSE, %bl
        jnz 1f                  /* the processor may say that it is in use */
        EQUAL "XSAVEOPT: initial XMM registers are not written", %rax, %rsi
1:      mov area + MXCSR, %eax
        EQUAL "XSAVEOPT: MXCSR is", %rax, $0x1f80
        movq %rsi, %xmm9
        MASK X87 + SSE
        xsaveopt area
        mov area + XMM + 9 * 16, %rax
        EQUAL "XSAVEOPT: a register that is in use", %rax, %rsi
no_opt:
        /* XSAVEC: compacted */
        bt $1, %r12d
        jnc no_xsavec
        FILL 0x5a
        CLEAR_HEADER
        movabs $0x1122334455667788, %rsi
        movq %rsi, %xmm3
        MASK SSE
        xsavec area
        mov area + COMP_BV, %rax
        movabs $0x8000000000000002, %rbx
        EQUAL "XSAVEC: XCOMP_BV is what was asked for, and bit 63", %rax, %rbx
        mov area + BV, %rax
        EQUAL "XSAVEC: XSTATE_BV", %rax, $SSE
        mov area + XMM + 3 * 16, %rax
        EQUAL "XSAVEC: XMM3", %rax, %rsi
        xorps %xmm3, %xmm3
        MASK SSE
        xrstor area
        movq %xmm3, %rax
        EQUAL "XRSTOR of the compacted format: XMM3", %rax, %rsi
        HEADER 0, 0x8000000000000002
        movl $0x1fa0, area + MXCSR
        ldmxcsr area + MXCSR
        MASK SSE
        xrstor area
        stmxcsr scratch
        mov scratch, %eax
        EQUAL "with XSTATE_BV[1] = 0 it initializes MXCSR too", %rax, $0x1f80
        HEADER 2, 0x8000000000000001
        TRY "XSTATE_BV with a bit that XCOMP_BV lacks: #GP", 13, 0
        MASK 1
        xrstor area
        END
        HEADER 0, 0xc000000000000001
        TRY "XCOMP_BV with a bit that XCR0 lacks: #GP", 13, 0
        MASK 1
        xrstor area
        END
        HEADER 0, 0x8000000000000001
        movb $1, area + BV + 63
        TRY "compacted: byte 63 of the header: #GP", 13, 0
        MASK 1
        xrstor area
        END
        jmp xsavec_done
no_xsavec:
        HEADER 0, 0x8000000000000001
        TRY "a compacted area without XSAVEC: #GP", 13, 0
        MASK 1
        xrstor area
        END
xsavec_done:
        bt $2, %r12d
        jnc no_xgetbv
        HEADER 0
        movl $0x1f80, area + MXCSR
        MASK SSE
        xrstor area
        movq %rsi, %xmm2
        mov $1, %ecx
        xgetbv
        and $SSE, %eax
        EQUAL "XGETBV with ECX = 1: SSE is in use", %rax, $SSE
        jmp xgetbv_done
no_xgetbv:
        TRY "XGETBV with ECX = 1, unannounced: #GP", 13, 0
        mov $1, %ecx
        xgetbv
        END
xgetbv_done:

        /* XSAVES, IA32_XSS, the last branch records */
        bt $3, %r12d
        jnc no_xsaves
        TRY "IA32_XSS bit 0: #GP", 13, 0
        WRITE_MSR 0xda0, 1
        END
        HEADER 0
        TRY "XRSTORS of the standard format: #GP", 13, 0
        MASK 1
        xrstors area
        END
        TRY "XSAVES in ring 3: #GP", 13, 0
        USER 1f
1:      MASK 1
        xsaves area
        END
        mov $0xd, %eax
        mov $1, %ecx
        cpuid
        bt $15, %ecx
        jnc no_lbr
        WRITE_MSR 0xda0, 0x8000
        mov $0xd, %eax
        mov $15, %ecx
        cpuid
        EQUAL "leaf 0DH, last branch records: five words, and three for each of 32", %rax, $808
        EQUAL "IA32_XSS enables it", %rcx, $1
        mov $0xd, %eax
        mov $1, %ecx
        cpuid
        mov $576 + 808, %esi
        test $AVX, %bpl
        jz 1f
        add $256, %esi
1:      EQUAL "leaf 0DH: the compacted area for XCR0 and IA32_XSS", %rbx, %rsi
        WRITE_MSR 0x14cf, 32
        WRITE_MSR 0x14ce, 0
        WRITE_MSR 0x1500, 0x1234
        WRITE_MSR 0x161f, 0x5678
        FILL 0
        MASK 0x8000
        xsaves area
        mov area + 576 + 8, %rax
        EQUAL "XSAVES: IA32_LBR_DEPTH", %rax, $32
        mov area + 576 + 40, %rax
        EQUAL "XSAVES: IA32_LBR_0_FROM_IP", %rax, $0x1234
        mov area + 576 + 40 + 31 * 24 + 8, %rax
        EQUAL "XSAVES: IA32_LBR_31_TO_IP", %rax, $0x5678
        WRITE_MSR 0x1500, 0
        WRITE_MSR 0x161f, 0
        MASK 0x8000
        xrstors area
        READ_MSR 0x161f
        EQUAL "XRSTORS: IA32_LBR_31_TO_IP", %rax, $0x5678
        movl $8, area + 576
        movb $0x80, area + 576 + 7
        TRY "XRSTORS: a reserved bit of IA32_LBR_CTL: #GP", 13, 0
        MASK 0x8000
        xrstors area
        END
        HEADER 0, 0x8000000000008000
        MASK 0x8000
        xrstors area
        READ_MSR 0x161f
        EQUAL "XRSTORS with XSTATE_BV[15] = 0 clears the records", %rax, $0
        WRITE_MSR 0xda0, 0
        jmp no_xsaves
no_lbr:
        TRY "IA32_XSS bit 15 without last branch records: #GP", 13, 0
        WRITE_MSR 0xda0, 0x8000
        END
no_xsaves:
        jmp finish

        .section .data
        .balign 4
control: .word 0x027f
        .section .bss
        .balign 64
area:   .skip 2048
scratch: .skip 64
