/*
 * Experiment 15-9 · Several causes in one PMI.
 *
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
#include "lab/experiment_old.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "kernel/msr.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "pmu/bts.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define PLAIN_SELECT   (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define OVERFLOW_AFTER 2000 /* instructions */
#define PERIOD         3000 /* loads */
#define ROUNDS         70   /* 4480 loads, as many branches as rounds */
#define BTS_RECORDS    1000
#define BTS_THRESHOLD  40

static uint64_t table[PEBS_LOADS];
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

static void meet(unsigned plain, unsigned sampled, const struct pebs_event *event)
{
    pebs_run_fill(&the_run, table, 0x1000, ROUNDS);
    pmu_select(plain, PLAIN_SELECT);
    pmu_write_overflow_in(plain, OVERFLOW_AFTER);
    pebs_enable(sampled, event, PERIOD);
    irq_disable();
    wrmsr(MSR_IA32_DEBUGCTL, DEBUGCTL_BTS_ON | DEBUGCTL_BTINT);
    pmu_count(PMU_MASK(plain) | PMU_MASK(sampled), pebs_loads, (uint64_t)&the_run);
    pebs_lab_off();
    irq_enable();
    wait_for_pmi(1);
}

static void run(void)
{
    const struct pebs_event *event = &pebs_generation(NULL)->loads;
    const struct ds_setup setup = {.bts_records = BTS_RECORDS,
                                   .bts_threshold = BTS_THRESHOLD,
                                   .pebs_records = 4,
                                   .pebs_threshold = 1};
    uint32_t counters = pebs_lab_set_up(&setup, event, UINT32_MAX);
    if (counters == 0)
        return;
    unsigned sampled = (unsigned)__builtin_ctz(counters), plain = sampled == 0 ? 1 : 0;
    seen = (typeof(seen)){.plain_bit = PMU_MASK(plain)};
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    meet(plain, sampled, event);

    value_u64("pmis", pmu_pmi_count());
    value_u64("most_causes_in_one", seen.most);
    value_str("delivered_as", lapic_pmi_mode() == PMI_NMI ? "NMI" : "fixed");
    check(pmu_unexpected_count() == 0 &&
          (lapic_pmi_mode() == PMI_NMI || (pmu_pmi_count() == 1 && seen.most == 3)));
    value_u64("pmis_with_it", seen.plain);
    check(seen.plain == 1);
    value_u64("pmis_with_it", seen.pebs);
    check(seen.pebs >= 1); /* as NMIs the handlers' own events are sampled too, until they stop */
    value_u64("pmis_with_it", seen.bts);
    check(seen.bts >= 1);
    value_hex("status", pmu_status());
    value_str("pebs_buffer", ds_buffer_full(&ds_area()->pebs) ? "full" : "has room");
    value_str("bts_buffer", ds_buffer_full(&ds_area()->bts) ? "full" : "has room");
    value_hex("lvt", lapic_read(APIC_LVT_PERFMON));
    check(pmu_causes(pmu_status()) == 0 && !ds_buffer_full(&ds_area()->pebs) &&
          !ds_buffer_full(&ds_area()->bts) && !(lapic_read(APIC_LVT_PERFMON) & APIC_LVT_MASK));
}

static const char *const checks[] = {
    "the debug store can be set up and a counter samples the event",
    "causes that meet while interrupts are off come in one interrupt",
    "the counter's overflow is handled",
    "the full PEBS buffer is handled",
    "the full BTS buffer is handled",
    "nothing is left: no status bit, no full buffer, the LVT entry open",
    NULL,
};

const struct experiment ex15_9 = {
    .id = "15-9",
    .title = "Several causes in one PMI",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_GENERAL_2 | NEED_INSTRUCTIONS | NEED_PMI |
             NEED_PEBS | NEED_BTS,
    .run = run,
};
