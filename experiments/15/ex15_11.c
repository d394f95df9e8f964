/* Experiment 15-11 · Fixed counters against general counters. */
#include "lab/count.h"
#include "lab/counter_of.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

#include <stddef.h>

enum { INSTRUCTIONS_AGREE, EXACT, CORE_CYCLES_AGREE, REFERENCE_CYCLES };

static const char *const checks[] = {
    [INSTRUCTIONS_AGREE] = "two counters of instructions agree exactly",
    [EXACT] = "they hold exactly the function's known number of instructions",
    [CORE_CYCLES_AGREE] = "two counters of core cycles agree",
    [REFERENCE_CYCLES] = "two counters of reference cycles count, each in its unit",
};

static void run(void);

const struct experiment ex15_11 = {
    .id = "15-11",
    .title = "Fixed counters against general counters",
    .needs = NEED_PMU | NEED_CLOCKS | NEED_GENERAL_3 | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * Instructions, core cycles and reference cycles at once on general counters 0 to 2 and on
 * FIXED_CTR0 to 2, opened and closed by one write, or one after the other where no register enables
 * all. Where there are no fixed counters (AMD), general
 * counters 3 to 5 stand in for them: a counter against another of its own sort. Instructions must
 * agree exactly: both count the same retirements, or, opened one after the other, of the window's
 * own others but as many (pmu/window.S). Core cycles agree up to what the opening and
 * closing take themselves, because one WRMSR need not start six counters in the same cycle; that is
 * measured with an empty window. Reference cycles have two units: the event 3CH/01H counts the
 * crystal or bus clock, FIXED_CTR2 counts at the rate of the TSC, so their ratio is reported, not
 * asserted. SDM vol. 3 "Architectural Performance Monitoring Version 2", "Fixed-Function
 * Performance Counters".
 */
#define RINGS      (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define FLAGS      (RINGS | PERFEVTSEL_INT) /* FIXED_CTR_CTRL = BBBH, as in the book */
#define CLOCKS     3
#define ITERATIONS 10000

/* Of general counter n, and of the fixed counter or the other general one beside it. */
static const unsigned events[CLOCKS] = {PMU_EVENT_INSTRUCTIONS, PMU_EVENT_CORE_CYCLES,
                                        PMU_EVENT_REF_CYCLES};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Selects all six; others[n] is what stands beside general counter n. Gives their mask. */
static uint64_t select_all(unsigned others[CLOCKS])
{
    uint64_t mask = 0;
    for (unsigned n = 0; n < CLOCKS; n++) {
        pmu_select(n, pmu_event(events[n]) | RINGS);
        others[n] = counter_of_select(events[n], CLOCKS + n, FLAGS);
        mask |= PMU_MASK(n) | PMU_MASK(others[n]);
    }
    return mask;
}

/* Processors that do not announce the event (Nehalem, Westmere) may count it all the same. */
static void check_reference(uint64_t general, uint64_t other)
{
    bool announced = pmu_info()->events >> PMU_EVENT_REF_CYCLES & 1;
    value_u64("pmc2", general);
    value_u64("other2", other);
    value_ratio("other2_per_pmc2", other, general);
    if (!announced)
        value_str("pmc2_event", "not announced: CPUID.0AH:EBX[%u] = 1", PMU_EVENT_REF_CYCLES);
    if (pmu_info()->fixed_mask != 0 && general != other)
        value_str("why_they_differ", "CPU_CLK_UNHALTED.REF_P counts the crystal or bus clock, "
                                     "CPU_CLK_UNHALTED.REF_TSC the TSC's rate");
    check(REFERENCE_CYCLES, other != 0 && (general != 0 || !announced));
}

static void run(void)
{
    const char *missing = counter_of_missing(PMU_EVENT_REF_CYCLES, 2 * CLOCKS - 1);
    if (missing != NULL) {
        check_skip_all(INSTRUCTIONS_AGREE, REFERENCE_CYCLES, "%s", missing);
        return;
    }
    unsigned others[CLOCKS];
    uint64_t all = select_all(others);
    count_from_0(all, body_mixed, ITERATIONS); /* warms caches and predictors */
    count_from_0(all, body_empty, 0);
    uint64_t opening = larger(pmu_read(1), pmu_read(others[1]));
    uint64_t empty = pmu_read(others[0]);
    uint64_t expected = insns_in_window(all, &body_mixed_insns, ITERATIONS);
    count_exactly(all, others[0], body_mixed, ITERATIONS, expected);
    pmu_dump("after the window");

    uint64_t pmc0 = pmu_read(0), other0 = pmu_read(others[0]);
    value_u64("pmc0", pmc0);
    value_u64("other0", other0);
    check(INSTRUCTIONS_AGREE, pmc0 == other0 && other0 != 0);
    value_known_loss(empty, other0, expected);
    check_same(EXACT, "other0", other0, "from_the_listing", expected);

    uint64_t pmc1 = pmu_read(1), other1 = pmu_read(others[1]);
    value_u64("pmc1", pmc1);
    value_u64("other1", other1);
    value_u64("empty_window", opening);
    check(CORE_CYCLES_AGREE, other1 > opening && distance(pmc1, other1) <= opening);
    check_reference(pmu_read(2), pmu_read(others[2]));
}
