/*
 * Rings in 64-bit mode: IRETQ out, interrupts in, privileged instructions, the I/O bitmap, compatibility mode,
 * SYSCALL, SYSENTER, call gates. SDM vol. 3 "Protection", "System Instruction Reference"; vol. 2.
 */
#include "long.inc"

main:
        movb $0xee, idt + 0x80 * 16 + 5
        movb $1, idt + 0x81 * 16 + 4
        mov $gate_target, %eax
        mov %ax, gdt + CALL_GATE
        shr $16, %eax
        mov %ax, gdt + CALL_GATE + 6

        TRY "IRETQ to ring 3 and INT n back", 0x80
        USER 1f
1:      int $0x80
        END
        EQUAL "the frame lies at the top of RSP0", frame_at, $rsp0_top-40
        EQUAL "it holds the CS of ring 3", frame_cs, $USER_CODE64+RPL3
        EQUAL "and its SS", frame_ss, $USER_DATA+RPL3
        EQUAL "and its stack pointer", frame_sp, $user_stack_top
        EQUAL "SS is null in the handler, with RPL 0", handler_ss, $0
        TRY "INT n through a gate of DPL 0: #GP, IDT", 13, 0x81*8+2
        USER 1f
1:      int $0x81
        END

        /* Privileged instructions in ring 3 */
        .macro PRIVILEGED instruction:vararg
        TRY "ring 3: \instruction", 13, 0
        USER 7777f
7777:   \instruction
        END
        .endm
        PRIVILEGED cli
        PRIVILEGED sti
        PRIVILEGED hlt
        PRIVILEGED rdmsr
        PRIVILEGED wrmsr
        PRIVILEGED mov %cr0, %rax
        PRIVILEGED mov %rax, %cr3
        PRIVILEGED mov %dr7, %rax
        PRIVILEGED clts
        PRIVILEGED invlpg (%rax)
        PRIVILEGED wbinvd
        PRIVILEGED lgdt gdt_register
        PRIVILEGED lidt idt_register
        PRIVILEGED ltr %ax
        PRIVILEGED lldt %ax
        PRIVILEGED lmsw %ax
        PRIVILEGED swapgs
        PRIVILEGED sysretq
        PRIVILEGED in $0x80, %al
        PRIVILEGED out %al, $0x80

        TRY "ring 3: a port that the I/O bitmap opens", 0x80
        USER 1f
1:      mov $0x70, %dx
        in %dx, %al
        int $0x80
        END
        TRY "ring 3: two bytes of which one is closed", 13, 0
        USER 1f
1:      mov $0x77, %dx
        in %dx, %ax
        END
        TRY "ring 3: a port past the bitmap", 13, 0
        USER 1f
1:      mov $0x3f8, %dx
        in %dx, %al
        END
        TRY "ring 3 loads an SS of ring 0: #GP, selector", 13, DATA
        USER 1f
1:      mov $DATA, %eax
        mov %eax, %ss
        END
        TRY "ring 3: POPF leaves IF and IOPL", 0x80
        USER 1f
1:      pushq $0x3202
        popfq
        int $0x80
        END
        mov frame_flags, %rax
        and $0x3200, %eax
        CHECK "so it does", z
        mov %cr4, %rax
        or $4, %rax             /* TSD */
        mov %rax, %cr4
        TRY "ring 3: RDTSC with CR4.TSD", 13, 0
        USER 1f
1:      rdtsc
        END
        mov %cr4, %rax
        and $~4, %rax
        mov %rax, %cr4
        TRY "ring 3: RDTSC without", 0x80
        USER 1f
1:      rdtsc
        int $0x80
        END

        TRY "compatibility mode", 0x80
        pushq $USER_DATA+RPL3
        pushq $user_stack_top
        pushq $2
        pushq $USER_CODE32+RPL3
        pushq $1f
        iretq
        .code32
1:      push %ss
        pop %ss
        mov $-1, %eax
        inc %eax                /* the byte is a REX prefix in 64-bit mode */
        int $0x80
        .code64
        END
        EQUAL "it was 32-bit code", frame_cs, $USER_CODE32+RPL3
        EQUAL "with a 32-bit INC", %rax, $0

        /* SYSCALL and SYSRET */
        WRITE_MSR 0xc0000081, 0, 0x00180008
        WRITE_MSR 0xc0000082, system_call
        WRITE_MSR 0xc0000084, 0x400
        TRY "SYSCALL and SYSRET", 0x80
        USER 1f
1:      std
        syscall
after_syscall:
        mov %cs, %eax
        mov %rax, user_cs
        mov %ss, %eax
        mov %rax, user_ss
        int $0x80
        END
        EQUAL "SYSRET loads CS from STAR + 16", user_cs, $USER_CODE64+RPL3
        EQUAL "SYSRET loads SS from STAR + 8", user_ss, $USER_DATA+RPL3
        EQUAL "SYSCALL loads CS from STAR", kernel_cs, $CODE64
        EQUAL "SYSCALL loads SS from STAR + 8", kernel_ss, $DATA
        EQUAL "RCX held the next instruction", saved_rcx, $after_syscall
        testq $0x400, saved_r11
        CHECK "R11 held the flags", nz
        testq $0x400, seen_flags
        CHECK "FMASK cleared DF", z
        testq $0x400, frame_flags
        CHECK "SYSRET restored it", nz
        cld
        TRY "SYSRET to an address that is not canonical: #GP in ring 0", 13, 0
        mov $NONCANONICAL, %rcx
        mov $2, %r11d
        sysretq
        END
        EQUAL "in ring 0", frame_cs, $CODE64
        READ_MSR 0xc0000080
        and $~1, %eax
        xor %edx, %edx
        wrmsr
        TRY "SYSCALL without EFER.SCE: #UD", 6
1:      syscall
        END
        EQUAL "it is the SYSCALL that faults", frame_ip, $1b
        TRY "SYSRET without EFER.SCE: #UD", 6
        sysretq
        END
        READ_MSR 0xc0000080
        or $1, %eax
        xor %edx, %edx
        wrmsr

        /* SYSENTER and SYSEXIT: the selectors count on from IA32_SYSENTER_CS. The GDT for it is its own. */
        TRY "SYSENTER with a null IA32_SYSENTER_CS: #GP", 13, 0
        WRITE_MSR 0x174, 0
        sysenter
        END
        lgdt enter_gdt_register
        WRITE_MSR 0x174, CODE64
        WRITE_MSR 0x175, rsp0_top
        WRITE_MSR 0x176, fast_entry
        TRY "SYSENTER and SYSEXIT", 0x80
        pushq $0x20 + RPL3
        pushq $user_stack_top
        pushq $0x202
        pushq $0x28+RPL3
        pushq $1f
        iretq
1:      sysenter
after_sysenter:
        int $0x80
        END
        EQUAL "SYSENTER loads the stack pointer", saved_rsp, $rsp0_top
        EQUAL "SYSENTER loads CS", kernel_cs, $CODE64
        testq $0x200, seen_flags
        CHECK "SYSENTER clears IF", z
        EQUAL "SYSEXIT with REX.W loads CS + 32", frame_cs, $0x28+RPL3
        EQUAL "SYSEXIT with REX.W loads SS + 40", frame_ss, $0x30+RPL3
        EQUAL "SYSEXIT loads the stack pointer from RCX", frame_sp, $user_stack_top
        TRY "SYSEXIT to an address that is not canonical: #GP", 13, 0
        mov $NONCANONICAL, %rdx
        mov $user_stack_top, %ecx
        sysexitq
        END
        lgdt gdt_register

        TRY "a 64-bit call gate to ring 0 and the far return", 0x80
        USER 1f
1:      lcall *gate_pointer
        int $0x80
        END
        EQUAL "the gate's stack is RSP0, with SS, RSP, CS, RIP", gate_sp, $rsp0_top-32
        EQUAL "the return restores the stack", frame_sp, $user_stack_top

        WRITE_MSR 0xc0000102, 0x1234000
        swapgs
        READ_MSR 0xc0000101
        EQUAL "SWAPGS exchanges the base", %rax, $0x1234000
        swapgs
        jmp finish

gate_target:
        mov %rsp, gate_sp
        lretq
system_call:
        mov %rcx, saved_rcx
        mov %r11, saved_r11
        mov %cs, %eax
        mov %rax, kernel_cs
        mov %ss, %eax
        mov %rax, kernel_ss
        pushfq
        popq seen_flags
        sysretq
fast_entry:
        mov %rsp, saved_rsp
        xor %eax, %eax
        mov %cs, %eax
        mov %rax, kernel_cs
        pushfq
        popq seen_flags
        mov $after_sysenter, %edx
        mov $user_stack_top, %ecx
        sysexitq

        .section .data
        .balign 16
/* As gdt, but the order of SYSEXIT: +16 user code 32, +24 user data, +32 user code 64, +40 user data. */
enter_gdt:
        .quad 0
        .quad 0x00af9a000000ffff
        .quad 0x00cf92000000ffff
        .quad 0x00cffa000000ffff
        .quad 0x00cff2000000ffff
        .quad 0x00affa000000ffff
        .quad 0x00cff2000000ffff
enter_gdt_end:
enter_gdt_register:
        .word enter_gdt_end - enter_gdt - 1
        .quad enter_gdt
gate_pointer:
        .long 0
        .word CALL_GATE + RPL3
        .section .bss
        .balign 8
user_cs: .skip 8
user_ss: .skip 8
kernel_cs: .skip 8
kernel_ss: .skip 8
saved_rcx: .skip 8
saved_r11: .skip 8
saved_rsp: .skip 8
seen_flags: .skip 8
gate_sp: .skip 8
