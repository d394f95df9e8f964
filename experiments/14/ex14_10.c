/*
 * Experiment 14-10 · BTS buffer full.
 *
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
#include "lab/ds_bodies.h"
#include "lab/experiment_old.h"
#include "lab/pmi_wait.h"
#include "kernel/string.h"
#include "kernel/trap.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define RECORDS   600
#define THRESHOLD 40
#define ROUNDS    20 /* 321 branches: enough for any skid */
#define SHORT     2  /* rounds of the run that ends at the threshold */
#define SHOWN     8  /* records before and behind the threshold */

static struct {
    unsigned count; /* records in the handler */
    uint64_t status;
    bool bts_full;
    struct bts_record records[RECORDS];
} seen;

static void on_pmi(const struct pmi *pmi)
{
    if (pmu_pmi_count() == 1) {
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

/* How many branches of the run stand at the beginning of the records. What follows is the
 * interrupt's: the branch to its handler, and the handler's own until it stops the trace. */
static unsigned of_the_run(void)
{
    unsigned n = 0;
    while (n < seen.count && n < bts_jumps_branches(ROUNDS)) {
        struct bts_record wanted = bts_jumps_branch(n, ROUNDS, (uint64_t)bts_jumps);
        if (seen.records[n].from != wanted.from || seen.records[n].to != wanted.to)
            break;
        n++;
    }
    return n;
}

static bool records_follow_each_other(void)
{
    for (unsigned i = 1; i < seen.count; i++)
        if (!bts_follows(&seen.records[i - 1], &seen.records[i])) {
            value_u64("torn_before", i);
            return false;
        }
    return seen.count != 0;
}

/* PMIs of a short run with the threshold at so many records. */
static unsigned pmis_with(unsigned threshold)
{
    const struct ds_setup setup = {.bts_records = RECORDS, .bts_threshold = threshold};
    unsigned before = pmu_pmi_count();
    if (ds_setup(&setup) != NULL)
        return 0;
    bts_trace(DEBUGCTL_BTINT, bts_jumps, SHORT);
    wait_for_pmi(before + 1);
    return pmu_pmi_count() - before;
}

static void check_the_very_record(void)
{
    unsigned branches = bts_jumps_branches(SHORT);
    unsigned before = pmis_with(branches + 1), at = pmis_with(branches),
             past = pmis_with(branches - 1);
    value_u64("branches", branches);
    value_u64("threshold", branches + 1);
    value_u64("pmis", before);
    check(before == 0);
    value_u64("branches", branches);
    value_u64("pmis_at_the_threshold", at);
    value_u64("threshold", branches - 1);
    value_u64("pmis", past);
    check(at <= 1 && past == 1);
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = RECORDS, .bts_threshold = THRESHOLD};
    const char *refused = ds_setup(&setup);
    memset(&seen, 0, sizeof(seen));
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    check(refused == NULL);
    if (refused != NULL)
        return;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    bts_trace(DEBUGCTL_BTINT, bts_jumps, ROUNDS);
    wait_for_pmi(1);

    unsigned mine = of_the_run();
    unsigned first = THRESHOLD - SHOWN;
    if (seen.count > first)
        bts_dump("around the threshold", seen.records + first,
                 seen.count - first < 2 * SHOWN ? seen.count - first : 2 * SHOWN);
    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    check(pmu_pmi_count() >= 1 && pmu_unexpected_count() == 0);

    value_u64("threshold", THRESHOLD);
    value_u64("records_in_handler", seen.count);
    check(seen.bts_full && seen.count >= THRESHOLD && seen.count < RECORDS);

    value_u64("recorded_of_the_run", mine);
    check(mine >= THRESHOLD && records_follow_each_other());

    value_hex("status_in_handler", seen.status);
    value_str("OvfBuf_in_handler", seen.status & GLOBAL_STATUS_OVF_BUF ? "set" : "clear");
    value_hex("status_after", pmu_status());
    check(!(pmu_status() & GLOBAL_STATUS_OVF_BUF));

    check_the_very_record();
}

static const char *const checks[] = {
    "the debug store can be set up",
    "the PMI arrives",
    "in the handler the index is at or past the threshold, with room left",
    "nothing was lost before it: every branch up to the interrupt is there, in order",
    "IA32_PERF_GLOBAL_STATUS.OvfBuf is clear after the reset",
    "with one branch less than the threshold no PMI comes",
    "with one branch more than the threshold it has come",
    NULL,
};

const struct experiment ex14_10 = {
    .id = "14-10",
    .title = "BTS buffer full",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_PMI | NEED_BTS,
    .run = run,
};
