/*
 * Which counter counts instructions, core cycles or reference cycles: its fixed counter; and where
 * a kind of PMU has no fixed counters at all (AMD's), a general one that the experiment has to
 * spare.
 */
#ifndef PMULAB_COUNTER_OF_H
#define PMULAB_COUNTER_OF_H

#include <stdint.h>

/* Of PMU_EVENT_INSTRUCTIONS, PMU_EVENT_CORE_CYCLES or PMU_EVENT_REF_CYCLES: the fixed counter, or
 * general counter spare. */
unsigned counter_of(unsigned event, unsigned spare);
/* NULL when it is there and counts the event; else why not, naming the CPUID bit. */
const char *counter_of_missing(unsigned event, unsigned spare);

/* Programs it with these PERFEVTSEL_* flags (rings, INT), beside what is programmed already.
 * Returns its number. */
unsigned counter_of_select(unsigned event, unsigned spare, uint64_t flags);

#endif
