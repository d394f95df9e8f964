/*
 * Code that is bound by one thing each, in the words of top-down: what most of the core's slots are
 * lost to, or used for. They take iterations, as those of lab/bodies.h.
 */
#ifndef PMULAB_SLOTS_H
#define PMULAB_SLOTS_H

#include <stdint.h>

#include "lab/bodies.h"
#include "pmu/window.h"

/* NOPs: nothing to wait for, nothing to execute. Each slot retires one. */
void slots_retiring(uint64_t iterations);
extern const struct body_insns slots_retiring_insns;

/* A branch that no predictor can learn, decided late: what is issued behind it is thrown away every
 * other time. Its directions are the same for the same number of iterations, and others for another
 * number: so a run does not teach a predictor the next. */
void slots_bad_speculation(uint64_t iterations);

/*
 * Jumps through more lines of code than a first instruction cache holds, one instruction in each,
 * in an order that nothing fetches ahead; all are predicted. Made in free memory, whose pages it
 * maps once more, to be executed: gives the code, or NULL when there is no room.
 * slots_front_end_end() takes the mapping away.
 */
window_body slots_front_end(void);
void slots_front_end_end(void);

/* Back end: body_chain() (the core), and chains of loads that miss (lab/chain.h). */

#endif
