/* The kinds of PMU that the profiles name. SDM vol. 3 "Architectural Performance Monitoring" and
 * its sections "Version 1" to "Version 6". */
#include "sim/pmu/kind.h"

#include "sim/pmu/internal.h"
#include "sim/profile.h"
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

const struct pmu_kind *pmu_kind(const struct profile *p)
{
    return &architectural[p->pmu.version];
}

const struct lbr_kind *lbr_kind(const struct profile *p)
{
    return p->pmu.lbr_format == LBR_FMT_ARCHITECTURAL ? &lbr_architectural : &lbr_model_specific;
}
