/* AMD's stack of last branch records on this processor. */
#include "pmu/lbr_amd.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/print.h"
#include "x86/amd.h"
#include "x86/msr.h"

#define LEAF 0x80000022

bool lbr_amd_announced(void)
{
    return cpuid(LEAF, 0).eax & CPUID_80000022_EAX_LBR_V2;
}

bool lbr_amd_find(struct lbr_info *info)
{
    info->depth = (cpuid(LEAF, 0).ebx & CPUID_80000022_EBX_LBR) >> CPUID_80000022_EBX_LBR_SHIFT;
    info->from = MSR_AMD_LBR_STACK_FROM0;
    info->to = MSR_AMD_LBR_STACK_TO0;
    info->stride = AMD_LBR_STRIDE;
    info->format = LBR_FMT_AMD;
    info->linear = true;
    info->control = MSR_AMD_DBG_EXTN_CFG;
    info->control_key = "dbg_extn_cfg";
    info->enable = AMD_DBG_EXTN_CFG_LBRSE;
    info->filter = MSR_AMD_LBR_SELECT;
    info->filter_key = "lbr_select";
    /* A compare and the conditional jump behind it may be one operation, whose record begins at the
     * compare; not so while DebugCtl.LBR is set (APM vol. 2 "Last Branch Stack"). */
    info->beside = DEBUGCTL_LBR;
    info->present = info->depth > 0 && info->depth <= LBR_MAX_DEPTH;
    if (!info->present)
        ksnprintf(info->why, sizeof(info->why), "no LBR stack: CPUID.80000022H:EBX[9:4] = %u",
                  info->depth);
    else if (!msr_holds(info->control, info->enable))
        ksnprintf(info->why, sizeof(info->why),
                  "no LBR stack: DebugExtnCfg (C000010FH) cannot be set");
    else if (!(info->select = msr_holds(info->filter, LBR_SELECT_JCC)))
        ksnprintf(info->no_select, sizeof(info->no_select),
                  "no LBR filter: LbrSelect (C000010EH) cannot be set");
    info->present = info->why[0] == '\0';
    ksnprintf(info->no_call_stack, sizeof(info->no_call_stack),
              "no call-stack mode: LbrSelect (C000010EH) has no such bit");
    return info->present;
}
