/* What the processor says of its PMU, in CPUID leaf 0AH and the capability MSRs. */
#ifndef PMULAB_ENUMERATION_H
#define PMULAB_ENUMERATION_H

/* Prints it as '#' lines: the leaf, the counters, the architectural events by name, the MSRs with
 * their fields, and why PEBS or BTS is absent. Wants NEED_PMU. */
void note_enumeration(void);

#endif
