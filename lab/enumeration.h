/* What the processor says of its PMU, in CPUID leaf 0AH and the capability MSRs, and whether its
 * counters are so. */
#ifndef PMULAB_ENUMERATION_H
#define PMULAB_ENUMERATION_H

#include <stdbool.h>
#include <stdint.h>

/* Prints it as '#' lines: the leaf, the counters, the architectural events by name, the MSRs with
 * their fields, and why PEBS or BTS is absent. Wants NEED_PMU. */
void note_enumeration(void);

/* The counters that it announces, as bits of IA32_PERF_GLOBAL_CTRL. */
uint64_t enumerated_general(void);
uint64_t enumerated_fixed(void);
/* Does it hold for all of these counters? Each is asked, also when one before it has said no. */
bool enumerated_all(uint64_t counters, bool (*holds)(unsigned counter));

/* An all-ones write through the counter's widest door comes back as 2^width - 1, and so does a
 * pattern that the old address cannot write, where that is another door. Leaves 0, and prints a '#'
 * line when it is not so. */
bool counter_reads_back_full(unsigned counter);
/* The same of a general counter by the address that every kind has. Where it takes 32 bits
 * (IA32_PMCx) bit 31 is sign-extended. */
bool counter_reads_back_by_old_address(unsigned counter);

/* Can the general counters be written in their full width, by that address or another? */
bool counter_has_wide_door(void);

#endif
