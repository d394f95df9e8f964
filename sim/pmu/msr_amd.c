/*
 * AMD's registers of the PMU. AMD64 Architecture Programmer's Manual (APM) vol. 2 "Performance
 * Monitoring Counters" and appendix A "MSR Cross-Reference". A number that the processor lacks is
 * #GP, and so is a bit that must be zero (MBZ); bits that read as zero (RAZ) drop what is written.
 */
#include "sim/pmu/internal.h"
#include "x86/amd.h"
#include "x86/msr.h"
#include "x86/pmu.h"

/* ---- Which exist ---- */

static bool is_legacy(const struct pmu *pmu, unsigned i)
{
    return i < AMD_LEGACY_COUNTERS && has_general(pmu, i);
}

static bool is_extended(const struct pmu *pmu, unsigned i)
{
    return pmu->kind->extended && has_general(pmu, i);
}

static bool has_global(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->kind->status;
}

/* ---- What they take ---- */

static uint64_t any_value(const struct pmu *pmu)
{
    (void)pmu;
    return UINT64_MAX;
}

/* APM vol. 2 "Debug-Control MSR (DebugCtl)": bits 6:3 must be zero; of the rest those that are not
 * there read as zero. The families before 17H have pin control in bits 5:2. */
#define DEBUGCTL_PINS ARCH_U64(0x3c)
#define DEBUGCTL_MBZ  ARCH_U64(0x78)

static uint64_t debugctl_takes(const struct pmu *pmu)
{
    return pmu->kind->extended ? ~DEBUGCTL_MBZ : UINT64_MAX;
}

static bool has_freeze(const struct pmu *pmu)
{
    return cpuid_word(pmu, 0x80000022, CPUID_EAX) & CPUID_80000022_EAX_LBR_PMC_FREEZE;
}

static uint64_t debugctl_bits(const struct pmu *pmu)
{
    return DEBUGCTL_LBR | DEBUGCTL_BTF | (pmu->kind->extended ? 0 : DEBUGCTL_PINS) |
           (has_freeze(pmu) ? AMD_DEBUGCTL_FPMCI : 0) |
           (has_freeze(pmu) && has_amd_lbr_stack(pmu, 0) ? AMD_DEBUGCTL_FLBRI : 0);
}

/* ---- Counters ---- */

/* APM vol. 2 "Core Performance Event-Select Registers". What is reserved reads as zero. */
static uint64_t select_bits(const struct pmu *pmu, unsigned i)
{
    const uint64_t all = PERFEVTSEL_EVENT | PERFEVTSEL_UMASK | PERFEVTSEL_USR | PERFEVTSEL_OS |
                         PERFEVTSEL_E | PERFEVTSEL_INT | PERFEVTSEL_EN | PERFEVTSEL_INV |
                         PERFEVTSEL_CMASK;
    bool precise = i == 2 && (cpuid_word(pmu, 0x80000021, CPUID_EAX) & CPUID_80000021_EAX_PREC_RET);
    return all | (pmu->profile->pmu.pin_control ? PERFEVTSEL_PC : 0) | pmu->kind->event_high |
           (pmu->kind->extended ? AMD_PERF_CTL_GUEST_ONLY | AMD_PERF_CTL_HOST_ONLY : 0) |
           (precise ? AMD_PERF_CTL_PREC_RET : 0);
}

static bool write_select(struct pmu *pmu, unsigned i, uint64_t value)
{
    counters_sync(pmu);
    pmu->perfevtsel[i] = value & select_bits(pmu, i);
    counters_configure(pmu);
    return true;
}

static bool write_counter(struct pmu *pmu, unsigned i, uint64_t value)
{
    return set_counter(pmu, &pmu->general[i], value & bits(pmu->profile->pmu.general_width));
}

/* ---- PerfMonV2 ---- */

static bool write_global_ctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    counters_sync(pmu);
    pmu->global_ctrl = value & pmu->counters;
    counters_configure(pmu);
    return true;
}

static uint64_t status_bits(const struct pmu *pmu)
{
    return pmu->counters | pmu->kind->status_bits;
}

static uint64_t read_status(struct pmu *pmu, unsigned i)
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

/* APM vol. 2 "PerfCntrGlobalStatusClr", "PerfCntrGlobalStatusSet": ones clear and set; a set
 * overflow bit asks for no interrupt, the two of the freeze freeze. */
static bool write_status_clr(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    counters_sync(pmu);
    pmu->global_status &= ~value;
    counters_configure(pmu);
    return true;
}

static bool write_status_set(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    counters_sync(pmu);
    pmu->global_status |= value & status_bits(pmu);
    counters_configure(pmu);
    return true;
}

static bool write_debugctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    pmu->debugctl = value & debugctl_bits(pmu);
    pmu_attend(pmu);
    cpu_attend(pmu->cpu, ATTN_STEP); /* BTF changes what TF means */
    return true;
}

/* ---- The counter of retired instructions ---- */

static bool has_irperf(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return cpuid_word(pmu, 0x80000008, CPUID_EBX) & CPUID_80000008_EBX_IRPERF;
}

static uint64_t all_retired(const struct pmu *pmu)
{
    return cpu_total(pmu->cpu, 0, EV_INSN) + cpu_total(pmu->cpu, 1, EV_INSN);
}

/* APM vol. 2 "Instructions Retired Performance Counter": always counting while HWCR[30] is set, of
 * 64 bits, without an interrupt. That it can be written is not said. */
static uint64_t read_irperf(struct pmu *pmu, unsigned i)
{
    (void)i;
    return pmu->retired.value + (pmu->retired.on ? all_retired(pmu) - pmu->retired.since : 0);
}

void pmu_count_retired(struct pmu *pmu, bool on)
{
    pmu->retired.value = read_irperf(pmu, 0);
    pmu->retired.since = all_retired(pmu);
    pmu->retired.on = on;
}

/* ---- The tables ---- */

#define KEPT(field) .value = offsetof(struct pmu, field)

// clang-format off
const struct msr_rule amd_msrs[] = {
    /* The first four by the old address are the same registers. */
    {MSR_AMD_PERF_EVT_SEL0,    1, AMD_LEGACY_COUNTERS, is_legacy, KEPT(perfevtsel), .takes = any_value, .write = write_select},
    {MSR_AMD_PERF_LEGACY_CTR0, 1, AMD_LEGACY_COUNTERS, is_legacy, .read = read_pmc, .takes = any_value, .write = write_counter},
    {MSR_AMD_PERF_CTL0, AMD_PERF_STRIDE, AMD_CORE_COUNTERS, is_extended, KEPT(perfevtsel), .takes = any_value, .write = write_select},
    {MSR_AMD_PERF_CTR0, AMD_PERF_STRIDE, AMD_CORE_COUNTERS, is_extended, .read = read_pmc, .takes = any_value, .write = write_counter},
    {MSR_AMD_PERF_CNTR_GLOBAL_STATUS,     1, 1, has_global, .read = read_status},
    {MSR_AMD_PERF_CNTR_GLOBAL_CTL,        1, 1, has_global, KEPT(global_ctrl), .takes = any_value, .write = write_global_ctl},
    {MSR_AMD_PERF_CNTR_GLOBAL_STATUS_CLR, 1, 1, has_global, .read = read_zero, .takes = any_value, .write = write_status_clr},
    {MSR_AMD_PERF_CNTR_GLOBAL_STATUS_SET, 1, 1, has_global, .read = read_zero, .takes = any_value, .write = write_status_set},
    {MSR_AMD_IRPERF,                      1, 1, has_irperf, .read = read_irperf},
    {MSR_IA32_DEBUGCTL,                   1, 1, always,     KEPT(debugctl), .takes = debugctl_takes, .write = write_debugctl},
    /* Of branches, lbr_amd.c. */
    {MSR_AMD_LAST_BRANCH_FROM_IP, 1, 1, always, KEPT(last.from)},
    {MSR_AMD_LAST_BRANCH_TO_IP,   1, 1, always, KEPT(last.to)},
    {MSR_AMD_LAST_INT_FROM_IP,    1, 1, always, KEPT(ler.from)},
    {MSR_AMD_LAST_INT_TO_IP,      1, 1, always, KEPT(ler.to)},
    {MSR_AMD_LBR_SELECT,          1, 1, has_amd_lbr_stack, KEPT(lbr_select), .takes = amd_lbr_select_mask},
    {MSR_AMD_DBG_EXTN_CFG,        1, 1, has_amd_lbr_stack, KEPT(dbg_extn_cfg), .takes = amd_dbg_extn_cfg_mask, .write = amd_lbr_write_cfg},
    {MSR_AMD_LBR_STACK_FROM0, AMD_LBR_STRIDE, PMU_MAX_LBR, has_amd_lbr_stack, .read = amd_lbr_read_from, .takes = any_value, .write = amd_lbr_write_from},
    {MSR_AMD_LBR_STACK_TO0,   AMD_LBR_STRIDE, PMU_MAX_LBR, has_amd_lbr_stack, .read = amd_lbr_read_to, .takes = any_value, .write = amd_lbr_write_to},
    /* IBS, ibs.c. */
    {MSR_AMD_IBS_FETCH_CTL,      1, 1, has_ibs_fetch,      .read = ibs_read_fetch_ctl, .takes = any_value, .write = ibs_write_fetch_ctl},
    {MSR_AMD_IBS_FETCH_LIN_AD,   1, 1, has_ibs_fetch,      KEPT(ibs.fetch_lin_ad)},
    {MSR_AMD_IBS_FETCH_PHYS_AD,  1, 1, has_ibs_fetch,      KEPT(ibs.fetch_phys_ad)},
    {MSR_AMD_IBS_OP_CTL,         1, 1, has_ibs_op,         .read = ibs_read_op_ctl, .takes = any_value, .write = ibs_write_op_ctl},
    {MSR_AMD_IBS_OP_RIP,         1, 1, has_ibs_op,         KEPT(ibs.op_rip), .takes = any_value},
    {MSR_AMD_IBS_OP_DATA,        1, 1, has_ibs_op,         KEPT(ibs.op_data), .takes = any_value},
    {MSR_AMD_IBS_OP_DATA2,       1, 1, has_ibs_op,         KEPT(ibs.op_data2), .takes = any_value},
    {MSR_AMD_IBS_OP_DATA3,       1, 1, has_ibs_op,         KEPT(ibs.op_data3), .takes = any_value},
    {MSR_AMD_IBS_DC_LIN_AD,      1, 1, has_ibs_op,         KEPT(ibs.dc_lin_ad), .takes = any_value},
    {MSR_AMD_IBS_DC_PHYS_AD,     1, 1, has_ibs_op,         KEPT(ibs.dc_phys_ad), .takes = any_value},
    {MSR_AMD_IBS_CTL,            1, 1, has_ibs,            .read = ibs_read_ctl},
    {MSR_AMD_IBS_BR_TARGET,      1, 1, has_ibs_br_target,  KEPT(ibs.br_target), .takes = any_value},
    {MSR_AMD_IBS_FETCH_CTL_EXTD, 1, 1, has_ibs_fetch_extd, KEPT(ibs.fetch_ctl_extd)},
    {.most = 0},
};

/* APM vol. 3 "RDPMC": ECX is the counter's number; those of the northbridge and of the L3 cache
 * would come behind, which no profile has. */
const struct rdpmc_rule amd_rdpmc[] = {
    {0, PMU_MAX_GENERAL, has_general, read_pmc},
    {.most = 0},
};
// clang-format on
