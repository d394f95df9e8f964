/* Experiment 24-3 · Overflow and the PMI on AMD. */
#include "kernel/msr.h"
#include "kernel/trap.h"
#include "lab/bodies.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lapic/lapic.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/apic.h"

enum { START, AS_FIXED, AS_NMI, TOLD, CLEARED, OPEN, AGAIN, EACH, CLOSE, CLOSE_NMI, IN_WINDOW };

static const char *const checks[] = {
    [START] = "a counter takes the start value in its full width",
    [AS_FIXED] = "delivered as a fixed interrupt, one PMI comes for one overflow",
    [AS_NMI] = "delivered as an NMI, one PMI comes for one overflow",
    [TOLD] =
        "the counter stands in its lower half, and PerfCntrGlobalStatus, if there, has its bit",
    [CLEARED] = "PerfCntrGlobalStatusClr clears the bit",
    [OPEN] = "nothing masks the LVT entry: it is open in the handler and behind it",
    [AGAIN] = "armed once more, with the LVT entry left alone, a second PMI comes",
    [EACH] = "the overflow of each counter is told as its own, and as no other's",
    [CLOSE] = "of two overflows close together each is told once, and no interrupt is left over",
    [CLOSE_NMI] = "the same by NMIs",
    [IN_WINDOW] = "the interrupted RIP lies in the window",
};

static void run(void);

const struct experiment ex24_3 = {
    .id = "24-3",
    .title = "Overflow and the PMI on AMD",
    .needs = NEED_AMD | NEED_PMU | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * 15-3 on AMD, where two things are otherwise. Before PerfMonV2 there is no register that tells who
 * has overflowed: a counter is started in the upper half of its 48 bits, and the one that is found
 * in the lower half was it (Linux, arch/x86/events/amd/core.c, amd_pmu_test_overflow_topbit()). And
 * the local APIC does not mask the LVT entry when it delivers the interrupt, as Intel's does: the
 * APM tells of the mask bit only that software sets it (vol. 2 "Local Vector Table Registers");
 * that AMD's processors leave it alone is said by their engineers (Linux commit 49ff3b4aec51). So a
 * second overflow needs no unmasking, and an interrupt may come for each.
 *
 * The entry is written here for both ways of delivery, whatever pmi= says on the command line: a
 * fixed interrupt owes an EOI, an NMI none.
 *
 * Two counters that overflow close together may raise two interrupts, and the first to be handled
 * find both: the second has nothing left to do and is no error. So the distance between them goes
 * from nothing past the time that a PMI takes to come, and each overflow must be told once.
 *
 * What can go wrong: the entry masked as on Intel's, so that one PMI is the last; a status bit that
 * stays; an NMI that comes late, when the counter is armed anew or off.
 */
#define SELECT         (pmu_event(PMU_EVENT_INSTRUCTIONS) | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define ITERATIONS     100000
#define OVERFLOW_AFTER 20000
#define CLOSE_AFTER    2000 /* more than lies between the start of the one and of the other */
#define CLOSE_SPIN     2000
#define DISTANCES      1000 /* instructions: more than a handler takes to stop them */

static struct {
    uint64_t status, rip, value, clearing;
    uint32_t lvt;
    unsigned counter;
} seen;

static void on_pmi(const struct pmi *pmi)
{
    seen.status = pmi->status;
    seen.rip = pmi->frame->rip;
    seen.lvt = pmi->lvt;
    seen.value = pmu_read(seen.counter);
}

static bool between(uint64_t rip, const void *first, const void *end)
{
    return rip >= (uint64_t)first && rip <= (uint64_t)end;
}

/* One overflow of a counter; how many PMIs came. */
static unsigned overflow(unsigned counter)
{
    unsigned before = pmu_pmi_count();
    seen = (typeof(seen)){.counter = counter};
    pmu_write_overflow_in(counter, OVERFLOW_AFTER);
    pmu_count(PMU_MASK(counter), body_spin, ITERATIONS);
    wait_for_pmi(before + 1);
    return pmu_pmi_count() - before;
}

static bool one_alone(unsigned pmis)
{
    value_u64("pmis", pmis);
    value_u64("unexpected", pmu_unexpected_count());
    return pmis == 1 && pmu_unexpected_count() == 0;
}

/* In place of what lapic_pmi_setup() wrote; false: the entry does not take it. */
static bool deliver_as(uint32_t entry)
{
    lapic_write(APIC_LVT_PERFMON, entry);
    return lapic_read(APIC_LVT_PERFMON) == entry;
}

static bool in_lower_half(uint64_t value)
{
    return value <= pmu_counter_max(0) / 2;
}

static void check_told(void)
{
    bool has_status = pmu_info()->kind->status != 0;
    value_hex("counter", seen.value);
    value_str("status_by", "%s", has_status ? "PerfCntrGlobalStatus" : "the counters");
    value_hex("status", seen.status);
    check(TOLD, in_lower_half(seen.value) && seen.status == PMU_MASK(0));
    if (!has_status) {
        check_skip(CLEARED, "%s", pmu_info()->no_global_ctrl);
        return;
    }
    uint64_t after = pmu_status();
    value_hex("status_after", after);
    check(CLEARED, seen.status == PMU_MASK(0) && after == 0);
}

static bool told_as_its_own(unsigned counter)
{
    pmu_select(counter, SELECT);
    unsigned pmis = overflow(counter);
    pmu_select(counter, 0);
    bool right = pmis == 1 && seen.status == PMU_MASK(counter) && in_lower_half(seen.value);
    if (!right)
        note("counter %u: %u PMIs, the status 0x%llx, the counter 0x%llx", counter, pmis,
             (unsigned long long)seen.status, (unsigned long long)seen.value);
    return right;
}

static struct {
    uint64_t told[2]; /* overflows, by the counter */
} close_by;

static void on_close(const struct pmi *pmi)
{
    for (unsigned n = 0; n < 2; n++)
        close_by.told[n] += pmi->status >> n & 1;
}

/* Counters 0 and 1. */
static void overflow_both(uint64_t distance)
{
    pmu_select(0, SELECT);
    pmu_write_overflow_in(0, CLOSE_AFTER);
    pmu_write_overflow_in(1, CLOSE_AFTER + distance);
    pmu_select(1, SELECT);
    pmu_count(PMU_MASK(0) | PMU_MASK(1), body_spin, CLOSE_SPIN);
    wrmsr(pmu_select_msr(1), 0);
}

static void check_close(unsigned which)
{
    if (pmu_no_general(2) != NULL) {
        check_skip(which, "%s", pmu_no_general(2));
        return;
    }
    close_by = (typeof(close_by)){0};
    pmu_set_pmi_handler(on_close, PMI_STOP);
    unsigned before = pmu_pmi_count();
    uint64_t distance = 0;
    while (distance < DISTANCES && close_by.told[0] == distance && close_by.told[1] == distance)
        overflow_both(distance++);
    value_u64("overflows_of_each", distance);
    value_u64("told_of_0", close_by.told[0]);
    value_u64("told_of_1", close_by.told[1]);
    value_u64("pmis", pmu_pmi_count() - before);
    value_u64("unexpected", pmu_unexpected_count());
    check(which, distance == DISTANCES && close_by.told[0] == distance &&
                     close_by.told[1] == distance && pmu_unexpected_count() == 0);
}

static void run(void)
{
    const uint32_t fixed = APIC_LVT_DELIVERY_FIXED | LAPIC_VECTOR_PMI;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pmu_select(0, SELECT);
    bool written = pmu_write_overflow_in(0, OVERFLOW_AFTER);
    uint64_t start = pmu_read(0);
    value_hex("counter", start);
    check(START, written && start == pmu_counter_max(0) - OVERFLOW_AFTER + 1);

    bool taken = deliver_as(fixed);
    check(AS_FIXED, one_alone(overflow(0)) && taken);
    taken = deliver_as(APIC_LVT_DELIVERY_NMI);
    check(AS_NMI, one_alone(overflow(0)) && taken);

    taken = deliver_as(fixed);
    bool once = overflow(0) == 1 && taken;
    check_told();

    uint32_t lvt = lapic_read(APIC_LVT_PERFMON);
    value_hex("lvt_in_handler", seen.lvt);
    value_hex("lvt_after", lvt);
    check(OPEN, once && seen.lvt == fixed && lvt == fixed);
    uint64_t rip = seen.rip;
    check(AGAIN, one_alone(overflow(0)));

    pmu_select(0, 0);
    value_u64("counters", pmu_info()->n_general);
    bool each = enumerated_all(pmu_all_counters(), told_as_its_own);
    value_u64("unexpected", pmu_unexpected_count());
    check(EACH, each && pmu_unexpected_count() == 0);

    deliver_as(fixed);
    check_close(CLOSE);
    deliver_as(APIC_LVT_DELIVERY_NMI);
    check_close(CLOSE_NMI);

    value_hex("rip", rip);
    value_hex("window", (uint64_t)pmu_window_open);
    value_hex("function", (uint64_t)body_spin);
    check(IN_WINDOW, between(rip, pmu_window_open, pmu_window_end) ||
                         between(rip, (const void *)body_spin, body_spin_end));
}
