/* The records that the bodies of the debug store leave behind. */
#include "lab/ds_bodies.h"

#include "lab/experiment.h"

struct bts_record bts_jumps_branch(unsigned n, unsigned rounds, uint64_t address)
{
    uint64_t moved = address - (uint64_t)bts_jumps;
    if (n == 0)
        return (struct bts_record){(uint64_t)pmu_window_call, address, 0};
    if (n == bts_jumps_branches(rounds) - 1)
        return (struct bts_record){(uint64_t)bts_jumps_ret + moved, (uint64_t)pmu_window_return, 0};
    unsigned jump = (n - 1) % (BTS_JUMPS + 1);
    if (jump == BTS_JUMPS)
        return (struct bts_record){(uint64_t)bts_jumps_again + moved, address, 0};
    uint64_t from = address + (uint64_t)jump * BTS_JUMP_SIZE;
    return (struct bts_record){from, from + BTS_JUMP_SIZE, 0};
}

static bool same_branch(const struct bts_record *a, const struct bts_record *b)
{
    return a->from == b->from && a->to == b->to;
}

unsigned bts_jumps_agreeing(const struct bts_record *records, unsigned n, unsigned first,
                            unsigned rounds, uint64_t address)
{
    unsigned i = 0;
    for (; i < n && first + i < bts_jumps_branches(rounds); i++) {
        struct bts_record wanted = bts_jumps_branch(first + i, rounds, address);
        if (!same_branch(&records[i], &wanted))
            break;
    }
    return i;
}

bool bts_jumps_are(const struct bts_record *records, unsigned n, unsigned first, unsigned rounds,
                   uint64_t address)
{
    unsigned i = bts_jumps_agreeing(records, n, first, rounds, address);
    if (i == n)
        return true;
    struct bts_record wanted = bts_jumps_branch(first + i, rounds, address);
    value_u64("first_wrong", i);
    value_hex("from", records[i].from);
    value_hex("to", records[i].to);
    value_hex("from_wanted", wanted.from);
    value_hex("to_wanted", wanted.to);
    return false;
}
