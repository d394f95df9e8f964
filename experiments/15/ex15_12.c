/* Experiment 15-12 · TSC against reference cycles. */
#include "kernel/time.h"
#include "lab/clock_span.h"
#include "lab/experiment.h"
#include "lab/take.h"

enum { BUSY, HALTED_TSC, HALTED_COUNTER };

static const char *const checks[] = {
    [BUSY] = "busy: TSC and reference cycles advance alike within the cost of the reads",
    [HALTED_TSC] = "halted: the TSC advances",
    [HALTED_COUNTER] = "halted: the reference cycles stand but for the instructions around HLT",
};

static void run(void);

const struct experiment ex15_12 = {
    .id = "15-12",
    .title = "TSC against reference cycles",
    .needs = NEED_PMU | NEED_CLOCKS | NEED_LAPIC,
    CHECKS(checks),
    .run = run,
};

/*
 * The same span in TSC ticks and in reference cycles (CPU_CLK_UNHALTED.REF_TSC on FIXED_CTR2; AMD:
 * cycles not in halt at the frequency of P0), which count at the TSC's rate but only while the
 * processor is not halted (SDM vol. 3 "Fixed-Function Performance Counters", "Counting Clocks").
 * Busy they agree within what reading the two takes. Halted by HLT until an alarm of the local APIC
 * timer, the TSC advances and the counter stands, but for the instructions and the interrupt around
 * HLT; that cost is measured by the same steps with the alarm awaited in a loop instead.
 *
 * On processors where the counter moves in larger steps, one step is allowed more. And "the same
 * rate" is so to less than a percent only: from Skylake on the TSC may be a multiple of the crystal
 * (3408 MHz) and FIXED_CTR2 one of the bus clock (3400 MHz), as Linux' turbostat found of
 * IA32_MPERF.
 */
#define BUSY_ITERATIONS 200000
#define HALT_US         5000
#define AWAKE_US        1   /* the alarm that is not slept through */
#define RATE_DIFFERS    100 /* one in so many */
/* After a halt the code around it meets cold caches and, where HLT is C1E, the lowest frequency. */
#define SAFETY       4
#define HALT_RUNNING 16 /* of the halted span; an SMI would stay below that too */

static void run(void)
{
    clock_spans_begin();
    clock_span_busy(1); /* warms the code */
    uint64_t step = clock_ref_step();
    uint64_t cost = clock_span_busy(1).tsc;
    struct take take = take_begin();
    struct clock_span busy = clock_span_busy_best(BUSY_ITERATIONS);
    bool smi = take_has_smi(&take);
    struct clock_span awake = clock_span_alarm(AWAKE_US, false);
    struct clock_span halted = clock_span_alarm(HALT_US, true);
    clock_spans_end();

    bool alike = clock_span_apart(busy) <= cost + step + busy.tsc / RATE_DIFFERS;
    value_u64("tsc", busy.tsc);
    value_u64("reference", busy.ref);
    value_u64("reads_cost", cost);
    value_u64("reference_step", step);
    value_ratio("reference_per_tsc", busy.ref, busy.tsc);
    if (!alike)
        note(smi ? "SMIs fell in (MSR_SMI_COUNT): the TSC runs on in them, the counter may stand"
                 : "the reference cycles do not count at the TSC's rate on this machine");
    check(BUSY, busy.ref != 0 && alike);

    value_u64("tsc", halted.tsc);
    value_u64("asked_for", tsc_ticks_us(HALT_US));
    check(HALTED_TSC, halted.tsc >= tsc_ticks_us(HALT_US));

    uint64_t bound = SAFETY * (awake.ref + step) + halted.tsc / HALT_RUNNING;
    value_u64("reference", halted.ref);
    value_u64("cost_awake", awake.ref);
    value_u64("bound", bound);
    /* What never moves does not stand. */
    check(HALTED_COUNTER, busy.ref != 0 && halted.ref <= bound && bound < halted.tsc / 2);
}
