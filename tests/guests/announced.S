/*
 * Instructions that CPUID does not announce raise #UD (SDM vol. 2, "Protected Mode Exceptions" of each), so that a
 * guest may probe for them; those that it does announce are executed: without an exception, or with the one that the
 * line names. SDM vol. 2 "CPUID".
 */
#include "long.inc"

/* IF "name", the leaf, subleaf, register and bit that announce it, what it raises where it is not announced and where
 * it is, its bytes. RAX is the address of zeros, RCX and RDX are 0. */
        .macro IF name, leaf, subleaf, register, bit, without, with, bytes:vararg
        mov $\leaf & 0x80000000, %eax
        cpuid
        cmp $\leaf, %eax
        mov $0, %eax
        jb 7776f                /* no such leaf: what CPUID gives then is another's */
        mov $\leaf, %eax
        mov $\subleaf, %ecx
        cpuid
        xchg %\register, %eax
7776:   bt $\bit, %eax
        mov $data, %eax
        mov $0, %ecx
        mov $0, %edx
        jc 7777f
        TRY "\name: not announced", \without
        .byte \bytes
        END
        jmp 7778f
7777:   TRY "\name: announced", \with
        .byte \bytes
        END
7778:
        .endm
        .macro LACKS name, leaf, subleaf, register, bit, bytes:vararg
        IF "\name", \leaf, \subleaf, \register, \bit, 6, none, \bytes
        .endm
        /* One that is a bit of a leaf's EDX or ECX that every processor here has. */
        .macro HAS name, leaf, subleaf, register, bit, bytes:vararg
        IF "\name", \leaf, \subleaf, \register, \bit, none, none, \bytes
        .endm

main:
        /* All of CR4 and XCR0 that goes with an instruction, so that CPUID alone decides. */
        mov %cr4, %rsi
        mov $1, %eax
        cpuid
        bt $24, %edx
        jnc 1f
        or $0x600, %esi         /* OSFXSR, OSXMMEXCPT */
1:      bt $26, %ecx
        jnc 1f
        bts $18, %esi           /* OSXSAVE */
1:      mov $7, %eax
        xor %ecx, %ecx
        cpuid
        test $1, %bl
        jz 1f
        bts $16, %esi           /* FSGSBASE */
1:      mov %rsi, %cr4
        bt $18, %esi
        jnc 1f
        mov $0xd, %eax
        xor %ecx, %ecx
        cpuid
        xor %ecx, %ecx
        xsetbv
1:
        HAS "FADD", 1, 0, edx, 0, 0xd8, 0xc1
        HAS "CMPXCHG8B", 1, 0, edx, 8, 0x0f, 0xc7, 0x08
        HAS "CMOVNE", 1, 0, edx, 15, 0x0f, 0x45, 0xc1
        HAS "CLFLUSH", 1, 0, edx, 19, 0x0f, 0xae, 0x38
        LACKS "CMPXCHG16B", 1, 0, ecx, 13, 0x48, 0x0f, 0xc7, 0x08
        LACKS "POPCNT", 1, 0, ecx, 23, 0xf3, 0x0f, 0xb8, 0xc1
        LACKS "MOVBE", 1, 0, ecx, 22, 0x0f, 0x38, 0xf0, 0x08
        LACKS "CRC32", 1, 0, ecx, 20, 0xf2, 0x0f, 0x38, 0xf1, 0xc8
        IF "MONITOR", 1, 0, ecx, 3, 6, none, 0x0f, 0x01, 0xc8
        LACKS "RDFSBASE", 7, 0, ebx, 0, 0xf3, 0x0f, 0xae, 0xc1
        LACKS "ANDN", 7, 0, ebx, 3, 0xc4, 0xe2, 0x70, 0xf2, 0xc2
        LACKS "BLSR", 7, 0, ebx, 3, 0xc4, 0xe2, 0x70, 0xf3, 0xca
        HAS "TZCNT", 7, 0, ebx, 3, 0xf3, 0x0f, 0xbc, 0xc8
        LACKS "PDEP", 7, 0, ebx, 8, 0xc4, 0xe2, 0x73, 0xf5, 0xc2
        LACKS "RORX", 7, 0, ebx, 8, 0xc4, 0xe3, 0x7b, 0xf0, 0xc9, 1
        HAS "REP MOVSB", 7, 0, ebx, 9, 0xf3, 0xa4
        LACKS "INVPCID", 7, 0, ebx, 10, 0x66, 0x0f, 0x38, 0x82, 0x08
        LACKS "ADCX", 7, 0, ebx, 19, 0x66, 0x0f, 0x38, 0xf6, 0xc9
        LACKS "CLFLUSHOPT", 7, 0, ebx, 23, 0x66, 0x0f, 0xae, 0x38
        HAS "LAHF", 0x80000001, 0, ecx, 0, 0x9f
        HAS "LZCNT", 0x80000001, 0, ecx, 5, 0xf3, 0x0f, 0xbd, 0xc8
        HAS "PREFETCHW", 0x80000001, 0, ecx, 8, 0x0f, 0x0d, 0x08
        LACKS "RDTSCP", 0x80000001, 0, edx, 27, 0x0f, 0x01, 0xf9
        LACKS "EMMS", 1, 0, edx, 23, 0x0f, 0x77
        LACKS "PADDB mm", 1, 0, edx, 23, 0x0f, 0xfc, 0xc1
        LACKS "FXSAVE", 1, 0, edx, 24, 0x0f, 0xae, 0x00
        LACKS "FXRSTOR64", 1, 0, edx, 24, 0x48, 0x0f, 0xae, 0x08
        LACKS "ADDPS", 1, 0, edx, 25, 0x0f, 0x58, 0xc1
        LACKS "MASKMOVQ", 1, 0, edx, 25, 0x0f, 0xf7, 0xc1
        LACKS "SQRTPS", 1, 0, edx, 25, 0x0f, 0x51, 0xc1
        LACKS "STMXCSR", 1, 0, edx, 25, 0x0f, 0xae, 0x18
        LACKS "ADDPD", 1, 0, edx, 26, 0x66, 0x0f, 0x58, 0xc1
        LACKS "MOVSD of SSE2", 1, 0, edx, 26, 0xf2, 0x0f, 0x10, 0xc1
        LACKS "CVTPD2DQ", 1, 0, edx, 26, 0xf2, 0x0f, 0xe6, 0xc1
        LACKS "PSHUFD", 1, 0, edx, 26, 0x66, 0x0f, 0x70, 0xc1, 0
        LACKS "MOVNTI", 1, 0, edx, 26, 0x0f, 0xc3, 0x08
        LACKS "FISTTP", 1, 0, ecx, 0, 0xdb, 0x08
        LACKS "LDDQU", 1, 0, ecx, 0, 0xf2, 0x0f, 0xf0, 0x00
        LACKS "HADDPS", 1, 0, ecx, 0, 0xf2, 0x0f, 0x7c, 0xc1
        LACKS "PCLMULQDQ", 1, 0, ecx, 1, 0x66, 0x0f, 0x3a, 0x44, 0xc1, 0
        LACKS "VMCALL", 1, 0, ecx, 5, 0x0f, 0x01, 0xc1
        LACKS "VMXON", 1, 0, ecx, 5, 0xf3, 0x0f, 0xc7, 0x30
        LACKS "VMREAD", 1, 0, ecx, 5, 0x0f, 0x78, 0xc0
        LACKS "GETSEC", 1, 0, ecx, 6, 0x0f, 0x37
        LACKS "PABSB", 1, 0, ecx, 9, 0x66, 0x0f, 0x38, 0x1c, 0xc1
        LACKS "VFMADD132PS", 1, 0, ecx, 12, 0xc4, 0xe2, 0x71, 0x98, 0xc2
        LACKS "PMULLD", 1, 0, ecx, 19, 0x66, 0x0f, 0x38, 0x40, 0xc1
        LACKS "ROUNDPD", 1, 0, ecx, 19, 0x66, 0x0f, 0x3a, 0x09, 0xc1, 0
        LACKS "DPPS", 1, 0, ecx, 19, 0x66, 0x0f, 0x3a, 0x40, 0xc1, 0xff
        LACKS "PTEST", 1, 0, ecx, 19, 0x66, 0x0f, 0x38, 0x17, 0xc1
        LACKS "MPSADBW", 1, 0, ecx, 19, 0x66, 0x0f, 0x3a, 0x42, 0xc1, 0
        LACKS "PCMPESTRI", 1, 0, ecx, 20, 0x66, 0x0f, 0x3a, 0x61, 0xc1, 0
        LACKS "PCMPISTRM", 1, 0, ecx, 20, 0x66, 0x0f, 0x3a, 0x62, 0xc1, 0
        LACKS "PCMPGTQ", 1, 0, ecx, 20, 0x66, 0x0f, 0x38, 0x37, 0xc1
        LACKS "AESENC", 1, 0, ecx, 25, 0x66, 0x0f, 0x38, 0xdc, 0xc1
        LACKS "XSAVE", 1, 0, ecx, 26, 0x0f, 0xae, 0x20
        LACKS "XRSTOR", 1, 0, ecx, 26, 0x0f, 0xae, 0x28
        LACKS "XGETBV", 1, 0, ecx, 26, 0x0f, 0x01, 0xd0
        LACKS "VADDPS", 1, 0, ecx, 28, 0xc5, 0xf0, 0x58, 0xc2
        LACKS "VMASKMOVPS", 1, 0, ecx, 28, 0xc4, 0xe2, 0x71, 0x2e, 0x00
        LACKS "VPCMPISTRI", 1, 0, ecx, 28, 0xc4, 0xe3, 0x79, 0x63, 0xc1, 0
        LACKS "VSQRTPD ymm", 1, 0, ecx, 28, 0xc5, 0xfd, 0x51, 0xc1
        LACKS "VZEROUPPER", 1, 0, ecx, 28, 0xc5, 0xf8, 0x77
        mov $1, %eax
        cpuid
        bt $28, %ecx            /* without AVX there is no VEX form of these two */
        jnc 1f
        LACKS "VAESENC", 1, 0, ecx, 25, 0xc4, 0xe2, 0x71, 0xdc, 0xc2
        LACKS "VPCLMULQDQ", 1, 0, ecx, 1, 0xc4, 0xe3, 0x71, 0x44, 0xc2, 0
1:
        LACKS "VCVTPH2PS", 1, 0, ecx, 29, 0xc4, 0xe2, 0x79, 0x13, 0xc1
        LACKS "RDRAND", 1, 0, ecx, 30, 0x0f, 0xc7, 0xf0
        LACKS "ENCLU", 0x12, 0, eax, 0, 0x0f, 0x01, 0xd7
        LACKS "VPADDB of AVX2", 7, 0, ebx, 5, 0xc5, 0xf5, 0xfc, 0xc2
        LACKS "VPSLLVD", 7, 0, ebx, 5, 0xc4, 0xe2, 0x75, 0x47, 0xc2
        LACKS "VPGATHERDD", 7, 0, ebx, 5, 0xc4, 0xe2, 0x61, 0x90, 0x0c, 0x10
        LACKS "VPERM2I128", 7, 0, ebx, 5, 0xc4, 0xe3, 0x75, 0x46, 0xc2, 0
        LACKS "XBEGIN", 7, 0, ebx, 11, 0xc7, 0xf8, 0, 0, 0, 0
        LACKS "XTEST", 7, 0, ebx, 11, 0x0f, 0x01, 0xd6
        LACKS "VADDPS of AVX-512", 7, 0, ebx, 16, 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2
        LACKS "KMOVW", 7, 0, ebx, 16, 0xc5, 0xf8, 0x92, 0xc8
        LACKS "RDSEED", 7, 0, ebx, 18, 0x0f, 0xc7, 0xf8
        LACKS "STAC", 7, 0, ebx, 20, 0x0f, 0x01, 0xcb
        LACKS "CLWB", 7, 0, ebx, 24, 0x66, 0x0f, 0xae, 0x30
        LACKS "SHA1NEXTE", 7, 0, ebx, 29, 0x0f, 0x38, 0xc8, 0xc1
        LACKS "RDPKRU", 7, 0, ecx, 3, 0x0f, 0x01, 0xee
        LACKS "WRPKRU", 7, 0, ecx, 3, 0x0f, 0x01, 0xef
        LACKS "TPAUSE", 7, 0, ecx, 5, 0x66, 0x0f, 0xae, 0xf1
        LACKS "GF2P8MULB", 7, 0, ecx, 8, 0x66, 0x0f, 0x38, 0xcf, 0xc1
        LACKS "RDPID", 7, 0, ecx, 22, 0xf3, 0x0f, 0xc7, 0xf8
        LACKS "MOVDIRI", 7, 0, ecx, 27, 0x0f, 0x38, 0xf9, 0x08
        LACKS "SERIALIZE", 7, 0, edx, 14, 0x0f, 0x01, 0xe8
        LACKS "PCONFIG", 7, 0, edx, 18, 0x0f, 0x01, 0xc5
        LACKS "XSAVEOPT", 0xd, 1, eax, 0, 0x0f, 0xae, 0x30
        LACKS "XSAVEC", 0xd, 1, eax, 1, 0x0f, 0xc7, 0x20
        LACKS "XSAVES", 0xd, 1, eax, 3, 0x0f, 0xc7, 0x28
        LACKS "XRSTORS", 0xd, 1, eax, 3, 0x0f, 0xc7, 0x18
        LACKS "VMRUN", 0x80000001, 0, ecx, 2, 0x0f, 0x01, 0xd8
        LACKS "EXTRQ", 0x80000001, 0, ecx, 6, 0x66, 0x0f, 0x79, 0xc1
        LACKS "VFRCZPS of XOP", 0x80000001, 0, ecx, 11, 0x8f, 0xe9, 0x78, 0x80, 0xc1
        LACKS "MONITORX", 0x80000001, 0, ecx, 29, 0x0f, 0x01, 0xfa
        LACKS "FEMMS", 0x80000001, 0, edx, 31, 0x0f, 0x0e
        LACKS "CLZERO", 0x80000008, 0, ebx, 0, 0x0f, 0x01, 0xfc
        jmp finish

        .section .bss
        .balign 64
data:   .skip 1024
