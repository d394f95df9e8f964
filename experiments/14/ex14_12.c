/*
 * Experiment 14-12 · BTS in 64-bit mode.
 *
 * In the 64-bit format of the debug store (CPUID.1:ECX.DTES64) a BTS record holds its two addresses
 * in quadwords (SDM vol. 3 "64 Bit Format of the DS Save Area"). The same jumps run in code that is
 * mapped above 4 GiB and in the upper half of the linear addresses; each from and to must be there
 * with all its bits.
 */
#include "lab/ds_bodies.h"
#include "lab/experiment_old.h"
#include "kernel/paging.h"
#include "pmu/ds.h"

#include <stddef.h>

#define RECORDS 64
#define ROUNDS  2

static void run_at(uint64_t base, const char *title)
{
    void *alias = paging_alias(base, (const void *)bts_jumps,
                               (size_t)(bts_jumps_end - (const char *)bts_jumps), 0);
    value_hex("mapped_at", (uint64_t)alias);
    if (alias == NULL) {
        check(false);
        return;
    }
    ds_buffer_drain(&ds_area()->bts);
    bts_trace(0, (window_body)alias, ROUNDS);
    unsigned n = bts_count();
    bts_dump(title, bts_records(), n);
    value_u64("records", n);
    value_u64("branches", bts_jumps_branches(ROUNDS));
    check(n == bts_jumps_branches(ROUNDS) &&
          bts_jumps_are(bts_records(), n, 0, ROUNDS, (uint64_t)alias));
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = RECORDS, .bts_threshold = DS_CIRCULAR};
    const char *refused = ds_setup(&setup);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    check(refused == NULL);
    if (refused != NULL)
        return;
    run_at(PAGING_HIGH, "above 4 GiB");
    run_at(PAGING_UPPER, "in the upper half");
}

static const char *const checks[] = {
    "the debug store can be set up",
    "above 4 GiB every record has its 64-bit addresses",
    "in the upper half every record has its 64-bit addresses",
    NULL,
};

const struct experiment ex14_12 = {
    .id = "14-12",
    .title = "BTS in 64-bit mode",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_BTS,
    .run = run,
};
