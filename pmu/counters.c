/* Counters: programming, reading, writing, the counting window, the initial state. */
#include "pmu/pmu.h"

#include "kernel/msr.h"
#include "kernel/percpu.h"
#include "lapic/lapic.h"
#include "pmu/ds.h"
#include "pmu/info.h"
#include "pmu/lbr.h"
#include "pmu/pmi.h"

#define OLD_ADDRESS_BITS 32 /* a write to IA32_PMCx takes bits 31:0 and sign-extends bit 31 */

/* Of each processor its own. */
static struct {
    /* What the window's MSR holds while it is open. */
    uint32_t msr;
    uint64_t on, off;
    volatile bool open;
    /* IA32_PERFEVTSEL0 for version 1, where its EN bit is the window. */
    uint64_t select0;
} windows[MAX_CPUS];
#define window (windows[this_cpu()->index])

static bool is_fixed(unsigned counter)
{
    return counter >= GLOBAL_FIXED_SHIFT;
}

uint64_t pmu_all_counters(void)
{
    const struct pmu_info *info = pmu_info();
    return (ARCH_BIT(info->n_general) - 1) | (uint64_t)info->fixed_mask << GLOBAL_FIXED_SHIFT;
}

uint64_t pmu_counter_max(unsigned counter)
{
    unsigned width = is_fixed(counter) ? pmu_info()->fixed_width : pmu_info()->general_width;
    return width >= 64 ? ~(uint64_t)0 : ARCH_BIT(width) - 1;
}

uint32_t pmu_counter_msr(unsigned counter)
{
    return is_fixed(counter) ? MSR_IA32_FIXED_CTR0 + (counter - GLOBAL_FIXED_SHIFT)
                             : MSR_IA32_PMC0 + counter;
}

uint32_t pmu_select_msr(unsigned general)
{
    return MSR_IA32_PERFEVTSEL0 + general;
}

uint32_t pmu_rdpmc_selector(unsigned counter)
{
    return is_fixed(counter) ? (uint32_t)RDPMC_FIXED | (counter - GLOBAL_FIXED_SHIFT) : counter;
}

void pmu_select(unsigned general, uint64_t select)
{
    if (!pmu_info()->global_ctrl) {
        if (general == 0)
            window.select0 = select | PERFEVTSEL_EN;
        wrmsr(pmu_select_msr(general), select & ~PERFEVTSEL_EN);
        return;
    }
    wrmsr(pmu_select_msr(general), select | PERFEVTSEL_EN);
}

void pmu_select_fixed(uint64_t value)
{
    wrmsr(MSR_IA32_FIXED_CTR_CTRL, value);
}

uint64_t pmu_read(unsigned counter)
{
    return rdmsr(pmu_counter_msr(counter));
}

uint64_t pmu_rdpmc(unsigned counter)
{
    return rdpmc(pmu_rdpmc_selector(counter));
}

/* SDM vol. 3 "Full-Width Writes to Performance Counter Registers". */
bool pmu_write(unsigned counter, uint64_t value)
{
    uint64_t max = pmu_counter_max(counter);
    if (value > max)
        return false;
    if (is_fixed(counter))
        return wrmsr_safe(pmu_counter_msr(counter), value);
    if (pmu_info()->full_width_write)
        return wrmsr_safe(MSR_IA32_A_PMC0 + counter, value);
    uint64_t extended = (uint64_t)(int64_t)(int32_t)value & max;
    if (extended != value)
        return false;
    return wrmsr_safe(pmu_counter_msr(counter), value & (ARCH_BIT(OLD_ADDRESS_BITS) - 1));
}

bool pmu_write_overflow_in(unsigned counter, uint64_t n)
{
    return pmu_write(counter, (pmu_counter_max(counter) - n) + 1);
}

/* The one MSR whose write starts counters: GLOBAL_CTRL, or in version 1 IA32_PERFEVTSEL0. */
static uint32_t window_msr(void)
{
    return pmu_info()->global_ctrl ? MSR_IA32_PERF_GLOBAL_CTRL : MSR_IA32_PERFEVTSEL0;
}

static void window_prepare(uint64_t mask)
{
    bool global_ctrl = pmu_info()->global_ctrl;
    window.msr = window_msr();
    window.on = global_ctrl ? mask : window.select0;
    window.off = global_ctrl ? 0 : window.select0 & ~PERFEVTSEL_EN;
}

void pmu_count(uint64_t mask, window_body body, uint64_t arg)
{
    window_prepare(mask);
    /* Recorded before and after: nothing but the body runs inside. */
    msr_trace_record(MSR_WRITE, window.msr, window.on, false, (uint64_t)pmu_window_open);
    window.open = true;
    pmu_window(window.msr, window.on, window.off, body, arg);
    window.open = false;
    /* Once more, should a late PMI have taken the window for open still (pmu_stop()). */
    if (pmu_pmi_count() != 0)
        wrmsr(window.msr, window.off);
    msr_trace_record(MSR_WRITE, window.msr, window.off, false, (uint64_t)pmu_window_close);
}

void pmu_open(uint64_t mask)
{
    window_prepare(mask);
    window.open = true;
    wrmsr(window.msr, window.on);
}

void pmu_close(void)
{
    wrmsr(window.msr, window.off);
    window.open = false;
}

/* FREEZE_PERFMON_ON_PMI of versions 2 and 3 has already cleared IA32_PERF_GLOBAL_CTRL: then what
 * the window had opened is what goes on afterwards (SDM vol. 3 "Freezing LBR and Performance
 * Counters on PMI": software has to set the enables again). */
static bool frozen_by_clearing(void)
{
    const struct pmu_info *info = pmu_info();
    return info->freeze && !info->freeze_in_status && window.open &&
           (rdmsr(MSR_IA32_DEBUGCTL) & DEBUGCTL_FREEZE_PERFMON_ON_PMI);
}

uint64_t pmu_stop(void)
{
    uint32_t msr = window_msr();
    uint64_t was = rdmsr(msr);
    if (was == 0 && frozen_by_clearing())
        was = window.on;
    wrmsr(msr, pmu_info()->global_ctrl ? 0 : was & ~PERFEVTSEL_EN);
    return was;
}

void pmu_restart(uint64_t was)
{
    wrmsr(window_msr(), was);
}

/* Every bit of the status that the version has: SDM vol. 4 "IA32_PERF_GLOBAL_STATUS". */
uint64_t pmu_status_all(void)
{
    const struct pmu_info *info = pmu_info();
    if (!info->global_ctrl)
        return ARCH_BIT(info->n_general) - 1;
    uint64_t bits = pmu_all_counters() | GLOBAL_STATUS_OVF_BUF | GLOBAL_STATUS_COND_CHGD;
    if (info->version >= 3)
        bits |= GLOBAL_STATUS_OVF_UNCORE;
    if (info->version >= 4)
        bits |= GLOBAL_STATUS_TRACE_TOPA_PMI | GLOBAL_STATUS_LBR_FRZ | GLOBAL_STATUS_CTR_FRZ |
                GLOBAL_STATUS_ASCI;
    if (info->perf_capabilities.value & PERF_CAP_PERF_METRICS)
        bits |= GLOBAL_STATUS_PERF_METRICS_OVF;
    return bits;
}

/* Linux met CondChgd set for good, with nothing overflowed (arch/x86/events/intel/core.c,
 * handle_pmi_common()). */
uint64_t pmu_causes(uint64_t status)
{
    return status & (pmu_all_counters() | GLOBAL_STATUS_OVF_BUF);
}

/* Version 1 has no status register. A counter that interrupts is started in its upper half, so one
 * that stands in the lower half has run past its maximum. */
static uint64_t status_from_counters(void)
{
    uint64_t status = 0;
    uint64_t top = pmu_counter_max(0) ^ (pmu_counter_max(0) >> 1);
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        if ((rdmsr(pmu_select_msr(n)) & PERFEVTSEL_INT) && !(pmu_read(n) & top))
            status |= PMU_MASK(n);
    return status;
}

uint64_t pmu_status(void)
{
    if (!pmu_info()->global_ctrl)
        return status_from_counters();
    return rdmsr(MSR_IA32_PERF_GLOBAL_STATUS);
}

void pmu_status_reset(uint64_t bits)
{
    if (pmu_info()->global_ctrl)
        wrmsr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, bits & pmu_status_all());
}

static void counters_reset(const struct pmu_info *info)
{
    if (info->global_ctrl)
        wrmsr_safe(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    for (unsigned n = 0; n < info->n_general; n++) {
        wrmsr_safe(pmu_select_msr(n), 0);
        wrmsr_safe(pmu_counter_msr(n), 0);
    }
    if (info->fixed_mask != 0)
        wrmsr_safe(MSR_IA32_FIXED_CTR_CTRL, 0);
    for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
        if (pmu_has_fixed(i))
            wrmsr_safe(pmu_counter_msr(PMU_FIXED(i)), 0);
}

void pmu_reset(void)
{
    const struct pmu_info *info = pmu_info();
    window.select0 = 0;
    window.open = false;
    pmi_reset();
    if (!info->present)
        return;
    counters_reset(info);
    if (info->pebs)
        wrmsr_safe(MSR_IA32_PEBS_ENABLE, 0);
    wrmsr_safe(MSR_IA32_DEBUGCTL, 0);
    ds_reset();
    lbr_reset();
    /* Only the bits that are set: those the processor has, whatever its model adds to its version.
     * After the counters are off, so that none comes back. */
    uint64_t status;
    if (info->global_ctrl && rdmsr_safe(MSR_IA32_PERF_GLOBAL_STATUS, &status))
        wrmsr_safe(MSR_IA32_PERF_GLOBAL_OVF_CTRL, status & pmu_status_all());
    lapic_drain();
    lapic_pmi_setup();
}

void pmu_init(void)
{
    pmi_init();
    pmu_init_cpu();
}

void pmu_init_cpu(void)
{
    pmu_info_read();
    lbr_init();
    pmu_reset();
}
