/* Which mnemonic is which function: floating-point arithmetic (sim/fpu/float.h). */
#include "sim/cpu/vector.h"
#include "sim/fpu/float.h"

/* Of as many elements as the vector has, of 4 or 8 bytes; and of the lowest alone, where the others
 * of the 16 bytes are the first source's. */
#define PACKED(name, f, size)                                                                      \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        *d = *a;                                                                                   \
        how->raised = f(how->mxcsr, d, b, how->bytes / (size), how->imm);                          \
    }
#define SCALAR(name, f)                                                                            \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        *d = *a;                                                                                   \
        how->raised = f(how->mxcsr, d, b, 1, how->imm);                                            \
    }
#define ARITHMETIC(op)                                                                             \
    PACKED(op##ps, float_##op##_s, 4)                                                              \
    PACKED(op##pd, float_##op##_d, 8)                                                              \
    SCALAR(op##ss, float_##op##_s)                                                                 \
    SCALAR(op##sd, float_##op##_d)
#define PACKED_ALONE(op)                                                                           \
    PACKED(op##ps, float_##op##_s, 4)                                                              \
    PACKED(op##pd, float_##op##_d, 8)
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)
ARITHMETIC(div)
ARITHMETIC(min)
ARITHMETIC(max)
ARITHMETIC(sqrt)
ARITHMETIC(round)
PACKED_ALONE(addsub)
PACKED_ALONE(hadd)
PACKED_ALONE(hsub)
PACKED_ALONE(dot)
PACKED(rcpps, float_rcp, 4)
SCALAR(rcpss, float_rcp)
PACKED(rsqrtps, float_rsqrt, 4)
SCALAR(rsqrtss, float_rsqrt)
PACKED(cvtps2pd, float_s_to_d, 8)
SCALAR(cvtss2sd, float_s_to_d)
SCALAR(cvtsd2ss, float_d_to_s)
PACKED(cvtdq2ps, float_i_to_s, 4)
PACKED(cvtdq2pd, float_i_to_d, 8)
PACKED(cvtps2dq, float_s_to_i, 4)
PACKED(cvttps2dq, float_s_to_i_t, 4)

/* To and from two elements in MMX registers. */
#define TWO(name, f)                                                                               \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        *d = *a;                                                                                   \
        how->raised = f(how->mxcsr, d, b, 2, 0);                                                   \
    }
TWO(cvtpi2ps, float_i_to_s)
TWO(cvtpi2pd, float_i_to_d)
TWO(cvtps2pi, float_s_to_i)
TWO(cvttps2pi, float_s_to_i_t)
TWO(cvtpd2pi, float_d_to_i)
TWO(cvttpd2pi, float_d_to_i_t)

/* From doubles to as many elements of half the width: zeros above. */
#define NARROWING(name, f)                                                                         \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        (void)a;                                                                                   \
        how->raised = f(how->mxcsr, d, b, how->bytes / 8, 0);                                      \
    }
NARROWING(cvtpd2ps, float_d_to_s)
NARROWING(cvtpd2dq, float_d_to_i)
NARROWING(cvttpd2dq, float_d_to_i_t)

/* The legacy forms have eight predicates, the VEX forms 32; what else is in the byte is ignored. */
#define COMPARISON(name, f, n, predicates)                                                         \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        *d = *a;                                                                                   \
        how->raised = f(how->mxcsr, d, b, n, how->imm % (predicates));                             \
    }
COMPARISON(cmpps, float_compare_s, how->bytes / 4, 8)
COMPARISON(cmppd, float_compare_d, how->bytes / 8, 8)
COMPARISON(cmpss, float_compare_s, 1, 8)
COMPARISON(cmpsd, float_compare_d, 1, 8)
COMPARISON(vcmpps, float_compare_s, how->bytes / 4, 32)
COMPARISON(vcmppd, float_compare_d, how->bytes / 8, 32)
COMPARISON(vcmpss, float_compare_s, 1, 32)
COMPARISON(vcmpsd, float_compare_d, 1, 32)

#define FROM_GENERAL(name, f)                                                                      \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        *d = *a;                                                                                   \
        how->raised = f(how->mxcsr, d, b->u64[0], how->width == 8);                                \
    }
FROM_GENERAL(cvtsi2ss, float_from_integer_s)
FROM_GENERAL(cvtsi2sd, float_from_integer_d)

#define TO_GENERAL(name, f, truncate)                                                              \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        (void)a;                                                                                   \
        how->raised = f(how->mxcsr, &d->u64[0], b, how->width == 8, truncate);                     \
    }
TO_GENERAL(cvtss2si, float_to_integer_s, false)
TO_GENERAL(cvttss2si, float_to_integer_s, true)
TO_GENERAL(cvtsd2si, float_to_integer_d, false)
TO_GENERAL(cvttsd2si, float_to_integer_d, true)

#define TO_FLAGS(name, f, quiet)                                                                   \
    static void name(union vector *d, const union vector *a, const union vector *b,                \
                     struct vector_how *how)                                                       \
    {                                                                                              \
        (void)d;                                                                                   \
        how->sets_flags = true;                                                                    \
        how->raised = f(how->mxcsr, a, b, quiet, &how->rflags);                                    \
    }
TO_FLAGS(comiss, float_comi_s, false)
TO_FLAGS(comisd, float_comi_d, false)
TO_FLAGS(ucomiss, float_comi_s, true)
TO_FLAGS(ucomisd, float_comi_d, true)

#define ONE(m, f, ...)  [ZYDIS_MNEMONIC_##m] = {.fn = f, __VA_ARGS__}
#define BOTH(m, f, ...) ONE(m, f, __VA_ARGS__), ONE(V##m, f, __VA_ARGS__)
#define RULES(r)        .rules = (r)

// clang-format off
const struct vector_recipe vector_float[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    BOTH(ADDPS, addps, RULES(0)),
    BOTH(ADDSS, addss, RULES(0)),
    BOTH(ADDPD, addpd, RULES(0)),
    BOTH(ADDSD, addsd, RULES(0)),
    BOTH(SUBPS, subps, RULES(0)),
    BOTH(SUBSS, subss, RULES(0)),
    BOTH(SUBPD, subpd, RULES(0)),
    BOTH(SUBSD, subsd, RULES(0)),
    BOTH(MULPS, mulps, RULES(0)),
    BOTH(MULSS, mulss, RULES(0)),
    BOTH(MULPD, mulpd, RULES(0)),
    BOTH(MULSD, mulsd, RULES(0)),
    BOTH(DIVPS, divps, RULES(0)),
    BOTH(DIVSS, divss, RULES(0)),
    BOTH(DIVPD, divpd, RULES(0)),
    BOTH(DIVSD, divsd, RULES(0)),
    BOTH(MINPS, minps, RULES(0)),
    BOTH(MINSS, minss, RULES(0)),
    BOTH(MINPD, minpd, RULES(0)),
    BOTH(MINSD, minsd, RULES(0)),
    BOTH(MAXPS, maxps, RULES(0)),
    BOTH(MAXSS, maxss, RULES(0)),
    BOTH(MAXPD, maxpd, RULES(0)),
    BOTH(MAXSD, maxsd, RULES(0)),
    BOTH(SQRTPS, sqrtps, RULES(0)),
    BOTH(SQRTSS, sqrtss, RULES(0)),
    BOTH(SQRTPD, sqrtpd, RULES(0)),
    BOTH(SQRTSD, sqrtsd, RULES(0)),
    BOTH(RCPPS, rcpps, RULES(0)),
    BOTH(RCPSS, rcpss, RULES(0)),
    BOTH(RSQRTPS, rsqrtps, RULES(0)),
    BOTH(RSQRTSS, rsqrtss, RULES(0)),
    BOTH(ADDSUBPS, addsubps, RULES(0)),
    BOTH(ADDSUBPD, addsubpd, RULES(0)),
    BOTH(HADDPS, haddps, RULES(0)),
    BOTH(HADDPD, haddpd, RULES(0)),
    BOTH(HSUBPS, hsubps, RULES(0)),
    BOTH(HSUBPD, hsubpd, RULES(0)),
    BOTH(DPPS, dotps, RULES(0)),
    BOTH(DPPD, dotpd, RULES(0)),
    BOTH(ROUNDPS, roundps, RULES(0)),
    BOTH(ROUNDSS, roundss, RULES(0)),
    BOTH(ROUNDPD, roundpd, RULES(0)),
    BOTH(ROUNDSD, roundsd, RULES(0)),
    ONE(CMPPS, cmpps, RULES(0)),
    ONE(CMPSS, cmpss, RULES(0)),
    ONE(CMPPD, cmppd, RULES(0)),
    ONE(CMPSD, cmpsd, RULES(0)),
    ONE(VCMPPS, vcmpps, RULES(0)),
    ONE(VCMPSS, vcmpss, RULES(0)),
    ONE(VCMPPD, vcmppd, RULES(0)),
    ONE(VCMPSD, vcmpsd, RULES(0)),
    BOTH(COMISS, comiss, RULES(VR_COMPARE)),
    BOTH(COMISD, comisd, RULES(VR_COMPARE)),
    BOTH(UCOMISS, ucomiss, RULES(VR_COMPARE)),
    BOTH(UCOMISD, ucomisd, RULES(VR_COMPARE)),
    BOTH(CVTSI2SS, cvtsi2ss, RULES(0)),
    BOTH(CVTSI2SD, cvtsi2sd, RULES(0)),
    BOTH(CVTSS2SI, cvtss2si, RULES(0)),
    BOTH(CVTTSS2SI, cvttss2si, RULES(0)),
    BOTH(CVTSD2SI, cvtsd2si, RULES(0)),
    BOTH(CVTTSD2SI, cvttsd2si, RULES(0)),
    BOTH(CVTSS2SD, cvtss2sd, RULES(0)),
    BOTH(CVTSD2SS, cvtsd2ss, RULES(0)),
    BOTH(CVTPS2PD, cvtps2pd, RULES(0)),
    BOTH(CVTPD2PS, cvtpd2ps, RULES(0)),
    BOTH(CVTDQ2PS, cvtdq2ps, RULES(0)),
    BOTH(CVTDQ2PD, cvtdq2pd, RULES(0)),
    BOTH(CVTPS2DQ, cvtps2dq, RULES(0)),
    BOTH(CVTTPS2DQ, cvttps2dq, RULES(0)),
    BOTH(CVTPD2DQ, cvtpd2dq, RULES(0)),
    BOTH(CVTTPD2DQ, cvttpd2dq, RULES(0)),
    ONE(CVTPI2PS, cvtpi2ps, RULES(0)),
    ONE(CVTPI2PD, cvtpi2pd, RULES(0)),
    ONE(CVTPS2PI, cvtps2pi, RULES(VR_SSE)),
    ONE(CVTTPS2PI, cvttps2pi, RULES(VR_SSE)),
    ONE(CVTPD2PI, cvtpd2pi, RULES(VR_SSE)),
    ONE(CVTTPD2PI, cvttpd2pi, RULES(VR_SSE)),
};
// clang-format on
