/* Inside the driver: reads what pmu_info() gives. */
#ifndef PMULAB_PMU_INFO_H
#define PMULAB_PMU_INFO_H

#include "pmu/pmu.h"

void pmu_info_read(void);

#endif
