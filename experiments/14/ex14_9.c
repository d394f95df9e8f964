/* Experiment 14-9 · BTS, circular buffer. */
#include "lab/bts_lab.h"
#include "lab/ds_bodies.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "pmu/pmu.h"

enum { SET_UP, ALL_RECORDED, INDEX_WRAPS, NEWEST_REMAIN, NO_INTERRUPT };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up",
    [ALL_RECORDED] = "as long as there is room every branch is recorded, in order",
    [INDEX_WRAPS] = "the index wraps and stays in the buffer",
    [NEWEST_REMAIN] = "the newest records have overwritten the oldest, in order",
    [NO_INTERRUPT] = "no interrupt comes",
};

static void run(void);

const struct experiment ex14_9 = {
    .id = "14-9",
    .title = "BTS, circular buffer",
    .needs = NEED_PMU | NEED_PMI | NEED_BTS,
    CHECKS(checks),
    .run = run,
};

/*
 * The branch trace store writes a record of every taken branch to memory. With DEBUGCTL.BTINT clear
 * the buffer is circular: when it is full, the newest record overwrites the oldest, and no
 * interrupt comes. The interrupt is only surely kept off by a threshold past the absolute maximum:
 * "It's not enough to clear the BTINT flag itself only" (SDM vol. 3 "Setting Up the BTS Buffer",
 * note). What can go wrong: the index runs out of the buffer, a record is lost at the wrap, an
 * interrupt comes after all.
 */
#define RECORDS 20
#define FEW     1 /* rounds that fit: 17 branches */
#define MANY    7 /* rounds that wrap five times: 113 branches */

static void nobody_expects(const struct pmi *pmi)
{
    (void)pmi;
    ds_buffer_drain(&ds_area()->bts);
}

static bool index_is_inside(void)
{
    const struct ds_buffer *b = &ds_area()->bts;
    value_hex("base", b->base);
    value_hex("index", b->index);
    value_hex("absolute_maximum", b->maximum);
    return b->index >= b->base && b->index <= b->maximum;
}

static void run(void)
{
    struct bts_record newest[RECORDS];
    bool set_up = bts_set_up(RECORDS, DS_CIRCULAR);
    check(SET_UP, set_up);
    if (!set_up)
        return;
    pmu_set_pmi_handler(nobody_expects, PMI_STOP);

    bts_trace_jumps(bts_jumps, FEW);
    unsigned n = bts_count();
    bts_dump("fewer branches than room", bts_records(), n);
    value_u64("records", n);
    value_u64("branches", bts_jumps_branches(FEW));
    check(ALL_RECORDED, n == bts_jumps_branches(FEW) &&
                            bts_jumps_are(bts_records(), n, 0, FEW, (uint64_t)bts_jumps));

    bts_trace_jumps(bts_jumps, MANY);
    ds_dump("more branches than room");
    unsigned branches = bts_jumps_branches(MANY);
    value_u64("branches", branches);
    value_u64("next_record", bts_count() % RECORDS);
    check(INDEX_WRAPS, index_is_inside() && bts_count() % RECORDS == branches % RECORDS);

    n = bts_newest(newest, RECORDS);
    bts_dump("the newest", newest, n);
    value_u64("records", n);
    check(NEWEST_REMAIN,
          n == RECORDS && bts_jumps_are(newest, n, branches - n, MANY, (uint64_t)bts_jumps));

    wait_for_pmi(1);
    bool traced = newest[0].from != 0; /* of nothing no interrupt would come either */
    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    check(NO_INTERRUPT, traced && pmu_pmi_count() == 0 && pmu_unexpected_count() == 0);
}
