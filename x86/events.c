/* Names of the architectural events. Pure: no hardware, so the host tests compile it. */
#include "x86/events.h"

#include "x86/amd.h"
#include "x86/pmu.h"

#include <stddef.h>

/* clang-format off */
const struct pmu_event pmu_events[PMU_N_EVENTS] = {
    [PMU_EVENT_CORE_CYCLES] =
        {"CPU_CLK_UNHALTED.THREAD_P",    EVENT_CPU_CLK_UNHALTED_THREAD_P,     1},
    [PMU_EVENT_INSTRUCTIONS] =
        {"INST_RETIRED.ANY_P",           EVENT_INST_RETIRED_ANY_P,            1},
    [PMU_EVENT_REF_CYCLES] =
        {"CPU_CLK_UNHALTED.REF_P",       EVENT_CPU_CLK_UNHALTED_REF_P,        1},
    [PMU_EVENT_LLC_REFERENCES] =
        {"LONGEST_LAT_CACHE.REFERENCE",  EVENT_LONGEST_LAT_CACHE_REFERENCE,   1},
    [PMU_EVENT_LLC_MISSES] =
        {"LONGEST_LAT_CACHE.MISS",       EVENT_LONGEST_LAT_CACHE_MISS,        1},
    [PMU_EVENT_BRANCHES] =
        {"BR_INST_RETIRED.ALL_BRANCHES", EVENT_BR_INST_RETIRED_ALL_BRANCHES,  1},
    [PMU_EVENT_MISPREDICTS] =
        {"BR_MISP_RETIRED.ALL_BRANCHES", EVENT_BR_MISP_RETIRED_ALL_BRANCHES,  1},
    [PMU_EVENT_SLOTS] =
        {"TOPDOWN.SLOTS_P",              EVENT_TOPDOWN_SLOTS_P,               5},
    [PMU_EVENT_BACKEND_BOUND] =
        {"TOPDOWN_BE_BOUND.ALL_P",       EVENT_TOPDOWN_BE_BOUND_ALL_P,        6},
    [PMU_EVENT_BAD_SPECULATION] =
        {"TOPDOWN_BAD_SPECULATION.ALL_P", EVENT_TOPDOWN_BAD_SPECULATION_ALL_P, 6},
    [PMU_EVENT_FRONTEND_BOUND] =
        {"TOPDOWN_FE_BOUND.ALL_P",       EVENT_TOPDOWN_FE_BOUND_ALL_P,        6},
    [PMU_EVENT_RETIRING] =
        {"TOPDOWN_RETIRING.ALL_P",       EVENT_TOPDOWN_RETIRING_ALL_P,        6},
    [PMU_EVENT_LBR_INSERTS] =
        {"MISC_RETIRED.LBR_INSERTS",     EVENT_MISC_RETIRED_LBR_INSERTS,      6},
};

const struct pmu_event amd_events[PMU_N_EVENTS] = {
    [PMU_EVENT_CORE_CYCLES] =
        {"CYCLES_NOT_IN_HALT",              AMD_EVENT_CYCLES_NOT_IN_HALT,            0},
    [PMU_EVENT_INSTRUCTIONS] =
        {"RETIRED_INSTRUCTIONS",            AMD_EVENT_RETIRED_INSTRUCTIONS,          0},
    [PMU_EVENT_REF_CYCLES] =
        {"CYCLES_NOT_IN_HALT_P0",           AMD_EVENT_P0_CYCLES_NOT_IN_HALT,         2},
    [PMU_EVENT_BRANCHES] =
        {"RETIRED_BRANCHES",                AMD_EVENT_RETIRED_BRANCHES,              0},
    [PMU_EVENT_MISPREDICTS] =
        {"RETIRED_BRANCHES_MISPREDICTED",   AMD_EVENT_RETIRED_BRANCHES_MISPREDICTED, 0},
};
/* clang-format on */

/* SDM vol. 3 "Fixed-Function Performance Counters". */
static const char *const fixed_events[] = {
    "INST_RETIRED.ANY",    "CPU_CLK_UNHALTED.THREAD",     "CPU_CLK_UNHALTED.REF_TSC",
    "TOPDOWN.SLOTS",       "TOPDOWN_BAD_SPECULATION.ALL", "TOPDOWN_FE_BOUND.ALL",
    "TOPDOWN_RETIRING.ALL"};

const char *pmu_fixed_event_name(unsigned counter)
{
    return counter < sizeof(fixed_events) / sizeof(fixed_events[0]) ? fixed_events[counter] : NULL;
}

unsigned amd_event_select(uint64_t select)
{
    return (unsigned)(select & PERFEVTSEL_EVENT) |
           (unsigned)((select & AMD_PERF_CTL_EVENT_HIGH) >> AMD_PERF_CTL_EVENT_HIGH_SHIFT) << 8;
}

/* Those that are the same in all families that have them. */
static const struct {
    uint64_t code;
    const char *name;
} amd_names[] = {
    {AMD_EVENT_CYCLES_NOT_IN_HALT, "CYCLES_NOT_IN_HALT"},
    {AMD_EVENT_P0_CYCLES_NOT_IN_HALT, "CYCLES_NOT_IN_HALT_P0"},
    {AMD_EVENT_RETIRED_INSTRUCTIONS, "RETIRED_INSTRUCTIONS"},
    {AMD_EVENT_RETIRED_OPS, "RETIRED_OPS"},
    {AMD_EVENT_RETIRED_BRANCHES, "RETIRED_BRANCHES"},
    {AMD_EVENT_RETIRED_BRANCHES_MISPREDICTED, "RETIRED_BRANCHES_MISPREDICTED"},
    {AMD_EVENT_RETIRED_TAKEN_BRANCHES, "RETIRED_TAKEN_BRANCHES"},
    {AMD_EVENT_RETIRED_FAR_CONTROL_TRANSFERS, "RETIRED_FAR_CONTROL_TRANSFERS"},
    {AMD_EVENT_RETIRED_NEAR_RETURNS, "RETIRED_NEAR_RETURNS"},
};

const char *amd_event_name(uint64_t select)
{
    for (size_t i = 0; i < sizeof(amd_names) / sizeof(amd_names[0]); i++)
        if (amd_names[i].code ==
            (select & (PERFEVTSEL_EVENT | PERFEVTSEL_UMASK | AMD_PERF_CTL_EVENT_HIGH)))
            return amd_names[i].name;
    return NULL;
}

const char *pmu_event_name(uint64_t select, unsigned version)
{
    for (unsigned i = 0; i < PMU_N_EVENTS; i++)
        if (version >= pmu_events[i].version &&
            pmu_events[i].code == (select & (PERFEVTSEL_EVENT | PERFEVTSEL_UMASK)))
            return pmu_events[i].name;
    return NULL;
}
