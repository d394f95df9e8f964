/* Experiment 24-2 · Exact counts on AMD. */
#include "kernel/user.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/ring3.h"
#include "lab/ring3_rdpmc.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { EMPTY, EXACT, BRANCHES, USR, OS, SUM, PCE_0, RDPMC, PAST };

static const char *const checks[] = {
    [EMPTY] = "each counter counts exactly the instructions of the empty window's listing",
    [EXACT] = "each counter counts exactly the function's known number of instructions",
    [BRANCHES] = "each counter counts exactly the function's known number of branches",
    [USR] = "USR counts exactly the ring 3 function's known number of instructions",
    [OS] = "OS counts the same, however long ring 3 runs",
    [SUM] = "both rings = USR + OS exactly",
    [PCE_0] = "CR4.PCE 0: RDPMC in ring 3 raises #GP",
    [RDPMC] = "CR4.PCE 1: RDPMC in either ring reads what RDMSR reads of each counter",
    [PAST] = "CR4.PCE 1: an index past all counters raises #GP",
};

static void run(void);

const struct experiment ex24_2 = {
    .id = "24-2",
    .title = "Exact counts on AMD",
    .needs = NEED_AMD | NEED_PMU,
    CHECKS(checks),
    .run = run,
};

/*
 * 15-2 and 22-1 on every counter of an AMD processor: RETIRED_INSTRUCTIONS (C0H) and
 * RETIRED_BRANCHES (C2H) around functions whose listings say how many there are, and the two rings.
 * AMD's manual warns that counts need not repeat (APM vol. 2 "Performance Monitoring Counters"),
 * and its revision guides name the processors whose retire events may count too much: where one of
 * them is this one, its number stands under a `not ok`. Nothing else makes a count right.
 *
 * C2H takes each change of the control flow, interrupts and exceptions too; none is in the window.
 * Before PerfMonV2 a window is one counter's, opened by its own select: so the counters are asked
 * one after the other, and the rings as well.
 */
#define BOTH_RINGS    (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define INSTRUCTIONS  pmu_event(PMU_EVENT_INSTRUCTIONS)
#define ITERATIONS    1000
#define ROUNDS        200
#define CROSSINGS     2  /* IRETQ and INT */
#define BRANCHES_ONCE 2  /* the window's CALL and the function's RET */
#define PAST_ALL      64 /* more than the cores, the caches and the data fabric have */

/* What a counter alone counts around a body. */
static uint64_t count(unsigned counter, uint64_t select, window_body body, uint64_t iterations)
{
    pmu_select(counter, select);
    count_from_0(PMU_MASK(counter), body, iterations);
    return pmu_read(counter);
}

static uint64_t count_of(unsigned counter, uint64_t select, window_body body, uint64_t iterations,
                         uint64_t expected)
{
    uint64_t n;
    struct take take = take_begin();
    do
        n = count(counter, select, body, iterations);
    while (take_again(&take, n == expected));
    return n;
}

/* The same of each counter; what the first wrong one counts, or all of them. */
static void check_each(unsigned which, unsigned event, window_body body, uint64_t iterations,
                       uint64_t expected)
{
    uint64_t n = 0, select = pmu_event(event) | BOTH_RINGS;
    unsigned counter = 0;
    do
        n = count_of(counter, select, body, iterations, expected);
    while (n == expected && ++counter < pmu_info()->n_general);
    value_str("event", "%s", pmu_event_title(event));
    if (n != expected)
        value_u64("counter", counter);
    else
        value_u64("counters", counter);
    check_same(which, "counted", n, "from_the_listing", expected);
}

struct rings {
    uint64_t usr, os, both;
};

static struct rings count_rings(uint64_t rounds)
{
    struct rings rings;
    rings.usr = count(0, INSTRUCTIONS | PERFEVTSEL_USR, user_enter, rounds);
    rings.os = count(0, INSTRUCTIONS | PERFEVTSEL_OS, user_enter, rounds);
    rings.both = count(0, INSTRUCTIONS | BOTH_RINGS, user_enter, rounds);
    return rings;
}

static bool adds_up(const struct rings *rings)
{
    return rings->both == rings->usr + rings->os && rings->usr != 0 && rings->os != 0;
}

/* In which ring the two that cross retire, the manual does not say: it is measured with one round.
 */
static void check_rings(void)
{
    struct rings one, many;
    uint64_t expected = insns_of(&user_counted_insns, ROUNDS), crossing, usr;
    struct take take = take_begin();
    do {
        one = count_rings(1);
        many = count_rings(ROUNDS);
        crossing = one.usr - insns_of(&user_counted_insns, 1);
        usr = many.usr - crossing;
    } while (take_again(&take, usr == expected && one.os == many.os && adds_up(&many)));

    value_u64("usr", many.usr);
    value_u64("crossing", crossing);
    value_u64("usr_without_crossing", usr);
    value_u64("from_the_listing", expected);
    check(USR, usr == expected && crossing <= CROSSINGS);
    check_same(OS, "os", many.os, "os_of_one_round", one.os);
    value_u64("usr", many.usr);
    value_u64("os", many.os);
    value_u64("both", many.both);
    check(SUM, adds_up(&one) && adds_up(&many));
}

static bool refused(uint32_t selector)
{
    uint64_t value;
    enum ring3_rdpmc how = ring3_rdpmc(selector, &value);
    value_str("ring_3", "RDPMC of %u: %s", (unsigned)selector, ring3_rdpmc_names[how]);
    return how == RING3_REFUSED;
}

/* Each counter has a value of its own, so that none can be taken for another. */
static bool reads_alike(unsigned counter)
{
    uint64_t wanted = (ARCH_U64(0x100000000) | 0x1000) + counter, value = 0;
    if (!pmu_write(counter, wanted))
        return false;
    bool alike = pmu_read(counter) == wanted && pmu_rdpmc(counter) == wanted &&
                 ring3_rdpmc(pmu_rdpmc_selector(counter), &value) == RING3_READ && value == wanted;
    if (!alike)
        note("counter %u: RDMSR 0x%llx, RDPMC in ring 3 0x%llx", counter,
             (unsigned long long)pmu_read(counter), (unsigned long long)value);
    pmu_write(counter, 0);
    return alike;
}

static void check_rdpmc(void)
{
    pmu_allow_user_rdpmc(false);
    check(PCE_0, refused(0));
    pmu_allow_user_rdpmc(true);
    value_u64("counters", pmu_info()->n_general);
    check(RDPMC, enumerated_all(pmu_all_counters(), reads_alike));
    check(PAST, refused(PAST_ALL));
    pmu_allow_user_rdpmc(false);
}

static void run(void)
{
    check_each(EMPTY, PMU_EVENT_INSTRUCTIONS, body_empty, 0,
               insns_in_window(PMU_MASK(0), &body_empty_insns, 0));
    check_each(EXACT, PMU_EVENT_INSTRUCTIONS, body_mixed, ITERATIONS,
               insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS));
    check_each(BRANCHES, PMU_EVENT_BRANCHES, body_spin, ITERATIONS, ITERATIONS + BRANCHES_ONCE);
    if (user_load(user_counted, (size_t)(user_counted_end - user_counted), USER_INTERRUPT))
        check_rings();
    else
        note("ring 3 cannot be entered: no page can be mapped");
    check_rdpmc();
    pmu_dump("after all");
}
