/*
 * MSRs that AMD's processors have besides the architectural ones and those of the PMU. AMD64
 * Architecture Programmer's Manual (APM) vol. 2 appendix A "MSR Cross-Reference" and the sections
 * it names; the P-states: PPR "MSRC001_0061" and behind. What has no row is #GP.
 */
#include <stddef.h>

#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"
#include "x86/amd.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

/* ---- Which exist ---- */

static bool always(const struct cpu *cpu)
{
    (void)cpu;
    return true;
}

/* APM vol. 3 "LFENCE": families 10H, 12H and from 14H on. */
static bool has_de_cfg(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EAX, CPUID_1_EAX_EXTENDED_FAMILY);
}

static bool has_pstates(const struct cpu *cpu)
{
    return cpuid_has(cpu, 0x80000007, 0, CPUID_EDX, CPUID_80000007_EDX_HW_PSTATE);
}

static bool has_read_only_clocks(const struct cpu *cpu)
{
    return cpuid_has(cpu, 0x80000007, 0, CPUID_EDX, CPUID_80000007_EDX_RO_EFF_FREQ);
}

static bool has_irperf(const struct cpu *cpu)
{
    return cpuid_has(cpu, 0x80000008, 0, CPUID_EBX, CPUID_80000008_EBX_IRPERF);
}

/* ---- What they do ---- */

/* APM vol. 2 "Microcode Patch Level": the revision, in the low half. */
static uint64_t patch_level(const struct cpu *cpu, unsigned i)
{
    (void)i;
    return cpu->profile->microcode;
}

static uint64_t mperf(const struct cpu *cpu, unsigned i)
{
    (void)i;
    return mperf_read(cpu);
}

static uint64_t aperf(const struct cpu *cpu, unsigned i)
{
    (void)i;
    return aperf_read(cpu);
}

/* The model has one P-state, 0, which is the current one and its limit; the core's frequency does
 * not follow it. */
static uint64_t zero(const struct cpu *cpu, unsigned i)
{
    (void)cpu;
    (void)i;
    return 0;
}

static uint64_t pstate(const struct cpu *cpu, unsigned i)
{
    return i == 0 ? cpu->profile->pstate : 0;
}

/* APM vol. 2 "Instructions Retired Performance Counter". Bits that no unit here looks at are kept.
 */
static void hwcr_written(struct cpu *cpu)
{
    if (!has_irperf(cpu))
        cpu->system->hwcr &= ~AMD_HWCR_IRPERF_EN;
    pmu_count_retired(cpu->pmu, cpu->system->hwcr & AMD_HWCR_IRPERF_EN);
}

#define KEPT(f) .offset = offsetof(struct system_state, f)
#define PSTATES 8

static const struct amd_msr {
    uint32_t first;
    unsigned n;
    bool (*there)(const struct cpu *cpu);
    uint64_t (*read)(const struct cpu *cpu, unsigned i); /* NULL: it is kept */
    size_t offset;                                       /* where in struct system_state */
    uint64_t bits; /* that a write of one that is kept takes; the others read as zero */
    void (*written)(struct cpu *cpu);
} table[] = {
    {MSR_AMD_PATCH_LEVEL, 1, always, .read = patch_level},
    {MSR_AMD_MPERF_RO, 1, has_read_only_clocks, .read = mperf},
    {MSR_AMD_APERF_RO, 1, has_read_only_clocks, .read = aperf},
    {MSR_AMD_SYSCFG, 1, always, KEPT(syscfg), .bits = AMD_SYSCFG_MTRR},
    {MSR_AMD_HWCR, 1, always, KEPT(hwcr), .bits = UINT32_MAX, .written = hwcr_written},
    {MSR_AMD_TOP_MEM, 1, always, KEPT(top_mem), .bits = AMD_TOP_MEM_ADDRESS},
    {MSR_AMD_TOP_MEM2, 1, always, KEPT(top_mem2), .bits = AMD_TOP_MEM_ADDRESS},
    {MSR_AMD_NB_CFG, 1, always, KEPT(nb_cfg), .bits = UINT64_MAX},
    {MSR_AMD_PSTATE_LIMIT, 1, has_pstates, .read = zero},
    {MSR_AMD_PSTATE_CTL, 1, has_pstates, KEPT(perf_ctl), .bits = AMD_PSTATE_CMD},
    {MSR_AMD_PSTATE_STATUS, 1, has_pstates, .read = zero},
    {MSR_AMD_PSTATE_DEF0, PSTATES, has_pstates, .read = pstate},
    {MSR_AMD_DE_CFG, 1, has_de_cfg, KEPT(de_cfg), .bits = UINT64_MAX},
};

static const struct amd_msr *find(const struct cpu *cpu, uint32_t msr)
{
    if (!cpu->profile->amd)
        return NULL;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (msr - table[i].first < table[i].n && table[i].there(cpu))
            return &table[i];
    return NULL;
}

/* As the firmware leaves them: SYSCFG with MTRRs, all memory below 4 GiB. PPR "HWCR": the TSC
 * counts at the frequency of P-state 0. */
void amd_firmware(struct cpu *cpu)
{
    struct system_state *s = cpu->system;
    s->syscfg = AMD_SYSCFG_MTRR_FIX_DRAM_EN | AMD_SYSCFG_MTRR_VAR_DRAM_EN;
    s->top_mem = cpu->machine->ram_size & AMD_TOP_MEM_ADDRESS;
    s->hwcr = has_de_cfg(cpu) ? AMD_HWCR_TSC_FREQ_SEL : 0;
}

bool amd_owns(const struct cpu *cpu, uint32_t msr)
{
    return find(cpu, msr) != NULL;
}

static uint64_t *kept(const struct cpu *cpu, const struct amd_msr *m)
{
    return (uint64_t *)((char *)cpu->system + m->offset);
}

bool amd_read(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    const struct amd_msr *m = find(cpu, msr);
    *value = m->read ? m->read(cpu, msr - m->first) : *kept(cpu, m);
    return true;
}

bool amd_write(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    const struct amd_msr *m = find(cpu, msr);
    if (m->read)
        return false;
    *kept(cpu, m) = value & m->bits;
    if (m->written)
        m->written(cpu);
    return true;
}
