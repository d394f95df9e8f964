/* What moves lanes and does not compute: moves, packing, shuffles, blends, broadcasts. SDM vol. 2,
 * the "Operation" of each instruction. */
#include "sim/fpu/vector.h"

#define VECTOR(name)                                                                               \
    void vector_##name(union vector *d, const union vector *a, const union vector *b,              \
                       struct vector_how *how)
#define UNUSED(x) (void)(x)

/* Most AVX forms do in each half what the SSE form does: bytes of such a lane. */
static unsigned lane_bytes(const struct vector_how *how)
{
    return how->bytes < 16 ? how->bytes : 16;
}

/* ---- moves ---- */

VECTOR(move)
{
    UNUSED(a);
    UNUSED(how);
    *d = *b;
}
/* MOVD, MOVQ, and loads of a scalar: zeros above. */
VECTOR(move32)
{
    UNUSED(a);
    UNUSED(how);
    d->u32[0] = b->u32[0];
}
VECTOR(move64)
{
    UNUSED(a);
    UNUSED(how);
    d->u64[0] = b->u64[0];
}
/* MOVSS, MOVSD from register to register: the rest is of the first source. */
VECTOR(move_low32)
{
    UNUSED(how);
    d->u64[0] = (a->u64[0] & ~(uint64_t)UINT32_MAX) | b->u32[0];
    d->u64[1] = a->u64[1];
}
VECTOR(move_low64)
{
    UNUSED(how);
    d->u64[0] = b->u64[0];
    d->u64[1] = a->u64[1];
}
VECTOR(store_high64)
{
    UNUSED(a);
    UNUSED(how);
    d->u64[0] = b->u64[1];
}
VECTOR(high_to_low) /* MOVHLPS */
{
    UNUSED(how);
    d->u64[0] = b->u64[1];
    d->u64[1] = a->u64[1];
}
VECTOR(low_to_high) /* MOVLHPS; MOVHPS and MOVHPD from memory */
{
    UNUSED(how);
    d->u64[0] = a->u64[0];
    d->u64[1] = b->u64[0];
}
VECTOR(dup_low64) /* MOVDDUP */
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = b->u64[i & ~1u];
}
VECTOR(dup_even32) /* MOVSLDUP */
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = b->u32[i & ~1u];
}
VECTOR(dup_odd32) /* MOVSHDUP */
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = b->u32[i | 1];
}

/* ---- packing and unpacking ---- */

#define PACK(name, to, from, type, low, high)                                                      \
    VECTOR(name)                                                                                   \
    {                                                                                              \
        unsigned half = lane_bytes(how) / sizeof(type);                                            \
        for (unsigned i = 0; i < how->bytes * 8 / (to); i++) {                                     \
            unsigned at = i % (2 * half), lane = i / (2 * half);                                   \
            const union vector *s = at < half ? a : b;                                             \
            type v = (type)s->u##from[lane * half + at % half];                                    \
            d->u##to[i] = (__typeof__(d->u##to[0]))(v < (low) ? (low) : v > (high) ? (high) : v);  \
        }                                                                                          \
    }
#define UNPACK(name, bits, high)                                                                   \
    VECTOR(name)                                                                                   \
    {                                                                                              \
        unsigned lane = lane_bytes(how) * 8 / (bits);                                              \
        for (unsigned i = 0; i < how->bytes * 8 / (bits); i++) {                                   \
            unsigned at = i % lane, from = i - at + at / 2 + ((high) ? lane / 2 : 0);              \
            d->u##bits[i] = (at & 1 ? b : a)->u##bits[from];                                       \
        }                                                                                          \
    }
// clang-format off
PACK(packss16, 8, 16, int16_t, INT8_MIN, INT8_MAX)
PACK(packss32, 16, 32, int32_t, INT16_MIN, INT16_MAX)
PACK(packus16, 8, 16, int16_t, 0, UINT8_MAX)
PACK(packus32, 16, 32, int32_t, 0, UINT16_MAX)
UNPACK(unpackl8, 8, 0)
UNPACK(unpackl16, 16, 0)
UNPACK(unpackl32, 32, 0)
UNPACK(unpackl64, 64, 0)
UNPACK(unpackh8, 8, 1)
UNPACK(unpackh16, 16, 1)
UNPACK(unpackh32, 32, 1)
UNPACK(unpackh64, 64, 1)
// clang-format on

/* ---- shuffles ---- */

VECTOR(shuffle8)
{
    unsigned lane = lane_bytes(how);
    for (unsigned i = 0; i < how->bytes; i++)
        d->u8[i] = b->u8[i] & 0x80 ? 0 : a->u8[i / lane * lane + (b->u8[i] & (lane - 1))];
}
/* Four elements chosen by two bits each. */
static unsigned choice(const struct vector_how *how, unsigned i)
{
    return how->imm >> (2 * (i & 3)) & 3;
}
VECTOR(shuffle16) /* PSHUFW */
{
    UNUSED(a);
    for (unsigned i = 0; i < 4; i++)
        d->u16[i] = b->u16[choice(how, i)];
}
VECTOR(shuffle32)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = b->u32[(i & ~3u) + choice(how, i)];
}
VECTOR(shuffle_low16)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 2; i++)
        d->u16[i] = b->u16[i & 4 ? i : (i & ~3u) + choice(how, i)];
}
VECTOR(shuffle_high16)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 2; i++)
        d->u16[i] = b->u16[i & 4 ? (i & ~3u) + choice(how, i) : i];
}
VECTOR(shufps)
{
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = (i & 2 ? b : a)->u32[(i & ~3u) + choice(how, i)];
}
VECTOR(shufpd)
{
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = (i & 1 ? b : a)->u64[(i & ~1u) + (how->imm >> i & 1)];
}
/* The count is in bytes, of 16 at most. */
VECTOR(slldq)
{
    uint64_t n = b->u64[0] < 16 ? b->u64[0] : 16;
    for (unsigned i = 0; i < how->bytes; i++)
        d->u8[i] = i % 16 < n ? 0 : a->u8[i - n];
}
VECTOR(srldq)
{
    uint64_t n = b->u64[0] < 16 ? b->u64[0] : 16;
    for (unsigned i = 0; i < how->bytes; i++)
        d->u8[i] = i % 16 + n < 16 ? a->u8[i + n] : 0;
}
/* PALIGNR: the first source above the second, shifted right. */
VECTOR(align)
{
    unsigned lane = lane_bytes(how);
    for (unsigned i = 0; i < how->bytes; i++) {
        unsigned base = i / lane * lane, from = i % lane + how->imm;
        d->u8[i] = from < lane       ? b->u8[base + from]
                   : from < 2 * lane ? a->u8[base + from - lane]
                                     : 0;
    }
}

/* ---- blends ---- */

VECTOR(blend16)
{
    for (unsigned i = 0; i < how->bytes / 2; i++)
        d->u16[i] = (how->imm >> (i & 7) & 1 ? b : a)->u16[i];
}
VECTOR(blend32)
{
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = (how->imm >> i & 1 ? b : a)->u32[i];
}
VECTOR(blend64)
{
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = (how->imm >> i & 1 ? b : a)->u64[i];
}
VECTOR(blendv8)
{
    for (unsigned i = 0; i < how->bytes; i++)
        d->u8[i] = (how->c->u8[i] >> 7 ? b : a)->u8[i];
}
VECTOR(blendv32)
{
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = (how->c->u32[i] >> 31 ? b : a)->u32[i];
}
VECTOR(blendv64)
{
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = (how->c->u64[i] >> 63 ? b : a)->u64[i];
}

/* ---- one element ---- */

#define INSERT(bits)                                                                               \
    VECTOR(insert##bits)                                                                           \
    {                                                                                              \
        unsigned n = lane_bytes(how) * 8 / (bits);                                                 \
        for (unsigned i = 0; i < n; i++)                                                           \
            d->u##bits[i] = i == (how->imm & (n - 1)) ? b->u##bits[0] : a->u##bits[i];             \
    }
#define EXTRACT(bits)                                                                              \
    VECTOR(extract##bits)                                                                          \
    {                                                                                              \
        UNUSED(a);                                                                                 \
        unsigned n = lane_bytes(how) * 8 / (bits);                                                 \
        d->u64[0] = b->u##bits[how->imm & (n - 1)];                                                \
    }
// clang-format off
INSERT(8)
INSERT(16)
INSERT(32)
INSERT(64)
EXTRACT(8)
EXTRACT(16)
EXTRACT(32)
EXTRACT(64)
// clang-format on

/* From memory the element is the one that was read. */
VECTOR(insertps)
{
    unsigned from = how->width == 4 ? 0 : how->imm >> 6 & 3;
    for (unsigned i = 0; i < 4; i++)
        if (!(how->imm >> i & 1))
            d->u32[i] = i == (how->imm >> 4 & 3) ? b->u32[from] : a->u32[i];
}

/* Signs. */
VECTOR(mask8)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes; i++)
        d->u64[0] |= (uint64_t)(b->u8[i] >> 7) << i;
}
VECTOR(mask32)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u64[0] |= (uint64_t)(b->u32[i] >> 31) << i;
}
VECTOR(mask64)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[0] |= b->u64[i] >> 63 << i;
}

/* ---- wider elements ---- */

#define WIDEN(from, to)                                                                            \
    VECTOR(sx##from##_##to)                                                                        \
    {                                                                                              \
        UNUSED(a);                                                                                 \
        for (unsigned i = 0; i < how->bytes * 8 / (to); i++)                                       \
            d->u##to[i] = (__typeof__(d->u##to[0]))(int##from##_t)b->u##from[i];                   \
    }                                                                                              \
    VECTOR(zx##from##_##to)                                                                        \
    {                                                                                              \
        UNUSED(a);                                                                                 \
        for (unsigned i = 0; i < how->bytes * 8 / (to); i++)                                       \
            d->u##to[i] = b->u##from[i];                                                           \
    }
// clang-format off
WIDEN(8, 16)
WIDEN(8, 32)
WIDEN(8, 64)
WIDEN(16, 32)
WIDEN(16, 64)
WIDEN(32, 64)
// clang-format on

#define BROADCAST(bits)                                                                            \
    VECTOR(broadcast##bits)                                                                        \
    {                                                                                              \
        UNUSED(a);                                                                                 \
        for (unsigned i = 0; i < how->bytes * 8 / (bits); i++)                                     \
            d->u##bits[i] = b->u##bits[0];                                                         \
    }
// clang-format off
BROADCAST(8)
BROADCAST(16)
BROADCAST(32)
BROADCAST(64)
// clang-format on
VECTOR(broadcast128)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = b->u64[i & 1];
}

/* ---- AVX's permutes ---- */

VECTOR(permil32) /* VPERMILPS by immediate */
{
    vector_shuffle32(d, a, b, how);
}
VECTOR(permil64)
{
    UNUSED(a);
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = b->u64[(i & ~1u) + (how->imm >> i & 1)];
}
VECTOR(permilv32) /* by the second source, within 16 bytes */
{
    for (unsigned i = 0; i < how->bytes / 4; i++)
        d->u32[i] = a->u32[(i & ~3u) + (b->u32[i] & 3)];
}
VECTOR(permilv64) /* by bit 1 */
{
    for (unsigned i = 0; i < how->bytes / 8; i++)
        d->u64[i] = a->u64[(i & ~1u) + (b->u64[i] >> 1 & 1)];
}
VECTOR(perm128)
{
    for (unsigned half = 0; half < 2; half++) {
        unsigned control = how->imm >> (4 * half);
        const union vector *s = control & 2 ? b : a;
        for (unsigned i = 0; i < 2 && !(control & 8); i++)
            d->u64[2 * half + i] = s->u64[2 * (control & 1) + i];
    }
}
VECTOR(perm64) /* VPERMQ, VPERMPD */
{
    UNUSED(a);
    for (unsigned i = 0; i < 4; i++)
        d->u64[i] = b->u64[choice(how, i)];
}
VECTOR(permv32) /* VPERMD, VPERMPS: the first source chooses */
{
    UNUSED(how);
    for (unsigned i = 0; i < 8; i++)
        d->u32[i] = b->u32[a->u32[i] & 7];
}
VECTOR(insert128)
{
    unsigned at = 2 * (how->imm & 1);
    *d = *a;
    d->u64[at] = b->u64[0];
    d->u64[at + 1] = b->u64[1];
}
VECTOR(extract128)
{
    UNUSED(a);
    d->u64[0] = b->u64[2 * (how->imm & 1)];
    d->u64[1] = b->u64[2 * (how->imm & 1) + 1];
}
