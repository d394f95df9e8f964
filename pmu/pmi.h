/* Inside the driver: the PMI dispatcher and what it needs of the counters. */
#ifndef PMULAB_PMU_PMI_H
#define PMULAB_PMU_PMI_H

#include <stdint.h>

/* Installs the handlers of the PMI vector and of NMI. */
void pmi_init(void);
/* No handler, nothing counted. */
void pmi_reset(void);

/* Stops all counters by the window's MSR and returns what it held; pmu_restart() writes that back,
 * so that counters that had been stopped before a late PMI stay stopped (pmu/counters.c). */
uint64_t pmu_stop(void);
void pmu_restart(uint64_t was);

#endif
