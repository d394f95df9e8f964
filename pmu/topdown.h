/*
 * Top-down by the performance metrics: TOPDOWN.SLOTS in FIXED_CTR3 counts the places that a core
 * has for operations, so many in a cycle, and MSR_PERF_METRICS says what became of them, in parts
 * of 255. SDM vol. 3 "Performance Metrics"; RDPMC of both: vol. 2 "RDPMC".
 */
#ifndef PMULAB_TOPDOWN_H
#define PMULAB_TOPDOWN_H

#include <stdint.h>

#include "pmu/pmu.h"

/* What the window opens for them, with whatever else it is to open. */
#define TOPDOWN_SLOTS PMU_FIXED(3)
#define TOPDOWN_MASK  (PMU_MASK(TOPDOWN_SLOTS) | GLOBAL_CTRL_PERF_METRICS)

/* NULL when they are there, else the bit that says no; text lives until the next call. */
const char *topdown_missing(void);

/* Both at 0, in the order that they need: the slots first, for the shares are of the slots since
 * they were set. FIXED_CTR3 counts in both rings; control is what IA32_FIXED_CTR_CTRL is to have
 * for the other fixed counters. The window must be closed. */
void topdown_start(uint64_t control);

struct topdown {
    uint64_t slots, metrics;
};
/* Lets RDPMC of the metrics set both to 0 behind the read, or not (IA32_FIXED_CTR_CTRL[14], with
 * IA32_PERF_CAPABILITIES[19]); the rest of the register as topdown_start() has it. */
void topdown_clear_by_rdpmc(uint64_t control, bool clear);

/* Both as they stand, by RDMSR and by RDPMC; the slots first. */
struct topdown topdown_read(void);
struct topdown topdown_rdpmc(void);

/* A share (one of PERF_METRICS_*), in parts of PERF_METRICS_WHOLE. */
unsigned topdown_share(uint64_t metrics, uint64_t field);

/* The driver's: both 0, if they are there. */
void topdown_reset(void);

#endif
