/*
 * One count on the boot processor and one on another, at the same time. All waiting is by memory
 * that both see; what a processor finds stands in a structure of its own.
 */
#ifndef PMULAB_TOGETHER_H
#define PMULAB_TOGETHER_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/window.h"

struct together {
    uint64_t iterations;  /* of the body on this processor */
    uint64_t before;      /* its general counter 0 in front of the window, which is set to 0: */
    uint64_t count;       /* and behind it */
    bool written;         /* the 0 was taken */
    bool met;             /* both had come before this side opened its window */
    bool alone;           /* the other's window was closed when this one opened */
    bool smi;             /* an SMI fell into it (MSR_SMI_COUNT) */
    volatile bool closed; /* read by the other side */
};

/* Counts body(iterations) with general counter 0, programmed with select (PERFEVTSEL_* without
 * INT), on processor 0 (sides[0]) and on that one (sides[1]); the windows open when both have come,
 * or after half a second. Two spans overlap when neither had ended before the other began. False
 * when the other processor did not end in time: smp_why(). */
bool count_together(unsigned other, uint64_t select, window_body body, struct together sides[2]);

#endif
