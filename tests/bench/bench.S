/*
 * The loops of `make bench`. ALU, MEMORY, BRANCHY, MIXED or CONSOLE chooses the loop; with COUNTERS the four general and the three
 * fixed counters count. Ends by the debug-exit port.
 */
#include "tests/guests/long.inc"

main:
#ifdef COUNTERS
        .macro SELECT n, event
        mov $0x186 + \n, %ecx   /* IA32_PERFEVTSELn: USR, OS, EN */
        mov $0x430000 + \event, %eax
        xor %edx, %edx
        wrmsr
        .endm
        SELECT 0, 0x00c0        /* instructions, branches, mispredicts, LLC misses */
        SELECT 1, 0x00c4
        SELECT 2, 0x00c5
        SELECT 3, 0x412e
        mov $0x38d, %ecx        /* IA32_FIXED_CTR_CTRL: OS and USR of all three */
        mov $0x333, %eax
        wrmsr
        mov $0x38f, %ecx        /* IA32_PERF_GLOBAL_CTRL */
        mov $0xf, %eax
        mov $7, %edx
        wrmsr
#endif
#if defined(ALU)
        mov $20000000, %ecx
1:      add %rcx, %rax
        xor %rax, %rbx
        lea 8(%rbx,%rax,4), %rsi
        sub %rsi, %rdi
        and $0xffffff, %esi
        shl $3, %rdi
        or %rdi, %r8
        imul %r8, %r9
        dec %ecx
        jnz 1b
#elif defined(MEMORY)
        mov $4, %ecx
2:      mov $0x4000000, %esi    /* 64 MiB, from 64 MiB on */
1:      mov (%rsi), %rax
        add %rcx, %rax
        mov %rax, (%rsi)
        add 8(%rsi), %rbx
        mov %rbx, 8(%rsi)
        add $16, %rsi
        cmp $0x8000000, %rsi
        jb 1b
        dec %ecx
        jnz 2b
#elif defined(BRANCHY)
        mov $8000000, %ecx
        mov $1, %eax
1:      imul $1664525, %eax, %eax
        add $1013904223, %eax
        test $0x10000000, %eax
        jz 2f
        inc %ebx
2:      test $0x40000000, %eax
        jnz 3f
        call leaf
3:      cmp $0x60000000, %eax
        ja 4f
        dec %ebx
4:      dec %ecx
        jnz 1b
#elif defined(MIXED)
        mov $4000000, %ecx
        mov $0x4000000, %esi    /* 64 KiB of it, again and again */
1:      mov %ecx, %edx
        and $0xfff8, %edx
        mov (%rsi,%rdx), %rax
        lea 1(%rax,%rcx), %rbx
        mov %rbx, (%rsi,%rdx)
        movzbl %bl, %edi
        shr $3, %rbx
        cmp $64, %edi
        jb 2f
        xor %rbx, %r8
2:      push %rcx
        call leaf
        pop %rcx
        dec %ecx
        jnz 1b
#elif defined(CONSOLE)
        mov $0x8000, %ecx       /* lines of 64 bytes to COM1, waiting as one does */
2:      mov $64, %ebx
1:      mov $0x3fd, %edx
3:      in %dx, %al
        test $0x20, %al
        jz 3b
        mov $'x', %al
        cmp $1, %ebx
        jne 4f
        mov $'\n', %al
4:      mov $0x3f8, %edx
        out %al, %dx
        dec %ebx
        jnz 1b
        dec %ecx
        jnz 2b
#endif
        mov $0x10, %al
        out %al, $0xf4
leaf:   ret
