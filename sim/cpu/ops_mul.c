/* Multiplication and division. */
#include "sim/cpu/ops.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

/* The double-width result in rDX:rAX, or in AX for bytes. */
static void put_product(struct cpu *cpu, unsigned size, u128 v)
{
    if (size == 0) {
        put_u16(cpu, OFF(RAX), (u16)v);
        return;
    }
    reg_put(cpu, OFF(RAX), size, (u64)v & size_mask(size));
    reg_put(cpu, OFF(RDX), size, (u64)(v >> (8u << size)) & size_mask(size));
}

/* SF, ZF, AF and PF are undefined: SF, PF from the low half, ZF and AF clear, as Intel's processors
 * do. */
static void flags_product(struct cpu *cpu, u64 low, unsigned size, bool overflow)
{
    flags_logic(cpu, low, size);
    if (cpu->lazy.result == 0)
        flags_set_all(cpu, RFLAGS_PF);
    flags_set_cf_of(cpu, overflow, overflow);
}

HANDLER(op_mul)
{
    unsigned size = op->size;
    u128 v = (u128)source(cpu, op, size) * reg_get(cpu, OFF(RAX), size);
    put_product(cpu, size, v);
    flags_product(cpu, (u64)v, size, (v >> (8u << size)) != 0);
    NEXT;
}
static bool product_overflows(s128 v, unsigned size)
{
    return v != (s128)(s64)sign_extend((u64)v, size);
}
HANDLER(op_imul1)
{
    unsigned size = op->size;
    s128 v = (s128)(s64)sign_extend(source(cpu, op, size), size) *
             (s64)sign_extend(reg_get(cpu, OFF(RAX), size), size);
    put_product(cpu, size, (u128)v);
    flags_product(cpu, (u64)v, size, product_overflows(v, size));
    NEXT;
}
/* Of 32 and 64 bits the host says itself whether it overflows. */
#define MULTIPLY(T, S, size)                                                                       \
    static inline void multiply_##T(struct cpu *cpu, unsigned d, T a, T b)                         \
    {                                                                                              \
        S product;                                                                                 \
        bool overflow = __builtin_mul_overflow((S)a, (S)b, &product);                              \
        put_##T(cpu, d, (T)product);                                                               \
        flags_product(cpu, (T)product, size, overflow);                                            \
    }                                                                                              \
    static HANDLER(imul2_rr_##T)                                                                   \
    {                                                                                              \
        multiply_##T(cpu, op->d, get_##T(cpu, op->d), get_##T(cpu, op->s));                        \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(imul2_rm_##T)                                                                   \
    {                                                                                              \
        T b = (T)load_operand(cpu, op, sizeof(T));                                                 \
        multiply_##T(cpu, op->d, get_##T(cpu, op->d), b);                                          \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(imul3_rr_##T)                                                                   \
    {                                                                                              \
        multiply_##T(cpu, op->d, get_##T(cpu, op->s), (T)op->imm);                                 \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(imul3_rm_##T)                                                                   \
    {                                                                                              \
        T a = (T)load_operand(cpu, op, sizeof(T));                                                 \
        multiply_##T(cpu, op->d, a, (T)op->imm);                                                   \
        NEXT;                                                                                      \
    }
MULTIPLY(u32, s32, 2)
MULTIPLY(u64, s64, 3)

static HANDLER(imul2_any)
{
    unsigned size = op->size;
    s128 v = (s128)(s64)sign_extend(source(cpu, op, size), size) *
             (s64)sign_extend(reg_get(cpu, op->d, size), size);
    reg_put(cpu, op->d, size, (u64)v & size_mask(size));
    flags_product(cpu, (u64)v, size, product_overflows(v, size));
    NEXT;
}
/* The immediate is in imm, the source has form FORM_RR or FORM_RM. */
static HANDLER(imul3_any)
{
    unsigned size = op->size;
    s128 v = (s128)(s64)sign_extend(source(cpu, op, size), size) * (s64)op->imm;
    reg_put(cpu, op->d, size, (u64)v & size_mask(size));
    flags_product(cpu, (u64)v, size, product_overflows(v, size));
    NEXT;
}

op_table ops_imul2 = {[FORM_RR] = {imul2_any, imul2_any, imul2_rr_u32, imul2_rr_u64},
                      [FORM_RM] = {imul2_any, imul2_any, imul2_rm_u32, imul2_rm_u64}};
op_table ops_imul3 = {[FORM_RR] = {imul3_any, imul3_any, imul3_rr_u32, imul3_rr_u64},
                      [FORM_RM] = {imul3_any, imul3_any, imul3_rm_u32, imul3_rm_u64}};

static u128 dividend(const struct cpu *cpu, unsigned size)
{
    if (size == 0)
        return get_u16(cpu, OFF(RAX));
    return (u128)reg_get(cpu, OFF(RDX), size) << (8u << size) | reg_get(cpu, OFF(RAX), size);
}
static void put_quotient(struct cpu *cpu, unsigned size, u64 quotient, u64 remainder)
{
    if (size == 0) {
        put_u16(cpu, OFF(RAX), (u16)((quotient & 0xff) | (remainder & 0xff) << 8));
        return;
    }
    reg_put(cpu, OFF(RAX), size, quotient & size_mask(size));
    reg_put(cpu, OFF(RDX), size, remainder & size_mask(size));
}

/* The flags are undefined: left as they are. */
HANDLER(op_div)
{
    unsigned size = op->size;
    u64 divisor = source(cpu, op, size);
    u128 n = dividend(cpu, size);
    cpu->op = op;
    if (divisor == 0 || n / divisor > size_mask(size))
        cpu_fault(cpu, VEC_DE, 0);
    put_quotient(cpu, size, (u64)(n / divisor), (u64)(n % divisor));
    cpu_event(cpu, EV_SLOTS_HEAVY, 1);
    NEXT;
}
HANDLER(op_idiv)
{
    unsigned size = op->size;
    s64 divisor = (s64)sign_extend(source(cpu, op, size), size);
    unsigned unused = 128 - 2 * (8u << size);
    s128 n = (s128)(dividend(cpu, size) << unused) >> unused;
    cpu->op = op;
    if (divisor == 0)
        cpu_fault(cpu, VEC_DE, 0);
    /* By magnitudes: -2^127 / -1 would overflow in C. */
    u128 un = n < 0 ? -(u128)n : (u128)n;
    u64 ud = divisor < 0 ? -(u64)divisor : (u64)divisor;
    u128 q = un / ud;
    u64 r = (u64)(un % ud);
    bool negative = (n < 0) != (divisor < 0);
    u64 top = 1ULL << ((8u << size) - 1);
    if (q > top - !negative)
        cpu_fault(cpu, VEC_DE, 0);
    put_quotient(cpu, size, negative ? -(u64)q : (u64)q, n < 0 ? -r : r);
    cpu_event(cpu, EV_SLOTS_HEAVY, 1);
    NEXT;
}
