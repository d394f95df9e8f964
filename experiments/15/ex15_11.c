/* Experiment 15-11 · Fixed counters against general counters. */
#include "lab/count.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

enum { INSTRUCTIONS_AGREE, EXACT, CORE_CYCLES_AGREE, REFERENCE_CYCLES };

static const char *const checks[] = {
    [INSTRUCTIONS_AGREE] = "PMC0 equals FIXED_CTR0",
    [EXACT] = "FIXED_CTR0 holds exactly the function's known number of instructions",
    [CORE_CYCLES_AGREE] = "PMC1 and FIXED_CTR1 agree on the core cycles",
    [REFERENCE_CYCLES] = "PMC2 and FIXED_CTR2 count reference cycles, each in its unit",
};

static void run(void);

const struct experiment ex15_11 = {
    .id = "15-11",
    .title = "Fixed counters against general counters",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_FIXED | NEED_FIXED_3 | NEED_GENERAL_3 |
             NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * Instructions, core cycles and reference cycles at once on IA32_PMC0 to 2 and on IA32_FIXED_CTR0
 * to 2, opened and closed by one write. Instructions must agree exactly: both count the same
 * retirements. Core cycles agree up to what the opening and closing take themselves, because one
 * WRMSR need not start six counters in the same cycle; that is measured with an empty window.
 * Reference cycles have two units: the event 3CH/01H counts the crystal or bus clock, FIXED_CTR2
 * counts at the rate of the TSC, so their ratio is reported, not asserted. SDM vol. 3
 * "Architectural Performance Monitoring Version 2", "Fixed-Function Performance Counters".
 */
#define SELECT    (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define FIXED_BBB 0xbbb /* PMI, USR and OS of FIXED_CTR0 to 2, as in the book */
#define ALL_SIX                                                                                    \
    (PMU_MASK(0) | PMU_MASK(1) | PMU_MASK(2) | PMU_MASK(PMU_FIXED(0)) | PMU_MASK(PMU_FIXED(1)) |   \
     PMU_MASK(PMU_FIXED(2)))
#define ITERATIONS 10000

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Processors that do not announce the event (Nehalem, Westmere) may count it all the same. */
static void check_reference(uint64_t general, uint64_t fixed)
{
    bool announced = pmu_info()->events >> PMU_EVENT_REF_CYCLES & 1;
    value_u64("pmc2", general);
    value_u64("fixed2", fixed);
    value_ratio("fixed2_per_pmc2", fixed, general);
    if (!announced)
        value_str("pmc2_event", "not announced: CPUID.0AH:EBX[%u] = 1", PMU_EVENT_REF_CYCLES);
    if (general != fixed)
        value_str("why_they_differ", "CPU_CLK_UNHALTED.REF_P counts the crystal or bus clock, "
                                     "CPU_CLK_UNHALTED.REF_TSC the TSC's rate");
    check(REFERENCE_CYCLES, fixed != 0 && (general != 0 || !announced));
}

static void run(void)
{
    pmu_select(0, EVENT_INST_RETIRED_ANY_P | SELECT);
    pmu_select(1, EVENT_CPU_CLK_UNHALTED_THREAD_P | SELECT);
    pmu_select(2, EVENT_CPU_CLK_UNHALTED_REF_P | SELECT);
    pmu_select_fixed(FIXED_BBB);
    count_from_0(ALL_SIX, body_mixed, ITERATIONS); /* warms caches and predictors */
    count_from_0(ALL_SIX, body_empty, 0);
    uint64_t opening = larger(pmu_read(1), pmu_read(PMU_FIXED(1)));
    uint64_t empty = pmu_read(PMU_FIXED(0));
    uint64_t expected = insns_in_window(&body_mixed_insns, ITERATIONS);
    count_exactly(ALL_SIX, PMU_FIXED(0), body_mixed, ITERATIONS, expected);
    pmu_dump("after the window");

    uint64_t pmc0 = pmu_read(0), fixed0 = pmu_read(PMU_FIXED(0));
    value_u64("pmc0", pmc0);
    value_u64("fixed0", fixed0);
    check(INSTRUCTIONS_AGREE, pmc0 == fixed0 && fixed0 != 0);
    value_known_loss(empty, fixed0, expected);
    check_same(EXACT, "fixed0", fixed0, "from_the_listing", expected);

    uint64_t general = pmu_read(1), fixed = pmu_read(PMU_FIXED(1));
    value_u64("pmc1", general);
    value_u64("fixed1", fixed);
    value_u64("empty_window", opening);
    check(CORE_CYCLES_AGREE, fixed > opening && distance(general, fixed) <= opening);
    check_reference(pmu_read(2), pmu_read(PMU_FIXED(2)));
}
