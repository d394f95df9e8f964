/*
 * The simulated PMU of one logical processor: MSRs, counters, overflow, PMI, freeze, RDPMC; LBR,
 * BTS, PEBS. SDM vol. 3 "Performance Monitoring" and "Debug, Branch Profile, TSC..."; each rule's
 * comment names its section.
 */
#ifndef PMUSIM_PMU_H
#define PMUSIM_PMU_H

#include "sim/cpu/cpu.h"

struct pmu *pmu_new(struct cpu *cpu);
void pmu_free(struct pmu *pmu);
/* What of it a snapshot has: all but its links. */
void *pmu_state(struct pmu *pmu, size_t *size);
void pmu_reset(struct pmu *pmu, bool init);

/* Is this MSR the PMU's (existing or not on this profile)? Then the access functions decide; false
 * from them is #GP. */
bool pmu_owns_msr(const struct pmu *pmu, uint32_t msr);
bool pmu_rdmsr(struct pmu *pmu, uint32_t msr, uint64_t *value);
bool pmu_wrmsr(struct pmu *pmu, uint32_t msr, uint64_t value);
/* RDPMC with ECX = selector; the interpreter has checked CPL and CR4.PCE. False: #GP. */
bool pmu_rdpmc(struct pmu *pmu, uint32_t selector, uint64_t *value);

/*
 * Brings the counters up to date with cpu->total: finds overflows, sets status, freezes, schedules
 * and raises PMIs (lapic_pmi). The interpreter calls it when cpu->now has reached the deadline and,
 * while ATTN_CAREFUL is set, after every instruction. The pmu sets and clears ATTN_CAREFUL in
 * cpu->attention itself (edge, INV, CMASK, armed PEBS, a counter about to overflow).
 */
void pmu_update(struct pmu *pmu);
/* The value of cpu->now before which no pmu_update is needed; UINT64_MAX: none. Conservative: it
 * assumes that every slot makes EVENTS_PER_SLOT of each counted event. */
uint64_t pmu_deadline(const struct pmu *pmu);

/* A taken branch has retired (only called while cpu->want_branches): LBR, BTS. from and to are
 * linear RIPs; cpl_from the CPL before it (cpu->cpl is the one after). The pmu keeps want_branches
 * up to date for its own needs. */
void pmu_branch(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                unsigned cpl_from, bool mispredicted);
/* The system instruction that made the branch (a far transfer, INT n) has been counted. */
void pmu_branch_retired(struct pmu *pmu);
/* A #DB is about to be delivered (DEBUGCTL.LBR and BTF are cleared by the processor, SDM vol. 3
 * "IA32_DEBUGCTL MSR"). */
void pmu_debug_exception(struct pmu *pmu);
/* An SMI takes the processor into SMM; RSM takes it back. What passes in between is added to
 * cpu->total and given to pmu_branch() by whoever plays the handler. */
void pmu_enter_smm(struct pmu *pmu);
void pmu_leave_smm(struct pmu *pmu);
/* The architectural last branch records as XSAVES writes them and XRSTORS reads them: state
 * component
 * 15. from NULL: the initial state. False: #GP. */
unsigned pmu_lbr_state_bytes(const struct pmu *pmu);
void pmu_lbr_save(struct pmu *pmu, uint8_t *to);
bool pmu_lbr_restore(struct pmu *pmu, const uint8_t *from);
/* DEBUGCTL.BTF with RFLAGS.TF: the interpreter single-steps on branches. */
bool pmu_btf(const struct pmu *pmu);
/* AMD's counter of retired instructions goes on, or stands still: HWCR[30]. */
void pmu_count_retired(struct pmu *pmu, bool on);
/* The local APIC sets the mask bit of the LVT entry when it delivers this PMU's PMI. */
bool pmu_masks_lvt(const struct pmu *pmu);

#endif
