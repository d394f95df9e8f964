/*
 * AMD's stack of last branch records, LbrExtV2: APM vol. 2 "Last Branch Stack". The driver's own;
 * experiments see it through pmu/lbr.h.
 */
#ifndef PMULAB_LBR_AMD_H
#define PMULAB_LBR_AMD_H

#include "pmu/lbr.h"

/* CPUID.80000022H:EAX[1]. */
bool lbr_amd_announced(void);

/* Fills info; false, and why in info, when a register is not as announced. The entries are not
 * touched. Never faults. */
bool lbr_amd_find(struct lbr_info *info);

#endif
