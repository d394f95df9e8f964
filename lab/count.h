/*
 * Counts of functions whose number of instructions is known (lab/bodies.h), in one window, from 0.
 * The counters keep what they have counted until they are written: pmu_read() tells it.
 */
#ifndef PMULAB_COUNT_H
#define PMULAB_COUNT_H

#include <stdint.h>

#include "lab/bodies.h"
#include "pmu/window.h"

/* The instructions that each counter of mask has in a window around this body: the window's own
 * and the body's. */
uint64_t insns_in_window(uint64_t mask, const struct body_insns *insns, uint64_t iterations);

/* Sets the counters of mask (bits of IA32_PERF_GLOBAL_CTRL) to 0 and runs body(iterations) with
 * them counting. */
void count_from_0(uint64_t mask, window_body body, uint64_t iterations);

/* The same, taken again when an SMI fell in (lab/take.h): its instructions make this counter of
 * mask, which counts instructions, hold more than expected. Returns what it holds. */
uint64_t count_exactly(uint64_t mask, unsigned counter, window_body body, uint64_t iterations,
                       uint64_t expected);

/* What an empty window counts on this counter, which counts instructions. */
uint64_t count_empty(uint64_t mask, unsigned counter);

/* Names, with the next check, the known cause of a count of instructions that is too low by one: a
 * hypervisor that does not count what it executes for its guest, such as the WRMSR that opens the
 * window. Then an empty window has lacked it too. */
void value_known_loss(uint64_t empty, uint64_t count, uint64_t expected);

#endif
