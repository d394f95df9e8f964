/* Arithmetic: what can overflow and underflow, and what is made of it. */
#include "sim/fpu/float_host.h"

HOST(host_add_s, "addps")
HOST(host_add_d, "addpd")
HOST(host_add_1s, "addss")
HOST(host_add_1d, "addsd")
HOST(host_sub_s, "subps")
HOST(host_sub_d, "subpd")
HOST(host_sub_1s, "subss")
HOST(host_sub_1d, "subsd")
HOST(host_mul_s, "mulps")
HOST(host_mul_d, "mulpd")
HOST(host_mul_1s, "mulss")
HOST(host_mul_1d, "mulsd")
HOST(host_div_s, "divps")
HOST(host_div_d, "divpd")
HOST(host_div_1s, "divss")
HOST(host_div_1d, "divsd")
HOST(host_min_s, "minps")
HOST(host_min_d, "minpd")
HOST(host_min_1s, "minss")
HOST(host_min_1d, "minsd")
HOST(host_max_s, "maxps")
HOST(host_max_d, "maxpd")
HOST(host_max_1s, "maxss")
HOST(host_max_1d, "maxsd")
HOST(host_sqrt_s, "sqrtps")
HOST(host_sqrt_d, "sqrtpd")
HOST(host_sqrt_1s, "sqrtss")
HOST(host_sqrt_1d, "sqrtsd")
HOST(host_narrow, "cvtpd2ps")
HOST(host_narrow_1, "cvtsd2ss")

/* ---- unmasked overflow and underflow ---- */

/*
 * The same operation on x87, with the destination's precision and an exponent that never ends, as
 * in SDM vol. 1 "Guidelines for Writing SIMD Floating-Point Exception Handlers". Returns x87's
 * status word. The operands lie in the first bytes of a and b.
 */
typedef uint16_t exact_fn(struct x87_register *r, uint16_t control, const uint64_t *a,
                          const uint64_t *b);
#define EXACT(name, insns)                                                                         \
    static uint16_t name(struct x87_register *r, uint16_t control, const uint64_t *a,              \
                         const uint64_t *b)                                                        \
    {                                                                                              \
        struct {                                                                                   \
            uint32_t field[7];                                                                     \
        } env;                                                                                     \
        uint16_t status;                                                                           \
        __asm__ volatile("fnstenv %[env]\n\t"                                                      \
                         "fnclex\n\t"                                                              \
                         "fldcw %[control]\n\t" insns "\n\t"                                       \
                         "fnstsw %[status]\n\t"                                                    \
                         "fstpt %[r]\n\t"                                                          \
                         "fldenv %[env]"                                                           \
                         : [env] "=m"(env), [status] "=&a"(status), [r] "=m"(*r)                   \
                         : [control] "m"(control), [a] "m"(*a), [b] "m"(*b)                        \
                         : "st", "st(1)");                                                         \
        return status;                                                                             \
    }
EXACT(exact_add_s, "flds %[a]\n\tfadds %[b]")
EXACT(exact_add_d, "fldl %[a]\n\tfaddl %[b]")
EXACT(exact_sub_s, "flds %[a]\n\tfsubs %[b]")
EXACT(exact_sub_d, "fldl %[a]\n\tfsubl %[b]")
EXACT(exact_mul_s, "flds %[a]\n\tfmuls %[b]")
EXACT(exact_mul_d, "fldl %[a]\n\tfmull %[b]")
EXACT(exact_div_s, "flds %[a]\n\tfdivs %[b]")
EXACT(exact_div_d, "fldl %[a]\n\tfdivl %[b]")
EXACT(exact_narrow, "fld1\n\tfmull %[b]")

#define X87_MASKED       0x3f
#define X87_PE           0x20
#define X87_DOUBLE       0x200 /* precision control */
#define X87_RC_SHIFT     10
#define X87_EXPONENT     0x7fff
#define X87_BIAS         16383
#define SINGLE_MAX_POWER 127 /* of two, in the greatest number; -126 in the least normal one */
#define DOUBLE_MAX_POWER 1023

static const struct operation {
    host_fn *packed, *scalar;
    exact_fn *exact;    /* NULL: never too large or too small */
    bool wide_in, wide; /* doubles */
} add_s = {host_add_s, host_add_1s, exact_add_s, false, false},
  add_d = {host_add_d, host_add_1d, exact_add_d, true, true},
  sub_s = {host_sub_s, host_sub_1s, exact_sub_s, false, false},
  sub_d = {host_sub_d, host_sub_1d, exact_sub_d, true, true},
  mul_s = {host_mul_s, host_mul_1s, exact_mul_s, false, false},
  mul_d = {host_mul_d, host_mul_1d, exact_mul_d, true, true},
  div_s = {host_div_s, host_div_1s, exact_div_s, false, false},
  div_d = {host_div_d, host_div_1d, exact_div_d, true, true},
  min_s = {host_min_s, host_min_1s, NULL, false, false},
  min_d = {host_min_d, host_min_1d, NULL, true, true},
  max_s = {host_max_s, host_max_1s, NULL, false, false},
  max_d = {host_max_d, host_max_1d, NULL, true, true},
  sqrt_s = {host_sqrt_s, host_sqrt_1s, NULL, false, false},
  sqrt_d = {host_sqrt_d, host_sqrt_1d, NULL, true, true},
  narrow = {host_narrow, host_narrow_1, exact_narrow, true, false};

static uint64_t denormal_to_zero(uint64_t x, bool wide)
{
    uint64_t sign = wide ? DOUBLE_SIGN : SINGLE_SIGN;
    uint64_t exponent = wide ? 0x7ffULL << 52 : 0xffULL << 23;
    return x & exponent ? x : x & sign;
}

/* The flags of one element, of which the operation with everything masked found those in flags. */
static uint32_t element_flags(const struct operation *o, uint32_t mxcsr, uint64_t a, uint64_t b,
                              uint32_t flags)
{
    if (mxcsr & MXCSR_DAZ) {
        a = denormal_to_zero(a, o->wide_in);
        b = denormal_to_zero(b, o->wide_in);
    }
    struct x87_register r;
    uint16_t control =
        X87_MASKED | (o->wide ? X87_DOUBLE : 0) | (mxcsr >> MXCSR_RC_SHIFT & 3) << X87_RC_SHIFT;
    uint16_t status = o->exact(&r, control, &a, &b);
    int power = r.sign_exponent & X87_EXPONENT;
    if (power == X87_EXPONENT || r.mantissa == 0)
        return flags; /* infinity, NaN or zero */
    power -= X87_BIAS;
    int most = o->wide ? DOUBLE_MAX_POWER : SINGLE_MAX_POWER;
    uint32_t found = power > most ? MXCSR_OE : power < 1 - most ? MXCSR_UE : 0;
    if (!mxcsr_unmasked(mxcsr, found))
        return flags;
    /* Unmasked, a tiny result underflows whether it is exact or not; and inexact is what the
     * unbounded exponent leaves inexact. SDM vol. 1 "Numeric Overflow Exception (#O)", "Numeric
     * Underflow Exception (#U)". */
    return (flags & MXCSR_BEFORE) | found | (status & X87_PE ? MXCSR_PE : 0);
}

/* ---- running an operation ---- */

static inline void run(const struct operation *o, union vector *d, const union vector *b,
                       unsigned n)
{
    if (n == 1) {
        put_half(d, 0, o->scalar(get_half(d, 0), get_half(b, 0)));
        return;
    }
    unsigned halves = n >> (o->wide ? 1 : 2);
    for (unsigned i = 0; i < halves; i++)
        put_half(d, i, o->packed(get_half(d, i), get_half(b, i)));
}

/* With the result's vectors in half the width of the source's. */
static inline void run_narrow(union vector *d, const union vector *b, unsigned n)
{
    if (n == 1) {
        put_half(d, 0, host_narrow_1(get_half(d, 0), get_half(b, 0)));
        return;
    }
    __m128i low = host_narrow(get_half(d, 0), get_half(b, 0));
    __m128i high = _mm_setzero_si128();
    if (n == 4)
        high = host_narrow(get_half(d, 0), get_half(b, 1));
    put_half(d, 0, _mm_unpacklo_epi64(low, high));
}

static inline void run_any(const struct operation *o, union vector *d, const union vector *b,
                           unsigned n)
{
    if (o->wide == o->wide_in)
        run(o, d, b, n);
    else
        run_narrow(d, b, n);
}

/* Runs with everything masked; returns the flags that this run finds under the guest's masks. */
static __attribute__((noinline)) uint32_t run_quietly(const struct operation *o, uint32_t mxcsr,
                                                      union vector *d, const union vector *b,
                                                      unsigned n)
{
    union vector a = *d;
    uint32_t own = host_enter(quiet_mxcsr(mxcsr));
    run_any(o, d, b, n);
    uint32_t flags = host_leave(own);
    if (!o->exact || !mxcsr_unmasked(mxcsr, MXCSR_OE | MXCSR_UE))
        return flags;
    uint32_t all = 0;
    for (unsigned i = 0; i < n; i++) {
        union vector x = {0}, y = {0};
        x.u64[0] = get_element(&a, o->wide_in, i);
        y.u64[0] = get_element(b, o->wide_in, i);
        uint64_t first = x.u64[0];
        own = host_enter(quiet_mxcsr(mxcsr));
        run_any(o, &x, &y, 1);
        flags = host_leave(own);
        all |= element_flags(o, mxcsr, first, y.u64[0], flags);
    }
    return all;
}

static inline uint32_t arithmetic(const struct operation *o, uint32_t mxcsr, union vector *d,
                                  const union vector *b, unsigned n)
{
    if (!all_masked(mxcsr))
        return reported(mxcsr, run_quietly(o, mxcsr, d, b, n));
    uint32_t own = host_enter(mxcsr);
    run_any(o, d, b, n);
    return host_leave(own) & ~mxcsr;
}

#define ARITHMETIC(name)                                                                           \
    uint32_t float_##name(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,      \
                          unsigned imm)                                                            \
    {                                                                                              \
        (void)imm;                                                                                 \
        return arithmetic(&name, mxcsr, d, b, n);                                                  \
    }
ARITHMETIC(add_s)
ARITHMETIC(add_d)
ARITHMETIC(sub_s)
ARITHMETIC(sub_d)
ARITHMETIC(mul_s)
ARITHMETIC(mul_d)
ARITHMETIC(div_s)
ARITHMETIC(div_d)
ARITHMETIC(min_s)
ARITHMETIC(min_d)
ARITHMETIC(max_s)
ARITHMETIC(max_d)
ARITHMETIC(sqrt_s)
ARITHMETIC(sqrt_d)

uint32_t float_d_to_s(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,
                      unsigned imm)
{
    (void)imm;
    return arithmetic(&narrow, mxcsr, d, b, n);
}

/* ---- instructions of several operations ---- */

/* SDM vol. 2 "ADDSUBPS", "ADDSUBPD": the even elements are subtracted. The exceptions are those of
 * one instruction: both operations' together. */
static uint32_t addsub(const struct operation *sub, const struct operation *add, uint32_t mxcsr,
                       union vector *d, const union vector *b, unsigned n)
{
    union vector first[2] = {{{0}}}, second[2] = {{{0}}};
    for (unsigned i = 0; i < n; i++) {
        put_element(&first[i & 1], add->wide, i, get_element(d, add->wide, i));
        put_element(&second[i & 1], add->wide, i, get_element(b, add->wide, i));
    }
    uint32_t flags = run_quietly(sub, mxcsr, &first[0], &second[0], n);
    flags |= run_quietly(add, mxcsr, &first[1], &second[1], n);
    for (unsigned i = 0; i < n; i++)
        put_element(d, add->wide, i, get_element(&first[i & 1], add->wide, i));
    return reported(mxcsr, flags);
}

/* Neighbours in each 128 bits, d's below b's: elements 0, 2 ... become a's, 1, 3 ... b's. */
static void pair(bool wide, unsigned n, const union vector *d, const union vector *b,
                 union vector *even, union vector *odd)
{
    unsigned lane = wide ? 2 : 4; /* elements of 128 bits */
    for (unsigned i = 0; i < n; i++) {
        unsigned at = i / lane * lane + 2 * i % lane;
        const union vector *from = i % lane < lane / 2 ? d : b;
        put_element(even, wide, i, get_element(from, wide, at));
        put_element(odd, wide, i, get_element(from, wide, at + 1));
    }
}

/* SDM vol. 2 "HADDPS", "HSUBPS" and those of doubles. */
static uint32_t horizontal(const struct operation *o, uint32_t mxcsr, union vector *d,
                           const union vector *b, unsigned n)
{
    union vector first = *d, odd = {{0}};
    pair(o->wide, n, &first, b, d, &odd);
    return arithmetic(o, mxcsr, d, &odd, n);
}

/* SDM vol. 2 "DPPS", "DPPD": exceptions are determined separately for each multiplication and
 * addition. */
static uint32_t dot(const struct operation *mul, const struct operation *add, uint32_t mxcsr,
                    union vector *d, const union vector *b, unsigned n, unsigned imm)
{
    bool wide = mul->wide;
    unsigned lane = wide ? 2 : 4;
    union vector sum = {{0}}, second = {{0}};
    for (unsigned i = 0; i < n; i++)
        if (imm >> (4 + i % lane) & 1) {
            put_element(&sum, wide, i, get_element(d, wide, i));
            put_element(&second, wide, i, get_element(b, wide, i));
        }
    uint32_t flags = arithmetic(mul, mxcsr, &sum, &second, n);
    for (unsigned m = 1; m < lane && !mxcsr_unmasked(mxcsr, flags); m *= 2) {
        second = sum;
        flags |= horizontal(add, mxcsr, &sum, &second, n);
    }
    for (unsigned i = 0; i < n; i++)
        put_element(d, wide, i, imm >> i % lane & 1 ? get_element(&sum, wide, i) : 0);
    return flags;
}

#define SEVERAL(name, call)                                                                        \
    uint32_t float_##name(uint32_t mxcsr, union vector *d, const union vector *b, unsigned n,      \
                          unsigned imm)                                                            \
    {                                                                                              \
        (void)imm;                                                                                 \
        return call;                                                                               \
    }
SEVERAL(addsub_s, addsub(&sub_s, &add_s, mxcsr, d, b, n))
SEVERAL(addsub_d, addsub(&sub_d, &add_d, mxcsr, d, b, n))
SEVERAL(hadd_s, horizontal(&add_s, mxcsr, d, b, n))
SEVERAL(hadd_d, horizontal(&add_d, mxcsr, d, b, n))
SEVERAL(hsub_s, horizontal(&sub_s, mxcsr, d, b, n))
SEVERAL(hsub_d, horizontal(&sub_d, mxcsr, d, b, n))
SEVERAL(dot_s, dot(&mul_s, &add_s, mxcsr, d, b, n, imm))
SEVERAL(dot_d, dot(&mul_d, &add_d, mxcsr, d, b, n, imm))
