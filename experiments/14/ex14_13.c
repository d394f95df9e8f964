/*
 * Experiment 14-13 · Count the PMIs of a BTS run.
 *
 * An interrupting BTS buffer around a console print, which takes thousands of branches. Each PMI
 * comes when the index has reached the threshold; until its handler has stopped the trace some more
 * records are written, the overshoot. The handler takes the records out and sets the index back. So
 * of all records, less the overshoots, each PMI stands for exactly a threshold's worth, and what is
 * left at the end is less than one more: PMIs = (records - overshoots) / threshold. A PMI that is
 * lost leaves more records than that; one too many finds the index below the threshold. SDM vol. 3
 * "Writing the DS Interrupt Service Routine".
 */
#include "lab/experiment_old.h"
#include "lab/pmi_wait.h"
#include "kernel/print.h"
#include "pmu/bts.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define RECORDS   2000
#define THRESHOLD 1000
#define LINES     6

static struct {
    unsigned pmis;
    uint64_t drained, overshoot;
    unsigned fewest, most; /* records found by a PMI */
    unsigned torn;         /* records that cannot follow the one before */
} seen;

static unsigned torn_records(unsigned n)
{
    unsigned torn = 0;
    for (unsigned i = 1; i < n; i++)
        torn += !bts_follows(&bts_records()[i - 1], &bts_records()[i]);
    return torn;
}

static void on_pmi(const struct pmi *pmi)
{
    unsigned n = bts_count();
    (void)pmi;
    seen.pmis++;
    seen.drained += n;
    seen.overshoot += n > THRESHOLD ? n - THRESHOLD : 0;
    seen.fewest = n < seen.fewest ? n : seen.fewest;
    seen.most = n > seen.most ? n : seen.most;
    seen.torn += torn_records(n);
    ds_buffer_drain(&ds_area()->bts);
}

static void print(uint64_t lines)
{
    for (uint64_t i = 0; i < lines; i++)
        kprintf("# line %llu of %llu, traced branch by branch\n", (unsigned long long)i + 1,
                (unsigned long long)lines);
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = RECORDS, .bts_threshold = THRESHOLD};
    const char *refused = ds_setup(&setup);
    seen = (typeof(seen)){.fewest = RECORDS};
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    check(refused == NULL);
    if (refused != NULL)
        return;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    bts_trace(DEBUGCTL_BTINT, print, LINES);
    wait_for_pmi(seen.pmis + 1); /* one that is still on its way */

    unsigned left = bts_count();
    uint64_t records = seen.drained + left;
    value_u64("pmis", seen.pmis);
    value_u64("unexpected", pmu_unexpected_count());
    check(seen.pmis >= 2 && pmu_unexpected_count() == 0);

    value_u64("threshold", THRESHOLD);
    value_u64("fewest_records", seen.fewest);
    value_u64("most_records", seen.most);
    check(seen.pmis != 0 && seen.fewest >= THRESHOLD && seen.most < RECORDS);

    value_u64("torn", seen.torn + torn_records(left));
    check(records != 0 && seen.torn + torn_records(left) == 0);

    value_u64("records", records);
    value_u64("left_at_the_end", left);
    value_u64("overshoots", seen.overshoot);
    value_u64("pmis_computed", (records - seen.overshoot) / THRESHOLD);
    check(seen.pmis == (records - seen.overshoot) / THRESHOLD);
}

static const char *const checks[] = {
    "the debug store can be set up",
    "several PMIs arrive",
    "each PMI finds the index at or past the threshold, with room left",
    "no record is missing: each begins where the one before ended",
    "the number of PMIs is that of the records by the threshold",
    NULL,
};

const struct experiment ex14_13 = {
    .id = "14-13",
    .title = "Count the PMIs of a BTS run",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_PMI | NEED_BTS,
    .run = run,
};
