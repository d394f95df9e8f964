/*
 * From bytes (decoded by Zydis) to blocks of operations, with their static costs.
 *
 * Time. Decoding finds what each instruction reads and writes, and its latency: 1 cycle, lat_mul
 * for a multiplication, plus the L1D latency when it loads. Branches do not wait for the flags
 * (they are predicted), stack instructions not for RSP (the stack engine), zero idioms (XOR r,r;
 * SUB r,r) for nothing. sim/cpu/window.c makes time of it. Without a window a scoreboard runs over
 * the block here: all is ready at its entry, an instruction takes its slot when its sources are
 * ready, and a division holds retirement.
 *
 * Uops: one for the operation, unless it is a plain move (MOV, MOVZX, MOVSX, PUSH, POP) to or from
 * memory, one for each load, one for each store. No instruction makes more than EVENTS_PER_SLOT of
 * any event for each of its slots.
 */
#include <stdlib.h>

#include "sim/cpu/ops.h"
#include "sim/cpu/system.h"
#include "sim/cpu/vector.h"
#include "sim/cpu/window.h"

enum shape {
    SHAPE_NONE,    /* not of the interpreter: the system part may know it */
    SHAPE_TABLE,   /* op_table by form and size */
    SHAPE_BINARY,  /* destination, source */
    SHAPE_UNARY,   /* destination */
    SHAPE_SOURCE,  /* source only */
    SHAPE_EXTEND,  /* destination register, source of another size */
    SHAPE_VEX_RRM, /* d, t (vvvv), source */
    SHAPE_VEX_RMR, /* d, source, t (vvvv) */
    SHAPE_VEX_D,   /* d (vvvv), source */
    SHAPE_VEX_IMM, /* d, source, immediate */
    SHAPE_SHIFT,   /* destination, CL or immediate */
    SHAPE_DOUBLE,  /* destination, source register, CL or immediate */
    SHAPE_IMUL,    /* one, two or three operands */
    SHAPE_LEA,
    SHAPE_PLAIN, /* no operands that the handler needs told; size is the operand width */
    SHAPE_NOP,   /* memory operands are not accessed */
    SHAPE_JUMP,  /* near branch, direct or indirect */
    SHAPE_RET,
    SHAPE_ENTER,
    SHAPE_STRING,
};

/* CPUID bits that announce what is not in every x86-64. */
enum feature { ALWAYS, POPCNT, MOVBE, CX16, SSE42, CLFSH, LZCNT, BMI1, BMI2, ADX, CLFLUSHOPT };
static const struct {
    uint32_t leaf;
    unsigned reg, bit; /* register: 0 EAX ... 3 EDX */
} features[] = {
    [POPCNT] = {1, 2, 23}, [MOVBE] = {1, 2, 22},         [CX16] = {1, 2, 13}, [SSE42] = {1, 2, 20},
    [CLFSH] = {1, 3, 19},  [LZCNT] = {0x80000001, 2, 5}, [BMI1] = {7, 1, 3},  [BMI2] = {7, 1, 8},
    [ADX] = {7, 1, 19},    [CLFLUSHOPT] = {7, 1, 23},
};

struct recipe {
    uint8_t shape;
    uint8_t cc;
    uint8_t feature;
    op_fn fn, fn32, fn64;
    op_table *table;
};
#define M(x) ZYDIS_MNEMONIC_##x
/* clang-format off */
#define TABLED(m, t)         [M(m)] = {.shape = SHAPE_TABLE, .table = &(t)}
#define R(m, s, f)           [M(m)] = {.shape = SHAPE_##s, .fn = f}
#define RC(m, s, f, c)       [M(m)] = {.shape = SHAPE_##s, .fn = f, .cc = c}
#define RF(m, s, f, ft)      [M(m)] = {.shape = SHAPE_##s, .fn = f, .feature = ft}
#define RCF(m, s, f, c, ft)  [M(m)] = {.shape = SHAPE_##s, .fn = f, .cc = c, .feature = ft}
#define RW(m, s, f, g, h)    [M(m)] = {.shape = SHAPE_##s, .fn = f, .fn32 = g, .fn64 = h}
/* clang-format on */
#define CONDITIONS(X)                                                                              \
    X(O, 0)                                                                                        \
    X(NO, 1)                                                                                       \
    X(B, 2)                                                                                        \
    X(NB, 3)                                                                                       \
    X(Z, 4)                                                                                        \
    X(NZ, 5)                                                                                       \
    X(BE, 6) X(NBE, 7) X(S, 8) X(NS, 9) X(P, 10) X(NP, 11) X(L, 12) X(NL, 13) X(LE, 14) X(NLE, 15)
#define JCC(c, n)   RC(J##c, JUMP, op_jcc_##n, n),
#define CMOV(c, n)  RC(CMOV##c, BINARY, op_cmov, n),
#define SETCC(c, n) RC(SET##c, UNARY, op_setcc, n),
#define STRING(name, kind)                                                                         \
    RC(name##B, STRING, op_string, kind), RC(name##W, STRING, op_string, kind),                    \
        RC(name##D, STRING, op_string, kind), RC(name##Q, STRING, op_string, kind)

/* By mnemonic. */
static const struct recipe recipes[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    TABLED(ADD, ops_add),
    TABLED(OR, ops_or),
    TABLED(ADC, ops_adc),
    TABLED(SBB, ops_sbb),
    TABLED(AND, ops_and),
    TABLED(SUB, ops_sub),
    TABLED(XOR, ops_xor),
    TABLED(CMP, ops_cmp),
    TABLED(TEST, ops_test),
    TABLED(MOV, ops_mov),
    RW(INC, UNARY, op_inc, op_inc32, op_inc64),
    RW(DEC, UNARY, op_dec, op_dec32, op_dec64),
    R(NEG, UNARY, op_neg),
    R(NOT, UNARY, op_not),
    R(MUL, SOURCE, op_mul),
    R(IMUL, IMUL, op_imul1),
    R(DIV, SOURCE, op_div),
    R(IDIV, SOURCE, op_idiv),
    RC(ROL, SHIFT, op_shift, SHIFT_ROL),
    RC(ROR, SHIFT, op_shift, SHIFT_ROR),
    RC(RCL, SHIFT, op_shift, SHIFT_RCL),
    RC(RCR, SHIFT, op_shift, SHIFT_RCR),
    RC(SHL, SHIFT, op_shift, SHIFT_SHL),
    RC(SALC, PLAIN, op_salc, 0),
    RC(SHR, SHIFT, op_shift, SHIFT_SHR),
    RC(SAR, SHIFT, op_shift, SHIFT_SAR),
    RC(SHLD, DOUBLE, op_shift_double, SHIFT_SHL),
    RC(SHRD, DOUBLE, op_shift_double, SHIFT_SHR),
    RC(BT, BINARY, op_bit, BIT_TEST),
    RC(BTS, BINARY, op_bit, BIT_SET),
    RC(BTR, BINARY, op_bit, BIT_RESET),
    RC(BTC, BINARY, op_bit, BIT_COMPLEMENT),
    R(BSF, BINARY, op_bsf),
    R(BSR, BINARY, op_bsr),
    R(TZCNT, BINARY, op_tzcnt),
    R(LZCNT, BINARY, op_lzcnt),
    RF(POPCNT, BINARY, op_popcnt, POPCNT),
    R(MOVZX, EXTEND, op_movzx),
    R(MOVSX, EXTEND, op_movsx),
    R(MOVSXD, EXTEND, op_movsx),
    R(XCHG, BINARY, op_xchg),
    R(XADD, BINARY, op_xadd),
    R(CMPXCHG, BINARY, op_cmpxchg),
    R(CMPXCHG8B, UNARY, op_cmpxchg8b),
    RF(CMPXCHG16B, UNARY, op_cmpxchg16b, CX16),
    R(BSWAP, UNARY, op_bswap),
    RF(MOVBE, BINARY, op_movbe, MOVBE),
    RW(LEA, LEA, op_lea16, op_lea32, op_lea64),
    R(PUSH, SOURCE, op_push),
    R(POP, UNARY, op_pop),
    R(PUSHF, PLAIN, op_pushf),
    R(PUSHFD, PLAIN, op_pushf),
    R(PUSHFQ, PLAIN, op_pushf),
    R(PUSHA, PLAIN, op_pusha),
    R(PUSHAD, PLAIN, op_pusha),
    R(POPA, PLAIN, op_popa),
    R(POPAD, PLAIN, op_popa),
    R(ENTER, ENTER, op_enter),
    R(LEAVE, PLAIN, op_leave_frame),
    R(XLAT, PLAIN, op_xlat),
    R(CBW, PLAIN, op_widen),
    R(CWDE, PLAIN, op_widen),
    R(CDQE, PLAIN, op_widen),
    R(CWD, PLAIN, op_sign),
    R(CDQ, PLAIN, op_sign),
    R(CQO, PLAIN, op_sign),
    R(LAHF, PLAIN, op_lahf),
    R(SAHF, PLAIN, op_sahf),
    RC(CLC, PLAIN, op_flag, FLAG_CLC),
    RC(STC, PLAIN, op_flag, FLAG_STC),
    RC(CMC, PLAIN, op_flag, FLAG_CMC),
    RC(CLD, PLAIN, op_flag, FLAG_CLD),
    RC(STD, PLAIN, op_flag, FLAG_STD),
    STRING(MOVS, STRING_MOVS),
    STRING(STOS, STRING_STOS),
    STRING(LODS, STRING_LODS),
    STRING(SCAS, STRING_SCAS),
    STRING(CMPS, STRING_CMPS),
    R(JMP, JUMP, op_jmp),
    R(CALL, JUMP, op_call),
    R(RET, RET, op_ret),
    RC(LOOP, JUMP, op_loop, LOOP_ALWAYS),
    RC(LOOPE, JUMP, op_loop, LOOP_E),
    RC(LOOPNE, JUMP, op_loop, LOOP_NE),
    R(JCXZ, JUMP, op_jrcxz),
    R(JECXZ, JUMP, op_jrcxz),
    R(JRCXZ, JUMP, op_jrcxz),
    CONDITIONS(JCC) CONDITIONS(CMOV) CONDITIONS(SETCC) R(NOP, NOP, op_nop),
    R(ENDBR32, NOP, op_nop),
    R(ENDBR64, NOP, op_nop),
    R(PAUSE, NOP, op_nop),
    R(PREFETCH, NOP, op_nop),
    R(PREFETCHNTA, NOP, op_nop),
    R(PREFETCHT0, NOP, op_nop),
    R(PREFETCHT1, NOP, op_nop),
    R(PREFETCHT2, NOP, op_nop),
    R(PREFETCHW, NOP, op_nop),
    R(PREFETCHWT1, NOP, op_nop),
    R(MFENCE, NOP, op_nop),
    R(LFENCE, NOP, op_nop),
    R(SFENCE, NOP, op_nop),
    RF(CLFLUSH, SOURCE, op_flush, CLFSH),
    RF(CLFLUSHOPT, SOURCE, op_flush, CLFLUSHOPT),
    R(CLDEMOTE, NOP, op_nop),
    R(UD0, NOP, op_undefined),
    R(UD1, NOP, op_undefined),
    R(UD2, NOP, op_undefined),
    RC(AAA, PLAIN, op_bcd, BCD_AAA),
    RC(AAS, PLAIN, op_bcd, BCD_AAS),
    RC(DAA, PLAIN, op_bcd, BCD_DAA),
    RC(DAS, PLAIN, op_bcd, BCD_DAS),
    RC(AAM, SOURCE, op_bcd, BCD_AAM),
    RC(AAD, SOURCE, op_bcd, BCD_AAD),
    R(BOUND, BINARY, op_bound),
    RF(ANDN, VEX_RRM, op_andn, BMI1),
    RF(BEXTR, VEX_RMR, op_bextr, BMI1),
    RCF(BLSR, VEX_D, op_bls, BLS_R, BMI1),
    RCF(BLSMSK, VEX_D, op_bls, BLS_MSK, BMI1),
    RCF(BLSI, VEX_D, op_bls, BLS_I, BMI1),
    RF(BZHI, VEX_RMR, op_bzhi, BMI2),
    RF(PDEP, VEX_RRM, op_pdep, BMI2),
    RF(PEXT, VEX_RRM, op_pext, BMI2),
    RF(RORX, VEX_IMM, op_rorx, BMI2),
    RCF(SHLX, VEX_RMR, op_shiftx, SHIFT_SHL, BMI2),
    RCF(SHRX, VEX_RMR, op_shiftx, SHIFT_SHR, BMI2),
    RCF(SARX, VEX_RMR, op_shiftx, SHIFT_SAR, BMI2),
    RF(MULX, VEX_RRM, op_mulx, BMI2),
    RCF(ADCX, BINARY, op_adx, 0, ADX),
    RCF(ADOX, BINARY, op_adx, 1, ADX),
    RF(CRC32, EXTEND, op_crc32, SSE42),
    R(FWAIT, NOP, op_fwait),
};

static bool has_feature(const struct cpu *cpu, enum feature f)
{
    return f == ALWAYS ||
           cpuid_has(cpu, features[f].leaf, 0, features[f].reg, 1u << features[f].bit);
}

enum { DECODER_64, DECODER_32, DECODER_16, DECODER_REAL };

void decode_init(struct cpu *cpu)
{
    static const struct {
        ZydisMachineMode mode;
        ZydisStackWidth stack;
    } modes[] = {
        [DECODER_64] = {ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64},
        [DECODER_32] = {ZYDIS_MACHINE_MODE_LEGACY_32, ZYDIS_STACK_WIDTH_32},
        [DECODER_16] = {ZYDIS_MACHINE_MODE_LEGACY_16, ZYDIS_STACK_WIDTH_16},
        [DECODER_REAL] = {ZYDIS_MACHINE_MODE_REAL_16, ZYDIS_STACK_WIDTH_16},
    };
    struct exec *x = exec_of(cpu);
    for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        ZydisDecoder *d = &x->decoder[i];
        ZydisDecoderInit(d, modes[i].mode, modes[i].stack);
        /* Encodings that are NOPs, or BSF and BSR, on processors without the feature. */
        ZydisDecoderEnableMode(d, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
        ZydisDecoderEnableMode(d, ZYDIS_DECODER_MODE_CET, ZYAN_FALSE);
        ZydisDecoderEnableMode(d, ZYDIS_DECODER_MODE_CLDEMOTE, ZYAN_FALSE);
        ZydisDecoderEnableMode(d, ZYDIS_DECODER_MODE_LZCNT, has_feature(cpu, LZCNT));
        ZydisDecoderEnableMode(d, ZYDIS_DECODER_MODE_TZCNT, has_feature(cpu, BMI1));
    }
}

/* ---- operands ---- */

static uint8_t log2_bytes(unsigned bits)
{
    return bits >= 64 ? 3 : bits == 32 ? 2 : bits == 16 ? 1 : 0;
}

uint8_t register_offset(ZydisRegister r)
{
    if (r == ZYDIS_REGISTER_NONE)
        return OFF_NONE;
    if (r >= ZYDIS_REGISTER_RAX && r <= ZYDIS_REGISTER_R15)
        return OFF(r - ZYDIS_REGISTER_RAX);
    if (r >= ZYDIS_REGISTER_EAX && r <= ZYDIS_REGISTER_R15D)
        return OFF(r - ZYDIS_REGISTER_EAX);
    if (r >= ZYDIS_REGISTER_AX && r <= ZYDIS_REGISTER_R15W)
        return OFF(r - ZYDIS_REGISTER_AX);
    if (r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH)
        return OFF(r - ZYDIS_REGISTER_AH) + 1;
    if (r >= ZYDIS_REGISTER_SPL && r <= ZYDIS_REGISTER_R15B)
        return OFF(r - ZYDIS_REGISTER_SPL + RSP);
    return OFF(r - ZYDIS_REGISTER_AL);
}

static bool is_gpr(ZydisRegister r)
{
    return r >= ZYDIS_REGISTER_AL && r <= ZYDIS_REGISTER_R15;
}

static bool seg_is_complex(uint32_t mode, unsigned seg)
{
    if (mode & MODE_ALIGN)
        return true;
    if ((mode & MODE_CODE) == MODE_64)
        return seg == SEG_FS || seg == SEG_GS;
    return !(mode & MODE_FLAT_DATA) || seg == SEG_FS || seg == SEG_GS || seg == SEG_CS;
}

static uint64_t width_mask(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (1ULL << bits) - 1;
}

void decode_memory(struct op *op, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
                   uint32_t mode)
{
    op->mask = width_mask(z->address_width);
    op->disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
    if (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.base == ZYDIS_REGISTER_EIP) {
        op->disp += (int64_t)(op->rip + z->length);
        op->base = OFF_NONE;
    } else {
        op->base = register_offset(o->mem.base);
    }
    op->index = register_offset(o->mem.index);
    op->shift = o->mem.scale ? __builtin_ctz(o->mem.scale) : 0;
    op->seg = o->mem.segment - ZYDIS_REGISTER_ES;
    op->complex = seg_is_complex(mode, op->seg);
}

/* A source of any kind: form becomes FORM_RR, FORM_RM or FORM_RI. */
static void set_source(struct op *op, const ZydisDecodedInstruction *z,
                       const ZydisDecodedOperand *o, uint32_t mode)
{
    switch (o->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        op->form = FORM_RR;
        op->s = register_offset(o->reg.value);
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        op->form = FORM_RM;
        decode_memory(op, z, o, mode);
        break;
    default:
        op->form = FORM_RI;
        op->imm = o->imm.value.u;
        break;
    }
}
/* A destination: FORM_RR or FORM_MR. */
static void set_target(struct op *op, const ZydisDecodedInstruction *z,
                       const ZydisDecodedOperand *o, uint32_t mode)
{
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        op->form = FORM_MR;
        decode_memory(op, z, o, mode);
    } else {
        op->form = FORM_RR;
        op->d = register_offset(o->reg.value);
    }
}
static void set_binary(struct op *op, const ZydisDecodedInstruction *z,
                       const ZydisDecodedOperand *o, uint32_t mode)
{
    set_target(op, z, &o[0], mode);
    if (o[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        op->s = register_offset(o[1].reg.value);
    } else if (o[1].type == ZYDIS_OPERAND_TYPE_MEMORY) {
        op->form = FORM_RM;
        decode_memory(op, z, &o[1], mode);
    } else {
        op->form = op->form == FORM_MR ? FORM_MI : FORM_RI;
        op->imm = o[1].imm.value.u;
    }
}
static void set_count(struct op *op, const ZydisDecodedOperand *o)
{
    op->t = o->type == ZYDIS_OPERAND_TYPE_REGISTER;
    if (!op->t)
        op->imm = o->imm.value.u;
}

static void set_branch_target(struct op *op, const ZydisDecodedInstruction *z,
                              const ZydisDecodedOperand *o, uint32_t mode)
{
    uint64_t target = op->rip + z->length + o->imm.value.u;
    if ((mode & MODE_CODE) == MODE_64) {
        op->complex = !canonical(target);
    } else {
        target &= size_mask(op->size);
        op->complex = !(mode & MODE_FLAT_CODE);
    }
    op->imm = target;
}

/* ---- one instruction ---- */

struct decoded {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    uint8_t bytes[16];
    unsigned first; /* bytes in the first page */
};

enum kind { KIND_NORMAL, KIND_BRANCH, KIND_ALONE, KIND_SYSTEM };

static bool is_x87(const ZydisDecodedInstruction *z)
{
    return z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
           z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (z->opcode & 0xf8) == 0xd8;
}

static enum kind translate_x87(struct cpu *cpu, struct op *op, const struct decoded *d)
{
    const ZydisDecodedInstruction *z = &d->z;
    unsigned modrm = z->raw.modrm.mod << 6 | z->raw.modrm.reg << 3 | z->raw.modrm.rm;
    op->base = op->index = OFF_NONE;
    for (unsigned i = 0; i < z->operand_count; i++)
        if (d->o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            decode_memory(op, z, &d->o[i], exec_of(cpu)->mode);
    op->fn = x87_decode(cpu, op, z->opcode, modrm, z->operand_width == 16);
    if (op->fn)
        return KIND_NORMAL;
    op->fn = op_undefined;
    return KIND_BRANCH;
}

/* Fills op; says what it means for its block. */
static enum kind translate(struct cpu *cpu, struct op *op, const struct decoded *d)
{
    const ZydisDecodedInstruction *z = &d->z;
    const ZydisDecodedOperand *o = d->o;
    uint32_t mode = exec_of(cpu)->mode;
    if (is_x87(z))
        return translate_x87(cpu, op, d);
    op->base = op->index = OFF_NONE;
    if (vector_decode(cpu, op, z, o, mode))
        return op->fn == op_undefined ? KIND_BRANCH : KIND_NORMAL;
    const struct recipe *r = recipes[z->mnemonic].shape ? &recipes[z->mnemonic] : NULL;
    /* What vector.c does not know, under a mnemonic that a string instruction has as well. */
    bool vector_extension =
        z->meta.category != ZYDIS_CATEGORY_STRINGOP &&
        (z->mnemonic == ZYDIS_MNEMONIC_MOVSD || z->mnemonic == ZYDIS_MNEMONIC_CMPSD);
    for (unsigned i = 0; i < z->operand_count_visible && i < 2; i++)
        if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER && !is_gpr(o[i].reg.value) && r &&
            r->shape != SHAPE_NOP)
            r = NULL; /* segment, control, debug registers: the system part */
    if (!r || vector_extension || z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
        op->fn = op_system;
        return KIND_SYSTEM;
    }
    /* Zydis takes VEX encodings for those of Knights Corner, which no profile is. */
    if (!has_feature(cpu, r->feature) || z->meta.isa_ext == ZYDIS_ISA_EXT_KNC ||
        (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && (mode & MODE_REAL))) {
        op->fn = op_undefined;
        return KIND_BRANCH;
    }
    op->fn = r->fn;
    op->cc = r->cc;
    op->size = log2_bytes(o[0].size);
    switch (r->shape) {
    case SHAPE_TABLE:
        set_binary(op, z, o, mode);
        op->fn = (*r->table)[op->form][op->size];
        break;
    case SHAPE_BINARY:
        set_binary(op, z, o, mode);
        break;
    case SHAPE_UNARY:
        set_target(op, z, &o[0], mode);
        if (op->form == FORM_RR && op->size == 2 && r->fn32)
            op->fn = r->fn32;
        else if (op->form == FORM_RR && op->size == 3 && r->fn64)
            op->fn = r->fn64;
        if (z->mnemonic == ZYDIS_MNEMONIC_POP) {
            op->size = log2_bytes(z->operand_width);
            if (op->form == FORM_RR && mode == (MODE_64 | MODE_FLAT_CODE) && op->size == 3) {
                op->fn = op_pop64;
                op->seg = SEG_SS;
            }
        }
        break;
    case SHAPE_SOURCE:
        set_source(op, z, &o[0], mode);
        if (z->mnemonic == ZYDIS_MNEMONIC_PUSH) {
            op->size = log2_bytes(z->operand_width);
            if (op->form != FORM_RM)
                op->seg = SEG_SS;
            if (op->form == FORM_RR && mode == (MODE_64 | MODE_FLAT_CODE) && op->size == 3)
                op->fn = op_push64;
        }
        break;
    case SHAPE_EXTEND:
        op->d = register_offset(o[0].reg.value);
        set_source(op, z, &o[1], mode);
        op->from = log2_bytes(o[1].size);
        if (op->fn == op_movzx || op->fn == op_movsx)
            op->fn = extension(op, op->fn == op_movsx);
        break;
    case SHAPE_VEX_RRM:
        op->d = register_offset(o[0].reg.value);
        op->t = register_offset(o[1].reg.value);
        set_source(op, z, &o[2], mode);
        break;
    case SHAPE_VEX_RMR:
        op->d = register_offset(o[0].reg.value);
        set_source(op, z, &o[1], mode);
        op->t = register_offset(o[2].reg.value);
        break;
    case SHAPE_VEX_D:
        op->d = register_offset(o[0].reg.value);
        set_source(op, z, &o[1], mode);
        break;
    case SHAPE_VEX_IMM:
        op->d = register_offset(o[0].reg.value);
        set_source(op, z, &o[1], mode);
        op->imm = o[2].imm.value.u;
        break;
    case SHAPE_SHIFT:
        set_target(op, z, &o[0], mode);
        set_count(op, &o[1]);
        op->fn = shift_constant(op);
        break;
    case SHAPE_DOUBLE:
        set_target(op, z, &o[0], mode);
        op->s = register_offset(o[1].reg.value);
        set_count(op, &o[2]);
        break;
    case SHAPE_IMUL:
        if (z->operand_count_visible == 1) {
            set_source(op, z, &o[0], mode);
        } else {
            op->d = register_offset(o[0].reg.value);
            set_source(op, z, &o[1], mode);
            op->fn = ops_imul2[op->form][op->size];
            if (z->operand_count_visible == 3) {
                op->fn = ops_imul3[op->form][op->size];
                op->imm = o[2].imm.value.u;
            }
        }
        break;
    case SHAPE_LEA:
        op->d = register_offset(o[0].reg.value);
        decode_memory(op, z, &o[1], mode);
        if (op->size > 1)
            op->fn = op->size == 2 ? r->fn32 : r->fn64;
        break;
    case SHAPE_PLAIN:
        op->size = log2_bytes(z->operand_width);
        op->seg = SEG_SS;
        if (z->mnemonic == ZYDIS_MNEMONIC_XLAT) {
            op->seg = SEG_DS;
            for (unsigned i = 0; i < z->operand_count; i++)
                if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
                    op->seg = o[i].mem.segment - ZYDIS_REGISTER_ES;
            op->mask = width_mask(z->address_width);
            op->complex = seg_is_complex(mode, op->seg);
        }
        break;
    case SHAPE_ENTER:
        op->size = log2_bytes(z->operand_width);
        op->seg = SEG_SS;
        op->imm = o[0].imm.value.u & 0xffff;
        op->t = o[1].imm.value.u & 31;
        break;
    case SHAPE_RET:
        op->size = log2_bytes(z->operand_width);
        op->seg = SEG_SS;
        op->imm = z->operand_count_visible ? o[0].imm.value.u & 0xffff : 0;
        if (mode == (MODE_64 | MODE_FLAT_CODE) && op->size == 3)
            op->fn = op_ret64;
        return KIND_BRANCH;
    case SHAPE_JUMP:
        op->size = log2_bytes(z->operand_width);
        op->from = log2_bytes(z->address_width);
        if (z->mnemonic == ZYDIS_MNEMONIC_JCXZ)
            op->from = 1;
        if (o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            op->seg = SEG_SS; /* CALL's push */
            set_branch_target(op, z, &o[0], mode);
            if (r->fn == op_call && mode == (MODE_64 | MODE_FLAT_CODE) && op->size == 3 &&
                !op->complex)
                op->fn = op_call64;
        } else {
            op->fn = r->fn == op_call ? op_call_ind : op_jmp_ind;
            set_source(op, z, &o[0], mode);
        }
        return KIND_BRANCH;
    case SHAPE_STRING:
        op->size = log2_bytes(z->operand_width);
        if (z->mnemonic == ZYDIS_MNEMONIC_MOVSB || z->mnemonic == ZYDIS_MNEMONIC_STOSB ||
            z->mnemonic == ZYDIS_MNEMONIC_LODSB || z->mnemonic == ZYDIS_MNEMONIC_SCASB ||
            z->mnemonic == ZYDIS_MNEMONIC_CMPSB)
            op->size = 0;
        op->from = log2_bytes(z->address_width);
        op->seg = SEG_DS;
        for (unsigned i = 0; i < z->operand_count; i++)
            if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                (o[i].mem.base == ZYDIS_REGISTER_RSI || o[i].mem.base == ZYDIS_REGISTER_ESI ||
                 o[i].mem.base == ZYDIS_REGISTER_SI))
                op->seg = o[i].mem.segment - ZYDIS_REGISTER_ES;
        if (z->attributes &
            (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) {
            op->t = z->attributes & ZYDIS_ATTRIB_HAS_REPNE ? REP_NE : REP_E;
            op->fn = op_rep;
            return KIND_ALONE;
        }
        break;
    default:
        if (op->fn == op_undefined)
            return KIND_BRANCH;
        break;
    }
    return KIND_NORMAL;
}

/* ---- memory ---- */

#define CACHE_LINE 64

void *exec_zeroed(struct cpu *cpu, size_t size, void *unfinished)
{
    size_t lines = (size + CACHE_LINE - 1) / CACHE_LINE;
    void *memory = aligned_alloc(CACHE_LINE, lines * CACHE_LINE);
    if (memory)
        return memset(memory, 0, lines * CACHE_LINE);
    free(unfinished);
    exec_no_memory(cpu);
}

/* ---- cost ---- */

/* Without a window: a block's own scoreboard. */
struct score {
    uint64_t ready[N_RESULTS]; /* slot from which it can be read */
    uint64_t slots;
};

static bool plain_move(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_MOV || m == ZYDIS_MNEMONIC_MOVZX || m == ZYDIS_MNEMONIC_MOVSX ||
           m == ZYDIS_MNEMONIC_MOVSXD || m == ZYDIS_MNEMONIC_PUSH || m == ZYDIS_MNEMONIC_POP ||
           vector_is_move(m);
}

static bool is_multiply(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_MUL || m == ZYDIS_MNEMONIC_IMUL || m == ZYDIS_MNEMONIC_MULX;
}
static bool is_divide(ZydisMnemonic m)
{
    return m == ZYDIS_MNEMONIC_DIV || m == ZYDIS_MNEMONIC_IDIV;
}

/* Loads and stores; PUSHA and the like by name, since Zydis shows one operand for all. */
static void count_accesses(const struct decoded *d, const struct op *op, unsigned *loads,
                           unsigned *stores)
{
    *loads = *stores = 0;
    switch (d->z.mnemonic) {
    case ZYDIS_MNEMONIC_PUSHA:
    case ZYDIS_MNEMONIC_PUSHAD:
        *stores = 8;
        return;
    case ZYDIS_MNEMONIC_POPA:
    case ZYDIS_MNEMONIC_POPAD:
        *loads = 8;
        return;
    case ZYDIS_MNEMONIC_ENTER:
        *loads = op->t > 1 ? op->t - 1 : 0;
        *stores = 1u + op->t;
        return;
    case ZYDIS_MNEMONIC_CMPXCHG16B:
        *loads = *stores = 2;
        return;
    case ZYDIS_MNEMONIC_BOUND:
        *loads = 2;
        return;
    default:
        break;
    }
    for (unsigned i = 0; i < d->z.operand_count; i++) {
        const ZydisDecodedOperand *o = &d->o[i];
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_VSIB)
            *loads += (1u << op->size) / (op->fn == op_gather_d32 ? 4 : 8); /* one an element */
        if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
            continue;
        /* x87's large operands go in parts (ops_x87.c). */
        unsigned bytes = o->size / 8, parts = 1;
        if (is_x87(&d->z))
            parts = bytes / 8 + (bytes >> 2 & 1) + (bytes >> 1 & 1);
        *loads += o->actions & ZYDIS_OPERAND_ACTION_MASK_READ ? parts : 0;
        *stores += o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? parts : 0;
    }
}

static uint32_t register_bit(ZydisRegister r)
{
    return is_gpr(r) ? 1u << register_offset(r) / 8 : 0;
}

static unsigned register_number(ZydisRegister r)
{
    return is_gpr(r) ? register_offset(r) / 8 : 16;
}
static uint32_t place_name(const ZydisDecodedOperand *o)
{
    uint32_t rest = (uint32_t)o->mem.disp.value * 31 + o->mem.scale * 17 + o->mem.segment;
    return place_of(register_number(o->mem.base), register_number(o->mem.index),
                    rest * 5 + o->size / 8);
}

/* What the instruction reads and writes: not RSP where it is implied (the stack engine), nothing
 * for what only looks as if it read (nop, idiom); branches do not wait for the flags. */
static void find_results(const struct decoded *d, bool nop, bool idiom, bool branch, bool forwards,
                         struct step *step)
{
    const ZydisDecodedInstruction *z = &d->z;
    if (nop)
        return;
    for (unsigned i = 0; i < z->operand_count; i++) {
        const ZydisDecodedOperand *o = &d->o[i];
        bool hidden = o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && !hidden) {
            step->address |= register_bit(o->mem.base) | register_bit(o->mem.index);
            if (forwards && o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
                step->loads = place_name(o);
            if (forwards && o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                step->stores = place_name(o);
        }
        if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        uint32_t bit = register_bit(o->reg.value);
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            step->changes |= bit;
        if (hidden && bit == 1u << RSP)
            continue;
        if ((o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !idiom)
            step->sources |= bit;
        if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
            step->results |= bit;
    }
    const ZydisAccessedFlags *flags = z->cpu_flags;
    if (flags && flags->tested && !branch && !idiom)
        step->sources |= 1u << RESULT_FLAGS;
    if (flags && (flags->modified | flags->set_0 | flags->set_1))
        step->results |= 1u << RESULT_FLAGS;
    if (is_divide(z->mnemonic)) { /* it is not pipelined */
        step->sources |= 1u << RESULT_DIVIDER;
        step->results |= 1u << RESULT_DIVIDER;
    }
}

/* Returns the slots in which it waits. */
static uint64_t score_cost(struct score *s, const struct step *step, uint64_t hold)
{
    uint64_t slot = s->slots;
    for (uint32_t m = step->address | step->sources; m; m &= m - 1)
        if (s->ready[__builtin_ctz(m)] > slot)
            slot = s->ready[__builtin_ctz(m)];
    for (uint32_t m = step->results; m; m &= m - 1)
        s->ready[__builtin_ctz(m)] = slot + step->load + step->latency;
    uint64_t waits = slot + hold - s->slots;
    s->slots = slot + step->slots + hold;
    return waits;
}

/* Sets next's sums from op's and what op costs, and tells the window of it. */
static void add_cost(struct cpu *cpu, struct score *s, const struct decoded *d, const struct op *op,
                     struct op *next, bool branch, struct step *step)
{
    const struct profile *p = cpu->profile;
    unsigned width = p->uarch.retire_width, loads, stores;
    bool nop = op->fn == op_nop || op->fn == op_flush || op->fn == op_undefined;
    const ZydisDecodedInstruction *z = &d->z;
    count_accesses(d, op, &loads, &stores);
    if (nop)
        loads = stores = 0;
    bool idiom = (z->mnemonic == ZYDIS_MNEMONIC_XOR || z->mnemonic == ZYDIS_MNEMONIC_SUB) &&
                 op->form == FORM_RR && op->d == op->s;
    unsigned uops = loads + stores;
    if (uops == 0 || !plain_move(z->mnemonic))
        uops++;

    *step = (struct step){.slots = (uops + EVENTS_PER_SLOT - 1) / EVENTS_PER_SLOT};
    find_results(d, nop, idiom, branch, p->uarch.lat_forward, step);
    if (loads)
        step->load = p->uarch.l1d.latency * width;
    if (is_divide(z->mnemonic))
        step->latency = p->uarch.lat_div * width;
    else if (!nop && !(plain_move(z->mnemonic) && loads))
        step->latency = (is_multiply(z->mnemonic) ? p->uarch.lat_mul : 1) * width;

    /* Slots in which nothing else goes on. PAUSE holds the front end up, which is what a waiting
     * loop wants of it. */
    uint64_t hold = 0, waits;
    if (z->mnemonic == ZYDIS_MNEMONIC_PAUSE)
        hold = (uint64_t)p->uarch.lat_pause * width - step->slots;
    if (p->uarch.window) {
        waits = hold;
    } else {
        if (is_divide(z->mnemonic) && step->latency > step->slots)
            hold = step->latency - step->slots;
        waits = score_cost(s, step, hold);
    }
    next->before = op->before;
    next->before.slots += step->slots + waits;
    next->before.waits += waits;
    next->before.insns++;
    next->before.uops += uops;
    next->before.loads += loads;
    next->before.stores += stores;
}

/* What the window knows of the block's n instructions. */
static struct flow *flow_of(struct cpu *cpu, const struct step *step, unsigned n,
                            struct block *unfinished)
{
    struct flow *f = exec_zeroed(cpu, sizeof(*f) + n * sizeof(*step), unfinished);
    for (unsigned i = 0; i < N_RESULTS; i++)
        f->from[i] = 1u << i;
    for (unsigned i = 0; i < n; i++) {
        struct step *s = &f->step[i];
        *s = step[i];
        for (uint32_t m = s->address; m; m &= m - 1)
            s->from |= f->from[__builtin_ctz(m)];
        s->behind_load = s->address & f->loaded;
        uint32_t from = s->from;
        for (uint32_t m = s->sources; m; m &= m - 1)
            from |= f->from[__builtin_ctz(m)];
        for (uint32_t m = s->results; m; m &= m - 1)
            f->from[__builtin_ctz(m)] = from;
        f->writes |= s->results;
        if (s->load || ((s->sources | s->address) & f->loaded))
            f->loaded |= s->results;
        else
            f->loaded &= ~s->results;
    }
    return f;
}

/* ---- the block ---- */

#define PREFIX_DS  0x3e
#define PREFIX_REP 0xf3

/* The bytes at offset of the first page; with second, also those of the next page. */
static unsigned gather(struct decoded *d, const uint8_t *page, unsigned offset,
                       const uint8_t *second)
{
    unsigned room = PAGE_BYTES - offset;
    d->first = room < sizeof(d->bytes) ? room : sizeof(d->bytes);
    memcpy(d->bytes, page + offset, d->first);
    if (!second)
        return d->first;
    memcpy(d->bytes + d->first, second, sizeof(d->bytes) - d->first);
    return sizeof(d->bytes);
}

/* What Zydis 4.0.0 gets wrong in 64-bit mode, where REX.B (or VEX.B) is set. */
static void correct(const ZydisDecoder *decoder, struct decoded *d)
{
    /* F3 90 is PAUSE, but with REX.B it is XCHG with R8 (SDM vol. 2 "XCHG", "PAUSE"): decoded
     * again, with a segment override, which means nothing here, in place of F3. */
    if (d->z.mnemonic == ZYDIS_MNEMONIC_PAUSE && d->z.raw.rex.B) {
        uint8_t bytes[sizeof(d->bytes)];
        for (unsigned i = 0; i < sizeof(bytes); i++)
            bytes[i] = d->bytes[i] == PREFIX_REP ? PREFIX_DS : d->bytes[i];
        ZydisDecoderDecodeFull(decoder, bytes, d->z.length, &d->z, d->o);
    }
    /* With 67H it takes SIB.base = 101b and mod = 00 for R13D: it is a displacement without a base
     * whatever B is (SDM vol. 2 "Special Cases of REX Encodings"). */
    const __typeof__(d->z.raw) *raw = &d->z.raw;
    if (d->z.address_width == 32 && raw->modrm.offset && raw->modrm.mod == 0 &&
        raw->modrm.rm == RSP && raw->sib.base == RBP)
        for (unsigned i = 0; i < d->z.operand_count; i++)
            if (d->o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                d->o[i].mem.base == ZYDIS_REGISTER_R13D) {
                d->o[i].mem.base = ZYDIS_REGISTER_NONE;
                d->o[i].mem.disp.has_displacement = true;
                d->o[i].mem.disp.value = raw->disp.value;
            }
}

static ZyanStatus decode_one(struct cpu *cpu, struct decoded *d, unsigned n)
{
    uint32_t mode = exec_of(cpu)->mode;
    unsigned which = (mode & MODE_CODE) == MODE_64   ? DECODER_64
                     : (mode & MODE_CODE) == MODE_32 ? DECODER_32
                     : mode & MODE_REAL              ? DECODER_REAL
                                                     : DECODER_16;
    const ZydisDecoder *decoder = &exec_of(cpu)->decoder[which];
    ZyanStatus status = ZydisDecoderDecodeFull(decoder, d->bytes, n, &d->z, d->o);
    if (ZYAN_SUCCESS(status) && which == DECODER_64)
        correct(decoder, d);
    return status;
}

static struct tlb_entry *fetch_page(struct cpu *cpu, uint64_t linear)
{
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_FETCH, cpu->cpl == 3);
    if (e->tag != (linear >> PAGE_SHIFT_4K) + 1)
        e = tlb_fill(cpu, linear, ACCESS_FETCH, cpu->cpl == 3);
    if (!e->host)
        cpu_unsupported(cpu, "instruction fetch from a device or from nowhere");
    return e;
}

struct block *decode_block(struct cpu *cpu, uint64_t linear, uint64_t physical)
{
    struct exec *x = exec_of(cpu);
    const uint8_t *page = fetch_page(cpu, linear)->host, *second = NULL;
    unsigned offset = linear & (PAGE_BYTES - 1);
    struct op ops[BLOCK_MAX_OPS + 1];
    struct score score = {0};
    struct step steps[BLOCK_MAX_OPS] = {0};
    struct decoded d = {.z = {0}};
    uint64_t rip = cpu->rip, rip_mask = (x->mode & MODE_CODE) == MODE_64 ? UINT64_MAX : UINT32_MAX;
    uint64_t second_page = NO_PAGE, bound = 0;
    unsigned width = cpu->profile->uarch.retire_width;
    unsigned fetch_bytes = cpu->profile->uarch.fetch_bytes, fetched = 0;
    unsigned n = 0, flushes = 0; /* which translate as a load does, without being one */
    enum kind kind = KIND_NORMAL;

    memset(&ops[0], 0, sizeof(ops[0]));
    while (n < BLOCK_MAX_OPS && kind == KIND_NORMAL && offset < PAGE_BYTES) {
        struct op *op = &ops[n];
        op->rip = rip;
        ZyanStatus status = decode_one(cpu, &d, gather(&d, page, offset, NULL));
        if (status == ZYDIS_STATUS_NO_MORE_DATA && offset + sizeof(d.bytes) > PAGE_BYTES) {
            if (n > 0)
                break;
            /* Its page fault is that of the second page (SDM vol. 3 "Interrupt 14"). */
            struct tlb_entry *e = fetch_page(cpu, (linear | (PAGE_BYTES - 1)) + 1);
            second_page = e->physical;
            second = e->host;
            page = fetch_page(cpu, linear)->host;
            status = decode_one(cpu, &d, gather(&d, page, offset, second));
        }
        struct op *next = &ops[n + 1];
        memset(next, 0, sizeof(*next));
        if (!ZYAN_SUCCESS(status)) {
            op->fn = status == ZYDIS_STATUS_INSTRUCTION_TOO_LONG ? op_limit : op_undefined;
            next->before = op->before;
            next->before.slots++;
            next->before.insns++;
            next->before.uops++;
            d.z.length = 1;
            kind = KIND_BRANCH;
        } else {
            kind = translate(cpu, op, &d);
            if (n > 0 && (kind == KIND_ALONE || kind == KIND_SYSTEM)) {
                struct op_sum before = op->before;
                memset(op, 0, sizeof(*op));
                op->before = before;
                break;
            }
            if (kind == KIND_NORMAL || kind == KIND_BRANCH)
                add_cost(cpu, &score, &d, op, next, kind == KIND_BRANCH, &steps[n]);
            flushes += op->fn == op_flush;
            fetched += d.z.length;
            if (fetch_bytes)
                steps[n].fetched = fetched * width / fetch_bytes;
        }
        rip = (rip + d.z.length) & rip_mask;
        offset += d.z.length;
        next->rip = rip;
        n++;
        if (second)
            break;
    }
    struct op *end = &ops[n];
    end->rip = rip;
    end->fn = op_end;

    unsigned accesses = end->before.loads + end->before.stores + flushes;
    if (kind == KIND_ALONE)
        accesses = 2;
    bound = end->before.slots + 1 + (uint64_t)accesses * cpu->uarch->max_access_slots +
            cpu->uarch->max_branch_slots;
    if (kind == KIND_SYSTEM)
        bound = BOUND_SYSTEM;

    struct block *b = exec_zeroed(cpu, sizeof(*b) + (n + 1) * sizeof(struct op), NULL);
    b->physical = physical;
    b->rip = cpu->rip;
    b->bound = bound;
    b->second = second_page;
    b->mode = x->mode;
    b->n = n;
    b->end = rip;
    b->sum = end->before;
    b->bytes = offset - (linear & (PAGE_BYTES - 1));
    memcpy(b->op, ops, (n + 1) * sizeof(struct op));
    b->transition = b->few;
    b->transition_mask = FEW_TRANSITIONS - 1;
    if (cpu->profile->uarch.window) {
        for (unsigned i = 0; i < FEW_TRANSITIONS; i++)
            b->few[i].from = WINDOW_NEVER;
        if (kind == KIND_NORMAL || kind == KIND_BRANCH)
            b->flow = flow_of(cpu, steps, n, b);
    }
    if (kind == KIND_SYSTEM) {
        b->insn = exec_zeroed(cpu, sizeof(*b->insn), b);
        b->insn->z = d.z;
        memcpy(b->insn->op, d.o, sizeof(b->insn->op));
        memcpy(b->insn->bytes, d.bytes, sizeof(b->insn->bytes));
        b->insn->rip = cpu->rip;
    }
    return b;
}
