/*
 * What is computed in integers: ROUNDPS and the others, since SSE2 lacks them, and the
 * approximations RCPPS and RSQRTPS, whose values differ from one processor to another.
 */
#include "sim/fpu/float_host.h"

#define SINGLE_FRACTION 23 /* bits */
#define DOUBLE_FRACTION 52
#define SINGLE_BIAS     127
#define DOUBLE_BIAS     1023

/* ---- rounding to an integer ---- */

enum { NEAREST, DOWN, UP, TO_ZERO }; /* MXCSR.RC and imm8[1:0] */
#define ROUND_MXCSR   4              /* imm8: the mode is that of MXCSR */
#define ROUND_NO_TRAP 8              /* imm8: inexact is not reported */

/* SDM vol. 2 "ROUNDPD": invalid for an SNaN alone; no denormal exception; DAZ holds. */
static uint64_t round_element(uint64_t x, bool wide, unsigned mode, bool daz, uint32_t *flags)
{
    unsigned fraction = wide ? DOUBLE_FRACTION : SINGLE_FRACTION;
    int bias = wide ? DOUBLE_BIAS : SINGLE_BIAS;
    uint64_t sign = x & (wide ? DOUBLE_SIGN : SINGLE_SIGN), magnitude = x ^ sign;
    uint64_t one = (uint64_t)bias << fraction, quiet = 1ULL << (fraction - 1);
    int exponent = (int)(magnitude >> fraction) - bias;

    if (exponent > bias) {
        if (magnitude << (64 - fraction) && !(x & quiet)) {
            *flags |= MXCSR_IE;
            return x | quiet;
        }
        return x;
    }
    if (exponent >= (int)fraction || magnitude == 0)
        return x;
    if (magnitude >> fraction == 0 && daz)
        return sign;
    bool away = mode == (sign ? DOWN : UP);
    if (exponent < 0) {
        *flags |= MXCSR_PE;
        uint64_t half = one - (1ULL << fraction);
        return sign | (away || (mode == NEAREST && magnitude > half) ? one : 0);
    }
    uint64_t unit = 1ULL << (fraction - exponent), below = magnitude & (unit - 1);
    if (below == 0)
        return x;
    *flags |= MXCSR_PE;
    magnitude -= below;
    if (away || (mode == NEAREST &&
                 (below > unit / 2 || (below == unit / 2 && (exponent ? magnitude & unit : true)))))
        magnitude += unit; /* which may carry into the exponent, and should */
    return sign | magnitude;
}

static uint32_t round_all(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                          unsigned imm, bool wide)
{
    unsigned mode = imm & ROUND_MXCSR ? mxcsr >> MXCSR_RC_SHIFT & 3 : imm & 3;
    uint32_t flags = 0;
    for (unsigned i = 0; i < n; i++)
        put_element(d, wide, i,
                    round_element(get_element(b, wide, i), wide, mode, mxcsr & MXCSR_DAZ, &flags));
    if (imm & ROUND_NO_TRAP)
        flags &= ~MXCSR_PE;
    return reported(mxcsr, flags);
}
uint32_t float_round_s(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                       unsigned imm)
{
    return round_all(mxcsr, d, b, n, imm, false);
}
uint32_t float_round_d(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                       unsigned imm)
{
    return round_all(mxcsr, d, b, n, imm, true);
}

/* ---- approximations ---- */

#define SINGLE_INFINITY   0x7f800000u
#define SINGLE_QUIET      0x00400000u
#define SINGLE_INDEFINITE 0xffc00000u
/* Bits of the fraction that are kept: an error of 2^-13 at most, of 1.5 * 2^-12 that are allowed.
 */
#define APPROXIMATE 12

/* SDM vol. 2 "RCPPS": a denormal is taken for a zero, a tiny result becomes one; no exceptions. */
static uint32_t reciprocal(uint32_t x)
{
    uint32_t sign = x & SINGLE_SIGN, magnitude = x ^ sign;
    unsigned exponent = magnitude >> SINGLE_FRACTION;
    if (magnitude > SINGLE_INFINITY)
        return x | SINGLE_QUIET;
    if (exponent == 0)
        return sign | SINGLE_INFINITY;
    /* 1 / 1.f lies between 1/2 and 1; with 2^12 for 1/2, rounded to nearest. */
    uint32_t significand = (magnitude & 0x7fffff) | 1u << SINGLE_FRACTION;
    uint64_t unit = 1ULL << (SINGLE_FRACTION + APPROXIMATE + 1);
    uint32_t r = (uint32_t)((2 * unit + significand) / (2 * significand));
    int result = 2 * SINGLE_BIAS - 1 - (int)exponent;
    if (r >> (APPROXIMATE + 1)) { /* 1 itself */
        r >>= 1;
        result++;
    }
    if (magnitude == SINGLE_INFINITY || result <= 0)
        return sign;
    return sign | (uint32_t)result << SINGLE_FRACTION |
           (r & ((1u << APPROXIMATE) - 1)) << (SINGLE_FRACTION - APPROXIMATE);
}

/* SDM vol. 2 "RSQRTPS". */
static uint32_t reciprocal_root(uint32_t x)
{
    uint32_t sign = x & SINGLE_SIGN, magnitude = x ^ sign;
    int exponent = (int)(magnitude >> SINGLE_FRACTION);
    if (magnitude > SINGLE_INFINITY)
        return x | SINGLE_QUIET;
    if (exponent == 0)
        return sign | SINGLE_INFINITY;
    if (sign)
        return SINGLE_INDEFINITE;
    if (magnitude == SINGLE_INFINITY)
        return 0;
    /* x is m * 2^(2h) with m from 1 to 4, and so the result r * 2^-h with r from 1/2 to 1: the
     * greatest r of 14 bits whose r * r * m is not above 1; then rounded to 13. */
    exponent -= SINGLE_BIAS;
    uint64_t m = (magnitude & 0x7fffff) | 1u << SINGLE_FRACTION;
    if (exponent & 1)
        m *= 2;
    int h = (exponent - (exponent & 1)) / 2;
    uint64_t r = 0;
    for (unsigned bit = 1u << (APPROXIMATE + 2); bit; bit >>= 1)
        if ((r + bit) * (r + bit) * m <= 1ULL << (SINGLE_FRACTION + 2 * (APPROXIMATE + 2)))
            r += bit;
    r = (r + 1) / 2;
    int result = SINGLE_BIAS - 1 - h;
    if (r >> (APPROXIMATE + 1)) {
        r >>= 1;
        result++;
    }
    return (uint32_t)result << SINGLE_FRACTION | ((uint32_t)r & ((1u << APPROXIMATE) - 1))
                                                     << (SINGLE_FRACTION - APPROXIMATE);
}

uint32_t float_rcp(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n, unsigned imm)
{
    (void)mxcsr, (void)imm;
    for (unsigned i = 0; i < n; i++)
        d->u32[i] = reciprocal(b->u32[i]);
    return 0;
}
uint32_t float_rsqrt(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                     unsigned imm)
{
    (void)mxcsr, (void)imm;
    for (unsigned i = 0; i < n; i++)
        d->u32[i] = reciprocal_root(b->u32[i]);
    return 0;
}
