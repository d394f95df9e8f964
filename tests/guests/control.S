/*
 * Control registers, MSRs and CPUID: what faults, what reads back. SDM vol. 3 "Control Registers",
 * "Initializing IA-32e Mode"; vol. 2 "MOV—Move to/from Control Registers", "CPUID"; vol. 4.
 */
#include "long.inc"

main:
#ifdef TCG
        SKIP "clearing CR4.PAE in 64-bit mode: #GP", "QEMU does it, and ends there"
        SKIP "clearing CR0.PG in 64-bit mode: #GP", "QEMU does it, and ends there"
        SKIP "clearing CR0.PE while PG is set: #GP", "QEMU does it, and ends there"
#else
        TRY "clearing CR4.PAE in 64-bit mode: #GP", 13, 0
        mov %cr4, %rax
        and $~0x20, %rax
        mov %rax, %cr4
        END
        TRY "clearing CR0.PG in 64-bit mode: #GP", 13, 0
        mov %cr0, %rax
        btr $31, %rax
        mov %rax, %cr0
        END
        TRY "clearing CR0.PE while PG is set: #GP", 13, 0
        mov %cr0, %rax
        and $~1, %rax
        mov %rax, %cr0
        END
#endif
        TRY "CR0.NW without CD: #GP", 13, 0
        mov %cr0, %rax
        btr $30, %rax
        bts $29, %rax
        mov %rax, %cr0
        END
#ifdef TCG
        SKIP "CR0 bit 32: #GP", "QEMU keeps the bit"
#else
        TRY "CR0 bit 32: #GP", 13, 0
        mov %cr0, %rax
        bts $32, %rax
        mov %rax, %cr0
        END
#endif
        mov %cr0, %rbx
        mov %cr0, %rax
        bts $6, %rax            /* a reserved bit below 32 is ignored */
        mov %rax, %cr0
        EQUAL "CR0 bit 6 is ignored", %cr0, %rbx
#ifdef TCG
        SKIP "CR4 bit 63: #GP", "QEMU takes an SVM exit in place of #GP and hangs"
        SKIP "CR4 bit 15, which nothing has: #GP", "QEMU takes an SVM exit in place of #GP and hangs"
#else
        TRY "CR4 bit 63: #GP", 13, 0
        mov %cr4, %rax
        bts $63, %rax
        mov %rax, %cr4
        END
        TRY "CR4 bit 15, which nothing has: #GP", 13, 0
        mov %cr4, %rax
        bts $15, %rax
        mov %rax, %cr4
        END
#endif
        mov %cr3, %rbx
#ifdef TCG
        SKIP "CR3 with a bit above MAXPHYADDR: #GP", "QEMU takes an SVM exit in place of #GP and hangs"
#else
        TRY "CR3 with a bit above MAXPHYADDR: #GP", 13, 0
        mov %cr3, %rax
        bts $52, %rax
        mov %rax, %cr3
        END
#endif
        EQUAL "CR3 is unchanged", %cr3, %rbx
        TRY "CR8 above 15: #GP", 13, 0
        mov $0x10, %eax
        mov %rax, %cr8
        END
        mov $5, %eax
        mov %rax, %cr8
        EQUAL "CR8 reads back", %cr8, $5
        xor %eax, %eax
        mov %rax, %cr8
        TRY "CR1: #UD", 6
        .byte 0x0f, 0x20, 0xc8
        END
        TRY "CR5: #UD", 6
        .byte 0x0f, 0x20, 0xe8
        END
        clts
        mov %cr0, %rax
        or $8, %rax
        mov %rax, %cr0
        TRY "CR0.TS: an x87 instruction is #NM", 7
        fnop
        END
        clts
        mov %cr0, %rax
        test $8, %al
        CHECK "CLTS clears TS", z
        mov %cr0, %rax
        or $4, %rax             /* EM */
        mov %rax, %cr0
        TRY "CR0.EM: an x87 instruction is #NM", 7
        fnop
        END
        mov %cr0, %rax
        and $~4, %rax
        mov %rax, %cr0
        smsw %rax
        EQUAL "SMSW stores CR0", %cr0, %rax
        TRY "LMSW cannot clear PE", none
        mov $0, %eax
        lmsw %ax
        END
        mov %cr0, %rax
        test $1, %al
        CHECK "PE is still set", nz

        /* EFER */
        TRY "EFER.LME cannot change while paging: #GP", 13, 0
        READ_MSR 0xc0000080
        btr $8, %eax
        mov $0, %edx
        wrmsr
        END
        TRY "EFER bit 2: #GP", 13, 0
        READ_MSR 0xc0000080
        bts $2, %eax
        mov $0, %edx
        wrmsr
        END
        READ_MSR 0xc0000080
        and $0xd01, %eax
        EQUAL "EFER: NXE, LMA, LME, SCE", %rax, $0xd01

        /* SDM vol. 3 "Process-Context Identifiers (PCIDs)"; vol. 2 "INVPCID" */
        mov $1, %eax
        cpuid
        bt $17, %ecx
        jc 1f
        TRY "CR4.PCIDE without PCIDs: #GP", 13, 0
        mov %cr4, %rax
        bts $17, %rax
        mov %rax, %cr4
        END
        jmp 2f
1:      TRY "INVPCID of PCID 5 without CR4.PCIDE: #GP", 13, 0
        movq $5, invalidated
        movq $0, invalidated + 8
        mov $1, %eax
        invpcid invalidated, %rax
        END
        mov %cr3, %rbx
        lea 8(%rbx), %rax
        mov %rax, %cr3          /* PWT, which is no PCID yet */
        TRY "CR4.PCIDE while CR3[11:0] is not 0: #GP", 13, 0
        mov %cr4, %rax
        bts $17, %rax
        mov %rax, %cr4
        END
        mov %rbx, %cr3
        TRY "CR4.PCIDE while it is", none
        mov %cr4, %rax
        bts $17, %rax
        mov %rax, %cr4
        END
        lea 5(%rbx), %rax
        bts $63, %rax
        TRY "CR3 takes a PCID, and bit 63, which keeps translations", none
        mov %rax, %cr3
        END
        mov %cr3, %rax
        lea 5(%rbx), %rsi
        EQUAL "bit 63 is not kept", %rax, %rsi
        TRY "INVPCID of PCID 5", none
        mov $1, %eax
        invpcid invalidated, %rax
        END
        TRY "INVPCID of PCID 1000H: #GP", 13, 0
        movq $0x1000, invalidated
        mov $1, %eax
        invpcid invalidated, %rax
        END
        mov %rbx, %cr3
        mov %cr4, %rax
        btr $17, %rax
        mov %rax, %cr4
2:
        /* Other MSRs */
        TRY "RDMSR of one that is not there: #GP", 13, 0
        mov $0x12345678, %ecx
        rdmsr
        END
        TRY "WRMSR of one that is not there: #GP", 13, 0
        WRITE_MSR 0x12345678, 0
        END
        .macro TAKES_CANONICAL name, number
        TRY "\name: not canonical is #GP", 13, 0
        WRITE_MSR \number, 0, 0x8000
        END
        WRITE_MSR \number, 0x5678, 0xffff8123
        READ_MSR \number
        movabs $0xffff812300005678, %rbx
        EQUAL "\name keeps a canonical address", %rax, %rbx
        WRITE_MSR \number, 0, 0
        .endm
        TAKES_CANONICAL "IA32_LSTAR", 0xc0000082
        TAKES_CANONICAL "IA32_CSTAR", 0xc0000083
        TAKES_CANONICAL "IA32_FS_BASE", 0xc0000100
        TAKES_CANONICAL "IA32_GS_BASE", 0xc0000101
        TAKES_CANONICAL "IA32_KERNEL_GS_BASE", 0xc0000102
        TAKES_CANONICAL "IA32_SYSENTER_ESP", 0x175
        TAKES_CANONICAL "IA32_SYSENTER_EIP", 0x176
        TRY "IA32_PAT with a type that does not exist: #GP", 13, 0
        WRITE_MSR 0x277, 2, 0
        END
        TRY "IA32_FMASK above 32 bits: #GP", 13, 0
        WRITE_MSR 0xc0000084, 0, 1
        END
        WRITE_MSR 0x10, 0, 0x100
        READ_MSR 0x10
        shr $40, %rax
        EQUAL "IA32_TIME_STAMP_COUNTER takes a value", %rax, $1
        rdtsc
        mov %edx, %ebx
        rdtsc
        cmp %ebx, %edx
        CHECK "RDTSC does not go back", ge

        /* The signature of a microcode update: CPUID leaf 1 loads it. SDM vol. 3 "Determining the
         * Signature". */
        WRITE_MSR 0x8b, 0, 0
        READ_MSR 0x8b
        EQUAL "IA32_BIOS_SIGN_ID keeps the 0 that was written", %rax, $0
        mov $1, %eax
        cpuid
        READ_MSR 0x8b
        mov %rax, %rbx
        shr $32, %rax
        test %eax, %eax
        CHECK "IA32_BIOS_SIGN_ID[63:32] is a revision after CPUID leaf 1", nz
        mov %ebx, %ebx
        EQUAL "IA32_BIOS_SIGN_ID[31:0] is 0", %rbx, $0

        /* CPUID */
        xor %eax, %eax
        cpuid
        mov %eax, %esi
        mov $0x80000000, %eax
        cpuid
        mov %eax, %edi
        cmp $0x80000008, %eax
        CHECK "CPUID: extended leaves up to 80000008H at least", ae
        /* A leaf past the highest basic one gives the highest basic one's data. */
        mov %esi, %eax
        xor %ecx, %ecx
        cpuid
        mov %eax, %r8d
        mov %edx, %r9d
        lea 1(%rsi), %eax
        xor %ecx, %ecx
        cpuid
        EQUAL "CPUID past the highest basic leaf: EAX of that", %rax, %r8
        EQUAL "CPUID past the highest basic leaf: EDX of that", %rdx, %r9
        lea 1(%rdi), %eax
        xor %ecx, %ecx
        cpuid
        EQUAL "CPUID past the highest extended leaf: EAX of that", %rax, %r8
        mov $0x80000001, %eax
        cpuid
        bt $29, %edx
        CHECK "CPUID: long mode", c
        mov $-1, %rax
        mov $-1, %rbx
        mov $-1, %rcx
        mov $-1, %rdx
        mov $1, %eax
        cpuid
        or %rbx, %rax
        or %rcx, %rax
        or %rdx, %rax
        shr $32, %rax
        EQUAL "CPUID clears the upper halves", %rax, $0
        TRY "XGETBV without CR4.OSXSAVE: #UD", 6
        xor %ecx, %ecx
        xgetbv
        END
        jmp finish

        .section .bss
        .balign 16
invalidated: .skip 16
