/*
 * A second processor: INIT, SIPI, real mode at the trampoline, protected mode, and back with a message. SDM vol. 3
 * "Multiple-Processor Initialization", "Real-Address Mode". Run it with two processors.
 */
#include "long.inc"

        .set TRAMPOLINE, 0x8000
        .set SEEN, 0x9000       /* what the second processor leaves here */
        .set TURNS, 0x9020      /* 1: begin, 2: the second processor is done */
        .set LOCK, 0x9024
        .set LAST, 0x9028
        .set BACKWARDS, 0x9030
        .set READINGS, 3000

main:
        mov $0xfee00000, %r15d
        movl $0x1ff, 0xf0(%r15)
        mov $trampoline, %rsi
        mov $TRAMPOLINE, %rdi
        mov $trampoline_end - trampoline, %ecx
        rep movsb
        movl $0xff, SEEN
        movl $0, SEEN + 4
        movq $0, TURNS
        movq $0, LAST
        movl $0, BACKWARDS
        TRY "a SIPI without an INIT starts nothing that runs already", none
        movl $0x44608, 0x300(%r15)      /* to self: not a valid combination */
        END
        movl $0x01000000, 0x310(%r15)
        movl $0x4500, 0x300(%r15)       /* INIT */
        mov $2000000, %ecx
1:      pause
        loop 1b
        movl $0x01000000, 0x310(%r15)
        movl $0x4608, 0x300(%r15)       /* SIPI, vector 08H */
        mov $50000000, %ecx
1:      pause
        cmpl $0x600d, SEEN + 4
        loopne 1b
        cmpl $0x600d, SEEN + 4
        CHECK "the second processor reached protected mode", e
        mov SEEN + 8, %eax
        EQUAL "it began with CS = 0800H", %rax, $0x800
        mov SEEN + 12, %eax
        EQUAL "and IP = 0", %rax, $TRAMPOLINE
        mov SEEN + 16, %eax
        and $0x6001003f, %eax
        EQUAL "CR0 had CD, NW and ET, as after INIT", %rax, $0x60000010
        mov SEEN + 20, %eax
        EQUAL "its local APIC ID is 1", %rax, $0x01000000

        /* Both read the time in turns, each under the lock, and no reading is earlier than the one before it. */
        movl $1, TURNS
        mov $READINGS, %ecx
1:      mov $1, %eax
        xchg %eax, LOCK
        test %eax, %eax
        jnz 1b
        lfence
        rdtsc
        shl $32, %rdx
        or %rdx, %rax
        cmp LAST, %rax
        jae 2f
        incl BACKWARDS
2:      mov %rax, LAST
        movl $0, LOCK
        loop 1b
        mov $50000000, %ecx
1:      pause
        cmpl $2, TURNS
        loopne 1b
        cmpl $2, TURNS
        CHECK "both have read the time-stamp counter", e
        mov BACKWARDS, %eax
        EQUAL "it never went backwards between them", %rax, $0
        jmp finish

        .code16
        .balign 16
trampoline:
        mov %cs, %ax
        mov %ax, %ds
        call 1f
1:      pop %bx                 /* SP was 0: the stack is at SS:FFFEH, plain memory */
        movzwl %bx, %ebx
        sub $1b - trampoline, %ebx
        xor %ecx, %ecx
        mov %cs, %cx
        mov %ecx, %edx
        shl $4, %edx
        add %edx, %ebx
        mov %cr0, %edi
        lgdtl trampoline_gdt_register - trampoline
        mov %cr0, %eax
        and $0x9fffffff, %eax
        or $1, %al
        mov %eax, %cr0
        ljmpl $8, $TRAMPOLINE + 2f - trampoline
        .code32
2:      mov $0x10, %eax
        mov %eax, %ds
        mov %ecx, SEEN + 8
        mov %ebx, SEEN + 12
        mov %edi, SEEN + 16
        mov 0xfee00020, %eax
        mov %eax, SEEN + 20
        movl $0x600d, SEEN + 4
1:      pause
        cmpl $1, TURNS
        jne 1b
        mov $READINGS, %ecx
1:      mov $1, %eax
        xchg %eax, LOCK
        test %eax, %eax
        jnz 1b
        lfence
        rdtsc
        cmp LAST + 4, %edx
        ja 5f
        jb 4f
        cmp LAST, %eax
        jae 5f
4:      incl BACKWARDS
5:      mov %eax, LAST
        mov %edx, LAST + 4
        movl $0, LOCK
        loop 1b
        movl $2, TURNS
3:      cli
        hlt
        jmp 3b
        .balign 8
trampoline_gdt:
        .quad 0
        .quad 0x00cf9a000000ffff
        .quad 0x00cf92000000ffff
trampoline_gdt_register:
        .word 23
        .long TRAMPOLINE + trampoline_gdt - trampoline
trampoline_end:
        .code64
