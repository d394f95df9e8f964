/* The frame of vector instructions: see vector.h. */
#include "sim/cpu/ops.h"
#include "sim/cpu/system.h"
#include "sim/cpu/vector.h"
#include "sim/fpu/text.h"

#define EXCEPTIONS    0x3f
#define MXCSR_MASKS   7 /* shift of the masks against the flags */
#define XCR0_SSE_AVX  6
#define SIGN_EXPONENT 0xffff /* of a register that MMX has written */

/* ---- decoding ---- */

static const struct vector_recipe *find(ZydisMnemonic m)
{
    const struct vector_recipe *r = &vector_integer[m];
    if (r->fn || r->handler)
        return r;
    r = &vector_float[m];
    return r->fn || r->handler ? r : NULL;
}

bool vector_is_move(ZydisMnemonic m)
{
    const struct vector_recipe *r = find(m);
    return r && r->rules & VR_MOVE;
}

/* The operand's byte; notes what it means for the whole. */
static uint8_t operand_of(struct op *op, const ZydisDecodedInstruction *z,
                          const ZydisDecodedOperand *o, uint32_t mode)
{
    if (o->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        decode_memory(op, z, o, mode);
        op->from = (uint8_t)(o->size / 8);
        if (!op->form)
            op->form = op->from;
        if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
            op->index = OFF_NONE;
            op->vector_c = OPERAND_VECTOR | (ZydisRegisterGetId(o->mem.index) & OPERAND_NUMBER);
        }
        return OPERAND_MEMORY;
    }
    if (o->type != ZYDIS_OPERAND_TYPE_REGISTER)
        return OPERAND_NONE;
    ZydisRegister r = o->reg.value;
    switch (ZydisRegisterGetClass(r)) {
    case ZYDIS_REGCLASS_MMX:
        op->vector_state |= STATE_MMX;
        return OPERAND_MMX | ZydisRegisterGetId(r);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
        op->vector_state |= STATE_SSE;
        return OPERAND_VECTOR | (ZydisRegisterGetId(r) & OPERAND_NUMBER);
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        op->form = (uint8_t)(o->size / 8);
        return OPERAND_GENERAL | register_offset(r) / 8;
    default:
        return OPERAND_NONE;
    }
}

/* Which operand has which part. */
static void set_operands(struct op *op, const struct vector_recipe *r, bool vex,
                         const uint8_t *operand, unsigned n, bool count)
{
    op->d = r->rules & VR_COMPARE ? OPERAND_NONE : operand[0];
    op->t = operand[0];
    op->s = operand[n > 1];
    if (count) {
        op->t = operand[n > 1];
        op->s = OPERAND_COUNT;
    } else if (vex && n > 2) {
        op->t = operand[1];
        op->s = operand[2];
        if (!op->vector_c)
            op->vector_c = r->rules & VR_C_IS_D ? operand[0] : n > 3 ? operand[3] : OPERAND_NONE;
    } else if (!vex && r->rules & VR_XMM0) {
        op->vector_c = OPERAND_VECTOR;
    }
    /* A destination that is not a vector register is no source. */
    if ((op->t & OPERAND_KIND) == OPERAND_MEMORY || (op->t & OPERAND_KIND) == OPERAND_GENERAL)
        op->t = OPERAND_NONE;
}

HANDLER(op_vector);

bool vector_decode(struct cpu *cpu, struct op *op, const ZydisDecodedInstruction *z,
                   const ZydisDecodedOperand *o, uint32_t mode)
{
    const struct vector_recipe *r = find(z->mnemonic);
    bool vex = z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    if (!r || z->meta.category == ZYDIS_CATEGORY_STRINGOP ||
        (!vex && z->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY))
        return false;
    if (!instruction_announced(cpu, z) || (vex && (mode & MODE_REAL))) {
        op->fn = op_undefined;
        return true;
    }
    uint8_t operand[4] = {0};
    unsigned n = 0;
    bool count = false;
    for (unsigned i = 0; i < z->operand_count_visible && n < 4; i++)
        if (o[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            op->vector_imm = (uint8_t)o[i].imm.value.u;
            count = r->rules & VR_COUNT;
        } else {
            operand[n++] = operand_of(op, z, &o[i], mode);
        }
    for (unsigned i = z->operand_count_visible; i < z->operand_count; i++)
        if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            decode_memory(op, z, &o[i], mode); /* MASKMOVDQU's */
        else if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER && o[i].reg.value == ZYDIS_REGISTER_RAX)
            op->form = 8; /* PCMPESTRI's lengths */
    if (r->rules & VR_SSE)
        op->vector_state |= STATE_SSE;
    op->size = vex ? (z->avx.vector_length == 256 ? 5 : 4)
               : op->vector_state & STATE_SSE || !(op->vector_state & STATE_MMX) ? 4
                                                                                 : 3;
    set_operands(op, r, vex, operand, n, count);
    bool load = op->s == OPERAND_MEMORY, store = op->d == OPERAND_MEMORY;
    op->vector = load && r->load     ? r->load
                 : store && r->store ? r->store
                 : n == 2 && r->imm  ? r->imm
                                     : r->fn;
    op->fn = r->handler ? r->handler : op_vector;
    if (vex)
        op->vector_state = STATE_VEX;
    else if (op->vector_state == 0 && !(r->rules & VR_NO_STATE))
        op->vector_state = z->meta.isa_ext == ZYDIS_ISA_EXT_MMX ? STATE_MMX : STATE_SSE;
    if (vex ? r->rules & VR_ALIGNED : op->from == 16 && !(r->rules & VR_UNALIGNED))
        op->vector_state |= STATE_ALIGNED;
    return true;
}

/* ---- the rules ---- */

/* SDM vol. 2 "Exceptions for VEX-encoded instructions" and the tables of exception types; vol. 3
 * "MMX Instructions and Register Set", "Effect of ... CR0.EM, MP, TS". */
void vector_ready(struct cpu *cpu, const struct op *op)
{
    unsigned state = op->vector_state;
    if (state & STATE_VEX) {
        if (!(cpu->cr4 & CR4_OSXSAVE) || (cpu->system->xcr0 & XCR0_SSE_AVX) != XCR0_SSE_AVX)
            cpu_fault(cpu, VEC_UD, 0);
    } else if (state & (STATE_MMX | STATE_SSE)) {
        if (cpu->cr0 & CR0_EM)
            cpu_fault(cpu, VEC_UD, 0);
        if ((state & STATE_SSE) && !(cpu->cr4 & CR4_OSFXSR))
            cpu_fault(cpu, VEC_UD, 0);
    } else {
        return;
    }
    if (cpu->cr0 & CR0_TS)
        cpu_fault(cpu, VEC_NM, 0);
    if (state & STATE_MMX)
        x87_check_pending(cpu);
}

uint64_t vector_address(struct cpu *cpu, const struct op *op, enum access access)
{
    u64 a = ea(cpu, op, op->from, access);
    if ((op->vector_state & STATE_ALIGNED) && (a & (op->from - 1u)))
        cpu_gp0(cpu);
    return a;
}

void vector_raise(struct cpu *cpu, uint32_t raised)
{
    bool unmasked = raised & ~(cpu->fpu.mxcsr >> MXCSR_MASKS) & EXCEPTIONS;
    cpu->fpu.mxcsr |= raised & EXCEPTIONS;
    if (unmasked)
        cpu_fault(cpu, cpu->cr4 & CR4_OSXMMEXCPT ? VEC_XM : VEC_UD, 0);
}

/* ---- execution ---- */

static inline const union vector *get(struct cpu *cpu, const struct op *op, unsigned operand,
                                      union vector *room)
{
    unsigned i = operand & OPERAND_NUMBER;
    switch (operand & OPERAND_KIND) {
    case OPERAND_VECTOR:
        return &cpu->fpu.ymm[i];
    case OPERAND_MMX:
        *room = (union vector){.u64 = {cpu->fpu.r[i].mantissa}};
        return room;
    case OPERAND_GENERAL:
        *room = (union vector){.u64 = {op->form == 4 ? (u32)cpu->r[i] : cpu->r[i]}};
        return room;
    case OPERAND_MEMORY:
        memset(room, 0, sizeof(*room));
        load_bytes(cpu, op, vector_address(cpu, op, ACCESS_READ), op->from, room);
        return room;
    case OPERAND_COUNT:
        *room = (union vector){.u64 = {op->vector_imm}};
        return room;
    default:
        *room = (union vector){0};
        return room;
    }
}

static inline void put(struct cpu *cpu, const struct op *op, const union vector *v)
{
    unsigned i = op->d & OPERAND_NUMBER;
    switch (op->d & OPERAND_KIND) {
    case OPERAND_VECTOR:
        if (op->vector_state & STATE_VEX) {
            cpu->fpu.ymm[i] = *v;
            if (op->size < 5)
                cpu->fpu.ymm[i].u64[2] = cpu->fpu.ymm[i].u64[3] = 0;
        } else {
            memcpy(&cpu->fpu.ymm[i], v, 16);
        }
        break;
    case OPERAND_MMX:
        cpu->fpu.r[i] = (struct x87_register){v->u64[0], SIGN_EXPONENT};
        break;
    case OPERAND_GENERAL:
        cpu->r[i] = op->form == 4 ? v->u32[0] : v->u64[0];
        break;
    case OPERAND_MEMORY:
        store_bytes(cpu, op, vector_address(cpu, op, ACCESS_WRITE), op->from, v);
        break;
    default:
        break;
    }
}

/* SDM vol. 1 "MMX Instructions and the x87 FPU Tag Word". */
static inline void mmx_used(struct cpu *cpu, const struct op *op)
{
    if (op->vector_state & STATE_MMX) {
        cpu->fpu.top = 0;
        cpu->fpu.valid = 0xff;
    }
}

HANDLER(op_vector)
{
    union vector d = {0}, rooms[3];
    cpu->op = op;
    vector_ready(cpu, op);
    struct vector_how how = {
        .bytes = 1u << op->size, .width = op->form, .imm = op->vector_imm, .mxcsr = cpu->fpu.mxcsr};
    const union vector *a = get(cpu, op, op->t, &rooms[0]);
    const union vector *b = get(cpu, op, op->s, &rooms[1]);
    if (op->vector_c)
        how.c = get(cpu, op, op->vector_c, &rooms[2]);
    op->vector(&d, a, b, &how);
    if (unlikely(how.raised)) {
        mmx_used(cpu, op); /* though #XM follows: seen on a processor, the manual is silent */
        vector_raise(cpu, how.raised);
    }
    put(cpu, op, &d);
    mmx_used(cpu, op);
    if (how.sets_flags)
        flags_set_all(cpu, how.rflags);
    NEXT;
}

/* ---- handlers of their own ---- */

/* SDM vol. 2 "LDMXCSR": #GP for reserved bits. */
HANDLER(op_ldmxcsr)
{
    u32 v = 0;
    cpu->op = op;
    vector_ready(cpu, op);
    load_bytes(cpu, op, vector_address(cpu, op, ACCESS_READ), 4, &v);
    if (v & ~(u32)MXCSR_MASK)
        cpu_gp0(cpu);
    cpu->fpu.mxcsr = v;
    NEXT;
}
HANDLER(op_stmxcsr)
{
    cpu->op = op;
    vector_ready(cpu, op);
    store_bytes(cpu, op, vector_address(cpu, op, ACCESS_WRITE), 4, &cpu->fpu.mxcsr);
    NEXT;
}
/* SDM vol. 3 "Effect of MMX, x87 FPU, FXSAVE, and FXRSTOR Instructions on the x87 FPU Tag Word" and
 * the table "Effects of MMX Instructions on x87 FPU State": all registers are empty, TOP is 0. */
HANDLER(op_emms)
{
    cpu->op = op;
    vector_ready(cpu, op);
    cpu->fpu.top = 0;
    cpu->fpu.valid = 0;
    NEXT;
}
HANDLER(op_vzero)
{
    cpu->op = op;
    vector_ready(cpu, op);
    unsigned n = (exec_of(cpu)->mode & MODE_CODE) == MODE_64 ? 16 : 8;
    for (unsigned i = 0; i < n; i++) {
        union vector *v = &cpu->fpu.ymm[i];
        v->u64[2] = v->u64[3] = 0;
        if (op->size == 5)
            v->u64[0] = v->u64[1] = 0;
    }
    NEXT;
}

/* ---- masked accesses ---- */

/* Only the elements that the mask selects are accessed, and may fault, the first of them first. */
struct masked {
    struct span span; /* from the first to the last of them */
    unsigned first;   /* byte */
    u8 selected[32];
};
/* False: none is. */
static bool masked_open(struct cpu *cpu, const struct op *op, const union vector *mask,
                        unsigned element, enum access access, struct masked *m)
{
    struct span one;
    m->span.n = 0;
    for (unsigned i = 0; i < 1u << op->size; i += element) {
        bool wanted = mask->u8[i + element - 1] >> 7;
        memset(&m->selected[i], wanted, element);
        if (!wanted)
            continue;
        u64 a = (ea_offset(cpu, op) + i) & op->mask;
        if (op->complex)
            a = segment_linear(cpu, op->seg, a, element, access);
        span_open(cpu, &one, op, a, element, access, cpu->cpl == 3);
        if (m->span.n == 0) {
            m->span = one;
            m->first = i;
        } else if (m->span.first == m->span.n) {
            /* All in the first page up to here; this one may be in the second. */
            bool beyond = (one.linear ^ m->span.linear) >> PAGE_SHIFT_4K;
            m->span.n = m->span.first = i + element - m->first;
            if (beyond)
                m->span.first = PAGE_BYTES - (m->span.linear & (PAGE_BYTES - 1));
            else if (one.first < one.n)
                m->span.first -= one.n - one.first;
            m->span.page[1] = beyond ? one.page[0] : one.page[1];
        } else {
            m->span.n = i + element - m->first;
        }
    }
    return m->span.n;
}
static void masked_store(struct cpu *cpu, const struct op *op, const union vector *mask,
                         unsigned element, const union vector *v)
{
    struct masked m;
    if (masked_open(cpu, op, mask, element, ACCESS_WRITE, &m))
        span_write_masked(cpu, &m.span, &v->u8[m.first], &m.selected[m.first]);
}

/* MASKMOVQ, MASKMOVDQU. What they do with an empty mask the manual leaves open: nothing. */
HANDLER(op_masked_bytes)
{
    union vector rooms[2];
    cpu->op = op;
    vector_ready(cpu, op);
    const union vector *data = get(cpu, op, op->t, &rooms[0]);
    masked_store(cpu, op, get(cpu, op, op->s, &rooms[1]), 1, data);
    mmx_used(cpu, op);
    NEXT;
}

/* VMASKMOVPS, VPMASKMOVD and the like: a load has the mask as first source, a store as second
 * operand. */
static void masked_move(struct cpu *cpu, const struct op *op, unsigned element)
{
    cpu->op = op;
    vector_ready(cpu, op);
    union vector room;
    const union vector *mask = get(cpu, op, op->t, &room);
    if (op->d == OPERAND_MEMORY) {
        masked_store(cpu, op, mask, element, get(cpu, op, op->s, &room));
        return;
    }
    struct masked m;
    union vector v = {0};
    if (masked_open(cpu, op, mask, element, ACCESS_READ, &m)) {
        span_read_bytes(cpu, &m.span, &v.u8[m.first]);
        for (unsigned i = 0; i < sizeof(v); i++)
            if (i >= 1u << op->size || !m.selected[i])
                v.u8[i] = 0;
    }
    put(cpu, op, &v);
}
HANDLER(op_masked_move32)
{
    masked_move(cpu, op, 4);
    NEXT;
}
HANDLER(op_masked_move64)
{
    masked_move(cpu, op, 8);
    NEXT;
}

/* ---- texts ---- */

/* PCMPESTRI and its kin. Explicit lengths are magnitudes, and no more than a register holds. */
static unsigned explicit_length(const struct cpu *cpu, const struct op *op, enum reg r)
{
    s64 v = op->form == 8 ? (s64)cpu->r[r] : (s32)cpu->r[r];
    u64 magnitude = v < 0 ? -(u64)v : (u64)v;
    unsigned most = text_elements(op->vector_imm);
    return magnitude < most ? (unsigned)magnitude : most;
}
static u32 compare_texts(struct cpu *cpu, const struct op *op, bool explicit)
{
    union vector rooms[2];
    u32 rflags;
    unsigned imm = op->vector_imm;
    cpu->op = op;
    vector_ready(cpu, op);
    const union vector *a = get(cpu, op, op->t, &rooms[0]);
    const union vector *b = get(cpu, op, op->s, &rooms[1]);
    u32 found = text_compare(
        &(struct text){a, explicit ? explicit_length(cpu, op, RAX) : text_length(a, imm)},
        &(struct text){b, explicit ? explicit_length(cpu, op, RDX) : text_length(b, imm)}, imm,
        &rflags);
    flags_set_all(cpu, rflags);
    return found;
}
#define IMM_LAST   (1 << 6) /* the index is that of the last one found */
#define IMM_EXPAND (1 << 6) /* the mask has elements of all ones, not bits */
static void put_index(struct cpu *cpu, const struct op *op, u32 found)
{
    if (found == 0)
        cpu->r[RCX] = text_elements(op->vector_imm);
    else
        cpu->r[RCX] = op->vector_imm & IMM_LAST ? 31 - (unsigned)__builtin_clz(found)
                                                : (unsigned)__builtin_ctz(found);
}
static void put_mask(struct cpu *cpu, const struct op *op, u32 found)
{
    unsigned n = text_elements(op->vector_imm);
    union vector v = {.u64 = {found}};
    if (op->vector_imm & IMM_EXPAND)
        for (unsigned i = 0; i < 16; i++)
            v.u8[i] = found >> (i * n / 16) & 1 ? 0xff : 0;
    memcpy(&cpu->fpu.ymm[0], &v, op->vector_state & STATE_VEX ? sizeof(v) : 16);
}
HANDLER(op_pcmpestri)
{
    put_index(cpu, op, compare_texts(cpu, op, true));
    NEXT;
}
HANDLER(op_pcmpestrm)
{
    put_mask(cpu, op, compare_texts(cpu, op, true));
    NEXT;
}
HANDLER(op_pcmpistri)
{
    put_index(cpu, op, compare_texts(cpu, op, false));
    NEXT;
}
HANDLER(op_pcmpistrm)
{
    put_mask(cpu, op, compare_texts(cpu, op, false));
    NEXT;
}

/* ---- gathers ---- */

/* SDM vol. 2 "VGATHERDPS/VGATHERQPS" and its kin: elements are loaded from the lowest on; each one
 * that is done has its mask cleared, so that a fault leaves what the instruction goes on from. */
static void gather(struct cpu *cpu, const struct op *op, unsigned index_bytes, unsigned data_bytes)
{
    cpu->op = op;
    vector_ready(cpu, op);
    union vector *d = &cpu->fpu.ymm[op->d & OPERAND_NUMBER];
    union vector *mask = &cpu->fpu.ymm[op->s & OPERAND_NUMBER];
    const union vector *index = &cpu->fpu.ymm[op->vector_c & OPERAND_NUMBER];
    unsigned n = (1u << op->size) / (index_bytes > data_bytes ? index_bytes : data_bytes);
    for (unsigned i = 0; i < n; i++) {
        bool wanted = mask->u8[i * data_bytes + data_bytes - 1] >> 7;
        if (wanted) {
            u64 by = index_bytes == 8 ? index->u64[i] : (u64)(s64)(s32)index->u32[i];
            u64 a = ((u64)op->disp + get_u64(cpu, op->base) + (by << op->shift)) & op->mask;
            if (op->complex)
                a = segment_linear(cpu, op->seg, a, data_bytes, ACCESS_READ);
            u64 v = load(cpu, op, a, data_bytes);
            memcpy(&d->u8[i * data_bytes], &v, data_bytes);
        }
        memset(&mask->u8[i * data_bytes], 0, data_bytes);
    }
    memset(&d->u8[n * data_bytes], 0, sizeof(*d) - n * data_bytes);
    memset(mask, 0, sizeof(*mask));
}
HANDLER(op_gather_d32)
{
    gather(cpu, op, 4, 4);
    NEXT;
}
HANDLER(op_gather_d64)
{
    gather(cpu, op, 4, 8);
    NEXT;
}
HANDLER(op_gather_q32)
{
    gather(cpu, op, 8, 4);
    NEXT;
}
HANDLER(op_gather_q64)
{
    gather(cpu, op, 8, 8);
    NEXT;
}
