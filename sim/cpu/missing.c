/*
 * Instructions that the simulator does not execute. Where CPUID does not announce one, or the guest
 * has not switched it on, it raises what the manual says, #UD most often: guests probe with them.
 * Where it is announced the run ends, with its name, its bytes and RIP.
 *
 * Fences, prefetches and PAUSE are executed whether or not SSE and SSE2 are announced: every
 * processor that has a profile has them, and kernels use them without a look at CPUID.
 */
#include "sim/cpu/exec.h"
#include "sim/cpu/system.h"

enum { EAX, EBX, ECX, EDX };
#define NOWHERE 0xffffffff /* no CPUID bit of Intel's or AMD's announces it */

#define EXT(x) ZYDIS_ISA_EXT_##x
#define SET(x) ZYDIS_ISA_SET_##x
#define ALL    ZYDIS_ISA_SET_INVALID /* of an extension: what the lines before have left */

/* SDM vol. 2 "CPUID", and "#UD" of each instruction; AMD's manual, vol. 3, "Feature Bit Names". */
static const struct {
    uint16_t extension, set;
    uint32_t leaf;
    uint8_t subleaf, reg, bit;
    uint64_t cr4; /* must be set as well */
} announced_by[] = {
    // clang-format off
    {EXT(AES),            ALL,           1,          0, ECX, 25, 0},
    {EXT(AMD3DNOW),       ALL,           0x80000001, 0, EDX, 31, 0},
    {EXT(AMD_INVLPGB),    ALL,           0x80000008, 0, EBX,  3, 0},
    {EXT(AMX_BF16),       ALL,           7,          0, EDX, 22, CR4_OSXSAVE},
    {EXT(AMX_INT8),       ALL,           7,          0, EDX, 25, CR4_OSXSAVE},
    {EXT(AMX_TILE),       ALL,           7,          0, EDX, 24, CR4_OSXSAVE},
    {EXT(AVX),            ALL,           1,          0, ECX, 28, CR4_OSXSAVE},
    {EXT(AVX2),           ALL,           7,          0, EBX,  5, CR4_OSXSAVE},
    {EXT(AVX2GATHER),     ALL,           7,          0, EBX,  5, CR4_OSXSAVE},
    {EXT(AVX512EVEX),     ALL,           7,          0, EBX, 16, CR4_OSXSAVE},
    {EXT(AVX512VEX),      ALL,           7,          0, EBX, 16, CR4_OSXSAVE},
    {EXT(AVXAES),         ALL,           1,          0, ECX, 25, CR4_OSXSAVE},
    {EXT(AVX_VNNI),       ALL,           7,          1, EAX,  4, CR4_OSXSAVE},
    {EXT(CET),            ALL,           7,          0, ECX,  7, 0},
    {EXT(CLWB),           ALL,           7,          0, EBX, 24, 0},
    {EXT(CLZERO),         ALL,           0x80000008, 0, EBX,  0, 0},
    {EXT(ENQCMD),         ALL,           7,          0, ECX, 29, 0},
    {EXT(F16C),           ALL,           1,          0, ECX, 29, CR4_OSXSAVE},
    {EXT(FMA),            ALL,           1,          0, ECX, 12, CR4_OSXSAVE},
    {EXT(FMA4),           ALL,           0x80000001, 0, ECX, 16, CR4_OSXSAVE},
    {EXT(GFNI),           ALL,           7,          0, ECX,  8, 0},
    {EXT(HRESET),         ALL,           7,          1, EAX, 22, 0},
    {EXT(KEYLOCKER),      ALL,           7,          0, ECX, 23, 0},
    {EXT(KEYLOCKER_WIDE), ALL,           7,          0, ECX, 23, 0},
    {EXT(KNC),            ALL,           NOWHERE,    0,   0,  0, 0},
    {EXT(KNCE),           ALL,           NOWHERE,    0,   0,  0, 0},
    {EXT(KNCV),           ALL,           NOWHERE,    0,   0,  0, 0},
    {EXT(MCOMMIT),        ALL,           0x80000008, 0, EBX,  8, 0},
    {EXT(MMX),            SET(SSE),      1,          0, EDX, 25, 0},
    {EXT(MMX),            ALL,           1,          0, EDX, 23, 0},
    {EXT(MONITORX),       ALL,           0x80000001, 0, ECX, 29, 0},
    {EXT(MOVDIR),         ALL,           7,          0, ECX, 27, 0},
    {EXT(MPX),            ALL,           7,          0, EBX, 14, 0},
    {EXT(PADLOCK),        ALL,           NOWHERE,    0,   0,  0, 0},
    {EXT(PCLMULQDQ),      ALL,           1,          0, ECX,  1, 0},
    {EXT(PCONFIG),        ALL,           7,          0, EDX, 18, 0},
    {EXT(PKU),            ALL,           7,          0, ECX,  3, CR4_PKE},
    {EXT(PT),             ALL,           0x14,       0, EBX,  4, 0},
    {EXT(RDPID),          ALL,           7,          0, ECX, 22, 0},
    {EXT(RDPRU),          ALL,           0x80000008, 0, EBX,  4, 0},
    {EXT(RDRAND),         ALL,           1,          0, ECX, 30, 0},
    {EXT(RDSEED),         ALL,           7,          0, EBX, 18, 0},
    {EXT(RTM),            ALL,           7,          0, EBX, 11, 0},
    {EXT(SERIALIZE),      ALL,           7,          0, EDX, 14, 0},
    {EXT(SGX),            ALL,           0x12,       0, EAX,  0, 0},
    {EXT(SGX_ENCLV),      ALL,           0x12,       0, EAX,  0, 0},
    {EXT(SHA),            ALL,           7,          0, EBX, 29, 0},
    {EXT(SMX),            ALL,           1,          0, ECX,  6, CR4_SMXE},
    {EXT(SNP),            ALL,           0x8000001f, 0, EAX,  4, 0},
    {EXT(SSE),            SET(FXSAVE),   1,          0, EDX, 24, 0},
    {EXT(SSE),            SET(FXSAVE64), 1,          0, EDX, 24, 0},
    {EXT(SSE),            ALL,           1,          0, EDX, 25, 0},
    {EXT(SSE2),           ALL,           1,          0, EDX, 26, 0},
    {EXT(SSE3),           ALL,           1,          0, ECX,  0, 0},
    {EXT(SSE4),           SET(SSE42),    1,          0, ECX, 20, 0},
    {EXT(SSE4),           ALL,           1,          0, ECX, 19, 0},
    {EXT(SSE4A),          ALL,           0x80000001, 0, ECX,  6, 0},
    {EXT(SSSE3),          ALL,           1,          0, ECX,  9, 0},
    {EXT(SVM),            ALL,           0x80000001, 0, ECX,  2, 0},
    {EXT(TBM),            ALL,           0x80000001, 0, ECX, 21, 0},
    {EXT(TDX),            ALL,           1,          0, ECX,  5, CR4_VMXE},
    {EXT(TSX_LDTRK),      ALL,           7,          0, EDX, 16, 0},
    {EXT(UINTR),          ALL,           7,          0, EDX,  5, 0},
    {EXT(VAES),           ALL,           7,          0, ECX,  9, CR4_OSXSAVE},
    {EXT(VMFUNC),         ALL,           1,          0, ECX,  5, CR4_VMXE},
    {EXT(VPCLMULQDQ),     ALL,           7,          0, ECX, 10, CR4_OSXSAVE},
    {EXT(VTX),            ALL,           1,          0, ECX,  5, CR4_VMXE},
    {EXT(WAITPKG),        ALL,           7,          0, ECX,  5, 0},
    {EXT(XOP),            SET(LWP),      0x80000001, 0, ECX, 15, 0},
    {EXT(XOP),            ALL,           0x80000001, 0, ECX, 11, CR4_OSXSAVE},
    {EXT(XSAVE),          ALL,           1,          0, ECX, 26, CR4_OSXSAVE},
    {EXT(XSAVEC),         ALL,           0xd,        1, EAX,  1, CR4_OSXSAVE},
    {EXT(XSAVEOPT),       ALL,           0xd,        1, EAX,  0, CR4_OSXSAVE},
    {EXT(XSAVES),         ALL,           0xd,        1, EAX,  3, CR4_OSXSAVE},
    // clang-format on
};

static const __typeof__(announced_by[0]) *announcement(const ZydisDecodedInstruction *z)
{
    /* The VEX form of PCLMULQDQ, which Zydis takes for AVX's, is announced with it. */
    bool carryless = z->mnemonic == ZYDIS_MNEMONIC_VPCLMULQDQ && z->meta.isa_ext == EXT(AVX);
    unsigned extension = carryless ? EXT(PCLMULQDQ) : z->meta.isa_ext;
    for (unsigned i = 0; i < sizeof(announced_by) / sizeof(announced_by[0]); i++) {
        const __typeof__(announced_by[0]) *a = &announced_by[i];
        if (a->extension == extension && (a->set == ALL || a->set == z->meta.isa_set))
            return a;
    }
    return NULL;
}

bool instruction_announced(const struct cpu *cpu, const ZydisDecodedInstruction *z)
{
    const __typeof__(announced_by[0]) *a = announcement(z);
    return !a || (a->leaf != NOWHERE && cpuid_has(cpu, a->leaf, a->subleaf, a->reg, 1u << a->bit));
}

/* By CR4, which alone does not make it executable: XCR0 is looked at by who executes it. */
static bool switched_on(const struct cpu *cpu, const ZydisDecodedInstruction *z)
{
    const __typeof__(announced_by[0]) *a = announcement(z);
    return !a || (a->cr4 & ~cpu->cr4) == 0;
}

/* What CR0 and CR4 say of MMX and SSE. SDM vol. 3 "Interrupt 7—Device Not Available Exception
 * (#NM)", "System Programming for Instruction Set Extensions"; vol. 2 "Exception Conditions of
 * Legacy SIMD Instructions". */
static void check_switched_on(struct cpu *cpu, const ZydisDecodedInstruction *z)
{
    bool em = cpu->cr0 & CR0_EM, ts = cpu->cr0 & CR0_TS;
    bool fxsave = z->meta.isa_set == SET(FXSAVE) || z->meta.isa_set == SET(FXSAVE64);
    bool mmx = z->meta.isa_ext == EXT(MMX);
    bool simd = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
                z->meta.exception_class != ZYDIS_EXCEPTION_CLASS_NONE;
    if (fxsave && (em || ts))
        cpu_fault(cpu, VEC_NM, 0);
    if ((mmx || simd) && em)
        cpu_fault(cpu, VEC_UD, 0);
    if (simd && !mmx && !(cpu->cr4 & CR4_OSFXSR))
        cpu_fault(cpu, VEC_UD, 0);
    if ((mmx || simd) && ts)
        cpu_fault(cpu, VEC_NM, 0);
}

_Noreturn void missing_instruction(struct cpu *cpu, const struct insn *in)
{
    const ZydisDecodedInstruction *z = &in->z;
    /* SDM vol. 2 "Exceptions for VEX-encoded instructions": #UD in real mode. */
    bool vex = z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    if (!instruction_announced(cpu, z) || !switched_on(cpu, z) || (vex && !protected_mode(cpu)))
        cpu_fault(cpu, VEC_UD, 0);
    check_switched_on(cpu, z);
    cpu_unsupported(cpu, ZydisMnemonicGetString(z->mnemonic));
}
