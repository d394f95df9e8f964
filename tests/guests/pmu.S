/*
 * The PMU as a program meets it: RDPMC and its faults, what an instruction counts as, rings, HLT, and the way of
 * the PMI. Needs perfmon version 2 with two general counters; pmusim alone has it. SDM vol. 3 "Performance
 * Monitoring"; vol. 2 "RDPMC—Read Performance-Monitoring Counters".
 */
#include "long.inc"

        .set PMC0, 0xc1
        .set SELECT0, 0x186
        .set FIXED0, 0x309
        .set FIXED_CTRL, 0x38d
        .set STATUS, 0x38e
        .set GLOBAL_CTRL, 0x38f
        .set STATUS_RESET, 0x390
        .set INSTRUCTIONS, 0xc0
        .set USR, 0x10000
        .set OS, 0x20000
        .set INT, 0x100000
        .set EN, 0x400000
        .set FIXED_INDEX, 0x40000000 /* RDPMC */
        .set LVT_PERFMON, 0x340
        .set PMI_VECTOR, 0xe0
        .set LVT_MASK, 0x10000
        .set LVT_NMI, 0x400
        .set A_WHILE, 10000     /* far longer than any skid */
        .set LBR_INFO, 0x1200
        .set LBR_CTL, 0x14ce
        .set LBR_DEPTH, 0x14cf
        .set LBR_FROM, 0x1500
        .set LBR_TO, 0x1600
        .set LBR_ALL, 0x7f0007  /* every kind in both rings, LBREn */
        .set LBR_USER, 0x7f0005 /* in ring 3 alone */
        .set LOG_HIGH, 8        /* IA32_PERFEVTSELx[35] */

/* OPEN ... CLOSE: counters from 0; FIXED0 counts instructions in both rings, PMC0 in ring 3, PMC1 in ring 0,
   FIXED1 and FIXED2 clocks. The counts are in n_* afterwards. Changes RAX, RCX, RDX. */
        .macro OPEN
        WRITE_MSR PMC0, 0
        WRITE_MSR PMC0 + 1, 0
        WRITE_MSR FIXED0, 0
        WRITE_MSR FIXED0 + 1, 0
        WRITE_MSR FIXED0 + 2, 0
        WRITE_MSR GLOBAL_CTRL, 3, 7
        .endm
        .macro CLOSE
        call close
        .endm
        .macro COUNTED text, n
        mov n_both, %rax
        sub empty, %rax
        EQUAL "\text", %rax, $\n
        .endm
        .macro SPIN
        mov $A_WHILE, %ecx
8888:   dec %ecx
        jnz 8888b
        .endm
/* Lets PMC0 overflow soon, counting instructions with INT set. */
        .macro ARM
        WRITE_MSR GLOBAL_CTRL, 0
        WRITE_MSR STATUS_RESET, 1
        WRITE_MSR SELECT0, INSTRUCTIONS | USR | OS | INT | EN
        WRITE_MSR PMC0, -100
        movl $PMI_VECTOR, LVT_PERFMON(%r15)
        WRITE_MSR GLOBAL_CTRL, 1
        .endm

main:
        mov $0xa, %eax
        cpuid
        cmp $2, %al
        jae 1f
        SKIP "the PMU", "CPUID.0AH:EAX[7:0] is below 2"
        jmp finish
1:
        mov $0xfee00000, %r15d
        movl $0x1ff, 0xf0(%r15)
        WRITE_MSR GLOBAL_CTRL, 0
        WRITE_MSR SELECT0, INSTRUCTIONS | USR | EN
        WRITE_MSR SELECT0 + 1, INSTRUCTIONS | OS | EN
        WRITE_MSR FIXED_CTRL, 0x333

        /* RDPMC */
        WRITE_MSR PMC0 + 1, 0x12345
        mov $1, %ecx
        mov $-1, %rax
        mov $-1, %rdx
        rdpmc
        EQUAL "RDPMC: a general counter; the upper half of RAX is 0", %rax, $0x12345
        EQUAL "and so is that of RDX", %rdx, $0
        WRITE_MSR FIXED0 + 2, 0x54321, 1
        mov $FIXED_INDEX + 2, %ecx
        rdpmc
        shl $32, %rdx
        or %rdx, %rax
        mov $0x100054321, %rbx
        EQUAL "RDPMC: a fixed counter", %rax, %rbx
        TRY "RDPMC past the general counters: #GP", 13, 0
        mov $0x20, %ecx
        rdpmc
        END
        TRY "RDPMC past the fixed counters: #GP", 13, 0
        mov $FIXED_INDEX + 0x10, %ecx
        rdpmc
        END
        movb $0xee, idt + 0x80 * 16 + 5
        TRY "RDPMC in ring 3 without CR4.PCE: #GP", 13, 0
        USER 1f
1:      xor %ecx, %ecx
        rdpmc
        END
        TRY "the fixed kind too: #GP", 13, 0
        USER 1f
1:      mov $FIXED_INDEX, %ecx
        rdpmc
        END
        mov %cr4, %rax
        or $0x100, %rax         /* PCE */
        mov %rax, %cr4
        TRY "RDPMC in ring 3 with CR4.PCE", 0x80
        USER 1f
1:      mov $1, %ecx
        rdpmc
        int $0x80
        END
        EQUAL "it reads the counter", %rax, $0x12345
        TRY "but no wrong index: #GP", 13, 0
        USER 1f
1:      mov $0x20, %ecx
        rdpmc
        END

        /* What counts as an instruction */
        OPEN
        CLOSE
        mov n_both, %rax
        mov %rax, empty
        OPEN
        nop
        nop
        nop
        CLOSE
        COUNTED "three NOPs are three instructions", 3
        mov $1000, %ebx
        OPEN
        mov %ebx, %ecx
        mov $scratch, %edi
        rep stosb
        CLOSE
        COUNTED "a REP STOSB of 1000 is one", 3
        OPEN
        mov %ebx, %ecx
        mov $scratch, %edi
        mov $scratch, %esi      /* all are equal: it goes to the end */
        repe cmpsb
        CLOSE
        COUNTED "a REPE CMPSB is one", 4
        OPEN
        xor %ecx, %ecx
        rep stosb
        CLOSE
        COUNTED "a REP of none is one", 2

        /* Handlers are counted like everything else; the delivery is no instruction, a fault retires none. */
        GATE 0x85, returns
        GATE 6, skips
        OPEN
        int $0x85
        CLOSE
        COUNTED "INT n, one instruction in the handler, IRETQ", 3
        OPEN
        ud2
        CLOSE
        COUNTED "UD2 does not retire; two instructions in the handler do", 2
        GATE 0x46, interrupt
        OPEN
        movl $0x44046, 0x300(%r15)
        sti
        nop
        cli
        CLOSE
        COUNTED "an interrupt: four around it, two in the handler", 6
        EQUAL "nothing was counted in ring 3", n_user, $0

        /* Rings */
        GATE 0x80, back_from_user
        movb $0xee, idt + 0x80 * 16 + 5
        mov %rsp, saved_sp
        OPEN
        USER 1f
1:      nop
        nop
        nop
        int $0x80
back:   CLOSE
        EQUAL "ring 3: three NOPs and the INT n", n_user, $4
        mov n_user, %rax
        add n_kernel, %rax
        EQUAL "ring 3 and ring 0 together are all", %rax, n_both
        WRITE_MSR SELECT0, INSTRUCTIONS | OS | EN
        WRITE_MSR SELECT0 + 1, INSTRUCTIONS | EN
        OPEN
        nop
        CLOSE
        EQUAL "PMC0 = FIXED_CTR0 where all is ring 0", n_user, n_both
        EQUAL "neither USR nor OS: nothing", n_kernel, $0
        WRITE_MSR FIXED_CTRL, 0x330
        OPEN
        nop
        CLOSE
        EQUAL "a fixed counter with enable 0: nothing", n_both, $0
        WRITE_MSR FIXED_CTRL, 0x333

        /* HLT */
        movl $0x41, 0x320(%r15)
        movl $0xb, 0x3e0(%r15)
        GATE 0x41, timer
        OPEN
        rdtsc
        mov %eax, %ebx
        movl $100000, 0x380(%r15)
        sti
        hlt
        cli
        rdtsc
        sub %ebx, %eax
        mov %rax, elapsed
        CLOSE
        mov n_reference, %rax
        shl $3, %rax
        cmp elapsed, %rax
        CHECK "HLT: the TSC runs on, the reference cycles stand", b
        mov n_core, %rax
        shl $2, %rax
        cmp elapsed, %rax
        CHECK "and so do the core cycles", b

        /* The PMI */
        /* its gate is the one that TRY waits at */
        TRY "a PMI by the fixed vector", PMI_VECTOR
        ARM
        sti
spin_start:
        SPIN
spin_end:
        END
        mov $spin_start, %eax
        cmp %rax, frame_ip
        CHECK "it interrupts the code that ran", ae
        mov $spin_end, %eax
        cmp %rax, frame_ip
        CHECK "and not what came later", b
        mov LVT_PERFMON(%r15), %eax
        EQUAL "the local APIC has masked the entry", %rax, $LVT_MASK+PMI_VECTOR
        READ_MSR STATUS
        and $1, %eax
        EQUAL "the overflow's status bit is set", %rax, $1
        movl $0, 0xb0(%r15)
        TRY "with IF = 0 it waits", none
        ARM
        SPIN
        END
        xor %r14d, %r14d
        TRY "and comes when IF is set", PMI_VECTOR
        sti
        inc %r14
1:      inc %r14
        END
        EQUAL "after the interrupt shadow of STI", %r14, $1
        movl $0, 0xb0(%r15)
        TRY "while the entry is masked it is lost", none
        ARM
        movl $LVT_MASK + PMI_VECTOR, LVT_PERFMON(%r15)
        sti
        SPIN
        movl $PMI_VECTOR, LVT_PERFMON(%r15)
        nop
        nop
        cli
        END
        TRY "a PMI on its way wakes HLT", PMI_VECTOR
        WRITE_MSR GLOBAL_CTRL, 0
        WRITE_MSR PMC0, -5
        movl $PMI_VECTOR, LVT_PERFMON(%r15)
        WRITE_MSR GLOBAL_CTRL, 1
        sti
        nop
        nop
        nop
        nop
        hlt
        END
        movl $0, 0xb0(%r15)
        TRY "the TPR holds the fixed PMI back", none
        mov $PMI_VECTOR >> 4, %eax
        mov %rax, %cr8
        ARM
        sti
        SPIN
        cli
        END
        TRY "and lets it go", PMI_VECTOR
        sti
        xor %eax, %eax
        mov %rax, %cr8
        nop
        nop
        END
        movl $0, 0xb0(%r15)
        TRY "a PMI as NMI comes with IF = 0", 2
        ARM
        movl $LVT_NMI, LVT_PERFMON(%r15)
        SPIN
        END
        mov LVT_PERFMON(%r15), %eax
        EQUAL "that too masks the entry", %rax, $LVT_MASK+LVT_NMI
        TRY "the next one waits while NMIs are blocked", none
        ARM
        movl $LVT_NMI, LVT_PERFMON(%r15)
        SPIN
        END
        TRY "until IRET", 2
        IRET_TO 1f
1:      nop
        nop
        END
        EQUAL "right after it", frame_ip, $1b
        IRET_TO 1f
1:
        WRITE_MSR GLOBAL_CTRL, 0

        /* Architectural branch records: of instructions, not of what a test says of them */
        xor %eax, %eax
        cpuid
        cmp $0x1c, %eax
        jb no_records
        mov $7, %eax
        xor %ecx, %ecx
        cpuid
        bt $19, %edx
        jc 1f
no_records:
        SKIP "architectural branch records", "CPUID.7:EDX[19] = 0"
        jmp logged_end
1:
        TRY "a depth of branch records that is not announced: #GP", 13, 0
        WRITE_MSR LBR_DEPTH, 24
        END
        WRITE_MSR LBR_DEPTH, 8
        TRY "a branch record past the depth: #GP", 13, 0
        READ_MSR LBR_FROM + 8
        END
        WRITE_MSR LBR_CTL, LBR_ALL
recorded_call:
        call recorded_leaf
recorded_jump:
        jmp 1f
1:      WRITE_MSR LBR_CTL, 0
        READ_MSR LBR_FROM
        EQUAL "the newest branch record is the jump's", %rax, $recorded_jump
        READ_MSR LBR_INFO
        shr $56, %rax
        and $15, %eax
        EQUAL "its type: a near relative jump", %rax, $2
        READ_MSR LBR_FROM + 1
        EQUAL "before it the return", %rax, $recorded_leaf
        READ_MSR LBR_TO + 1
        EQUAL "to behind the call", %rax, $recorded_jump
        READ_MSR LBR_FROM + 2
        EQUAL "before that the call", %rax, $recorded_call
        READ_MSR LBR_TO + 2
        EQUAL "to what it calls", %rax, $recorded_leaf
        READ_MSR LBR_FROM + 3
        EQUAL "and nothing before it", %rax, $0
        WRITE_MSR LBR_DEPTH, 8
        READ_MSR LBR_FROM
        EQUAL "writing the depth clears the records", %rax, $0
        WRITE_MSR LBR_CTL, LBR_USER
        TRY "to ring 3 and out by a fault, while ring 3 is recorded: #GP", 13, 0
        USER 1f
1:      hlt
        END
        WRITE_MSR LBR_CTL, 0
        READ_MSR LBR_FROM
        EQUAL "into ring 3, which alone is recorded: FROM hides ring 0", %rax, $-1
        READ_MSR LBR_FROM + 1
        EQUAL "the way back is not recorded", %rax, $0

        /* What happened between two of them: instructions, the branch itself with them, up to three */
        mov $0x1c, %eax
        cpuid
        test $0x10000, %ecx
        jnz 1f
        SKIP "events in branch records", "CPUID.1CH:ECX[16] = 0"
        jmp logged_end
1:
        WRITE_MSR SELECT0, INSTRUCTIONS | USR | OS | EN, LOG_HIGH
        WRITE_MSR GLOBAL_CTRL, 1
        WRITE_MSR LBR_CTL, LBR_ALL
        jmp 1f
1:      nop
        jmp 1f
1:      xor %eax, %eax
        jnz 1f
        jmp 1f
1:      jmp 1f
1:      nop
        nop
        nop
        nop
        jmp 1f
1:      int $0x85
        call recorded_leaf
        WRITE_MSR LBR_CTL, 0
        WRITE_MSR GLOBAL_CTRL, 0
        WRITE_MSR SELECT0, 0
        .macro LOGGED text, record, n
        READ_MSR LBR_INFO + \record
        shr $32, %rax
        and $3, %eax
        EQUAL "\text", %rax, $\n
        .endm
        LOGGED "a RET is one", 0, 1
        LOGGED "so is the CALL before it", 1, 1
        LOGGED "a NOP and an IRETQ", 2, 2
        LOGGED "INT n, in the record of its delivery", 3, 1
        LOGGED "four NOPs and a JMP are more than three", 4, 3
        LOGGED "a JMP alone", 5, 1
        LOGGED "a Jcc that is not taken ends nothing", 6, 3
        LOGGED "a NOP and a JMP", 7, 2
logged_end:

        /* For whoever compares two runs: the same numbers, to the last bit. */
        .macro TELL text, from
        mov \from, %rbx
        TEXT "\text", rsi
        call value
        .endm
        OPEN
        mov $3000, %ecx
        mov $scratch, %esi
1:      mov (%rsi), %eax
        imul %ecx, %eax
        add %eax, 64(%rsi)
        add $72, %rsi
        test $3, %al
        jz 2f
        add $1, %rdx
2:      cmp $scratch + 100000, %rsi
        jb 3f
        mov $scratch, %esi
3:      dec %ecx
        jnz 1b
        CLOSE
        TELL "instructions", n_both
        TELL "core cycles", n_core
        TELL "reference cycles", n_reference
        rdtsc
        shl $32, %rdx
        or %rdx, %rax
        mov %rax, elapsed
        TELL "time", elapsed
        jmp finish

close:
        WRITE_MSR GLOBAL_CTRL, 0
        READ_MSR PMC0
        mov %rax, n_user
        READ_MSR PMC0 + 1
        mov %rax, n_kernel
        READ_MSR FIXED0
        mov %rax, n_both
        READ_MSR FIXED0 + 1
        mov %rax, n_core
        READ_MSR FIXED0 + 2
        mov %rax, n_reference
        ret

recorded_leaf:
        ret
returns:
        nop
        iretq
skips:
        addq $2, (%rsp)
        iretq
interrupt:
        movl $0, 0xb0(%r15)
        iretq
timer:
        movl $0, 0xb0(%r15)
        iretq
back_from_user:
        mov saved_sp, %rsp
        jmp back

        .section .bss
        .balign 8
n_user: .skip 8
n_kernel: .skip 8
n_both: .skip 8
n_core: .skip 8
n_reference: .skip 8
empty: .skip 8
elapsed: .skip 8
        .balign 64
scratch: .skip 100000 + 256
