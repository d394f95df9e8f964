/* The single last branch record. */
#include "pmu/lbr_single.h"

#include <stddef.h>

#include "kernel/msr.h"
#include "kernel/print.h"
#include "kernel/trap.h"
#include "pmu/debugctl.h"
#include "x86/amd.h"
#include "x86/msr.h"

const char *lbr_single_missing(void)
{
    static char text[PMU_REASON];
    uint64_t value;
    for (uint32_t msr = MSR_AMD_LAST_BRANCH_FROM_IP; msr <= MSR_AMD_LAST_INT_TO_IP; msr++)
        if (!rdmsr_safe(msr, &value)) {
            ksnprintf(text, sizeof(text), "no single branch record: MSR %XH raises #GP",
                      (unsigned)msr);
            return text;
        }
    return debugctl_lacks(DEBUGCTL_LBR, "single branch record", text) ? text : NULL;
}

struct lbr_single lbr_single_record(window_body body, uint64_t arg)
{
    uint64_t on = debugctl_with(DEBUGCTL_LBR), off = debugctl_with(0);
    msr_trace_record(MSR_WRITE, MSR_IA32_DEBUGCTL, on, false, (uint64_t)pmu_window_open);
    irq_disable();
    pmu_window(MSR_IA32_DEBUGCTL, on, off, body, arg);
    irq_enable();
    msr_trace_record(MSR_WRITE, MSR_IA32_DEBUGCTL, off, false, (uint64_t)pmu_window_close);
    return (struct lbr_single){
        .from = rdmsr(MSR_AMD_LAST_BRANCH_FROM_IP),
        .to = rdmsr(MSR_AMD_LAST_BRANCH_TO_IP),
        .int_from = rdmsr(MSR_AMD_LAST_INT_FROM_IP),
        .int_to = rdmsr(MSR_AMD_LAST_INT_TO_IP),
    };
}
