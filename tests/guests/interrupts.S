/*
 * Interrupts: the local APIC's timer, interprocessor interrupts, priorities; interrupt shadow, HLT, NMI blocking;
 * the ways between xAPIC and x2APIC mode. SDM vol. 3 "Advanced Programmable Interrupt Controller (APIC)",
 * "Enabling and Disabling Interrupts", "Handling Multiple NMIs", "x2APIC State Transitions".
 */
#include "long.inc"

        .set ID, 0x20           /* registers */
        .set TPR, 0x80
        .set PPR, 0xa0
        .set EOI, 0xb0
        .set SVR, 0xf0
        .set ISR, 0x100
        .set IRR, 0x200
        .set ESR, 0x280
        .set ICR, 0x300
        .set LVT_TIMER, 0x320
        .set INITIAL, 0x380
        .set CURRENT, 0x390
        .set DIVIDE, 0x3e0
        .set SELF, 0x44000      /* ICR: shorthand self, assert */
        .set APIC_BASE, 0x1b

        .macro SEND vector
        movl $SELF + \vector, ICR(%r15)
        .endm
        .macro END_OF_INTERRUPT
        movl $0, EOI(%r15)
        .endm

main:
        mov $0xfee00000, %r15d
        movl $0x1ff, SVR(%r15)

        SEND 0x40
        xor %r14d, %r14d
        TRY "an interrupt that was pending comes after STI", 0x40
        sti
        inc %r14
1:      inc %r14
        END
        EQUAL "STI holds it back for one instruction", %r14, $1
        EQUAL "and the return address is the second", frame_ip, $1b
        testq $0x200, frame_flags
        CHECK "the pushed flags hold IF", nz
        END_OF_INTERRUPT
        SEND 0x40
        TRY "STI and CLI side by side let nothing in", none
        sti
        cli
        nop
        END
        xor %r14d, %r14d
        TRY "POPF has no shadow", 0x40
        pushq $0x202
        popfq
1:      nop
        END
        EQUAL "it comes right after it", frame_ip, $1b
        END_OF_INTERRUPT
        SEND 0x45
        mov $5, %eax
        mov %rax, %cr8
        xor %eax, %eax
        mov $DATA, %ebx
        TRY "released in front of a MOV SS, it comes before it", 0x45
        sti
        nop
        mov %rax, %cr8
1:      mov %ebx, %ss
        nop
        END
        EQUAL "namely here", frame_ip, $1b
        END_OF_INTERRUPT

        /* HLT and the timer */
        movl $0x41, LVT_TIMER(%r15)
        movl $0xb, DIVIDE(%r15)
        movl $50000, INITIAL(%r15)
        TRY "the timer wakes HLT", 0x41
        sti
        hlt
1:      nop
        END
        EQUAL "the return address is after the HLT", frame_ip, $1b
        mov CURRENT(%r15), %eax
        EQUAL "a one-shot timer has stopped", %rax, $0
        END_OF_INTERRUPT
        movl $0x10041, LVT_TIMER(%r15)
        movl $1000, INITIAL(%r15)
        TRY "a masked timer does not interrupt", none
        sti
        mov $100000, %ecx
1:      loop 1b
        cli
        END

        /* Priorities */
        mov $5, %eax
        mov %rax, %cr8
        mov TPR(%r15), %eax
        EQUAL "CR8 is bits 7:4 of the TPR", %rax, $0x50
        SEND 0x40
        TRY "the TPR holds back what is not above it", none
        sti
        nop
        nop
        cli
        END
        TRY "lowering it lets it through", 0x40
        xor %eax, %eax
        sti
        mov %rax, %cr8
        nop
        END
        mov PPR(%r15), %eax
        and $0xf0, %eax
        EQUAL "in service, it is the PPR's class", %rax, $0x40
        SEND 0x4f
        TRY "the same class waits for EOI", none
        sti
        nop
        nop
        cli
        END
        mov IRR + 0x20(%r15), %eax
        EQUAL "it is in IRR", %rax, $0x8000
        TRY "a higher class does not", 0x50
        SEND 0x50
        sti
        nop
        nop
        END
        mov ISR + 0x20(%r15), %eax
        EQUAL "both are in service", %rax, both_in_service
        END_OF_INTERRUPT
        mov ISR + 0x20(%r15), %eax
        EQUAL "EOI ends the higher one", %rax, $1
        TRY "EOI lets the waiting one in", 0x4f
        END_OF_INTERRUPT
        sti
        nop
        nop
        END
        END_OF_INTERRUPT
        SEND 0x42
        SEND 0x61
        TRY "of two that are pending, the higher first", 0x61
        sti
        nop
        nop
        END
        END_OF_INTERRUPT
        TRY "then the other", 0x42
        sti
        nop
        nop
        END
        END_OF_INTERRUPT
        SEND 0x43
        SEND 0x43
        TRY "a vector is pending once", 0x43
        sti
        nop
        nop
        END
        END_OF_INTERRUPT
        TRY "and not twice", none
        sti
        nop
        nop
        cli
        END
        movl $0, ESR(%r15)
        SEND 0x05
        movl $0, ESR(%r15)
        mov ESR(%r15), %eax
        and $0x20, %eax
        EQUAL "sending a vector below 16 is an error: ESR[5]", %rax, $0x20

        /* NMI */
        TRY "an NMI comes with IF = 0", 2
        mov ID(%r15), %eax
        mov %eax, ICR + 0x10(%r15)
        movl $0x4400, ICR(%r15)
        mov $100, %ecx          /* QEMU looks for it at branches */
1:      loop 1b
        END
        movl $0x4400, ICR(%r15)
        xor %r14d, %r14d
        nop
        inc %r14
        TRY "a second one waits for IRET", 2
        IRET_TO 1f
1:      inc %r14
        nop
        END
        EQUAL "it came right after it", %r14, $1
        EQUAL "before the next instruction", frame_ip, $1b
        IRET_TO 1f
1:
        /* x2APIC */
        mov $1, %eax
        cpuid
        bt $21, %ecx
        jc 1f
        SKIP "x2APIC", "CPUID.1:ECX[21] = 0"
        jmp finish
1:
        TRY "x2APIC registers in xAPIC mode: #GP", 13, 0
        READ_MSR 0x802
        END
        READ_MSR APIC_BASE
        mov %rax, %rbx
        EQUAL "IA32_APIC_BASE: enabled, of the bootstrap processor", %rbx, base_xapic
        TRY "EXTD without EN: #GP", 13, 0
        WRITE_MSR APIC_BASE, 0xfee00500
        END
        WRITE_MSR APIC_BASE, 0xfee00d00
        READ_MSR APIC_BASE
        EQUAL "xAPIC to x2APIC", %rax, base_x2apic
        TRY "x2APIC to xAPIC: #GP", 13, 0
        WRITE_MSR APIC_BASE, 0xfee00900
        END
        READ_MSR 0x80f
        EQUAL "the SVR came along", %rax, $0x1ff
        TRY "a self IPI by MSR 83FH", 0x44
        WRITE_MSR 0x83f, 0x44
        sti
        nop
        nop
        END
        WRITE_MSR 0x80b, 0
        TRY "EOI of something else than 0: #GP", 13, 0
        WRITE_MSR 0x80b, 1
        END
        TRY "a reserved bit of LVT perfmon: #GP", 13, 0
        WRITE_MSR 0x834, 0x100000
        END
        TRY "the ICR's upper half is its own MSR no more: #GP", 13, 0
        READ_MSR 0x831
        END
        TRY "the x2APIC ID is read-only: #GP", 13, 0
        WRITE_MSR 0x802, 0
        END
        WRITE_MSR APIC_BASE, 0xfee00100
        TRY "disabled: x2APIC registers #GP", 13, 0
        READ_MSR 0x802
        END
        TRY "disabled to x2APIC: #GP", 13, 0
        WRITE_MSR APIC_BASE, 0xfee00d00
        END
        WRITE_MSR APIC_BASE, 0xfee00900
        READ_MSR APIC_BASE
        EQUAL "disabled to xAPIC", %rax, base_xapic
        jmp finish

        .section .data
        .balign 8
base_xapic: .quad 0xfee00900
base_x2apic: .quad 0xfee00d00
both_in_service: .quad 0x10001
