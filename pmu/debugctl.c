/* Which bits of IA32_DEBUGCTL there are, and which of them stay. */
#include "pmu/debugctl.h"

#include "kernel/msr.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "x86/msr.h"

/* Of each processor its own. */
static uint64_t kept[MAX_CPUS];

uint64_t debugctl_with(uint64_t bits)
{
    return bits | kept[this_cpu()->index];
}

void debugctl_init(void)
{
    if (pmu_info()->perf_capabilities.value & PERF_CAP_FREEZE_WHILE_SMM)
        kept[this_cpu()->index] = debugctl_takes(DEBUGCTL_FREEZE_WHILE_SMM);
}

uint64_t debugctl_takes(uint64_t bits)
{
    uint64_t was, taken = 0;
    if (!rdmsr_safe(MSR_IA32_DEBUGCTL, &was))
        return 0;
    for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        uint64_t bit = rest & -rest, value = 0;
        if (wrmsr_safe(MSR_IA32_DEBUGCTL, debugctl_with(bit)) &&
            rdmsr_safe(MSR_IA32_DEBUGCTL, &value))
            taken |= value & bit;
    }
    wrmsr_safe(MSR_IA32_DEBUGCTL, was);
    return taken;
}

bool debugctl_lacks(uint64_t bits, const char *feature, char why[PMU_REASON])
{
    uint64_t missing = bits & ~debugctl_takes(bits);
    if (missing != 0)
        ksnprintf(why, PMU_REASON, "no %s: IA32_DEBUGCTL[%d] cannot be set", feature,
                  __builtin_ctzll(missing));
    return missing != 0;
}
