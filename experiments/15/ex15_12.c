/*
 * Experiment 15-12 · TSC against CPU_CLK_UNHALTED.REF_TSC.
 *
 * The same span in TSC ticks and in FIXED_CTR2, which counts at the TSC's rate but only while the
 * processor is not halted (SDM vol. 3 "Fixed-Function Performance Counters", "Counting Clocks").
 * Busy they agree within what reading the two takes. Halted by HLT until an alarm of the local APIC
 * timer, the TSC advances and the counter stands, but for the instructions and the interrupt around
 * HLT; that cost is measured by the same steps with the alarm awaited in a loop instead.
 *
 * On processors where FIXED_CTR2 counts in larger steps, one step is allowed more. And "the same
 * rate" is so to less than a percent only: from Skylake on the TSC may be a multiple of the crystal
 * (3408 MHz) and FIXED_CTR2 one of the bus clock (3400 MHz), as Linux' turbostat found of
 * IA32_MPERF. A real processor also stops for microseconds when its frequency changes, or runs an
 * SMI: the best of a few tries counts.
 */
#include "lab/bodies.h"
#include "lab/experiment_old.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define REF 2 /* FIXED_CTR2 */
#define FIXED_CTRL_REF                                                                             \
    ((uint64_t)(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR) << (REF * FIXED_CTR_CTRL_BITS))
#define BUSY_ITERATIONS 200000
#define HALT_US         5000
#define AWAKE_US        1 /* the alarm that is not slept through */
#define STEP_READS      64
#define TRIES           5
#define RATE_DIFFERS    100 /* one in so many */
/* After a halt the code around it meets cold caches and, where HLT is C1E, the lowest frequency. */
#define SAFETY       4
#define HALT_RUNNING 16 /* of the halted span; an SMI would stay below that too */

struct span {
    uint64_t tsc, ref;
};

static volatile bool alarm_came;

static void on_alarm(void)
{
    alarm_came = true;
}

static struct span between(const struct clock_pair *first, const struct clock_pair *second)
{
    return (struct span){second->tsc - first->tsc,
                         (second->counter - first->counter) & pmu_counter_max(PMU_FIXED(REF))};
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static struct span busy_span(uint64_t iterations)
{
    struct clock_pair pair[2];
    body_clock_read(&pair[0], pmu_rdpmc_selector(PMU_FIXED(REF)));
    body_spin(iterations);
    body_clock_read(&pair[1], pmu_rdpmc_selector(PMU_FIXED(REF)));
    return between(&pair[0], &pair[1]);
}

/* A span that ends with the alarm, slept through or awaited in a loop. */
static struct span alarm_span(uint32_t microseconds, bool halt)
{
    struct clock_pair pair[2];
    alarm_came = false;
    irq_disable();
    body_clock_read(&pair[0], pmu_rdpmc_selector(PMU_FIXED(REF)));
    lapic_alarm(microseconds, on_alarm);
    while (!alarm_came) {
        if (halt)
            body_halt();
        else
            body_open_for_interrupts();
        irq_disable();
    }
    body_clock_read(&pair[1], pmu_rdpmc_selector(PMU_FIXED(REF)));
    irq_enable();
    return between(&pair[0], &pair[1]);
}

/* The smallest step in which the counter is seen to move. */
static uint64_t counter_step(void)
{
    uint64_t step = UINT64_MAX, last = pmu_rdpmc(PMU_FIXED(REF));
    for (int i = 0; i < STEP_READS; i++) {
        uint64_t now = pmu_rdpmc(PMU_FIXED(REF));
        if (now != last && now - last < step)
            step = now - last;
        last = now;
    }
    return step == UINT64_MAX ? 0 : step;
}

static struct span best_busy_span(void)
{
    struct span best = busy_span(BUSY_ITERATIONS);
    for (int i = 1; i < TRIES; i++) {
        struct span s = busy_span(BUSY_ITERATIONS);
        if (distance(s.tsc, s.ref) < distance(best.tsc, best.ref))
            best = s;
    }
    return best;
}

static void run(void)
{
    pmu_select_fixed(FIXED_CTRL_REF);
    pmu_open(PMU_MASK(PMU_FIXED(REF)));
    busy_span(1); /* warms the code */
    uint64_t step = counter_step();
    uint64_t cost = busy_span(1).tsc;
    struct span busy = best_busy_span();
    struct span awake = alarm_span(AWAKE_US, false);
    struct span halted = alarm_span(HALT_US, true);
    pmu_close();
    uint64_t allowed = cost + step + busy.tsc / RATE_DIFFERS;

    value_u64("tsc", busy.tsc);
    value_u64("fixed2", busy.ref);
    value_u64("reads_cost", cost);
    value_u64("fixed2_step", step);
    value_ratio("fixed2_per_tsc", busy.ref, busy.tsc);
    if (distance(busy.tsc, busy.ref) > allowed)
        note("FIXED_CTR2 does not count at the TSC's rate on this machine");
    check(busy.ref != 0 && distance(busy.tsc, busy.ref) <= allowed);

    value_u64("tsc", halted.tsc);
    value_u64("asked_for", tsc_ticks_us(HALT_US));
    check(halted.tsc >= tsc_ticks_us(HALT_US));

    uint64_t bound = SAFETY * (awake.ref + step) + halted.tsc / HALT_RUNNING;
    value_u64("fixed2", halted.ref);
    value_u64("cost_awake", awake.ref);
    value_u64("bound", bound);
    check(halted.ref <= bound && bound < halted.tsc / 2);
}

static const char *const checks[] = {
    "busy: TSC and FIXED_CTR2 advance alike within the cost of the reads",
    "halted: the TSC advances",
    "halted: FIXED_CTR2 stands but for the instructions around HLT",
    NULL,
};

const struct experiment ex15_12 = {
    .id = "15-12",
    .title = "TSC against CPU_CLK_UNHALTED.REF_TSC",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_FIXED | NEED_FIXED_3 | NEED_LAPIC,
    .run = run,
};
