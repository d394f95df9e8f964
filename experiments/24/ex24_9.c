/* Experiment 24-9 · IRPERF, APERF and MPERF. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lab/bodies.h"
#include "lab/clock_span.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "x86/amd.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

enum { EXACT, OFF, COPIES, READ_ONLY, RATIO, STEADY, HALTED };

static const char *const checks[] = {
    [EXACT] = "IRPerfCount takes exactly the function's known number of instructions",
    [OFF] = "with HWCR.IRPerfEn clear it stands",
    [COPIES] = "the read-only copies lie between two reads of MPERF, and of APERF",
    [READ_ONLY] = "they cannot be written",
    [RATIO] = "busy: APERF moves as the counter of cycles not in halt, within one in a hundred",
    [STEADY] = "busy: MPERF moves as the TSC, within one in a hundred",
    [HALTED] = "halted: APERF and MPERF stand but for the instructions around HLT",
};

static void run(void);

const struct experiment ex24_9 = {
    .id = "24-9",
    .title = "IRPERF, APERF and MPERF",
    .needs = NEED_AMD | NEED_PMU | NEED_LAPIC,
    CHECKS(checks),
    .run = run,
};

/*
 * Counters that always run. IRPerfCount (C000_00E9H) counts retired instructions of all rings while
 * HWCR.IRPerfEn is 1: APM vol. 2 "Instructions Retired Performance Counter". No window opens it, so
 * it is read before and after; what the two reads take is measured with the empty function and
 * subtracted. Erratum 1054 of family 17H makes it count wrong (Linux leaves it off there).
 *
 * MPERF counts at the frequency of P0, which is the TSC's, and APERF at the core's own, both in C0
 * alone: vol. 2 "Determining Processor Effective Frequency"; C000_00E7H and C000_00E8H are copies
 * that no write changes. The counter of cycles not in halt counts what APERF counts. One in a
 * hundred is left for what the reads take. 22-14 is the same on Intel's, by ratios.
 */
#define ITERATIONS      1000
#define BUSY_ITERATIONS 1000000
#define APART           100 /* one in so many */
#define HALT_US         5000
#define AWAKE_US        1  /* the alarm that is not slept through */
#define SAFETY          4  /* behind a halt come cold caches, and perhaps the lowest frequency */
#define HALT_RUNNING    16 /* of the halted span; an SMI would stay below that too */
#define CYCLES          (pmu_event(PMU_EVENT_CORE_CYCLES) | PERFEVTSEL_USR | PERFEVTSEL_OS)

/* ---- IRPERF ---- */

static uint64_t irperf_span(window_body body, uint64_t iterations)
{
    irq_disable();
    uint64_t before = rdmsr(MSR_AMD_IRPERF);
    body(iterations);
    uint64_t after = rdmsr(MSR_AMD_IRPERF);
    irq_enable();
    return after - before;
}

static void check_irperf(void)
{
    uint64_t hwcr, empty, full;
    if (!(cpuid(0x80000008, 0).ebx & CPUID_80000008_EBX_IRPERF)) {
        check_skip_all(EXACT, OFF, "no IRPerfCount: CPUID.80000008H:EBX[1] = 0");
        return;
    }
    if (!rdmsr_safe(MSR_AMD_HWCR, &hwcr) || !wrmsr_safe(MSR_AMD_HWCR, hwcr | AMD_HWCR_IRPERF_EN)) {
        note("HWCR (C0010015H) raises #GP");
        return;
    }
    uint64_t expected = insns_of(&body_mixed_insns, ITERATIONS) - insns_of(&body_empty_insns, 0);
    irperf_span(body_mixed, ITERATIONS);
    struct take take = take_begin();
    do {
        empty = irperf_span(body_empty, 0);
        full = irperf_span(body_mixed, ITERATIONS);
    } while (take_again(&take, full - empty == expected));
    value_u64("around_the_function", full);
    value_u64("around_nothing", empty);
    check_equal(EXACT, "difference", full - empty, expected);
    wrmsr(MSR_AMD_HWCR, hwcr & ~AMD_HWCR_IRPERF_EN);
    check_equal(OFF, "counted", irperf_span(body_mixed, ITERATIONS), 0);
    wrmsr(MSR_AMD_HWCR, hwcr);
}

/* ---- The copies ---- */

/* The copy is read between two reads of the register. */
static bool lies_between(uint32_t msr, uint32_t copy, const char *key)
{
    uint64_t before = rdmsr(msr), value = 0;
    bool answers = rdmsr_safe(copy, &value);
    uint64_t after = rdmsr(msr);
    value_u64(key, value - before);
    return answers && value - before <= after - before;
}

static void check_copies(void)
{
    if (!(cpuid(0x80000007, 0).edx & CPUID_80000007_EDX_RO_EFF_FREQ)) {
        check_skip_all(COPIES, READ_ONLY, "no read-only copies: CPUID.80000007H:EDX[10] = 0");
        return;
    }
    bool mperf = lies_between(MSR_IA32_MPERF, MSR_AMD_MPERF_RO, "mperf_behind_the_first_read");
    bool aperf = lies_between(MSR_IA32_APERF, MSR_AMD_APERF_RO, "aperf_behind_the_first_read");
    check(COPIES, mperf && aperf);
    bool taken = wrmsr_safe(MSR_AMD_MPERF_RO, 0);
    taken = wrmsr_safe(MSR_AMD_APERF_RO, 0) || taken;
    value_str("wrmsr", "%s", taken ? "is taken" : "#GP");
    check(READ_ONLY, rdmsr(MSR_IA32_MPERF) != 0 && lies_between(MSR_IA32_MPERF, MSR_AMD_MPERF_RO,
                                                                "mperf_behind_the_first_read"));
}

/* ---- The frequency ---- */

struct clocks {
    uint64_t tsc, aperf, mperf, cycles;
};

/* Always in this order: the time between two such is the same for each clock. */
static struct clocks read_clocks(void)
{
    struct clocks now;
    now.tsc = rdtsc();
    now.aperf = rdmsr(MSR_IA32_APERF);
    now.mperf = rdmsr(MSR_IA32_MPERF);
    now.cycles = pmu_read(0);
    return now;
}

static struct clocks since(const struct clocks *start)
{
    struct clocks now = read_clocks();
    now.tsc -= start->tsc;
    now.aperf -= start->aperf;
    now.mperf -= start->mperf;
    now.cycles = (now.cycles - start->cycles) & pmu_counter_max(0);
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

static bool agree(uint64_t a, uint64_t b)
{
    return b != 0 && (a > b ? a - b : b - a) <= b / APART;
}

/* Of a clock that ticked so often in a busy span and awake, what may be its own across the halt. */
static bool stands(const char *bound_key, uint64_t halted, uint64_t awake, uint64_t busy,
                   uint64_t all_of_it)
{
    uint64_t bound = SAFETY * awake + all_of_it / HALT_RUNNING;
    value_u64(bound_key, bound);
    return busy != 0 && halted <= bound && bound < all_of_it / 2;
}

static void check_frequency(void)
{
    if (!(cpuid(6, 0).ecx & CPUID_6_ECX_HW_COORD_FEEDBACK)) {
        check_skip_all(RATIO, HALTED, "no APERF and MPERF: CPUID.06H:ECX[0] = 0");
        return;
    }
    pmu_select(0, CYCLES);
    pmu_open(PMU_MASK(0));
    busy_span(); /* warms the code, and the core up to its frequency */
    struct clocks busy;
    struct take take = take_begin();
    do
        busy = busy_span();
    while (take_again(&take, agree(busy.aperf, busy.cycles) && agree(busy.mperf, busy.tsc)));
    struct clocks awake = alarm_span(AWAKE_US, false);
    struct clocks halted = alarm_span(HALT_US, true);
    pmu_close();

    value_u64("aperf", busy.aperf);
    value_u64("cycles", busy.cycles);
    value_ratio("aperf_per_mperf", busy.aperf, busy.mperf);
    check(RATIO, agree(busy.aperf, busy.cycles));
    value_u64("mperf", busy.mperf);
    value_u64("tsc", busy.tsc);
    check(STEADY, agree(busy.mperf, busy.tsc));

    /* How far the halted time would have brought each clock. */
    uint64_t core_ticks = busy.mperf == 0 ? 0 : halted.tsc * busy.aperf / busy.mperf;
    value_u64("tsc", halted.tsc);
    value_u64("aperf", halted.aperf);
    bool aperf = stands("aperf_bound", halted.aperf, awake.aperf, busy.aperf, core_ticks);
    value_u64("mperf", halted.mperf);
    bool mperf = stands("mperf_bound", halted.mperf, awake.mperf, busy.mperf, halted.tsc);
    check(HALTED, aperf && mperf);
}

static void run(void)
{
    check_irperf();
    check_copies();
    check_frequency();
}
