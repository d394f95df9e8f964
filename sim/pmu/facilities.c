/* What a profile's PMU has: its counters, and the bits of each control register with the condition
 * under which they exist. A write of any other bit is #GP (SDM vol. 2 "WRMSR": setting reserved
 * bits). */
#include "sim/pmu/internal.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

/* Bits that exist together. */
struct field {
    uint64_t bits;
    there *exists;
};
#define FIELDS(table) table, sizeof(table) / sizeof *(table)

static uint64_t existing(const struct pmu *pmu, const struct field *f, unsigned n)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < n; i++)
        if (f[i].exists(pmu, 0))
            mask |= f[i].bits;
    return mask;
}

static uint32_t profile_subleaf(const struct profile *p, uint32_t leaf, unsigned subleaf,
                                enum cpuid_word word)
{
    for (unsigned i = 0; i < p->n_cpuid; i++) {
        const struct cpuid_leaf *l = &p->cpuid[i];
        if (l->leaf == leaf && (l->any_subleaf || l->subleaf == subleaf)) {
            const uint32_t value[] = {l->eax, l->ebx, l->ecx, l->edx};
            return value[word];
        }
    }
    return 0;
}

uint32_t profile_word(const struct profile *p, uint32_t leaf, enum cpuid_word word)
{
    return profile_subleaf(p, leaf, 0, word);
}

static uint32_t subleaf_word(const struct pmu *pmu, uint32_t leaf, unsigned subleaf,
                             enum cpuid_word word)
{
    return profile_subleaf(pmu->profile, leaf, subleaf, word);
}

uint32_t cpuid_word(const struct pmu *pmu, uint32_t leaf, enum cpuid_word word)
{
    return profile_word(pmu->profile, leaf, word);
}

/* SDM vol. 2 "CPUID", leaf 7 sub-leaf 1 and leaf 23H, whose EAX of sub-leaf 0 has a bit for each.
 */
uint32_t extended_word(const struct pmu *pmu, unsigned subleaf, enum cpuid_word word)
{
    if (!(subleaf_word(pmu, 7, 1, CPUID_EAX) & CPUID_7_1_EAX_ARCH_PERFMON_EXT) ||
        !(cpuid_word(pmu, 0x23, CPUID_EAX) >> subleaf & 1))
        return 0;
    return subleaf_word(pmu, 0x23, subleaf, word);
}

bool always(const struct pmu *pmu, unsigned i)
{
    (void)pmu;
    (void)i;
    return true;
}

/* ---- Counters ---- */

/* SDM vol. 3 "Architectural Performance Monitoring Version 5": FxCtr[i]_is_supported := ECX[i] ||
 * (EDX[4:0] > i). Leaf 23H may name more of both kinds than leaf 0AH does. */
uint64_t existing_counters(const struct pmu_kind *kind, const struct profile *p)
{
    uint64_t general = kind->general ? bits(p->pmu.general + p->pmu.general_more) : 0;
    uint64_t fixed = kind->fixed ? bits(p->pmu.fixed) : 0;
    if (kind->fixed_bitmap)
        fixed |= (p->pmu.fixed_bitmap | p->pmu.fixed_more) & bits(PROFILE_MAX_FIXED);
    return general | fixed << GLOBAL_FIXED_SHIFT;
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_PERF_GLOBAL_CTRL. */
uint64_t global_ctrl_mask(const struct pmu *pmu)
{
    return pmu->counters | (pmu->profile->pmu.metrics ? GLOBAL_CTRL_PERF_METRICS : 0);
}

/* ---- Status ---- */

static bool has_sgx(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return cpuid_word(pmu, 7, CPUID_EBX) & CPUID_7_EBX_SGX;
}

static bool has_pt(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return cpuid_word(pmu, 7, CPUID_EBX) & CPUID_7_EBX_INTEL_PT;
}

/* SDM vol. 4, IA32_PERF_GLOBAL_OVF_CTRL and IA32_PERF_GLOBAL_STATUS_RESET. */
uint64_t global_reset_mask(const struct pmu *pmu)
{
    static const struct field fields[] = {
        {~(GLOBAL_STATUS_ASCI | GLOBAL_STATUS_TRACE_TOPA_PMI), always},
        {GLOBAL_STATUS_ASCI, has_sgx},
        {GLOBAL_STATUS_TRACE_TOPA_PMI, has_pt},
    };
    return global_ctrl_mask(pmu) | (pmu->kind->status_bits & existing(pmu, FIELDS(fields)));
}

/* SDM vol. 4, IA32_PERF_GLOBAL_STATUS_SET: as the reset register, but CondChgd cannot be set. */
uint64_t global_set_mask(const struct pmu *pmu)
{
    return global_reset_mask(pmu) & ~GLOBAL_STATUS_COND_CHGD;
}

/* ---- Selects ---- */

/* SDM vol. 3 "Architectural Performance Monitoring Version 3" (AnyThread), "AnyThread Counting and
 * Software Evolution" (deprecation). */
static bool has_any_thread(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->any_thread && pmu->profile->pmu.anythread;
}

static bool has_any_lbr_log(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return has_arch_lbr(pmu, 0) && (cpuid_word(pmu, 0x1c, CPUID_ECX) & CPUID_1C_ECX_EVENT_LOGGING);
}

static bool has_pin_control(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.pin_control;
}

/* SDM vol. 2 "CPUID", leaf 23H, EBX of sub-leaf 0. */
static bool has_umask2(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return extended_word(pmu, 0, CPUID_EBX) & CPUID_23_EBX_UMASK2;
}

static bool has_equal(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return extended_word(pmu, 0, CPUID_EBX) & CPUID_23_EBX_EQ;
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 1" (layout of IA32_PERFEVTSELx),
 * "Adaptive_Record Counter Control"; "Version 6" for UMASK2 and EQ. */
uint64_t perfevtsel_mask(const struct pmu *pmu)
{
    static const struct field fields[] = {
        {PERFEVTSEL_EVENT | PERFEVTSEL_UMASK | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_E |
             PERFEVTSEL_INT | PERFEVTSEL_EN | PERFEVTSEL_INV | PERFEVTSEL_CMASK,
         always},
        {PERFEVTSEL_PC, has_pin_control},
        {PERFEVTSEL_ANY, has_any_thread},
        {PERFEVTSEL_ADAPTIVE, has_extended_pebs},
        {PERFEVTSEL_EN_LBR_LOG, has_any_lbr_log},
        {PERFEVTSEL_UMASK2, has_umask2},
        {PERFEVTSEL_EQ, has_equal},
    };
    return existing(pmu, FIELDS(fields));
}

/* SDM vol. 2 "RDPMC". */
static bool has_metrics_clear(const struct pmu *pmu)
{
    return pmu->profile->pmu.metrics &&
           (pmu->profile->pmu.capabilities & PERF_CAP_RDPMC_METRICS_CLEAR);
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 2": the field of each fixed counter. */
uint64_t fixed_ctr_ctrl_mask(const struct pmu *pmu)
{
    static const struct field fields[] = {
        {FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR | FIXED_CTR_CTRL_PMI, always},
        {FIXED_CTR_CTRL_ANY, has_any_thread},
        {FIXED_CTR_CTRL_ADAPTIVE, has_extended_pebs},
    };
    uint64_t field = existing(pmu, FIELDS(fields)), mask = 0;
    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (has_fixed(pmu, i))
            mask |= field << (FIXED_CTR_CTRL_BITS * i);
    return mask | (has_metrics_clear(pmu) ? FIXED_CTR_CTRL_METRICS_CLEAR_EN : 0);
}

/* ---- IA32_DEBUGCTL ---- */

static bool has_bts(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.bts;
}

static bool has_bts_by_cpl(const struct pmu *pmu, unsigned i)
{
    return has_bts(pmu, i) && (cpuid_word(pmu, 1, CPUID_ECX) & CPUID_1_ECX_DS_CPL);
}

/* SDM vol. 3 "Freezing LBR and Performance Counters on PMI"; vol. 4 "IA-32 Architectural MSRs",
 * IA32_DEBUGCTL[12:11]: "If CPUID.01H:ECX[15] = 1 && CPUID.0AH:EAX[7:0] > 1". */
static bool has_freeze(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->freeze != FREEZE_NOTHING && pmu->profile->pmu.has_capabilities &&
           !pmu->profile->pmu.no_freeze;
}

static bool has_lbr_freeze(const struct pmu *pmu, unsigned i)
{
    return has_freeze(pmu, i) && has_lbr(pmu, i);
}

static bool has_smm_freeze(const struct pmu *pmu, unsigned i)
{
    (void)i;
    const struct profile *p = pmu->profile;
    return p->pmu.has_capabilities && (p->pmu.capabilities & PERF_CAP_FREEZE_WHILE_SMM) &&
           !p->pmu.no_freeze;
}

/* SDM vol. 3 "IA32_DEBUGCTL MSR". */
uint64_t debugctl_mask(const struct pmu *pmu)
{
    static const struct field fields[] = {
        {DEBUGCTL_LBR, has_lbr},
        {DEBUGCTL_BTF, always},
        {DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT, has_bts},
        {DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR, has_bts_by_cpl},
        {DEBUGCTL_FREEZE_LBRS_ON_PMI, has_lbr_freeze},
        {DEBUGCTL_FREEZE_PERFMON_ON_PMI, has_freeze},
        {DEBUGCTL_FREEZE_WHILE_SMM, has_smm_freeze},
    };
    return existing(pmu, FIELDS(fields));
}

/* ---- Branch records, debug store, PEBS ---- */

bool has_lbr(const struct pmu *pmu, unsigned i)
{
    return i < pmu->profile->pmu.lbr_depth;
}

/* LBR_FMT says so, and CPUID.7:EDX.ARCH_LBR, which profile_finish derives from it. */
bool has_arch_lbr(const struct pmu *pmu, unsigned i)
{
    return has_lbr(pmu, i) && pmu->profile->pmu.lbr_format == LBR_FMT_ARCHITECTURAL;
}

/* SDM vol. 2 "CPUID", leaf 1CH: "Event Logging Supported bitmap". */
bool has_lbr_log(const struct pmu *pmu, unsigned i)
{
    return has_arch_lbr(pmu, 0) && has_general(pmu, i) && i < LBR_LOGS &&
           (cpuid_word(pmu, 0x1c, CPUID_ECX) >> (CPUID_1C_ECX_LOGGING_SHIFT + i) & 1);
}

/* SDM vol. 3 "BTS and DS Save Area": CPUID.1:EDX.DS, which profile_finish derives from these. */
bool has_ds(const struct pmu *pmu, unsigned i)
{
    return has_bts(pmu, i) || has_pebs(pmu, i);
}

bool has_pebs(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.pebs_counters != 0;
}

bool has_load_latency(const struct pmu *pmu, unsigned i)
{
    return has_pebs(pmu, i) && pmu->profile->pmu.pebs_load_latency;
}

/* SDM vol. 3 "Adaptive PEBS" and "Extended PEBS": IA32_PERF_CAPABILITIES.PEBS_BASELINE. */
bool has_extended_pebs(const struct pmu *pmu, unsigned i)
{
    const struct profile *p = pmu->profile;
    return has_pebs(pmu, i) && p->pmu.has_capabilities &&
           (p->pmu.capabilities & PERF_CAP_PEBS_BASELINE);
}

/* SDM vol. 3 "Processor Event Based Sampling (PEBS)": enable bit n for IA32_PMCn, bit 32 + n for
 * its load latency facility; "Extended PEBS": bit 32 + n for IA32_FIXED_CTRn instead. */
uint64_t pebs_enable_mask(const struct pmu *pmu)
{
    uint64_t counters = pmu->profile->pmu.pebs_counters;
    if (has_extended_pebs(pmu, 0))
        return counters | (pmu->counters & ~bits(GLOBAL_FIXED_SHIFT));
    return counters | (has_load_latency(pmu, 0) ? counters << 32 : 0);
}

static bool has_snapshots(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.pebs_format >= 6;
}

static bool has_metrics_snapshot(const struct pmu *pmu, unsigned i)
{
    return has_snapshots(pmu, i) && pmu->profile->pmu.metrics;
}

/* SDM vol. 3 "MSR_PEBS_DATA_CFG"; the values of counters from format 6 on (Linux' "PEBS counters
 * snapshotting"), of those that exist. */
uint64_t pebs_data_cfg_mask(const struct pmu *pmu)
{
    static const struct field fields[] = {
        {PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_XMMS | PEBS_DATA_CFG_LBRS |
             PEBS_DATA_CFG_LBR_ENTRIES,
         always},
        {PEBS_DATA_CFG_CNTR, has_snapshots},
        {PEBS_DATA_CFG_METRICS, has_metrics_snapshot},
    };
    uint64_t mask = existing(pmu, FIELDS(fields));
    if (has_snapshots(pmu, 0))
        mask |=
            (pmu->counters << DATA_CFG_GENERAL_SHIFT & PEBS_DATA_CFG_GENERAL) |
            ((pmu->counters >> GLOBAL_FIXED_SHIFT) << DATA_CFG_FIXED_SHIFT & PEBS_DATA_CFG_FIXED);
    return mask;
}
