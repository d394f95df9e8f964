/*
 * Errata: what some processors do against the manual, where a profile asks for it. Public texts say
 * when it happens and how it is avoided, seldom what exactly happens; what is a guess is said so.
 */
#include "sim/pmu/internal.h"

/* ---- Nehalem, Westmere: AAK100, AAP53, BD53 ---- */

/* Linux, arch/x86/events/intel/core.c, intel_pmu_nhm_workaround(), gives Intel's story: the
 * counters must be reset by programming the events B5H, D2H and B1H, which count nothing, "either
 * in sequence on the same PMC or on different PMCs"; with PEBS and IA32_PERF_GLOBAL_CTRL off before
 * that, and on for a moment then. Until then a counter may count at the core's clock, or not at
 * all. The specification updates themselves were not to be had; not known are what brings the state
 * about (here: power-up), whether it comes back (here: no), and whether a counter that is not used
 * for the sequence is mended by it (here: yes). */
#define RESET_ALL 7

static unsigned reset_event(uint64_t perfevtsel)
{
    if (!(perfevtsel & PERFEVTSEL_EN) || (perfevtsel & PERFEVTSEL_UMASK))
        return 0;
    switch (perfevtsel & PERFEVTSEL_EVENT) {
    case 0xb5:
        return 1;
    case 0xd2:
        return 2;
    case 0xb1:
        return 4;
    default:
        return 0;
    }
}

void errata_selects_changed(struct pmu *pmu)
{
    if (!pmu->stuck)
        return;
    for (unsigned i = 0; i < PMU_MAX_GENERAL; i++)
        if ((pmu->global_ctrl & ARCH_BIT(i)) && pmu->pebs_enable == 0)
            pmu->reset_events |= reset_event(pmu->perfevtsel[i]);
    if (pmu->reset_events == RESET_ALL && pmu->global_ctrl == 0)
        pmu->stuck = false;
}

/* ---- By microcode revision ---- */

/* Linux, the same file, counter_freezing_ucodes[] (until 5.11): which Goldmonts are broken; not
 * how. Here: the status bit is set, the counters go on. */
bool errata_freeze_fails(const struct pmu *pmu)
{
    return pmu->profile->microcode < pmu->profile->pmu.freeze_fixed_from;
}

/* Linux, the same file, pebs_ucodes[]: which Sandy Bridges are broken; not how. Here: the counter
 * overflows, and no record is written. */
bool errata_pebs_fails(const struct pmu *pmu)
{
    return pmu->profile->microcode < pmu->profile->pmu.pebs_fixed_from;
}

/* ---- Core 2: AJ68, AR64 ---- */

/* "If PEBS index is equal to the PEBS threshold, a PMI (Performance Monitoring Interrupt) should be
 * issued. Due to this erratum, the PMI may be delayed by one PEBS event." Here it always is. */
bool errata_pebs_pmi(struct pmu *pmu, bool reached)
{
    if (!pmu->profile->pmu.pebs_pmi_late)
        return reached;
    bool owed = pmu->pebs_pmi_owed;
    pmu->pebs_pmi_owed = reached && !owed;
    return owed;
}

void errata_reset(struct pmu *pmu)
{
    pmu->stuck = pmu->profile->pmu.counters_need_reset;
}
