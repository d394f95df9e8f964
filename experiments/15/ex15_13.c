/* Experiment 15-13 · Measure CPI. */
#include "lab/count.h"
#include "lab/counter_of.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

enum { CHAIN, PARALLEL, NON_HALTED, NOMINAL };

static const char *const checks[] = {
    [CHAIN] = "both CPIs of the dependency chain come from one window",
    [PARALLEL] = "both CPIs of the independent additions come from one window",
    [NON_HALTED] = "the dependency chain has the higher non-halted CPI",
    [NOMINAL] = "the dependency chain has the higher nominal CPI",
};

static void run(void);

const struct experiment ex15_13 = {
    .id = "15-13",
    .title = "Measure CPI",
    .needs = NEED_PMU | NEED_CLOCKS,
    CHECKS(checks),
    .run = run,
};

/*
 * Cycles per instruction of two functions with the same number of instructions in the loop: in one
 * each multiplication needs the one before it, in the other nothing waits for anything. Non-halted
 * CPI is core cycles by instructions, nominal CPI is reference cycles by instructions; both come
 * from one window, on FIXED_CTR0 to 2 or, without them, on general counters 0 to 2. SDM vol. 3
 * "Cycle Counting", "Non-Halted Reference Clockticks". The three counters must be opened by one
 * write, else the ratio is of two different spans; or, where no register enables all, one after the
 * other and closed in the same order: then the spans are shifted by a few instructions, but as long
 * (pmu/window.S).
 */
#define RINGS (PERFEVTSEL_USR | PERFEVTSEL_OS)
/* A multiplication takes 3 cycles or more, and every processor adds at least once a cycle: twice is
 * safe, and more than two runs of one function can differ. */
#define MARGIN     2
#define ITERATIONS 2000

static struct {
    unsigned instructions, cycles, reference;
    uint64_t mask;
} counters;

struct cpi {
    uint64_t instructions, cycles, reference;
};

static void select_counters(void)
{
    counters.instructions = counter_of_select(PMU_EVENT_INSTRUCTIONS, 0, RINGS);
    counters.cycles = counter_of_select(PMU_EVENT_CORE_CYCLES, 1, RINGS);
    counters.reference = counter_of_select(PMU_EVENT_REF_CYCLES, 2, RINGS);
    counters.mask =
        PMU_MASK(counters.instructions) | PMU_MASK(counters.cycles) | PMU_MASK(counters.reference);
}

static struct cpi measure(unsigned which, window_body body, const struct body_insns *insns,
                          uint64_t empty)
{
    uint64_t expected = insns_in_window(counters.mask, insns, ITERATIONS);
    body(ITERATIONS); /* warms caches and predictors */
    count_exactly(counters.mask, counters.instructions, body, ITERATIONS, expected);
    struct cpi c = {pmu_read(counters.instructions), pmu_read(counters.cycles),
                    pmu_read(counters.reference)};
    value_u64("instructions", c.instructions);
    value_u64("from_the_listing", expected);
    value_u64("core_cycles", c.cycles);
    value_u64("reference_cycles", c.reference);
    value_ratio("non_halted_cpi", c.cycles, c.instructions);
    value_ratio("nominal_cpi", c.reference, c.instructions);
    value_known_loss(empty, c.instructions, expected);
    check(which, c.instructions == expected && c.cycles != 0 && c.reference != 0);
    return c;
}

/* a / b >= MARGIN * c / d, without fractions: not so where one of the two has no value, or the
 * clock stood. The counts are far below 2^30 here. */
static bool ratio_well_above(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return b != 0 && c != 0 && d != 0 && a * d >= MARGIN * c * b;
}

static void compare(unsigned which, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    value_ratio("chain", a, b);
    value_ratio("parallel", c, d);
    check(which, ratio_well_above(a, b, c, d));
}

static void run(void)
{
    select_counters();
    uint64_t empty = count_empty(counters.mask, counters.instructions);
    struct cpi chain = measure(CHAIN, body_chain, &body_chain_insns, empty);
    struct cpi parallel = measure(PARALLEL, body_parallel, &body_parallel_insns, empty);
    compare(NON_HALTED, chain.cycles, chain.instructions, parallel.cycles, parallel.instructions);
    compare(NOMINAL, chain.reference, chain.instructions, parallel.reference,
            parallel.instructions);
}
