/* Which bits of IA32_DEBUGCTL there are, and which stays set. Nothing announces LBR and BTF, and
 * what a hypervisor has of the others it does not always say: only writing and reading back tells.
 */
#ifndef PMULAB_DEBUGCTL_H
#define PMULAB_DEBUGCTL_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/pmu.h"

/*
 * What every value written to the register must hold: FREEZE_WHILE_SMM, so that the firmware's own
 * work stays out of counts and branch records, where IA32_PERF_CAPABILITIES[12] announces it and it
 * holds when it is written. debugctl_init() finds that out, for the calling processor;
 * debugctl_with() adds it to bits. SDM vol. 3 "IA32_DEBUGCTL MSR".
 */
void debugctl_init(void);
uint64_t debugctl_with(uint64_t bits);

/* Those of the bits that hold when they are written, each of them tried alone: TR and BTS together
 * would store records. The register gets back what it held. 0 where there is no such register;
 * never faults. SDM vol. 3 "IA32_DEBUGCTL MSR". */
uint64_t debugctl_takes(uint64_t bits);

/* One of the bits cannot be set: then true, and why[] says so of the feature that needs them, "no
 * BTF: IA32_DEBUGCTL[1] cannot be set". */
bool debugctl_lacks(uint64_t bits, const char *feature, char why[PMU_REASON]);

#endif
