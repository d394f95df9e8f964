/* Experiment 24-5 · AMD's event selects. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "x86/amd.h"
#include "x86/msr.h"

enum {
    TWELVE,
    ANOTHER,
    PARTS,
    FALLING,
    WIDEST,
    SUM,
    BOTH_WAYS,
    BURSTS,
    HOLD,
    NEITHER,
    WITHOUT_SVM
};

static const char *const checks[] = {
    [TWELVE] = "each select holds an event of twelve bits",
    [ANOTHER] = "an event with an upper bit is not the one of its lower eight",
    [PARTS] = "cycles(>= k) + cycles(< k) = cycles not in halt, for each k",
    [FALLING] = "cycles(>= k) do not grow with k",
    [WIDEST] = "no cycle retires 255 instructions: CNT_MASK 255 counts 0",
    [SUM] = "the sum of cycles(>= k) over k is the plain count",
    [BOTH_WAYS] = "a condition and its opposite rise equally often, to within one",
    [BURSTS] = "no more rises than cycles, and one in each iteration at least",
    [HOLD] = "each select holds GuestOnly and HostOnly",
    [NEITHER] = "with neither of them a counter counts the function exactly",
    [WITHOUT_SVM] = "with either and EFER.SVME clear it counts all of it or nothing",
};

static void run(void);

const struct experiment ex24_5 = {
    .id = "24-5",
    .title = "AMD's event selects",
    .needs = NEED_AMD | NEED_PMU,
    CHECKS(checks),
    .run = run,
};

/*
 * 22-2 and 22-3 in a PERF_CTL, and what it has of its own (APM vol. 2 "Performance Event-Select
 * Registers"). An event has twelve bits, the upper four at 35:32; K7 and K8 have eight. CNT_MASK k
 * makes a counter take one count in each cycle with k events or more, INV with fewer, EDGE in those
 * in which that comes to hold. So cycles(>= k) and cycles(< k) share out the cycles, and all k
 * together count the events. What is compared is counted in one window. The
 * counters need not all start and stop in the same cycle: what an empty window takes is allowed.
 *
 * GuestOnly and HostOnly, 40 and 41, act when EFER.SVME is set: each keeps to its side, and both or
 * neither count on both. This kernel sets no SVME. Then a counter with one of them is said not to
 * count at all (Linux commit 1018faa6cf23, which therefore clears HostOnly), or, by the APM's
 * table, as if it had none; so either is right here, and anything between is not.
 */
#define BOTH_RINGS  (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define PLAIN       (pmu_event(PMU_EVENT_INSTRUCTIONS) | BOTH_RINGS)
#define CYCLES      (pmu_event(PMU_EVENT_CORE_CYCLES) | BOTH_RINGS)
#define AT_LEAST(k) (PLAIN | (uint64_t)(k) << PERFEVTSEL_CMASK_SHIFT)
#define BELOW(k)    (AT_LEAST(k) | PERFEVTSEL_INV)
#define UPPER       (ARCH_U64(1) << AMD_PERF_CTL_EVENT_HIGH_SHIFT)
#define SIDES       (AMD_PERF_CTL_GUEST_ONLY | AMD_PERF_CTL_HOST_ONLY)
#define ITERATIONS  1000
#define SERIAL      300
#define BURSTY      300
#define THREE       (PMU_MASK(0) | PMU_MASK(1) | PMU_MASK(2))
#define WIDTH_MAX   16 /* instructions: no processor retires more in a cycle */
#define CMASK_MAX   255
#define CAN_SAY     20 /* missing less than one in so many */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool within(uint64_t a, uint64_t b, uint64_t distance)
{
    return (a > b ? a - b : b - a) <= distance;
}

/* ---- Twelve bits ---- */

static bool holds(unsigned counter, uint64_t select)
{
    bool same = msr_holds(pmu_select_msr(counter), select);
    if (!same)
        note("%XH does not hold 0x%llx", (unsigned)pmu_select_msr(counter),
             (unsigned long long)select);
    return same;
}

static bool holds_twelve(unsigned counter)
{
    return holds(counter, AMD_PERF_CTL_EVENT_HIGH | PERFEVTSEL_EVENT);
}

/* Family 10H begins with them: before, the bits are reserved. */
#define TWELVE_FROM_FAMILY 0x10

static uint64_t count(uint64_t select)
{
    pmu_select(0, select);
    count_from_0(PMU_MASK(0), body_mixed, ITERATIONS);
    return pmu_read(0);
}

static void check_twelve(uint64_t expected)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    if (cpu.family < TWELVE_FROM_FAMILY) {
        check_skip_all(TWELVE, ANOTHER, "events of eight bits: CPUID.1:EAX tells family %XH < 10H",
                       (unsigned)cpu.family);
        return;
    }
    check(TWELVE, enumerated_all(pmu_all_counters(), holds_twelve));
    uint64_t lower, upper;
    struct take take = take_begin();
    do {
        lower = count(PLAIN);
        upper = count(PLAIN | UPPER);
    } while (take_again(&take, lower == expected));
    value_u64("event_0c0", lower);
    value_u64("event_1c0", upper);
    value_u64("from_the_listing", expected);
    check(ANOTHER, lower == expected && upper != expected);
}

/* ---- CNT_MASK and INV ---- */

struct three {
    uint64_t first, second, cycles;
};

static struct three count_three(uint64_t first, uint64_t second, window_body body, uint64_t arg)
{
    pmu_select(0, first);
    pmu_select(1, second);
    pmu_select(2, CYCLES);
    count_from_0(THREE, body, arg);
    return (struct three){pmu_read(0), pmu_read(1), pmu_read(2)};
}

static bool parts_fit(const struct three *t, uint64_t own)
{
    return t->cycles > own && within(t->first + t->second, t->cycles, own);
}

static struct three count_parts(uint64_t k, uint64_t own)
{
    struct three t;
    struct take take = take_begin();
    do
        t = count_three(AT_LEAST(k), BELOW(k), body_mixed, ITERATIONS);
    while (take_again(&take, parts_fit(&t, own) && (k < CMASK_MAX || t.first == 0)));
    return t;
}

static bool falls(uint64_t k, uint64_t own)
{
    struct three t;
    struct take take = take_begin();
    do
        t = count_three(AT_LEAST(k), AT_LEAST(k + 1), body_mixed, ITERATIONS);
    while (take_again(&take, t.second <= t.first + own));
    return t.second <= t.first + own;
}

static void check_parts(uint64_t own)
{
    bool all_fit = true, all_fall = true, reached = true;
    uint64_t width = 0;
    for (uint64_t k = 1; k <= WIDTH_MAX && reached; k++) {
        struct three t = count_parts(k, own);
        note("k = %u: cycles(>= k) %llu + cycles(< k) %llu, cycles not in halt %llu", (unsigned)k,
             (unsigned long long)t.first, (unsigned long long)t.second,
             (unsigned long long)t.cycles);
        all_fit = all_fit && parts_fit(&t, own);
        all_fall = falls(k, own) && all_fall;
        reached = t.first != 0;
        width += reached;
    }
    value_u64("widest_cycle", width);
    value_u64("empty_window", own);
    check(PARTS, all_fit && width != 0);
    check(FALLING, all_fall);

    struct three t = count_parts(CMASK_MAX, own);
    value_u64("at_least_255", t.first);
    value_u64("below_255", t.second);
    value_u64("cycles", t.cycles);
    check(WIDEST, t.first == 0 && parts_fit(&t, own));
}

/* Counter i counts the cycles with at least i + 1, the last one all instructions. What lies past
 * the last k is missing, in cycles that this k still counts. */
static void check_sum(void)
{
    unsigned last = pmu_info()->n_general - 1;
    for (unsigned i = 0; i < last; i++)
        pmu_select(i, AT_LEAST(i + 1));
    pmu_select(last, PLAIN);
    uint64_t own = insns_in_window(pmu_all_counters(), &body_empty_insns, 0), sum, missing, plain;
    struct take take = take_begin();
    do {
        count_from_0(pmu_all_counters(), body_serial, SERIAL);
        sum = 0;
        for (unsigned i = 0; i < last; i++)
            sum += pmu_read(i);
        missing = pmu_read(last - 1) * (WIDTH_MAX - last);
        plain = pmu_read(last);
    } while (take_again(&take, sum <= plain + own && plain <= sum + missing + own));
    if (missing > plain / CAN_SAY) {
        note("sum over k = 1 to %u: %llu, plain count: %llu", last, (unsigned long long)sum,
             (unsigned long long)plain);
        check_skip(SUM, "too few counters for one window: %s", pmu_info()->general_by);
        return;
    }
    value_u64("largest_k", last);
    value_u64("sum", sum);
    value_u64("may_be_missing", missing);
    value_u64("plain", plain);
    check(SUM, plain > own && sum <= plain + own && plain <= sum + missing + own);
}

/* ---- EDGE ---- */

/* Where the selects open one counter after the other, their spans are shifted by a few
 * instructions, and a condition rises no more often than they retire. */
static bool alternate(const struct three *rises)
{
    return rises->first != 0 && within(rises->first, rises->second, 1 + pmu_window_shift(THREE));
}

static bool in_bursts(const struct three *state)
{
    return state->second >= BURSTY && state->second <= state->first + pmu_window_shift(THREE);
}

static void check_edges(void)
{
    struct three rises, state;
    struct take take = take_begin();
    do
        rises =
            count_three(AT_LEAST(1) | PERFEVTSEL_E, BELOW(1) | PERFEVTSEL_E, body_bursts, BURSTY);
    while (take_again(&take, alternate(&rises)));
    value_u64("bursts", rises.first);
    value_u64("stalls", rises.second);
    check(BOTH_WAYS, alternate(&rises));

    take = take_begin();
    do
        state = count_three(AT_LEAST(1), AT_LEAST(1) | PERFEVTSEL_E, body_bursts, BURSTY);
    while (take_again(&take, in_bursts(&state)));
    value_u64("cycles", state.first);
    value_u64("rises", state.second);
    value_u64("iterations", BURSTY);
    check(BURSTS, in_bursts(&state));
}

/* The empty window, by the counter that makes more cycles of it. */
static uint64_t window_cycles(void)
{
    struct three empty = count_three(AT_LEAST(CMASK_MAX), BELOW(CMASK_MAX), body_empty, 0);
    return larger(empty.second, empty.cycles);
}

static void check_cycles(void)
{
    if (pmu_no_general(3) != NULL) {
        check_skip_all(PARTS, BURSTS, "%s", pmu_no_general(3));
        return;
    }
    count_three(AT_LEAST(1), BELOW(1), body_mixed, ITERATIONS); /* warms caches and predictors */
    check_parts(window_cycles());
    check_sum();
    count_three(AT_LEAST(1), BELOW(1), body_bursts, BURSTY);
    check_edges();
}

/* ---- Guest and host ---- */

static bool holds_sides(unsigned counter)
{
    return holds(counter, AMD_PERF_CTL_GUEST_ONLY) && holds(counter, AMD_PERF_CTL_HOST_ONLY) &&
           holds(counter, SIDES);
}

static void check_sides(uint64_t expected)
{
    uint64_t efer = 0, neither, guest, host, both;
    if (!(cpuid(0x80000001, 0).ecx & CPUID_80000001_ECX_SVM)) {
        check_skip_all(HOLD, WITHOUT_SVM, "no SVM, so no guests: CPUID.80000001H:ECX[2] = 0");
        return;
    }
    check(HOLD, enumerated_all(pmu_all_counters(), holds_sides));
    struct take take = take_begin();
    do {
        neither = count(PLAIN);
        guest = count(PLAIN | AMD_PERF_CTL_GUEST_ONLY);
        host = count(PLAIN | AMD_PERF_CTL_HOST_ONLY);
        both = count(PLAIN | SIDES);
    } while (take_again(&take, neither == expected));
    check_equal(NEITHER, "counted", neither, expected);
    rdmsr_safe(MSR_IA32_EFER, &efer);
    value_hex("efer", efer);
    value_u64("guest_only", guest);
    value_u64("host_only", host);
    value_u64("both", both);
    check(WITHOUT_SVM, (guest == 0 || guest == expected) && (host == 0 || host == expected) &&
                           (both == 0 || both == expected));
}

static void run(void)
{
    uint64_t expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    check_twelve(expected);
    check_cycles();
    check_sides(expected);
}
