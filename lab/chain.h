/*
 * Loads that one level of the memory hierarchy serves: chains of pointers through four buffers, of
 * which one fits into L1, one into L2, one into the last level, and one into none. A chain visits
 * each line of its buffer once, in an order that no prefetcher guesses, and each load needs the one
 * before it. All four lie at the same place in free memory, one at a time.
 */
#ifndef PMULAB_CHAIN_H
#define PMULAB_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmu/pebs.h"

#define CHAIN_LEVELS (PEBS_MEMORY + 1) /* PEBS_L1 to PEBS_MEMORY */

struct chain {
    uint64_t caches[PEBS_LLC + 1]; /* bytes of L1 data, L2 and last level, from CPUID */
    uint64_t sizes[CHAIN_LEVELS];  /* bytes of the buffers */
    uint8_t *memory;               /* where they lie, */
    size_t room;                   /* and how much is free there: sizes[PEBS_MEMORY] is needed */
    uint64_t made;                 /* size of the buffer that the chain runs through now */
    void *at;                      /* where in it to go on */
};

/* Finds the caches, chooses the sizes, takes the free memory. False when CPUID does not tell
 * three levels of caches. */
bool chain_init(struct chain *chain);

/* Makes the chain through the buffer for this level, and follows it once, so that what fits into a
 * cache is there; nothing when it is that one already. */
void chain_make(struct chain *chain, enum pebs_level level);

/* Counts, on this general counter, so many loads along the chain. The next run goes on where this
 * one ends: its lines are those not seen for the longest time. */
void chain_count(struct chain *chain, uint64_t counters, uint64_t loads);

#endif
