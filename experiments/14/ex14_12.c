/* Experiment 14-12 · BTS in 64-bit mode. */
#include "kernel/paging.h"
#include "lab/bts_lab.h"
#include "lab/ds_bodies.h"
#include "lab/experiment.h"

enum { SET_UP, ABOVE_4_GIB, UPPER_HALF };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up",
    [ABOVE_4_GIB] = "above 4 GiB every record has its 64-bit addresses",
    [UPPER_HALF] = "in the upper half every record has its 64-bit addresses",
};

static void run(void);

const struct experiment ex14_12 = {
    .id = "14-12",
    .title = "BTS in 64-bit mode",
    .needs = NEED_PMU | NEED_BTS,
    CHECKS(checks),
    .run = run,
};

/*
 * In the 64-bit format of the debug store (CPUID.1:ECX.DTES64) a BTS record holds its two addresses
 * in quadwords (SDM vol. 3 "64 Bit Format of the DS Save Area"). The same jumps run in code that is
 * mapped above 4 GiB and in the upper half of the linear addresses; each from and to must be there
 * with all its bits.
 */
#define RECORDS 64
#define ROUNDS  2

static void check_at(unsigned which, uint64_t base, const char *title)
{
    size_t size = (size_t)(bts_jumps_end - (const char *)bts_jumps);
    void *alias = paging_alias(base, (const void *)bts_jumps, size, 0);
    value_hex("mapped_at", (uint64_t)alias);
    if (alias == NULL) {
        check(which, false);
        return;
    }
    bts_trace_jumps((window_body)alias, ROUNDS);
    unsigned n = bts_count();
    bts_dump(title, bts_records(), n);
    value_u64("records", n);
    value_u64("branches", bts_jumps_branches(ROUNDS));
    check(which, n == bts_jumps_branches(ROUNDS) &&
                     bts_jumps_are(bts_records(), n, 0, ROUNDS, (uint64_t)alias));
}

static void run(void)
{
    bool set_up = bts_set_up(RECORDS, DS_CIRCULAR);
    check(SET_UP, set_up);
    if (!set_up)
        return;
    check_at(ABOVE_4_GIB, paging_high(), "above 4 GiB");
    check_at(UPPER_HALF, PAGING_UPPER, "in the upper half");
}
