/*
 * Experiment 15-13 · Measure CPI.
 *
 * Cycles per instruction of two functions with the same number of instructions in the loop: in one
 * each multiplication needs the one before it, in the other nothing waits for anything. Non-halted
 * CPI is core cycles by instructions, nominal CPI is reference cycles by instructions; both come
 * from one window, on FIXED_CTR0 to 2. SDM vol. 3 "Cycle Counting", "Non-Halted Reference
 * Clockticks". The three counters must be opened by one write, else the ratio is of two different
 * spans.
 */
#include "lab/bodies.h"
#include "lab/experiment_old.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define FIXED_333 0x333 /* USR and OS of FIXED_CTR0 to 2 */
/* A multiplication takes 3 cycles or more, and every processor adds at least once a cycle: twice is
 * safe, and more than two runs of one function can differ. */
#define MARGIN     2
#define ITERATIONS 2000

struct cpi {
    uint64_t instructions, cycles, reference;
};

static struct cpi measure_once(window_body body)
{
    uint64_t mask = 0;
    body(ITERATIONS); /* warms caches and predictors */
    for (unsigned i = 0; i < 3; i++) {
        pmu_write(PMU_FIXED(i), 0);
        mask |= PMU_MASK(PMU_FIXED(i));
    }
    pmu_count(mask, body, ITERATIONS);
    return (struct cpi){pmu_read(PMU_FIXED(0)), pmu_read(PMU_FIXED(1)), pmu_read(PMU_FIXED(2))};
}

static uint64_t expected(const struct body_insns *insns)
{
    return pmu_window_insns + insns_of(insns, ITERATIONS);
}

static struct cpi measure(window_body body, const struct body_insns *insns)
{
    struct cpi c = measure_once(body);
    for (int i = 1; i < EXACT_TRIES && c.instructions > expected(insns); i++)
        c = measure_once(body);
    return c;
}

static void check_function(const struct cpi *c, const struct body_insns *insns)
{
    value_u64("instructions", c->instructions);
    value_u64("from_the_listing", expected(insns));
    value_u64("core_cycles", c->cycles);
    value_u64("reference_cycles", c->reference);
    value_ratio("non_halted_cpi", c->cycles, c->instructions);
    value_ratio("nominal_cpi", c->reference, c->instructions);
    check(c->instructions == expected(insns) && c->cycles != 0 && c->reference != 0);
}

/* a / b >= MARGIN * c / d, without fractions. The counts are far below 2^30 here. */
static bool ratio_well_above(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return a * d >= MARGIN * c * b;
}

static void run(void)
{
    pmu_select_fixed(FIXED_333);
    struct cpi chain = measure(body_chain, &body_chain_insns);
    struct cpi parallel = measure(body_parallel, &body_parallel_insns);
    check_function(&chain, &body_chain_insns);
    check_function(&parallel, &body_parallel_insns);

    value_ratio("chain", chain.cycles, chain.instructions);
    value_ratio("parallel", parallel.cycles, parallel.instructions);
    check(
        ratio_well_above(chain.cycles, chain.instructions, parallel.cycles, parallel.instructions));
    value_ratio("chain", chain.reference, chain.instructions);
    value_ratio("parallel", parallel.reference, parallel.instructions);
    check(ratio_well_above(chain.reference, chain.instructions, parallel.reference,
                           parallel.instructions));
}

static const char *const checks[] = {
    "both CPIs of the dependency chain come from one window",
    "both CPIs of the independent additions come from one window",
    "the dependency chain has the higher non-halted CPI",
    "the dependency chain has the higher nominal CPI",
    NULL,
};

const struct experiment ex15_13 = {
    .id = "15-13",
    .title = "Measure CPI",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_FIXED | NEED_FIXED_3,
    .run = run,
};
