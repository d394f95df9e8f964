/* Experiment 14-10 · BTS buffer full. */
#include "kernel/string.h"
#include "lab/bts_lab.h"
#include "lab/ds_bodies.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { SET_UP, PMI_ARRIVES, AT_THRESHOLD, NOTHING_LOST, OVF_BUF_CLEAR, NOT_BEFORE, NOT_AFTER };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up",
    [PMI_ARRIVES] = "the PMI arrives",
    [AT_THRESHOLD] = "in the handler the index is at or past the threshold, with room left",
    [NOTHING_LOST] =
        "nothing was lost before it: every branch up to the interrupt is there, in order",
    [OVF_BUF_CLEAR] = "IA32_PERF_GLOBAL_STATUS.OvfBuf is clear after the reset",
    [NOT_BEFORE] = "with one branch less than the threshold no PMI comes",
    [NOT_AFTER] = "with one branch more than the threshold it has come",
};

static void run(void);

const struct experiment ex14_10 = {
    .id = "14-10",
    .title = "BTS buffer full",
    .needs = NEED_PMU | NEED_PMI | NEED_BTS,
    CHECKS(checks),
    .run = run,
};

/*
 * With DEBUGCTL.BTINT set the processor raises the perfmon LVT entry when the BTS index reaches the
 * threshold, so that software can empty the buffer before it is full: the threshold lies "several
 * records short" of the absolute maximum, because the interrupt takes a while and branches go on
 * being recorded meanwhile, the interrupt's own included (SDM vol. 3 "BTS and DS Save Area",
 * "Writing the DS Interrupt Service Routine"). The manual names the index at or past the threshold
 * as the sign of this cause; IA32_PERF_GLOBAL_STATUS.OvfBuf belongs to PEBS, and whether it is set
 * here is reported, not asserted: only that it does not stay.
 *
 * Because of the delay, that the PMI was asked for by the very record at the threshold is only seen
 * in a run that ends there. Which one that is the manual leaves open: the threshold is the "address
 * of the BTS record on which an interrupt is to be generated", which is the record that brings the
 * index there or the one written there, the next. So with one record less than the threshold no
 * PMI may come, with one more it must, and with as many it is reported. What can go wrong: the
 * interrupt comes early, or never, or twice; records are lost before it.
 */
#define RECORDS   600
#define THRESHOLD 40
#define ROUNDS    20 /* 321 branches: enough for any skid */
#define SHORT     2  /* rounds of the run that ends at the threshold */
#define SHOWN     8  /* records before and behind the threshold */

static struct {
    unsigned pmis;
    unsigned count; /* records in the handler of the first */
    uint64_t status;
    bool bts_full;
    struct bts_record records[RECORDS];
} seen;

static void on_pmi(const struct pmi *pmi)
{
    if (seen.pmis++ == 0) {
        seen.bts_full = pmi->bts_full;
        seen.status = pmi->status;
        seen.count = bts_count();
        if (seen.count > RECORDS)
            seen.count = RECORDS;
        memcpy(seen.records, bts_records(), seen.count * sizeof(seen.records[0]));
        ds_dump("in the PMI handler");
    }
    ds_buffer_drain(&ds_area()->bts);
}

static void dump_around_threshold(void)
{
    unsigned first = THRESHOLD - SHOWN;
    if (seen.count > first)
        bts_dump("around the threshold", seen.records + first,
                 seen.count - first < 2 * SHOWN ? seen.count - first : 2 * SHOWN);
}

/* Behind the branches of the run stand the interrupt's: the branch to its handler, and the
 * handler's own until it stops the trace. */
static unsigned recorded_of_the_run(void)
{
    return bts_jumps_agreeing(seen.records, seen.count, 0, ROUNDS, (uint64_t)bts_jumps);
}

static void trace_to_threshold(void)
{
    unsigned before = pmu_pmi_count();
    seen = (typeof(seen)){0};
    ds_buffer_drain(&ds_area()->bts);
    bts_trace(DEBUGCTL_BTINT, bts_jumps, ROUNDS);
    wait_for_pmi(before + 1);
}

static bool nothing_lost(void)
{
    return recorded_of_the_run() >= THRESHOLD && bts_torn(seen.records, seen.count) == 0;
}

static void check_nothing_lost(void)
{
    unsigned mine = recorded_of_the_run();
    unsigned torn = bts_torn(seen.records, seen.count);
    value_u64("recorded_of_the_run", mine);
    if (torn != 0)
        value_u64("torn", torn);
    check(NOTHING_LOST, nothing_lost());
}

static void check_status(void)
{
    if (!pmu_info()->global_ctrl) {
        check_skip(OVF_BUF_CLEAR, "no IA32_PERF_GLOBAL_STATUS: CPUID.0AH:EAX[7:0] < 2");
        return;
    }
    uint64_t after = pmu_status();
    value_hex("status_in_handler", seen.status);
    value_str("OvfBuf_in_handler", seen.status & GLOBAL_STATUS_OVF_BUF ? "set" : "clear");
    value_hex("status_after", after);
    check(OVF_BUF_CLEAR, seen.pmis != 0 && !(after & GLOBAL_STATUS_OVF_BUF));
}

struct short_run {
    unsigned pmis, records; /* that came; that are in the buffer */
};

/* The PMIs that are due: of the run that reaches the threshold just so, either is right. */
static struct short_run run_short(unsigned threshold, unsigned fewest, unsigned most)
{
    const struct ds_setup setup = {.bts_records = RECORDS, .bts_threshold = threshold};
    struct short_run run = {0};
    bool smi;
    struct take take = take_begin();
    do {
        unsigned before = pmu_pmi_count();
        if (ds_setup(&setup) != NULL)
            return run;
        bts_trace(DEBUGCTL_BTINT, bts_jumps, SHORT);
        smi = take_has_smi(&take); /* not in the wait for what may not come */
        wait_for_pmi(before + 1);
        run = (struct short_run){pmu_pmi_count() - before, bts_count()};
    } while (take_again_told(&take, smi, run.pmis >= fewest && run.pmis <= most));
    return run;
}

static void check_the_very_record(void)
{
    unsigned branches = bts_jumps_branches(SHORT);
    struct short_run before = run_short(branches + 1, 0, 0), at = run_short(branches, 0, 1),
                     past = run_short(branches - 1, 1, 1);
    value_u64("branches", branches);
    value_u64("threshold", branches + 1);
    value_u64("pmis", before.pmis);
    if (before.records != branches)
        value_u64("records", before.records);
    check(NOT_BEFORE, before.pmis == 0 && before.records == branches);
    value_u64("branches", branches);
    value_u64("pmis_at_the_threshold", at.pmis);
    value_u64("threshold", branches - 1);
    value_u64("pmis", past.pmis);
    check(NOT_AFTER, at.pmis <= 1 && past.pmis == 1);
}

static void run(void)
{
    bool set_up = bts_set_up(RECORDS, THRESHOLD);
    check(SET_UP, set_up);
    if (!set_up)
        return;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    struct take take = take_begin();
    do
        trace_to_threshold();
    while (take_again_wrong(&take, nothing_lost()));
    dump_around_threshold();

    value_u64("pmis", seen.pmis);
    value_u64("unexpected", pmu_unexpected_count());
    check(PMI_ARRIVES, seen.pmis >= 1 && pmu_unexpected_count() == 0);

    value_u64("threshold", THRESHOLD);
    value_u64("records_in_handler", seen.count);
    check(AT_THRESHOLD, seen.bts_full && seen.count >= THRESHOLD && seen.count < RECORDS);

    check_nothing_lost();
    check_status();
    check_the_very_record();
}
