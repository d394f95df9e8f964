/*
 * Samples of loads with their latency, linear address and data source: the records of the load
 * latency event while a chain is followed (lab/chain.h). Wants NEED_LOAD_LATENCY and a debug store
 * with a circular PEBS buffer for LOAD_SAMPLE_RECORDS.
 */
#ifndef PMULAB_LOAD_SAMPLE_H
#define PMULAB_LOAD_SAMPLE_H

#include <stdint.h>

#include "lab/chain.h"
#include "pmu/pebs.h"

#define LOAD_SAMPLE_RECORDS 64

struct load_sample {
    unsigned records;
    unsigned below;       /* of them with a latency below the threshold, */
    unsigned outside;     /* with an address outside of the buffer, */
    unsigned at_level;    /* served by the level that the buffer is for */
    unsigned runs;        /* along the chain, to get them */
    uint64_t least, most; /* latencies, in core cycles */
    uint64_t sum;
};

/* The event, and the lowest threshold that it takes: every load counts. */
const struct pebs_event *load_sample_event(void);
#define LOAD_SAMPLE_LOWEST 4 /* cycles: MSR_PEBS_LD_LAT_THRESHOLD = 3 */

/* Samples loads of at least so many cycles from the buffer for this level, on this counter, and
 * prints a '#' line of them. A real processor tags few loads, and at random: so it goes on from run
 * to run until there are enough records, but for most_runs at most. */
struct load_sample load_sample(struct chain *chain, unsigned counter, enum pebs_level level,
                               uint64_t lowest, unsigned most_runs);

#endif
