/* Experiment 15-2 · Count with counter 0. */
#include "lab/count.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

enum { ZERO_BEFORE, EMPTY, EXACT, RDPMC_AGREES };

static const char *const checks[] = {
    [ZERO_BEFORE] = "general counter 0 is 0 before the window",
    [EMPTY] = "the empty window counts exactly the instructions of its listing",
    [EXACT] = "general counter 0 holds exactly the function's known number of instructions",
    [RDPMC_AGREES] = "RDPMC reads what RDMSR reads",
};

static void run(void);

const struct experiment ex15_2 = {
    .id = "15-2",
    .title = "Count with counter 0",
    .needs = NEED_PMU | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * The event of retired instructions on general counter 0 around a function whose number of
 * instructions is known from its listing (lab/bodies.S). If the count is off by one, the counting
 * window is not what its listing says (pmu/window.S), something interrupted it, or the event counts
 * something else: an SMI, or a hypervisor's emulated instruction. SDM vol. 3 "Architectural
 * Performance Monitoring Version 1".
 *
 * The window itself is measured first, around a function that only returns.
 */
#define RINGS      (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS 1000

static void run(void)
{
    pmu_select(0, pmu_event(PMU_EVENT_INSTRUCTIONS) | RINGS);

    uint64_t before = pmu_read(0);
    note("general counter 0 before: %llu", (unsigned long long)before);
    check_equal(ZERO_BEFORE, "pmc0", before, 0);

    uint64_t expected = insns_in_window(PMU_MASK(0), &body_empty_insns, 0);
    uint64_t empty = count_empty(PMU_MASK(0), 0);
    note("the empty window counts %llu: %llu of the window, %llu of RET", (unsigned long long)empty,
         (unsigned long long)pmu_window_insns, (unsigned long long)insns_of(&body_empty_insns, 0));
    value_known_loss(empty, empty, expected);
    check_same(EMPTY, "measured", empty, "from_the_listing", expected);

    expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    uint64_t after = count_exactly(PMU_MASK(0), 0, body_mixed, ITERATIONS, expected);
    note("general counter 0 after: %llu", (unsigned long long)after);
    value_u64("window", pmu_window_insns);
    value_u64("function", insns_of(&body_mixed_insns, ITERATIONS));
    value_known_loss(empty, after, expected);
    check_equal(EXACT, "pmc0", after, expected);

    uint64_t rdpmc = pmu_rdpmc(0);
    value_u64("rdmsr", after);
    value_u64("rdpmc", rdpmc);
    check(RDPMC_AGREES, rdpmc == after && after != 0);
    pmu_dump("after the function");
}
