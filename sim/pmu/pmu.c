/* The PMU as the processor sees it: creation, reset, the periodic update, PMI and freeze, branches.
 */
#include "sim/pmu/internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dev/dev.h"
#include "sim/fault.h"
#include "x86/pmu.h"

struct pmu *pmu_new(struct cpu *cpu)
{
    struct pmu *pmu = calloc(1, sizeof *pmu);
    if (!pmu)
        return NULL;
    pmu->cpu = cpu;
    pmu->profile = cpu->profile;
    pmu_reset(pmu, false);
    return pmu;
}

void *pmu_state(struct pmu *pmu, size_t *size)
{
    *size = sizeof(*pmu) - offsetof(struct pmu, counters);
    return &pmu->counters;
}

void pmu_free(struct pmu *pmu)
{
    free(pmu);
}

/* SDM vol. 3 "Processor State After Reset" (table of states following power-up, RESET, INIT):
 * performance counters, event selects and the other MSRs are 0 after power-up, but
 * IA32_PERF_GLOBAL_CTRL has the general counters' bits set; INIT leaves all of them alone, but
 * ends the recording of branches by IA32_LBR_CTL (lbr_arch.c). */
void pmu_reset(struct pmu *pmu, bool init)
{
    if (init) {
        pmu->lbr_ctl &= ~LBR_CTL_LBREN;
        pmu_attend(pmu);
        return;
    }
    struct cpu *cpu = pmu->cpu;
    const struct profile *p = pmu->profile;
    memset(pmu, 0, sizeof *pmu);
    pmu->cpu = cpu;
    pmu->profile = p;
    pmu->pmi_due = NEVER;
    pmu->kind = pmu_kind(p);
    pmu->lbr_kind = lbr_kind(p);
    pmu->counters = existing_counters(pmu->kind, p);
    pmu->misc_enable = p->pmu.misc_enable;
    if (pmu->kind->enable == ENABLE_GLOBAL)
        pmu->global_ctrl = pmu->counters & bits(GLOBAL_FIXED_SHIFT);
    pmu->lbr_kind->reset(pmu);
    counters_configure(pmu);
}

/* ---- Careful mode, branches ---- */

/* For a PEBS record's EventingIP: interrupts too, to know where the next instruction begins. */
static bool follows_instructions(const struct pmu *pmu)
{
    return pmu->pebs_armed != 0 || pebs_is_distributed(pmu);
}

static bool needs_every_instruction(const struct pmu *pmu)
{
    for (uint64_t m = pmu->counting & bits(GLOBAL_FIXED_SHIFT); m; m &= m - 1) {
        const struct counter *c = &pmu->general[__builtin_ctzll(m)];
        if (c->by_cycle || c->latency)
            return true;
    }
    return follows_instructions(pmu) || ibs_tagged(pmu);
}

static bool needs_branches(const struct pmu *pmu)
{
    return pmu->lbr_kind->enabled(pmu) || bts_enabled(pmu) || follows_instructions(pmu);
}

void pmu_attend(struct pmu *pmu)
{
    struct cpu *cpu = pmu->cpu;
    if (needs_every_instruction(pmu))
        cpu_attend(cpu, ATTN_CAREFUL);
    else
        cpu->attention &= ~(uint32_t)ATTN_CAREFUL;
    cpu->want_branches = needs_branches(pmu);
}

void pmu_branch(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                unsigned cpl_from, bool mispredicted)
{
    if (kind == BR_INTERRUPT || kind == BR_EXCEPTION)
        pmu->rip = to;
    pmu->lbr_open = false;
    if (pmu->lbr_kind->enabled(pmu))
        pmu->lbr_kind->record(pmu, kind, from, to, cpl_from, mispredicted);
    if (bts_enabled(pmu))
        bts_record(pmu, from, to, mispredicted);
}

void pmu_branch_retired(struct pmu *pmu)
{
    if (pmu->lbr_open)
        lbr_complete_log(pmu);
    pmu->lbr_open = false;
}

/* SDM vol. 3 "Single-Stepping on Branches": the processor clears BTF when it generates a debug
 * exception. "Monitoring Branches, Exceptions, and Interrupts": it clears LBR before it executes
 * the handler, keeps the stack as it is and does not record the #DB in it ("exceptions (except for
 * debug exceptions)"); TR stays set, so that BTS does record it. MSR_LER_* know no such exception.
 * "Last Branch Records": "when a branch happens because of a #DB exception, IA32_LBR_CTL.LBREn is
 * cleared. As a result, the operation is not recorded". "Details of Vectored-Event Injection": a
 * hypervisor's injection records the branch "even for events such as debug exceptions, which
 * normally clear the LBR bit before delivery". */
void pmu_debug_exception(struct pmu *pmu)
{
    if (fault_hypervisor(pmu->cpu, FAULT_HV_INJECTS_DB))
        return;
    if (pmu->lbr_kind->enabled(pmu))
        pmu->lbr_kind->last_exception(pmu);
    pmu->lbr_kind->stop(pmu);
    pmu->debugctl &= ~DEBUGCTL_BTF;
    pmu_attend(pmu);
}

bool pmu_btf(const struct pmu *pmu)
{
    return pmu->debugctl & DEBUGCTL_BTF;
}

bool pmu_masks_lvt(const struct pmu *pmu)
{
    return pmu->kind->masks_lvt;
}

/* ---- PMI and freeze ---- */

/* SDM vol. 3 "Freezing LBR and Performance Counters on PMI". Legacy (versions 2 and 3): the
 * processor clears every enable of IA32_PERF_GLOBAL_CTRL, and DEBUGCTL.LBR (IA32_LBR_CTL.LBREn,
 * though no such processor has it). Streamlined (version 4 on): it sets CTR_FRZ and LBR_FRZ
 * instead, and the enables stay. */
static void freeze(struct pmu *pmu)
{
    bool in_status = pmu->kind->freeze == FREEZE_STATUS;
    if (pmu->debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI) {
        if (in_status)
            pmu->global_status |= GLOBAL_STATUS_CTR_FRZ;
        else if (!errata_freeze_fails(pmu))
            pmu->global_ctrl = 0;
    }
    if ((pmu->debugctl & DEBUGCTL_FREEZE_LBRS_ON_PMI) && !pmu->profile->pmu.lbr_freeze_fails) {
        if (in_status)
            pmu->global_status |= GLOBAL_STATUS_LBR_FRZ;
        else
            pmu->lbr_kind->stop(pmu);
    }
    counters_configure(pmu);
}

/* The request has passed the skid: counters freeze at the moment it is raised, whether or not the
 * local APIC lets it through. */
static void raise_pmi(struct pmu *pmu)
{
    pmu->pmi_due = NEVER;
    freeze(pmu);
    pmu_note(pmu, "PMI to the local APIC");
    lapic_pmi(pmu->cpu->lapic);
}

void pmu_update(struct pmu *pmu)
{
    counters_sync(pmu);
    pebs_update(pmu);
    if (pmu->cpu->now >= pmu->pmi_due)
        raise_pmi(pmu);
    ibs_update(pmu);
    pmu->cpu->last_load.dtlb_miss = false;
    pmu->rip = pmu->cpu->rip;
    pmu->retired_at = pmu->cpu->now;
    counters_reschedule(pmu);
}

uint64_t pmu_deadline(const struct pmu *pmu)
{
    return pmu->deadline < pmu->pmi_due ? pmu->deadline : pmu->pmi_due;
}
