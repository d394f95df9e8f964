/* Conversions between the formats and integers; comparisons. They neither overflow nor underflow,
 * but for CVTSD2SS and CVTPD2PS, which are in float.c. */
#include <string.h>

#include "x86/regs.h"
#include "sim/fpu/float_host.h"

HOST(widen, "cvtps2pd")
HOST(widen_1, "cvtss2sd")
HOST(int_to_s, "cvtdq2ps")
HOST(int_to_d, "cvtdq2pd")
HOST(s_to_int, "cvtps2dq")
HOST(s_to_int_t, "cvttps2dq")
HOST(d_to_int, "cvtpd2dq")
HOST(d_to_int_t, "cvttpd2dq")

/* Begins under all masks; the flags found then decide. */
static inline uint32_t begin(uint32_t mxcsr)
{
    return host_enter(all_masked(mxcsr) ? mxcsr : quiet_mxcsr(mxcsr));
}
static inline uint32_t finish(uint32_t mxcsr, uint32_t own)
{
    uint32_t flags = host_leave(own);
    return all_masked(mxcsr) ? flags & ~mxcsr : reported(mxcsr, flags);
}

/* From and to elements of the same size. */
static inline uint32_t same(host_fn *f, uint32_t mxcsr, union vector *d, const union vector *b,
                            unsigned n)
{
    unsigned halves = n > 4 ? 2 : 1;
    uint32_t own = begin(mxcsr);
    for (unsigned i = 0; i < halves; i++)
        put_half(d, i, f(get_half(d, i), get_half(b, i)));
    return finish(mxcsr, own);
}
/* From elements of 32 bits to as many of 64. */
static inline uint32_t wider(host_fn *f, uint32_t mxcsr, union vector *d, const union vector *b,
                             unsigned n)
{
    __m128i source = get_half(b, 0);
    uint32_t own = begin(mxcsr);
    for (unsigned i = 0; i < n / 2; i++, source = _mm_srli_si128(source, 8))
        put_half(d, i, f(source, source));
    return finish(mxcsr, own);
}
/* From elements of 64 bits to as many of 32. */
static inline uint32_t narrower(host_fn *f, uint32_t mxcsr, union vector *d, const union vector *b,
                                unsigned n)
{
    __m128i low = get_half(b, 0), high = _mm_setzero_si128();
    uint32_t own = begin(mxcsr);
    low = f(low, low);
    if (n == 4)
        high = f(high, get_half(b, 1));
    put_half(d, 0, _mm_unpacklo_epi64(low, high));
    return finish(mxcsr, own);
}

/* A source of n elements with zeros behind: those of an MMX register have none there. */
static union vector low_elements(const union vector *b, unsigned n)
{
    union vector v = *b;
    if (n == 2)
        v.u64[1] = 0;
    return v;
}

#define CONVERSION(name, ...)                                                                      \
    uint32_t float_##name(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,      \
                          unsigned imm)                                                            \
    {                                                                                              \
        (void)imm;                                                                                 \
        __VA_ARGS__                                                                                \
    }
CONVERSION(s_to_d, {
    if (n > 1)
        return wider(widen, mxcsr, d, b, n);
    return same(widen_1, mxcsr, d, b, 1);
})
CONVERSION(i_to_s, {
    union vector source = low_elements(b, n);
    uint64_t above = d->u64[1];
    uint32_t flags = same(int_to_s, mxcsr, d, &source, n);
    if (n == 2)
        d->u64[1] = above; /* CVTPI2PS leaves it */
    return flags;
})
CONVERSION(i_to_d, { return wider(int_to_d, mxcsr, d, b, n); })
CONVERSION(s_to_i, {
    union vector source = low_elements(b, n);
    return same(s_to_int, mxcsr, d, &source, n);
})
CONVERSION(s_to_i_t, {
    union vector source = low_elements(b, n);
    return same(s_to_int_t, mxcsr, d, &source, n);
})
CONVERSION(d_to_i, { return narrower(d_to_int, mxcsr, d, b, n); })
CONVERSION(d_to_i_t, { return narrower(d_to_int_t, mxcsr, d, b, n); })

/* ---- general-purpose registers ---- */

#define FROM_INTEGER(name, insn)                                                                   \
    uint32_t name(uint32_t mxcsr, union vector *d, uint64_t value, bool wide)                      \
    {                                                                                              \
        __m128i r = get_half(d, 0);                                                                \
        uint32_t own = begin(mxcsr);                                                               \
        if (wide)                                                                                  \
            __asm__ volatile(insn "q %1, %0" : "+x"(r) : "r"(value));                              \
        else                                                                                       \
            __asm__ volatile(insn "l %k1, %0" : "+x"(r) : "r"(value));                             \
        put_half(d, 0, r);                                                                         \
        return finish(mxcsr, own);                                                                 \
    }
FROM_INTEGER(float_from_integer_s, "cvtsi2ss")
FROM_INTEGER(float_from_integer_d, "cvtsi2sd")

#define TO_INTEGER(name, insn, insn_t)                                                             \
    uint32_t name(uint32_t mxcsr, uint64_t *value, const union vector *b, bool wide,               \
                  bool truncate)                                                                   \
    {                                                                                              \
        __m128i source = get_half(b, 0);                                                           \
        uint64_t r;                                                                                \
        uint32_t own = begin(mxcsr);                                                               \
        if (wide && truncate)                                                                      \
            __asm__ volatile(insn_t " %1, %0" : "=r"(r) : "x"(source));                            \
        else if (wide)                                                                             \
            __asm__ volatile(insn " %1, %0" : "=r"(r) : "x"(source));                              \
        else if (truncate)                                                                         \
            __asm__ volatile(insn_t " %1, %k0" : "=r"(r) : "x"(source));                           \
        else                                                                                       \
            __asm__ volatile(insn " %1, %k0" : "=r"(r) : "x"(source));                             \
        *value = r;                                                                                \
        return finish(mxcsr, own);                                                                 \
    }
TO_INTEGER(float_to_integer_s, "cvtss2si", "cvttss2si")
TO_INTEGER(float_to_integer_d, "cvtsd2si", "cvttsd2si")

/* ---- comparisons ---- */

HOST(less_s, "cmpltps")
HOST(equal_s, "cmpeqps")
HOST(unordered_s, "cmpunordps")
HOST(less_d, "cmpltpd")
HOST(equal_d, "cmpeqpd")
HOST(unordered_d, "cmpunordpd")

enum relation { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

/* SDM vol. 2 "CMPPD", the table of comparison predicates: the relations for which each of the first
 * sixteen is true. The other sixteen are the same, but that the ones which signal a QNaN as invalid
 * and the ones which do not are exchanged. */
static const uint8_t predicates[16] = {
    EQUAL,
    LESS,
    LESS | EQUAL,
    UNORDERED,
    LESS | GREATER | UNORDERED,
    EQUAL | GREATER | UNORDERED,
    GREATER | UNORDERED,
    LESS | EQUAL | GREATER,
    EQUAL | UNORDERED,
    LESS | UNORDERED,
    LESS | EQUAL | UNORDERED,
    0,
    LESS | GREATER,
    EQUAL | GREATER,
    GREATER,
    LESS | EQUAL | GREATER | UNORDERED,
};
#define SIGNALLING_PREDICATES 0x6666 /* of the first sixteen, by bit */

static uint32_t compare(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                        unsigned imm, bool wide)
{
    host_fn *less = wide ? less_d : less_s, *equal = wide ? equal_d : equal_s;
    host_fn *unordered = wide ? unordered_d : unordered_s;
    unsigned true_for = predicates[imm & 15];
    bool signals = (SIGNALLING_PREDICATES >> (imm & 15) ^ imm >> 4) & 1;
    unsigned halves = n * (wide ? 8 : 4) > 16 ? 2 : 1;
    union vector a = *d, c = *b, result;
    if (n == 1) { /* nothing is found in the elements above */
        memset(&a.u8[wide ? 8 : 4], 0, sizeof(a) - (wide ? 8 : 4));
        memset(&c.u8[wide ? 8 : 4], 0, sizeof(c) - (wide ? 8 : 4));
    }

    /* The relations, whose flags count for nothing ... */
    uint32_t own = host_enter(quiet_mxcsr(mxcsr));
    for (unsigned i = 0; i < halves; i++) {
        __m128i x = get_half(&a, i), y = get_half(&c, i);
        __m128i l = less(x, y), e = equal(x, y), u = unordered(x, y);
        __m128i g = _mm_andnot_si128(_mm_or_si128(l, _mm_or_si128(e, u)), _mm_set1_epi32(-1));
        __m128i r = _mm_setzero_si128();
        if (true_for & LESS)
            r = _mm_or_si128(r, l);
        if (true_for & EQUAL)
            r = _mm_or_si128(r, e);
        if (true_for & GREATER)
            r = _mm_or_si128(r, g);
        if (true_for & UNORDERED)
            r = _mm_or_si128(r, u);
        put_half(&result, i, r);
    }
    /* ... and the exceptions. */
    host_set_mxcsr(quiet_mxcsr(mxcsr));
    for (unsigned i = 0; i < halves; i++)
        (signals ? less : unordered)(get_half(&a, i), get_half(&c, i));
    memcpy(d, &result, n * (wide ? 8 : 4));
    return reported(mxcsr, host_leave(own));
}
uint32_t float_compare_s(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                         unsigned imm)
{
    return compare(mxcsr, d, b, n, imm, false);
}
uint32_t float_compare_d(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                         unsigned imm)
{
    return compare(mxcsr, d, b, n, imm, true);
}

#define COMI(name, insn)                                                                           \
    uint32_t name(uint32_t mxcsr, const union vector *a, const union vector *b, bool quiet,        \
                  uint32_t *rflags)                                                                \
    {                                                                                              \
        __m128i x = get_half(a, 0), y = get_half(b, 0);                                            \
        bool z, p, c;                                                                              \
        uint32_t own = begin(mxcsr);                                                               \
        if (quiet)                                                                                 \
            __asm__ volatile("u" insn " %4, %3"                                                    \
                             : "=@ccz"(z), "=@ccp"(p), "=@ccc"(c)                                  \
                             : "x"(x), "x"(y));                                                    \
        else                                                                                       \
            __asm__ volatile(insn " %4, %3"                                                        \
                             : "=@ccz"(z), "=@ccp"(p), "=@ccc"(c)                                  \
                             : "x"(x), "x"(y));                                                    \
        *rflags = (z ? RFLAGS_ZF : 0) | (p ? RFLAGS_PF : 0) | (c ? RFLAGS_CF : 0);                 \
        return finish(mxcsr, own);                                                                 \
    }
COMI(float_comi_s, "comiss")
COMI(float_comi_d, "comisd")
