/*
 * Single step, debug registers, RF. SDM vol. 3 "Debug Registers", "Debug Exceptions".
 */
#include "long.inc"

        .set BS, 0x4000         /* bits of DR6 */
        .set BD, 0x2000
        .set DR7_NONE, 0x400
        .set DR6_NONE, 0xffff0ff0

        .macro BREAKPOINT number, at, control
        mov $\at, %eax
        mov %rax, %dr\number
        mov $DR7_NONE | 2 << (2 * \number) | (\control) << (16 + 4 * \number), %eax
        mov %rax, %dr7
        .endm
        .macro NO_BREAKPOINTS
        mov $DR7_NONE, %eax
        mov %rax, %dr7
        .endm
        .macro CLEAR_DR6
        mov $DR6_NONE, %eax
        mov %rax, %dr6
        .endm
        .macro STEP             /* sets TF: the next instruction but one is stepped over */
        pushfq
        orl $0x100, (%rsp)
        popfq
        .endm

main:
        CLEAR_DR6
        TRY "single step", 1
        STEP
        nop
1:      nop
        END
        EQUAL "#DB comes after the instruction that follows POPF", frame_ip, $1b
        mov %dr6, %rax
        EQUAL "DR6.BS", %rax, dr6_step
        testq $0x100, frame_flags
        CHECK "the pushed flags hold TF", nz
        CLEAR_DR6
        TRY "MOV SS defers the step", 1
        mov $DATA, %ebx
        STEP
        mov %ebx, %ss
        nop
1:      nop
        END
        EQUAL "to after the next instruction", frame_ip, $1b
        TRY "a stepped REP instruction traps after each iteration", 1
        mov $3, %ecx
        mov $scratch, %edi
        STEP
        rep stosb
        nop
        END
        EQUAL "two are left", %rcx, $2
#ifdef TCG
        SKIP "a stepped HLT ends at once", "QEMU stays halted"
#else
        TRY "a stepped HLT ends at once", 1
        STEP
        hlt
1:      nop
        END
        EQUAL "the handler runs on, and goes back behind the HLT", frame_ip, $1b
#endif
        TRY "INT n clears TF: no step in the handler", 0x80
        STEP
        int $0x80
        END
        TRY "ICEBP: #DB", 1
        .byte 0xf1
1:      nop
        END
        EQUAL "a trap", frame_ip, $1b
        .macro WITH_RF label    /* goes there with RFLAGS.RF = 1 */
        mov %rsp, %rax
        pushq $DATA
        push %rax
        pushq $0x10002
        pushq $CODE64
        pushq $\label
        iretq
        .endm
        TRY "INT n with RF = 1", 0x80
        WITH_RF 1f
1:      int $0x80
        END
        testl $0x10000, frame_flags
        CHECK "INT n pushes RF = 0", z
        TRY "INT3 with RF = 1", 3
        WITH_RF 1f
1:      int3
        END
        testl $0x10000, frame_flags
        CHECK "INT3 pushes RF = 0", z
        TRY "ICEBP with RF = 1: #DB", 1
        WITH_RF 1f
1:      .byte 0xf1
        END
        testl $0x10000, frame_flags
        CHECK "ICEBP pushes RF = 0", z
        CLEAR_DR6
        BREAKPOINT 0, 1f, 0
        TRY "execution breakpoint", 1
1:      nop
        END
        EQUAL "a fault: RIP is the instruction", frame_ip, $1b
        testl $0x10000, frame_flags
        CHECK "it pushes RF = 0, unlike other faults", z
        mov %dr6, %rax
        and $0xf, %eax
        EQUAL "DR6.B0", %rax, $1
        TRY "RF = 1 from IRETQ steps over it", none
        mov %rsp, %rax
        pushq $DATA
        push %rax
        pushq $0x10002
        pushq $CODE64
        pushq $1b
        mov $2f, %eax
        mov %rax, %dr0
        movq $2f, (%rsp)
        iretq
2:      mov %rax, %rbx
        END
        NO_BREAKPOINTS
        CLEAR_DR6
        BREAKPOINT 0, 2f, 0
        TRY "RF lasts one instruction", 1
        mov %rsp, %rax
        pushq $DATA
        push %rax
        pushq $0x10002
        pushq $CODE64
        pushq $1f
        iretq
1:      nop
2:      nop
        END
        EQUAL "the second one breaks", frame_ip, $2b
        NO_BREAKPOINTS

        CLEAR_DR6
        BREAKPOINT 1, scratch, 0xd      /* write, 4 bytes */
        TRY "data breakpoint on write", 1
        mov scratch, %ebx
        movb $1, scratch + 3
1:      nop
        END
        EQUAL "a trap after the write, the read before was free", frame_ip, $1b
        mov %dr6, %rax
        and $0xf, %eax
        EQUAL "DR6.B1", %rax, $2
        CLEAR_DR6
        BREAKPOINT 1, stack_selector, 7 /* read or write, 2 bytes */
        TRY "data breakpoint on MOV SS, then ICEBP: #DB", 1
        mov stack_selector, %ss
        .byte 0xf1
1:      nop
        END
        EQUAL "one for both, it is no second one in the handler", frame_ip, $1b
        mov %dr6, %rax
        and $0xf, %eax
        EQUAL "DR6 holds the breakpoint", %rax, $2
        BREAKPOINT 1, scratch, 0xd
        TRY "the bytes beside it are free", none
        movb $1, scratch + 4
        END
        CLEAR_DR6
        BREAKPOINT 3, scratch, 0xf      /* read or write, 4 bytes */
        TRY "data breakpoint on read", 1
        mov scratch, %ebx
1:      nop
        END
        EQUAL "a trap after the read", frame_ip, $1b
        mov %dr6, %rax
        and $0xf, %eax
        EQUAL "DR6.B3", %rax, $8
        NO_BREAKPOINTS
        TRY "a breakpoint that is not enabled", none
        mov scratch, %ebx
        END

        mov %cr4, %rax
        or $8, %rax             /* DE */
        mov %rax, %cr4
        CLEAR_DR6
        BREAKPOINT 2, 0x80, 2   /* I/O */
        TRY "I/O breakpoint", 1
        in $0x80, %al
1:      nop
        END
        EQUAL "a trap after the IN", frame_ip, $1b
        mov %dr6, %rax
        and $0xf, %eax
        EQUAL "DR6.B2", %rax, $4
        NO_BREAKPOINTS

        TRY "DR4 with CR4.DE: #UD", 6
        .byte 0x0f, 0x21, 0xe0
        END
        mov %cr4, %rax
        and $~8, %rax
        mov %rax, %cr4
        CLEAR_DR6
        .byte 0x0f, 0x21, 0xe0  /* mov %dr4, %rax */
        mov %dr6, %rbx
        EQUAL "DR4 without it is DR6", %rax, %rbx
        TRY "DR7 above 32 bits: #GP", 13, 0
        mov $0x100000000, %rax
        mov %rax, %dr7
        END
        TRY "DR6 above 32 bits: #GP", 13, 0
        mov $0x100000000, %rax
        mov %rax, %dr6
        END
        CLEAR_DR6
        mov $DR7_NONE | 0x2000, %eax    /* GD */
        mov %rax, %dr7
        TRY "general detect", 1
1:      mov %dr0, %rax
        END
        EQUAL "a fault", frame_ip, $1b
        mov %dr7, %rax
        test $0x2000, %eax
        CHECK "DR7.GD is cleared", z
        mov %dr6, %rax
        test $BD, %eax
        CHECK "DR6.BD", nz
        CLEAR_DR6
        TRY "a single step with general detect: #DB", 1
        mov $DR7_NONE | 0x2000, %eax
        mov %rax, %dr7
        STEP
        nop
1:      nop
        END
        EQUAL "it is the step's", frame_ip, $1b
        TRY "its handler reads DR7", none
        mov %dr7, %rbx
        END
        test $0x2000, %ebx
        CHECK "every #DB clears DR7.GD", z
        NO_BREAKPOINTS
        jmp finish

        .section .data
        .balign 8
dr6_step: .quad DR6_NONE | BS
stack_selector: .word DATA
        .section .bss
        .balign 8
scratch: .skip 8
