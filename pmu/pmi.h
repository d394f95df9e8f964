/* Inside the driver: the PMI dispatcher and what it needs of the counters. */
#ifndef PMULAB_PMU_PMI_H
#define PMULAB_PMU_PMI_H

#include <stdint.h>

/* Installs the handlers of the PMI vector and of NMI. */
void pmi_init(void);
/* No handler, nothing counted. */
void pmi_reset(void);

/* pmu_stop() takes what pmu_enabled() has said, stops all of them and returns what pmu_restart() is
 * to start again, so that counters that had been stopped before a late PMI stay stopped
 * (pmu/counters.c). */
uint64_t pmu_stop(uint64_t enabled);
void pmu_restart(uint64_t enabled);

#endif
