/*
 * Experiment 15-11 · Fixed counters against general counters.
 *
 * Instructions, core cycles and reference cycles at once on IA32_PMC0 to 2 and on IA32_FIXED_CTR0
 * to 2, opened and closed by one write. Instructions must agree exactly: both count the same
 * retirements. Core cycles agree up to what the opening and closing take themselves, because one
 * WRMSR need not start six counters in the same cycle; that is measured with an empty window.
 * Reference cycles have two units: the event 3CH/01H counts the crystal or bus clock, FIXED_CTR2
 * counts at the rate of the TSC, so their ratio is reported, not asserted. SDM vol. 3
 * "Architectural Performance Monitoring Version 2", "Fixed-Function Performance Counters".
 */
#include "lab/bodies.h"
#include "lab/experiment_old.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define SELECT     (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define FIXED_BBB  0xbbb /* PMI, USR and OS of FIXED_CTR0 to 2, as in the book */
#define PAIRS      3
#define ITERATIONS 10000

enum pair { INSTRUCTIONS, CORE_CYCLES, REF_CYCLES };

struct counts {
    uint64_t general[PAIRS], fixed[PAIRS];
};

static struct counts measure(window_body body, uint64_t iterations)
{
    struct counts c;
    uint64_t mask = 0;
    for (unsigned i = 0; i < PAIRS; i++) {
        pmu_write(i, 0);
        pmu_write(PMU_FIXED(i), 0);
        mask |= PMU_MASK(i) | PMU_MASK(PMU_FIXED(i));
    }
    pmu_count(mask, body, iterations);
    for (unsigned i = 0; i < PAIRS; i++) {
        c.general[i] = pmu_read(i);
        c.fixed[i] = pmu_read(PMU_FIXED(i));
    }
    return c;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Processors that do not announce the event (Nehalem, Westmere) may count it all the same. */
static void check_reference(const struct counts *c)
{
    uint64_t general = c->general[REF_CYCLES], fixed = c->fixed[REF_CYCLES];
    bool announced = pmu_info()->events >> PMU_EVENT_REF_CYCLES & 1;
    value_u64("pmc2", general);
    value_u64("fixed2", fixed);
    value_ratio("fixed2_per_pmc2", fixed, general);
    if (!announced)
        value_str("pmc2_event", "not announced: CPUID.0AH:EBX[%u] = 1", PMU_EVENT_REF_CYCLES);
    if (general != fixed)
        value_str("why_they_differ", "CPU_CLK_UNHALTED.REF_P counts the crystal or bus clock, "
                                     "CPU_CLK_UNHALTED.REF_TSC the TSC's rate");
    check(fixed != 0 && (general != 0 || !announced));
}

static void run(void)
{
    pmu_select(0, EVENT_INST_RETIRED_ANY_P | SELECT);
    pmu_select(1, EVENT_CPU_CLK_UNHALTED_THREAD_P | SELECT);
    pmu_select(2, EVENT_CPU_CLK_UNHALTED_REF_P | SELECT);
    pmu_select_fixed(FIXED_BBB);
    measure(body_mixed, ITERATIONS); /* warms caches and predictors */
    struct counts empty = measure(body_empty, 0);
    uint64_t expected = pmu_window_insns + insns_of(&body_mixed_insns, ITERATIONS);
    struct counts c = measure(body_mixed, ITERATIONS);
    for (int i = 1; i < EXACT_TRIES && c.fixed[INSTRUCTIONS] > expected; i++)
        c = measure(body_mixed, ITERATIONS);
    pmu_dump("after the window");

    value_u64("pmc0", c.general[INSTRUCTIONS]);
    value_u64("fixed0", c.fixed[INSTRUCTIONS]);
    check(c.general[INSTRUCTIONS] == c.fixed[INSTRUCTIONS]);
    value_u64("fixed0", c.fixed[INSTRUCTIONS]);
    value_u64("from_the_listing", expected);
    check(c.fixed[INSTRUCTIONS] == expected);

    uint64_t bound = empty.general[CORE_CYCLES] > empty.fixed[CORE_CYCLES]
                         ? empty.general[CORE_CYCLES]
                         : empty.fixed[CORE_CYCLES];
    value_u64("pmc1", c.general[CORE_CYCLES]);
    value_u64("fixed1", c.fixed[CORE_CYCLES]);
    value_u64("empty_window", bound);
    check(c.fixed[CORE_CYCLES] > bound &&
          distance(c.general[CORE_CYCLES], c.fixed[CORE_CYCLES]) <= bound);
    check_reference(&c);
}

static const char *const checks[] = {
    "PMC0 equals FIXED_CTR0",
    "FIXED_CTR0 holds exactly the function's known number of instructions",
    "PMC1 and FIXED_CTR1 agree on the core cycles",
    "PMC2 and FIXED_CTR2 count reference cycles, each in its unit",
    NULL,
};

const struct experiment ex15_11 = {
    .id = "15-11",
    .title = "Fixed counters against general counters",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_FIXED | NEED_FIXED_3 | NEED_GENERAL_3 |
             NEED_INSTRUCTIONS,
    .run = run,
};
