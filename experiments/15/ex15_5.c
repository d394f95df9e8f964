/* Experiment 15-5 · PEBS interrupt. */
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

enum { SET_UP, PMI, OF_THE_RUN, IN_ORDER, RELOADED };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up and a counter samples the event",
    [PMI] = "the PMI arrives when the PEBS index has reached the threshold",
    [OF_THE_RUN] = "each record's RIP lies in the run, its registers hold what was loaded there",
    [IN_ORDER] = "the records are in the order of the run",
    [RELOADED] = "the counter was reloaded from the debug store after each record",
};

static void run(void);

const struct experiment ex15_5 = {
    .id = "15-5",
    .title = "PEBS interrupt",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_PMI | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * A counter of a precise event, enabled in IA32_PEBS_ENABLE: its overflow arms PEBS, and the next
 * event writes a record with the state right after its instruction, reloads the counter from the
 * debug store and advances the index; at the threshold the perfmon interrupt comes (SDM vol. 3
 * "Processor Event Based Sampling (PEBS)"). The sampled code is a loop of loads in which RAX tells
 * which load came last: so the RIP of each record says what RAX must be in it. What can go wrong:
 * registers of another instruction than the RIP's, a counter that is not reloaded and so samples
 * once, records outside of the run.
 *
 * As in the book, branch trace store and FREEZE_PERFMON_ON_PMI are on, where the machine has them.
 */
#define RECORDS   8
#define THRESHOLD 4
#define PERIOD    1000
#define ROUNDS    100 /* 6400 loads: six records */
/* The event of Sandy Bridge to Broadwell counts micro-operations, which the microcode that stores
 * BTS and PEBS records may add to: half as many again is no sign of a wrong reload. */
#define MOST_RECORDS (ROUNDS * PEBS_LOADS * 3 / 2 / PERIOD)

static struct pebs_run the_run;

static struct {
    unsigned pmis;
    unsigned n, in_pmi; /* records in all, and of the first PMI */
    bool full;
    struct pebs_record records[2 * RECORDS];
} seen;

static void take_records(void)
{
    for (unsigned i = 0; i < pebs_count() && seen.n < 2 * RECORDS; i++)
        if (pebs_read(i, &seen.records[seen.n]))
            seen.n++;
    ds_buffer_drain(&ds_area()->pebs);
}

static void on_pmi(const struct pmi *pmi)
{
    if (seen.pmis++ == 0) {
        ds_dump("in the PMI handler");
        seen.full = pmi->pebs_full;
        seen.in_pmi = pebs_count();
    }
    take_records();
}

static bool sample_once(unsigned counter)
{
    unsigned before = pmu_pmi_count();
    seen = (typeof(seen)){0};
    ds_buffer_drain(&ds_area()->pebs);
    pebs_run_fill(&the_run, 0x1000, ROUNDS);
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    bool enabled = pebs_enable(counter, pebs_lab_event(), PERIOD);
    pebs_lab_on();
    pmu_count(PMU_MASK(counter), pebs_loads, (uint64_t)&the_run);
    wait_for_pmi(before + 1);
    pmu_dump("after the run");
    pebs_lab_off();
    take_records();
    return enabled;
}

static bool all_agree(void)
{
    bool good = seen.full && seen.n != 0;
    for (unsigned i = 0; i < seen.n && good && pebs_no_registers() == NULL; i++)
        good = pebs_record_agrees(&seen.records[i], &the_run, (uint64_t)pebs_loads);
    return good;
}

/* Again when an SMI fell in. */
static void sample(unsigned counter)
{
    bool enabled;
    struct take take = take_begin();
    do
        enabled = sample_once(counter);
    while (take_again_wrong(&take, all_agree()));
    value_str("event", "%s", pebs_lab_event()->name);
    value_u64("counter", counter);
    value_str("pebs_enable", enabled ? "taken" : "refused");
}

static bool all_are_of_the_run(void)
{
    bool good = seen.n != 0;
    for (unsigned i = 0; i < seen.n && good; i++) {
        good = pebs_record_is_of(&seen.records[i], &the_run, (uint64_t)pebs_loads);
        if (!good)
            value_u64("record", i);
    }
    return good;
}

/* RCX counts the rounds down. One record alone is in no order. */
static bool in_order(void)
{
    for (unsigned i = 1; i < seen.n; i++)
        if (seen.records[i].value[PEBS_RCX] >= seen.records[i - 1].value[PEBS_RCX])
            return false;
    return seen.n > 1;
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = pebs_lab_bts_records(),
                                   .bts_threshold = DS_CIRCULAR,
                                   .pebs_records = RECORDS,
                                   .pebs_threshold = THRESHOLD};
    uint32_t counters = pebs_lab_set_up(&setup);
    check(SET_UP, counters != 0);
    if (counters == 0)
        return;
    unsigned counter = (unsigned)__builtin_ctz(counters);
    sample(counter);
    value_u64("pmis", seen.pmis);
    value_u64("unexpected", pmu_unexpected_count());
    value_u64("records_in_handler", seen.in_pmi);
    check(PMI,
          seen.pmis >= 1 && pmu_unexpected_count() == 0 && seen.full && seen.in_pmi >= THRESHOLD);

    pebs_dump_records("the first two", seen.records, seen.n < 2 ? seen.n : 2);
    value_u64("records", seen.n);
    if (pebs_no_registers() != NULL) {
        check_skip_all(OF_THE_RUN, IN_ORDER, "%s", pebs_no_registers());
    } else {
        check(OF_THE_RUN, all_are_of_the_run());
        check(IN_ORDER, in_order());
    }

    uint64_t left = pmu_counter_max(counter) - pmu_read(counter) + 1;
    value_u64("records", seen.n);
    value_u64("loads", (uint64_t)ROUNDS * PEBS_LOADS);
    value_u64("period", PERIOD);
    value_u64("left_of_the_period", left);
    check(RELOADED, seen.n > 1 && seen.n <= MOST_RECORDS && left <= PERIOD);
}
