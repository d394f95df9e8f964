/*
 * The single last branch record: four registers, with the newest branch and the one before the
 * newest interrupt or exception. Of the P6 family (SDM vol. 3 "Last Branch, Interrupt, and
 * Exception Recording (P6 Family Processors)") and of AMD's since the K7 (APM vol. 2
 * "Control-Transfer Recording MSRs"). No bit announces it. Addresses are offsets in the code
 * segment.
 */
#ifndef PMULAB_LBR_SINGLE_H
#define PMULAB_LBR_SINGLE_H

#include <stdint.h>

#include "pmu/window.h"

struct lbr_single {
    uint64_t from, to;         /* of the newest branch, interrupt or exception */
    uint64_t int_from, int_to; /* of the one before the newest interrupt or exception */
};

/* NULL when it is there, else why not, naming the register; text lives until the next call. */
const char *lbr_single_missing(void);

/* Runs body(arg) in the window of pmu/window.S, interrupts off, while DebugCtl.LBR is set. The
 * newest branch is the body's RET to pmu_window_return then: no other comes before the write that
 * ends it. */
struct lbr_single lbr_single_record(window_body body, uint64_t arg);

#endif
