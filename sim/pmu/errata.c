/*
 * Errata: what some processors do against the manual, where a profile asks for it. Public texts say
 * when it happens and how it is avoided, seldom what exactly happens; what is a guess is said so.
 */
#include "sim/pmu/internal.h"

/* ---- Nehalem, Westmere: AAK100, AAP53, BD53 ---- */

/* Core i7 mobile specification update, AAP53: "Under certain circumstances, a general purpose
 * performance counter ... may count at core frequency or not count at all instead of counting the
 * programmed event." Before that, "the internal monitoring hardware must be cleared": each counter
 * "must have its corresponding IA32_PREFEVTSELx MSR programmed with at least one of the event
 * values" B5H, D2H and B1H "and must be enabled in IA32_PERF_GLOBAL_CTRL", and all three values
 * "must be written to either the same or different" selects. "The performance counter will not
 * increment" with them. Not told are the circumstances, and so whether it happens again; here it is
 * from power-up until then, and every counter counts clocks. */
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
    for (unsigned i = 0; i < PMU_MAX_GENERAL; i++) {
        unsigned event = reset_event(pmu->perfevtsel[i]);
        pmu->reset_events |= event;
        if (event && (pmu->global_ctrl & ARCH_BIT(i)))
            pmu->reset_counters |= ARCH_BIT(i);
    }
}

bool errata_counts_clocks(const struct pmu *pmu, unsigned i)
{
    bool clean = pmu->reset_events == RESET_ALL && (pmu->reset_counters & ARCH_BIT(i));
    return pmu->profile->pmu.counters_need_reset && !clean && !reset_event(pmu->perfevtsel[i]);
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

/* ---- A sampling counter's own bit ---- */

/* Linux 4.5, the same file: "There are cases where, even though, the PEBS ovfl bit is set in
 * GLOBAL_OVF_STATUS, the PEBS events may also have their overflow bits set for their counters." It
 * does not say when; here whenever OvfBuf is. */
void errata_pebs_bit(struct pmu *pmu, unsigned bit)
{
    if (pmu->profile->pmu.pebs_keeps_bit && (pmu->global_status & GLOBAL_STATUS_OVF_BUF))
        pmu->global_status |= ARCH_BIT(bit);
}

/* ---- Golden Cove ---- */

/* Linux, arch/x86/events/intel/core.c, intel_pmu_hw_config(): the load latency event "doesn't
 * function quite right. As a work-around it needs to always be co-scheduled with a auxiliary event
 * X86_CONFIG(.event=0x03, .umask=0x82). The actual count of this second event is irrelevant it just
 * needs to be active"; and of the flag for it, "for the complete memory info". Not told is what
 * lacks; here the data source and the latency of the record are 0. */
#define AUX 0x8203

bool errata_memory_info_lacks(const struct pmu *pmu)
{
    if (!pmu->profile->pmu.latency_needs_aux)
        return false;
    for (unsigned i = 0; i < PMU_MAX_GENERAL; i++)
        if ((pmu->perfevtsel[i] & (PERFEVTSEL_EVENT | PERFEVTSEL_UMASK)) == AUX &&
            (pmu->perfevtsel[i] & PERFEVTSEL_EN) && (pmu->global_ctrl & ARCH_BIT(i)))
            return false;
    return true;
}
