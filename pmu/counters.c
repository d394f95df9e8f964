/* Counters: programming, reading, writing, the counting window, the initial state. */
#include "pmu/pmu.h"

#include "kernel/msr.h"
#include "kernel/percpu.h"
#include "kernel/string.h"
#include "lapic/lapic.h"
#include "pmu/debugctl.h"
#include "pmu/ds.h"
#include "pmu/errata.h"
#include "pmu/ibs.h"
#include "pmu/info.h"
#include "pmu/kind.h"
#include "pmu/lbr.h"
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "pmu/reload.h"
#include "pmu/topdown.h"
#include "x86/msr.h"
#include "x86/regs.h"

/* Of each processor its own. */
static struct {
    /* What opens and closes the window: one write, or one for each of its counters. */
    struct window_step steps[PMU_MAX_GENERAL];
    unsigned n_steps;
    volatile bool open;
    /* Where no register enables all: what the select registers are to hold. */
    uint64_t selects[PMU_MAX_GENERAL];
    /* Where there is no status register: the counters whose overflow has been told. */
    uint64_t told;
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

uint32_t pmu_old_counter_msr(unsigned counter)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    return is_fixed(counter) ? pmu_bank_msr(&kind->fixed, counter - GLOBAL_FIXED_SHIFT)
                             : pmu_bank_msr(&kind->counters, counter);
}

uint32_t pmu_old_select_msr(unsigned general)
{
    return pmu_bank_msr(&pmu_info()->kind->selects, general);
}

uint32_t pmu_counter_msr(unsigned counter)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    if (!pmu_info()->own_addresses)
        return pmu_old_counter_msr(counter);
    return is_fixed(counter) ? pmu_bank_msr(&kind->own_fixed.counters, counter - GLOBAL_FIXED_SHIFT)
                             : pmu_bank_msr(&kind->own_general.counters, counter);
}

uint32_t pmu_select_msr(unsigned general)
{
    return pmu_info()->own_addresses ? pmu_bank_msr(&pmu_info()->kind->own_general.selects, general)
                                     : pmu_old_select_msr(general);
}

uint32_t pmu_rdpmc_selector(unsigned counter)
{
    return is_fixed(counter) ? (uint32_t)RDPMC_FIXED | (counter - GLOBAL_FIXED_SHIFT) : counter;
}

void pmu_select(unsigned general, uint64_t select)
{
    bool by_window = pmu_info()->kind->enable_bit != 0;
    if (by_window)
        window.selects[general] = select;
    wrmsr(pmu_select_msr(general), by_window ? select & ~PERFEVTSEL_EN : select | PERFEVTSEL_EN);
}

void pmu_select_fixed(uint64_t value)
{
    wrmsr(pmu_info()->kind->fixed_ctrl, value);
}

uint64_t pmu_read(unsigned counter)
{
    return rdmsr(pmu_counter_msr(counter));
}

uint64_t pmu_rdpmc(unsigned counter)
{
    return rdpmc(pmu_rdpmc_selector(counter));
}

void pmu_allow_user_rdpmc(bool allow)
{
    uint64_t cr4;
    __asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
    uint64_t wanted = allow ? cr4 | CR4_PCE : cr4 & ~(uint64_t)CR4_PCE;
    if (wanted != cr4)
        __asm__ volatile("movq %0, %%cr4" ::"r"(wanted) : "memory");
}

/* SDM vol. 3 "Full-Width Writes to Performance Counter Registers". */
bool pmu_write(unsigned counter, uint64_t value)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    uint64_t max = pmu_counter_max(counter);
    if (value > max)
        return false;
    __atomic_fetch_and(&window.told, ~PMU_MASK(counter), __ATOMIC_RELAXED);
    if (is_fixed(counter) || pmu_info()->own_addresses)
        return wrmsr_safe(pmu_counter_msr(counter), value);
    if (pmu_info()->full_width_write)
        return wrmsr_safe(pmu_bank_msr(&kind->full_width, counter), value);
    unsigned unwritten = 64 - kind->written_bits;
    uint64_t extended = (uint64_t)((int64_t)(value << unwritten) >> unwritten) & max;
    if (extended != value)
        return false;
    return wrmsr_safe(pmu_counter_msr(counter), value << unwritten >> unwritten);
}

bool pmu_write_overflow_in(unsigned counter, uint64_t n)
{
    return pmu_write(counter, (pmu_counter_max(counter) - n) + 1);
}

static void add_step(uint32_t msr, uint64_t mask, uint64_t select)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    window.steps[window.n_steps++] =
        (struct window_step){msr, pmu_kind_on(kind, mask, select), pmu_kind_off(kind, select)};
}

static void window_prepare(uint64_t mask)
{
    uint32_t enable = pmu_info()->kind->enable;
    window.n_steps = 0;
    if (enable != 0) {
        add_step(enable, mask, 0);
        return;
    }
    for (unsigned n = 0; n < PMU_MAX_GENERAL; n++)
        if (mask & PMU_MASK(n))
            add_step(pmu_select_msr(n), PMU_MASK(n), window.selects[n]);
}

/* Runs no code of the driver's between the first step and the last. */
static void window_run(window_body body, uint64_t arg)
{
    const struct window_step *first = window.steps, *last = first + window.n_steps - 1;
    if (window.n_steps == 1)
        pmu_window((uint32_t)first->msr, first->on, first->off, body, arg);
    else if (window.n_steps != 0)
        pmu_window_in_turn(first, last, body, arg);
}

static void window_record(bool on)
{
    const char *one = on ? pmu_window_open : pmu_window_close;
    const char *in_turn = on ? pmu_window_in_turn_open : pmu_window_in_turn_close;
    for (unsigned i = 0; i < window.n_steps; i++) {
        const struct window_step *step = &window.steps[i];
        msr_trace_record(MSR_WRITE, (uint32_t)step->msr, on ? step->on : step->off, false,
                         (uint64_t)(window.n_steps == 1 ? one : in_turn));
    }
}

static unsigned steps_of(uint64_t mask)
{
    unsigned n = 0;
    if (pmu_info()->kind->enable != 0)
        return 1;
    for (; mask != 0; mask &= mask - 1)
        n++;
    return n;
}

uint64_t pmu_window_adds(uint64_t mask)
{
    unsigned n = steps_of(mask);
    return n == 1 ? pmu_window_insns : pmu_window_in_turn_once + n * pmu_window_in_turn_each;
}

uint64_t pmu_window_shift(uint64_t mask)
{
    return (steps_of(mask) - 1) * pmu_window_in_turn_each;
}

static void window_close(void)
{
    for (unsigned i = 0; i < window.n_steps; i++)
        wrmsr((uint32_t)window.steps[i].msr, window.steps[i].off);
}

void pmu_count(uint64_t mask, window_body body, uint64_t arg)
{
    window_prepare(mask);
    /* Recorded before and after: nothing but the body runs inside. */
    window_record(true);
    window.open = true;
    window_run(body, arg);
    window.open = false;
    /* Once more, should a late PMI have taken the window for open still (pmu_stop()). */
    if (pmu_pmi_count() != 0)
        window_close();
    window_record(false);
}

void pmu_open(uint64_t mask)
{
    window_prepare(mask);
    window.open = true;
    for (unsigned i = 0; i < window.n_steps; i++)
        wrmsr((uint32_t)window.steps[i].msr, window.steps[i].on);
}

void pmu_close(void)
{
    window_close();
    window.open = false;
}

/* A freeze that clears the enables has already done so: then what the window had opened is what
 * goes on afterwards (SDM vol. 3 "Freezing LBR and Performance Counters on PMI": software has to
 * set the enables again). */
static bool frozen_by_clearing(const struct pmu_kind *kind)
{
    return kind->freeze != 0 && kind->frozen == 0 && window.open &&
           (rdmsr(MSR_IA32_DEBUGCTL) & kind->freeze);
}

/* Where no register enables all, those whose select does. */
static uint64_t enabled_by_selects(uint64_t enable_bit)
{
    uint64_t enabled = 0;
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        if (rdmsr(pmu_select_msr(n)) & enable_bit)
            enabled |= PMU_MASK(n);
    return enabled;
}

/* In the order in which a window opens and closes them. */
static void enable_by_selects(uint64_t mask, uint64_t enable_bit, bool on)
{
    for (unsigned n = 0; n < pmu_info()->n_general; n++) {
        uint32_t msr = pmu_select_msr(n);
        if (mask & PMU_MASK(n))
            wrmsr(msr, on ? rdmsr(msr) | enable_bit : rdmsr(msr) & ~enable_bit);
    }
}

uint64_t pmu_enabled(void)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    return kind->enable != 0 ? rdmsr(kind->enable) : enabled_by_selects(kind->enable_bit);
}

uint64_t pmu_stop(uint64_t enabled)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    if (enabled == 0 && frozen_by_clearing(kind))
        enabled = window.steps[0].on;
    if (kind->enable != 0)
        wrmsr(kind->enable, 0);
    else
        enable_by_selects(enabled, kind->enable_bit, false);
    return enabled;
}

void pmu_restart(uint64_t enabled)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    if (kind->enable != 0)
        wrmsr(kind->enable, enabled);
    else
        enable_by_selects(enabled, kind->enable_bit, true);
}

/* SDM vol. 4 "IA32_PERF_GLOBAL_STATUS". */
uint64_t pmu_status_all(void)
{
    const struct pmu_info *info = pmu_info();
    uint64_t bits = pmu_all_counters() | info->kind->status_other;
    if (info->kind->status != 0 && info->metrics)
        bits |= GLOBAL_STATUS_PERF_METRICS_OVF;
    return bits;
}

/* Linux met CondChgd set for good, with nothing overflowed (arch/x86/events/intel/core.c,
 * handle_pmi_common()). */
uint64_t pmu_causes(uint64_t status)
{
    return status & (pmu_all_counters() | GLOBAL_STATUS_OVF_BUF | GLOBAL_STATUS_PERF_METRICS_OVF);
}

/* Where there is no status register. A counter that interrupts is started in its upper half, so one
 * that stands in the lower half has run past its maximum. It stays there when its overflow has been
 * handled: that one is told once. */
static uint64_t status_from_counters(void)
{
    uint64_t status = 0;
    uint64_t top = pmu_counter_max(0) ^ (pmu_counter_max(0) >> 1);
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        if ((rdmsr(pmu_select_msr(n)) & PERFEVTSEL_INT) && !(pmu_read(n) & top))
            status |= PMU_MASK(n);
    return status & ~window.told;
}

uint64_t pmu_status(void)
{
    uint32_t status = pmu_info()->kind->status;
    return status != 0 ? rdmsr(status) : status_from_counters();
}

void pmu_status_reset(uint64_t bits)
{
    uint32_t clear = pmu_info()->kind->status_clear;
    if (clear != 0)
        wrmsr(clear, bits & pmu_status_all());
    else
        __atomic_fetch_or(&window.told, bits, __ATOMIC_RELAXED);
}

static void counters_reset(const struct pmu_info *info)
{
    if (info->kind->enable != 0)
        wrmsr_safe(info->kind->enable, 0);
    for (unsigned n = 0; n < info->n_general; n++) {
        wrmsr_safe(pmu_select_msr(n), 0);
        wrmsr_safe(pmu_counter_msr(n), 0);
    }
    if (info->fixed_mask != 0)
        wrmsr_safe(info->kind->fixed_ctrl, 0);
    for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
        if (pmu_has_fixed(i))
            wrmsr_safe(pmu_counter_msr(PMU_FIXED(i)), 0);
    reload_reset();
    topdown_reset();
}

void pmu_reset(void)
{
    const struct pmu_info *info = pmu_info();
    memset(window.selects, 0, sizeof(window.selects));
    window.n_steps = 0;
    window.told = 0;
    window.open = false;
    pmi_reset();
    lbr_reset();
    ibs_reset();
    pmu_allow_user_rdpmc(false);
    if (!info->present)
        return;
    counters_reset(info);
    if (info->pebs)
        pebs_reset();
    errata_reset_counters();
    wrmsr_safe(MSR_IA32_DEBUGCTL, debugctl_with(0));
    ds_reset();
    /* Only the bits that are set: those the processor has, whatever its model adds to its version.
     * After the counters are off, so that none comes back. */
    uint64_t status;
    if (info->kind->status != 0 && rdmsr_safe(info->kind->status, &status))
        wrmsr_safe(info->kind->status_clear, status & pmu_status_all());
    lapic_drain();
    lapic_pmi_setup();
}

/* What a register takes is tried when all is off: firmware may have left a buffer in use. */
void pmu_init_cpu(void)
{
    pmu_info_read();
    debugctl_init();
    pmu_reset();
    pmu_info_probe();
    pebs_init_cpu();
    lbr_init();
    ibs_init();
}

void pmu_init(void)
{
    pmi_init();
    errata_init();
    pmu_init_cpu();
}
