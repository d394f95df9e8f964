/* What the experiments with the debug store run (lab/ds_bodies.S), and which records it
 * must leave behind. */
#ifndef PMULAB_DS_BODIES_H
#define PMULAB_DS_BODIES_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/bts.h"

#define BTS_JUMPS     15 /* a round: so many jumps and, but for the last round, one back */
#define BTS_JUMP_SIZE 4

void bts_jumps(uint64_t rounds);
extern const char bts_jumps_again[], bts_jumps_ret[], bts_jumps_end[];

/* Branches that bts_trace(bts_jumps, rounds) takes: the window's call, the rounds, the RET. */
static inline unsigned bts_jumps_branches(unsigned rounds)
{
    return 1 + rounds * (BTS_JUMPS + 1);
}

/* Branch number n (0: the window's call), with bts_jumps at this address. */
struct bts_record bts_jumps_branch(unsigned n, unsigned rounds, uint64_t address);

/* How many of the records, from the beginning on, are branch first, first + 1 and so on of the run?
 */
unsigned bts_jumps_agreeing(const struct bts_record *records, unsigned n, unsigned first,
                            unsigned rounds, uint64_t address);

/* Are they all? The number of the first that is not goes into "first_wrong". */
bool bts_jumps_are(const struct bts_record *records, unsigned n, unsigned first, unsigned rounds,
                   uint64_t address);

/* Ring 3 code for user_load(): in each of arg rounds a jump and, but for the last, one back. */
extern const char bts_user[], bts_user_jump[], bts_user_there[], bts_user_again[], bts_user_end[];

#endif
