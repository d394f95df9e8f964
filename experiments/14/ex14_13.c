/* Experiment 14-13 · Count the PMIs of a BTS run. */
#include "kernel/print.h"
#include "lab/bts_lab.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { SET_UP, SEVERAL_PMIS, AT_THRESHOLD, NOTHING_LOST, NUMBER_OF_PMIS };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up",
    [SEVERAL_PMIS] = "several PMIs arrive",
    [AT_THRESHOLD] = "each PMI finds the index at or past the threshold, with room left",
    [NOTHING_LOST] = "no record is missing: each begins where the one before ended",
    [NUMBER_OF_PMIS] = "the number of PMIs is that of the records by the threshold",
};

static void run(void);

const struct experiment ex14_13 = {
    .id = "14-13",
    .title = "Count the PMIs of a BTS run",
    .needs = NEED_PMU | NEED_PMI | NEED_BTS,
    CHECKS(checks),
    .run = run,
};

/*
 * An interrupting BTS buffer around a console print, which takes thousands of branches. Each PMI
 * comes when the index has reached the threshold; until its handler has stopped the trace some more
 * records are written, the overshoot. The handler takes the records out and sets the index back. So
 * of all records, less the overshoots, each PMI stands for exactly a threshold's worth, and what is
 * left at the end is less than one more: PMIs = (records - overshoots) / threshold. A PMI that is
 * lost leaves more records than that; one too many finds the index below the threshold. SDM vol. 3
 * "Writing the DS Interrupt Service Routine".
 */
#define RECORDS   2000
#define THRESHOLD 1000
#define LINES     6

static struct {
    unsigned pmis;
    uint64_t drained, overshoot;
    unsigned fewest, most; /* records found by a PMI */
    unsigned torn;
} seen;

static void on_pmi(const struct pmi *pmi)
{
    unsigned n = bts_count();
    (void)pmi;
    seen.fewest = seen.pmis == 0 || n < seen.fewest ? n : seen.fewest;
    seen.most = n > seen.most ? n : seen.most;
    seen.pmis++;
    seen.drained += n;
    seen.overshoot += n > THRESHOLD ? n - THRESHOLD : 0;
    seen.torn += bts_torn(bts_records(), n);
    ds_buffer_drain(&ds_area()->bts);
}

static void print(uint64_t lines)
{
    for (uint64_t i = 0; i < lines; i++)
        kprintf("# line %llu of %llu, traced branch by branch\n", (unsigned long long)i + 1,
                (unsigned long long)lines);
}

/* Again when an SMI fell in. */
static void trace_print(void)
{
    struct take take = take_begin();
    do {
        seen = (typeof(seen)){0};
        ds_buffer_drain(&ds_area()->bts);
        bts_trace(DEBUGCTL_BTINT, print, LINES);
        wait_for_pmi(pmu_pmi_count() + 1); /* one that is still on its way */
    } while (take_again_wrong(&take, seen.torn + bts_torn(bts_records(), bts_count()) == 0));
}

static void run(void)
{
    bool set_up = bts_set_up(RECORDS, THRESHOLD);
    check(SET_UP, set_up);
    if (!set_up)
        return;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    trace_print();

    unsigned left = bts_count();
    uint64_t records = seen.drained + left;
    value_u64("pmis", seen.pmis);
    value_u64("unexpected", pmu_unexpected_count());
    check(SEVERAL_PMIS, seen.pmis >= 2 && pmu_unexpected_count() == 0);

    value_u64("threshold", THRESHOLD);
    value_u64("fewest_records", seen.fewest);
    value_u64("most_records", seen.most);
    check(AT_THRESHOLD, seen.pmis != 0 && seen.fewest >= THRESHOLD && seen.most < RECORDS);

    unsigned torn = seen.torn + bts_torn(bts_records(), left);
    value_u64("torn", torn);
    check(NOTHING_LOST, records != 0 && torn == 0);

    uint64_t computed = (records - seen.overshoot) / THRESHOLD;
    value_u64("records", records);
    value_u64("left_at_the_end", left);
    value_u64("overshoots", seen.overshoot);
    value_u64("pmis_computed", computed);
    check(NUMBER_OF_PMIS, seen.pmis != 0 && seen.pmis == computed);
}
