/* Which bits of IA32_DEBUGCTL there are. */
#include "pmu/debugctl.h"

#include "kernel/msr.h"
#include "kernel/print.h"
#include "x86/msr.h"

uint64_t debugctl_takes(uint64_t bits)
{
    uint64_t was, taken = 0;
    if (!rdmsr_safe(MSR_IA32_DEBUGCTL, &was))
        return 0;
    for (uint64_t rest = bits; rest != 0; rest &= rest - 1) {
        uint64_t bit = rest & -rest, value = 0;
        if (wrmsr_safe(MSR_IA32_DEBUGCTL, bit) && rdmsr_safe(MSR_IA32_DEBUGCTL, &value))
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
