/* Experiment 22-3 · Edge detect. */
#include <stddef.h>

#include "kernel/cpuid.h"
#include "kernel/smi.h"
#include "kernel/trap.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "lapic/lapic.h"
#include "pmu/interrupt_events.h"
#include "pmu/pmu.h"
#include "x86/apic.h"

enum { BOTH_WAYS, BURSTS, STALLS, EACH, WAITS, LENGTH };

static const char *const checks[] = {
    [BOTH_WAYS] = "a condition and its opposite rise equally often, to within one",
    [BURSTS] = "bursts: no more rises than cycles",
    [STALLS] = "stalls: no more rises than cycles",
    [EACH] = "each iteration of the body has at least one burst and one stall",
    [WAITS] = "each interrupt that comes while interrupts are masked makes one wait",
    [LENGTH] = "none waits longer than they are masked, and each longer when they are longer",
};

static void run(void);

const struct experiment ex22_3 = {
    .id = "22-3",
    .title = "Edge detect",
    .needs = NEED_PMU | NEED_GENERAL_2 | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * With CMASK a counter counts the cycles in which a condition holds, with E as well only those in
 * which it comes to hold (SDM vol. 3 "Architectural Performance Monitoring Version 1"). The
 * condition here is that an instruction retires: CMASK 1. With INV it is that none does. The body
 * makes bursts and stalls by turns: a division, for which all wait, and additions behind it.
 *
 * A condition cannot rise twice without its opposite rising in between: in one window the two
 * differ by at most one. How often it rises is how many bursts there are, and the cycles by that is
 * their mean length.
 *
 * Where the selects open one counter after the other, their spans are shifted by a few instructions
 * of the window's own. A condition comes to hold, or ceases, no more often than they retire: so
 * many rises more, or fewer, are the window's.
 *
 * Where counters stand in SMM (FREEZE_WHILE_SMM), a condition that holds before and after an SMI
 * may rise anew behind it; so each SMI that falls in may make one more.
 */
#define PLAIN      (pmu_event(PMU_EVENT_INSTRUCTIONS) | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define RETIRING   (PLAIN | ARCH_U64(1) << PERFEVTSEL_CMASK_SHIFT)
#define STALLED    (RETIRING | PERFEVTSEL_INV)
#define ITERATIONS 300
#define BOTH       (PMU_MASK(0) | PMU_MASK(1))

/* What two selects count in one window. */
struct pair {
    uint64_t first, second;
    uint32_t smis;
};

static struct pair count_pair(uint64_t first, uint64_t second, window_body body, uint64_t arg)
{
    pmu_select(0, first);
    pmu_select(1, second);
    uint32_t smis = smi_count();
    count_from_0(BOTH, body, arg);
    return (struct pair){pmu_read(0), pmu_read(1), smi_count() - smis};
}

static bool alternate(const struct pair *rises)
{
    uint64_t more = rises->first > rises->second ? rises->first : rises->second;
    uint64_t fewer = rises->first + rises->second - more;
    return fewer != 0 && more - fewer <= 1 + rises->smis + pmu_window_shift(BOTH);
}

static bool no_more_rises(const struct pair *state)
{
    return state->second != 0 && state->second <= state->first + pmu_window_shift(BOTH);
}

/* A state's cycles and rises in one window. */
static void check_state(unsigned which, uint64_t select)
{
    struct pair state;
    struct take take = take_begin();
    do
        state = count_pair(select, select | PERFEVTSEL_E, body_bursts, ITERATIONS);
    while (take_again(&take, no_more_rises(&state)));
    value_u64("cycles", state.first);
    value_u64("rises", state.second);
    value_ratio("mean_length", state.first, state.second);
    check(which, no_more_rises(&state));
}

/* ---- Interrupts that wait ---- */

/*
 * An event may be a condition itself: that an interrupt is pending while RFLAGS.IF is 0. Its cycles
 * are the time that interrupts wait, its rises how many did. INTERRUPTS times the processor sends
 * one to itself with interrupts masked and lets it wait for a known number of dependent steps, a
 * cycle each at least.
 *
 * An SMI that falls in between masks interrupts too, and may split a wait or make one of its own.
 */
#define BOTH_RINGS (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define MASKED     (EVENT_HW_INTERRUPTS_MASKED | BOTH_RINGS)
#define WAITING    (EVENT_HW_INTERRUPTS_PENDING_AND_MASKED | BOTH_RINGS)
#define WAIT_RISES (WAITING | ARCH_U64(1) << PERFEVTSEL_CMASK_SHIFT | PERFEVTSEL_E)
#define INTERRUPTS 20
#define STEPS      1000
#define ARRIVAL    100000 /* no interrupt is on its way for so many looks */

static volatile unsigned arrived;

static void on_interrupt(struct trap_frame *frame)
{
    (void)frame;
    arrived++;
    lapic_eoi();
}

static void let_wait(uint64_t steps)
{
    arrived = 0;
    for (unsigned i = 0; i < INTERRUPTS && arrived == i; i++) {
        irq_disable();
        lapic_send_ipi(lapic_id(), APIC_LVT_DELIVERY_FIXED | LAPIC_VECTOR_LAB);
        body_spin(steps);
        irq_enable();
        for (unsigned look = 0; look < ARRIVAL && arrived == i; look++)
            __asm__ volatile("pause");
    }
}

/* How often, how long, and for how long it could have been. */
struct waits {
    struct pair rises;  /* and cycles */
    struct pair cycles; /* and those with interrupts masked */
    unsigned arrived;   /* in the worse of the two windows */
};

static bool one_each(const struct waits *w)
{
    return w->arrived == INTERRUPTS && w->rises.first >= INTERRUPTS &&
           w->rises.first - INTERRUPTS <= w->rises.smis;
}

static bool within_masked(const struct waits *w)
{
    return w->rises.second != 0 && w->cycles.first != 0 && w->cycles.first <= w->cycles.second;
}

static struct waits count_waits(uint64_t steps)
{
    struct waits w;
    struct take take = take_begin();
    do {
        w.rises = count_pair(WAIT_RISES, WAITING, let_wait, steps);
        w.arrived = arrived;
        w.cycles = count_pair(WAITING, MASKED, let_wait, steps);
        w.arrived = arrived < w.arrived ? arrived : w.arrived;
    } while (take_again(&take, one_each(&w) && within_masked(&w)));
    return w;
}

/* Each waits for the steps more, but for what its way to the processor takes. */
static bool waits_longer(const struct waits *w, const struct waits *than, uint64_t steps)
{
    return w->rises.second >= than->rises.second + INTERRUPTS * steps / 2;
}

/* A hypervisor holds back what comes while its guest masks interrupts: the processor itself, whose
 * events these are, need not see it. */
static const char *why_no_waits(void)
{
    const char *why = pmu_why_no_masked_interrupts();
    if (why == NULL && hypervisor_present())
        why = "a hypervisor may keep interrupts that wait from the processor (CPUID.1:ECX[31] = 1)";
    return why != NULL ? why : lapic_why_absent();
}

static void check_waits(void)
{
    const char *why = why_no_waits();
    if (why != NULL) {
        check_skip_all(WAITS, LENGTH, "%s", why);
        return;
    }
    trap_handler before = trap_set_handler(LAPIC_VECTOR_LAB, on_interrupt);
    let_wait(STEPS);
    struct waits waits = count_waits(STEPS), longer = count_waits(2 * STEPS);
    trap_set_handler(LAPIC_VECTOR_LAB, before);

    value_u64("interrupts", INTERRUPTS);
    value_u64("arrived", waits.arrived);
    value_u64("waits", waits.rises.first);
    value_u64("longer_waits", longer.rises.first);
    check(WAITS, one_each(&waits) && one_each(&longer));

    value_u64("masked", waits.cycles.second);
    value_u64("waiting", waits.cycles.first);
    value_ratio("mean_length", waits.rises.second, waits.rises.first);
    value_ratio("longer_mean_length", longer.rises.second, longer.rises.first);
    value_u64("steps_more", STEPS);
    check(LENGTH,
          within_masked(&waits) && within_masked(&longer) && waits_longer(&longer, &waits, STEPS));
}

static void run(void)
{
    count_pair(RETIRING, STALLED, body_bursts, ITERATIONS); /* warms caches and predictors */

    struct pair rises;
    struct take take = take_begin();
    do
        rises =
            count_pair(RETIRING | PERFEVTSEL_E, STALLED | PERFEVTSEL_E, body_bursts, ITERATIONS);
    while (take_again(&take, alternate(&rises)));
    value_u64("bursts", rises.first);
    value_u64("stalls", rises.second);
    check(BOTH_WAYS, alternate(&rises));

    check_state(BURSTS, RETIRING);
    check_state(STALLS, STALLED);

    value_u64("bursts", rises.first);
    value_u64("stalls", rises.second);
    value_u64("iterations", ITERATIONS);
    check(EACH, rises.first >= ITERATIONS && rises.second >= ITERATIONS);

    check_waits();
}
