/* ADD, OR, ADC, SBB, AND, SUB, XOR, CMP, TEST and MOV: a handler for each operand form and size. */
#include "sim/cpu/ops.h"

/* The carries out of each bit of a + b (+ carry) and the borrows of a - b (- borrow). */
#define CARRIES(a, b, r) (((a) & (b)) | (((a) | (b)) & ~(r)))
#define BORROWS(a, b, r) ((~(a) & (b)) | ((~(a) | (b)) & (r)))

#define SET_ARITH(T, S, r, vector)                                                                 \
    do {                                                                                           \
        T v_ = (T)(vector);                                                                        \
        cpu->lazy.result = (u64)(s64)(S)(r);                                                       \
        cpu->lazy.carry = (u64)v_ << (64 - 8 * sizeof(T));                                         \
        cpu->lazy.aux = v_ & LAZY_AF;                                                              \
    } while (0)
#define SET_LOGIC(S, r)                                                                            \
    do {                                                                                           \
        cpu->lazy.result = (u64)(s64)(S)(r);                                                       \
        cpu->lazy.carry = 0;                                                                       \
        cpu->lazy.aux = 0;                                                                         \
    } while (0)

#define DEFINE_MATH(T, S)                                                                          \
    static inline T add_##T(struct cpu *cpu, T a, T b)                                             \
    {                                                                                              \
        T r = (T)(a + b);                                                                          \
        SET_ARITH(T, S, r, CARRIES(a, b, r));                                                      \
        return r;                                                                                  \
    }                                                                                              \
    static inline T adc_##T(struct cpu *cpu, T a, T b)                                             \
    {                                                                                              \
        T r = (T)(a + b + flag_cf(cpu));                                                           \
        SET_ARITH(T, S, r, CARRIES(a, b, r));                                                      \
        return r;                                                                                  \
    }                                                                                              \
    static inline T sub_##T(struct cpu *cpu, T a, T b)                                             \
    {                                                                                              \
        T r = (T)(a - b);                                                                          \
        SET_ARITH(T, S, r, BORROWS(a, b, r));                                                      \
        return r;                                                                                  \
    }                                                                                              \
    static inline T sbb_##T(struct cpu *cpu, T a, T b)                                             \
    {                                                                                              \
        T r = (T)(a - b - flag_cf(cpu));                                                           \
        SET_ARITH(T, S, r, BORROWS(a, b, r));                                                      \
        return r;                                                                                  \
    }                                                                                              \
    static inline T and_##T(struct cpu *cpu, T a, T b)                                             \
    {                                                                                              \
        T r = a & b;                                                                               \
        SET_LOGIC(S, r);                                                                           \
        return r;                                                                                  \
    }                                                                                              \
    static inline T or_##T(struct cpu *cpu, T a, T b)                                              \
    {                                                                                              \
        T r = a | b;                                                                               \
        SET_LOGIC(S, r);                                                                           \
        return r;                                                                                  \
    }                                                                                              \
    static inline T xor_##T(struct cpu *cpu, T a, T b)                                             \
    {                                                                                              \
        T r = a ^ b;                                                                               \
        SET_LOGIC(S, r);                                                                           \
        return r;                                                                                  \
    }
DEFINE_MATH(u8, s8)
DEFINE_MATH(u16, s16)
DEFINE_MATH(u32, s32)
DEFINE_MATH(u64, s64)

/* A handler that reads b from memory and then does what: when the operand is near, without a call.
 */
#define LOADS(name, T, what)                                                                       \
    static __attribute__((noinline)) HANDLER(name##_far)                                           \
    {                                                                                              \
        T b = (T)load_far(cpu, op, ea(cpu, op, sizeof(T), ACCESS_READ), sizeof(T));                \
        what;                                                                                      \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(name)                                                                           \
    {                                                                                              \
        u64 b_;                                                                                    \
        if (unlikely(op->complex) || !load_near(cpu, ea_offset(cpu, op), sizeof(T), &b_))          \
            return name##_far(cpu, op);                                                            \
        T b = (T)b_;                                                                               \
        what;                                                                                      \
        NEXT;                                                                                      \
    }
/* Likewise one that writes v. */
#define STORES(name, T, v)                                                                         \
    static __attribute__((noinline)) HANDLER(name##_far)                                           \
    {                                                                                              \
        store_far(cpu, op, ea(cpu, op, sizeof(T), ACCESS_WRITE), sizeof(T), v);                    \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(name)                                                                           \
    {                                                                                              \
        if (unlikely(op->complex) || !store_near(cpu, ea_offset(cpu, op), sizeof(T), v))           \
            return name##_far(cpu, op);                                                            \
        NEXT;                                                                                      \
    }
/* And one that reads a and writes v made of it. */
#define MODIFIES(name, T, v)                                                                       \
    static __attribute__((noinline)) HANDLER(name##_far)                                           \
    {                                                                                              \
        struct rmw m;                                                                              \
        T a = (T)rmw_begin(cpu, op, ea(cpu, op, sizeof(T), ACCESS_WRITE), sizeof(T), &m);          \
        rmw_end(cpu, &m, sizeof(T), v);                                                            \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(name)                                                                           \
    {                                                                                              \
        uint8_t *host = NULL;                                                                      \
        if (likely(!op->complex))                                                                  \
            host = rmw_near(cpu, ea_offset(cpu, op), sizeof(T));                                   \
        if (unlikely(!host))                                                                       \
            return name##_far(cpu, op);                                                            \
        T a = (T)host_get(host, sizeof(T)), r = v;                                                 \
        memcpy(host, &r, sizeof(T));                                                               \
        NEXT;                                                                                      \
    }

#define DEFINE_RMW(name, T)                                                                        \
    static HANDLER(name##_rr_##T)                                                                  \
    {                                                                                              \
        put_##T(cpu, op->d, name##_##T(cpu, get_##T(cpu, op->d), get_##T(cpu, op->s)));            \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(name##_ri_##T)                                                                  \
    {                                                                                              \
        put_##T(cpu, op->d, name##_##T(cpu, get_##T(cpu, op->d), (T)op->imm));                     \
        NEXT;                                                                                      \
    }                                                                                              \
    LOADS(name##_rm_##T, T, put_##T(cpu, op->d, name##_##T(cpu, get_##T(cpu, op->d), b)))          \
    MODIFIES(name##_mr_##T, T, name##_##T(cpu, a, get_##T(cpu, op->s)))                            \
    MODIFIES(name##_mi_##T, T, name##_##T(cpu, a, (T)op->imm))

/* CMP and TEST are SUB and AND that keep only the flags. */
#define DEFINE_COMPARE(name, math, T)                                                              \
    static HANDLER(name##_rr_##T)                                                                  \
    {                                                                                              \
        math##_##T(cpu, get_##T(cpu, op->d), get_##T(cpu, op->s));                                 \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(name##_ri_##T)                                                                  \
    {                                                                                              \
        math##_##T(cpu, get_##T(cpu, op->d), (T)op->imm);                                          \
        NEXT;                                                                                      \
    }                                                                                              \
    LOADS(name##_rm_##T, T, math##_##T(cpu, get_##T(cpu, op->d), b))                               \
    LOADS(name##_mr_##T, T, math##_##T(cpu, b, get_##T(cpu, op->s)))                               \
    LOADS(name##_mi_##T, T, math##_##T(cpu, b, (T)op->imm))

#define DEFINE_MOV(T)                                                                              \
    static HANDLER(mov_rr_##T)                                                                     \
    {                                                                                              \
        put_##T(cpu, op->d, get_##T(cpu, op->s));                                                  \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(mov_ri_##T)                                                                     \
    {                                                                                              \
        put_##T(cpu, op->d, (T)op->imm);                                                           \
        NEXT;                                                                                      \
    }                                                                                              \
    LOADS(mov_rm_##T, T, put_##T(cpu, op->d, b))                                                   \
    STORES(mov_mr_##T, T, get_##T(cpu, op->s))                                                     \
    STORES(mov_mi_##T, T, op->imm)

#define SIZES(name, form)                                                                          \
    {                                                                                              \
        name##_##form##_u8, name##_##form##_u16, name##_##form##_u32, name##_##form##_u64          \
    }
#define TABLE(name)                                                                                \
    op_table ops_##name = {[FORM_RR] = SIZES(name, rr),                                            \
                           [FORM_RI] = SIZES(name, ri),                                            \
                           [FORM_RM] = SIZES(name, rm),                                            \
                           [FORM_MR] = SIZES(name, mr),                                            \
                           [FORM_MI] = SIZES(name, mi)};

#define FAMILY(name)                                                                               \
    DEFINE_RMW(name, u8)                                                                           \
    DEFINE_RMW(name, u16) DEFINE_RMW(name, u32) DEFINE_RMW(name, u64) TABLE(name)
FAMILY(add)
FAMILY(or)
FAMILY(adc)
FAMILY(sbb)
FAMILY(and)
FAMILY(sub)
FAMILY(xor)

#define COMPARE_FAMILY(name, math)                                                                 \
    DEFINE_COMPARE(name, math, u8)                                                                 \
    DEFINE_COMPARE(name, math, u16)                                                                \
    DEFINE_COMPARE(name, math, u32) DEFINE_COMPARE(name, math, u64) TABLE(name)
COMPARE_FAMILY(cmp, sub)
COMPARE_FAMILY(test, and)

DEFINE_MOV(u8)
DEFINE_MOV(u16)
DEFINE_MOV(u32)
DEFINE_MOV(u64)
TABLE(mov)

/* INC and DEC keep CF. */
static inline void flags_keep_cf(struct cpu *cpu, u64 a, u64 r, u64 vector, unsigned size)
{
    (void)a;
    bool cf = flag_cf(cpu);
    u64 top = vector << (64 - (8u << size));
    cpu->lazy.result = sign_extend(r, size);
    cpu->lazy.aux = vector & LAZY_AF;
    flags_set_cf_of(cpu, cf, ((top ^ (top << 1)) >> 63) & 1);
}
static inline u64 inc(struct cpu *cpu, u64 a, unsigned size)
{
    u64 r = (a + 1) & size_mask(size);
    flags_keep_cf(cpu, a, r, CARRIES(a, 1, r), size);
    return r;
}
static inline u64 dec(struct cpu *cpu, u64 a, unsigned size)
{
    u64 r = (a - 1) & size_mask(size);
    flags_keep_cf(cpu, a, r, BORROWS(a, 1, r), size);
    return r;
}
#define DEFINE_STEP(name)                                                                          \
    HANDLER(op_##name)                                                                             \
    {                                                                                              \
        struct target t;                                                                           \
        u64 a = target_open(cpu, op, op->size, &t);                                                \
        target_put(cpu, op, op->size, &t, name(cpu, a, op->size));                                 \
        NEXT;                                                                                      \
    }                                                                                              \
    HANDLER(op_##name##32)                                                                         \
    {                                                                                              \
        put_u32(cpu, op->d, (u32)name(cpu, get_u32(cpu, op->d), 2));                               \
        NEXT;                                                                                      \
    }                                                                                              \
    HANDLER(op_##name##64)                                                                         \
    {                                                                                              \
        put_u64(cpu, op->d, name(cpu, get_u64(cpu, op->d), 3));                                    \
        NEXT;                                                                                      \
    }
DEFINE_STEP(inc)
DEFINE_STEP(dec)

static inline void flags_sub(struct cpu *cpu, u64 a, u64 b, u64 r, unsigned size)
{
    u64 vector = BORROWS(a, b, r);
    cpu->lazy.result = sign_extend(r, size);
    cpu->lazy.carry = vector << (64 - (8u << size));
    cpu->lazy.aux = vector & LAZY_AF;
}

HANDLER(op_neg)
{
    struct target t;
    u64 a = target_open(cpu, op, op->size, &t);
    u64 r = (0 - a) & size_mask(op->size);
    flags_sub(cpu, 0, a, r, op->size);
    target_put(cpu, op, op->size, &t, r);
    NEXT;
}

HANDLER(op_not)
{
    struct target t;
    u64 a = target_open(cpu, op, op->size, &t);
    target_put(cpu, op, op->size, &t, ~a & size_mask(op->size));
    NEXT;
}

HANDLER(op_xadd)
{
    struct target t;
    u64 a = target_open(cpu, op, op->size, &t), b = reg_get(cpu, op->s, op->size);
    u64 r = (a + b) & size_mask(op->size), vector = CARRIES(a, b, r);
    cpu->lazy.result = sign_extend(r, op->size);
    cpu->lazy.carry = vector << (64 - (8u << op->size));
    cpu->lazy.aux = vector & LAZY_AF;
    reg_put(cpu, op->s, op->size, a);
    target_put(cpu, op, op->size, &t, r);
    NEXT;
}

/* SDM vol. 2 "CMPXCHG": the destination is written in either case. In the 32-bit register form the
 * accumulator's or the destination's upper half is cleared as they are written. */
HANDLER(op_cmpxchg)
{
    struct target t;
    u64 old = target_open(cpu, op, op->size, &t), acc = reg_get(cpu, OFF(RAX), op->size);
    u64 r = (acc - old) & size_mask(op->size);
    flags_sub(cpu, acc, old, r, op->size);
    if (r == 0) {
        target_put(cpu, op, op->size, &t, reg_get(cpu, op->s, op->size));
    } else {
        if (t.memory)
            target_put(cpu, op, op->size, &t, old);
        reg_put(cpu, OFF(RAX), op->size, old);
    }
    NEXT;
}

HANDLER(op_cmpxchg8b)
{
    struct rmw m;
    u64 old = rmw_begin(cpu, op, ea(cpu, op, 8, ACCESS_WRITE), 8, &m);
    bool equal = old == ((u64)get_u32(cpu, OFF(RDX)) << 32 | get_u32(cpu, OFF(RAX)));
    rmw_end(cpu, &m, 8, equal ? (u64)get_u32(cpu, OFF(RCX)) << 32 | get_u32(cpu, OFF(RBX)) : old);
    if (!equal) {
        put_u32(cpu, OFF(RAX), (u32)old);
        put_u32(cpu, OFF(RDX), (u32)(old >> 32));
    }
    flags_set_zf(cpu, equal);
    NEXT;
}

/* Must be aligned on 16 bytes (SDM vol. 2 "CMPXCHG16B"), so that it never crosses a page. */
HANDLER(op_cmpxchg16b)
{
    struct rmw low, high;
    u64 a = ea(cpu, op, 16, ACCESS_WRITE);
    cpu->op = op;
    if (a & 15)
        cpu_gp0(cpu);
    u64 lo = rmw_begin(cpu, op, a, 8, &low);
    u64 hi = rmw_begin(cpu, op, a + 8, 8, &high);
    bool equal = lo == cpu->r[RAX] && hi == cpu->r[RDX];
    rmw_end(cpu, &low, 8, equal ? cpu->r[RBX] : lo);
    rmw_end(cpu, &high, 8, equal ? cpu->r[RCX] : hi);
    if (!equal) {
        cpu->r[RAX] = lo;
        cpu->r[RDX] = hi;
    }
    flags_set_zf(cpu, equal);
    NEXT;
}
