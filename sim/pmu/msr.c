/*
 * The PMU's MSRs: a table row for each, with who has it and what it takes. A number inside a row's
 * range that the processor lacks is #GP (SDM vol. 2 "RDMSR": "a reserved or unimplemented MSR
 * address"), and so is a bit that the register lacks ("WRMSR").
 */
#include "sim/fault.h"
#include "sim/pmu/internal.h"
#include "x86/msr.h"
#include "x86/pmu.h"

static bool canonical(uint64_t a)
{
    return (uint64_t)((int64_t)(a << 16) >> 16) == a;
}

/* ---- Which exist ---- */

/* SDM vol. 3 "Full-Width Writes to Performance Counter Registers". */
static bool has_full_width(const struct pmu *pmu, unsigned i)
{
    return pmu->profile->pmu.full_width && has_general(pmu, i);
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_PMC_GPn_CTR and IA32_PMC_GPn_CFG_A, IA32_PMC_FXm_CTR:
 * other addresses of the same registers. */
static bool has_strided_general(const struct pmu *pmu, unsigned i)
{
    return pmu->kind->strided && has_general(pmu, i);
}

static bool has_strided_fixed(const struct pmu *pmu, unsigned i)
{
    return pmu->kind->strided && has_fixed(pmu, i);
}

/* SDM vol. 4, IA32_PMC_GPn_CFG_B, _CFG_C, IA32_PMC_FXm_CFG_B, _CFG_C. Where there is architectural
 * PEBS, which the model has not, more counters have a CFG_C. */
static bool has_general_reload(const struct pmu *pmu, unsigned i)
{
    return has_strided_general(pmu, i) && (reloadable_counters(pmu) >> i & 1);
}

static bool has_fixed_reload(const struct pmu *pmu, unsigned i)
{
    return has_strided_fixed(pmu, i) && (reloadable_counters(pmu) >> GLOBAL_FIXED_SHIFT >> i & 1);
}

static bool has_fixed_ctr_ctrl(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->fixed;
}

static bool has_global_ctrl(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->enable == ENABLE_GLOBAL;
}

static bool has_status(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->status;
}

static bool has_status_set(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->status_set;
}

static bool has_inuse(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->inuse;
}

static bool has_capabilities(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.has_capabilities;
}

static bool has_metrics(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.metrics;
}

static bool has_offcore(const struct pmu *pmu, unsigned i)
{
    return i < pmu->profile->pmu.offcore_rsp;
}

static bool has_model_lbr(const struct pmu *pmu, unsigned i)
{
    return has_lbr(pmu, i) && !has_arch_lbr(pmu, i);
}

static bool has_lbr_select(const struct pmu *pmu, unsigned i)
{
    return has_model_lbr(pmu, i) && pmu->profile->pmu.lbr_select;
}

static bool has_lbr_nehalem(const struct pmu *pmu, unsigned i)
{
    return has_model_lbr(pmu, i) && !pmu->profile->pmu.lbr_core2_addresses;
}

static bool has_lbr_core2(const struct pmu *pmu, unsigned i)
{
    return has_model_lbr(pmu, i) && pmu->profile->pmu.lbr_core2_addresses;
}

static bool has_lbr_info(const struct pmu *pmu, unsigned i)
{
    return has_model_lbr(pmu, i) && pmu->profile->pmu.lbr_info;
}

/* SDM vol. 4 "IA-32 Architectural MSRs": "an attempt to read or write IA32_LBR_x_FROM_IP such that
 * x >= IA32_LBR_DEPTH.DEPTH will #GP". */
static bool has_lbr_entry(const struct pmu *pmu, unsigned i)
{
    return has_arch_lbr(pmu, 0) && i < pmu->lbr_depth;
}

/* ---- What they take, where no register's own file says it ---- */

static uint64_t any_value(const struct pmu *pmu)
{
    (void)pmu;
    return UINT64_MAX;
}

static uint64_t general_mask(const struct pmu *pmu)
{
    return bits(pmu->profile->pmu.general_width);
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 2": "Bits beyond the width of the
 * fixed-function counter are reserved and must be written as zeros". */
static uint64_t fixed_mask(const struct pmu *pmu)
{
    if (fault_hypervisor(pmu->cpu, FAULT_HV_FIXED_DROPS))
        return UINT64_MAX;
    return bits(pmu->profile->pmu.fixed_width);
}

/* SDM vol. 3 "Load Latency Performance Monitoring Facility": a threshold in bits 15:0. */
static uint64_t ld_lat_mask(const struct pmu *pmu)
{
    (void)pmu;
    return bits(16);
}

static uint64_t lbr_ctl_mask(const struct pmu *pmu)
{
    return pmu->lbr_ctl_bits;
}

/* The stack's depth is a power of two. */
static uint64_t lbr_tos_mask(const struct pmu *pmu)
{
    return pmu->profile->pmu.lbr_depth - 1;
}

/* ---- Counters ---- */

uint64_t read_pmc(struct pmu *pmu, unsigned i)
{
    counters_sync(pmu);
    return pmu->general[i].value;
}

static uint64_t read_fixed(struct pmu *pmu, unsigned i)
{
    counters_sync(pmu);
    return pmu->fixed[i].value;
}

bool set_counter(struct pmu *pmu, struct counter *c, uint64_t value)
{
    counters_sync(pmu);
    c->value = value;
    counters_reschedule(pmu);
    return true;
}

/* SDM vol. 3 "Full-Width Writes to Performance Counter Registers": a write by the old address
 * takes the low 32 bits and sign-extends bit 31 to the counter's width. */
static bool write_pmc(struct pmu *pmu, unsigned i, uint64_t value)
{
    uint64_t extended = (uint64_t)(int64_t)(int32_t)value;
    return set_counter(pmu, &pmu->general[i], extended & general_mask(pmu));
}

static bool write_a_pmc(struct pmu *pmu, unsigned i, uint64_t value)
{
    return set_counter(pmu, &pmu->general[i], value);
}

static bool write_fixed(struct pmu *pmu, unsigned i, uint64_t value)
{
    if (i == SLOTS_COUNTER)
        metrics_tear(pmu);
    return set_counter(pmu, &pmu->fixed[i], value & bits(pmu->profile->pmu.fixed_width));
}

/* The logging bit is a bit of some counters alone. */
static bool write_perfevtsel(struct pmu *pmu, unsigned i, uint64_t value)
{
    if ((value & PERFEVTSEL_EN_LBR_LOG) && !has_lbr_log(pmu, i))
        return false;
    counters_sync(pmu);
    pmu->perfevtsel[i] = value;
    counters_configure(pmu);
    return true;
}

/* ---- Status ---- */

static uint64_t read_global_status(struct pmu *pmu, unsigned i)
{
    (void)i;
    counters_sync(pmu);
    return pmu->global_status;
}

static uint64_t read_zero(struct pmu *pmu, unsigned i)
{
    (void)pmu;
    (void)i;
    return 0;
}

static bool set_status(struct pmu *pmu, uint64_t set, uint64_t clear)
{
    counters_sync(pmu);
    pmu->global_status = (pmu->global_status | set) & ~clear;
    counters_configure(pmu);
    return true;
}

/* SDM vol. 3 "IA32_PERF_GLOBAL_OVF_CTRL" / "IA32_PERF_GLOBAL_STATUS_RESET": ones clear; reads give
 * 0. Clearing CTR_FRZ or LBR_FRZ thaws. */
static bool write_global_reset(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return set_status(pmu, 0, value);
}

/* SDM vol. 3 "IA32_PERF_GLOBAL_STATUS_SET": ones set the bits, without a PMI. */
static bool write_global_set(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return set_status(pmu, value, 0);
}

/* SDM vol. 3 "IA32_PERF_GLOBAL_INUSE": a general counter is in use while its event select field is
 * not 0, a fixed one while its enable field is not 0, the PMI while any counter or PEBS may raise
 * one. */
static uint64_t read_global_inuse(struct pmu *pmu, unsigned i)
{
    (void)i;
    uint64_t used = 0;
    bool pmi = pmu->pebs_enable != 0;
    for (unsigned n = 0; n < PMU_MAX_GENERAL; n++) {
        if (pmu->perfevtsel[n] & PERFEVTSEL_EVENT)
            used |= ARCH_BIT(n);
        pmi |= (pmu->perfevtsel[n] & PERFEVTSEL_INT) != 0;
    }
    for (unsigned n = 0; n < PROFILE_MAX_FIXED; n++) {
        unsigned field = pmu->fixed_ctr_ctrl >> (FIXED_CTR_CTRL_BITS * n);
        if (field & (FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR))
            used |= ARCH_BIT(GLOBAL_FIXED_SHIFT + n);
        pmi |= (field & FIXED_CTR_CTRL_PMI) != 0;
    }
    return used | (pmi ? GLOBAL_INUSE_PMI : 0);
}

/* ---- Capabilities and switches ---- */

static uint64_t read_capabilities(struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->profile->pmu.capabilities;
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_MISC_ENABLE: bits 7, 11 and 12 are read-only; writes
 * leave them as they are. */
#define MISC_ENABLE_READ_ONLY                                                                      \
    (MISC_ENABLE_PMU_AVAILABLE | MISC_ENABLE_BTS_UNAVAILABLE | MISC_ENABLE_PEBS_UNAVAILABLE)

static bool write_misc_enable(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    pmu->misc_enable =
        (value & ~MISC_ENABLE_READ_ONLY) | (pmu->misc_enable & MISC_ENABLE_READ_ONLY);
    return true;
}

static bool write_debugctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    pmu->debugctl = has_arch_lbr(pmu, 0) ? value & ~DEBUGCTL_LBR : value;
    pmu_attend(pmu);
    cpu_attend(pmu->cpu, ATTN_STEP); /* BTF changes what TF means */
    return true;
}

static uint64_t read_metrics(struct pmu *pmu, unsigned i)
{
    (void)i;
    counters_sync(pmu);
    return metrics_read(pmu);
}

static bool write_metrics(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    counters_sync(pmu);
    metrics_write(pmu, value);
    counters_reschedule(pmu);
    return true;
}

/* SDM vol. 2 "RDPMC": with METRICS_CLEAR_EN the PERF_METRICS and the counter of the slots are
 * cleared behind the reading. */
static uint64_t rdpmc_metrics(struct pmu *pmu, unsigned i)
{
    uint64_t metrics = read_metrics(pmu, i);
    if (pmu->fixed_ctr_ctrl & FIXED_CTR_CTRL_METRICS_CLEAR_EN) {
        write_fixed(pmu, SLOTS_COUNTER, 0);
        write_metrics(pmu, 0, 0);
    }
    return metrics;
}

/* ---- Debug store and PEBS ---- */

static bool write_ds_area(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (!canonical(value))
        return false;
    pmu->ds_area = value;
    return true;
}

static bool write_pebs_enable(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    counters_sync(pmu);
    pmu->pebs_enable = value;
    pmu->pebs_armed &= value;
    pmu->pebs_pmi_owed = false;
    counters_configure(pmu);
    return true;
}

/* ---- Last branch records ---- */

static uint64_t read_lbr_from(struct pmu *pmu, unsigned i)
{
    return pmu->lbr[i].from;
}

static uint64_t read_lbr_to(struct pmu *pmu, unsigned i)
{
    return pmu->lbr[i].to;
}

static uint64_t read_lbr_info(struct pmu *pmu, unsigned i)
{
    return pmu->lbr[i].info;
}

static bool write_lbr_from(struct pmu *pmu, unsigned i, uint64_t value)
{
    if (!canonical(lbr_from_address(pmu->profile, value)))
        return false;
    pmu->lbr[i].from = value;
    return true;
}

static bool write_lbr_to(struct pmu *pmu, unsigned i, uint64_t value)
{
    if (!canonical(lbr_to_address(pmu->profile, value)))
        return false;
    pmu->lbr[i].to = value;
    return true;
}

static bool write_lbr_info(struct pmu *pmu, unsigned i, uint64_t value)
{
    pmu->lbr[i].info = value;
    return true;
}

/* Entry 0 is the newest. */
static uint64_t read_arch_from(struct pmu *pmu, unsigned i)
{
    return lbr_newest(pmu, i)->from;
}

static uint64_t read_arch_to(struct pmu *pmu, unsigned i)
{
    return lbr_newest(pmu, i)->to;
}

static uint64_t read_arch_info(struct pmu *pmu, unsigned i)
{
    return lbr_newest(pmu, i)->info;
}

static bool write_address(uint64_t *at, uint64_t value)
{
    if (!canonical(value))
        return false;
    *at = value;
    return true;
}

static bool write_arch_from(struct pmu *pmu, unsigned i, uint64_t value)
{
    return write_address(&lbr_newest(pmu, i)->from, value);
}

static bool write_arch_to(struct pmu *pmu, unsigned i, uint64_t value)
{
    return write_address(&lbr_newest(pmu, i)->to, value);
}

/* SDM vol. 4, IA32_LBR_x_INFO, of the bits that have no name: "writes of non-zero values do not
 * fault". */
static bool write_arch_info(struct pmu *pmu, unsigned i, uint64_t value)
{
    lbr_newest(pmu, i)->info = value;
    return true;
}

static bool write_lbr_depth(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return lbr_set_depth(pmu, value);
}

static bool write_lbr_ctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    lbr_set_ctl(pmu, value);
    return true;
}

/* SDM vol. 4: MSR_LER_* are read-only ("R"), IA32_LER_* are not ("R/W"). */
static bool write_ler_from(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return has_arch_lbr(pmu, 0) && write_address(&pmu->ler.from, value);
}

static bool write_ler_to(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return has_arch_lbr(pmu, 0) && write_address(&pmu->ler.to, value);
}

/* ---- The tables ---- */

#define KEPT(field) .value = offsetof(struct pmu, field)
#define CORE2_LBR   8
#define NEHALEM_LBR 32

/* SDM vol. 4. MSR_OFFCORE_RSP_x select what the off-core response events count (vol. 3 "Off-core
 * Response Performance Monitoring"); the model has no such event, but keeps what is written. */
// clang-format off
const struct msr_rule intel_msrs[] = {
    /* first, stride, most, exists */
    {MSR_IA32_PMC0,                   1, PMU_MAX_GENERAL,   has_general,        .read = read_pmc, .takes = any_value, .write = write_pmc},
    {MSR_IA32_A_PMC0,                 1, PMU_MAX_GENERAL,   has_full_width,     .read = read_pmc, .takes = general_mask, .write = write_a_pmc},
    {MSR_IA32_PERFEVTSEL0,            1, PMU_MAX_GENERAL,   has_general,        KEPT(perfevtsel), .takes = perfevtsel_mask, .write = write_perfevtsel},
    {MSR_IA32_PMC_GP0_CTR,            MSR_IA32_PMC_STRIDE, PMU_MAX_GENERAL,   has_strided_general, .read = read_pmc, .takes = general_mask, .write = write_a_pmc},
    {MSR_IA32_PMC_GP0_CFG_A,          MSR_IA32_PMC_STRIDE, PMU_MAX_GENERAL,   has_strided_general, KEPT(perfevtsel), .takes = perfevtsel_mask, .write = write_perfevtsel},
    {MSR_IA32_PMC_FX0_CTR,            MSR_IA32_PMC_STRIDE, PROFILE_MAX_FIXED, has_strided_fixed,   .read = read_fixed, .takes = fixed_mask, .write = write_fixed},
    {MSR_IA32_PMC_GP0_CFG_B,          MSR_IA32_PMC_STRIDE, PMU_MAX_GENERAL,   has_general_reload,  KEPT(general_cfg_b), .takes = reload_causes_mask, .steers = true},
    {MSR_IA32_PMC_GP0_CFG_C,          MSR_IA32_PMC_STRIDE, PMU_MAX_GENERAL,   has_general_reload,  KEPT(general_cfg_c), .takes = reload_value_mask, .steers = true},
    {MSR_IA32_PMC_FX0_CFG_B,          MSR_IA32_PMC_STRIDE, PROFILE_MAX_FIXED, has_fixed_reload,    KEPT(fixed_cfg_b), .takes = reload_causes_mask, .steers = true},
    {MSR_IA32_PMC_FX0_CFG_C,          MSR_IA32_PMC_STRIDE, PROFILE_MAX_FIXED, has_fixed_reload,    KEPT(fixed_cfg_c), .takes = reload_value_mask, .steers = true},
    {MSR_IA32_FIXED_CTR0,             1, PROFILE_MAX_FIXED, has_fixed,          .read = read_fixed, .takes = fixed_mask, .write = write_fixed},
    {MSR_IA32_FIXED_CTR_CTRL,         1, 1,                 has_fixed_ctr_ctrl, KEPT(fixed_ctr_ctrl), .takes = fixed_ctr_ctrl_mask, .steers = true},
    {MSR_IA32_PERF_GLOBAL_STATUS,     1, 1,                 has_status,         .read = read_global_status},
    {MSR_IA32_PERF_GLOBAL_CTRL,       1, 1,                 has_global_ctrl,    KEPT(global_ctrl), .takes = global_ctrl_mask, .steers = true},
    {MSR_IA32_PERF_GLOBAL_OVF_CTRL,   1, 1,                 has_status,         .read = read_zero, .takes = global_reset_mask, .write = write_global_reset},
    {MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, 1,                 has_status_set,     .read = read_zero, .takes = global_set_mask, .write = write_global_set},
    {MSR_IA32_PERF_GLOBAL_INUSE,      1, 1,                 has_inuse,          .read = read_global_inuse},
    {MSR_IA32_PERF_CAPABILITIES,      1, 1,                 has_capabilities,   .read = read_capabilities},
    {MSR_IA32_MISC_ENABLE,            1, 1,                 always,             KEPT(misc_enable), .takes = any_value, .write = write_misc_enable},
    {MSR_IA32_DEBUGCTL,               1, 1,                 always,             KEPT(debugctl), .takes = debugctl_mask, .write = write_debugctl},
    {MSR_PERF_METRICS,                1, 1,                 has_metrics,        .read = read_metrics, .takes = metrics_mask, .write = write_metrics},
    {MSR_OFFCORE_RSP_0,               1, 2,                 has_offcore,        KEPT(offcore_rsp), .takes = any_value},
    {MSR_IA32_DS_AREA,                1, 1,                 has_ds,             KEPT(ds_area), .takes = any_value, .write = write_ds_area},
    {MSR_IA32_PEBS_ENABLE,            1, 1,                 has_pebs,           KEPT(pebs_enable), .takes = pebs_enable_mask, .write = write_pebs_enable},
    {MSR_PEBS_DATA_CFG,               1, 1,                 has_extended_pebs,  KEPT(pebs_data_cfg), .takes = pebs_data_cfg_mask},
    {MSR_PEBS_LD_LAT_THRESHOLD,       1, 1,                 has_load_latency,   KEPT(pebs_ld_lat), .takes = ld_lat_mask, .steers = true},
    {MSR_LBR_SELECT,                  1, 1,                 has_lbr_select,     KEPT(lbr_select), .takes = lbr_select_mask},
    {MSR_LASTBRANCH_TOS,              1, 1,                 has_model_lbr,      KEPT(lbr_tos), .takes = lbr_tos_mask},
    {MSR_LER_FROM_LIP,                1, 1,                 has_lbr,            KEPT(ler.from), .takes = any_value, .write = write_ler_from},
    {MSR_LER_TO_LIP,                  1, 1,                 has_lbr,            KEPT(ler.to), .takes = any_value, .write = write_ler_to},
    {MSR_IA32_LER_INFO,               1, 1,                 has_arch_lbr,       KEPT(ler.info), .takes = any_value},
    {MSR_IA32_LBR_CTL,                1, 1,                 has_arch_lbr,       KEPT(lbr_ctl), .takes = lbr_ctl_mask, .write = write_lbr_ctl},
    {MSR_IA32_LBR_DEPTH,              1, 1,                 has_arch_lbr,       KEPT(lbr_depth), .takes = any_value, .write = write_lbr_depth},
    {MSR_IA32_LBR_0_FROM_IP,          1, PMU_MAX_LBR,       has_lbr_entry,      .read = read_arch_from, .takes = any_value, .write = write_arch_from},
    {MSR_IA32_LBR_0_TO_IP,            1, PMU_MAX_LBR,       has_lbr_entry,      .read = read_arch_to, .takes = any_value, .write = write_arch_to},
    {MSR_IA32_LBR_0_INFO,             1, PMU_MAX_LBR,       has_lbr_entry,      .read = read_arch_info, .takes = any_value, .write = write_arch_info},
    {MSR_LASTBRANCH_0_FROM_IP,        1, NEHALEM_LBR,       has_lbr_nehalem,    .read = read_lbr_from, .takes = any_value, .write = write_lbr_from},
    {MSR_LASTBRANCH_0_TO_IP,          1, NEHALEM_LBR,       has_lbr_nehalem,    .read = read_lbr_to, .takes = any_value, .write = write_lbr_to},
    {MSR_LASTBRANCH_0_FROM_CORE2,     1, CORE2_LBR,         has_lbr_core2,      .read = read_lbr_from, .takes = any_value, .write = write_lbr_from},
    {MSR_LASTBRANCH_0_TO_CORE2,       1, CORE2_LBR,         has_lbr_core2,      .read = read_lbr_to, .takes = any_value, .write = write_lbr_to},
    {MSR_LBR_INFO_0,                  1, NEHALEM_LBR,       has_lbr_info,       .read = read_lbr_info, .takes = any_value, .write = write_lbr_info},
    {.most = 0},
};

/* SDM vol. 2 "RDPMC": ECX[31:16] is the type, ECX[15:0] the index; an unsupported encoding is #GP.
 * A processor without architectural performance monitoring has no counters here. */
const struct rdpmc_rule intel_rdpmc[] = {
    {0,             PMU_MAX_GENERAL,   has_general, read_pmc},
    {RDPMC_FIXED,   PROFILE_MAX_FIXED, has_fixed,   read_fixed},
    {RDPMC_METRICS, 1,                 has_metrics, rdpmc_metrics},
    {.most = 0},
};
// clang-format on

static const struct msr_rule *find_rule(const struct pmu *pmu, uint32_t msr, unsigned *i)
{
    for (const struct msr_rule *r = pmu->kind->msrs; r->most; r++) {
        uint32_t past = msr - r->first;
        if (past >= r->most * r->stride || past % r->stride)
            continue;
        *i = past / r->stride;
        return r;
    }
    return NULL;
}

static const struct msr_rule *find_existing(const struct pmu *pmu, uint32_t msr, unsigned *i)
{
    const struct msr_rule *r = find_rule(pmu, msr, i);
    return r && r->exists(pmu, *i) ? r : NULL;
}

bool pmu_owns_msr(const struct pmu *pmu, uint32_t msr)
{
    unsigned i;
    return find_rule(pmu, msr, &i) != NULL;
}

static uint64_t *kept(struct pmu *pmu, const struct msr_rule *r, unsigned i)
{
    return (uint64_t *)((char *)pmu + r->value) + i;
}

bool pmu_rdmsr(struct pmu *pmu, uint32_t msr, uint64_t *value)
{
    unsigned i;
    const struct msr_rule *r = find_existing(pmu, msr, &i);
    if (!r)
        return false;
    *value = r->read ? r->read(pmu, i) : *kept(pmu, r, i);
    return true;
}

bool pmu_wrmsr(struct pmu *pmu, uint32_t msr, uint64_t value)
{
    unsigned i;
    const struct msr_rule *r = find_existing(pmu, msr, &i);
    if (!r || !r->takes || (value & ~r->takes(pmu)))
        return false;
    if (r->write)
        return r->write(pmu, i, value);
    if (r->steers)
        counters_sync(pmu); /* until now under the old rule */
    *kept(pmu, r, i) = value;
    if (r->steers)
        counters_configure(pmu);
    return true;
}

bool pmu_rdpmc(struct pmu *pmu, uint32_t selector, uint64_t *value)
{
    uint32_t type = selector & ~0xffffU, index = selector & 0xffff;
    for (const struct rdpmc_rule *r = pmu->kind->rdpmc; r->most; r++)
        if (r->type == type && index < r->most && r->exists(pmu, index)) {
            *value = r->read(pmu, index);
            return true;
        }
    return false;
}
