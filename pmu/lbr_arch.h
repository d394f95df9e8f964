/*
 * Architectural last branch records: SDM vol. 3 "Last Branch Records", vol. 2 "CPUID" leaf 1CH. The
 * driver's own; experiments see them through pmu/lbr.h.
 */
#ifndef PMULAB_LBR_ARCH_H
#define PMULAB_LBR_ARCH_H

#include "pmu/lbr.h"

/* CPUID.7:EDX[19]. */
bool lbr_arch_announced(void);

/* Fills info, to the deepest stack that there is; false, and why in info, when a register is not as
 * announced. The entries are not touched. Never faults. */
bool lbr_arch_find(struct lbr_info *info);

/* Does IA32_LBR_DEPTH clear the entries? If not, why in info: a hypervisor that drops the write.
 * The entries must be there. */
bool lbr_arch_clears(struct lbr_info *info);

/* The deepest stack of those (lbr_info()->depths) that there is room for; 0: none. */
unsigned lbr_arch_deepest(uint32_t depths);

/* IA32_LBR_CTL, but LBREn, for what MSR_LBR_SELECT = select would do, as far as it can be set
 * here. */
uint64_t lbr_arch_control(uint64_t select);

/* The general counters whose events records can tell (PERFEVTSEL_EN_LBR_LOG), as bits, of
 * CPUID.1CH:ECX. */
unsigned lbr_arch_logged(uint32_t fields);

/* Takes out of a record what this processor's INFO registers do not tell (CPUID_1C_ECX_*). */
void lbr_arch_limit(uint32_t fields, struct branch_record *record);

#endif
