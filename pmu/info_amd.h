/* Inside the driver: what an AMD processor has. */
#ifndef PMULAB_PMU_INFO_AMD_H
#define PMULAB_PMU_INFO_AMD_H

#include <stdbool.h>

#include "pmu/pmu.h"

/* Is it one of AMD's, or Hygon's, which are of AMD's design? CPUID.0's name is the only place where
 * the driver asks for a vendor. */
bool info_amd_here(void);

/* Fills what pmu_info() is to say. */
void info_amd_read(struct pmu_info *info);

#endif
