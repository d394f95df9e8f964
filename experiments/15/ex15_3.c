/* Experiment 15-3 · PMI on overflow. */
#include "kernel/cpuid.h"
#include "kernel/trap.h"
#include "lab/bodies.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lapic/lapic.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/apic.h"

enum { START, ONE_PMI, STATUS_SET, STATUS_CLEAR, MASKED, IN_WINDOW };

static const char *const checks[] = {
    [START] = "general counter 0 takes the start value in its full width",
    [ONE_PMI] = "exactly one PMI arrives",
    [STATUS_SET] = "the overflow status has the counter's bit in the handler",
    [STATUS_CLEAR] = "it does not have it after the reset",
    [MASKED] =
        "the local APIC left the LVT entry as it has to: masked, or open where it never masks",
    [IN_WINDOW] = "the interrupted RIP lies in the window",
};

static void run(void);

const struct experiment ex15_3 = {
    .id = "15-3",
    .title = "PMI on overflow",
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * General counter 0 is written so that it overflows in the middle of a loop, with INT set: the
 * carry out of its width sets bit 0 of the overflow status (IA32_PERF_GLOBAL_STATUS,
 * PerfCntrGlobalStatus) and raises the LVT perfmon entry. Intel's local APIC masks that entry as it
 * delivers the interrupt (SDM vol. 3 "Local Vector Table"), so exactly one arrives until software
 * unmasks it. AMD's leaves it open (Linux arch/x86/events/amd/core.c, amd_pmu_v2_handle_irq()):
 * there is one interrupt for one overflow all the same. Without a status register the driver finds
 * the counter that has run past its maximum. What can go wrong: the write of the start value is cut
 * or not sign-extended, the status is cleared too early or too late, EOI is missing or one too many
 * (an NMI has none), the interrupt is lost.
 *
 * A real processor takes the interrupt some instructions after the overflow; the loop is long
 * enough for that.
 */
#define FLAGS          (PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define ITERATIONS     100000
#define OVERFLOW_AFTER 20000 /* a tenth of the loop's instructions */

static struct {
    uint64_t status, rip;
    uint32_t lvt;
} seen;

static void on_pmi(const struct pmi *pmi)
{
    seen.status = pmi->status;
    seen.rip = pmi->frame->rip;
    seen.lvt = pmi->lvt;
    if (pmu_pmi_count() == 1)
        pmu_dump("in the PMI handler");
}

static bool between(uint64_t rip, const void *first, const void *end)
{
    return rip >= (uint64_t)first && rip <= (uint64_t)end;
}

static void check_status(void)
{
    if (pmu_info()->kind->status == 0) {
        check_skip_all(STATUS_SET, STATUS_CLEAR, "%s", pmu_info()->no_global_ctrl);
        return;
    }
    value_hex("status_in_handler", seen.status);
    check(STATUS_SET, seen.status & PMU_MASK(0));
    uint64_t after = pmu_status();
    value_hex("status_after_reset", after);
    check(STATUS_CLEAR, pmu_pmi_count() != 0 && !(after & PMU_MASK(0)));
}

static void run(void)
{
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pmu_select(0, pmu_event(PMU_EVENT_INSTRUCTIONS) | FLAGS);
    bool written = pmu_write_overflow_in(0, OVERFLOW_AFTER);
    value_str("written_by", "%s",
              counter_has_wide_door() ? "a write of its full width"
                                      : "32 bits, bit 31 sign-extended");
    uint64_t start = pmu_read(0);
    value_hex("pmc0", start);
    check(START, written && start == pmu_counter_max(0) - OVERFLOW_AFTER + 1);

    pmu_count(PMU_MASK(0), body_spin, ITERATIONS);
    wait_for_pmi(1);

    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    value_str("delivered_as", lapic_pmi_mode() == PMI_NMI ? "NMI" : "fixed");
    bool to_mask = pmu_info()->kind->lvt_masked, masked = seen.lvt & APIC_LVT_MASK;
    bool open_in_guest = to_mask && pmu_pmi_count() != 0 && !masked && hypervisor_present();
    if (open_in_guest && pmu_pmi_count() == 1 && pmu_unexpected_count() == 1)
        value_str("known", "KVM before Linux 6.6 (73554b29bd70) may deliver one PMI twice");
    check(ONE_PMI, pmu_pmi_count() == 1 && pmu_unexpected_count() == 0);
    check_status();

    uint32_t lvt = lapic_read(APIC_LVT_PERFMON);
    value_hex("lvt_in_handler", seen.lvt);
    value_hex("lvt_after", lvt);
    if (open_in_guest)
        value_str("known", "KVM before Linux 6.6 (a16eb25b09c0) delivers a PMI without masking "
                           "the entry");
    check(MASKED, pmu_pmi_count() != 0 && masked == to_mask && !(lvt & APIC_LVT_MASK));

    value_hex("rip", seen.rip);
    value_hex("window", (uint64_t)pmu_window_open);
    value_hex("function", (uint64_t)body_spin);
    check(IN_WINDOW, between(seen.rip, pmu_window_open, pmu_window_end) ||
                         between(seen.rip, (const void *)body_spin, body_spin_end));
}
