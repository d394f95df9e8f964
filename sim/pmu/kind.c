/* The kinds of PMU that the profiles name. SDM vol. 3 "Architectural Performance Monitoring" and
 * its sections "Version 1" to "Version 6"; AMD's: APM vol. 2 "Performance Monitoring Counters". */
#include "sim/pmu/kind.h"

#include "sim/pmu/internal.h"
#include "sim/profile.h"
#include "x86/amd.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_PERF_GLOBAL_OVF_CTRL and its later names: each bit
 * with the version from which it exists. */
#define STATUS_V2 (GLOBAL_STATUS_OVF_BUF | GLOBAL_STATUS_COND_CHGD)
#define STATUS_V3 (STATUS_V2 | GLOBAL_STATUS_OVF_UNCORE)
#define STATUS_V4                                                                                  \
    (STATUS_V3 | GLOBAL_STATUS_LBR_FRZ | GLOBAL_STATUS_CTR_FRZ | GLOBAL_STATUS_ASCI |              \
     GLOBAL_STATUS_TRACE_TOPA_PMI)

/* By CPUID.0AH:EAX[7:0]. Fixed counters, the global registers and the freeze come with version 2,
 * AnyThread with 3, the streamlined freeze with STATUS_SET and INUSE with 4, the bitmap of fixed
 * counters with 5, the addresses from 1900H on with 6. The mask bit of the LVT entry: SDM vol. 3
 * "Local Vector Table". */
#define INTEL .masks_lvt = true, .msrs = intel_msrs, .rdpmc = intel_rdpmc
static const struct pmu_kind architectural[] = {
    // clang-format off
    /*     general fixed  bitmap any    enable         status its others set    inuse  freeze */
    [0] = {false,  false, false, false, ENABLE_EACH,   false, 0,         false, false, FREEZE_NOTHING, INTEL},
    [1] = {true,   false, false, false, ENABLE_EACH,   false, 0,         false, false, FREEZE_NOTHING, INTEL},
    [2] = {true,   true,  false, false, ENABLE_GLOBAL, true,  STATUS_V2, false, false, FREEZE_ENABLES, INTEL},
    [3] = {true,   true,  false, true,  ENABLE_GLOBAL, true,  STATUS_V3, false, false, FREEZE_ENABLES, INTEL},
    [4] = {true,   true,  false, true,  ENABLE_GLOBAL, true,  STATUS_V4, true,  true,  FREEZE_STATUS,  INTEL},
    [5] = {true,   true,  true,  true,  ENABLE_GLOBAL, true,  STATUS_V4, true,  true,  FREEZE_STATUS,  INTEL},
    [6] = {true,   true,  true,  true,  ENABLE_GLOBAL, true,  STATUS_V4, true,  true,  FREEZE_STATUS,  INTEL, .strided = true},
    // clang-format on
};

/* APM vol. 3 "CPUID", 8000_0001H:ECX.PerfCtrExtCore and 8000_0022H:EAX.PerfMonV2 tell them apart.
 * K7 and K8 have events of eight bits: the rest of the twelve came with family 10H. */
enum amd { AMD_NONE, AMD_K8, AMD_LEGACY, AMD_EXTENDED, AMD_PERFMON_V2 };
#define AMD          .msrs = amd_msrs, .rdpmc = amd_rdpmc
#define AMD_COUNTERS AMD, .general = true
#define AMD_STATUS   (AMD_GLOBAL_STATUS_LBRSF | AMD_GLOBAL_STATUS_PMCF)
#define TWELVE_BITS  .event_high = AMD_PERF_CTL_EVENT_HIGH
static const struct pmu_kind amd[] = {
    [AMD_NONE] = {AMD},
    [AMD_K8] = {AMD_COUNTERS},
    [AMD_LEGACY] = {AMD_COUNTERS, TWELVE_BITS},
    [AMD_EXTENDED] = {AMD_COUNTERS, TWELVE_BITS, .extended = true},
    [AMD_PERFMON_V2] = {AMD_COUNTERS, TWELVE_BITS, .extended = true, .enable = ENABLE_GLOBAL,
                        .status = true, .status_bits = AMD_STATUS, .freeze = FREEZE_STATUS},
};

static enum amd amd_kind(const struct profile *p)
{
    if (p->pmu.general == 0)
        return AMD_NONE;
    if (profile_word(p, 0x80000022, CPUID_EAX) & CPUID_80000022_EAX_PERFMON_V2)
        return AMD_PERFMON_V2;
    if (profile_word(p, 0x80000001, CPUID_ECX) & CPUID_80000001_ECX_PERFCTR_CORE)
        return AMD_EXTENDED;
    bool family_10h = profile_word(p, 1, CPUID_EAX) & CPUID_1_EAX_EXTENDED_FAMILY;
    return family_10h ? AMD_LEGACY : AMD_K8;
}

const struct pmu_kind *pmu_kind(const struct profile *p)
{
    if (p->amd)
        return &amd[amd_kind(p)];
    return &architectural[p->pmu.version];
}

const struct lbr_kind *lbr_kind(const struct profile *p)
{
    if (p->amd)
        return &lbr_amd;
    return p->pmu.lbr_format == LBR_FMT_ARCHITECTURAL ? &lbr_architectural : &lbr_model_specific;
}
