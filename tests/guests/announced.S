/*
 * Instructions that CPUID does not announce raise #UD (SDM vol. 2, "Protected Mode Exceptions" of each), so that a
 * guest may probe for them; where CPUID announces one, its point is skipped. SDM vol. 2 "CPUID".
 */
#include "long.inc"

/* LACKS "name", the leaf, subleaf, register and bit that announce it, its bytes */
        .macro LACKS name, leaf, subleaf, register, bit, bytes:vararg
        mov $\leaf, %eax
        mov $\subleaf, %ecx
        cpuid
        bt $\bit, %\register
        jnc 7777f
        SKIP "\name: #UD", "CPUID announces it"
        jmp 7778f
7777:   mov $data, %eax
        xor %ecx, %ecx
        xor %edx, %edx
        TRY "\name: #UD", 6
        .byte \bytes
        END
7778:
        .endm

main:
        /* OSFXSR where there is one, so that CPUID alone decides. */
        mov $1, %eax
        cpuid
        bt $24, %edx
        jnc 1f
        mov %cr4, %rax
        or $0x200, %eax
        mov %rax, %cr4
1:
        LACKS "EMMS", 1, 0, edx, 23, 0x0f, 0x77
        LACKS "PADDB mm", 1, 0, edx, 23, 0x0f, 0xfc, 0xc1
        LACKS "FXSAVE", 1, 0, edx, 24, 0x0f, 0xae, 0x00
        LACKS "FXRSTOR64", 1, 0, edx, 24, 0x48, 0x0f, 0xae, 0x08
        LACKS "ADDPS", 1, 0, edx, 25, 0x0f, 0x58, 0xc1
        LACKS "STMXCSR", 1, 0, edx, 25, 0x0f, 0xae, 0x18
        LACKS "ADDPD", 1, 0, edx, 26, 0x66, 0x0f, 0x58, 0xc1
        LACKS "MOVSD of SSE2", 1, 0, edx, 26, 0xf2, 0x0f, 0x10, 0xc1
        LACKS "HADDPS", 1, 0, ecx, 0, 0xf2, 0x0f, 0x7c, 0xc1
        LACKS "PCLMULQDQ", 1, 0, ecx, 1, 0x66, 0x0f, 0x3a, 0x44, 0xc1, 0
        LACKS "VMCALL", 1, 0, ecx, 5, 0x0f, 0x01, 0xc1
        LACKS "VMXON", 1, 0, ecx, 5, 0xf3, 0x0f, 0xc7, 0x30
        LACKS "VMREAD", 1, 0, ecx, 5, 0x0f, 0x78, 0xc0
        LACKS "GETSEC", 1, 0, ecx, 6, 0x0f, 0x37
        LACKS "PABSB", 1, 0, ecx, 9, 0x66, 0x0f, 0x38, 0x1c, 0xc1
        LACKS "VFMADD132PS", 1, 0, ecx, 12, 0xc4, 0xe2, 0x71, 0x98, 0xc2
        LACKS "PMULLD", 1, 0, ecx, 19, 0x66, 0x0f, 0x38, 0x40, 0xc1
        LACKS "PCMPGTQ", 1, 0, ecx, 20, 0x66, 0x0f, 0x38, 0x37, 0xc1
        LACKS "AESENC", 1, 0, ecx, 25, 0x66, 0x0f, 0x38, 0xdc, 0xc1
        LACKS "XSAVE", 1, 0, ecx, 26, 0x0f, 0xae, 0x20
        LACKS "XGETBV", 1, 0, ecx, 26, 0x0f, 0x01, 0xd0
        LACKS "VADDPS", 1, 0, ecx, 28, 0xc5, 0xf0, 0x58, 0xc2
        LACKS "VZEROUPPER", 1, 0, ecx, 28, 0xc5, 0xf8, 0x77
        LACKS "VCVTPH2PS", 1, 0, ecx, 29, 0xc4, 0xe2, 0x79, 0x13, 0xc1
        LACKS "RDRAND", 1, 0, ecx, 30, 0x0f, 0xc7, 0xf0
        LACKS "ENCLU", 7, 0, ebx, 2, 0x0f, 0x01, 0xd7
        LACKS "VPADDB of AVX2", 7, 0, ebx, 5, 0xc5, 0xf5, 0xfc, 0xc2
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
