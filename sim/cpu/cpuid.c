/*
 * CPUID from the profile's leaves, with what depends on the processor's state. SDM vol. 2 "CPUID".
 */
#include <string.h>

#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"
#include "x86/amd.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

#define EXTENDED       0x80000000u
#define HYPERVISOR     0x40000000u
#define LEAF_FEATURES  1
#define LEAF_CACHES    4
#define LEAF_TOPOLOGY  0xb
#define LEAF_XSAVE     0xd
#define LEAF_TOPOLOGY2 0x1f
#define AMD_FEATURES   0x80000001u
#define AMD_SIZES      0x80000008u
#define AMD_TOPOLOGY   0x8000001eu
#define LIMITED_MAX    2
#define LEVEL_SMT      (1u << 8)
#define LEVEL_CORE     (2u << 8)

#define CACHE_TYPE        0x1f /* leaf 4, EAX: 0 behind the last cache */
#define CACHE_CORES_SHIFT 26

static const struct cpuid_leaf *find(const struct cpu *cpu, uint32_t leaf, uint32_t subleaf)
{
    const struct profile *p = cpu->profile;
    for (unsigned i = 0; i < p->n_cpuid; i++)
        if (p->cpuid[i].leaf == leaf && (p->cpuid[i].any_subleaf || p->cpuid[i].subleaf == subleaf))
            return &p->cpuid[i];
    return NULL;
}

static uint32_t maximum(const struct cpu *cpu, uint32_t leaf)
{
    const struct cpuid_leaf *l = find(cpu, leaf, 0);
    return l ? l->eax : leaf;
}

/* Number of APIC id bits that tell the machine's processors apart. */
static unsigned id_bits(const struct cpu *cpu)
{
    unsigned bits = 0;
    while (1u << bits < cpu->machine->n_cpus)
        bits++;
    return bits;
}

/* Leaf 0BH: each simulated processor is a core of one thread. Invalid subleafs give the level
 * number in ECX[7:0] and the x2APIC id in EDX. */
static void topology(const struct cpu *cpu, uint32_t subleaf, uint32_t out[4])
{
    out[0] = out[1] = 0;
    out[2] = subleaf & 0xff;
    out[3] = cpu->index;
    if (subleaf == 0) {
        out[1] = 1;
        out[2] |= LEVEL_SMT;
    } else if (subleaf == 1) {
        out[0] = id_bits(cpu);
        out[1] = cpu->machine->n_cpus;
        out[2] |= LEVEL_CORE;
    }
}

/* SDM vol. 2 "CPUID", leaf 4: EAX[31:26], the ids of cores in the package, less 1. Each processor's
 * caches are its own. */
static void caches(const struct cpu *cpu, uint32_t out[4])
{
    if (out[0] & CACHE_TYPE)
        out[0] |= ((1u << id_bits(cpu)) - 1) << CACHE_CORES_SHIFT;
}

static bool apic_is_off(struct cpu *cpu)
{
    uint64_t apic_base = 0;
    return cpu->lapic && (!lapic_rdmsr(cpu->lapic, MSR_IA32_APIC_BASE, &apic_base) ||
                          !(apic_base & APIC_BASE_EN));
}

static void features(struct cpu *cpu, uint32_t out[4])
{
    out[1] = (out[1] & 0xff00) | cpu->machine->n_cpus << 16 | cpu->index << 24;
    if (out[2] & CPUID_1_ECX_OSXSAVE)
        out[2] &= ~(uint32_t)CPUID_1_ECX_OSXSAVE;
    if (cpu->cr4 & CR4_OSXSAVE)
        out[2] |= CPUID_1_ECX_OSXSAVE;
    if (cpu->machine->n_cpus > 1)
        out[3] |= CPUID_1_EDX_HTT;
    if (apic_is_off(cpu))
        out[3] &= ~(uint32_t)CPUID_1_EDX_APIC;
}

/* APM vol. 3 "CPUID", the extended leaves that depend on the machine: CmpLegacy and leaf 1's EDX
 * again (8000_0001H), NC and ApicIdSize (8000_0008H:ECX), the APIC ID and the core's number
 * (8000_001EH). */
static void amd_leaf(struct cpu *cpu, uint32_t leaf, uint32_t out[4])
{
    unsigned n = cpu->machine->n_cpus;
    if (leaf == AMD_FEATURES && n > 1)
        out[2] |= CPUID_80000001_ECX_CMP_LEGACY;
    if (leaf == AMD_FEATURES && apic_is_off(cpu))
        out[3] &= ~(uint32_t)CPUID_1_EDX_APIC;
    if (leaf == AMD_SIZES)
        out[2] = (out[2] & ~0xf0ffu) | id_bits(cpu) << 12 | (n - 1);
    if (leaf == AMD_TOPOLOGY &&
        cpuid_has(cpu, AMD_FEATURES, 0, CPUID_ECX, CPUID_80000001_ECX_TOPOLOGY)) {
        out[0] = cpu->index;
        out[1] = cpu->index; /* one thread each */
        out[2] = out[3] = 0;
    }
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_MISC_ENABLE[22], Limit CPUID Maxval: "CPUID.00H
 * returns a maximum value in EAX[7:0] of 2". Vol. 2 "CPUID": the leaves above it are not visible
 * then. */
static uint32_t basic_maximum(const struct cpu *cpu)
{
    uint64_t misc_enable = 0;
    uint32_t highest = maximum(cpu, 0);
    bool limited = pmu_rdmsr(cpu->pmu, MSR_IA32_MISC_ENABLE, &misc_enable) &&
                   (misc_enable & MISC_ENABLE_LIMIT_CPUID);
    return limited && highest > LIMITED_MAX ? LIMITED_MAX : highest;
}

void cpu_cpuid(struct cpu *cpu, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
    /* A leaf beyond the highest of its range gives the data of the highest basic leaf. */
    uint32_t range = leaf & ~0xffffu;
    bool known = range == 0 || range == EXTENDED || (range == HYPERVISOR && find(cpu, range, 0));
    uint32_t highest = range ? maximum(cpu, range) : basic_maximum(cpu);
    bool beyond = !known || (leaf > highest && leaf != range);
    memset(out, 0, 4 * sizeof *out);
    if (beyond && cpu->profile->amd) /* APM vol. 3 "CPUID": a reserved leaf gives zeros */
        return;
    if (beyond)
        leaf = basic_maximum(cpu);
    const struct cpuid_leaf *l = find(cpu, leaf, subleaf);
    if (l) {
        out[0] = l->eax;
        out[1] = l->ebx;
        out[2] = l->ecx;
        out[3] = l->edx;
    }
    if (leaf == 0)
        out[0] = basic_maximum(cpu);
    else if (leaf == LEAF_FEATURES)
        features(cpu, out);
    else if (leaf == LEAF_CACHES)
        caches(cpu, out);
    else if (cpu->profile->amd && range == EXTENDED)
        amd_leaf(cpu, leaf, out);
    else if (leaf == LEAF_TOPOLOGY || leaf == LEAF_TOPOLOGY2)
        topology(cpu, subleaf, out);
    else if (leaf == LEAF_XSAVE)
        xsave_cpuid(cpu, subleaf, out);
}

bool cpuid_has(const struct cpu *cpu, uint32_t leaf, uint32_t subleaf, enum cpuid_reg reg,
               uint32_t bit)
{
    const struct cpuid_leaf *l = find(cpu, leaf, subleaf);
    if (!l || leaf > maximum(cpu, leaf & EXTENDED))
        return false;
    uint32_t value[4] = {l->eax, l->ebx, l->ecx, l->edx};
    return value[reg] & bit;
}
