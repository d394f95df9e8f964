/* Experiment 15-9 · Several causes in one PMI. */
#include "kernel/msr.h"
#include "kernel/trap.h"
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "lapic/lapic.h"
#include "pmu/bts.h"
#include "pmu/debugctl.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"
#include "x86/apic.h"
#include "x86/msr.h"

enum { SET_UP, ONE_INTERRUPT, COUNTER, PEBS, BTS, NOTHING_LEFT };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up and a counter samples the event",
    [ONE_INTERRUPT] = "causes that meet while interrupts are off come in one interrupt",
    [COUNTER] = "the counter's overflow is handled",
    [PEBS] = "the full PEBS buffer is handled",
    [BTS] = "the full BTS buffer is handled",
    [NOTHING_LEFT] = "nothing is left: no status bit, no full buffer, the LVT entry open",
};

static void run(void);

const struct experiment ex15_9 = {
    .id = "15-9",
    .title = "Several causes in one PMI",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_GENERAL_2 | NEED_INSTRUCTIONS | NEED_PMI |
             NEED_PEBS | NEED_BTS,
    CHECKS(checks),
    .run = run,
};

/*
 * A counter overflows, the PEBS buffer fills and the BTS buffer fills while interrupts are off: the
 * local APIC holds one request, because it masks the LVT entry with the first and drops what comes
 * after. So one interrupt has three causes, and a handler that stops at the first it finds loses
 * the others for good. With the PMI delivered as NMI, interrupts cannot be held off, and the causes
 * come as they are made; also then none may be lost. SDM vol. 3 "Writing the DS Interrupt Service
 * Routine", "Local Vector Table".
 *
 * FREEZE_PERFMON_ON_PMI stays off, other than in 15-5 to 15-8: it would stop the counters at the
 * first request, and the causes could not meet.
 */
#define PLAIN_SELECT   (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define OVERFLOW_AFTER 2000 /* instructions */
#define PERIOD         3000 /* loads */
#define ROUNDS         70   /* 4480 loads, as many branches as rounds */
#define BTS_RECORDS    1000
/* Below the branches of the run, and well above those that an NMI's own way takes until the trace
 * is off: else each PMI makes the next. */
#define BTS_THRESHOLD 60

static struct pebs_run the_run;

static struct {
    uint64_t plain_bit;
    unsigned plain, pebs, bts, most; /* PMIs with that cause; the most causes of one */
} seen;

static void on_pmi(const struct pmi *pmi)
{
    bool plain = pmi->status & seen.plain_bit;
    unsigned causes = plain + pmi->pebs_full + pmi->bts_full;
    if (causes > seen.most) {
        seen.most = causes;
        ds_dump("in the PMI handler");
        pmu_dump("in the PMI handler");
    }
    seen.plain += plain;
    seen.pebs += pmi->pebs_full;
    seen.bts += pmi->bts_full;
    if (pmi->pebs_full)
        ds_buffer_drain(&ds_area()->pebs);
    if (pmi->bts_full)
        ds_buffer_drain(&ds_area()->bts);
}

static void meet(unsigned plain, unsigned sampled)
{
    pebs_run_fill(&the_run, 0x1000, ROUNDS);
    pmu_select(plain, PLAIN_SELECT);
    pmu_write_overflow_in(plain, OVERFLOW_AFTER);
    pebs_enable(sampled, pebs_lab_event(), PERIOD);
    irq_disable();
    wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(DEBUGCTL_BTS_ON | DEBUGCTL_BTINT));
    pmu_count(PMU_MASK(plain) | PMU_MASK(sampled), pebs_loads, (uint64_t)&the_run);
    pebs_lab_off();
    irq_enable();
    wait_for_pmi(1);
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = BTS_RECORDS,
                                   .bts_threshold = BTS_THRESHOLD,
                                   .pebs_records = 4,
                                   .pebs_threshold = 1};
    uint32_t counters = pebs_lab_set_up(&setup);
    check(SET_UP, counters != 0);
    if (counters == 0)
        return;
    unsigned sampled = (unsigned)__builtin_ctz(counters), plain = sampled == 0 ? 1 : 0;
    seen.plain_bit = PMU_MASK(plain);
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    meet(plain, sampled);

    unsigned pmis = pmu_pmi_count();
    bool as_nmi = lapic_pmi_mode() == PMI_NMI;
    value_u64("pmis", pmis);
    value_u64("most_causes_in_one", seen.most);
    value_str("delivered_as", as_nmi ? "NMI" : "fixed");
    check(ONE_INTERRUPT, pmu_unexpected_count() == 0 &&
                             (as_nmi ? seen.plain != 0 && seen.pebs != 0 && seen.bts != 0
                                     : pmis == 1 && seen.most == 3));
    check_equal(COUNTER, "pmis_with_it", seen.plain, 1);
    value_u64("pmis_with_it", seen.pebs);
    check(PEBS,
          seen.pebs >= 1); /* as NMIs the handlers' own events are sampled too, until they stop */
    value_u64("pmis_with_it", seen.bts);
    check(BTS, seen.bts >= 1);

    uint64_t status = pmu_status();
    bool pebs_full = ds_buffer_full(&ds_area()->pebs), bts_full = ds_buffer_full(&ds_area()->bts);
    uint32_t lvt = lapic_read(APIC_LVT_PERFMON);
    value_hex("status", status);
    value_str("pebs_buffer", pebs_full ? "full" : "has room");
    value_str("bts_buffer", bts_full ? "full" : "has room");
    value_hex("lvt", lvt);
    check(NOTHING_LEFT, pmis != 0 && pmu_causes(status) == 0 && !pebs_full && !bts_full &&
                            !(lvt & APIC_LVT_MASK));
}
