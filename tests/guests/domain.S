/*
 * The guest of a TDX module: #VE where its host would have to act, TDCALL to ask what it was about. Linux,
 * Documentation/arch/x86/tdx.rst, "Linux #VE handler"; SDM vol. 3, "VMX Basic Exit Reasons". t_guests.py runs it with
 * --fault msr-ve=0x1d9,cpuid-ve=0x40000000,nmi=every:20000.
 */
#include "long.inc"

        .set DEBUGCTL, 0x1d9
        .set LEAF, 0x40000000
        .set GET_VEINFO, 3

        .macro TDCALL leaf
        mov $\leaf, %eax
        .byte 0x66, 0x0f, 0x01, 0xcc
        .endm

/* What was asked, of an instruction of two bytes. */
        .macro ASK reason
        TDCALL GET_VEINFO
        EQUAL "it is answered", %rax, $0
        EQUAL "by the exit reason", %rcx, $\reason
        mov %r10d, %r10d
        EQUAL "and the instruction's length", %r10, $2
        .endm

/* Longer than it takes for an NMI to come. */
        .macro WAIT
        mov $200000, %ecx
1:      loop 1b
        .endm

main:   GATE 2, nmi
        TRY "TDCALL is there", none
        TDCALL GET_VEINFO
        END
        TDCALL GET_VEINFO
        test %rax, %rax
        CHECK "without a #VE there is nothing to ask", nz
        TRY "RDMSR: #VE", 20
1:      mov $DEBUGCTL, %ecx
        rdmsr
        END
        TRY "another before it is asked about: #DF", 8
        mov $DEBUGCTL, %ecx
        rdmsr
        END
        ASK 31
        TRY "WRMSR: #VE", 20
        WRITE_MSR DEBUGCTL, 0
        END
        ASK 32
        TRY "CPUID: #VE", 20
        mov $LEAF, %eax
        cpuid
        END
        ASK 10
        TRY "CPUID of another leaf: none", none
        xor %eax, %eax
        cpuid
        END
        TDCALL 1
        test %rax, %rax
        CHECK "another call is not answered", nz

        movq $0, nmis
        WAIT
        cmpq $0, nmis
        CHECK "NMIs come", ne
        TRY "RDMSR, once more: #VE", 20
        mov $DEBUGCTL, %ecx
        rdmsr
        END
        movq $0, nmis
        WAIT
        EQUAL "until it is asked about no NMI comes", nmis, $0
        ASK 31
        WAIT
        cmpq $0, nmis
        CHECK "then they come again", ne
        jmp finish

nmi:    incq nmis
        iretq

        .section .bss
nmis:   .skip 8
