/*
 * Arithmetic flags, kept lazily: an instruction stores its result and its carry vector, a consumer
 * derives the flag that it wants without knowing which instruction it was.
 *
 * lazy.result  the result, sign-extended to 64 bits: ZF, SF, PF
 * lazy.carry   the vector of carries (borrows) out of each bit, shifted so that the operand's top
 *              bit is bit 63: CF is bit 63, OF is bit 63 xor bit 62
 * lazy.aux     bit 3: AF; bits 15:8: xored with the result's low byte before PF is taken; bit 16:
 *              xored with SF. The latter two are there for flag combinations that no result has.
 */
#ifndef PMUSIM_CPU_FLAGS_H
#define PMUSIM_CPU_FLAGS_H

#include "sim/cpu/cpu.h"

#define FLAGS_ARITH (RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF)

#define LAZY_AF        (1u << 3)
#define LAZY_PF_SHIFT  8
#define LAZY_SF_INVERT (1u << 16)
#define LAZY_CF        (1ULL << 63)
#define LAZY_OF        (1ULL << 62) /* set when bit 62 differs from CF */

static inline bool flag_cf(const struct cpu *cpu)
{
    return cpu->lazy.carry >> 63;
}
static inline bool flag_of(const struct cpu *cpu)
{
    return (cpu->lazy.carry ^ (cpu->lazy.carry << 1)) >> 63;
}
static inline bool flag_zf(const struct cpu *cpu)
{
    return cpu->lazy.result == 0;
}
static inline bool flag_sf(const struct cpu *cpu)
{
    return ((cpu->lazy.result >> 63) ^ (cpu->lazy.aux >> 16)) & 1;
}
static inline bool flag_pf(const struct cpu *cpu)
{
    return !__builtin_parity((cpu->lazy.result ^ (cpu->lazy.aux >> LAZY_PF_SHIFT)) & 0xff);
}
static inline bool flag_af(const struct cpu *cpu)
{
    return cpu->lazy.aux & LAZY_AF;
}

static inline void flags_set_cf_of(struct cpu *cpu, bool cf, bool of)
{
    cpu->lazy.carry = (cf ? LAZY_CF : 0) | (cf != of ? LAZY_OF : 0);
}
static inline void flags_set_cf(struct cpu *cpu, bool cf)
{
    flags_set_cf_of(cpu, cf, flag_of(cpu));
}

/* All six from a word in RFLAGS format. */
static inline void flags_set_all(struct cpu *cpu, uint64_t f)
{
    bool zf = f & RFLAGS_ZF, pf = f & RFLAGS_PF;
    cpu->lazy.result = zf ? 0 : 1;
    /* 0 has even parity, 1 has not. */
    cpu->lazy.aux = (f & RFLAGS_AF ? LAZY_AF : 0) | (f & RFLAGS_SF ? LAZY_SF_INVERT : 0) |
                    (zf != pf ? 1u << LAZY_PF_SHIFT : 0);
    flags_set_cf_of(cpu, f & RFLAGS_CF, f & RFLAGS_OF);
}
static inline uint64_t flags_get_all(const struct cpu *cpu)
{
    return (flag_cf(cpu) ? RFLAGS_CF : 0) | (flag_pf(cpu) ? RFLAGS_PF : 0) |
           (flag_af(cpu) ? RFLAGS_AF : 0) | (flag_zf(cpu) ? RFLAGS_ZF : 0) |
           (flag_sf(cpu) ? RFLAGS_SF : 0) | (flag_of(cpu) ? RFLAGS_OF : 0);
}
/* ZF alone, the others kept (BSF, CMPXCHG8B, ...). */
static inline void flags_set_zf(struct cpu *cpu, bool zf)
{
    flags_set_all(cpu, (flags_get_all(cpu) & ~(uint64_t)RFLAGS_ZF) | (zf ? RFLAGS_ZF : 0));
}

/* The condition of Jcc, SETcc, CMOVcc: the low four bits of the opcode (SDM vol. 2 "Condition
 * codes", appendix B). */
static inline bool flags_condition(const struct cpu *cpu, unsigned cc)
{
    bool v;
    switch (cc >> 1) {
    case 0:
        v = flag_of(cpu);
        break;
    case 1:
        v = flag_cf(cpu);
        break;
    case 2:
        v = flag_zf(cpu);
        break;
    case 3:
        v = flag_cf(cpu) || flag_zf(cpu);
        break;
    case 4:
        v = flag_sf(cpu);
        break;
    case 5:
        v = flag_pf(cpu);
        break;
    case 6:
        v = flag_sf(cpu) != flag_of(cpu);
        break;
    default:
        v = flag_zf(cpu) || flag_sf(cpu) != flag_of(cpu);
        break;
    }
    return v ^ (cc & 1);
}

#endif
