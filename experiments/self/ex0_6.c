/* Experiment 0-6 · Two recorders, the same branches (self-test). */
#include "lab/branches.h"
#include "lab/experiment.h"
#include "pmu/bts.h"
#include "pmu/ds.h"

#include <stddef.h>

enum { LBR, DEBUG_STORE, BTS };

static const char *const checks[] = {
    [LBR] = "the last branch records hold the branches of the listing",
    [DEBUG_STORE] = "the debug store can be set up",
    [BTS] = "the branch trace store holds the same branches, record by record",
};

static void run(void);

const struct experiment ex0_6 = {
    .id = "0-6",
    .title = "Two recorders, the same branches",
    .needs = NEED_LBR | NEED_BTS,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * One function of every kind of jump, call and return, once with the last branch records and once
 * with the branch trace store: both must tell the same branches, record by record, as far back as
 * the LBR stack goes. Both are printed, so that a third witness, the simulator's own trace, can be
 * compared with them (tests/t_branches.py).
 */
#define BTS_ROOM 64

static void run(void)
{
    const struct branch_run *run = &branch_jumps_run;
    struct branch_record lbr[LBR_MAX_DEPTH];
    lbr_record(0, 0, branch_jumps, 0);
    lbr_dump("branch_jumps() in the last branch records");
    unsigned n_lbr = lbr_read(lbr, LBR_MAX_DEPTH);
    check(LBR, branches_are(lbr, n_lbr, run->taken, (unsigned)run->n, 0, 0));

    const struct ds_setup setup = {.bts_records = BTS_ROOM, .bts_threshold = DS_CIRCULAR};
    const char *refused = ds_setup(&setup);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    check(DEBUG_STORE, refused == NULL);
    if (refused != NULL)
        return;
    bts_trace(0, branch_jumps, 0);
    const struct bts_record *bts = bts_records();
    unsigned n_bts = bts_count();
    bts_dump("branch_jumps() in the branch trace store", bts, n_bts);
    unsigned same = 0;
    while (same < n_lbr && same < n_bts && lbr[same].from == bts[n_bts - 1 - same].from &&
           lbr[same].to == bts[n_bts - 1 - same].to)
        same++;
    value_u64("lbr_records", n_lbr);
    value_u64("bts_records", n_bts);
    value_u64("the_same", same);
    check(BTS, n_bts == run->n && same == n_lbr && n_lbr != 0);
}
