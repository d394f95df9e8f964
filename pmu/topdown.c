/* The performance metrics. */
#include "pmu/topdown.h"

#include "kernel/msr.h"
#include "x86/msr.h"

#define SLOTS_FIXED (TOPDOWN_SLOTS - GLOBAL_FIXED_SHIFT)
#define SLOTS_ON                                                                                   \
    ((uint64_t)(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR) << (FIXED_CTR_CTRL_BITS * SLOTS_FIXED))

const char *topdown_missing(void)
{
    const struct pmu_info *info = pmu_info();
    if (!info->present)
        return info->no_pmu;
    if (!info->metrics)
        return info->perf_capabilities.answered
                   ? "no performance metrics: IA32_PERF_CAPABILITIES[15] = 0"
                   : "no performance metrics: CPUID.1:ECX[15] (PDCM) = 0";
    return pmu_has_fixed(SLOTS_FIXED) ? NULL : pmu_no_fixed(SLOTS_FIXED);
}

void topdown_start(uint64_t control)
{
    pmu_select_fixed(control | SLOTS_ON);
    pmu_write(TOPDOWN_SLOTS, 0);
    wrmsr(MSR_PERF_METRICS, 0);
}

void topdown_clear_by_rdpmc(uint64_t control, bool clear)
{
    pmu_select_fixed(control | SLOTS_ON | (clear ? FIXED_CTR_CTRL_METRICS_CLEAR_EN : 0));
}

struct topdown topdown_read(void)
{
    struct topdown t = {.slots = pmu_read(TOPDOWN_SLOTS)};
    t.metrics = rdmsr(MSR_PERF_METRICS);
    return t;
}

struct topdown topdown_rdpmc(void)
{
    struct topdown t = {.slots = pmu_rdpmc(TOPDOWN_SLOTS)};
    t.metrics = rdpmc(RDPMC_METRICS);
    return t;
}

unsigned topdown_share(uint64_t metrics, uint64_t field)
{
    return (unsigned)((metrics & field) / (field & -field));
}

void topdown_reset(void)
{
    if (topdown_missing() != NULL)
        return;
    pmu_write(TOPDOWN_SLOTS, 0);
    wrmsr_safe(MSR_PERF_METRICS, 0);
}
