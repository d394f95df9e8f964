/*
 * SSE's floating-point exceptions: when they fault (#XM, #UD), what is left then; and which instructions ask for what.
 * SDM vol. 1 "SSE and SSE2 Exceptions", "SIMD Floating-Point Exceptions"; vol. 3 "Interrupt 19—SIMD Floating-Point
 * Exception (#XM)". What the arithmetic gives is compared with a processor by tests/unit/unit_float.c and tests/diff.
 */
#include "long.inc"

        .set OSFXSR, 0x200
        .set OSXMMEXCPT, 0x400
        .set CR4, 0x20          /* PAE */
        .set DEFAULT, 0x1f80    /* MXCSR: all masked */
        .set IE, 1
        .set DE, 2
        .set ZE, 4
        .set OE, 8
        .set UE, 0x10
        .set PE, 0x20
        .set DAZ, 0x40

        .macro CR4_WITH bits
        mov $CR4 + (\bits), %eax
        mov %rax, %cr4
        .endm
/* MXCSR with these flags unmasked, and other bits. */
        .macro UNMASK flags, others=0
        movl $(DEFAULT & ~((\flags) << 7)) | (\others), word
        ldmxcsr word
        .endm
/* RAISED "text", flags: MXCSR's flags. Changes RAX. */
        .macro RAISED text, flags
        stmxcsr word
        mov word, %eax
        and $0x3f, %eax
        EQUAL "\text", %rax, $(\flags)
        .endm
/* LOW "text", wanted: the lowest 64 bits of XMM0. Changes RAX. */
        .macro LOW text, wanted
        movq %xmm0, low
        movabs $(\wanted), %rax
        EQUAL "\text", low, %rax
        .endm
        .macro TAKE operand
        movups \operand, %xmm0
        .endm

main:   CR4_WITH OSFXSR + OSXMMEXCPT

        /* Masked. */
        UNMASK 0
        TAKE ones
        divss zeros, %xmm0
        LOW "masked: 1 / 0 is infinity; the element above stays", 0x3f8000007f800000
        RAISED "... and sets ZE", ZE
        TAKE ones
        addss ones, %xmm0
        RAISED "flags stay until they are cleared", ZE

        /* Before the computation: nothing changes but the flags. */
        UNMASK ZE
        TAKE ones
        TRY "1 / 0 with ZM = 0: #XM", 19
1:      divps zeros, %xmm0
        END
        EQUAL "#XM pushes the RIP of its instruction", frame_ip, $1b
        LOW "#XM leaves the destination", 0x3f8000003f800000
        RAISED "#XM sets ZE", ZE
        TRY "a flag that is set raises nothing", none
        TAKE ones
        addps ones, %xmm0
        END
        UNMASK IE
        TAKE snan_and_most
        TRY "an SNaN and an overflow with IM = 0: #XM", 19
        mulps twos, %xmm0
        END
        RAISED "... with IE alone: the overflow was not computed", IE
        UNMASK DE
        TAKE denormal
        TRY "a denormal with DM = 0: #XM", 19
        addsd ones_d, %xmm0
        END
        UNMASK DE, DAZ
        TAKE denormal
        TRY "... but not with DAZ", none
        addsd ones_d, %xmm0
        END

        /* After it. */
        UNMASK PE
        TAKE ones
        TRY "1 / 3 with PM = 0: #XM", 19
        divss threes, %xmm0
        END
        LOW "the destination stays all the same", 0x3f8000003f800000
        RAISED "... and PE is set", PE
        UNMASK UE
        TAKE least
        TRY "a tiny result that is exact with UM = 0: #XM", 19
        mulss halves, %xmm0
        END
        RAISED "... with UE alone", UE
        UNMASK 0
        TAKE least
        TRY "... and nothing with UM = 1", none
        mulss halves, %xmm0
        END
        RAISED "... not even UE", 0
        UNMASK OE
        TAKE most
        TRY "an overflow that loses nothing with OM = 0: #XM", 19
        addss most, %xmm0
        END
        RAISED "... with OE alone", OE

        /* Comparisons and conversions. */
        UNMASK IE
        TAKE qnan
        xor %eax, %eax          /* ZF and PF are set */
        TRY "COMISS of a QNaN with IM = 0: #XM", 19
        comiss ones, %xmm0
        END
        TRY "UCOMISS of it: nothing", none
        ucomiss ones, %xmm0
        END
        TRY "CVTTSD2SI of what is too large with IM = 0: #XM", 19
        mov $0x1234, %ecx
        cvttsd2si ones_e100, %ecx
        END
        EQUAL "... leaves the register", %rcx, $0x1234
        UNMASK 0
        cvttsd2si ones_e100, %ecx
        mov $0x80000000, %eax
        EQUAL "masked it is the integer indefinite", %rcx, %rax
        cmp %eax, %eax
        stc
        ucomisd ones_e100, %xmm0
        CHECK "UCOMISD: below", b

        /* Who may. */
        CR4_WITH OSFXSR
        UNMASK ZE
        TAKE ones
        TRY "without CR4.OSXMMEXCPT it is #UD", 6
        divss zeros, %xmm0
        END
        RAISED "... and ZE is set", ZE
        CR4_WITH OSXMMEXCPT
        TRY "without CR4.OSFXSR an SSE instruction is #UD", 6
        addss %xmm0, %xmm1
        END
        TRY "... CVTTPS2PI from memory as well", 6
        cvttps2pi ones, %mm0
        END
        CR4_WITH OSFXSR + OSXMMEXCPT

        /* Operands of 16 bytes in memory. */
        UNMASK 0
        TRY "ADDPS of an operand that is not aligned: #GP", 13
        addps ones + 4, %xmm0
        END
        TRY "ADDSD need not be", none
        addsd ones + 4, %xmm0
        END
        TRY "CVTPS2PD of 8 bytes need not be", none
        cvtps2pd ones + 4, %xmm0
        END
        TRY "CVTTPD2PI of 16 bytes must", 13
        cvttpd2pi ones + 8, %mm0
        END
        emms

        /* MMX registers. */
        fninit
        TAKE ones
        cvttps2pi ones, %mm3
        movq %mm3, low
        EQUAL "CVTTPS2PI", low, $0x100000001
        fnstenv image
        movzwl image + 8, %eax
        and $0xc0, %eax
        EQUAL "... is an MMX instruction: the register is not empty, but special", %rax, $0x80
        fninit
        UNMASK 0
        cvtpi2pd integers, %xmm0
        LOW "CVTPI2PD", 0xc008000000000000
        fnstenv image
        movzwl image + 8, %eax
        EQUAL "... from memory is no MMX instruction", %rax, $0xffff
        jmp finish

        .section .data
        .balign 16
ones:   .float 1, 1, 1, 1, 1
        .balign 16
zeros:  .float 0, 0, 0, 0
twos:   .float 2, 2, 2, 2
halves: .float 0.5, 0.5, 0.5, 0.5
snan_and_most: .long 0x7f800001, 0x7f7fffff, 0, 0
most:   .long 0x7f7fffff, 0, 0, 0
least:  .long 0x00800000, 0, 0, 0
qnan:   .long 0x7fc00000, 0, 0, 0
denormal: .quad 1, 0
ones_d: .double 1, 1
threes: .float 3, 3, 3, 3
ones_e100: .double 1e100, 1e100
integers: .long -3, 5

        .section .bss
        .balign 16
image:  .skip 32
low:    .skip 8
word:   .skip 4
