/*
 * SSE's and AVX's floating-point arithmetic against this host's processor: results and MXCSR of
 * every instruction over random and special values, in all roundings, with DAZ, FTZ and any masks.
 * An exception that is not masked comes here as SIGFPE, with MXCSR in the signal's frame. What the
 * host lacks (SSE4.1, AVX) is left out and said. Then what the manual says of approximations and of
 * unmasked exceptions.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

#include "x86/regs.h"
#include "sim/fpu/float.h"

#define MXCSR_DEFAULT 0x1f80
#define ROUNDS        1500

/* ---- values ---- */

static uint64_t seed = 0x9e3779b97f4a7c15;
static uint64_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x2545f4914f6cdd1d >> 11;
}
static uint64_t rnd64(void)
{
    return rnd() << 32 ^ rnd();
}

/* As exponent (0 to 3 from below, 4 and more from the middle on, 8 and more from the top) and
 * fraction: what is at the edges of the format. */
static uint64_t special(bool wide)
{
    unsigned bits = wide ? 52 : 23;
    uint64_t top = wide ? 0x7ff : 0xff, middle = top / 2;
    static const int16_t near_middle[] = {-2, -1, 0,  1,  2,  22, 23, 24,
                                          30, 31, 32, 52, 53, 62, 63, 64};
    uint64_t exponent;
    switch (rnd() % 6) {
    case 0:
        exponent = rnd() % 3;
        break;
    case 1:
        exponent = top - rnd() % 3;
        break;
    case 2:
        exponent = (middle / 2) + rnd() % 5 - 2; /* whose square is at the edge */
        break;
    case 3:
        exponent = middle + middle / 2 + rnd() % 5 - 2;
        break;
    default:
        exponent = middle + near_middle[rnd() % 16];
    }
    uint64_t fraction = 0, mask = (1ULL << bits) - 1;
    switch (rnd() % 6) {
    case 0:
        break;
    case 1:
        fraction = mask;
        break;
    case 2:
        fraction = 1ULL << rnd() % bits;
        break;
    case 3:
        fraction = mask & (mask << rnd() % bits);
        break;
    case 4:
        fraction = rnd64() & mask & ~(mask >> rnd() % bits);
        break;
    default:
        fraction = rnd64() & mask;
    }
    return (rnd() & 1) << (wide ? 63 : 31) | exponent << bits | (fraction & mask);
}
static void fill(union vector *v, bool wide)
{
    unsigned kind = rnd() % 8;
    for (unsigned i = 0; i < (wide ? 4u : 8u); i++) {
        uint64_t x = kind == 0 || rnd() % 8 == 0 ? rnd64() : special(wide);
        if (wide)
            v->u64[i] = x;
        else
            v->u32[i] = (uint32_t)x;
    }
}
/* Some elements of b like a's: equal, opposite, neighbouring. */
static void relate(const union vector *a, union vector *b, bool wide)
{
    for (unsigned i = 0; i < (wide ? 4u : 8u); i++) {
        if (rnd() % 4)
            continue;
        uint64_t x = wide ? a->u64[i] : a->u32[i];
        x += rnd() % 3 - 1;
        x ^= (rnd() & 1) << (wide ? 63 : 31);
        if (wide)
            b->u64[i] = x;
        else
            b->u32[i] = (uint32_t)x;
    }
}
/* Rounding, DAZ, FTZ and flags; all masked, or one alone not, or any. */
static uint32_t any_mxcsr(void)
{
    uint32_t m = (uint32_t)rnd() & 0xe040;
    if (rnd() & 1)
        m |= (uint32_t)rnd() & MXCSR_FLAGS;
    switch (rnd() % 4) {
    case 0:
    case 1:
        return m | MXCSR_MASKS;
    case 2:
        return m | (MXCSR_MASKS & ~(1u << (MXCSR_MASK_SHIFT + rnd() % 6)));
    default:
        return m | ((uint32_t)rnd() & MXCSR_MASKS);
    }
}

/* ---- the host ---- */

static sigjmp_buf after_fault;
static volatile uint32_t fault_mxcsr;
static void on_sigfpe(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    fault_mxcsr = ((ucontext_t *)context)->uc_mcontext.fpregs->mxcsr;
    siglongjmp(after_fault, 1);
}

struct context {
    union vector a, b;
    uint64_t r; /* general-purpose register, in and out */
    uint64_t rflags;
    uint32_t mxcsr;
};
typedef void native_fn(struct context *c);
#define NATIVE(name, load_a, load_b, insn, save, clean)                                            \
    static void native_##name(struct context *c)                                                   \
    {                                                                                              \
        __asm__ volatile(load_a " (%0), %%" load_b "0\n\t" load_a " 32(%0), %%" load_b "1\n\t"     \
                                "mov 64(%0), %%rdx\n\t"                                            \
                                "ldmxcsr 80(%0)\n\t" insn "\n\t"                                   \
                                "stmxcsr 80(%0)\n\t"                                               \
                                "pushfq\n\t"                                                       \
                                "pop 72(%0)\n\t"                                                   \
                                "mov %%rdx, 64(%0)\n\t" save " %%" load_b "0, (%0)\n\t" clean      \
                         :                                                                         \
                         : "r"(c)                                                                  \
                         : "memory", "cc", "rdx", "xmm0", "xmm1", "mm0");                          \
    }
#define NATIVE128(name, insn) NATIVE(name, "movups", "xmm", insn, "movups", "")
#define NATIVE256(name, insn) NATIVE(name, "vmovups", "ymm", insn, "vmovups", "vzeroupper")

/* cmocka takes SIGFPE for each test. */
static void catch_sigfpe(void)
{
    struct sigaction action = {.sa_sigaction = on_sigfpe, .sa_flags = SA_SIGINFO};
    sigaction(SIGFPE, &action, NULL);
}

/* The insn reads xmm1 (or rdx), writes xmm0 (or rdx). False: it raised the exception, and MXCSR is
 * the signal's. */
static bool run_native(native_fn *f, struct context *c)
{
    uint32_t usual = MXCSR_DEFAULT;
    if (sigsetjmp(after_fault, 1)) {
        __asm__ volatile("ldmxcsr %0" ::"m"(usual));
        c->mxcsr = fault_mxcsr;
        return false;
    }
    f(c);
    __asm__ volatile("ldmxcsr %0" ::"m"(usual));
    return true;
}

/* ---- instructions on vectors ---- */

enum needs { NOTHING, SSE41, AVX };
static bool host_has(enum needs needs)
{
    return needs == NOTHING || (needs == SSE41 && __builtin_cpu_supports("sse4.1")) ||
           (needs == AVX && __builtin_cpu_supports("avx"));
}

/* Lines: name, instruction, our function, elements, immediate, doubles in the source, needs. */
#define PACKED_AND_SCALAR(X, op)                                                                   \
    X(op##ps, #op "ps %%xmm1, %%xmm0", float_##op##_s, 4, 0, false, NOTHING)                       \
    X(op##ss, #op "ss %%xmm1, %%xmm0", float_##op##_s, 1, 0, false, NOTHING)                       \
    X(op##pd, #op "pd %%xmm1, %%xmm0", float_##op##_d, 2, 0, true, NOTHING)                        \
    X(op##sd, #op "sd %%xmm1, %%xmm0", float_##op##_d, 1, 0, true, NOTHING)
#define COMPARISON(X, n)                                                                           \
    X(cmpps##n, "cmpps $" #n ", %%xmm1, %%xmm0", float_compare_s, 4, n, false, NOTHING)            \
    X(cmpss##n, "cmpss $" #n ", %%xmm1, %%xmm0", float_compare_s, 1, n, false, NOTHING)            \
    X(cmppd##n, "cmppd $" #n ", %%xmm1, %%xmm0", float_compare_d, 2, n, true, NOTHING)             \
    X(cmpsd##n, "cmpsd $" #n ", %%xmm1, %%xmm0", float_compare_d, 1, n, true, NOTHING)
#define ROUNDING(X, n)                                                                             \
    X(roundps##n, "roundps $" #n ", %%xmm1, %%xmm0", float_round_s, 4, n, false, SSE41)            \
    X(roundss##n, "roundss $" #n ", %%xmm1, %%xmm0", float_round_s, 1, n, false, SSE41)            \
    X(roundpd##n, "roundpd $" #n ", %%xmm1, %%xmm0", float_round_d, 2, n, true, SSE41)             \
    X(roundsd##n, "roundsd $" #n ", %%xmm1, %%xmm0", float_round_d, 1, n, true, SSE41)
#define INSTRUCTIONS128(X)                                                                         \
    PACKED_AND_SCALAR(X, add)                                                                      \
    PACKED_AND_SCALAR(X, sub)                                                                      \
    PACKED_AND_SCALAR(X, mul)                                                                      \
    PACKED_AND_SCALAR(X, div)                                                                      \
    PACKED_AND_SCALAR(X, min)                                                                      \
    PACKED_AND_SCALAR(X, max)                                                                      \
    PACKED_AND_SCALAR(X, sqrt)                                                                     \
    X(addsubps, "addsubps %%xmm1, %%xmm0", float_addsub_s, 4, 0, false, NOTHING)                   \
    X(addsubpd, "addsubpd %%xmm1, %%xmm0", float_addsub_d, 2, 0, true, NOTHING)                    \
    X(haddps, "haddps %%xmm1, %%xmm0", float_hadd_s, 4, 0, false, NOTHING)                         \
    X(haddpd, "haddpd %%xmm1, %%xmm0", float_hadd_d, 2, 0, true, NOTHING)                          \
    X(hsubps, "hsubps %%xmm1, %%xmm0", float_hsub_s, 4, 0, false, NOTHING)                         \
    X(hsubpd, "hsubpd %%xmm1, %%xmm0", float_hsub_d, 2, 0, true, NOTHING)                          \
    X(dppsff, "dpps $0xff, %%xmm1, %%xmm0", float_dot_s, 4, 0xff, false, SSE41)                    \
    X(dpps35, "dpps $0x35, %%xmm1, %%xmm0", float_dot_s, 4, 0x35, false, SSE41)                    \
    X(dppsca, "dpps $0xca, %%xmm1, %%xmm0", float_dot_s, 4, 0xca, false, SSE41)                    \
    X(dppd33, "dppd $0x33, %%xmm1, %%xmm0", float_dot_d, 2, 0x33, true, SSE41)                     \
    X(dppd12, "dppd $0x12, %%xmm1, %%xmm0", float_dot_d, 2, 0x12, true, SSE41)                     \
    COMPARISON(X, 0)                                                                               \
    COMPARISON(X, 1)                                                                               \
    COMPARISON(X, 2)                                                                               \
    COMPARISON(X, 3)                                                                               \
    COMPARISON(X, 4)                                                                               \
    COMPARISON(X, 5)                                                                               \
    COMPARISON(X, 6)                                                                               \
    COMPARISON(X, 7)                                                                               \
    ROUNDING(X, 0)                                                                                 \
    ROUNDING(X, 1)                                                                                 \
    ROUNDING(X, 2)                                                                                 \
    ROUNDING(X, 3)                                                                                 \
    ROUNDING(X, 4)                                                                                 \
    ROUNDING(X, 12)                                                                                \
    X(cvtss2sd, "cvtss2sd %%xmm1, %%xmm0", float_s_to_d, 1, 0, false, NOTHING)                     \
    X(cvtps2pd, "cvtps2pd %%xmm1, %%xmm0", float_s_to_d, 2, 0, false, NOTHING)                     \
    X(cvtsd2ss, "cvtsd2ss %%xmm1, %%xmm0", float_d_to_s, 1, 0, true, NOTHING)                      \
    X(cvtpd2ps, "cvtpd2ps %%xmm1, %%xmm0", float_d_to_s, 2, 0, true, NOTHING)                      \
    X(cvtdq2ps, "cvtdq2ps %%xmm1, %%xmm0", float_i_to_s, 4, 0, false, NOTHING)                     \
    X(cvtdq2pd, "cvtdq2pd %%xmm1, %%xmm0", float_i_to_d, 2, 0, false, NOTHING)                     \
    X(cvtps2dq, "cvtps2dq %%xmm1, %%xmm0", float_s_to_i, 4, 0, false, NOTHING)                     \
    X(cvttps2dq, "cvttps2dq %%xmm1, %%xmm0", float_s_to_i_t, 4, 0, false, NOTHING)                 \
    X(cvtpd2dq, "cvtpd2dq %%xmm1, %%xmm0", float_d_to_i, 2, 0, true, NOTHING)                      \
    X(cvttpd2dq, "cvttpd2dq %%xmm1, %%xmm0", float_d_to_i_t, 2, 0, true, NOTHING)                  \
    X(cvtpi2ps, "movdq2q %%xmm1, %%mm0\n\tcvtpi2ps %%mm0, %%xmm0\n\temms", float_i_to_s, 2, 0,     \
      false, NOTHING)                                                                              \
    X(cvtpi2pd, "movdq2q %%xmm1, %%mm0\n\tcvtpi2pd %%mm0, %%xmm0\n\temms", float_i_to_d, 2, 0,     \
      false, NOTHING)
#define VPACKED(X, op)                                                                             \
    X(v##op##ps, "v" #op "ps %%ymm1, %%ymm0, %%ymm0", float_##op##_s, 8, 0, false, AVX)            \
    X(v##op##pd, "v" #op "pd %%ymm1, %%ymm0, %%ymm0", float_##op##_d, 4, 0, true, AVX)
#define VCOMPARISON(X, n)                                                                          \
    X(vcmpps##n, "vcmpps $" #n ", %%ymm1, %%ymm0, %%ymm0", float_compare_s, 8, n, false, AVX)      \
    X(vcmppd##n, "vcmppd $" #n ", %%ymm1, %%ymm0, %%ymm0", float_compare_d, 4, n, true, AVX)
#define INSTRUCTIONS256(X)                                                                         \
    VPACKED(X, add)                                                                                \
    VPACKED(X, sub)                                                                                \
    VPACKED(X, mul)                                                                                \
    VPACKED(X, div)                                                                                \
    VPACKED(X, min)                                                                                \
    VPACKED(X, max)                                                                                \
    X(vsqrtps, "vsqrtps %%ymm1, %%ymm0", float_sqrt_s, 8, 0, false, AVX)                           \
    X(vsqrtpd, "vsqrtpd %%ymm1, %%ymm0", float_sqrt_d, 4, 0, true, AVX)                            \
    X(vaddsubps, "vaddsubps %%ymm1, %%ymm0, %%ymm0", float_addsub_s, 8, 0, false, AVX)             \
    X(vaddsubpd, "vaddsubpd %%ymm1, %%ymm0, %%ymm0", float_addsub_d, 4, 0, true, AVX)              \
    X(vhaddps, "vhaddps %%ymm1, %%ymm0, %%ymm0", float_hadd_s, 8, 0, false, AVX)                   \
    X(vhaddpd, "vhaddpd %%ymm1, %%ymm0, %%ymm0", float_hadd_d, 4, 0, true, AVX)                    \
    X(vhsubps, "vhsubps %%ymm1, %%ymm0, %%ymm0", float_hsub_s, 8, 0, false, AVX)                   \
    X(vhsubpd, "vhsubpd %%ymm1, %%ymm0, %%ymm0", float_hsub_d, 4, 0, true, AVX)                    \
    X(vdpps, "vdpps $0xb5, %%ymm1, %%ymm0, %%ymm0", float_dot_s, 8, 0xb5, false, AVX)              \
    X(vroundps, "vroundps $4, %%ymm1, %%ymm0", float_round_s, 8, 4, false, AVX)                    \
    X(vroundpd, "vroundpd $2, %%ymm1, %%ymm0", float_round_d, 4, 2, true, AVX)                     \
    X(vcvtps2pd, "vcvtps2pd %%xmm1, %%ymm0", float_s_to_d, 4, 0, false, AVX)                       \
    X(vcvtdq2ps, "vcvtdq2ps %%ymm1, %%ymm0", float_i_to_s, 8, 0, false, AVX)                       \
    X(vcvtdq2pd, "vcvtdq2pd %%xmm1, %%ymm0", float_i_to_d, 4, 0, false, AVX)                       \
    X(vcvtps2dq, "vcvtps2dq %%ymm1, %%ymm0", float_s_to_i, 8, 0, false, AVX)                       \
    X(vcvttps2dq, "vcvttps2dq %%ymm1, %%ymm0", float_s_to_i_t, 8, 0, false, AVX)                   \
    VCOMPARISON(X, 8)                                                                              \
    VCOMPARISON(X, 9)                                                                              \
    VCOMPARISON(X, 10)                                                                             \
    VCOMPARISON(X, 11)                                                                             \
    VCOMPARISON(X, 12)                                                                             \
    VCOMPARISON(X, 13)                                                                             \
    VCOMPARISON(X, 14)                                                                             \
    VCOMPARISON(X, 15)                                                                             \
    VCOMPARISON(X, 16)                                                                             \
    VCOMPARISON(X, 17)                                                                             \
    VCOMPARISON(X, 18)                                                                             \
    VCOMPARISON(X, 19)                                                                             \
    VCOMPARISON(X, 20)                                                                             \
    VCOMPARISON(X, 21)                                                                             \
    VCOMPARISON(X, 22)                                                                             \
    VCOMPARISON(X, 23)                                                                             \
    VCOMPARISON(X, 24)                                                                             \
    VCOMPARISON(X, 25)                                                                             \
    VCOMPARISON(X, 26)                                                                             \
    VCOMPARISON(X, 27)                                                                             \
    VCOMPARISON(X, 28)                                                                             \
    VCOMPARISON(X, 29)                                                                             \
    VCOMPARISON(X, 30)                                                                             \
    VCOMPARISON(X, 31)

#define INSTRUCTIONS256_TO_128(X)                                                                  \
    X(vcvtpd2ps, "vcvtpd2ps %%ymm1, %%xmm0", float_d_to_s, 4, 0, true, AVX)                        \
    X(vcvtpd2dq, "vcvtpd2dq %%ymm1, %%xmm0", float_d_to_i, 4, 0, true, AVX)                        \
    X(vcvttpd2dq, "vcvttpd2dq %%ymm1, %%xmm0", float_d_to_i_t, 4, 0, true, AVX)

// clang-format off
#define MAKE128(name, insn, fn, n, imm, wide, needs) NATIVE128(name, insn)
#define MAKE256(name, insn, fn, n, imm, wide, needs) NATIVE256(name, insn)
INSTRUCTIONS128(MAKE128)
INSTRUCTIONS256(MAKE256)
INSTRUCTIONS256_TO_128(MAKE256)
// clang-format on

#define ROW(name, insn, fn, n, imm, wide, needs) #name, native_##name, fn, n, imm, wide, needs
#define ROW128(...)                              {ROW(__VA_ARGS__), 16},
#define ROW256(...)                              {ROW(__VA_ARGS__), 32},
static const struct {
    const char *name;
    native_fn *native;
    float_fn *fn;
    unsigned n, imm;
    bool wide;
    enum needs needs;
    unsigned bytes; /* of the result */
} instructions[] = {INSTRUCTIONS128(ROW128) INSTRUCTIONS256(ROW256) INSTRUCTIONS256_TO_128(ROW128)};

static void print_vector(const char *what, const union vector *v)
{
    print_error("  %s %016llx %016llx %016llx %016llx\n", what, (unsigned long long)v->u64[3],
                (unsigned long long)v->u64[2], (unsigned long long)v->u64[1],
                (unsigned long long)v->u64[0]);
}

static void vectors(void **state)
{
    (void)state;
    unsigned raised = 0, wrong = 0;
    catch_sigfpe();
    for (size_t k = 0; k < sizeof(instructions) / sizeof(*instructions); k++) {
        if (!host_has(instructions[k].needs)) {
            print_message("# %s is not this host's\n", instructions[k].name);
            continue;
        }
        unsigned here = 0;
        for (unsigned round = 0; round < ROUNDS && here < 3; round++) {
            struct context c = {.mxcsr = any_mxcsr()};
            fill(&c.a, instructions[k].wide);
            fill(&c.b, instructions[k].wide);
            relate(&c.a, &c.b, instructions[k].wide);
            const struct context before = c;
            union vector r = before.a;
            bool done = run_native(instructions[k].native, &c);
            uint32_t flags = instructions[k].fn(before.mxcsr, &r, &before.b, instructions[k].n,
                                                instructions[k].imm);
            bool may = !mxcsr_unmasked(before.mxcsr, flags);
            bool same = may && memcmp(&r, &c.a, instructions[k].bytes) == 0;
            raised += !done;
            if ((before.mxcsr | flags) == c.mxcsr && (may ? done && same : !done))
                continue;
            here++;
            wrong++;
            print_error("%s, MXCSR %x: the host has %x%s, we %x%s\n", instructions[k].name,
                        before.mxcsr, c.mxcsr, done ? "" : " and SIGFPE", before.mxcsr | flags,
                        may ? "" : " and #XM");
            print_vector("first ", &before.a);
            print_vector("second", &before.b);
            print_vector("host  ", &c.a);
            print_vector("we    ", &r);
        }
    }
    assert_int_equal(wrong, 0);
    assert_true(raised > 1000);
}

/* ---- general-purpose and MMX registers, flags ---- */

/* Each line: name, instruction on xmm0, xmm1 and rdx, and what we make of it in r and rflags. */
#define INTEGERS(X)                                                                                \
    X(cvtsi2ss, "cvtsi2ssl %%edx, %%xmm0", float_from_integer_s(c->mxcsr, &c->a, c->r, false))     \
    X(cvtsi2ssq, "cvtsi2ssq %%rdx, %%xmm0", float_from_integer_s(c->mxcsr, &c->a, c->r, true))     \
    X(cvtsi2sd, "cvtsi2sdl %%edx, %%xmm0", float_from_integer_d(c->mxcsr, &c->a, c->r, false))     \
    X(cvtsi2sdq, "cvtsi2sdq %%rdx, %%xmm0", float_from_integer_d(c->mxcsr, &c->a, c->r, true))     \
    X(cvtss2si, "cvtss2si %%xmm1, %%edx",                                                          \
      float_to_integer_s(c->mxcsr, &c->r, &c->b, false, false))                                    \
    X(cvtss2siq, "cvtss2si %%xmm1, %%rdx",                                                         \
      float_to_integer_s(c->mxcsr, &c->r, &c->b, true, false))                                     \
    X(cvttss2si, "cvttss2si %%xmm1, %%edx",                                                        \
      float_to_integer_s(c->mxcsr, &c->r, &c->b, false, true))                                     \
    X(cvttss2siq, "cvttss2si %%xmm1, %%rdx",                                                       \
      float_to_integer_s(c->mxcsr, &c->r, &c->b, true, true))                                      \
    X(cvtsd2si, "cvtsd2si %%xmm1, %%edx",                                                          \
      float_to_integer_d(c->mxcsr, &c->r, &c->b, false, false))                                    \
    X(cvtsd2siq, "cvtsd2si %%xmm1, %%rdx",                                                         \
      float_to_integer_d(c->mxcsr, &c->r, &c->b, true, false))                                     \
    X(cvttsd2si, "cvttsd2si %%xmm1, %%edx",                                                        \
      float_to_integer_d(c->mxcsr, &c->r, &c->b, false, true))                                     \
    X(cvttsd2siq, "cvttsd2si %%xmm1, %%rdx",                                                       \
      float_to_integer_d(c->mxcsr, &c->r, &c->b, true, true))                                      \
    X(comiss, "comiss %%xmm1, %%xmm0", float_comi_s(c->mxcsr, &c->a, &c->b, false, &rflags))       \
    X(comisd, "comisd %%xmm1, %%xmm0", float_comi_d(c->mxcsr, &c->a, &c->b, false, &rflags))       \
    X(ucomiss, "ucomiss %%xmm1, %%xmm0", float_comi_s(c->mxcsr, &c->a, &c->b, true, &rflags))      \
    X(ucomisd, "ucomisd %%xmm1, %%xmm0", float_comi_d(c->mxcsr, &c->a, &c->b, true, &rflags))      \
    X(cvtps2pi, "cvtps2pi %%xmm1, %%mm0\n\tmovq %%mm0, %%rdx\n\temms", to_mmx(float_s_to_i, c))    \
    X(cvttps2pi, "cvttps2pi %%xmm1, %%mm0\n\tmovq %%mm0, %%rdx\n\temms",                           \
      to_mmx(float_s_to_i_t, c))                                                                   \
    X(cvtpd2pi, "cvtpd2pi %%xmm1, %%mm0\n\tmovq %%mm0, %%rdx\n\temms", to_mmx(float_d_to_i, c))    \
    X(cvttpd2pi, "cvttpd2pi %%xmm1, %%mm0\n\tmovq %%mm0, %%rdx\n\temms", to_mmx(float_d_to_i_t, c))
#define ARITHMETIC_RFLAGS (RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF)

static uint32_t to_mmx(float_fn *f, struct context *c)
{
    union vector r = {{0}};
    uint32_t flags = f(c->mxcsr, &r, &c->b, 2, 0);
    c->r = r.u64[0];
    return flags;
}

// clang-format off
#define MAKE_BOTH(name, insn, call)                                                                \
    NATIVE128(name, insn)                                                                          \
    static uint32_t ours_##name(struct context *c)                                                 \
    {                                                                                              \
        uint32_t rflags = 0;                                                                       \
        uint32_t flags = call;                                                                     \
        c->rflags = rflags;                                                                        \
        return flags;                                                                              \
    }
INTEGERS(MAKE_BOTH)
// clang-format on
#define ROW_BOTH(name, insn, call) {#name, native_##name, ours_##name},

static void integers_and_flags(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        native_fn *native;
        uint32_t (*ours)(struct context *c);
    } both[] = {INTEGERS(ROW_BOTH)};
    unsigned wrong = 0;
    catch_sigfpe();
    for (size_t k = 0; k < sizeof(both) / sizeof(*both); k++) {
        bool wide = strstr(both[k].name, "sd") || strstr(both[k].name, "pd");
        bool sets_flags = strstr(both[k].name, "comi");
        for (unsigned round = 0; round < ROUNDS; round++) {
            struct context host = {.mxcsr = any_mxcsr(), .r = rnd64() >> rnd() % 64};
            fill(&host.a, wide);
            fill(&host.b, wide);
            relate(&host.a, &host.b, wide);
            struct context we = host;
            const struct context before = host;
            bool done = run_native(both[k].native, &host);
            uint32_t flags = both[k].ours(&we);
            bool may = !mxcsr_unmasked(before.mxcsr, flags);
            if ((before.mxcsr | flags) == host.mxcsr && may == done &&
                (!done || (we.r == host.r && memcmp(&we.a, &host.a, 16) == 0 &&
                           (!sets_flags || we.rflags == (host.rflags & ARITHMETIC_RFLAGS)))))
                continue;
            wrong++;
            print_error(
                "%s, MXCSR %x: the host has %x, %llx, flags %llx%s, we %x, %llx, flags %llx%s\n",
                both[k].name, before.mxcsr, host.mxcsr, (unsigned long long)host.r,
                (unsigned long long)host.rflags, done ? "" : " and SIGFPE", before.mxcsr | flags,
                (unsigned long long)we.r, (unsigned long long)we.rflags, may ? "" : " and #XM");
            print_vector("first ", &before.a);
            print_vector("second", &before.b);
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- what the manual says ---- */

static float as_float(uint32_t x)
{
    float f;
    memcpy(&f, &x, sizeof(f));
    return f;
}
static uint32_t one(float_fn *f, uint32_t x)
{
    union vector d = {{0}}, b = {.u32 = {x}};
    assert_int_equal(f(MXCSR_DEFAULT, &d, &b, 1, 0), 0);
    return d.u32[0];
}
/* SDM vol. 2 "RCPPS", "RSQRTPS": |relative error| <= 1.5 * 2^-12. */
static void approximations(void **state)
{
    (void)state;
    const double allowed = 1.5 / 4096;
    for (unsigned step = 0; step < 200000; step++) {
        uint32_t fraction = step < 4096 ? step : (uint32_t)rnd() & 0x7fffff;
        uint32_t x = (1 + (uint32_t)rnd() % 250) << 23 | fraction;
        double r = (double)as_float(one(float_rcp, x)) * as_float(x) - 1;
        if (!(r >= -allowed && r <= allowed))
            fail_msg("RCPSS of %08x is wrong by %g", x, r);
        assert_int_equal(one(float_rcp, x | 0x80000000), one(float_rcp, x) | 0x80000000);
        double q = as_float(one(float_rsqrt, x));
        /* (1 + e)^2 is 1 + 2e + e^2 */
        r = q * q * as_float(x) - 1;
        if (!(r >= -2 * allowed + allowed * allowed && r <= 2 * allowed + allowed * allowed))
            fail_msg("RSQRTSS of %08x is wrong by %g", x, r / 2);
    }
    static const struct {
        uint32_t x, rcp, rsqrt;
    } known[] = {
        {0x00000000, 0x7f800000, 0x7f800000}, /* zeros: infinities */
        {0x80000000, 0xff800000, 0xff800000},
        {0x00000001, 0x7f800000, 0x7f800000}, /* denormals: taken for zeros */
        {0x807fffff, 0xff800000, 0xff800000},
        {0x7f800000, 0x00000000, 0x00000000}, /* infinities */
        {0xff800000, 0x80000000, 0xffc00000},
        {0xbf800000, 0xbf800000, 0xffc00000}, /* -1: the root is invalid */
        {0x7fa01234, 0x7fe01234, 0x7fe01234}, /* SNaN: quiet */
        {0xffc56789, 0xffc56789, 0xffc56789}, /* QNaN */
        {0x7e800c01, 0x00000000, 0x1f000000}, /* the result would be tiny (rsqrt: not looked at) */
        {0xff7fffff, 0x80000000, 0xffc00000},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        assert_int_equal(one(float_rcp, known[i].x), known[i].rcp);
        if (known[i].x != 0x7e800c01)
            assert_int_equal(one(float_rsqrt, known[i].x), known[i].rsqrt);
    }
    /* 1.11111111110100000000000B * 2^125: the greatest whose result is surely not tiny. */
    assert_true(one(float_rcp, 0x7e7fe800) >= 0x00800000);
}

#define UNMASK(flag) ((uint32_t)MXCSR_DEFAULT & ~((flag) << MXCSR_MASK_SHIFT))
/* SDM vol. 1 "Numeric Overflow Exception (#O)", "Numeric Underflow Exception (#U)", "Generating
 * SIMD Floating-Point Exceptions", vol. 3 "Interrupt 19", the priorities. */
static void unmasked_exceptions(void **state)
{
    (void)state;
    const uint32_t most = 0x7f7fffff, least = 0x00800000, half = 0x3f000000, denormal = 1,
                   snan = 0x7f800001, infinity = 0x7f800000, third = 0x3eaaaaab,
                   one_up = 0x3f800001;
    static const uint32_t ftz = MXCSR_FTZ;
    const struct {
        float_fn *fn;
        uint32_t a, b, mxcsr, flags;
    } cases[] = {
        /* Too large is inexact only if it would be with an exponent without bound. */
        {float_add_s, most, most, MXCSR_DEFAULT, MXCSR_OE | MXCSR_PE},
        {float_add_s, most, most, UNMASK(MXCSR_OE), MXCSR_OE},
        {float_mul_s, most, one_up, UNMASK(MXCSR_OE), MXCSR_OE | MXCSR_PE},
        {float_mul_s, infinity, one_up, UNMASK(MXCSR_OE), 0},
        /* Too small underflows, though exact, if that is not masked. */
        {float_mul_s, least, half, MXCSR_DEFAULT, 0},
        {float_mul_s, least, half, UNMASK(MXCSR_UE), MXCSR_UE},
        {float_mul_s, least, third, UNMASK(MXCSR_UE), MXCSR_UE},
        {float_mul_s, least + 1, third, UNMASK(MXCSR_UE), MXCSR_UE | MXCSR_PE},
        /* ... whatever FTZ says. */
        {float_mul_s, least, half, MXCSR_DEFAULT | ftz, MXCSR_UE | MXCSR_PE},
        {float_mul_s, least, half, UNMASK(MXCSR_UE) | ftz, MXCSR_UE},
        /* What is found beforehand hides what would be found afterwards. */
        {float_mul_s, denormal, third, MXCSR_DEFAULT, MXCSR_DE | MXCSR_UE | MXCSR_PE},
        {float_mul_s, denormal, third, UNMASK(MXCSR_DE), MXCSR_DE},
        {float_mul_s, denormal, third, UNMASK(MXCSR_PE), MXCSR_DE | MXCSR_UE | MXCSR_PE},
        /* Of one element: SNaN before all, division by zero before a denormal. */
        {float_mul_s, denormal, snan, UNMASK(MXCSR_DE), MXCSR_IE},
        {float_div_s, denormal, 0, UNMASK(MXCSR_DE), MXCSR_ZE},
        /* DAZ: there is no denormal. */
        {float_mul_s, denormal, third, UNMASK(MXCSR_DE | MXCSR_UE) | MXCSR_DAZ, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        union vector d = {.u32 = {cases[i].a}}, b = {.u32 = {cases[i].b}};
        uint32_t flags = cases[i].fn(cases[i].mxcsr, &d, &b, 1, 0);
        if (flags != cases[i].flags)
            fail_msg("case %zu: flags %x, not %x", i, flags, cases[i].flags);
    }
    /* Of several elements: an unmasked invalid operation in one hides another's overflow, not its
     * division by zero. */
    union vector d = {.u32 = {snan, most, least, least}}, b = {.u32 = {least, half, 0, least}};
    assert_int_equal(float_div_s(MXCSR_DEFAULT, &d, &b, 4, 0),
                     MXCSR_IE | MXCSR_OE | MXCSR_ZE | MXCSR_PE);
    d = (union vector){.u32 = {snan, most, least, least}};
    assert_int_equal(float_div_s(UNMASK(MXCSR_IE), &d, &b, 4, 0), MXCSR_IE | MXCSR_ZE);
}

static void the_hosts_mxcsr_stays(void **state)
{
    (void)state;
    uint32_t mxcsr;
    union vector d = {.u32 = {0x3f800000}}, b = {.u32 = {0x40400000}};
    float_div_s(0xffff & ~MXCSR_FLAGS, &d, &b, 1, 0);
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    assert_int_equal(mxcsr & ~MXCSR_FLAGS, MXCSR_DEFAULT);
    float_round_s(0x1f80, &d, &b, 1, 0);
    float_compare_s(0x7fff, &d, &b, 1, 1);
    __asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
    assert_int_equal(mxcsr & ~MXCSR_FLAGS, MXCSR_DEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(integers_and_flags),
        cmocka_unit_test(approximations),
        cmocka_unit_test(unmasked_exceptions),
        cmocka_unit_test(the_hosts_mxcsr_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
