/* Experiment 18-15 · PMI on another logical processor. */
#include "kernel/percpu.h"
#include "kernel/trap.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "lab/together.h"
#include "lapic/lapic.h"
#include "lapic/smp.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"

enum { TAKES_WORK, PMI_THERE, NONE_HERE, STATUS, COUNTER_HERE, TOGETHER, COUNT_0, COUNT_1 };

static const char *const checks[] = {
    [TAKES_WORK] = "processor 1 takes work and overflows its general counter 0",
    [PMI_THERE] = "the PMI arrives at processor 1, once",
    [NONE_HERE] = "no PMI arrives at processor 0",
    [STATUS] = "the overflow is in the status of processor 1 alone",
    [COUNTER_HERE] = "general counter 0 of processor 0 did not move",
    [TOGETHER] = "both processors count at the same time",
    [COUNT_0] = "processor 0 counts its own instructions and no others",
    [COUNT_1] = "processor 1 counts its own instructions and no others",
};

static void run(void);

const struct experiment ex18_15 = {
    .id = "18-15",
    .title = "PMI on another logical processor",
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI | NEED_SMP,
    CHECKS(checks),
    .run = run,
};

/*
 * Each logical processor has counters and a local APIC of its own (SDM vol. 3 "Performance
 * Monitoring and Intel Hyper-Threading Technology": the performance-monitoring MSRs are duplicated
 * for each logical processor; "Local Vector Table"). The boot processor started processor 1 by
 * INIT-SIPI-SIPI and sends it work: there general counter 0 overflows, and there, and only there,
 * the interrupt must arrive. Then both count at the same time, each its own loop of a different,
 * known length.
 *
 * What can go wrong: the other processor's LVT entry or IDT is not set up, its PMU is still the
 * first one's or that of the firmware, the interrupt goes to the processor that booted, one
 * processor's work shows in the other's counter.
 */
#define OTHER           1 /* the processor that this is about */
#define SELECT          (pmu_event(PMU_EVENT_INSTRUCTIONS) | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS      100000
#define OVERFLOW_AFTER  20000  /* a tenth of the loop's instructions */
#define ITERATIONS_BOTH 300000 /* long enough that the two runs overlap */
#define TIMEOUT_MS      2000

static struct side {
    unsigned pmis;    /* counted by the handler on the processor that runs it */
    uint32_t apic_id; /* of the processor that took the last of them */
    uint64_t status, rip, start, count;
    bool written;
} sides[MAX_CPUS];

static void on_pmi(const struct pmi *pmi)
{
    struct side *side = &sides[this_cpu()->index];
    side->pmis++;
    side->apic_id = lapic_id();
    side->status = pmi->status;
    side->rip = pmi->frame->rip;
}

/* On processor 1. */
static void overflow_here(void *arg)
{
    struct side *side = arg;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pmu_select(0, SELECT | PERFEVTSEL_INT);
    side->written = pmu_write_overflow_in(0, OVERFLOW_AFTER);
    side->start = pmu_read(0);
    pmu_count(PMU_MASK(0), body_spin, ITERATIONS);
    wait_for_pmi(1);
    side->count = pmu_read(0);
}

static void check_interrupt_there(void)
{
    const struct side *here = &sides[0], *there = &sides[OTHER];

    pmu_set_pmi_handler(on_pmi, PMI_STOP); /* here too: a stray one must be seen and counted */
    uint64_t before = pmu_read(0);
    bool ran = smp_run_on(OTHER, overflow_here, &sides[OTHER], TIMEOUT_MS);
    if (!ran)
        value_str("why", "%s", smp_why(OTHER));
    value_u64("apic_id", smp_apic_id(OTHER));
    value_hex("rip", there->rip);
    check(TAKES_WORK, ran && there->written && there->rip != 0);

    value_u64("pmis_on_processor_1", there->pmis);
    value_u64("taken_by_apic_id", there->apic_id);
    check(PMI_THERE, there->pmis == 1 && there->apic_id == smp_apic_id(OTHER));

    value_u64("pmis_on_processor_0", here->pmis);
    value_u64("unexpected_on_processor_0", pmu_unexpected_count());
    check(NONE_HERE, there->pmis != 0 && here->pmis == 0 && pmu_unexpected_count() == 0);

    if (pmu_info()->kind->status != 0) {
        uint64_t status = pmu_status();
        value_hex("status_there", there->status);
        value_hex("status_here", status);
        check(STATUS, (there->status & PMU_MASK(0)) && pmu_causes(status) == 0);
    } else {
        check_skip(STATUS, "%s", pmu_info()->no_global_ctrl);
    }

    uint64_t after = pmu_read(0);
    value_u64("pmc0_there", there->count);
    value_u64("pmc0_here_before", before);
    value_u64("pmc0_here_after", after);
    check(COUNTER_HERE, before == 0 && after == 0 && there->count != there->start);
}

static void value_meeting(const char *key, const struct together *side)
{
    value_str(key, "the other had%s come, and%s closed", side->met ? "" : " not",
              side->alone ? "" : " not");
}

static void check_count(unsigned which, const struct together *side, uint64_t expected,
                        uint64_t empty)
{
    value_u64("pmc0", side->count);
    value_u64("expected", expected);
    value_known_loss(empty, side->count, expected);
    check(which, side->written && side->before == 0 && side->count == expected);
}

static void check_counts_of_both(void)
{
    static struct together side[2];
    uint64_t expected[2];
    for (unsigned i = 0; i < 2; i++) {
        side[i].iterations = ITERATIONS_BOTH * (i + 1);
        expected[i] = insns_in_window(PMU_MASK(0), &body_spin_insns, side[i].iterations);
    }

    pmu_select(0, SELECT);
    uint64_t empty = count_empty(PMU_MASK(0), 0);
    bool ran;
    struct take take = take_begin();
    do
        ran = count_together(OTHER, SELECT, body_spin, side);
    while (take_again_told(&take, ran && (side[0].smi || side[1].smi),
                           !ran || (side[0].count <= expected[0] && side[1].count <= expected[1])));
    if (!ran)
        value_str("why", "%s", smp_why(OTHER));
    value_meeting("when_0_opened", &side[0]);
    value_meeting("when_1_opened", &side[1]);
    check(TOGETHER, ran && side[0].met && side[1].met && !side[0].alone && !side[1].alone);
    check_count(COUNT_0, &side[0], expected[0], empty);
    check_count(COUNT_1, &side[1], expected[1], empty);
}

static void run(void)
{
    check_interrupt_there();
    check_counts_of_both();
}
