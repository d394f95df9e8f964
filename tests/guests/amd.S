/*
 * What AMD's processors do otherwise: system calls, MSRs, CPUID, RDPMC and the way of the PMI. AMD64 Architecture
 * Programmer's Manual vol. 3 "SYSCALL", "SYSRET", "SYSENTER", "SYSEXIT", "RDPMC", "CPUID"; vol. 2 "Performance
 * Monitoring Counters", appendix A "MSR Cross-Reference". On other processors one point says that this is none.
 */
#include "long.inc"

        .set EVENT_SELECT0, 0xc0010000
        .set COUNTER0, 0xc0010004
        .set INSTRUCTIONS, 0xc0
        .set COUNT_ALL, 0x430000        /* both rings, EN */
        .set INT, 0x100000
        .set LVT_PERFMON, 0x340
        .set PMI_VECTOR, 0xe0

        .macro REFUSED name, number
        TRY "RDMSR of \name: #GP", 13, 0
        mov $\number, %ecx
        rdmsr
        END
        TRY "WRMSR to \name: #GP", 13, 0
        WRITE_MSR \number, 0
        END
        .endm
        .macro READ_ONLY name, number
        TRY "\name is read", none
        READ_MSR \number
        END
        TRY "WRMSR to \name: #GP", 13, 0
        WRITE_MSR \number, 0
        END
        .endm
        /* USER32 label: to ring 3, compatibility mode. */
        .macro USER32 label
        pushq $USER_DATA + RPL3
        pushq $user_stack_top
        pushq $2
        pushq $USER_CODE32 + RPL3
        pushq $\label
        iretq
        .endm
        /* Instructions until the overflow of counter 0, and more than any skid. */
        .macro OVERFLOW
        WRITE_MSR COUNTER0, -100, 0xffff
        WRITE_MSR EVENT_SELECT0, INSTRUCTIONS + COUNT_ALL + INT
        mov $10000, %ecx
7777:   dec %ecx
        jnz 7777b
        WRITE_MSR EVENT_SELECT0, 0
        .endm

main:
        xor %eax, %eax
        cpuid
        cmp $0x68747541, %ebx           /* "Auth" */
        je 1f
        SKIP "AMD", "another vendor's"
        jmp finish
1:
        movb $0xee, idt + 0x80 * 16 + 5 /* for ring 3 */
        /* SYSENTER, SYSEXIT */
        WRITE_MSR 0x174, CODE64
        TRY "SYSENTER in 64-bit mode: #UD", 6
        sysenter
        END
        TRY "SYSENTER in compatibility mode: #UD", 6
        USER32 2f
        .code32
2:      sysenter
        .code64
        END
        TRY "SYSEXIT in 64-bit mode: #UD", 6
        sysexitq
        END

        /* SYSCALL */
        WRITE_MSR 0xc0000081, 0, 0x00180008
        WRITE_MSR 0xc0000082, system_call
        WRITE_MSR 0xc0000083, system_call_32
        WRITE_MSR 0xc0000084, 0x400
        TRY "SYSCALL in compatibility mode, and SYSRET back", 0x80
        USER32 3f
        .code32
3:      std
        syscall
4:      int $0x80
        .code64
        END
        EQUAL "it went to CSTAR", arrived, $32
        EQUAL "in 64-bit code", kernel_cs, $CODE64
        EQUAL "RCX held the next instruction", saved_rcx, $4b
        testq $0x400, saved_r11
        CHECK "R11 held the flags", nz
        EQUAL "SYSRET without REX.W went back to 32-bit code", frame_cs, $USER_CODE32+RPL3
        EQUAL "and set SS's selector", frame_ss, $USER_DATA+RPL3
        cld
        TRY "SYSCALL in 64-bit mode, and SYSRET back", 0x80
        USER 5f
5:      syscall
        int $0x80
        END
        EQUAL "it went to LSTAR", arrived, $64
        EQUAL "and back to 64-bit code", frame_cs, $USER_CODE64+RPL3
        TRY "SYSRET to an address that is not canonical: #GP of the fetch", 13, 0
        mov $NONCANONICAL, %rcx
        mov $2, %r11d
        sysretq
        END
        EQUAL "in ring 3", frame_cs, $USER_CODE64+RPL3
        READ_MSR 0xc0000080
        and $~1, %eax
        xor %edx, %edx
        wrmsr
        TRY "SYSCALL without EFER.SCE in compatibility mode: #UD", 6
        USER32 6f
        .code32
6:      syscall
        .code64
        END
        READ_MSR 0xc0000080
        or $1, %eax
        xor %edx, %edx
        wrmsr

        /* MSRs */
        REFUSED "IA32_PLATFORM_ID", 0x17
        REFUSED "IA32_MISC_ENABLE", 0x1a0
        REFUSED "IA32_PMC0", 0xc1
        REFUSED "IA32_PERFEVTSEL0", 0x186
        REFUSED "IA32_FIXED_CTR_CTRL", 0x38d
        REFUSED "IA32_PERF_GLOBAL_CTRL", 0x38f
        REFUSED "IA32_PERF_CAPABILITIES", 0x345
        REFUSED "IA32_DS_AREA", 0x600
        REFUSED "the ratio of the TSC", 0xc0000104
        REFUSED "VM_CR", 0xc0010114
        READ_ONLY "the patch level", 0x8b
        TRY "HWCR, SYSCFG, TOP_MEM, TOP_MEM2 and NB_CFG are read", none
        READ_MSR 0xc001001f
        READ_MSR 0xc0010015
        READ_MSR 0xc0010010
        READ_MSR 0xc001001a
        READ_MSR 0xc001001d
        END
        mov $0x80000007, %eax
        cpuid
        bt $7, %edx
        jnc 1f
        READ_ONLY "the P-states' limit", 0xc0010061
        READ_ONLY "the P-states' status", 0xc0010063
        TRY "P-state control is written", none
        WRITE_MSR 0xc0010062, 1
        END
        READ_MSR 0xc0010064
        shr $63, %rax
        EQUAL "P-state 0 is enabled", %rax, $1
1:      mov $0x80000007, %eax
        cpuid
        bt $10, %edx
        jnc 1f
        READ_ONLY "MPERF's copy", 0xc00000e7
        READ_ONLY "APERF's copy", 0xc00000e8
        WRITE_MSR 0xe7, 0
        READ_MSR 0xe7
        mov %rax, saved_rcx
        READ_MSR 0xc00000e7
        cmp saved_rcx, %rax
        CHECK "it goes on from MPERF", a
        sub saved_rcx, %rax
        cmp $100000, %rax
        CHECK "and from nothing else", b
1:
        /* CPUID: a reserved leaf gives zeros. */
        mov $0xa, %eax
        cpuid
        or %ebx, %eax
        or %ecx, %eax
        or %edx, %eax
        CHECK "leaf 0AH is zero", z
        mov $0x7fff, %eax
        cpuid
        or %ebx, %eax
        or %ecx, %eax
        or %edx, %eax
        CHECK "a leaf past the last is zero", z
        mov $0x80000000, %eax
        cpuid
        cmp $0x68747541, %ebx
        CHECK "leaf 8000_0000H has the vendor too", e

        /* A null selector: the segment's base is cleared or stays. */
        mov $DATA, %eax
        mov %eax, %gs
        WRITE_MSR 0xc0000101, 0x1234000
        xor %eax, %eax
        mov %eax, %gs
        READ_MSR 0xc0000101
        mov %rax, saved_rcx
        mov $0x80000000, %eax
        cpuid
        cmp $0x80000021, %eax
        mov $0, %eax
        jb 1f
        mov $0x80000021, %eax
        cpuid
1:      bt $6, %eax
        jc 1f
        EQUAL "a null selector leaves the base", saved_rcx, $0x1234000
        jmp 2f
1:      EQUAL "a null selector clears the base", saved_rcx, $0
2:
        /* RDPMC */
        WRITE_MSR COUNTER0, 1234
        xor %ecx, %ecx
        rdpmc
        EQUAL "RDPMC of counter 0", %rax, $1234
        TRY "RDPMC past the counters: #GP", 13, 0
        mov $16, %ecx
        rdpmc
        END
        TRY "RDPMC of a fixed counter: #GP", 13, 0
        mov $0x40000000, %ecx
        rdpmc
        END
        TRY "RDPMC in ring 3 without CR4.PCE: #GP", 13, 0
        USER 7f
7:      xor %ecx, %ecx
        rdpmc
        END

        /* The PMI */
        mov $0xfee00000, %r15d
        movl $0x1ff, 0xf0(%r15)
        movl $PMI_VECTOR, LVT_PERFMON(%r15)
        TRY "a PMI", PMI_VECTOR
        sti
        OVERFLOW
        END
        movl $0, 0xb0(%r15)
        mov LVT_PERFMON(%r15), %eax
        EQUAL "its LVT entry stays open", %rax, $PMI_VECTOR
        TRY "so the next one comes", PMI_VECTOR
        sti
        OVERFLOW
        END
        movl $0, 0xb0(%r15)
        jmp finish

system_call:
        movq $64, arrived
        sysretq
system_call_32:
        movq $32, arrived
        mov %rcx, saved_rcx
        mov %r11, saved_r11
        xor %eax, %eax
        mov %cs, %eax
        mov %rax, kernel_cs
        sysretl

        .section .bss
        .balign 8
arrived: .skip 8
kernel_cs: .skip 8
saved_rcx: .skip 8
saved_r11: .skip 8
