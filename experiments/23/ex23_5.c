/* Experiment 23-5 · Branch records and the PMI. */
#include "kernel/msr.h"
#include "kernel/string.h"
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/lbr_pmi.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/debugctl.h"
#include "pmu/pmu.h"
#include "x86/msr.h"

enum { FROZEN, BEFORE, STAND, THAWED };

static const char *const checks[] = {
    [FROZEN] =
        "one PMI comes, and has frozen the records: by LBR_FRZ, or before version 4 by the switch",
    [BEFORE] = "they are the newest branches before it, in order and without a gap",
    [STAND] = "the branches of its handler leave them as they are",
    [THAWED] = "thawed, the recording goes on: the next branches are the newest",
};

static void run(void);

const struct experiment ex23_5 = {
    .id = "23-5",
    .title = "Branch records and the PMI",
    .needs = NEED_LBR | LBR_PMI_NEEDS | NEED_FREEZE,
    CHECKS(checks),
    .run = run,
};

/*
 * What a profiler wants of branch records: how the program came to the event, and not how the
 * processor came to the handler. The chain of 14-2 runs round and round while IA32_PMC0 counts its
 * instructions to an overflow, under FREEZE_LBRS_ON_PMI. Its eleven branches follow each other in
 * one order only, so whatever branch is the newest, all the older ones are known; any branch of the
 * interrupt's way would break the order. Where the chain stands when the PMI comes is up to the
 * skid.
 *
 * Version 4 and later set IA32_PERF_GLOBAL_STATUS.LBR_FRZ and leave the switch on; clearing LBR_FRZ
 * alone lets the recording go on. Versions 2 and 3 clear IA32_DEBUGCTL.LBR (SDM vol. 3 "Freezing
 * LBR and Performance Counters on PMI"). Whether the interrupt itself still gets a record then, the
 * manual does not say: one is accepted, as the newest, and told. What can go wrong: the freeze
 * comes with the handler's first branches recorded; reading the records thaws them; a hypervisor
 * that injects the PMI forgets the freeze.
 */
#define SELECT         (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define ROUNDS         20000
#define OVERFLOW_AFTER 12000
#define CYCLE          (BRANCH_CHAIN_JUMPS + 1)
#define AFTER_THAW     4 /* branches of a call in a window */

struct stack {
    unsigned n;
    struct branch_record records[LBR_MAX_DEPTH]; /* newest first */
};

static struct {
    unsigned pmis;
    uint64_t debugctl, status, control;
    struct stack frozen, later, thawed;
} seen;

static void read_into(struct stack *stack)
{
    stack->n = lbr_read(stack->records, LBR_MAX_DEPTH);
}

static void on_pmi(const struct pmi *pmi)
{
    read_into(&seen.frozen);
    seen.status = pmi->status;
    seen.debugctl = rdmsr(MSR_IA32_DEBUGCTL);
    seen.control = lbr_control();
    branch_one(0);
    read_into(&seen.later);
    lbr_thaw();
    lbr_finish(branch_one, 0);
    read_into(&seen.thawed);
}

/* ---- What they should be ---- */

/* The branches of a round, in order, and the one to the next round. */
static struct branch in_cycle(unsigned i)
{
    const struct branch again = {(uint64_t)branch_chain_again, (uint64_t)branch_chain,
                                 LBR_SELECT_JCC};
    return i < BRANCH_CHAIN_JUMPS ? branch_chain_run.taken[1 + i] : again;
}

/* Which of them it is; CYCLE: none. */
static unsigned place_of(const struct branch_record *record)
{
    unsigned i = 0;
    for (; i < CYCLE; i++) {
        struct branch branch = in_cycle(i);
        if (branch_is(record, &branch))
            break;
    }
    return i;
}

static bool in_chain(uint64_t address)
{
    return address >= (uint64_t)branch_chain &&
           address <= branch_chain_run.taken[BRANCH_CHAIN_JUMPS + 1].from;
}

/* The interrupt's: out of the chain. */
static bool is_interrupt(const struct branch_record *record)
{
    return in_chain(record->from) && !in_chain(record->to) &&
           lbr_is_kind(record, LBR_SELECT_FAR_BRANCH);
}

/* How many of the newest are the interrupt's: 0 or 1. */
static unsigned interrupts(const struct stack *stack)
{
    return stack->n != 0 && is_interrupt(&stack->records[0]) ? 1 : 0;
}

/* The first that does not come before the one behind it; the number of records: there is none. */
static unsigned first_gap(const struct stack *stack)
{
    unsigned i = interrupts(stack);
    unsigned place = i < stack->n ? place_of(&stack->records[i]) : CYCLE;
    for (; i < stack->n && place < CYCLE; i++) {
        struct branch want = in_cycle(place);
        if (!branch_is(&stack->records[i], &want))
            break;
        place = (place + CYCLE - 1) % CYCLE;
    }
    return i;
}

static bool is_frozen(void)
{
    bool on = seen.control & lbr_info()->enable, frozen = seen.status & GLOBAL_STATUS_LBR_FRZ;
    return pmu_info()->freeze_in_status ? on && frozen : !on;
}

static bool are_before(void)
{
    return seen.frozen.n == lbr_info()->depth && first_gap(&seen.frozen) == seen.frozen.n;
}

static bool stand(void)
{
    bool same = seen.frozen.n != 0 && seen.later.n == seen.frozen.n;
    for (unsigned i = 0; i < seen.later.n && same; i++)
        same = seen.later.records[i].from == seen.frozen.records[i].from &&
               seen.later.records[i].to == seen.frozen.records[i].to;
    return same;
}

/* The call in a window is on top. */
static bool went_on(void)
{
    const struct branch_run *all = &branch_one_run;
    bool right = seen.thawed.n >= AFTER_THAW;
    for (unsigned i = 0; i < AFTER_THAW && right; i++)
        right = branch_is(&seen.thawed.records[i], &all->taken[all->n - 1 - i]);
    return right;
}

/* ---- The run ---- */

static void take_one(void)
{
    unsigned before = pmu_pmi_count();
    memset(&seen, 0, sizeof(seen));
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pmu_select(0, SELECT);
    pmu_write_overflow_in(0, OVERFLOW_AFTER);
    lbr_start(0, DEBUGCTL_FREEZE_LBRS_ON_PMI);
    pmu_count(PMU_MASK(0), branch_chain, ROUNDS);
    wait_for_pmi(before + 1);
    lbr_stop();
    seen.pmis = pmu_pmi_count() - before;
}

static void value_place(const char *key, const struct stack *stack, unsigned i)
{
    if (i < stack->n && place_of(&stack->records[i]) < CYCLE)
        value_u64(key, place_of(&stack->records[i]));
    else
        value_str(key, "none of the chain's branches");
}

static void run(void)
{
    const char *missing = lbr_freeze_missing();
    if (missing != NULL) {
        check_skip_all(FROZEN, THAWED, "%s", missing);
        return;
    }
    struct take take = take_begin();
    do
        take_one();
    while (
        take_again(&take, seen.pmis == 1 && is_frozen() && are_before() && stand() && went_on()));

    value_u64("pmis", seen.pmis);
    value_hex("debugctl", seen.debugctl);
    if (lbr_info()->control != MSR_IA32_DEBUGCTL)
        value_hex(lbr_info()->control_key, seen.control);
    value_hex("status", seen.status);
    value_u64("perfmon_version", pmu_info()->version);
    check(FROZEN, seen.pmis == 1 && is_frozen());

    value_str("interrupt_itself", interrupts(&seen.frozen) ? "recorded" : "not recorded");
    value_u64("records", seen.frozen.n);
    value_u64("without_a_gap", first_gap(&seen.frozen));
    value_place("newest_in_the_chain", &seen.frozen, interrupts(&seen.frozen));
    check(BEFORE, are_before());
    check_same(STAND, "records", stand() ? seen.later.n : 0, "as_before", seen.frozen.n);
    value_u64("records", seen.thawed.n);
    check(THAWED, went_on());
}
