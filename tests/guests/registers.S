/*
 * The registers that a firmware sets up and a kernel reads: memory types, machine checks, frequencies. SDM vol. 3
 * "Memory Type Range Registers (MTRRs)", "Page Attribute Table (PAT)", "Machine-Check MSRs"; vol. 4.
 */
#include "long.inc"

        /* FAULTS "text", number, low, high: a write that is #GP */
        .macro FAULTS text, number, low, high=0
        TRY "\text: #GP", 13, 0
        WRITE_MSR \number, \low, \high
        END
        .endm
        .macro NO_SUCH text, number
        TRY "\text: #GP", 13, 0
        mov $\number, %ecx
        rdmsr
        END
        .endm
        /* KEEPS "text", number, low, high: reads back as written, and stays so */
        .macro KEEPS text, number, low, high=0
        READ_MSR \number
        push %rax
        WRITE_MSR \number, \low, \high
        READ_MSR \number
        movabs $\high << 32 | \low, %rbx
        EQUAL "\text", %rax, %rbx
        pop %rax
        mov %rax, %rdx
        shr $32, %rdx
        wrmsr
        .endm

main:
        mov $1, %eax
        cpuid
        mov %edx, %r12d
        mov %ecx, %r13d

        /* Memory types */
        bt $12, %r12d
        CHECK "CPUID: MTRR", c
        bt $16, %r12d
        CHECK "CPUID: PAT", c
        READ_MSR 0xfe
        mov %rax, %r14
        bt $8, %eax
        CHECK "IA32_MTRRCAP.FIX: fixed ranges are there", c
        movzbl %al, %eax
        cmp $8, %eax
        CHECK "IA32_MTRRCAP.VCNT: eight variable ranges at least", ae
        FAULTS "IA32_MTRRCAP is read-only", 0xfe, 0x508
        READ_MSR 0x2ff
        mov %rax, %rbx
        shr $11, %eax
        EQUAL "IA32_MTRR_DEF_TYPE: the firmware has enabled the MTRRs", %rax, $1
        FAULTS "IA32_MTRR_DEF_TYPE: bit 8", 0x2ff, 0xd06
        FAULTS "IA32_MTRR_DEF_TYPE: bit 12", 0x2ff, 0x1c06
        FAULTS "IA32_MTRR_DEF_TYPE: bit 32", 0x2ff, 0xc06, 1
        FAULTS "IA32_MTRR_DEF_TYPE: type 2", 0x2ff, 0xc02
        FAULTS "IA32_MTRR_DEF_TYPE: type 7, which is PAT's alone", 0x2ff, 0xc07
        KEEPS "IA32_MTRR_DEF_TYPE: UC", 0x2ff, 0xc00
        READ_MSR 0x250
        movabs $0x0606060606060606, %rbx
        EQUAL "IA32_MTRR_FIX64K_00000: conventional memory is WB", %rax, %rbx
        READ_MSR 0x259
        EQUAL "IA32_MTRR_FIX16K_A0000: video memory is UC", %rax, $0
        KEEPS "IA32_MTRR_FIX4K_C0000 takes all types", 0x268, 0x05040100, 0x06060606
        KEEPS "IA32_MTRR_FIX4K_F8000 too", 0x26f, 0x06060606, 0x00010405
        FAULTS "a type that is reserved in the first byte", 0x268, 0x00000003
        FAULTS "a type that is reserved in the last byte", 0x26f, 0, 0x07000000
        KEEPS "IA32_MTRR_PHYSBASE1: base and type", 0x202, 0x80000001, 0
        KEEPS "IA32_MTRR_PHYSMASK1: mask and V", 0x203, 0x80000800, 0xf
        FAULTS "IA32_MTRR_PHYSBASE1: bit 8", 0x202, 0x80000101
        FAULTS "IA32_MTRR_PHYSBASE1: type 3", 0x202, 0x80000003
        FAULTS "IA32_MTRR_PHYSMASK1: bit 10", 0x203, 0x80000c00, 0xf
        /* The first bit above MAXPHYADDR. */
        mov $0x80000008, %eax
        cpuid
        mov %eax, %ecx
        sub $32, %cl
        mov $1, %esi
        shl %cl, %esi
        TRY "IA32_MTRR_PHYSBASE1: an address above MAXPHYADDR: #GP", 13, 0
        mov $0x202, %ecx
        mov $6, %eax
        mov %esi, %edx
        wrmsr
        END
        TRY "IA32_MTRR_PHYSMASK1: a mask above MAXPHYADDR: #GP", 13, 0
        mov $0x203, %ecx
        mov $0x800, %eax
        mov %esi, %edx
        wrmsr
        END
        shr %esi
        mov $0x203, %ecx
        mov $0x800, %eax
        mov %esi, %edx
        wrmsr
        READ_MSR 0x203
        shr $32, %rax
        EQUAL "IA32_MTRR_PHYSMASK1: the bit below is the mask's", %rax, %rsi
        WRITE_MSR 0x203, 0
        TRY "the variable range past the last: #GP", 13, 0
        movzbl %r14b, %ecx
        lea 0x200(%rcx, %rcx), %ecx
        rdmsr
        END
        TRY "the last is there", none
        movzbl %r14b, %ecx
        lea 0x1fe(%rcx, %rcx), %ecx
        rdmsr
        END
        READ_MSR 0x277
        movabs $0x0007040600070406, %rbx
        EQUAL "IA32_PAT at power-on: WB, WT, UC-, UC, twice", %rax, %rbx
        KEEPS "IA32_PAT takes WC, WP and UC-", 0x277, 0x00070106, 0x00070105
        FAULTS "IA32_PAT: type 2", 0x277, 0x00070206, 0x00070106
        FAULTS "IA32_PAT: type 3", 0x277, 0x00070106, 0x03070106
        FAULTS "IA32_PAT: type 8", 0x277, 0x00070108, 0x00070106

        /* Machine checks */
        bt $7, %r12d
        CHECK "CPUID: MCE", c
        bt $14, %r12d
        CHECK "CPUID: MCA", c
        TRY "CR4.MCE can be set", none
        mov %cr4, %rax
        or $0x40, %eax
        mov %rax, %cr4
        END
        READ_MSR 0x179
        mov %rax, %r15
        test %al, %al
        CHECK "IA32_MCG_CAP: there are banks", nz
        READ_MSR 0x17a
        EQUAL "IA32_MCG_STATUS: no machine check is in progress", %rax, $0
        TRY "IA32_MCG_STATUS takes 0", none
        WRITE_MSR 0x17a, 0
        END
        bt $8, %r15d
        jc 1f
        NO_SUCH "IA32_MCG_CTL without MCG_CTL_P", 0x17b
        jmp 2f
1:      KEEPS "IA32_MCG_CTL: all reports", 0x17b, 0xffffffff, 0xffffffff
2:
        KEEPS "IA32_MC1_CTL: all reports", 0x404, 0xffffffff, 0xffffffff
        READ_MSR 0x405
        EQUAL "IA32_MC1_STATUS: no error", %rax, $0
        TRY "IA32_MC1_STATUS takes 0", none
        WRITE_MSR 0x405, 0
        END
        FAULTS "IA32_MC1_STATUS: a bit", 0x405, 1
        FAULTS "IA32_MC1_ADDR: a bit", 0x406, 0x1000
        FAULTS "IA32_MC1_MISC: a bit", 0x407, 0, 1
        TRY "the bank past the last: #GP", 13, 0
        movzbl %r15b, %ecx
        lea 0x400(, %rcx, 4), %ecx
        rdmsr
        END
        TRY "the last is there", none
        movzbl %r15b, %ecx
        lea 0x3fc(, %rcx, 4), %ecx
        rdmsr
        END

        /* Split locks: MSR_TEST_CTRL, which no CPUID bit tells of (SDM vol. 4, Ice Lake). */
        mov $1, %eax
        cpuid
        and $0xfff0ff0, %eax
        cmp $0x706e0, %eax
        jne 1f
        TRY "a locked access to two cache lines", none
        lock incl line + 62
        END
        FAULTS "MSR_TEST_CTRL: bit 0", 0x33, 1
        WRITE_MSR 0x33, 0x20000000
        TRY "MSR_TEST_CTRL[29]: LOCK INC across cache lines: #AC", 17, 0
        lock incl line + 62
        END
        TRY "XCHG across cache lines, which locks: #AC", 17, 0
        xchg %rax, line + 60
        END
        TRY "INC without LOCK", none
        incl line + 62
        END
        TRY "LOCK INC within a line", none
        lock incl line + 57
        END
        TRY "ring 3 too: #AC", 17, 0
        USER 2f
2:      lock incl %ds:line + 61
        END
        WRITE_MSR 0x33, 0
1:
        /* Frequencies, CPUID faulting: where the model has them (SDM vol. 4, by model). */
        bt $31, %r13d           /* a hypervisor's processor */
        jc 9f
        mov $1, %eax
        cpuid
        shr $12, %eax           /* the extended model, then the model's place */
        and $0xf0, %eax
        cmp $0x10, %eax
        ja 1f
        NO_SUCH "MSR_PLATFORM_INFO before Nehalem", 0xce
        jmp 9f
1:      READ_MSR 0xce
        mov %rax, %r14
        shr $8, %eax
        movzbl %al, %eax
        cmp $8, %eax
        CHECK "MSR_PLATFORM_INFO[15:8]: a ratio", ae
        FAULTS "MSR_PLATFORM_INFO is read-only", 0xce, 0
        READ_MSR 0x1ad
        test %al, %al
        CHECK "MSR_TURBO_RATIO_LIMIT[7:0]: a ratio", nz
        TRY "IA32_PERF_CTL takes a ratio", none
        WRITE_MSR 0x199, 0x2200
        END
        FAULTS "IA32_PERF_STATUS is read-only", 0x198, 0
        bt $31, %r14
        jc 1f
        NO_SUCH "MSR_MISC_FEATURES_ENABLES without CPUID faulting", 0x140
        jmp 9f
1:      FAULTS "MSR_MISC_FEATURES_ENABLES: bit 1", 0x140, 2
        WRITE_MSR 0x140, 1
        TRY "CPUID in ring 0 with CPUID faulting", none
        xor %eax, %eax
        cpuid
        END
        TRY "CPUID in ring 3: #GP", 13, 0
        USER 1f
1:      xor %eax, %eax
        cpuid
        END
        WRITE_MSR 0x140, 0
        TRY "CPUID in ring 3 without it", 6, 0
        USER 1f
1:      xor %eax, %eax
        cpuid
        ud2
        END
9:
        jmp finish

        .section .bss
        .balign 64
line:   .skip 128
