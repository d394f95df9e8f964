/*
 * Loops without an end, one in each program, for tests/t_timing.py: it runs each for so many instructions and for
 * more, and looks at the difference. LOOP_name chooses; some are for 64 KiB of code, or chase N pointers.
 */
#include "tests/guests/long.inc"

        .set RING, 0x20000      /* bytes of a chase's ring: four times an L1D of 32 KiB */
        .set RINGS, 0x1000000   /* the first of them */
        .set WALK, 0x4000000

main:
#if defined(LOOP_multiply)      /* one chain, through two blocks */
1:      imul %rax, %rax
        jmp 2f
2:      imul %rax, %rax
        jmp 1b
#elif defined(LOOP_independent)
1:      add $1, %rax
        add $1, %rbx
        add $1, %rcx
        add $1, %rdx
        add $1, %rsi
        add $1, %rdi
        add $1, %r8
        jmp 1b
#elif defined(CHASE)
        .macro EACH_POINTER do, n=CHASE
        \do %rax, 0
        .ifge \n - 2
        \do %rbx, 1
        .endif
        .ifge \n - 4
        \do %rdx, 2
        \do %r8, 3
        .endif
        .ifge \n - 8
        \do %r9, 4
        \do %r10, 5
        \do %r11, 6
        \do %r12, 7
        .endif
        .endm
        .macro RING_OF pointer, n
        mov $RINGS + RING * \n, \pointer
        mov $RING / 64, %ecx
3:      lea 64(\pointer), %rsi
        mov %rsi, (\pointer)
        mov %rsi, \pointer
        dec %ecx
        jnz 3b
        movq $RINGS + RING * \n, -64(\pointer)
        mov $RINGS + RING * \n, \pointer
        .endm
        .macro STEP pointer, n
        mov (\pointer), \pointer
        .rept BETWEEN
        nop
        .endr
        .endm
        EACH_POINTER RING_OF
1:      EACH_POINTER STEP
        jmp 1b
#elif defined(LOOP_bytes)       /* 128 of them, 15 instructions */
        .balign 64
1:      .rept 14
        .byte 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0     /* NOP, nine bytes */
        .endr
        .byte 0xeb, -128        /* JMP 1b */
#elif defined(LOOP_code)        /* 1024 lines of it */
        .balign 64
1:      .rept 1023
        jmp 2f
        .balign 64
2:
        .endr
        jmp 1b
#elif defined(LOOP_forward)
        mov $RINGS, %edi
1:      incq (%rdi)
        jmp 1b
#elif defined(LOOP_moved)       /* the same words, never the same place */
        mov $RINGS, %edi
        xor %eax, %eax
1:      incq (%rdi, %rax)
        add $8, %eax
        and $0xff8, %eax
        jmp 1b
#elif defined(LOOP_flush)       /* a chase on one line that is never there */
        mov $RINGS, %edi
        mov %rdi, (%rdi)
1:      clflush (%rdi)
        mov (%rdi), %rdi
        jmp 1b
#elif defined(LOOP_flushcode)
        .balign 64
1:      clflush 1b(%rip)
        jmp 1b
#elif defined(LOOP_branches)    /* half of those in the middle are mispredicted, more or less */
        mov $1, %eax
1:      imul $1664525, %eax, %eax
        add $1013904223, %eax
        test $0x10000000, %eax
        jz 2f
2:      jmp 1b
#elif defined(LOOP_walk)
2:      mov $WALK, %esi
1:      mov (%rsi), %rax
        add $64, %rsi
        cmp $2 * WALK, %rsi
        jb 1b
        jmp 2b
#elif defined(LOOP_down)
2:      mov $2 * WALK, %esi
1:      sub $64, %rsi
        mov (%rsi), %rax
        cmp $WALK, %rsi
        ja 1b
        jmp 2b
#endif
