/* What the sheets of the branch trace store share. */
#include "lab/bts_lab.h"

#include <stddef.h>

#include "lab/ds_bodies.h"
#include "lab/experiment.h"
#include "lab/take.h"

#define MOST_RECORDS 32 /* that are looked at in a buffer that has wrapped */

bool bts_set_up(unsigned records, unsigned threshold)
{
    const struct ds_setup setup = {.bts_records = records, .bts_threshold = threshold};
    const char *refused = ds_setup(&setup);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    return refused == NULL;
}

/* All of them, or the newest where the buffer is too small and has wrapped. */
static bool holds_jumps(uint64_t address, unsigned rounds)
{
    static struct bts_record newest[MOST_RECORDS];
    const struct ds_buffer *b = &ds_area()->bts;
    unsigned branches = bts_jumps_branches(rounds);
    unsigned room = (unsigned)((b->maximum - b->base) / sizeof(newest[0]));
    if (room >= branches)
        return bts_count() == branches &&
               bts_jumps_agreeing(bts_records(), branches, 0, rounds, address) == branches;
    unsigned n = bts_newest(newest, MOST_RECORDS);
    return bts_jumps_agreeing(newest, n, branches - n, rounds, address) == n;
}

void bts_trace_jumps(window_body jumps, unsigned rounds)
{
    struct take take = take_begin();
    do {
        ds_buffer_drain(&ds_area()->bts);
        bts_trace(0, jumps, rounds);
    } while (take_again(&take, holds_jumps((uint64_t)jumps, rounds)));
}

unsigned bts_torn(const struct bts_record *records, unsigned n)
{
    unsigned torn = 0;
    for (unsigned i = 1; i < n; i++)
        torn += !bts_follows(&records[i - 1], &records[i]);
    return torn;
}
