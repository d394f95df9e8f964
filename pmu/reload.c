/* Auto counter reload. */
#include "pmu/reload.h"

#include "kernel/msr.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"

const char *reload_missing(void)
{
    if (reload_targets() != 0)
        return NULL;
    return pmu_info()->leaf_23h.subleaves == 0
               ? "no auto counter reload: no leaf 23H: CPUID.7.1:EAX[8] = 0"
           : pmu_info()->leaf_23h.reloaded == 0
               ? "no auto counter reload: CPUID.23H.0:EAX[2] = 0"
               : "no auto counter reload: its registers raise #GP, against CPUID leaf 23H";
}

uint64_t reload_targets(void)
{
    const struct pmu_info *info = pmu_info();
    return info->own_addresses ? info->leaf_23h.reloaded & pmu_all_counters() : 0;
}

uint64_t reload_causes(void)
{
    return pmu_info()->leaf_23h.reloading & pmu_all_counters();
}

static const struct pmu_own *own(unsigned counter, unsigned *n)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    bool fixed = counter >= GLOBAL_FIXED_SHIFT;
    *n = fixed ? counter - GLOBAL_FIXED_SHIFT : counter;
    return fixed ? &kind->own_fixed : &kind->own_general;
}

uint32_t reload_causes_msr(unsigned counter)
{
    unsigned n;
    const struct pmu_own *registers = own(counter, &n);
    return pmu_bank_msr(&registers->reload_causes, n);
}

uint32_t reload_value_msr(unsigned counter)
{
    unsigned n;
    const struct pmu_own *registers = own(counter, &n);
    return pmu_bank_msr(&registers->reload_values, n);
}

/* The bits above RELOAD become ones in the counter: the value is that of a counter that is to
 * overflow, 2^width - n. It is there before anything can ask for it. */
bool reload_on(unsigned counter, uint64_t causes, uint32_t n)
{
    return (reload_targets() & PMU_MASK(counter)) && !(causes & ~reload_causes()) &&
           wrmsr_safe(reload_value_msr(counter), -n & PMC_CFG_C_RELOAD) &&
           wrmsr_safe(reload_causes_msr(counter), causes);
}

void reload_reset(void)
{
    uint64_t targets = reload_targets();
    for (unsigned counter = 0; targets >> counter; counter++)
        if (targets & PMU_MASK(counter)) {
            wrmsr_safe(reload_causes_msr(counter), 0);
            wrmsr_safe(reload_value_msr(counter), 0);
        }
}
