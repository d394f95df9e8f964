/*
 * The floating-point arithmetic of SSE to SSE4.1 and AVX: pure functions of values and MXCSR.
 *
 * It is done by the host's own SSE2 unit under the guest's MXCSR with everything masked, so
 * results, rounding, denormals, NaNs and flags are a processor's. What SSE2 lacks (ROUNDPS) or what
 * differs from one processor to another (RCPPS, RSQRTPS) is computed here in integers.
 *
 * The host's MXCSR is put back where its control bits differ from the guest's; its sticky flags are
 * not kept.
 */
#ifndef PMUSIM_FPU_FLOAT_H
#define PMUSIM_FPU_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fpu/state.h"

/* MXCSR. SDM vol. 1 "MXCSR Control and Status Register". */
#define MXCSR_IE         (1u << 0)
#define MXCSR_DE         (1u << 1)
#define MXCSR_ZE         (1u << 2)
#define MXCSR_OE         (1u << 3)
#define MXCSR_UE         (1u << 4)
#define MXCSR_PE         (1u << 5)
#define MXCSR_FLAGS      0x3fu
#define MXCSR_DAZ        (1u << 6)
#define MXCSR_MASK_SHIFT 7 /* IM to PM, in the flags' order */
#define MXCSR_MASKS      (MXCSR_FLAGS << MXCSR_MASK_SHIFT)
#define MXCSR_RC_SHIFT   13
#define MXCSR_FTZ        (1u << 15)

/* Of flags, those that MXCSR does not mask. */
static inline uint32_t mxcsr_unmasked(uint32_t mxcsr, uint32_t flags)
{
    return flags & ~(mxcsr >> MXCSR_MASK_SHIFT);
}

/*
 * An instruction on vectors. d comes in as the first source and goes out as the result; what the
 * instruction does not compute stays: above n elements, or with n = 1 above the lowest. n counts
 * the elements that are computed; imm is the immediate byte.
 *
 * Returns the flags that MXCSR gets; with all masked, perhaps without those that it has. If one of
 * them is not masked, it has just been found: d is worthless, #XM is due, or #UD without
 * CR4.OSXMMEXCPT. SDM vol. 1 "SIMD Floating-Point Exceptions".
 */
typedef uint32_t float_fn(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                          unsigned imm);

/* Arithmetic, n = 1 for SS and SD. */
float_fn float_add_s, float_sub_s, float_mul_s, float_div_s, float_min_s, float_max_s, float_sqrt_s;
float_fn float_add_d, float_sub_d, float_mul_d, float_div_d, float_min_d, float_max_d, float_sqrt_d;
/* ADDSUBPS, HADDPS, HSUBPS, DPPS and those of doubles; n = 4 or 8, 2 or 4. */
float_fn float_addsub_s, float_hadd_s, float_hsub_s, float_dot_s;
float_fn float_addsub_d, float_hadd_d, float_hsub_d, float_dot_d;
/* CMPPS and the others; imm: the predicate, 0 to 31. */
float_fn float_compare_s, float_compare_d;
/* ROUNDPS and the others. */
float_fn float_round_s, float_round_d;
/* RCPPS, RSQRTPS, RCPSS, RSQRTSS. */
float_fn float_rcp, float_rsqrt;

/* Conversions: from and to s single, d double, i doubleword integer; _t truncates. Those that
 * narrow with n > 1 clear the rest of their 128 bits. float_i_to_s with n = 2 is CVTPI2PS. */
float_fn float_s_to_d, float_d_to_s, float_i_to_s, float_i_to_d;
float_fn float_s_to_i, float_s_to_i_t, float_d_to_i, float_d_to_i_t;

/* CVTSI2SS, CVTSI2SD: of 32 or (wide) 64 bits into the lowest element. */
uint32_t float_from_integer_s(uint32_t mxcsr, union vector *d, uint64_t value, bool wide);
uint32_t float_from_integer_d(uint32_t mxcsr, union vector *d, uint64_t value, bool wide);
/* CVTSS2SI, CVTSD2SI and with truncate CVTTSS2SI, CVTTSD2SI: into 32 bits, zero-extended, or 64. */
uint32_t float_to_integer_s(uint32_t mxcsr, uint64_t *value, const union vector *b, bool wide,
                            bool truncate);
uint32_t float_to_integer_d(uint32_t mxcsr, uint64_t *value, const union vector *b, bool wide,
                            bool truncate);

/* COMISS, COMISD and with quiet UCOMISS, UCOMISD; *rflags: ZF, PF, CF. */
uint32_t float_comi_s(uint32_t mxcsr, const union vector *a, const union vector *b, bool quiet,
                      uint32_t *rflags);
uint32_t float_comi_d(uint32_t mxcsr, const union vector *a, const union vector *b, bool quiet,
                      uint32_t *rflags);

#endif
