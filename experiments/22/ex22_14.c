/* Experiment 22-14 · APERF, MPERF and the counters. */
#include "kernel/msr.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lab/bodies.h"
#include "lab/clock_span.h"
#include "lab/counter_of.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "x86/msr.h"

enum { BUSY, RATIOS, HALTED_MSRS, HALTED_COUNTERS };

static const char *const checks[] = {
    [BUSY] = "busy: IA32_APERF, IA32_MPERF, core cycles and reference cycles advance",
    [RATIOS] = "busy: APERF by MPERF is core by reference cycles, within one in a hundred",
    [HALTED_MSRS] = "halted: IA32_APERF and IA32_MPERF stand but for the instructions around HLT",
    [HALTED_COUNTERS] = "halted: core cycles and reference cycles stand likewise",
};

static void run(void);

const struct experiment ex22_14 = {
    .id = "22-14",
    .title = "APERF, MPERF and the counters",
    .needs = NEED_PMU | NEED_CLOCKS | NEED_LAPIC | NEED_APERF,
    CHECKS(checks),
    .run = run,
};

/*
 * At which frequency does the core run? Two pairs of clocks tell, each by its ratio: IA32_APERF and
 * IA32_MPERF, by which operating systems judge frequencies, and the counters of core cycles and of
 * reference cycles. SDM vol. 3 "Hardware Coordination Feedback": IA32_MPERF increments at a fixed
 * frequency and IA32_APERF in proportion to actual performance, both in C0 alone, and "only the
 * IA32_APERF/IA32_MPERF ratio is architecturally defined"; "Cycle Counting and Opportunistic
 * Processor Operation": FIXED_CTR2 counts at the TSC's frequency, IA32_MPERF at a fixed one. So the
 * values are reported, and the ratios of one span must agree. One in a hundred is left for
 * reference clocks that differ: from Skylake on the TSC may be a multiple of the crystal (3408 MHz)
 * and IA32_MPERF one of the bus clock (3400 MHz), as Linux' turbostat found. AMD's pair is the same
 * two registers, IA32_MPERF at the frequency of P0 (APM vol. 2 "Effective Frequency").
 *
 * Then the same across HLT, until an alarm of the local APIC timer: what is not in C0 is in neither
 * pair. What the instructions and the interrupt around HLT take is measured by the same steps with
 * the alarm awaited in a loop. A forced idle period (vol. 3 "Hardware Duty Cycling") would be in
 * IA32_MPERF alone; the firmware must ask for those, and the kernel does not.
 */
#define RINGS           (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define BUSY_ITERATIONS 1000000
#define APART           100 /* one in so many */
#define HALT_US         5000
#define AWAKE_US        1  /* the alarm that is not slept through */
#define SAFETY          4  /* after a halt come cold caches, and perhaps the lowest frequency */
#define HALT_RUNNING    16 /* of the halted span; an SMI would stay below that too */

/* FIXED_CTR1 and 2; without them general counters 0 and 1. */
static unsigned core_counter, ref_counter;

struct clocks {
    uint64_t tsc, aperf, mperf, core, ref;
};

/* Always in this order: the time between two such is the same for each clock. */
static struct clocks read_clocks(void)
{
    struct clocks now;
    now.tsc = rdtsc();
    now.aperf = rdmsr(MSR_IA32_APERF);
    now.mperf = rdmsr(MSR_IA32_MPERF);
    now.core = pmu_read(core_counter);
    now.ref = pmu_read(ref_counter);
    return now;
}

static struct clocks since(const struct clocks *start)
{
    struct clocks now = read_clocks();
    now.tsc -= start->tsc;
    now.aperf -= start->aperf;
    now.mperf -= start->mperf;
    now.core = (now.core - start->core) & pmu_counter_max(core_counter);
    now.ref = (now.ref - start->ref) & pmu_counter_max(ref_counter);
    return now;
}

static struct clocks busy_span(void)
{
    struct clocks start = read_clocks();
    body_spin(BUSY_ITERATIONS);
    return since(&start);
}

static struct clocks alarm_span(uint32_t microseconds, bool halt)
{
    irq_disable();
    struct clocks start = read_clocks();
    clock_wait_alarm(microseconds, halt);
    struct clocks span = since(&start);
    irq_enable();
    return span;
}

/* a / b and c / d differ by less than one in APART. Without fractions: the counts are those of some
 * milliseconds, far below 2^28. */
static bool ratios_agree(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t left = a * d, right = c * b;
    return right != 0 && (left > right ? left - right : right - left) <= right / APART;
}

static bool pairs_agree(const struct clocks *span)
{
    return ratios_agree(span->aperf, span->mperf, span->core, span->ref);
}

static void value_clocks(const struct clocks *span)
{
    value_u64("tsc", span->tsc);
    value_u64("aperf", span->aperf);
    value_u64("mperf", span->mperf);
    value_u64("core_cycles", span->core);
    value_u64("reference_cycles", span->ref);
}

/* Of a clock that ticked so often in a busy span and awake, what may be its own across the halt. */
static bool stands(const char *bound_key, uint64_t halted, uint64_t awake, uint64_t busy,
                   uint64_t all_of_it)
{
    uint64_t bound = SAFETY * awake + all_of_it / HALT_RUNNING;
    value_u64(bound_key, bound);
    /* What never moves does not stand. */
    return busy != 0 && halted <= bound && bound < all_of_it / 2;
}

static void run(void)
{
    core_counter = counter_of_select(PMU_EVENT_CORE_CYCLES, 0, RINGS);
    ref_counter = counter_of_select(PMU_EVENT_REF_CYCLES, 1, RINGS);
    pmu_open(PMU_MASK(core_counter) | PMU_MASK(ref_counter));
    busy_span(); /* warms the code, and the core up to its frequency */
    struct clocks busy;
    struct take take = take_begin();
    do
        busy = busy_span();
    while (take_again(&take, pairs_agree(&busy)));
    struct clocks awake = alarm_span(AWAKE_US, false);
    struct clocks halted = alarm_span(HALT_US, true);
    pmu_close();

    value_clocks(&busy);
    check(BUSY, busy.aperf != 0 && busy.mperf != 0 && busy.core != 0 && busy.ref != 0);

    value_ratio("aperf_per_mperf", busy.aperf, busy.mperf);
    value_ratio("core_per_reference", busy.core, busy.ref);
    value_ratio("mperf_per_tsc", busy.mperf, busy.tsc);
    value_ratio("reference_per_tsc", busy.ref, busy.tsc);
    check(RATIOS, pairs_agree(&busy));

    /* How far the halted time would have brought each clock. */
    uint64_t core_ticks = busy.mperf == 0 ? 0 : halted.tsc * busy.aperf / busy.mperf;
    value_u64("tsc", halted.tsc);
    value_u64("aperf", halted.aperf);
    bool aperf = stands("aperf_bound", halted.aperf, awake.aperf, busy.aperf, core_ticks);
    value_u64("mperf", halted.mperf);
    bool mperf = stands("mperf_bound", halted.mperf, awake.mperf, busy.mperf, halted.tsc);
    check(HALTED_MSRS, aperf && mperf);

    value_u64("core_cycles", halted.core);
    bool core = stands("core_bound", halted.core, awake.core, busy.core, core_ticks);
    value_u64("reference_cycles", halted.ref);
    bool ref = stands("reference_bound", halted.ref, awake.ref, busy.ref, halted.tsc);
    check(HALTED_COUNTERS, core && ref);
}
