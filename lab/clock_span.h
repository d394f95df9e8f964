/*
 * Spans of time in two clocks: in ticks of the TSC, and in reference cycles (FIXED_CTR2, or general
 * counter 0: lab/counter_of.h), which count at the same rate, but only while the processor is not
 * halted. The counter must be counting: clock_spans_begin().
 */
#ifndef PMULAB_CLOCK_SPAN_H
#define PMULAB_CLOCK_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct clock_span {
    uint64_t tsc, ref;
};

/* Programs the counter for all rings and opens it alone; closes it. Wants NEED_CLOCKS. */
void clock_spans_begin(void);
void clock_spans_end(void);

/* The smallest step in which the counter is seen to move; 0: it stands. */
uint64_t clock_ref_step(void);

/* A span that is busy all the time: body_spin(iterations) between two reads of the clocks. */
struct clock_span clock_span_busy(uint64_t iterations);
/* The one of a few such in which the clocks agree best: a real processor stops for microseconds
 * when its frequency changes, or runs an SMI. */
struct clock_span clock_span_busy_best(uint64_t iterations);

/* A span that ends with the local APIC timer's interrupt so many microseconds after its start,
 * slept through by HLT or awaited in a loop. */
struct clock_span clock_span_alarm(uint32_t microseconds, bool halt);

/* The wait of such a span, for who reads other clocks around it. Interrupts must be off, and are
 * off behind it. */
void clock_wait_alarm(uint32_t microseconds, bool halt);

/* How far the two clocks of a span are apart. */
uint64_t clock_span_apart(struct clock_span span);

#endif
