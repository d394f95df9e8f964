/* Experiment 22-3 · Edge detect. */
#include "kernel/smi.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { BOTH_WAYS, BURSTS, STALLS, EACH };

static const char *const checks[] = {
    [BOTH_WAYS] = "a condition and its opposite rise equally often, to within one",
    [BURSTS] = "bursts: no more rises than cycles",
    [STALLS] = "stalls: no more rises than cycles",
    [EACH] = "each iteration of the body has at least one burst and one stall",
};

static void run(void);

const struct experiment ex22_3 = {
    .id = "22-3",
    .title = "Edge detect",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_GENERAL_2 | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * With CMASK a counter counts the cycles in which a condition holds, with E as well only those in
 * which it comes to hold (SDM vol. 3 "Architectural Performance Monitoring Version 1"). The
 * condition here is that an instruction retires: CMASK 1. With INV it is that none does. The body
 * makes bursts and stalls by turns: a division, for which all wait, and additions behind it.
 *
 * A condition cannot rise twice without its opposite rising in between: in one window the two
 * differ by at most one. How often it rises is how many bursts there are, and the cycles by that is
 * their mean length.
 *
 * Where counters stand in SMM (FREEZE_WHILE_SMM), a condition that holds before and after an SMI
 * may rise anew behind it; so each SMI that falls in may make one more.
 */
#define PLAIN      (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define RETIRING   (PLAIN | ARCH_U64(1) << PERFEVTSEL_CMASK_SHIFT)
#define STALLED    (RETIRING | PERFEVTSEL_INV)
#define ITERATIONS 300

/* What two selects count in one window. */
struct pair {
    uint64_t first, second;
    uint32_t smis;
};

static struct pair count_pair(uint64_t first, uint64_t second)
{
    pmu_select(0, first);
    pmu_select(1, second);
    uint32_t smis = smi_count();
    count_from_0(PMU_MASK(0) | PMU_MASK(1), body_bursts, ITERATIONS);
    return (struct pair){pmu_read(0), pmu_read(1), smi_count() - smis};
}

static bool alternate(const struct pair *rises)
{
    uint64_t more = rises->first > rises->second ? rises->first : rises->second;
    uint64_t fewer = rises->first + rises->second - more;
    return fewer != 0 && more - fewer <= 1 + (uint64_t)rises->smis;
}

/* A state's cycles and rises in one window. */
static void check_state(unsigned which, uint64_t select)
{
    struct pair state;
    struct take take = take_begin();
    do
        state = count_pair(select, select | PERFEVTSEL_E);
    while (take_again(&take, state.second != 0 && state.second <= state.first));
    value_u64("cycles", state.first);
    value_u64("rises", state.second);
    value_ratio("mean_length", state.first, state.second);
    check(which, state.second != 0 && state.second <= state.first);
}

static void run(void)
{
    count_pair(RETIRING, STALLED); /* warms caches and predictors */

    struct pair rises;
    struct take take = take_begin();
    do
        rises = count_pair(RETIRING | PERFEVTSEL_E, STALLED | PERFEVTSEL_E);
    while (take_again(&take, alternate(&rises)));
    value_u64("bursts", rises.first);
    value_u64("stalls", rises.second);
    check(BOTH_WAYS, alternate(&rises));

    check_state(BURSTS, RETIRING);
    check_state(STALLS, STALLED);

    value_u64("bursts", rises.first);
    value_u64("stalls", rises.second);
    value_u64("iterations", ITERATIONS);
    check(EACH, rises.first >= ITERATIONS && rises.second >= ITERATIONS);
}
