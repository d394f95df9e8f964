/* What a profile's PMU has: the bits that exist in each control register. A write of any other bit
 * is #GP (SDM vol. 2 "WRMSR": setting reserved bits). */
#include "sim/pmu/internal.h"

enum { REG_EAX, REG_EBX, REG_ECX, REG_EDX };
#define CPUID_7_EBX_SGX        2
#define CPUID_7_EBX_PT         25
#define CPUID_1_ECX_DS_CPL_BIT 4

bool has_cpuid_bit(const struct profile *p, uint32_t leaf, unsigned reg, unsigned bit)
{
    for (unsigned i = 0; i < p->n_cpuid; i++) {
        const struct cpuid_leaf *l = &p->cpuid[i];
        if (l->leaf == leaf && (l->any_subleaf || l->subleaf == 0)) {
            const uint32_t value[] = {l->eax, l->ebx, l->ecx, l->edx};
            return value[reg] >> bit & 1;
        }
    }
    return false;
}

unsigned general_count(const struct profile *p)
{
    return p->pmu.version == 0 ? 0 : p->pmu.general;
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 2" (fixed counters begin there) and
 * "Version 5" (FxCtr[i]_is_supported := ECX[i] || (EDX[4:0] > i)). */
bool fixed_exists(const struct profile *p, unsigned i)
{
    if (p->pmu.version < 2 || i >= PROFILE_MAX_FIXED)
        return false;
    return i < p->pmu.fixed || (p->pmu.version >= 5 && (p->pmu.fixed_bitmap >> i & 1));
}

static uint64_t counter_bits(const struct profile *p)
{
    uint64_t mask = bits(general_count(p));
    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (fixed_exists(p, i))
            mask |= ARCH_BIT(GLOBAL_FIXED_SHIFT + i);
    return mask;
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_PERF_GLOBAL_CTRL. */
uint64_t global_ctrl_mask(const struct profile *p)
{
    return counter_bits(p) | (p->pmu.metrics ? GLOBAL_STATUS_PERF_METRICS_OVF : 0);
}

/* SDM vol. 4, IA32_PERF_GLOBAL_OVF_CTRL and IA32_PERF_GLOBAL_STATUS_RESET: each bit with the
 * condition under which it exists. */
uint64_t global_reset_mask(const struct profile *p)
{
    uint64_t mask = global_ctrl_mask(p) | GLOBAL_STATUS_OVF_BUF | GLOBAL_STATUS_COND_CHGD;
    if (p->pmu.version >= 3)
        mask |= GLOBAL_STATUS_OVF_UNCORE;
    if (p->pmu.version >= 4) {
        mask |= GLOBAL_STATUS_LBR_FRZ | GLOBAL_STATUS_CTR_FRZ;
        if (has_cpuid_bit(p, 7, REG_EBX, CPUID_7_EBX_SGX))
            mask |= GLOBAL_STATUS_ASCI;
        if (has_cpuid_bit(p, 7, REG_EBX, CPUID_7_EBX_PT))
            mask |= GLOBAL_STATUS_TRACE_TOPA_PMI;
    }
    return mask;
}

/* SDM vol. 4, IA32_PERF_GLOBAL_STATUS_SET: as the reset register, but CondChgd cannot be set. */
uint64_t global_set_mask(const struct profile *p)
{
    return global_reset_mask(p) & ~GLOBAL_STATUS_COND_CHGD;
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 1" (layout of IA32_PERFEVTSELx),
 * "Version 3" (AnyThread), "AnyThread Counting and Software Evolution" (deprecation). */
uint64_t perfevtsel_mask(const struct profile *p)
{
    uint64_t mask = bits(32) & ~(PERFEVTSEL_ANY | PERFEVTSEL_PC);
    if (p->pmu.version >= 3 && p->pmu.anythread)
        mask |= PERFEVTSEL_ANY;
    if (p->pmu.pin_control)
        mask |= PERFEVTSEL_PC;
    if (has_extended_pebs(p))
        mask |= PERFEVTSEL_ADAPTIVE;
    return mask;
}

uint64_t fixed_ctr_ctrl_mask(const struct profile *p)
{
    uint64_t field = FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR | FIXED_CTR_CTRL_PMI;
    if (p->pmu.version >= 3 && p->pmu.anythread)
        field |= FIXED_CTR_CTRL_ANY;
    if (has_extended_pebs(p))
        field |= FIXED_CTR_CTRL_ADAPTIVE;
    uint64_t mask = 0;
    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (fixed_exists(p, i))
            mask |= field << (FIXED_CTR_CTRL_BITS * i);
    return mask;
}

/* SDM vol. 3 "IA32_DEBUGCTL MSR"; the freeze controls need perfmon version 2 ("Freezing LBR and
 * Performance Counters on PMI"), FREEZE_WHILE_SMM its capability bit. */
uint64_t debugctl_mask(const struct profile *p)
{
    uint64_t mask = DEBUGCTL_BTF;
    if (p->pmu.lbr_depth)
        mask |= DEBUGCTL_LBR;
    if (p->pmu.bts) {
        mask |= DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT;
        if (has_cpuid_bit(p, 1, REG_ECX, CPUID_1_ECX_DS_CPL_BIT))
            mask |= DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR;
    }
    if (p->pmu.version >= 2 && !p->pmu.no_freeze) {
        mask |= DEBUGCTL_FREEZE_PERFMON_ON_PMI;
        if (p->pmu.lbr_depth)
            mask |= DEBUGCTL_FREEZE_LBRS_ON_PMI;
    }
    if (p->pmu.has_capabilities && (p->pmu.capabilities & PERF_CAP_FREEZE_WHILE_SMM))
        mask |= DEBUGCTL_FREEZE_WHILE_SMM;
    return mask;
}

/* SDM vol. 3 "BTS and DS Save Area": CPUID.1:EDX.DS, which profile_finish derives from these. */
bool has_ds(const struct profile *p)
{
    return p->pmu.bts || p->pmu.pebs_counters;
}

/* SDM vol. 3 "Adaptive PEBS" and "Extended PEBS": IA32_PERF_CAPABILITIES.PEBS_BASELINE. */
bool has_extended_pebs(const struct profile *p)
{
    return p->pmu.pebs_counters && p->pmu.has_capabilities &&
           (p->pmu.capabilities & PERF_CAP_PEBS_BASELINE);
}

/* SDM vol. 3 "Processor Event Based Sampling (PEBS)": enable bit n for IA32_PMCn, bit 32 + n for
 * its load latency facility; "Extended PEBS": bit 32 + n for IA32_FIXED_CTRn instead. */
uint64_t pebs_enable_mask(const struct profile *p)
{
    uint64_t counters = p->pmu.pebs_counters;
    if (has_extended_pebs(p))
        return counters | (counter_bits(p) & ~bits(GLOBAL_FIXED_SHIFT));
    return counters | (p->pmu.pebs_load_latency ? counters << 32 : 0);
}
