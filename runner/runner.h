/* The runner: chooses experiments, runs each guarded and under the watchdog, reports TAP 14. */
#ifndef PMULAB_RUNNER_H
#define PMULAB_RUNNER_H

#include <stdint.h>

struct cmdline;

/*
 * Runs what the command line selects. Call it last, with traps, console, time, local APIC and
 * pmu_init() done; it prints the whole TAP stream from its version line on. A command line with
 * errors, or a run= that names no experiment, ends in "Bail out!" lines and nothing is run. Returns
 * DEBUG_EXIT_OK when nothing was not ok, else DEBUG_EXIT_NOT_OK.
 */
uint8_t experiments_run(const struct cmdline *cl);

/* For the menu: runs what this selects, one after the other, and prints their checks. */
void runner_run(const struct cmdline *cl);

#endif
