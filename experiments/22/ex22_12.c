/* Experiment 22-12 · More events than counters. */
#include "kernel/trap.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

enum { AT_LENGTH, SCALED, IN_STEP };

static const char *const checks[] = {
    [AT_LENGTH] = "at length: each group counts exactly the instructions of all rounds",
    [SCALED] = "in turn, a body that repeats: each group's scaled instructions are those at length",
    [IN_STEP] = "in turn, a body that keeps step: they are those of one phase, as if it were all",
};

static void run(void);

const struct experiment ex22_12 = {
    .id = "22-12",
    .title = "More events than counters",
    .needs = NEED_PMU | NEED_GENERAL_2 | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * All events that this kind of PMU says it has (Intel: the architectural ones that CPUID
 * announces), with two counters: general counter 0 counts instructions and 1 one of the others, a
 * group; the groups take turns, a round of the body each, and what one has counted in its share of
 * the rounds is scaled to all of them. That is what tools do with more events than counters. The
 * truth is counted at length, by each group in all rounds. SDM vol. 3 "Architectural Performance
 * Monitoring Version 2": the counters of a group are opened and closed by one write, so that a
 * window has one group alone and all of it; where no register enables all, by one write each, in
 * the same order.
 *
 * Of a body that repeats, each round has the same number of instructions, and the estimate is
 * exact; of the other events its error is reported. But of one whose phases keep step with the
 * turns, a group sees the same phase always: it is wrong by a factor that the listing tells, and
 * nothing in the counts betrays it.
 */
#define SELECT     (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define BOTH       (PMU_MASK(0) | PMU_MASK(1))
#define TURNS      10 /* of each group */
#define ITERATIONS 50

struct group {
    unsigned event;               /* PMU_EVENT_* */
    uint64_t instructions, count; /* of general counters 0 and 1 in its windows */
};

static struct group at_length[PMU_N_EVENTS], in_turn[PMU_N_EVENTS], in_step[PMU_N_EVENTS];
static unsigned n_groups, n_rounds;

static void find_groups(void)
{
    for (unsigned i = 0; i < PMU_N_EVENTS; i++)
        if (i != PMU_EVENT_INSTRUCTIONS && pmu_no_event(i) == NULL) {
            at_length[n_groups].event = in_turn[n_groups].event = in_step[n_groups].event = i;
            n_groups++;
        }
    n_rounds = n_groups * TURNS;
}

/* Its window is one round: nothing of another group is in it. */
static void count_round(struct group *group, uint64_t iterations)
{
    pmu_select(1, pmu_event(group->event) | SELECT);
    group->instructions += count_exactly(BOTH, 0, body_mixed, iterations,
                                         insns_in_window(BOTH, &body_mixed_insns, iterations));
    group->count += pmu_read(1);
}

/* The body that keeps step: in each turn its phases are those of the groups. */
static uint64_t phase_of(unsigned group)
{
    return (uint64_t)ITERATIONS * (1 + group);
}

static void measure(void)
{
    body_mixed(ITERATIONS); /* warms caches and predictors */
    for (unsigned g = 0; g < n_groups; g++)
        for (unsigned round = 0; round < n_rounds; round++)
            count_round(&at_length[g], ITERATIONS);
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (unsigned g = 0; g < n_groups; g++)
            count_round(&in_turn[g], ITERATIONS);
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (unsigned g = 0; g < n_groups; g++)
            count_round(&in_step[g], phase_of(g));
}

/* Each group had every n_groups-th round. */
static uint64_t scaled(uint64_t count)
{
    return count * n_groups;
}

static void value_events(void)
{
    for (unsigned g = 0; g < n_groups; g++) {
        const char *name = pmu_event_title(at_length[g].event);
        note("%s: %llu at length, %llu scaled", name, (unsigned long long)at_length[g].count,
             (unsigned long long)scaled(in_turn[g].count));
        value_ratio(name, scaled(in_turn[g].count), at_length[g].count);
    }
}

static void check_groups(uint64_t empty)
{
    uint64_t round = insns_in_window(BOTH, &body_mixed_insns, ITERATIONS), all = 0;
    bool length = true, turn = true, step = true;
    for (unsigned g = 0; g < n_groups; g++) {
        uint64_t phase = insns_in_window(BOTH, &body_mixed_insns, phase_of(g));
        length = length && at_length[g].instructions == round * n_rounds;
        turn = turn && scaled(in_turn[g].instructions) == at_length[g].instructions;
        step = step && scaled(in_step[g].instructions) == phase * n_rounds;
        all += phase * TURNS;
    }
    value_u64("groups", n_groups);
    value_u64("rounds", n_rounds);
    value_u64("instructions", at_length[0].instructions);
    value_u64("from_the_listing", round * n_rounds);
    value_known_loss(empty, at_length[0].instructions / n_rounds, round);
    check(AT_LENGTH, length);

    value_u64("instructions", scaled(in_turn[0].instructions));
    value_events();
    check(SCALED, turn);

    value_u64("truth", all);
    value_u64("first_group", scaled(in_step[0].instructions));
    value_u64("last_group", scaled(in_step[n_groups - 1].instructions));
    check(IN_STEP, step);
}

static void run(void)
{
    find_groups();
    if (n_groups == 0) {
        check_skip_all(AT_LENGTH, IN_STEP, "%s", pmu_no_event(PMU_EVENT_CORE_CYCLES));
        return;
    }
    pmu_select(0, pmu_event(PMU_EVENT_INSTRUCTIONS) | SELECT);
    irq_disable();
    uint64_t empty = count_empty(BOTH, 0);
    measure();
    irq_enable();
    check_groups(empty);
}
