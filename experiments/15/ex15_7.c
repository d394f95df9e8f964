/* Experiment 15-7 · PEBS buffer full. */
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

enum { SET_UP, ONE_PMI, OVF_BUF, INDEX, NO_COUNTER_BIT, RESET };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up and a counter samples the event",
    [ONE_PMI] = "one PMI arrives",
    [OVF_BUF] = "IA32_PERF_GLOBAL_STATUS.OvfBuf is set in the handler",
    [INDEX] = "the index is at or past the threshold, with the one record written",
    [NO_COUNTER_BIT] = "the sampling counter's own overflow bit is clear",
    [RESET] = "OvfBuf is clear after the reset",
};

static void run(void);

const struct experiment ex15_7 = {
    .id = "15-7",
    .title = "PEBS buffer full",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_PMI | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * A buffer with room for one record: the record fills it, the index reaches the threshold, and the
 * processor sets IA32_PERF_GLOBAL_STATUS.OvfBuf (62) and asks for the perfmon interrupt. The
 * sampling counter's own overflow bit is not set then: writing the record clears it (SDM vol. 3
 * "Setting Up the PEBS Buffer"; "On a PEBS event, the processor ... clears the counter overflow
 * status"). So a handler tells a full buffer from an overflow by these two bits.
 */
#define PERIOD 1000
#define ROUNDS 20 /* 1280 loads: one record */

static struct pebs_run the_run;

static struct {
    unsigned pmis;
    uint64_t status, index, threshold; /* and records: at the first */
    unsigned records;
} seen;

static void on_pmi(const struct pmi *pmi)
{
    if (seen.pmis++ == 0) {
        seen.status = pmi->status;
        seen.index = ds_area()->pebs.index;
        seen.threshold = ds_area()->pebs.threshold;
        seen.records = pebs_count();
        ds_dump("in the PMI handler");
        pmu_dump("in the PMI handler");
    }
    ds_buffer_drain(&ds_area()->pebs);
}

static void sample(unsigned counter)
{
    unsigned before = pmu_pmi_count();
    seen = (typeof(seen)){0};
    ds_buffer_drain(&ds_area()->pebs);
    pebs_run_fill(&the_run, 0x1000, ROUNDS);
    pebs_enable(counter, pebs_lab_event(), PERIOD);
    pebs_lab_on();
    pmu_count(PMU_MASK(counter), pebs_loads, (uint64_t)&the_run);
    wait_for_pmi(before + 1);
    pebs_lab_off();
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = pebs_lab_bts_records(),
                                   .bts_threshold = DS_CIRCULAR,
                                   .pebs_records = 1,
                                   .pebs_threshold = 1};
    uint32_t counters = pebs_lab_set_up(&setup);
    check(SET_UP, counters != 0);
    if (counters == 0)
        return;
    unsigned counter = (unsigned)__builtin_ctz(counters);
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    struct take take = take_begin();
    do
        sample(counter);
    while (take_again_wrong(&take, seen.pmis == 1 && seen.records == 1));

    value_u64("pmis", seen.pmis);
    value_u64("unexpected", pmu_unexpected_count());
    check(ONE_PMI, seen.pmis == 1 && pmu_unexpected_count() == 0);

    value_hex("status", seen.status);
    check(OVF_BUF, seen.status & GLOBAL_STATUS_OVF_BUF);
    value_hex("index", seen.index);
    value_hex("threshold", seen.threshold);
    value_u64("records", seen.records);
    check(INDEX, seen.records == 1 && seen.index >= seen.threshold);
    value_hex("status", seen.status);
    value_u64("counter", counter);
    check(NO_COUNTER_BIT, seen.pmis != 0 && !(seen.status & PMU_MASK(counter)));
    uint64_t after = pmu_status();
    value_hex("status_after", after);
    check(RESET, seen.pmis != 0 && !(after & GLOBAL_STATUS_OVF_BUF));
}
