/*
 * Auto counter reload: the overflow of some counters gives others their value back. SDM vol. 3
 * "Auto Counter Reload", vol. 4 IA32_PMC_GPn_CFG_B and _CFG_C; CPUID leaf 23H, sub-leaf 2, says
 * which counters can be reloaded and which can cause it. Known from Linux'
 * arch/x86/events/intel/core.c and the messages of its commits alone: CFG_B of the reloaded counter
 * names its causes, and needs no other enable; CFG_C[31:0] is the lower half of the value, above it
 * are ones; the overflow of a counter that reloads itself has no bit in IA32_PERF_GLOBAL_STATUS,
 * but its PMI if INT is set.
 */
#include "sim/pmu/internal.h"

static uint64_t bitmap(uint32_t general, uint32_t fixed)
{
    return general | (uint64_t)fixed << GLOBAL_FIXED_SHIFT;
}

uint64_t reloadable_counters(const struct pmu *pmu)
{
    return bitmap(extended_word(pmu, 2, CPUID_EAX), extended_word(pmu, 2, CPUID_EBX));
}

uint64_t reload_causes_mask(const struct pmu *pmu)
{
    return bitmap(extended_word(pmu, 2, CPUID_ECX), extended_word(pmu, 2, CPUID_EDX));
}

uint64_t reload_value_mask(const struct pmu *pmu)
{
    (void)pmu;
    return PMC_CFG_C_RELOAD;
}

static uint64_t causes(const struct pmu *pmu, unsigned bit)
{
    return bit < PMU_MAX_GENERAL ? pmu->general_cfg_b[bit]
                                 : pmu->fixed_cfg_b[bit - GLOBAL_FIXED_SHIFT];
}

static uint64_t reload_value(const struct pmu *pmu, unsigned bit)
{
    uint64_t low = bit < PMU_MAX_GENERAL ? pmu->general_cfg_c[bit]
                                         : pmu->fixed_cfg_c[bit - GLOBAL_FIXED_SHIFT];
    return (low | ~PMC_CFG_C_RELOAD) & bits(counter_width(pmu, bit));
}

bool reloads_itself(const struct pmu *pmu, unsigned bit)
{
    return causes(pmu, bit) & ARCH_BIT(bit);
}

/* What came past the overflow of a counter that reloads itself counts from the new value on. Of
 * other counters no one knows what of theirs came past it: they begin with the next instruction. */
void reload_counters(struct pmu *pmu, uint64_t overflowed)
{
    for (uint64_t m = reloadable_counters(pmu) & pmu->counters; m; m &= m - 1) {
        unsigned bit = __builtin_ctzll(m);
        uint64_t by = causes(pmu, bit) & overflowed;
        if (!by)
            continue;
        struct counter *c = counter_at(pmu, bit);
        uint64_t value = reload_value(pmu, bit);
        uint64_t period = bits(counter_width(pmu, bit)) - value + 1;
        c->value = value + (by & ARCH_BIT(bit) ? c->value % period : 0);
        if (bit == GLOBAL_FIXED_SHIFT + SLOTS_COUNTER)
            metrics_tear(pmu);
    }
}
