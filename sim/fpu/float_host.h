/* The host's SSE2 unit under the guest's MXCSR, and what its flags mean. For sim/fpu/float_*.c. */
#ifndef PMUSIM_FPU_FLOAT_HOST_H
#define PMUSIM_FPU_FLOAT_HOST_H

#include <emmintrin.h>

#include "sim/fpu/float.h"

#define SINGLE_SIGN 0x80000000u
#define DOUBLE_SIGN 0x8000000000000000u

/* Exceptions that are looked for before anything is computed. SDM vol. 1 "Generating SIMD
 * Floating-Point Exceptions". */
#define MXCSR_BEFORE (MXCSR_IE | MXCSR_DE | MXCSR_ZE)

/* All of it is volatile assembly: it stays in order. */
static inline uint32_t host_mxcsr(void)
{
    uint32_t v;
    __asm__ volatile("stmxcsr %0" : "=m"(v));
    return v;
}
static inline void host_set_mxcsr(uint32_t v)
{
    __asm__ volatile("ldmxcsr %0" ::"m"(v));
}
/* Switches to the guest's MXCSR, which must mask everything; returns the host's own. */
static inline uint32_t host_enter(uint32_t guest)
{
    uint32_t own = host_mxcsr();
    if (own != guest)
        host_set_mxcsr(guest);
    return own;
}
/* Returns the flags that are set then. */
static inline uint32_t host_leave(uint32_t own)
{
    uint32_t guest = host_mxcsr();
    if ((own ^ guest) & ~MXCSR_FLAGS)
        host_set_mxcsr(own);
    return guest & MXCSR_FLAGS;
}

static inline bool all_masked(uint32_t mxcsr)
{
    return (mxcsr & MXCSR_MASKS) == MXCSR_MASKS;
}
/* MXCSR for a run whose own flags are wanted. */
static inline uint32_t quiet_mxcsr(uint32_t mxcsr)
{
    return (mxcsr & ~MXCSR_FLAGS) | MXCSR_MASKS;
}
/*
 * What an instruction reports of the flags that it found. An unmasked exception found beforehand
 * ends it there: nothing is computed, and what would be found afterwards is not.
 * SDM vol. 1 "Handling Unmasked Exceptions".
 */
static inline uint32_t reported(uint32_t mxcsr, uint32_t flags)
{
    return mxcsr_unmasked(mxcsr, flags & MXCSR_BEFORE) ? flags & MXCSR_BEFORE : flags;
}

/* One instruction of the host: a and b into a. */
typedef __m128i host_fn(__m128i a, __m128i b);
#define HOST(name, insn)                                                                           \
    static __m128i name(__m128i a, __m128i b)                                                      \
    {                                                                                              \
        __asm__ volatile(insn " %1, %0" : "+x"(a) : "x"(b));                                       \
        return a;                                                                                  \
    }

static inline __m128i get_half(const union vector *v, unsigned i)
{
    return _mm_loadu_si128((const __m128i *)&v->u64[2 * i]);
}
static inline void put_half(union vector *v, unsigned i, __m128i x)
{
    _mm_storeu_si128((__m128i *)&v->u64[2 * i], x);
}

/* Elements of either format. */
static inline uint64_t get_element(const union vector *v, bool wide, unsigned i)
{
    return wide ? v->u64[i] : v->u32[i];
}
static inline void put_element(union vector *v, bool wide, unsigned i, uint64_t x)
{
    if (wide)
        v->u64[i] = x;
    else
        v->u32[i] = (uint32_t)x;
}

#endif
