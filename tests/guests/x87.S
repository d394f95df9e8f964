/*
 * x87: when it faults (#NM, #MF), what FNSTENV and FNSAVE write, and its words. SDM vol. 1 "Programming with the x87
 * FPU"; vol. 3 "Interrupt 7—Device Not Available Exception (#NM)", "Interrupt 16—x87 FPU Floating-Point Error (#MF)".
 * What its arithmetic gives is compared with a processor by tests/diff.
 */
#include "long.inc"

        .set MP, 2
        .set EM, 4
        .set TS, 8
        .set CR0, 0x80010031    /* PG, WP, NE, ET, PE */
        .set IE, 1
        .set ZE, 4
        .set UE, 16
        .set PE, 0x20
        .set SF, 0x40
        .set ES, 0x80
        .set C1, 0x200
        .set B, 0x8000

        .macro CR0_WITH bits
        mov $CR0 + (\bits), %eax
        mov %rax, %cr0
        .endm
/* STATUS "text", wanted: the status word. Changes RAX. */
        .macro STATUS text, wanted
        xor %eax, %eax
        fnstsw %ax
        EQUAL "\text", %rax, $(\wanted)
        .endm
/* WORD "text", offset, wanted: 16 bits of the image. Changes RAX. */
        .macro WORD text, offset, wanted
        movzwl image + (\offset), %eax
        EQUAL "\text", %rax, $(\wanted)
        .endm

main:   CR0_WITH TS
        TRY "TS: an x87 instruction is #NM", 7
        fld1
        END
        TRY "TS: FNSTSW is #NM as well, though it does not wait", 7
        fnstsw %ax
        END
        TRY "TS without MP: FWAIT is not #NM", none
        fwait
        END
        CR0_WITH TS + MP
        TRY "TS and MP: FWAIT is #NM", 7
        fwait
        END
        CR0_WITH EM + MP
        TRY "EM: an x87 instruction is #NM", 7
        fninit
        END
        TRY "EM and MP without TS: FWAIT is not #NM", none
        fwait
        END

        CR0_WITH 0
        fninit
        STATUS "FNINIT: status word", 0
        movl $0, image
        fnstcw image
        WORD "FNINIT: control word", 0, 0x37f

        /* An unmasked exception waits. */
        movl $0x37b, image      /* ZM = 0 */
        fldcw image
        fld1
        fldz
        TRY "1 / 0 with ZM = 0: nothing yet", none
divide: fdivrp
        END
        STATUS "ZE, ES, B; nothing was popped", B + ES + ZE + (6 << 11)
        TRY "FNSTCW does not wait", none
        fnstcw image
        END
        TRY "FNSTENV does not wait", none
        fnstenv image
        END
        WORD "FNSTENV: control word", 0, 0x37b
        WORD "FNSTENV: status word", 4, B + ES + ZE + (6 << 11)
        WORD "FNSTENV: tag word: physical 7 valid, 6 zero", 8, 0x1fff
        mov image + 12, %eax
        mov $divide, %ecx
        EQUAL "FNSTENV: the instruction that raised it", %rax, %rcx
        movzwl image + 18, %eax
        movzwl divide, %ecx
        xchg %cl, %ch
        and $0x7ff, %ecx
        EQUAL "FNSTENV: its opcode", %rax, %rcx
        xor %eax, %eax
        fnstsw %ax
        test $ES, %al
        CHECK "FNSTENV masks all exceptions: ES is clear", z
        TRY "... and nothing waits", none
        fwait
        END
        fnstcw control
        movzwl control, %eax
        EQUAL "... in the control word", %rax, $0x37f

        fldenv image
        TRY "FLDENV brings it back: FWAIT is #MF", 16
faulting:
        fwait
        END
        mov $faulting, %eax
        EQUAL "#MF is a fault: RIP is that of the waiting instruction", frame_ip, %rax
        TRY "FNOP waits: #MF", 16
        fnop
        END
        TRY "FLDCW waits: #MF", 16
        fldcw control
        END
        TRY "FLD with an address that faults: #MF comes first", 16
        mov $NONCANONICAL, %rax
        fldl (%rax)
        END
        CR0_WITH TS
        TRY "#NM comes before #MF", 7
        fld1
        END
        CR0_WITH 0
        TRY "FENI, FDISI, FSETPM: nothing, without waiting", none
        .byte 0xdb, 0xe0, 0xdb, 0xe1, 0xdb, 0xe4
        END
        TRY "FNCLEX does not wait", none
        fnclex
        END
        TRY "... and clears it", none
        fwait
        END

        /* Masked and then unmasked. */
        fninit
        fld1
        fldz
        .byte 0xde, 0xf9
        STATUS "masked: ZE alone", ZE + (7 << 11)
        movl $0x37b, image
        TRY "unmasking by FLDCW", none
        fldcw image
        END
        TRY "... raises it at the next waiting instruction", 16
        fwait
        END
        fnclex

        /* Stack faults. */
        fninit
        TRY "an empty register, masked", none
        fstp %st
        END
        STATUS "underflow: IE, SF, C1 = 0", IE + SF + (1 << 11)
        fninit
        .rept 8
        fld1
        .endr
        fldpi
        STATUS "overflow: IE, SF, C1 = 1", IE + SF + C1 + (7 << 11)
        fstpt image
        WORD "overflow: the indefinite, masked", 8, 0xffff
        movl $0x37e, control
        fninit
        fldcw control
        fadds one
        STATUS "unmasked: ES and B, TOP stays", B + ES + IE + SF
        fnclex

        /* SDM vol. 1 "Numeric Underflow Exception (#U)": unmasked, an exact result that is tiny is one too,
         * and goes to a register with 24576 added to its exponent. */
        movl $0x36f, control    /* UM = 0 */
        fninit
        fldcw control
        filds minus_16390
        fld1
        fscale
        STATUS "2 ** -16390, unmasked: UE, ES, B", B + ES + UE + (6 << 11)
        fnclex
        fstpt image
        WORD "its exponent is adjusted", 8, (0x3fff-16390+24576)

        /* Memory that faults leaves the state. */
        fninit
        fld1
        mov $NONCANONICAL, %rax
        TRY "FSTP to a non-canonical address: #GP", 13
        fstpl (%rax)
        END
        STATUS "... and nothing was popped", 7 << 11
        mov $NONCANONICAL, %rax
        TRY "FLD from there: #GP", 13
        fldl (%rax)
        END
        STATUS "... and nothing was pushed", 7 << 11

        /* FNSAVE and FRSTOR. */
        fninit
        fldpi
        fldl2e
        fnsave image
        STATUS "FNSAVE initializes", 0
        WORD "FNSAVE: status word", 4, 6 << 11
        WORD "FNSAVE: tag word", 8, 0x0fff
        WORD "FNSAVE: ST(0) first: log2(e)", 28 + 8, 0x3fff
        WORD "FNSAVE: then ST(1): pi", 28 + 10 + 8, 0x4000
        frstor image
        STATUS "FRSTOR: TOP", 6 << 11
        fstpt image
        fstpt image
        mov image, %rax
        mov $0xc90fdaa22168c235, %rcx
        EQUAL "FRSTOR: pi", %rax, %rcx

        /* 66H: 16-bit formats. */
        fninit
        fld1
        movl $-1, image + 14
        .byte 0x66
        fnstenv image
        WORD "16-bit format: status word", 2, 7 << 11
        WORD "16-bit format: tag word", 4, 0x3fff
        WORD "16-bit format: 14 bytes", 14, 0xffff

        /* Alignment, in ring 3. */
        mov $CR0 + 0x40000, %eax        /* AM */
        mov %rax, %cr0
        fninit
        .macro UNALIGNED text, wanted, insn:vararg
        TRY "\text", \wanted
        pushq $USER_DATA + RPL3
        pushq $user_stack_top
        pushq $0x40002          /* AC */
        pushq $USER_CODE64 + RPL3
        pushq $9996f
        iretq
9996:   \insn
        hlt                     /* #GP */
        END
        .endm
        UNALIGNED "80 bits, a multiple of 4: #AC", 17, fldt image + 4
        UNALIGNED "80 bits, a multiple of 8: no #AC", 13, fldt image + 8
        UNALIGNED "FNSTENV, a multiple of 2: #AC", 17, fnstenv image + 2
        UNALIGNED "FNSTENV, a multiple of 4: no #AC", 13, fnstenv image + 4
        UNALIGNED "64 bits, a multiple of 4: #AC", 17, fldl image + 4
        CR0_WITH 0

        /* What any program uses. */
        fninit
        fildl seven
        fidivl two
        fmull two_and_a_half
        fstpl image
        mov image, %rax
        mov $0x4021800000000000, %rcx
        EQUAL "7 / 2 * 2.5 = 8.75", %rax, %rcx
        fldl two_and_a_half
        fistpl image
        mov image, %eax
        EQUAL "2.5 rounds to even", %rax, $2
        fldl two_and_a_half
        fld1
        fcomip
        seta %al
        setb %ah
        movzwl %ax, %eax
        EQUAL "FCOMI: 1 is below 2.5", %rax, $0x100
        jmp finish

        .section .rodata
        .balign 8
two_and_a_half: .double 2.5
seven:  .long 7
two:    .long 2
minus_16390: .short -16390
one:    .float 1
        .section .bss
        .balign 16
image:  .skip 112
control: .skip 4
        .section .text
