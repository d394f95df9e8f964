/* Experiment 22-2 · CMASK and INV. */
#include "lab/count.h"
#include "lab/counter_of.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"

#include <stddef.h>

enum { PARTS, FALLING, WIDEST, SUM };

static const char *const checks[] = {
    [PARTS] = "cycles(>= k) + cycles(< k) = core cycles, for each k",
    [FALLING] = "cycles(>= k) do not grow with k",
    [WIDEST] = "no cycle retires 255 instructions: CMASK 255 counts 0",
    [SUM] = "the sum of cycles(>= k) over k is the plain count",
};

static void run(void);

const struct experiment ex22_2 = {
    .id = "22-2",
    .title = "CMASK and INV",
    .needs = NEED_PMU | NEED_GENERAL_2 | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * With CMASK k a counter takes one count in each cycle in which the event happened at least k
 * times, with INV as well one in each in which it happened fewer times (SDM vol. 3 "Architectural
 * Performance Monitoring Version 1"). So, of INST_RETIRED, the two share the core cycles out, for
 * each k; and a cycle that retires n instructions is counted for each k up to n, so that all k
 * together count the instructions.
 *
 * k goes from 1 to the first that no cycle reaches: the machine's width, as far as this code fills
 * it. What is compared is counted in one window. The counters need not all start and stop in the
 * same cycle: as in 15-11 what an empty window takes is allowed. Where no register enables all it
 * has the steps that open and close the others, by which their spans are shifted.
 *
 * The sum needs a counter for each k in its window. Of a cycle that the last of them counts it
 * misses what lies past that k: up to 16 instructions, more than any processor retires in a cycle
 * (Linux' precise cycles rest on that: arch/x86/events/intel/core.c, intel_pebs_aliases_core2()).
 * Where that is too much to say anything, the sum is only reported. Its code is a chain of
 * multiplications that runs through the count of its LOOP too: a cycle retires one of them, and
 * two counters are enough.
 */
#define RINGS       (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define PLAIN       (pmu_event(PMU_EVENT_INSTRUCTIONS) | RINGS)
#define AT_LEAST(k) (PLAIN | (uint64_t)(k) << PERFEVTSEL_CMASK_SHIFT)
#define BELOW(k)    (AT_LEAST(k) | PERFEVTSEL_INV)
#define ITERATIONS  1000
#define SERIAL      300
#define WIDTH_MAX   16
#define CMASK_MAX   255
#define CAN_SAY     20 /* missing less than one in so many */

static unsigned cycles; /* the counter of core cycles: FIXED_CTR1, or general counter 2 */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool within(uint64_t a, uint64_t b, uint64_t distance)
{
    return (a > b ? a - b : b - a) <= distance;
}

/* What two selects count in one window, with the core cycles. */
struct pair {
    uint64_t first, second, cycles;
};

static struct pair count_pair(uint64_t first, uint64_t second, window_body body)
{
    pmu_select(0, first);
    pmu_select(1, second);
    count_from_0(PMU_MASK(0) | PMU_MASK(1) | PMU_MASK(cycles), body, ITERATIONS);
    return (struct pair){pmu_read(0), pmu_read(1), pmu_read(cycles)};
}

/* The core cycles of an empty window, by the counter that makes more of them. */
static uint64_t window_cycles(void)
{
    struct pair empty = count_pair(AT_LEAST(CMASK_MAX), BELOW(CMASK_MAX), body_empty);
    return larger(empty.second, empty.cycles);
}

static bool parts_fit(const struct pair *p, uint64_t own)
{
    return p->cycles > own && within(p->first + p->second, p->cycles, own);
}

/* Of k = CMASK_MAX there must be none. */
static struct pair count_parts(uint64_t k, uint64_t own)
{
    struct pair p;
    struct take take = take_begin();
    do
        p = count_pair(AT_LEAST(k), BELOW(k), body_mixed);
    while (take_again(&take, parts_fit(&p, own) && (k < CMASK_MAX || p.first == 0)));
    return p;
}

static bool falls(uint64_t k, uint64_t own)
{
    struct pair p;
    struct take take = take_begin();
    do
        p = count_pair(AT_LEAST(k), AT_LEAST(k + 1), body_mixed);
    while (take_again(&take, p.second <= p.first + own));
    if (p.second > p.first + own)
        note("in one window: cycles(>= %u) = %llu, cycles(>= %u) = %llu", (unsigned)k,
             (unsigned long long)p.first, (unsigned)k + 1, (unsigned long long)p.second);
    return p.second <= p.first + own;
}

static void check_parts(uint64_t own)
{
    bool all_fit = true, all_fall = true, reached = true;
    uint64_t k = 1, width = 0;
    for (; k <= WIDTH_MAX && reached; k++) {
        struct pair p = count_parts(k, own);
        note("k = %u: cycles(>= k) %llu + cycles(< k) %llu, core cycles %llu", (unsigned)k,
             (unsigned long long)p.first, (unsigned long long)p.second,
             (unsigned long long)p.cycles);
        all_fit = all_fit && parts_fit(&p, own);
        all_fall = falls(k, own) && all_fall;
        reached = p.first != 0;
        width += reached;
    }
    value_u64("widest_cycle", width);
    value_u64("empty_window", own);
    check(PARTS, all_fit && width != 0);
    check(FALLING, all_fall);

    struct pair p = count_parts(CMASK_MAX, own);
    value_u64("at_least_255", p.first);
    value_u64("below_255", p.second);
    value_u64("core_cycles", p.cycles);
    check(WIDEST, p.first == 0 && parts_fit(&p, own));
}

/* General counter i counts the cycles with at least i + 1; FIXED_CTR0 or, where there is none, the
 * last of them counts the instructions. */
static void check_sum(void)
{
    unsigned n = pmu_info()->n_general;
    unsigned insns = counter_of_select(PMU_EVENT_INSTRUCTIONS, n - 1, RINGS);
    n = insns < n ? insns : n;
    n = n < WIDTH_MAX ? n : WIDTH_MAX;
    for (unsigned i = 0; i < n; i++)
        pmu_select(i, AT_LEAST(i + 1));
    uint64_t own = insns_in_window((PMU_MASK(n) - 1) | PMU_MASK(insns), &body_empty_insns, 0), sum,
             missing, plain;
    struct take take = take_begin();
    do {
        count_from_0((PMU_MASK(n) - 1) | PMU_MASK(insns), body_serial, SERIAL);
        sum = 0;
        for (unsigned i = 0; i < n; i++)
            sum += pmu_read(i);
        missing = pmu_read(n - 1) * (WIDTH_MAX - n);
        plain = pmu_read(insns);
    } while (take_again(&take, sum <= plain + own && plain <= sum + missing + own));

    if (missing > plain / CAN_SAY) {
        note("sum over k = 1 to %u: %llu, plain count: %llu", n, (unsigned long long)sum,
             (unsigned long long)plain);
        check_skip(SUM, "too few general counters for one window: %s", pmu_info()->general_by);
        return;
    }
    value_u64("counters", n);
    value_u64("sum", sum);
    value_u64("may_be_missing", missing);
    value_u64("plain", plain);
    value_u64("empty_window", own);
    check(SUM, plain > own && sum <= plain + own && plain <= sum + missing + own);
}

/* The plain count of the sum may stand beside two others, and so may the core cycles. */
static const char *lacks(void)
{
    const char *missing = counter_of_missing(PMU_EVENT_CORE_CYCLES, 2);
    return missing != NULL ? missing : counter_of_missing(PMU_EVENT_INSTRUCTIONS, 2);
}

static void run(void)
{
    const char *missing = lacks();
    if (missing != NULL) {
        check_skip_all(PARTS, SUM, "%s", missing);
        return;
    }
    cycles = counter_of_select(PMU_EVENT_CORE_CYCLES, 2, RINGS);
    count_from_0(PMU_MASK(cycles), body_mixed, ITERATIONS); /* warms caches and predictors */
    check_parts(window_cycles());
    check_sum();
}
