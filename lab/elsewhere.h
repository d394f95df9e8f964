/*
 * An experiment for what only some processors have: on a hybrid part each kind of core has
 * facilities of its own, and the one that booted need not have them.
 */
#ifndef PMULAB_ELSEWHERE_H
#define PMULAB_ELSEWHERE_H

#include <stdint.h>

/*
 * Runs body() on the first processor on which missing() gives NULL, this one before the others,
 * with interrupts on. Gives NULL when there was one, else the reason that missing() gave here.
 * Another one is given timeout_ms; when it does not end in time or ends by a fault, a comment says
 * so and the checks that it left are not ok, as ever.
 *
 * The experiment has .elsewhere set, so that the others begin and end in the initial state, and
 * makes its checks within body().
 */
const char *run_where(const char *(*missing)(void), void (*body)(void), uint32_t timeout_ms);

#endif
