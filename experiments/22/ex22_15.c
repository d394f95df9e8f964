/* Experiment 22-15 · What reading costs. */
#include "kernel/cpuid.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

enum { LOOP, RDTSC, RDPMC, RDMSR, WRMSR, CYCLES };

static const char *const checks[] = {
    [LOOP] = "the bare loop counts exactly the instructions of its listing",
    [RDTSC] = "RDTSC adds exactly its instructions",
    [RDPMC] = "RDPMC adds exactly its instructions",
    [RDMSR] = "RDMSR adds exactly its instructions",
    [WRMSR] = "WRMSR adds exactly its instructions",
    [CYCLES] = "each of them takes at least a cycle",
};

static void run(void);

const struct experiment ex22_15 = {
    .id = "22-15",
    .title = "What reading costs",
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_GENERAL_2,
    CHECKS(checks),
    .run = run,
};

/*
 * Who reads a counter disturbs what it counts: by how many instructions and by how many cycles?
 * General counter 0 counts loops of RDTSC, and of RDPMC, RDMSR and WRMSR of counter 1, which
 * stands; first their instructions, which are known from the listing, then, in windows of their
 * own, their core cycles. What a bare loop takes is taken off, the rest is the instructions' own.
 *
 * Each of them is one instruction (SDM vol. 3 "Pre-defined Architectural Performance Events",
 * Instructions Retired). How long they take the manual does not say: but none is done in less than
 * a cycle. They are measured one behind the other in a loop. That is not how long one result takes
 * to come: RDTSC and RDPMC wait for nothing before them (SDM vol. 2), WRMSR for all. The spread is
 * that of RUNS windows; an SMI or a change of the frequency shows in the most.
 */
#define SELECT     (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS 10
#define TIMES      ((uint64_t)ITERATIONS * COST_REPEATS) /* of the instruction in one window */
#define RUNS       9                                     /* odd: one is in the middle */

static const struct loop {
    const char *name;
    window_body body;
    const struct body_insns *insns;
} loops[CYCLES] = {
    /* of all checks before it */
    [LOOP] = {"bare loop", body_spin, &body_spin_insns},
    [RDTSC] = {"RDTSC", body_rdtsc, &body_rdtsc_insns},
    [RDPMC] = {"RDPMC", body_rdpmc, &body_rdpmc_insns},
    [RDMSR] = {"RDMSR", body_rdmsr, &body_rdmsr_insns},
    [WRMSR] = {"WRMSR", body_wrmsr, &body_wrmsr_insns},
};

/* Core cycles of RUNS windows, in rising order. */
static uint64_t cycles[CYCLES][RUNS];

static void check_instructions(unsigned i, uint64_t empty)
{
    const struct loop *loop = &loops[i];
    uint64_t expected = insns_in_window(PMU_MASK(0), loop->insns, ITERATIONS);
    loop->body(ITERATIONS); /* warms caches and predictors */
    uint64_t count = count_exactly(PMU_MASK(0), 0, loop->body, ITERATIONS, expected);
    if (i != LOOP)
        value_u64("times", TIMES);
    value_known_loss(empty, count, expected);
    if (hypervisor_present() && count + TIMES <= expected)
        value_str("known", "the hypervisor does not count the instructions that it executes "
                           "itself: KVM before Linux 5.17 (9cd803d496e7)");
    check_same(i, "pmc0", count, "from_the_listing", expected);
}

static void measure_cycles(unsigned i)
{
    for (unsigned n = 0; n < RUNS; n++) {
        count_from_0(PMU_MASK(0), loops[i].body, ITERATIONS);
        uint64_t count = pmu_read(0);
        unsigned at = n;
        for (; at > 0 && cycles[i][at - 1] > count; at--)
            cycles[i][at] = cycles[i][at - 1];
        cycles[i][at] = count;
    }
}

/* The instruction's own, in a window of that many cycles. */
static uint64_t own_cycles(uint64_t window)
{
    uint64_t bare = cycles[LOOP][0];
    return window > bare ? window - bare : 0;
}

static void print_row(unsigned i)
{
    static const unsigned shown[] = {0, RUNS / 2, RUNS - 1};
    unsigned long long tenths[3];
    for (unsigned n = 0; n < 3; n++)
        tenths[n] = own_cycles(cycles[i][shown[n]]) * 10 / TIMES;
    note("%s %9llu.%llu %10llu.%llu %10llu.%llu", loops[i].name, tenths[0] / 10, tenths[0] % 10,
         tenths[1] / 10, tenths[1] % 10, tenths[2] / 10, tenths[2] % 10);
}

static void check_cycles(void)
{
    const char *missing = pmu_no_event(PMU_EVENT_CORE_CYCLES);
    if (missing != NULL) {
        check_skip(CYCLES, "%s", missing);
        return;
    }
    pmu_select(0, pmu_event(PMU_EVENT_CORE_CYCLES) | SELECT);
    for (unsigned i = LOOP; i < CYCLES; i++)
        measure_cycles(i);

    bool each = true;
    note("cycles   least      median       most, of %u runs", RUNS);
    for (unsigned i = RDTSC; i < CYCLES; i++) {
        uint64_t own = own_cycles(cycles[i][0]);
        print_row(i);
        value_ratio(loops[i].name, own, TIMES);
        each = each && own >= TIMES;
    }
    check(CYCLES, each);
}

static void run(void)
{
    body_cost_msr = pmu_counter_msr(1);
    pmu_select(0, pmu_event(PMU_EVENT_INSTRUCTIONS) | SELECT);
    uint64_t empty = count_empty(PMU_MASK(0), 0);
    for (unsigned i = LOOP; i < CYCLES; i++)
        check_instructions(i, empty);
    check_cycles();
}
