/* Experiment 15-8 · PMI and PEBS interrupt together. */
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

enum { SET_UP, BOTH_SEEN, TOLD_APART, NONE_LOST };
#define SWAPPED 3 /* so far behind come the same checks with the counters swapped */

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up and a counter samples the event",
    [BOTH_SEEN] = "IA32_PMC0 plain, IA32_PMC1 PEBS: both are seen, once each",
    [TOLD_APART] = "IA32_PMC0 plain, IA32_PMC1 PEBS: the handler tells them apart",
    [NONE_LOST] = "IA32_PMC0 plain, IA32_PMC1 PEBS: neither interrupt is lost, nothing is left",
    [BOTH_SEEN + SWAPPED] = "IA32_PMC1 plain, IA32_PMC0 PEBS: both are seen, once each",
    [TOLD_APART + SWAPPED] = "IA32_PMC1 plain, IA32_PMC0 PEBS: the handler tells them apart",
    [NONE_LOST + SWAPPED] =
        "IA32_PMC1 plain, IA32_PMC0 PEBS: neither interrupt is lost, nothing is left",
};

static void run(void);

const struct experiment ex15_8 = {
    .id = "15-8",
    .title = "PMI and PEBS interrupt together",
    .needs =
        NEED_PMU | NEED_GLOBAL_CTRL | NEED_GENERAL_2 | NEED_INSTRUCTIONS | NEED_PMI | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * One counter counts plainly and interrupts on its overflow, the other samples with PEBS and
 * interrupts when its buffer is full: IA32_PMC0 plain and IA32_PMC1 PEBS, then the other way round.
 * Both come by the same LVT entry. The handler tells them apart: an overflow by the counter's bit
 * in IA32_PERF_GLOBAL_STATUS, a full buffer by the index (and OvfBuf). The sampling counter's own
 * bit tells nothing: it is set while a record is due, and on some processors longer (15-7). The two
 * are far enough apart for an interrupt each; the first must not swallow the second. SDM vol. 3
 * "Writing the DS Interrupt Service Routine": "the DS ISR must check for all the possible causes".
 */
#define PLAIN_SELECT   (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define OVERFLOW_AFTER 1500 /* instructions */
/* Loads, of 66 instructions 64: thousands of cycles after the overflow, because a PMI may be a
 * thousand late. */
#define PERIOD 30000
#define ROUNDS 600 /* 38400 loads: one record */

static struct pebs_run the_run;

static struct {
    uint64_t plain_bit, pebs_bit;
    unsigned plain, full, both; /* PMIs with that cause */
    unsigned own;               /* the sampling counter's own bit was set */
} seen;

static void on_pmi(const struct pmi *pmi)
{
    bool plain = pmi->status & seen.plain_bit;
    seen.plain += plain;
    seen.full += pmi->pebs_full;
    seen.both += plain && pmi->pebs_full;
    seen.own += (pmi->status & seen.pebs_bit) != 0;
    if (pmi->pebs_full) {
        ds_dump("in the PMI handler");
        ds_buffer_drain(&ds_area()->pebs);
    }
}

static void run_with(unsigned plain, unsigned sampled, unsigned round)
{
    unsigned before, strange;
    bool written, enabled;
    struct take take = take_begin();
    do {
        seen = (typeof(seen)){.plain_bit = PMU_MASK(plain), .pebs_bit = PMU_MASK(sampled)};
        ds_buffer_drain(&ds_area()->pebs);
        pebs_run_fill(&the_run, 0x1000, ROUNDS);
        before = pmu_pmi_count();
        strange = pmu_unexpected_count();
        pmu_select(plain, PLAIN_SELECT);
        written = pmu_write_overflow_in(plain, OVERFLOW_AFTER);
        enabled = pebs_enable(sampled, pebs_lab_event(), PERIOD);
        pebs_lab_on();
        pmu_count(PMU_MASK(plain) | PMU_MASK(sampled), pebs_loads, (uint64_t)&the_run);
        wait_for_pmi(before + 2);
        pebs_lab_off();
        pmu_select(plain, 0);
        pmu_select(sampled, 0);
    } while (take_again_wrong(&take, seen.plain == 1 && seen.full == 1 && seen.both == 0));

    unsigned pmis = pmu_pmi_count() - before;
    value_u64("plain_counter", plain);
    value_u64("pebs_counter", sampled);
    value_u64("pmis", pmis);
    value_u64("with_the_overflow", seen.plain);
    value_u64("with_the_full_buffer", seen.full);
    check(BOTH_SEEN + round, written && enabled && seen.plain == 1 && seen.full == 1);
    value_u64("with_both", seen.both);
    value_u64("with_the_sampling_counters_bit", seen.own);
    check(TOLD_APART + round, seen.plain != 0 && seen.full != 0 && seen.both == 0);
    value_u64("pmis", pmis);
    value_u64("unexpected", pmu_unexpected_count() - strange);
    value_hex("status_after", pmu_status());
    check(NONE_LOST + round, pmis == 2 && pmu_unexpected_count() == strange &&
                                 pmu_causes(pmu_status()) == 0 &&
                                 !ds_buffer_full(&ds_area()->pebs));
}

static void run(void)
{
    const struct ds_setup setup = {.bts_records = pebs_lab_bts_records(),
                                   .bts_threshold = DS_CIRCULAR,
                                   .pebs_records = 2,
                                   .pebs_threshold = 1};
    uint32_t counters = pebs_lab_set_up(&setup) & (PMU_MASK(0) | PMU_MASK(1));
    check(SET_UP, counters != 0);
    if (counters == 0)
        return;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    for (unsigned sampled = 2; sampled-- > 0;) {
        unsigned round = sampled == 1 ? 0 : SWAPPED;
        if (counters & PMU_MASK(sampled))
            run_with(1 - sampled, sampled, round);
        else
            check_skip_all(
                BOTH_SEEN + round, NONE_LOST + round,
                "IA32_PMC%u cannot sample: IA32_PEBS_ENABLE[%u] of PEBS record format %u "
                "(IA32_PERF_CAPABILITIES[11:8])",
                sampled, sampled, pebs_format());
    }
}
