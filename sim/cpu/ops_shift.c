/* Shifts and rotates. */
#include "sim/cpu/ops.h"

/* The count is masked to five bits, six for 64-bit operands (SDM vol. 2 "SAL/SAR/SHL/SHR"). op->t:
 * the count is in CL; else imm. */
static unsigned count_of(const struct cpu *cpu, const struct op *op)
{
    unsigned c = op->t ? get_u8(cpu, OFF(RCX)) : (unsigned)op->imm;
    return c & (op->size == 3 ? 63 : 31);
}

static always_inline u64 shift(struct cpu *cpu, unsigned kind, u64 a, unsigned count, unsigned size)
{
    unsigned bits = 8u << size;
    u64 r;
    bool cf, of;
    switch (kind) {
    case SHIFT_SHL:
        r = count < bits ? a << count & size_mask(size) : 0;
        cf = count <= bits ? a >> (bits - count) & 1 : 0;
        of = cf != (r >> (bits - 1) & 1);
        break;
    case SHIFT_SHR:
        r = count < bits ? a >> count : 0;
        cf = count <= bits ? a >> (count - 1) & 1 : 0;
        /* Defined for a count of 1 as the operand's top bit; processors take the top two bits of
         * the result. */
        of = (r >> (bits - 1) ^ r >> (bits - 2)) & 1;
        break;
    default: {
        s64 v = (s64)sign_extend(a, size);
        r = (u64)(v >> (count < bits ? count : bits - 1)) & size_mask(size);
        cf = v >> (count - 1 < bits ? count - 1 : bits - 1) & 1;
        of = false;
        break;
    }
    }
    flags_logic(cpu, r, size);
    flags_set_cf_of(cpu, cf, of);
    return r;
}

/* Rotates change only CF and OF. OF is defined for a count of 1; for others the same formula holds
 * on Intel's and AMD's processors. */
static u64 rotate(struct cpu *cpu, unsigned kind, u64 a, unsigned count, unsigned size)
{
    unsigned bits = 8u << size;
    u64 r;
    if (kind == SHIFT_ROL || kind == SHIFT_ROR) {
        unsigned left = (kind == SHIFT_ROL ? count : bits - count % bits) % bits;
        r = left ? (a << left | a >> (bits - left)) & size_mask(size) : a;
        bool top = r >> (bits - 1) & 1;
        if (kind == SHIFT_ROL)
            flags_set_cf_of(cpu, r & 1, (r & 1) != top);
        else
            flags_set_cf_of(cpu, top, top != (r >> (bits - 2) & 1));
        return r;
    }
    /* Through carry: bits + 1 wide. */
    count %= bits + 1;
    bool cf = flag_cf(cpu);
    r = a;
    for (unsigned i = 0; i < count; i++) {
        bool out;
        if (kind == SHIFT_RCL) {
            out = r >> (bits - 1) & 1;
            r = (r << 1 | cf) & size_mask(size);
        } else {
            out = r & 1;
            r = r >> 1 | (u64)cf << (bits - 1);
        }
        cf = out;
    }
    bool top = r >> (bits - 1) & 1;
    flags_set_cf_of(cpu, cf, kind == SHIFT_RCL ? cf != top : top != (r >> (bits - 2) & 1));
    return r;
}

/* A count of 0 changes no flag; memory is written all the same. */
HANDLER(op_shift)
{
    unsigned count = count_of(cpu, op);
    struct target t;
    u64 a = target_open(cpu, op, op->size, &t), r = a;
    if (count)
        r = op->cc >= SHIFT_SHL ? shift(cpu, op->cc, a, count, op->size)
                                : rotate(cpu, op->cc, a, count, op->size);
    target_put(cpu, op, op->size, &t, r);
    NEXT;
}

/* The frequent ones: a register by a constant that is not 0. */
#define SHIFT_CONSTANT(T, kind, size)                                                              \
    static HANDLER(kind##_##T)                                                                     \
    {                                                                                              \
        put_##T(cpu, op->d, (T)shift(cpu, kind, get_##T(cpu, op->d), (unsigned)op->imm, size));    \
        NEXT;                                                                                      \
    }
SHIFT_CONSTANT(u32, SHIFT_SHL, 2)
SHIFT_CONSTANT(u32, SHIFT_SHR, 2)
SHIFT_CONSTANT(u32, SHIFT_SAR, 2)
SHIFT_CONSTANT(u64, SHIFT_SHL, 3)
SHIFT_CONSTANT(u64, SHIFT_SHR, 3)
SHIFT_CONSTANT(u64, SHIFT_SAR, 3)
op_fn shift_constant(const struct op *op)
{
    static const op_fn handlers[][2] = {
        [SHIFT_SHL] = {SHIFT_SHL_u32, SHIFT_SHL_u64},
        [SHIFT_SHR] = {SHIFT_SHR_u32, SHIFT_SHR_u64},
        [SHIFT_SAR] = {SHIFT_SAR_u32, SHIFT_SAR_u64},
    };
    bool plain = op->form == FORM_RR && !op->t && op->cc >= SHIFT_SHL && op->size >= 2;
    return plain && op->imm > 0 && op->imm < 8u << op->size ? handlers[op->cc][op->size - 2]
                                                            : op_shift;
}

/* SHLD, SHRD (op->cc: SHIFT_SHL, SHIFT_SHR). With 16-bit operands and a count above 16 the result
 * is undefined; processors shift destination:source:destination. */
HANDLER(op_shift_double)
{
    unsigned count = count_of(cpu, op), bits = 8u << op->size;
    struct target t;
    u64 a = target_open(cpu, op, op->size, &t), b = reg_get(cpu, op->s, op->size), r = a;
    if (count) {
        bool cf;
        if (op->size == 1) {
            u64 wide = a << 32 | b << 16 | a;
            if (op->cc == SHIFT_SHL) {
                r = (u64)(wide >> (32 - count)) & 0xffff;
                cf = (wide >> (48 - count)) & 1;
            } else {
                r = (u64)(wide >> count) & 0xffff;
                cf = (wide >> (count - 1)) & 1;
            }
        } else if (op->cc == SHIFT_SHL) {
            r = (a << count | b >> (bits - count)) & size_mask(op->size);
            cf = a >> (bits - count) & 1;
        } else {
            r = (a >> count | b << (bits - count)) & size_mask(op->size);
            cf = a >> (count - 1) & 1;
        }
        bool of = ((a ^ r) >> (bits - 1)) & 1;
        flags_logic(cpu, r, op->size);
        flags_set_cf_of(cpu, cf, of);
    }
    target_put(cpu, op, op->size, &t, r);
    NEXT;
}
