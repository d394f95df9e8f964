/* Experiment 23-11 · Skid. */
#include "kernel/trap.h"
#include "lab/bodies.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/sample_bodies.h"
#include "lab/take.h"
#include "pmu/ds.h"
#include "pmu/pebs.h"
#include "pmu/pmu.h"

enum { BY_PMI, OWN, BY_PEBS, DISTRIBUTED };

static const char *const checks[] = {
    [BY_PMI] = "the PMI interrupts the loop behind the instruction that overflowed, never before",
    [OWN] = "each PEBS record of the event of loads names the load, or the instruction next to it",
    [BY_PEBS] = "PEBS samples instructions of the loop, behind the overflow, never before",
    [DISTRIBUTED] = "so does a counter with precise distribution",
};

static void run(void);

const struct experiment ex23_11 = {
    .id = "23-11",
    .title = "Skid",
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * The address that a sample has is not that of the event that made it. A PMI is an interrupt: it
 * comes when the overflow has found its way through the local APIC, and the handler sees where the
 * program was by then. PEBS is armed by the overflow, and records a later event of the same kind:
 * the address is an event's own (EventingIP, in formats 0 and 1 the next instruction's), only that
 * it is not the one which overflowed; events close behind it cannot be seen ("shadowing"). Precise
 * distribution takes the instruction that overflowed (SDM vol. 3 "Processor Event Based Sampling
 * (PEBS)", "Precise Distribution of Instructions Retired (PDIR)").
 *
 * Instructions are counted in a loop in which an address and RDI tell how many of them were done:
 * the distance from the overflow, whose place follows from the value of the counter, to the address
 * of the sample is printed as a histogram. How far it is the manual does not say; that nothing is
 * sampled before it happens is asserted. And of the event of loads each record must name the loop's
 * only load, or what follows it.
 */
#define SELECT (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
/* A hypervisor's PMI may be late by thousands of instructions. */
#define ROUNDS  2000
#define TIMES   24
#define FIRST   10000
#define STEP    1021
#define SAMPLES 32
#define PERIOD  1009
/* Loads come once in a round. */
#define LOAD_PERIOD 31
#define LOAD_ROUNDS (SAMPLES * (LOAD_PERIOD + 2))
/* Of the window, in front of the loop: its WRMSR, its CALL, XOR. */
#define IN_FRONT 3
#define BUCKETS  20

/* Distances, in instructions: 0, 1, 2 and 3, 4 to 7 and so on. */
struct histogram {
    unsigned n, buckets[BUCKETS];
    unsigned before; /* these are before the overflow */
    unsigned elsewhere;
};

static unsigned bucket_of(uint64_t distance)
{
    unsigned b = 0;
    for (; distance != 0 && b < BUCKETS - 1; distance >>= 1)
        b++;
    return b;
}

static void add(struct histogram *h, uint64_t done, uint64_t overflow)
{
    h->n++;
    if (done < overflow)
        h->before++;
    else
        h->buckets[bucket_of(done - overflow)]++;
}

static void print(const char *what, const struct histogram *h)
{
    note("%s: %u samples, instructions from the overflow to the address", what, h->n);
    for (unsigned b = 0; b < BUCKETS; b++)
        if (h->buckets[b] != 0)
            note("  %6llu and more: %u", b == 0 ? 0 : 1ULL << (b - 1), h->buckets[b]);
    if (h->before != 0)
        note("  before it: %u", h->before);
    if (h->elsewhere != 0)
        note("  outside of the loop: %u", h->elsewhere);
}

static bool good(const struct histogram *h, unsigned wanted)
{
    return h->n >= wanted && h->before == 0 && h->elsewhere == 0;
}

static bool check_histogram(unsigned which, const char *what, const struct histogram *h,
                            unsigned wanted)
{
    print(what, h);
    value_u64("samples", h->n);
    value_u64("before_the_overflow", h->before);
    value_u64("outside_of_the_loop", h->elsewhere);
    check(which, good(h, wanted));
    return good(h, wanted);
}

/* ---- By PMI ---- */

static uint64_t pmi_rip, pmi_rdi;

static void on_pmi(const struct pmi *pmi)
{
    pmi_rip = pmi->frame->rip;
    pmi_rdi = pmi->frame->rdi;
}

/* One overflow, after so many instructions of the loop. */
static struct histogram by_pmi_once(uint64_t after)
{
    struct histogram h = {0};
    unsigned pmis = pmu_pmi_count();
    pmi_rip = 0;
    pmu_select(0, SELECT);
    pmu_write_overflow_in(0, after + IN_FRONT);
    pmu_count(PMU_MASK(0), sparse_loads, ROUNDS);
    wait_for_pmi(pmis + 1);
    if (pmu_pmi_count() == pmis)
        return h;
    if (sparse_loads_has(pmi_rip))
        add(&h, sparse_loads_done(pmi_rip, pmi_rdi, ROUNDS), after);
    else
        h.elsewhere++;
    return h;
}

static void by_pmi(void)
{
    struct histogram all = {0};
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    for (unsigned i = 0; i < TIMES; i++) {
        struct histogram one;
        struct take take = take_begin();
        do
            one = by_pmi_once(FIRST + i * STEP);
        while (take_again(&take, good(&one, 1)));
        all.n += one.n;
        all.before += one.before;
        all.elsewhere += one.elsewhere;
        for (unsigned b = 0; b < BUCKETS; b++)
            all.buckets[b] += one.buckets[b];
    }
    pmu_select(0, 0);
    check_histogram(BY_PMI, "PMI", &all, TIMES);
}

/* ---- By PEBS ---- */

static unsigned sample(unsigned counter, const struct pebs_event *event, uint64_t period,
                       uint64_t rounds)
{
    ds_buffer_drain(&ds_area()->pebs);
    pebs_enable(counter, event, period);
    pmu_count(pebs_mask(counter, event), sparse_loads, rounds);
    pebs_disable();
    return pebs_count();
}

struct own {
    unsigned n, load, next, other;
};

/* The event of instructions, on processors without one of loads, has any of them for its own. */
static struct own own_once(unsigned counter)
{
    const struct pebs_event *event = &pebs_generation(NULL)->loads;
    bool any = event->code == EVENT_INST_RETIRED_ANY_P;
    struct own own = {0};
    struct pebs_record r;
    unsigned n = sample(counter, event, LOAD_PERIOD, LOAD_ROUNDS);
    for (unsigned i = 0; i < n && pebs_read(i, &r); i++) {
        uint64_t load = (uint64_t)sparse_loads_loop;
        bool named = pebs_has(&r, PEBS_EVENTING_IP);
        uint64_t ip = r.value[named ? PEBS_EVENTING_IP : PEBS_RIP];
        own.n++;
        if (any ? sparse_loads_has(ip) : named && ip == load)
            own.load++;
        else if (!named && ip == load + SPARSE_SIZE)
            own.next++;
        else
            own.other++;
    }
    return own;
}

static void check_own(void)
{
    const struct pebs_event *event = &pebs_generation(NULL)->loads;
    uint32_t counters = pebs_counters(event);
    struct own own = {0};
    struct take take = take_begin();
    do
        own = counters != 0 ? own_once((unsigned)__builtin_ctz(counters)) : own;
    while (take_again(&take, own.n > 1 && own.other == 0));
    value_str("event", "%s", event->name);
    value_u64("records", own.n);
    value_u64("of_the_event", own.load);
    value_u64("of_the_next", own.next);
    value_u64("of_others", own.other);
    check(OWN, own.n > 1 && own.other == 0);
}

/* Each record reloads the counter: the next overflow is a period behind it. */
static struct histogram by_pebs_once(unsigned counter, const struct pebs_event *event)
{
    struct histogram h = {0};
    struct pebs_record r;
    uint64_t overflow = PERIOD - IN_FRONT;
    unsigned n = sample(counter, event, PERIOD, ROUNDS);
    for (unsigned i = 0; i < n && pebs_read(i, &r); i++) {
        if (!sparse_loads_has(r.value[PEBS_RIP])) {
            h.elsewhere++;
            continue;
        }
        uint64_t done = sparse_loads_done(r.value[PEBS_RIP], r.value[PEBS_RDI], ROUNDS);
        add(&h, done, overflow);
        overflow = done + PERIOD;
    }
    return h;
}

static void by_pebs(unsigned which, const char *what, unsigned counter,
                    const struct pebs_event *event)
{
    struct histogram h;
    struct take take = take_begin();
    do
        h = by_pebs_once(counter, event);
    while (take_again(&take, good(&h, SAMPLES)));
    value_str("event", "%s", event != NULL ? event->name : "IA32_FIXED_CTR0's own");
    check_histogram(which, what, &h, SAMPLES);
}

static void check_instructions(void)
{
    const struct pebs_generation *g = pebs_generation(NULL);
    uint32_t usable = pebs_counters(&g->instructions), plain = usable & ~(uint32_t)g->distribution;
    if (pebs_no_registers() != NULL) {
        check_skip_all(BY_PEBS, DISTRIBUTED, "%s", pebs_no_registers());
        return;
    }
    if (plain != 0)
        by_pebs(BY_PEBS, "PEBS", (unsigned)__builtin_ctz(plain), &g->instructions);
    else
        check_skip(BY_PEBS,
                   "only the event with precise distribution is precise on %s (CPUID.1:EAX)",
                   g->name);
    uint64_t fixed = g->distribution & PMU_MASK(PMU_FIXED(0));
    if (g->distribution == 0)
        check_skip(DISTRIBUTED, "no precise distribution of instructions on %s (CPUID.1:EAX)",
                   g->name);
    else if (fixed != 0 && pebs_no_baseline() != NULL)
        check_skip(DISTRIBUTED, "%s", pebs_no_baseline());
    else if (fixed != 0 && !pmu_has_fixed(0))
        check_skip(DISTRIBUTED, "%s", pmu_no_fixed(0));
    else if (fixed != 0)
        by_pebs(DISTRIBUTED, "precise distribution", PMU_FIXED(0), NULL);
    else
        by_pebs(DISTRIBUTED, "precise distribution", (unsigned)__builtin_ctzll(g->distribution),
                &g->instructions);
}

static void run(void)
{
    const char *why = NULL;
    const struct ds_setup setup = {.pebs_records = 2 * SAMPLES, .pebs_threshold = DS_CIRCULAR};
    by_pmi();
    if (!pmu_info()->global_ctrl)
        check_skip_all(OWN, DISTRIBUTED, "%s", pmu_info()->no_global_ctrl);
    else if (pebs_generation(&why) == NULL)
        check_skip_all(OWN, DISTRIBUTED, "%s", why);
    else if ((why = ds_setup(&setup)) != NULL)
        value_str("ds_setup", "%s", why); /* the next check is then passed over: not ok */
    else {
        check_own();
        check_instructions();
    }
}
