/*
 * Exceptions and the IDT in 64-bit mode: gates, IST, error codes, selectors, double faults, IRETQ, canonical
 * addresses. SDM vol. 3 "Interrupt and Exception Handling", "64-Bit Mode Exception and Interrupt Handling".
 */
#include "long.inc"

        .set IDT_ENTRY, 2       /* bits of an error code */
        .set EXT, 1

        .macro GATE_ATTRIBUTES vector, attributes
        movb $\attributes, idt + (\vector) * 16 + 5
        .endm

main:
        GATE_ATTRIBUTES 0x80, 0xee      /* DPL 3 */
        GATE_ATTRIBUTES 3, 0xee
        GATE_ATTRIBUTES 0x82, 0x0e      /* not present */
        GATE_ATTRIBUTES 0x84, 0x8f      /* trap gate */
        movb $1, idt + 0x81 * 16 + 4    /* IST1 */
        movw $DATA, idt + 0x83 * 16 + 2

        TRY "DIV by 0", 0
        xor %ecx, %ecx
        div %ecx
        END
        TRY "UD2", 6
1:      ud2
        END
        EQUAL "a fault pushes the RIP of its instruction", frame_ip, $1b
        testl $0x10000, frame_flags
        CHECK "a fault pushes RF = 1", nz
        TRY "INT3", 3
        int3
1:      nop
        END
        EQUAL "a trap pushes the RIP of the next instruction", frame_ip, $1b
        testl $0x10000, frame_flags
        CHECK "INT3 pushes RF = 0", z
        TRY "INT n", 0x80
        int $0x80
        END
        TRY "INT n through a gate that is not present: #NP, IDT", 11, 0x82*8+IDT_ENTRY
        int $0x82
        END
        TRY "INT n through a gate to a data segment: #GP, its selector", 13, DATA
        int $0x83
        END
        TRY "#UD through a gate that is not present: #NP, IDT, EXT", 11, 6*8+IDT_ENTRY+EXT
        GATE_ATTRIBUTES 6, 0x0e
        ud2
        END
        GATE_ATTRIBUTES 6, 0x8e
        TRY "INT n past the IDT's limit: #GP, IDT", 13, 0x90*8+IDT_ENTRY
        lidt short_idt
        int $0x90
        END
        lidt idt_register
        TRY "INT n through an IST stack", 0x81
        int $0x81
        END
        EQUAL "the frame lies at the top of IST1", frame_at, $ist1_top-40
        TRY "the stack is aligned to 16 bytes before the frame", 0x80
        sub $3, %rsp
        int $0x80
        END
        mov frame_at, %rax
        add $40, %rax
        test $15, %al
        CHECK "so it is", z

        /* Flags: an interrupt gate clears IF, TF, NT and RF; a trap gate leaves IF. */
        GATE 0x85, 3f
        GATE 0x84, 3f
        GATE_ATTRIBUTES 0x84, 0x8f
        sti
        int $0x85
        cli
        EQUAL "an interrupt gate clears IF", seen_flags, $2
        sti
        int $0x84
        cli
        EQUAL "a trap gate leaves IF", seen_flags, $0x202
        jmp 4f
3:      pushfq
        popq seen_flags
        andq $0x202, seen_flags
        iretq
4:
        /* Selectors */
        TRY "a segment that is not present: #NP, selector", 11, ABSENT
        mov $ABSENT, %eax
        mov %eax, %ds
        END
        TRY "a selector past the GDT: #GP, selector", 13, BEYOND
        mov $BEYOND, %eax
        mov %eax, %es
        END
        TRY "SS takes no code segment: #GP, selector", 13, USER_CODE64
        mov $USER_CODE64, %eax
        mov %eax, %ss
        END
        TRY "SS takes no RPL that is not the CPL: #GP, selector", 13, DATA
        mov $DATA + RPL3, %eax
        mov %eax, %ss
        END
        TRY "SS that is not present: #SS, selector", 12, ABSENT
        mov $ABSENT, %eax
        mov %eax, %ss
        END
        TRY "SS may be null in ring 0 of 64-bit mode", none
        xor %eax, %eax
        mov %eax, %ss
        mov $DATA, %eax
        mov %eax, %ss
        END
        TRY "LTR of a TSS in use: #GP, selector", 13, TSS
        mov $TSS, %eax
        ltr %ax
        END
#ifdef TCG
        SKIP "LTR of a null selector: #GP", "QEMU loads it"
#else
        TRY "LTR of a null selector: #GP", 13, 0
        xor %eax, %eax
        ltr %ax
        END
#endif
        TRY "LLDT of something else: #GP, selector", 13, DATA
        mov $DATA, %eax
        lldt %ax
        END
        mov $DATA, %eax
        lar %eax, %ebx
        CHECK "LAR of a data segment", z
        and $0xf0ff00, %ebx
        EQUAL "LAR gives its attributes", %rbx, $0xc09300
        lsl %eax, %ebx
        EQUAL "LSL scales the limit", %rbx, unscaled
        mov $BEYOND, %eax
        lar %eax, %ebx
        CHECK "LAR past the GDT clears ZF", nz
        mov $CODE64, %eax
        verw %ax
        CHECK "VERW: a code segment is not writable", nz
        verr %ax
        CHECK "VERR: this one is readable", z

        /* Canonical addresses */
        TRY "an address that is not canonical: #GP", 13, 0
        mov $NONCANONICAL, %rax
        mov (%rax), %ebx
        END
#ifdef TCG
        SKIP "by RBP: #SS", "QEMU raises #GP and goes on"
        SKIP "a push to an address that is not canonical: #SS", "QEMU delivers #GP on the same stack, for ever"
#else
        TRY "by RBP: #SS", 12, 0
        mov $NONCANONICAL, %rbp
        mov (%rbp), %ebx
        END
        movb $1, idt + 12 * 16 + 4
        TRY "a push to an address that is not canonical: #SS", 12, 0
        mov $NONCANONICAL + 0x1000, %rsp
        push %rax
        END
        movb $0, idt + 12 * 16 + 4
#endif
        TRY "a jump to an address that is not canonical: #GP", 13, 0
        mov $NONCANONICAL, %rax
1:      jmp *%rax
        END
        EQUAL "it is the jump that faults", frame_ip, $1b
        TRY "RET to an address that is not canonical: #GP", 13, 0
        mov $NONCANONICAL, %rax
        push %rax
        ret
        END
        TRY "an access up to the last canonical byte", 14, 0
        mov $NONCANONICAL - 4, %rax
        mov (%rax), %ebx
        END
        TRY "an access across the last canonical byte: #GP", 13, 0
        mov $NONCANONICAL - 2, %rax
        mov (%rax), %ebx
        END

        /* Double faults. SDM vol. 3 "Conditions for Generating a Double Fault". */
        GATE_ATTRIBUTES 13, 0x0e
        TRY "contributory, contributory: #DF", 8, 0
        mov $NONCANONICAL, %rax
        mov (%rax), %ebx
        END
        GATE_ATTRIBUTES 13, 0x8e
        GATE_ATTRIBUTES 14, 0x0e
        TRY "page fault, contributory: #DF", 8, 0
        mov WINDOW, %eax
        END
        GATE_ATTRIBUTES 14, 0x8e
        GATE_ATTRIBUTES 14, 0x8e
        movb $2, idt + 13 * 16 + 4      /* IST2 points to a page that is not there */
        movq $WINDOW + 0x1000, tss + 44
        TRY "contributory, page fault: the page fault alone", 14, 2
        mov $NONCANONICAL, %rax
        mov (%rax), %ebx
        END
        movb $0, idt + 13 * 16 + 4
        movb $2, idt + 14 * 16 + 4
        TRY "page fault, page fault: #DF", 8, 0
        mov WINDOW, %eax
        END
        movb $0, idt + 14 * 16 + 4

        /* IRETQ */
        TRY "IRETQ to the same ring", none
        mov %rsp, %rbx
        pushq $DATA
        push %rbx
        pushq $0x2
        pushq $CODE64
        pushq $1f
        iretq
1:
        END
        TRY "IRETQ with NT: #GP", 13, 0
        pushq $0x4002
        popfq
        iretq
        END
        TRY "IRETQ to a null CS: #GP", 13, 0
        pushq $DATA
        pushq $stack_top
        pushq $2
        pushq $0
        pushq $1f
        iretq
1:
        END
        TRY "IRETQ to a data segment: #GP, selector", 13, DATA
        pushq $DATA
        pushq $stack_top
        pushq $2
        pushq $DATA
        pushq $1f
        iretq
1:
        END
        TRY "IRETQ to ring 3 with an SS of ring 0: #GP, selector", 13, DATA
        pushq $DATA
        pushq $user_stack_top
        pushq $2
        pushq $USER_CODE64 + RPL3
        pushq $1f
        iretq
1:
        END
        /* SDM vol. 2 "IRET", IA-32e-MODE-RETURN; vol. 3 "Interrupt 13". */
        TRY "IRETQ to ring 0 with a null SS of another RPL: #GP", 13, 0
        pushq $1
        pushq $stack_top
        pushq $2
        pushq $CODE64
        pushq $1f
        iretq
1:
        END
        TRY "IRETQ to an address that is not canonical: #GP", 13, 0
        pushq $DATA
        pushq $stack_top
        pushq $2
        pushq $CODE64
        mov $NONCANONICAL, %rax
        push %rax
        iretq
        END
        TRY "IRETQ sets the flags, RF too", none
        mov $1f, %rbx
        mov %rsp, %rcx
        pushq $DATA
        push %rcx
        pushq $0xcd7
        pushq $CODE64
        push %rbx
        iretq
1:      pushfq
        pop %rbx
        cld
        END
        and $0xfff, %ebx
        EQUAL "all status flags came", %rbx, $0xcd7

        /* Far jumps and returns */
        TRY "far jump and far return", none
        ljmp *far_pointer
far_target:
        pushq $CODE64
        pushq $1f
        lretq
1:
        END
        TRY "far return to a data segment: #GP, selector", 13, DATA
        pushq $DATA
        pushq $far_target
        lretq
        END
        /* SDM vol. 2 "RET", RETURN-OUTER-PRIVILEGE-LEVEL: the stack's selector is looked at first. */
        TRY "far return to ring 3 with two faults: that of SS, #GP, selector", 13, DATA
        pushq $DATA
        pushq $user_stack_top
        pushq $USER_CODE64 + RPL3
        mov $NONCANONICAL, %rax
        push %rax
        lretq
        END
        TRY "far return to ring 3, to an address that is not canonical: #GP", 13, 0
        pushq $USER_DATA + RPL3
        pushq $user_stack_top
        pushq $USER_CODE64 + RPL3
        mov $NONCANONICAL, %rax
        push %rax
        lretq
        END
        TRY "far return to a null selector: #GP", 13, 0
        pushq $0
        pushq $far_target
        lretq
        END
        jmp finish

        .section .data
        .balign 8
unscaled: .quad 0xffffffff
short_idt:
        .word 0x90 * 16 - 1
        .quad idt
far_pointer:
        .long far_target
        .word CODE64
        .section .bss
        .balign 8
seen_flags: .skip 8
