/*
 * Experiment 15-2 · Count with IA32_PMC0.
 *
 * INST_RETIRED.ANY_P on general counter 0 around a function whose number of instructions is known
 * from its listing (lab/bodies.S). If the count is off by one, the counting window is not
 * what its listing says (pmu/window.S), something interrupted it, or the event counts something
 * else: an SMI, or a hypervisor's emulated instruction. SDM vol. 3 "Architectural Performance
 * Monitoring Version 1".
 *
 * The window itself is measured first, around a function that only returns.
 */
#include "lab/bodies.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define SELECT     (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS 1000

/* Counts one call from 0. */
static uint64_t count(window_body body, uint64_t iterations, uint64_t expected)
{
    uint64_t n = 0;
    for (int i = 0; i < EXACT_TRIES && (i == 0 || n > expected); i++) {
        pmu_write(0, 0);
        pmu_count(PMU_MASK(0), body, iterations);
        n = pmu_read(0);
    }
    return n;
}

static void run(void)
{
    pmu_select(0, SELECT);

    uint64_t before = pmu_read(0);
    note("IA32_PMC0 before: %llu", (unsigned long long)before);
    value_u64("pmc0", before);
    check(before == 0);

    uint64_t expected = pmu_window_insns + insns_of(&body_empty_insns, 0);
    uint64_t empty = count(body_empty, 0, expected);
    note("the empty window counts %llu: %llu of the window, %llu of RET", (unsigned long long)empty,
         (unsigned long long)pmu_window_insns, (unsigned long long)insns_of(&body_empty_insns, 0));
    value_u64("measured", empty);
    value_u64("from_the_listing", expected);
    check(empty == expected);

    expected = insns_of(&body_mixed_insns, ITERATIONS);
    uint64_t after = count(body_mixed, ITERATIONS, pmu_window_insns + expected);
    note("IA32_PMC0 after: %llu", (unsigned long long)after);
    value_u64("pmc0", after);
    value_u64("window", pmu_window_insns);
    value_u64("function", expected);
    check(after == pmu_window_insns + expected);

    /* By RDPMC the same counter must read the same. */
    uint64_t by_rdpmc = pmu_rdpmc(0);
    value_u64("rdmsr", after);
    value_u64("rdpmc", by_rdpmc);
    check(by_rdpmc == after);
    pmu_dump("after the function");
}

static const char *const checks[] = {
    "IA32_PMC0 is 0 before the window",
    "the empty window counts exactly the instructions of its listing",
    "IA32_PMC0 holds exactly the function's known number of instructions",
    "RDPMC reads what RDMSR reads",
    NULL,
};

const struct experiment ex15_2 = {
    .id = "15-2",
    .title = "Count with IA32_PMC0",
    .checks = checks,
    .needs = NEED_PMU | NEED_INSTRUCTIONS,
    .run = run,
};
