/* What an experiment needs, and who says that it is not there. */
#include "lab/experiment.h"
#include "lab/counter_of.h"
#include "kernel/cpuid.h"
#include "lapic/smp.h"
#include "lapic/lapic.h"
#include "pmu/debugctl.h"
#include "pmu/ibs.h"
#include "pmu/lbr.h"
#include "pmu/lbr_single.h"
#include "pmu/pebs.h"
#include "pmu/pmu.h"
#include "x86/cpuid.h"

#include <stddef.h>

/* Each gives NULL when the thing is there, else the reason. */
static const char *or_null(const char *reason)
{
    return reason[0] != '\0' ? reason : NULL;
}

static const char *no_pmu(void)
{
    return or_null(pmu_info()->no_pmu);
}

static const char *no_amd(void)
{
    return or_null(pmu_info()->no_amd);
}

static const char *no_global_ctrl(void)
{
    return or_null(pmu_info()->no_global_ctrl);
}

static const char *no_fixed(void)
{
    return or_null(pmu_info()->no_fixed);
}

static const char *no_clocks(void)
{
    static const unsigned events[] = {PMU_EVENT_INSTRUCTIONS, PMU_EVENT_CORE_CYCLES,
                                      PMU_EVENT_REF_CYCLES};
    const char *why = NULL;
    for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]) && why == NULL; i++)
        why = counter_of_missing(events[i], i);
    return why;
}

static const char *no_general_2(void)
{
    return pmu_no_general(2);
}

static const char *no_general_3(void)
{
    return pmu_no_general(3);
}

static const char *no_lapic(void)
{
    if (!lapic_present())
        return lapic_why_absent();
    return lapic_has_timer()
               ? NULL
               : "the local APIC timer does not count or cannot be unmasked (current count, LVT)";
}

static const char *no_pmi(void)
{
    if (!lapic_present())
        return lapic_why_absent();
    return lapic_has_pmi() ? NULL : "no LVT perfmon entry: local APIC version register[23:16] < 4";
}

static const char *no_freeze(void)
{
    return or_null(pmu_info()->no_freeze);
}

static const char *no_instructions(void)
{
    return pmu_no_event(PMU_EVENT_INSTRUCTIONS);
}

static const char *no_pebs(void)
{
    const char *why = NULL;
    pebs_generation(&why);
    return why;
}

static const char *no_load_latency(void)
{
    return pebs_no_latency();
}

static const char *no_bts(void)
{
    return or_null(pmu_info()->no_bts);
}

static const char *no_lbr(void)
{
    return or_null(lbr_info()->why);
}

static const char *no_arch_lbr(void)
{
    return cpuid(7, 0).edx & CPUID_7_EDX_ARCH_LBR
               ? NULL
               : "no architectural branch records: CPUID.7:EDX[19] = 0";
}

static const char *no_lbr_select(void)
{
    return or_null(lbr_info()->no_select);
}

static const char *no_call_stack(void)
{
    return or_null(lbr_info()->no_call_stack);
}

static const char *no_ibs_fetch(void)
{
    return or_null(ibs_info()->no_fetch);
}

static const char *no_ibs_op(void)
{
    return or_null(ibs_info()->no_op);
}

static const char *no_smp(void)
{
    return smp_why_alone();
}

static const char *no_hybrid(void)
{
    return cpuid(7, 0).edx & CPUID_7_EDX_HYBRID ? NULL : "one kind of core: CPUID.7:EDX[15] = 0";
}

static const char *no_btf(void)
{
    static char text[PMU_REASON];
    return debugctl_lacks(DEBUGCTL_BTF, "BTF", text) ? text : NULL;
}

static const char *no_aperf(void)
{
    return cpuid(6, 0).ecx & CPUID_6_ECX_HW_COORD_FEEDBACK
               ? NULL
               : "no IA32_APERF and IA32_MPERF: CPUID.06H:ECX[0] = 0";
}

/* In the order in which the reasons are the most telling. */
static const struct {
    unsigned need;
    const char *(*missing)(void);
} needs_table[] = {
    {NEED_HYBRID, no_hybrid},
    {NEED_AMD, no_amd},
    {NEED_PMU, no_pmu},
    {NEED_PEBS, no_pebs},
    {NEED_LOAD_LATENCY, no_load_latency},
    {NEED_BTS, no_bts},
    {NEED_GLOBAL_CTRL, no_global_ctrl},
    {NEED_FIXED, no_fixed},
    {NEED_CLOCKS, no_clocks},
    {NEED_GENERAL_2, no_general_2},
    {NEED_GENERAL_3, no_general_3},
    {NEED_INSTRUCTIONS, no_instructions},
    {NEED_LAPIC, no_lapic},
    {NEED_PMI, no_pmi},
    {NEED_FREEZE, no_freeze},
    {NEED_ARCH_LBR, no_arch_lbr},
    {NEED_LBR, no_lbr},
    {NEED_LBR_SELECT, no_lbr_select},
    {NEED_CALL_STACK, no_call_stack},
    {NEED_LAST_BRANCH, lbr_single_missing},
    {NEED_IBS_FETCH, no_ibs_fetch},
    {NEED_IBS_OP, no_ibs_op},
    {NEED_BTF, no_btf},
    {NEED_APERF, no_aperf},
    {NEED_SMP, no_smp},
};

const char *need_missing(unsigned needs)
{
    for (size_t i = 0; i < sizeof(needs_table) / sizeof(needs_table[0]); i++) {
        const char *why = needs & needs_table[i].need ? needs_table[i].missing() : NULL;
        if (why != NULL)
            return why;
    }
    return NULL;
}
