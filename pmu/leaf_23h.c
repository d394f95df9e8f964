/* CPUID leaf 23H. */
#include "pmu/leaf_23h.h"

#include "kernel/cpuid.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

#define LEAF_FEATURES     0x07
#define LEAF_PMU_EXTENDED 0x23

static bool announced(void)
{
    return cpuid(LEAF_FEATURES, 0).eax >= 1 &&
           (cpuid(LEAF_FEATURES, 1).eax & CPUID_7_1_EAX_ARCH_PERFMON_EXT);
}

/* A sub-leaf that is not valid gives zeros; hypervisors are not trusted with that. */
static struct cpuid_regs subleaf(uint32_t subleaves, uint32_t n)
{
    return subleaves >> n & 1 ? cpuid(LEAF_PMU_EXTENDED, n) : (struct cpuid_regs){0};
}

static uint64_t counters(uint32_t general, uint32_t fixed)
{
    return general | (uint64_t)fixed << GLOBAL_FIXED_SHIFT;
}

struct leaf_23h leaf_23h_read(void)
{
    struct leaf_23h leaf = {0};
    if (!announced())
        return leaf;
    leaf.subleaves = cpuid(LEAF_PMU_EXTENDED, 0).eax;
    struct cpuid_regs r = subleaf(leaf.subleaves, 0);
    leaf.umask2 = r.ebx & CPUID_23_EBX_UMASK2;
    leaf.eq = r.ebx & CPUID_23_EBX_EQ;
    leaf.slots_per_cycle = r.ecx & CPUID_23_ECX_SLOTS_PER_CYCLE;
    r = subleaf(leaf.subleaves, 1);
    leaf.general = r.eax;
    leaf.fixed = r.ebx;
    r = subleaf(leaf.subleaves, 2);
    leaf.reloaded = counters(r.eax, r.ebx);
    leaf.reloading = counters(r.ecx, r.edx);
    leaf.events = subleaf(leaf.subleaves, 3).eax;
    return leaf;
}
