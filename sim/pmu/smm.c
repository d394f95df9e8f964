/*
 * SMM as the PMU sees it. SDM vol. 3 "IA32_DEBUGCTL MSR", FREEZE_WHILE_SMM: "upon the delivery of
 * an SMI, the processor will clear all the enable bits of IA32_PERF_GLOBAL_CTRL, save a copy of the
 * content of IA32_DEBUGCTL and disable LBR, BTF, TR, and BTS fields of IA32_DEBUGCTL before
 * transferring control to the SMI handler. Subsequently, the enable bits of IA32_PERF_GLOBAL_CTRL
 * will be set to 1, the saved copy of IA32_DEBUGCTL prior to SMI delivery will be restored, after
 * the SMI handler issues RSM". That the enables come back as they were, and not as ones throughout,
 * is read into it: a counter that was off would count from then on.
 *
 * Without the bit nothing changes: what the handler does is counted and recorded. Architectural
 * last branch records alone never take it: "IA32_LBR_CTL.LBREn is saved and cleared on #SMI, and
 * restored on RSM" ("Last Branch Records").
 */
#include "sim/pmu/internal.h"
#include "x86/pmu.h"

#define STOPPED_IN_SMM (DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_TR | DEBUGCTL_BTS)

void pmu_enter_smm(struct pmu *pmu)
{
    counters_sync(pmu);
    pmu->smm.lbren = pmu->lbr_ctl & LBR_CTL_LBREN;
    pmu->lbr_ctl &= ~LBR_CTL_LBREN;
    pmu_attend(pmu);
    pmu->smm.frozen = pmu->debugctl & DEBUGCTL_FREEZE_WHILE_SMM;
    if (!pmu->smm.frozen)
        return;
    pmu->smm.global_ctrl = pmu->global_ctrl;
    pmu->smm.debugctl = pmu->debugctl;
    pmu->global_ctrl = 0;
    pmu->debugctl &= ~STOPPED_IN_SMM;
    counters_configure(pmu);
}

/* An SMI while a counter was about to overflow may have made it: a PMI is due then. */
void pmu_leave_smm(struct pmu *pmu)
{
    counters_sync(pmu);
    pmu->lbr_ctl |= pmu->smm.lbren;
    pmu_attend(pmu);
    if (pmu->smm.frozen) {
        pmu->global_ctrl = pmu->smm.global_ctrl;
        pmu->debugctl = pmu->smm.debugctl;
        counters_configure(pmu);
    }
    counters_reschedule(pmu);
}
