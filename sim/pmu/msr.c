/*
 * The PMU's MSRs: one table row each, with how many of them a profile has. A number inside a row's
 * range that the profile lacks is #GP (SDM vol. 2 "RDMSR": "a reserved or unimplemented MSR
 * address").
 */
#include "sim/pmu/internal.h"

struct msr_rule {
    uint32_t first;
    unsigned range;                            /* numbers that are the PMU's at most */
    unsigned (*count)(const struct profile *); /* of these, how many exist */
    bool (*read)(struct pmu *, unsigned i, uint64_t *value);
    bool (*write)(struct pmu *, unsigned i, uint64_t value); /* NULL: read-only, #GP */
};

static bool canonical(uint64_t a)
{
    return (uint64_t)((int64_t)(a << 16) >> 16) == a;
}

/* ---- Which exist ---- */

static unsigned always(const struct profile *p)
{
    (void)p;
    return 1;
}

static unsigned from_v2(const struct profile *p)
{
    return p->pmu.version >= 2;
}

static unsigned from_v4(const struct profile *p)
{
    return p->pmu.version >= 4;
}

/* SDM vol. 3 "Full-Width Writes to Performance Counter Registers". */
static unsigned full_width_count(const struct profile *p)
{
    return p->pmu.full_width ? general_count(p) : 0;
}

static unsigned fixed_range(const struct profile *p)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (fixed_exists(p, i))
            n = i + 1;
    return n;
}

static unsigned capabilities_count(const struct profile *p)
{
    return p->pmu.has_capabilities;
}

static unsigned metrics_count(const struct profile *p)
{
    return p->pmu.metrics;
}

static unsigned offcore_count(const struct profile *p)
{
    return p->pmu.offcore_rsp;
}

static unsigned ds_count(const struct profile *p)
{
    return has_ds(p);
}

static unsigned pebs_count(const struct profile *p)
{
    return p->pmu.pebs_counters != 0;
}

static unsigned ld_lat_count(const struct profile *p)
{
    return p->pmu.pebs_counters != 0 && p->pmu.pebs_load_latency;
}

static unsigned data_cfg_count(const struct profile *p)
{
    return has_extended_pebs(p);
}

static unsigned lbr_any(const struct profile *p)
{
    return p->pmu.lbr_depth != 0;
}

static unsigned lbr_select_count(const struct profile *p)
{
    return p->pmu.lbr_depth && p->pmu.lbr_select;
}

static unsigned lbr_nehalem_count(const struct profile *p)
{
    return p->pmu.lbr_core2_addresses ? 0 : p->pmu.lbr_depth;
}

static unsigned lbr_core2_count(const struct profile *p)
{
    return p->pmu.lbr_core2_addresses ? p->pmu.lbr_depth : 0;
}

static unsigned lbr_info_count(const struct profile *p)
{
    return p->pmu.lbr_info ? p->pmu.lbr_depth : 0;
}

/* ---- Counters ---- */

static bool read_pmc(struct pmu *pmu, unsigned i, uint64_t *value)
{
    counters_sync(pmu);
    *value = pmu->general[i].value;
    return true;
}

static void set_counter(struct pmu *pmu, struct counter *c, uint64_t value)
{
    counters_sync(pmu);
    c->value = value;
    counters_reschedule(pmu);
}

/* SDM vol. 3 "Full-Width Writes to Performance Counter Registers": a write by the old address
 * takes the low 32 bits and sign-extends bit 31 to the counter's width. */
static bool write_pmc(struct pmu *pmu, unsigned i, uint64_t value)
{
    uint64_t extended = (uint64_t)(int64_t)(int32_t)value;
    set_counter(pmu, &pmu->general[i], extended & bits(pmu->profile->pmu.general_width));
    return true;
}

static bool write_a_pmc(struct pmu *pmu, unsigned i, uint64_t value)
{
    if (value & ~bits(pmu->profile->pmu.general_width))
        return false;
    set_counter(pmu, &pmu->general[i], value);
    return true;
}

static bool read_fixed(struct pmu *pmu, unsigned i, uint64_t *value)
{
    if (!fixed_exists(pmu->profile, i))
        return false;
    counters_sync(pmu);
    *value = pmu->fixed[i].value;
    return true;
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 2": "Bits beyond the width of the
 * fixed-function counter are reserved and must be written as zeros". */
static bool write_fixed(struct pmu *pmu, unsigned i, uint64_t value)
{
    if (!fixed_exists(pmu->profile, i) || (value & ~bits(pmu->profile->pmu.fixed_width)))
        return false;
    set_counter(pmu, &pmu->fixed[i], value);
    return true;
}

/* ---- Control and status ---- */

static bool read_perfevtsel(struct pmu *pmu, unsigned i, uint64_t *value)
{
    *value = pmu->perfevtsel[i];
    return true;
}

/* A control register's write: #GP for a bit that it lacks, else counters go on under the new
 * rule from this moment. */
static bool write_control(struct pmu *pmu, uint64_t *reg, uint64_t mask, uint64_t value)
{
    if (value & ~mask)
        return false;
    counters_sync(pmu);
    *reg = value;
    counters_configure(pmu);
    return true;
}

static bool write_perfevtsel(struct pmu *pmu, unsigned i, uint64_t value)
{
    return write_control(pmu, &pmu->perfevtsel[i], perfevtsel_mask(pmu->profile), value);
}

static bool read_fixed_ctr_ctrl(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->fixed_ctr_ctrl;
    return true;
}

static bool write_fixed_ctr_ctrl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return write_control(pmu, &pmu->fixed_ctr_ctrl, fixed_ctr_ctrl_mask(pmu->profile), value);
}

static bool read_global_ctrl(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->global_ctrl;
    return true;
}

static bool write_global_ctrl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return write_control(pmu, &pmu->global_ctrl, global_ctrl_mask(pmu->profile), value);
}

static bool read_global_status(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    counters_sync(pmu);
    *value = pmu->global_status;
    return true;
}

/* SDM vol. 3 "IA32_PERF_GLOBAL_OVF_CTRL" / "IA32_PERF_GLOBAL_STATUS_RESET": ones clear; reads give
 * 0. Clearing CTR_FRZ or LBR_FRZ thaws. */
static bool read_global_reset(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)pmu;
    (void)i;
    *value = 0;
    return true;
}

static bool write_global_reset(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value & ~global_reset_mask(pmu->profile))
        return false;
    counters_sync(pmu);
    pmu->global_status &= ~value;
    counters_configure(pmu);
    return true;
}

/* SDM vol. 3 "IA32_PERF_GLOBAL_STATUS_SET": ones set the bits, without a PMI. */
static bool write_global_set(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value & ~global_set_mask(pmu->profile))
        return false;
    counters_sync(pmu);
    pmu->global_status |= value;
    counters_configure(pmu);
    return true;
}

/* SDM vol. 3 "IA32_PERF_GLOBAL_INUSE": a general counter is in use while its event select field is
 * not 0, a fixed one while its enable field is not 0, the PMI while any counter or PEBS may raise
 * one. */
static bool read_global_inuse(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    uint64_t used = 0;
    bool pmi = pmu->pebs_enable != 0;
    for (unsigned n = 0; n < general_count(pmu->profile); n++) {
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
    *value = used | (pmi ? GLOBAL_INUSE_PMI : 0);
    return true;
}

/* ---- Capabilities and switches ---- */

static bool read_capabilities(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->profile->pmu.capabilities;
    return true;
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_MISC_ENABLE: bits 7, 11 and 12 are read-only; writes
 * leave them as they are. */
#define MISC_ENABLE_READ_ONLY                                                                      \
    (MISC_ENABLE_PMU_AVAILABLE | MISC_ENABLE_BTS_UNAVAILABLE | MISC_ENABLE_PEBS_UNAVAILABLE)

static bool read_misc_enable(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->misc_enable;
    return true;
}

static bool write_misc_enable(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    pmu->misc_enable =
        (value & ~MISC_ENABLE_READ_ONLY) | (pmu->misc_enable & MISC_ENABLE_READ_ONLY);
    return true;
}

static bool read_debugctl(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->debugctl;
    return true;
}

static bool write_debugctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value & ~debugctl_mask(pmu->profile))
        return false;
    pmu->debugctl = value;
    pmu_attend(pmu);
    cpu_attend(pmu->cpu, ATTN_STEP); /* BTF changes what TF means */
    return true;
}

/* MSR_OFFCORE_RSP_x selects what the off-core response events count; the model has no such event,
 * but keeps what is written. SDM vol. 3 "Off-core Response Performance Monitoring". */
static bool read_offcore(struct pmu *pmu, unsigned i, uint64_t *value)
{
    *value = pmu->offcore_rsp[i];
    return true;
}

static bool write_offcore(struct pmu *pmu, unsigned i, uint64_t value)
{
    pmu->offcore_rsp[i] = value;
    return true;
}

static bool read_metrics(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = metrics_read(pmu);
    return true;
}

/* SDM vol. 3 "Ice Lake Performance Monitoring", PERF_METRICS: software writes 0 to restart it. */
static bool write_metrics(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value)
        return false;
    metrics_restart(pmu);
    return true;
}

/* ---- Debug store and PEBS ---- */

static bool read_ds_area(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->ds_area;
    return true;
}

static bool write_ds_area(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (!canonical(value))
        return false;
    pmu->ds_area = value;
    return true;
}

static bool read_pebs_enable(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->pebs_enable;
    return true;
}

static bool write_pebs_enable(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (!write_control(pmu, &pmu->pebs_enable, pebs_enable_mask(pmu->profile), value))
        return false;
    pmu->pebs_armed &= value;
    pmu_attend(pmu);
    return true;
}

/* SDM vol. 3 "Load Latency Performance Monitoring Facility": a threshold in bits 15:0. */
static bool read_ld_lat(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->pebs_ld_lat;
    return true;
}

static bool write_ld_lat(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    return write_control(pmu, &pmu->pebs_ld_lat, bits(16), value);
}

/* SDM vol. 3 "MSR_PEBS_DATA_CFG". */
static bool read_data_cfg(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->pebs_data_cfg;
    return true;
}

static bool write_data_cfg(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value & ~(PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_XMMS |
                  PEBS_DATA_CFG_LBRS | PEBS_DATA_CFG_LBR_ENTRIES))
        return false;
    pmu->pebs_data_cfg = value;
    return true;
}

/* ---- Last branch records ---- */

static bool read_lbr_from(struct pmu *pmu, unsigned i, uint64_t *value)
{
    *value = pmu->lbr[i].from;
    return true;
}

static bool read_lbr_to(struct pmu *pmu, unsigned i, uint64_t *value)
{
    *value = pmu->lbr[i].to;
    return true;
}

static bool read_lbr_info(struct pmu *pmu, unsigned i, uint64_t *value)
{
    *value = pmu->lbr[i].info;
    return true;
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
    if (!canonical(value))
        return false;
    pmu->lbr[i].to = value;
    return true;
}

static bool write_lbr_info(struct pmu *pmu, unsigned i, uint64_t value)
{
    pmu->lbr[i].info = value;
    return true;
}

static bool read_lbr_tos(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->lbr_tos;
    return true;
}

static bool write_lbr_tos(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value >= pmu->profile->pmu.lbr_depth)
        return false;
    pmu->lbr_tos = value;
    return true;
}

static bool read_lbr_select(struct pmu *pmu, unsigned i, uint64_t *value)
{
    (void)i;
    *value = pmu->lbr_select;
    return true;
}

static bool write_lbr_select(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    if (value & ~lbr_select_mask(pmu->profile))
        return false;
    pmu->lbr_select = value;
    return true;
}

static bool read_ler(struct pmu *pmu, unsigned i, uint64_t *value)
{
    *value = i == 0 ? pmu->ler_from : pmu->ler_to;
    return true;
}

static unsigned ler_count(const struct profile *p)
{
    return p->pmu.lbr_depth ? 2 : 0;
}

/* ---- The table ---- */

static const struct msr_rule rules[] = {
    {MSR_IA32_PMC0, PMU_MAX_GENERAL, general_count, read_pmc, write_pmc},
    {MSR_IA32_A_PMC0, PMU_MAX_GENERAL, full_width_count, read_pmc, write_a_pmc},
    {MSR_IA32_PERFEVTSEL0, PMU_MAX_GENERAL, general_count, read_perfevtsel, write_perfevtsel},
    {MSR_IA32_FIXED_CTR0, PROFILE_MAX_FIXED, fixed_range, read_fixed, write_fixed},
    {MSR_IA32_FIXED_CTR_CTRL, 1, from_v2, read_fixed_ctr_ctrl, write_fixed_ctr_ctrl},
    {MSR_IA32_PERF_GLOBAL_STATUS, 1, from_v2, read_global_status, NULL},
    {MSR_IA32_PERF_GLOBAL_CTRL, 1, from_v2, read_global_ctrl, write_global_ctrl},
    {MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1, from_v2, read_global_reset, write_global_reset},
    {MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, from_v4, read_global_reset, write_global_set},
    {MSR_IA32_PERF_GLOBAL_INUSE, 1, from_v4, read_global_inuse, NULL},
    {MSR_IA32_PERF_CAPABILITIES, 1, capabilities_count, read_capabilities, NULL},
    {MSR_IA32_MISC_ENABLE, 1, always, read_misc_enable, write_misc_enable},
    {MSR_IA32_DEBUGCTL, 1, always, read_debugctl, write_debugctl},
    {MSR_PERF_METRICS, 1, metrics_count, read_metrics, write_metrics},
    {MSR_OFFCORE_RSP_0, 2, offcore_count, read_offcore, write_offcore},
    {MSR_IA32_DS_AREA, 1, ds_count, read_ds_area, write_ds_area},
    {MSR_IA32_PEBS_ENABLE, 1, pebs_count, read_pebs_enable, write_pebs_enable},
    {MSR_PEBS_DATA_CFG, 1, data_cfg_count, read_data_cfg, write_data_cfg},
    {MSR_PEBS_LD_LAT_THRESHOLD, 1, ld_lat_count, read_ld_lat, write_ld_lat},
    {MSR_LBR_SELECT, 1, lbr_select_count, read_lbr_select, write_lbr_select},
    {MSR_LASTBRANCH_TOS, 1, lbr_any, read_lbr_tos, write_lbr_tos},
    {MSR_LER_FROM_LIP, 2, ler_count, read_ler, NULL},
    {MSR_LASTBRANCH_0_FROM_IP, PMU_MAX_LBR, lbr_nehalem_count, read_lbr_from, write_lbr_from},
    {MSR_LASTBRANCH_0_TO_IP, PMU_MAX_LBR, lbr_nehalem_count, read_lbr_to, write_lbr_to},
    {MSR_LASTBRANCH_0_FROM_CORE2, 8, lbr_core2_count, read_lbr_from, write_lbr_from},
    {MSR_LASTBRANCH_0_TO_CORE2, 8, lbr_core2_count, read_lbr_to, write_lbr_to},
    {MSR_LBR_INFO_0, PMU_MAX_LBR, lbr_info_count, read_lbr_info, write_lbr_info},
};

static const struct msr_rule *find_rule(uint32_t msr)
{
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (msr - rules[i].first < rules[i].range)
            return &rules[i];
    return NULL;
}

/* The rule when the profile has the MSR. */
static const struct msr_rule *find_existing(const struct pmu *pmu, uint32_t msr)
{
    const struct msr_rule *r = find_rule(msr);
    return r && msr - r->first < r->count(pmu->profile) ? r : NULL;
}

bool pmu_owns_msr(const struct pmu *pmu, uint32_t msr)
{
    (void)pmu;
    return find_rule(msr) != NULL;
}

bool pmu_rdmsr(struct pmu *pmu, uint32_t msr, uint64_t *value)
{
    const struct msr_rule *r = find_existing(pmu, msr);
    return r && r->read(pmu, msr - r->first, value);
}

bool pmu_wrmsr(struct pmu *pmu, uint32_t msr, uint64_t value)
{
    const struct msr_rule *r = find_existing(pmu, msr);
    return r && r->write && r->write(pmu, msr - r->first, value);
}

/* SDM vol. 2 "RDPMC": ECX[31:16] is the type (0 general, 4000H fixed, 2000H performance metrics),
 * ECX[15:0] the index; an unsupported encoding is #GP. A processor without architectural
 * performance monitoring (version 0) has no counters here. */
bool pmu_rdpmc(struct pmu *pmu, uint32_t selector, uint64_t *value)
{
    const struct profile *p = pmu->profile;
    unsigned index = selector & 0xffff;
    switch (selector & ~0xffffU) {
    case 0:
        return index < general_count(p) && read_pmc(pmu, index, value);
    case RDPMC_FIXED:
        return read_fixed(pmu, index, value);
    case RDPMC_METRICS:
        return p->pmu.metrics && index == 0 && read_metrics(pmu, 0, value);
    default:
        return false;
    }
}
