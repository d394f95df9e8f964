/*
 * Experiment 18-15 · PMI on another logical processor.
 *
 * Each logical processor has counters and a local APIC of its own (SDM vol. 3 "Performance
 * Monitoring and Intel Hyper-Threading Technology": the performance-monitoring MSRs are duplicated
 * for each logical processor; "Local Vector Table"). The boot processor started processor 1 by
 * INIT-SIPI-SIPI and sends it work: there PMC0 overflows, and there, and only there, the interrupt
 * must arrive. Then both count at the same time, each its own loop of a different, known length.
 *
 * What can go wrong: the other processor's LVT entry or IDT is not set up, its PMU is still the
 * first one's or that of the firmware, the interrupt goes to the processor that booted, one
 * processor's work shows in the other's counter.
 *
 * All waiting is by memory that both see; each processor's results stand in a structure of its own.
 */
#include "lab/bodies.h"
#include "lab/experiment_old.h"
#include "lab/pmi_wait.h"
#include "kernel/percpu.h"
#include "lapic/smp.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define OTHER           1 /* the processor that this is about */
#define SELECT          (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS      100000
#define OVERFLOW_AFTER  20000  /* a tenth of the loop's instructions */
#define ITERATIONS_BOTH 300000 /* long enough that the two runs overlap */
#define TIMEOUT_MS      2000
#define MEETING_US      500000

static struct side {
    unsigned pmis;    /* counted by the handler on the processor that runs it */
    uint32_t apic_id; /* of the processor that took the last of them */
    uint64_t status, rip, count_before, count;
    bool written;
    bool met;             /* both had come before this side opened its window */
    bool alone;           /* the other's window was closed when this one opened */
    volatile bool closed; /* read by the other side */
} sides[MAX_CPUS];
static volatile unsigned arrived;

static struct side *my_side(void)
{
    return &sides[this_cpu()->index];
}

static void on_pmi(const struct pmi *pmi)
{
    struct side *side = my_side();
    side->pmis++;
    side->apic_id = lapic_id();
    side->status = pmi->status;
    side->rip = pmi->frame->rip;
}

/* On processor 1. */
static void overflow_here(void *arg)
{
    struct side *side = my_side();
    (void)arg;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pmu_select(0, SELECT | PERFEVTSEL_INT);
    side->written = pmu_write_overflow_in(0, OVERFLOW_AFTER);
    pmu_count(PMU_MASK(0), body_spin, ITERATIONS);
    wait_for_pmi(1);
    side->count = pmu_read(0);
}

static uint64_t iterations_of(unsigned index)
{
    return ITERATIONS_BOTH * (index + 1);
}

/* On both, at the same time: the windows open when both have come. other: the other's side. Two
 * spans overlap when neither had ended before the other began. */
static void count_together(void *other)
{
    struct side *side = my_side();
    pmu_select(0, SELECT);
    side->written = pmu_write(0, 0);
    side->count_before = pmu_read(0);
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    uint64_t end = rdtsc() + tsc_ticks_us(MEETING_US);
    while (arrived < 2 && rdtsc() < end)
        __asm__ volatile("pause");
    side->met = arrived == 2;
    irq_disable(); /* an interrupt would be in the count */
    side->alone = ((const struct side *)other)->closed;
    pmu_count(PMU_MASK(0), body_spin, iterations_of(this_cpu()->index));
    side->closed = true;
    irq_enable();
    side->count = pmu_read(0);
}

static uint64_t expected(unsigned index)
{
    return pmu_window_insns + insns_of(&body_spin_insns, iterations_of(index));
}

static void check_interrupt_there(void)
{
    const struct side *here = &sides[0], *there = &sides[OTHER];

    pmu_set_pmi_handler(on_pmi, PMI_STOP); /* here too: a stray one must be seen and counted */
    uint64_t mine = pmu_read(0);
    bool ran = smp_run_on(OTHER, overflow_here, NULL, TIMEOUT_MS);
    if (!ran)
        value_str("why", "%s", smp_why(OTHER));
    value_u64("apic_id", smp_apic_id(OTHER));
    value_hex("rip", there->rip);
    check(ran && there->written && there->rip != 0);

    value_u64("pmis_on_processor_1", there->pmis);
    value_u64("taken_by_apic_id", there->apic_id);
    check(there->pmis == 1 && there->apic_id == smp_apic_id(OTHER));

    value_u64("pmis_on_processor_0", here->pmis);
    value_u64("unexpected_on_processor_0", pmu_unexpected_count());
    check(here->pmis == 0 && pmu_unexpected_count() == 0);

    if (pmu_info()->global_ctrl) {
        value_hex("status_there", there->status);
        value_hex("status_here", pmu_status());
        check((there->status & PMU_MASK(0)) && pmu_causes(pmu_status()) == 0);
    } else {
        check_skip("no IA32_PERF_GLOBAL_STATUS: CPUID.0AH:EAX[7:0] < 2");
    }

    value_u64("pmc0_there", there->count);
    value_u64("pmc0_here_before", mine);
    value_u64("pmc0_here_after", pmu_read(0));
    check(mine == 0 && pmu_read(0) == 0 && there->count != 0);
}

static bool both_count(void)
{
    sides[0].closed = sides[OTHER].closed = false;
    arrived = 0;
    bool started = smp_start(OTHER, count_together, &sides[0]);
    count_together(&sides[OTHER]);
    return started && smp_wait(OTHER, TIMEOUT_MS);
}

static void check_counts_of_both(void)
{
    const struct side *here = &sides[0], *there = &sides[OTHER];

    bool ran = both_count();
    for (int i = 1;
         i < EXACT_TRIES && ran && (here->count > expected(0) || there->count > expected(OTHER));
         i++)
        ran = both_count();
    if (!ran)
        value_str("why", "%s", smp_why(OTHER));
    value_str("when_0_opened", "the other had%s come, and%s closed", here->met ? "" : " not",
              here->alone ? "" : " not");
    value_str("when_1_opened", "the other had%s come, and%s closed", there->met ? "" : " not",
              there->alone ? "" : " not");
    check(ran && here->met && there->met && !here->alone && !there->alone);

    value_u64("pmc0", here->count);
    value_u64("expected", expected(0));
    check(here->written && here->count_before == 0 && here->count == expected(0));

    value_u64("pmc0", there->count);
    value_u64("expected", expected(OTHER));
    check(there->written && there->count_before == 0 && there->count == expected(OTHER));
}

static void run(void)
{
    for (unsigned i = 0; i < MAX_CPUS; i++)
        sides[i] = (struct side){0};
    check_interrupt_there();
    check_counts_of_both();
}

static const char *const checks[] = {
    "processor 1 takes work and overflows its PMC0",
    "the PMI arrives at processor 1, once",
    "no PMI arrives at processor 0",
    "the overflow is in IA32_PERF_GLOBAL_STATUS of processor 1 alone",
    "PMC0 of processor 0 did not move",
    "both processors count at the same time",
    "processor 0 counts its own instructions and no others",
    "processor 1 counts its own instructions and no others",
    NULL,
};

const struct experiment ex18_15 = {
    .id = "18-15",
    .title = "PMI on another logical processor",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI | NEED_SMP,
    .run = run,
};
