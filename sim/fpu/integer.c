/* Integer arithmetic of MMX, SSE and AVX. SDM vol. 2, the "Operation" of each instruction. */
#include "sim/fpu/vector.h"
#include "x86/regs.h"

#define VECTOR(name)                                                                               \
    void vector_##name(union vector *d, const union vector *a, const union vector *b,              \
                       struct vector_how *how)

/* Each lane by itself: x of a, y of b, both of a C type of that width. */
#define LANE(name, bits, type, expression)                                                         \
    VECTOR(name)                                                                                   \
    {                                                                                              \
        for (unsigned i = 0; i < how->bytes / sizeof(type); i++) {                                 \
            type x = (type)a->u##bits[i], y = (type)b->u##bits[i];                                 \
            (void)x;                                                                               \
            d->u##bits[i] = (__typeof__(d->u##bits[0]))(expression);                               \
        }                                                                                          \
    }

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}
#define S8(v)  clamp(v, INT8_MIN, INT8_MAX)
#define S16(v) clamp(v, INT16_MIN, INT16_MAX)
#define U8(v)  clamp(v, 0, UINT8_MAX)
#define U16(v) clamp(v, 0, UINT16_MAX)

// clang-format off
LANE(add8, 8, uint8_t, x + y)
LANE(add16, 16, uint16_t, x + y)
LANE(add32, 32, uint32_t, x + y)
LANE(add64, 64, uint64_t, x + y)
LANE(sub8, 8, uint8_t, x - y)
LANE(sub16, 16, uint16_t, x - y)
LANE(sub32, 32, uint32_t, x - y)
LANE(sub64, 64, uint64_t, x - y)
LANE(adds8, 8, int8_t, S8(x + y))
LANE(adds16, 16, int16_t, S16(x + y))
LANE(addus8, 8, uint8_t, U8(x + y))
LANE(addus16, 16, uint16_t, U16(x + y))
LANE(subs8, 8, int8_t, S8(x - y))
LANE(subs16, 16, int16_t, S16(x - y))
LANE(subus8, 8, uint8_t, U8(x - y))
LANE(subus16, 16, uint16_t, U16(x - y))
LANE(mullo16, 16, int16_t, x * y)
LANE(mullo32, 32, uint32_t, x * y)
LANE(mulhi16, 16, int16_t, (x * y) >> 16)
LANE(mulhiu16, 16, uint16_t, ((uint32_t)x * y) >> 16)
LANE(muludq, 64, uint64_t, (x & UINT32_MAX) * (y & UINT32_MAX))
LANE(muldq, 64, int64_t, (int64_t)(int32_t)x * (int32_t)y)
LANE(mulhrs16, 16, int16_t, (((x * y) >> 14) + 1) >> 1)
LANE(avg8, 8, uint8_t, (x + y + 1) >> 1)
LANE(avg16, 16, uint16_t, (x + y + 1) >> 1)
LANE(maxs8, 8, int8_t, x > y ? x : y)
LANE(maxs16, 16, int16_t, x > y ? x : y)
LANE(maxs32, 32, int32_t, x > y ? x : y)
LANE(maxu8, 8, uint8_t, x > y ? x : y)
LANE(maxu16, 16, uint16_t, x > y ? x : y)
LANE(maxu32, 32, uint32_t, x > y ? x : y)
LANE(mins8, 8, int8_t, x < y ? x : y)
LANE(mins16, 16, int16_t, x < y ? x : y)
LANE(mins32, 32, int32_t, x < y ? x : y)
LANE(minu8, 8, uint8_t, x < y ? x : y)
LANE(minu16, 16, uint16_t, x < y ? x : y)
LANE(minu32, 32, uint32_t, x < y ? x : y)
LANE(eq8, 8, uint8_t, x == y ? -1 : 0)
LANE(eq16, 16, uint16_t, x == y ? -1 : 0)
LANE(eq32, 32, uint32_t, x == y ? -1 : 0)
LANE(eq64, 64, uint64_t, x == y ? -1 : 0)
LANE(gt8, 8, int8_t, x > y ? -1 : 0)
LANE(gt16, 16, int16_t, x > y ? -1 : 0)
LANE(gt32, 32, int32_t, x > y ? -1 : 0)
LANE(gt64, 64, int64_t, x > y ? -1 : 0)
LANE(and, 64, uint64_t, x & y)
LANE(andn, 64, uint64_t, ~x & y)
LANE(or, 64, uint64_t, x | y)
LANE(xor, 64, uint64_t, x ^ y)
/* The most negative value stays as it is: it is its own magnitude, unsigned. */
LANE(abs8, 8, int8_t, y < 0 ? -y : y)
LANE(abs16, 16, int16_t, y < 0 ? -y : y)
LANE(abs32, 32, int32_t, y < 0 ? -(uint32_t)y : (uint32_t)y)
LANE(sign8, 8, int8_t, y < 0 ? -x : y ? x : 0)
LANE(sign16, 16, int16_t, y < 0 ? -x : y ? x : 0)
LANE(sign32, 32, int32_t, y < 0 ? -(uint32_t)x : y ? (uint32_t)x : 0)
/* Counts of their own; one beyond the lane clears it, or leaves only signs. */
LANE(sllv32, 32, uint32_t, y < 32 ? x << y : 0)
LANE(sllv64, 64, uint64_t, y < 64 ? x << y : 0)
LANE(srlv32, 32, uint32_t, y < 32 ? x >> y : 0)
LANE(srlv64, 64, uint64_t, y < 64 ? x >> y : 0)
LANE(srav32, 32, int32_t, (int64_t)x >> ((uint32_t)y < 32 ? y : 31))

/* One count for all lanes: the 64 low bits of b. */
#define SHIFT(name, bits, type, within, beyond)                                                    \
    VECTOR(name)                                                                                   \
    {                                                                                              \
        uint64_t n = b->u64[0];                                                                    \
        for (unsigned i = 0; i < how->bytes / sizeof(type); i++) {                                 \
            type x = (type)a->u##bits[i];                                                          \
            d->u##bits[i] = (__typeof__(d->u##bits[0]))(n < (bits) ? (within) : (beyond));         \
        }                                                                                          \
    }
SHIFT(sll16, 16, uint16_t, x << n, 0)
SHIFT(sll32, 32, uint32_t, x << n, 0)
SHIFT(sll64, 64, uint64_t, x << n, 0)
SHIFT(srl16, 16, uint16_t, x >> n, 0)
SHIFT(srl32, 32, uint32_t, x >> n, 0)
SHIFT(srl64, 64, uint64_t, x >> n, 0)
SHIFT(sra16, 16, int16_t, x >> n, x >> 15)
SHIFT(sra32, 32, int32_t, (int64_t)x >> n, (int64_t)x >> 31)
// clang-format on

/* ---- neighbours ---- */

/* PMADDWD: 8000H * 8000H twice gives 80000000H. */
VECTOR(madd16)
{
    for (unsigned i = 0; i < how->bytes / 4; i++) {
        int32_t low = (int16_t)a->u16[2 * i] * (int16_t)b->u16[2 * i];
        int32_t high = (int16_t)a->u16[2 * i + 1] * (int16_t)b->u16[2 * i + 1];
        d->u32[i] = (uint32_t)low + (uint32_t)high;
    }
}
/* PMADDUBSW: bytes of the first source are unsigned, of the second signed. */
VECTOR(maddus8)
{
    for (unsigned i = 0; i < how->bytes / 2; i++)
        d->u16[i] =
            S16(a->u8[2 * i] * (int8_t)b->u8[2 * i] + a->u8[2 * i + 1] * (int8_t)b->u8[2 * i + 1]);
}

static unsigned distance(uint8_t x, uint8_t y)
{
    return x > y ? x - y : y - x;
}
VECTOR(sad8)
{
    for (unsigned i = 0; i < how->bytes; i++)
        d->u64[i / 8] += distance(a->u8[i], b->u8[i]);
}
/* PCLMULQDQ: a product without carries of the quadwords that the immediate selects. */
VECTOR(clmul)
{
    uint64_t x = a->u64[how->imm & 1], y = b->u64[how->imm >> 4 & 1];
    for (unsigned i = 0; i < 64; i++)
        if (y >> i & 1) {
            d->u64[0] ^= x << i;
            d->u64[1] ^= i ? x >> (64 - i) : 0;
        }
}
/* MPSADBW: the upper lane has its own three bits of the immediate. */
VECTOR(mpsad)
{
    for (unsigned lane = 0; lane < how->bytes / 16; lane++) {
        unsigned imm = how->imm >> (3 * lane);
        const uint8_t *x = &a->u8[16 * lane + (imm & 4)], *y = &b->u8[16 * lane + 4 * (imm & 3)];
        for (unsigned i = 0; i < 8; i++)
            for (unsigned k = 0; k < 4; k++)
                d->u16[8 * lane + i] += distance(x[i + k], y[k]);
    }
}
VECTOR(minpos)
{
    (void)a;
    (void)how;
    unsigned at = 0;
    for (unsigned i = 1; i < 8; i++)
        if (b->u16[i] < b->u16[at])
            at = i;
    d->u16[0] = b->u16[at];
    d->u16[1] = at;
}

/* The lower half of each lane of 16 bytes (MMX: of all) is of the first source. */
#define HORIZONTAL(name, bits, type, expression)                                                   \
    VECTOR(name)                                                                                   \
    {                                                                                              \
        unsigned lane = how->bytes < 16 ? how->bytes : 16, half = lane / 2 / sizeof(type);         \
        for (unsigned i = 0; i < how->bytes / sizeof(type); i++) {                                 \
            unsigned at = i % (2 * half), base = i - at;                                           \
            const union vector *s = at < half ? a : b;                                             \
            unsigned from = base + 2 * (at % half);                                                \
            type x = (type)s->u##bits[from], y = (type)s->u##bits[from + 1];                       \
            d->u##bits[i] = (__typeof__(d->u##bits[0]))(expression);                               \
        }                                                                                          \
    }
// clang-format off
HORIZONTAL(hadd16, 16, uint16_t, x + y)
HORIZONTAL(hadd32, 32, uint32_t, x + y)
HORIZONTAL(hadds16, 16, int16_t, S16(x + y))
HORIZONTAL(hsub16, 16, uint16_t, x - y)
HORIZONTAL(hsub32, 32, uint32_t, x - y)
HORIZONTAL(hsubs16, 16, int16_t, S16(x - y))
// clang-format on

/* PTEST, VTESTPS, VTESTPD: ZF and CF; the others are cleared. */
static void test(const union vector *a, const union vector *b, struct vector_how *how,
                 uint64_t bits)
{
    uint64_t both = 0, only_b = 0;
    for (unsigned i = 0; i < how->bytes / 8; i++) {
        both |= a->u64[i] & b->u64[i] & bits;
        only_b |= ~a->u64[i] & b->u64[i] & bits;
    }
    how->sets_flags = true;
    how->rflags = (both ? 0 : RFLAGS_ZF) | (only_b ? 0 : RFLAGS_CF);
}
VECTOR(test)
{
    (void)d;
    test(a, b, how, UINT64_MAX);
}
VECTOR(testps)
{
    (void)d;
    test(a, b, how, 0x8000000080000000);
}
VECTOR(testpd)
{
    (void)d;
    test(a, b, how, 0x8000000000000000);
}
