/*
 * Mutations: single, deliberate faults of the simulated processor, for the tests alone. `--mutate
 * NAME` makes one of them; the experiments that are about the broken thing must then turn `not ok`,
 * which is the proof that their assertions assert (tests/t_mutations.py).
 */
#ifndef PMUSIM_MUTATE_H
#define PMUSIM_MUTATE_H

#include <stdbool.h>
#include <stdio.h>

enum mutation {
    MUTATE_NOTHING,
    /* Counters, PMI. */
    MUTATE_WIDTH_WRONG,
    MUTATE_WINDOW_PLUS_ONE,
    MUTATE_LVT_NOT_MASKED,
    MUTATE_FREEZE_NOTHING,
    MUTATE_FIXED0_OFF_BY_ONE,
    MUTATE_HLT_COUNTS,
    MUTATE_CHAIN_FREE,
    MUTATE_PMI_WRONG_PROCESSOR,
    /* PEBS. */
    MUTATE_PEBS_NO_RELOAD,
    MUTATE_PEBS_32BIT,
    MUTATE_PEBS_NO_OVFBUF,
    MUTATE_PMI_DROPPED_WHEN_PEBS,
    MUTATE_OVERFLOW_LOST_WITH_BTS,
    MUTATE_LATENCY_THRESHOLD_IGNORED,
    MUTATE_DATA_SOURCE_WRONG,
    /* LBR, single step. */
    MUTATE_LBR_RETURN_LOST,
    MUTATE_LBR_NO_WRAP,
    MUTATE_LBR_CALL_FILTER_IGNORED,
    MUTATE_LBR_JUMP_FILTER_IGNORED,
    MUTATE_DB_KEEPS_LBR,
    MUTATE_LBR_32BIT,
    MUTATE_LBR_RING_FILTER_IGNORED,
    MUTATE_BTF_IGNORED,
    /* BTS. */
    MUTATE_BTS_NO_WRAP,
    MUTATE_BTS_LATE_THRESHOLD,
    MUTATE_BTS_FILTER_IGNORED,
    MUTATE_BTS_32BIT,
    MUTATE_BTS_DOUBLE_PMI,
    MUTATE_COUNT
};

extern enum mutation mutation_chosen; /* MUTATE_NOTHING but in a test */

static inline bool mutated(enum mutation m)
{
    return __builtin_expect(mutation_chosen == m, 0);
}

/* Chooses the mutation of that name; false when there is none. */
bool mutate_choose(const char *name);
/* Prints "NAME description", a line each. */
void mutate_list(FILE *out);

#endif
