/* Inside the driver: reads what pmu_info() gives. */
#ifndef PMULAB_PMU_INFO_H
#define PMULAB_PMU_INFO_H

#include "pmu/pmu.h"

void pmu_info_read(void);

/* Takes out of it what is announced and cannot be set. The PMU must be off. */
void pmu_info_probe(void);

#endif
