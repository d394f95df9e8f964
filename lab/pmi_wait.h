/* Waiting for a PMI that is due: one that is lost must end as `not ok`, not as a hang. */
#ifndef PMULAB_PMI_WAIT_H
#define PMULAB_PMI_WAIT_H

/* Returns when pmu_pmi_count() is at least count, or after 10 ms. */
void wait_for_pmi(unsigned count);

#endif
