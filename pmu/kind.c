/* The kinds of PMU, one row each. Intel's: SDM vol. 3 "Architectural Performance Monitoring" and
 * its sections "... Version 1" to "... Version 6"; vol. 4 "IA-32 Architectural MSRs" for addresses.
 * AMD's: APM vol. 2 "Performance Monitoring Counters", appendix A "MSR Cross-Reference". */
#include "pmu/kind.h"

#include "x86/amd.h"
#include "x86/events.h"
#include "x86/msr.h"
#include "x86/pmu.h"

/* What a version adds to those before it. */

/* Counters and selects. A write takes 32 bits and extends the sign ("Full-Width Writes to
 * Performance Counter Registers"). */
#define GENERAL                                                                                    \
    .events = pmu_events, .counters = {MSR_IA32_PMC0, 1}, .selects = {MSR_IA32_PERFEVTSEL0, 1},    \
    .written_bits = 32, .full_width = {MSR_IA32_A_PMC0, 1}, .lvt_masked = true,                    \
    .debug_store = true

/* Version 2: fixed counters, the register that enables all, the status, the freeze. */
#define GLOBAL                                                                                     \
    .fixed = {MSR_IA32_FIXED_CTR0, 1}, .fixed_ctrl = MSR_IA32_FIXED_CTR_CTRL,                      \
    .enable = MSR_IA32_PERF_GLOBAL_CTRL, .status = MSR_IA32_PERF_GLOBAL_STATUS,                    \
    .status_clear = MSR_IA32_PERF_GLOBAL_OVF_CTRL, .freeze = DEBUGCTL_FREEZE_PERFMON_ON_PMI

/* Version 4: the freeze is a bit of the status, which can be set too; who uses the counters can be
 * asked. */
#define STREAMLINED                                                                                \
    .in_use = MSR_IA32_PERF_GLOBAL_INUSE, .frozen = GLOBAL_STATUS_CTR_FRZ,                         \
    .status_set = MSR_IA32_PERF_GLOBAL_STATUS_SET

/* Version 6: each counter has addresses of its own. */
#define OWN                                                                                        \
    .own_general = {.counters = {MSR_IA32_PMC_GP0_CTR, MSR_IA32_PMC_STRIDE},                       \
                    .selects = {MSR_IA32_PMC_GP0_CFG_A, MSR_IA32_PMC_STRIDE},                      \
                    .reload_causes = {MSR_IA32_PMC_GP0_CFG_B, MSR_IA32_PMC_STRIDE},                \
                    .reload_values = {MSR_IA32_PMC_GP0_CFG_C, MSR_IA32_PMC_STRIDE}},               \
    .own_fixed = {.counters = {MSR_IA32_PMC_FX0_CTR, MSR_IA32_PMC_STRIDE},                         \
                  .reload_causes = {MSR_IA32_PMC_FX0_CFG_B, MSR_IA32_PMC_STRIDE},                  \
                  .reload_values = {MSR_IA32_PMC_FX0_CFG_C, MSR_IA32_PMC_STRIDE}}

#define STATUS_2 (GLOBAL_STATUS_OVF_BUF | GLOBAL_STATUS_COND_CHGD)
#define STATUS_3 (STATUS_2 | GLOBAL_STATUS_OVF_UNCORE)
#define STATUS_4                                                                                   \
    (STATUS_3 | GLOBAL_STATUS_TRACE_TOPA_PMI | GLOBAL_STATUS_LBR_FRZ | GLOBAL_STATUS_CTR_FRZ |     \
     GLOBAL_STATUS_ASCI)

/* clang-format off */
static const struct pmu_kind architectural[PMU_VERSION_KNOWN + 1] = {
    [0] = {.events = pmu_events},
    [1] = {GENERAL, .enable_bit = PERFEVTSEL_EN},
    [2] = {GENERAL, GLOBAL, .status_other = STATUS_2, .fixed_may_be_3 = true},
    [3] = {GENERAL, GLOBAL, .status_other = STATUS_3},
    [4] = {GENERAL, GLOBAL, .status_other = STATUS_4, STREAMLINED},
    [5] = {GENERAL, GLOBAL, .status_other = STATUS_4, STREAMLINED, .fixed_bitmap = true},
    [6] = {GENERAL, GLOBAL, .status_other = STATUS_4, STREAMLINED, .fixed_bitmap = true, OWN},
};

/* Every implementation is 48 bits wide, and a write takes all of them (Linux,
 * arch/x86/events/amd/core.c, struct amd_pmu; K7's guide: a value in 64 bits, sign-extended). */
#define AMD(title, letters)                                                                        \
    .name = (title), .code = (letters), .vendor = DECODE_AMD, .events = amd_events,                \
    .written_bits = AMD_COUNTER_WIDTH

#define CORE                                                                                       \
    .counters = {MSR_AMD_PERF_CTR0, AMD_PERF_STRIDE}, .selects = {MSR_AMD_PERF_CTL0, AMD_PERF_STRIDE}

/* PerfMonV2 has its freeze as version 4 has. */
static const struct pmu_kind amd[PMU_AMD_KINDS] = {
    [PMU_AMD_LEGACY] = {AMD("AMD legacy counters", "AMDL"), .counters = {MSR_AMD_PERF_LEGACY_CTR0, 1},
                        .selects = {MSR_AMD_PERF_EVT_SEL0, 1}, .enable_bit = PERFEVTSEL_EN},
    [PMU_AMD_EXTENDED] = {AMD("AMD core counters", "AMDX"), CORE, .enable_bit = PERFEVTSEL_EN},
    [PMU_AMD_PERFMON_V2] = {AMD("AMD PerfMonV2", "AMD2"), CORE,
                            .enable = MSR_AMD_PERF_CNTR_GLOBAL_CTL,
                            .status = MSR_AMD_PERF_CNTR_GLOBAL_STATUS,
                            .status_clear = MSR_AMD_PERF_CNTR_GLOBAL_STATUS_CLR,
                            .status_set = MSR_AMD_PERF_CNTR_GLOBAL_STATUS_SET,
                            .status_other = AMD_GLOBAL_STATUS_LBRSF | AMD_GLOBAL_STATUS_PMCF,
                            .freeze = AMD_DEBUGCTL_FPMCI, .frozen = AMD_GLOBAL_STATUS_PMCF},
};
/* clang-format on */

const struct pmu_kind *pmu_kind_of_amd(enum pmu_amd_kind kind)
{
    return &amd[kind];
}

const struct pmu_kind *pmu_kind_of_version(unsigned version)
{
    return &architectural[version <= PMU_VERSION_KNOWN ? version : PMU_VERSION_KNOWN];
}
