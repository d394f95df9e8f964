/*
 * The performance-monitor interrupt: dispatch as fixed interrupt and as NMI.
 *
 * The order matters. Stop the counters (or leave it to the freeze), read the status, handle, reset
 * the status, unmask the LVT entry that the local APIC masked on delivery (SDM vol. 3 "Local Vector
 * Table"), EOI. Clearing the status after the counters are re-armed would lose an overflow;
 * unmasking before it could take one twice. A status that is made from the counters is cleared
 * before the handler writes them.
 *
 * Where nothing masks the LVT entry (AMD's), an interrupt comes for each overflow, and one that
 * finds two handles both: the other's still comes, with nothing left to do, and as an NMI some time
 * later (Linux, arch/x86/events/amd/core.c, amd_pmu_adjust_nmi_window(): "NMI latency"). So many
 * are let pass, for LATE_US; Linux lets all pass that come in this time.
 *
 * The debug store shares the interrupt. "Upon entering the ISR, branch trace messages and PEBS
 * should be disabled to prevent race conditions during access to the DS save area ... restored to
 * their original values when exiting" (SDM vol. 3 "Writing the DS Interrupt Service Routine"). PEBS
 * goes off after the counters and on again before them: a sampling counter that overflowed between
 * would neither write its record nor be reloaded. BTS goes off first and on last, or it would store
 * more of the handler's own branches than a low threshold allows.
 */
#include "pmu/pmi.h"

#include "kernel/msr.h"
#include "kernel/nmi.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "pmu/ds.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/apic.h"
#include "x86/msr.h"

#define LATE_US 100000

/* Of each processor its own. */
static struct {
    pmi_handler handler;
    enum pmi_counters counters;
    volatile unsigned count, unexpected;
    unsigned nmis_before; /* nmi_strays() at the last reset */
    unsigned late;        /* interrupts that may still come, for overflows that are handled */
    uint64_t late_end;    /* by the TSC */
} dispatches[MAX_CPUS];
#define dispatch (dispatches[this_cpu()->index])

/* Of all processors, since they were last reported. Not printed by the handler, which may have
 * interrupted a line. */
static struct {
    unsigned pmis;
    uint64_t status; /* of the first */
    bool waited;
    uint32_t lvt; /* at the first NMI that was no PMI */
    bool nmi;
} stray;

void pmu_set_pmi_handler(pmi_handler handler, enum pmi_counters counters)
{
    dispatch.counters = counters;
    dispatch.handler = handler;
}

unsigned pmu_pmi_count(void)
{
    return dispatch.count;
}

unsigned pmu_unexpected_count(void)
{
    return dispatch.unexpected + nmi_strays() - dispatch.nmis_before;
}

/* Each gives what was on, for the restart; 0 when it is not in use. */
static uint64_t bts_stop(struct pmi *pmi)
{
    const struct ds_area *area = ds_area();
    if (area == NULL || area->bts.base == 0)
        return 0;
    uint64_t was = rdmsr(MSR_IA32_DEBUGCTL);
    if (was & DEBUGCTL_TR)
        wrmsr(MSR_IA32_DEBUGCTL, was & ~DEBUGCTL_TR);
    pmi->bts_full = ds_buffer_full(&area->bts);
    return was & DEBUGCTL_TR ? was : 0;
}

static uint64_t pebs_stop(struct pmi *pmi)
{
    const struct ds_area *area = ds_area();
    if (area == NULL || area->pebs.base == 0)
        return 0;
    uint64_t was = rdmsr(MSR_IA32_PEBS_ENABLE);
    if (was != 0)
        wrmsr(MSR_IA32_PEBS_ENABLE, 0);
    pmi->pebs_full = ds_buffer_full(&area->pebs);
    return was;
}

/* Something has overflowed, or a buffer of the debug store is full. */
static bool has_cause(uint64_t status)
{
    const struct ds_area *area = ds_area();
    return pmu_causes(status) != 0 ||
           (area != NULL && ((area->bts.base != 0 && ds_buffer_full(&area->bts)) ||
                             (area->pebs.base != 0 && ds_buffer_full(&area->pebs))));
}

/* This interrupt is one of those overflows'; what else it found has interrupts of its own. */
static void expect_late(uint64_t status)
{
    uint64_t causes = pmu_causes(status);
    if (pmu_info()->kind->lvt_masked)
        return;
    for (causes &= causes - 1; causes != 0; causes &= causes - 1)
        dispatch.late++;
    dispatch.late_end = rdtsc() + tsc_ticks_us(LATE_US);
}

static bool is_late(void)
{
    if (dispatch.late == 0 || rdtsc() > dispatch.late_end)
        return false;
    dispatch.late--;
    return true;
}

static void pmi_handle(struct trap_frame *frame, uint32_t lvt)
{
    struct pmi pmi = {.frame = frame, .lvt = lvt};
    uint64_t debugctl = bts_stop(&pmi);
    bool stop = dispatch.handler == NULL || dispatch.counters == PMI_STOP;
    uint64_t enabled = pmu_enabled();
    if (pmu_info()->global_ctrl)
        pmi.global_ctrl = enabled;
    if (stop)
        enabled = pmu_stop(enabled);
    uint64_t pebs_enable = pebs_stop(&pmi);
    pmi.status = pmu_status();
    if (pmu_info()->kind->status == 0)
        pmu_status_reset(pmi.status);
    if (dispatch.handler != NULL && has_cause(pmi.status)) {
        dispatch.count++;
        expect_late(pmi.status);
        /* The watchdog's priority class is higher: a handler that hangs must not hang the machine.
         * Not in an NMI, whose IST stack the next NMI would take over after the first IRET. */
        if (frame->vector != VEC_NMI)
            irq_enable();
        dispatch.handler(&pmi);
        irq_disable();
    } else if (!is_late()) {
        dispatch.unexpected++;
        if (stray.pmis++ == 0) {
            stray.status = pmi.status;
            stray.waited = dispatch.handler != NULL;
        }
    }
    if (pmu_info()->kind->status != 0)
        pmu_status_reset(pmi.status);
    if (pmu_info()->kind->lvt_masked)
        lapic_pmi_unmask();
    if (dispatch.handler == NULL)
        return;
    if (pebs_enable != 0)
        wrmsr(MSR_IA32_PEBS_ENABLE, pebs_enable);
    if (stop)
        pmu_restart(enabled);
    if (debugctl != 0)
        wrmsr(MSR_IA32_DEBUGCTL, debugctl);
}

static void pmi_interrupt(struct trap_frame *frame)
{
    if (pmu_info()->present)
        pmi_handle(frame, lapic_read(APIC_LVT_PERFMON));
    lapic_eoi();
}

/* Ours when the local APIC has masked the LVT entry that is set to NMI delivery, which no other NMI
 * does; or, where it does not mask (KVM before its commit a16eb25b09c0 of 2023, some kinds of
 * processors), when a PMI is waited for and there is something to handle. Not asked at other times:
 * a machine may refuse to tell its status, and have many NMIs. */
static bool is_pmi(uint32_t lvt)
{
    return (lvt & APIC_LVT_DELIVERY) == APIC_LVT_DELIVERY_NMI && pmu_info()->present &&
           ((lvt & APIC_LVT_MASK) || (dispatch.handler != NULL && has_cause(pmu_status())));
}

/* An NMI owes no EOI: it does not pass through the ISR (SDM vol. 3 "Signaling Interrupt Servicing
 * Completion"). */
static bool pmi_nmi(struct trap_frame *frame)
{
    uint32_t lvt = lapic_has_pmi() ? lapic_read(APIC_LVT_PERFMON) : 0;
    if (is_pmi(lvt)) {
        pmi_handle(frame, lvt);
        return true;
    }
    if (is_late())
        return true;
    if (!stray.nmi)
        stray.lvt = lvt;
    stray.nmi = true;
    return false;
}

void pmu_report_unexpected(void)
{
    struct nmi_first_stray nmis = nmi_take_strays();
    if (stray.pmis != 0)
        kprintf("# %u unexpected PMI%s, the first with status 0x%llx: %s\n", stray.pmis,
                stray.pmis == 1 ? "" : "s", (unsigned long long)stray.status,
                stray.waited ? "no counter has overflowed" : "no handler waits for it");
    if (nmis.count != 0)
        kprintf("# %u unexpected NMI%s, the first at RIP 0x%llx: not from the performance counters "
                "(LVT perfmon 0x%x)\n",
                nmis.count, nmis.count == 1 ? "" : "s", (unsigned long long)nmis.rip,
                (unsigned)stray.lvt);
    stray.pmis = 0;
    stray.nmi = false;
}

void pmi_reset(void)
{
    pmu_set_pmi_handler(NULL, PMI_STOP);
    dispatch.count = dispatch.unexpected = dispatch.late = 0;
    dispatch.nmis_before = nmi_strays();
}

void pmi_init(void)
{
    trap_set_handler(LAPIC_VECTOR_PMI, pmi_interrupt);
    nmi_add_owner(pmi_nmi);
}
