/* Experiment 22-8 · Top-down. */
#include "kernel/msr.h"
#include "lab/chain.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lab/slots.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "pmu/topdown.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

enum {
    RETIRING,
    BAD_SPECULATION,
    FRONT_END,
    BACK_END,
    MEMORY,
    WHOLE,
    LEVEL_2,
    STARTED,
    SLOTS,
    SLOTS_P,
    RDPMC,
    CLEARED,
};

static const char *const checks[] = {
    [RETIRING] = "NOPs: most slots retire",
    [BAD_SPECULATION] = "a branch that nobody can predict: most are lost to bad speculation",
    [FRONT_END] = "jumps through more lines than L1I has: most are lost to the front end",
    [BACK_END] = "a chain of multiplications: most are lost to the back end",
    [MEMORY] = "loads that miss L2, each waiting for the one before: to the back end too",
    [WHOLE] = "of each the four shares make the whole",
    [LEVEL_2] = "no share of the second level is more than the one that it is part of",
    [STARTED] = "set to 0 in their order, slots and metrics, both start anew",
    [SLOTS] = "each core cycle has the same number of slots, whatever runs",
    [SLOTS_P] = "TOPDOWN.SLOTS_P on a general counter counts as many",
    [RDPMC] = "RDPMC reads of both what RDMSR reads",
    [CLEARED] = "with METRICS_CLEAR_EN, RDPMC of the metrics sets both to 0",
};

static void run(void);

const struct experiment ex22_8 = {
    .id = "22-8",
    .title = "Top-down",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_FIXED,
    CHECKS(checks),
    .run = run,
};

/*
 * A core that takes so many micro-operations a cycle has so many slots; FIXED_CTR3, TOPDOWN.SLOTS,
 * counts them. MSR_PERF_METRICS shares them out, in parts of 255: a slot's operation retired; or it
 * was thrown away behind a wrong prediction; or there was none, because the front end had none to
 * give, or because the back end could take none. From Golden Cove on a second level splits each in
 * two, of which one is given. SDM vol. 3 "Performance Metrics".
 *
 * The shares are of the slots since FIXED_CTR3 was set: so it is set to 0 first, and the metrics
 * then, and one write to IA32_PERF_GLOBAL_CTRL opens both. Each body is bound by one thing, far
 * beyond all others. Its own share must be the largest of the four; how large differs by model.
 *
 * A field is an integer: each of the four may be off by one, rounded up or down, and so their sum
 * by four. The second level's fields are rounded on their own: one more is allowed.
 *
 * How many slots a cycle has CPUID may tell (leaf 23H, leaf 0AH:EDX[19:16]); processors with these
 * metrics do not. But it is a whole number, and the same for each body. What is compared is counted
 * in one window; its counters need not start in the same cycle, so what an empty window takes is
 * allowed.
 *
 * What can go wrong: the order (shares of slots that were counted before), a window that leaves bit
 * 48 closed, metrics that run on in a closed one. On Ice Lake to Rocket Lake the upper half is 0.
 */
#define RINGS      (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define CYCLES     PMU_FIXED(1)
#define CYCLES_ON  ((uint64_t)(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR) << FIXED_CTR_CTRL_BITS)
#define COUNTERS   (TOPDOWN_MASK | PMU_MASK(CYCLES))
#define ROUNDING_4 4
#define ROUNDING_1 1
#define LOADS      20000
#define LEVELS     4 /* shares of a level */

static const struct share {
    const char *name, *part_name;
    uint64_t field, part;
} shares[LEVELS] = {
    {"retiring", "heavy_operations", PERF_METRICS_RETIRING, PERF_METRICS_HEAVY_OPERATIONS},
    {"bad_speculation", "branch_mispredicts", PERF_METRICS_BAD_SPECULATION,
     PERF_METRICS_BRANCH_MISPREDICTS},
    {"frontend_bound", "fetch_latency", PERF_METRICS_FRONTEND_BOUND, PERF_METRICS_FETCH_LATENCY},
    {"backend_bound", "memory_bound", PERF_METRICS_BACKEND_BOUND, PERF_METRICS_MEMORY_BOUND},
};
#define SHARE_RETIRING 0
#define SHARE_BAD      1
#define SHARE_FRONT    2
#define SHARE_BACK     3

static struct chain chain;

/* The next run goes on where this one ends: its lines are those not seen for the longest time. */
static void misses(uint64_t loads)
{
    void *at = chain.at;
    for (; loads != 0; loads--)
        at = *(void *volatile *)at;
    chain.at = at;
}

static const struct body {
    const char *name;
    window_body body;
    uint64_t iterations;
    unsigned own; /* the share that leads */
} bodies[] = {
    [RETIRING] = {"NOPs", slots_retiring, 5000, SHARE_RETIRING},
    [BAD_SPECULATION] = {"random branches", slots_bad_speculation, 20000, SHARE_BAD},
    [FRONT_END] = {"jumps", NULL, 20, SHARE_FRONT}, /* its code is made */
    [BACK_END] = {"multiplications", body_chain, 5000, SHARE_BACK},
    [MEMORY] = {"missing loads", misses, LOADS, SHARE_BACK},
};
#define BODIES (sizeof(bodies) / sizeof(bodies[0]))

struct measured {
    struct topdown topdown;
    uint64_t cycles, slots_p;
    bool run;
};
static struct measured measured[BODIES];

/* ---- Measuring ---- */

static bool slots_p;

static struct measured measure(window_body body, uint64_t iterations)
{
    struct measured m = {.run = true};
    if (slots_p)
        pmu_select(0, EVENT_TOPDOWN_SLOTS_P | RINGS);
    pmu_write(0, 0);
    pmu_write(CYCLES, 0);
    topdown_start(CYCLES_ON);
    pmu_count(COUNTERS | PMU_MASK(0), body, iterations);
    m.topdown = topdown_read();
    m.cycles = pmu_read(CYCLES);
    m.slots_p = pmu_read(0);
    return m;
}

static unsigned share_of(const struct measured *m, unsigned share)
{
    return topdown_share(m->topdown.metrics, shares[share].field);
}

static unsigned part_of(const struct measured *m, unsigned share)
{
    return topdown_share(m->topdown.metrics, shares[share].part);
}

static bool leads(const struct measured *m, unsigned own)
{
    bool most = m->topdown.slots != 0;
    for (unsigned i = 0; i < LEVELS; i++)
        most = most && (i == own || share_of(m, i) < share_of(m, own));
    return most;
}

static void check_body(unsigned which, window_body body)
{
    const struct body *b = &bodies[which];
    struct measured *m = &measured[which];
    body(b->iterations / 2); /* warms caches and predictors, of other branches than it will count */
    struct take take = take_begin();
    do
        *m = measure(body, b->iterations);
    while (take_again(&take, leads(m, b->own)));
    value_u64("slots", m->topdown.slots);
    for (unsigned i = 0; i < LEVELS; i++) {
        value_u64(shares[i].name, share_of(m, i));
        if (part_of(m, i) != 0)
            value_u64(shares[i].part_name, part_of(m, i));
    }
    check(which, leads(m, b->own));
}

static void check_front_end(void)
{
    window_body body = slots_front_end();
    if (body == NULL) {
        check_skip(FRONT_END, "no room for 256 KiB of code: memory map, or physical address bits");
        return;
    }
    check_body(FRONT_END, body);
    slots_front_end_end();
}

static void check_memory(void)
{
    bool caches = chain_init(&chain);
    if (!caches || chain.room < chain.sizes[PEBS_LLC]) {
        check_skip(MEMORY, "no buffer larger than L2: CPUID.04H, memory map");
        return;
    }
    chain_make(&chain, PEBS_LLC);
    check_body(MEMORY, bodies[MEMORY].body);
}

/* ---- Shares ---- */

static bool makes_the_whole(const struct measured *m)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < LEVELS; i++)
        sum += share_of(m, i);
    note("shares sum up to %u of %u", sum, PERF_METRICS_WHOLE);
    return sum + ROUNDING_4 >= PERF_METRICS_WHOLE && sum <= PERF_METRICS_WHOLE + ROUNDING_4;
}

static bool parts_fit(const struct measured *m)
{
    bool all = true;
    for (unsigned i = 0; i < LEVELS; i++)
        all = part_of(m, i) <= share_of(m, i) + ROUNDING_1 && all;
    return all;
}

static void check_shares(void)
{
    bool whole = true, fit = true;
    uint64_t upper = 0;
    for (unsigned i = 0; i < BODIES; i++)
        if (measured[i].run) {
            whole = makes_the_whole(&measured[i]) && whole;
            fit = parts_fit(&measured[i]) && fit;
            upper |= measured[i].topdown.metrics >> PERF_METRICS_LEVEL_2_SHIFT;
        }
    check(WHOLE, whole);
    if (upper == 0)
        check_skip(LEVEL_2, "no second level: MSR_PERF_METRICS[63:32] = 0 whatever runs");
    else
        check(LEVEL_2, fit);
}

/* ---- Slots ---- */

/* Behind all bodies: what they counted must be gone. */
static void check_started(void)
{
    topdown_start(CYCLES_ON);
    struct topdown t = topdown_read();
    value_hex("slots", t.slots);
    value_hex("metrics", t.metrics);
    check(STARTED, t.slots == 0 && t.metrics == 0);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* What CPUID says, or what the longest window makes of it. */
static uint64_t slots_per_cycle(void)
{
    const struct pmu_info *info = pmu_info();
    uint64_t told = info->leaf_23h.slots_per_cycle;
    if (told == 0)
        told = (info->leaf_edx & CPUID_A_EDX_SLOTS_PER_CYCLE) / 0x10000;
    if (told != 0) {
        value_str("told_by", "CPUID");
        return told;
    }
    const struct measured *m = &measured[BACK_END];
    return m->cycles != 0 ? (m->topdown.slots + m->cycles / 2) / m->cycles : 0;
}

static void check_slots(void)
{
    struct measured empty = measure(body_empty, 0);
    uint64_t width = slots_per_cycle(), own = width * empty.cycles;
    bool same = width != 0, by_general = true;
    for (unsigned i = 0; i < BODIES; i++) {
        const struct measured *m = &measured[i];
        if (!m->run)
            continue;
        note("%s: %llu cycles, %llu slots, SLOTS_P %llu", bodies[i].name,
             (unsigned long long)m->cycles, (unsigned long long)m->topdown.slots,
             (unsigned long long)m->slots_p);
        same = same && m->cycles > own && distance(m->topdown.slots, width * m->cycles) <= own;
        by_general = by_general && distance(m->slots_p, m->topdown.slots) <= own;
    }
    value_u64("slots_per_cycle", width);
    value_u64("empty_window", own);
    check(SLOTS, same);
    if (!slots_p) {
        check_skip(SLOTS_P, "%s", pmu_no_event(PMU_EVENT_SLOTS));
        return;
    }
    value_u64("empty_window", own);
    check(SLOTS_P, by_general);
}

/* ---- RDPMC ---- */

static void check_rdpmc(void)
{
    measure(body_chain, bodies[BACK_END].iterations);
    struct topdown read = topdown_read(), rdpmc = topdown_rdpmc();
    value_u64("slots", read.slots);
    value_u64("rdpmc_slots", rdpmc.slots);
    value_hex("metrics", read.metrics);
    value_hex("rdpmc_metrics", rdpmc.metrics);
    check(RDPMC, read.slots != 0 && read.slots == rdpmc.slots && read.metrics != 0 &&
                     read.metrics == rdpmc.metrics);
    if (!(pmu_info()->perf_capabilities.value & PERF_CAP_RDPMC_METRICS_CLEAR)) {
        check_skip(CLEARED, "no METRICS_CLEAR_EN: IA32_PERF_CAPABILITIES[19] = 0");
        return;
    }
    measure(body_chain, bodies[BACK_END].iterations);
    topdown_clear_by_rdpmc(CYCLES_ON, true);
    rdpmc = topdown_rdpmc();
    read = topdown_read();
    topdown_clear_by_rdpmc(CYCLES_ON, false);
    value_hex("rdpmc_metrics", rdpmc.metrics);
    value_u64("slots", read.slots);
    value_hex("metrics", read.metrics);
    check(CLEARED, rdpmc.metrics != 0 && read.slots == 0 && read.metrics == 0);
}

static void run(void)
{
    const char *missing = topdown_missing();
    if (missing == NULL && !pmu_has_fixed(1))
        missing = pmu_no_fixed(1);
    if (missing != NULL) {
        check_skip_all(RETIRING, CLEARED, "%s", missing);
        return;
    }
    slots_p = pmu_no_event(PMU_EVENT_SLOTS) == NULL;
    check_body(RETIRING, bodies[RETIRING].body);
    check_body(BAD_SPECULATION, bodies[BAD_SPECULATION].body);
    check_front_end();
    check_body(BACK_END, bodies[BACK_END].body);
    check_memory();
    check_shares();
    check_started();
    check_slots();
    check_rdpmc();
    pmu_dump("behind the last window");
}
