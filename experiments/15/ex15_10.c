/*
 * Experiment 15-10 · Load latency.
 *
 * The load latency event counts loads that took longer than MSR_PEBS_LD_LAT_THRESHOLD core cycles;
 * its PEBS records tell the load's latency, its linear address, and which level of the memory
 * hierarchy served it (SDM vol. 3 "Load Latency Performance Monitoring Facility", "Data Source
 * Encoding for Load Latency Record"). The loads follow a chain of pointers through four buffers, of
 * sizes taken from CPUID leaf 4, so that one fits into L1, one into L2, one into the last level,
 * and one into none. The chain visits each line once, in an order that no prefetcher guesses, and
 * has been followed once before: what still fits is found where it fits.
 *
 * First every load counts (threshold 3, the lowest), then only those slower than the half way from
 * the last level's latency to memory's. A real processor tags few loads, and at random: so the
 * counter goes on from run to run until there are enough records. Its caches are shared with code,
 * tables and other processors, prefetchers guess right by chance, and from Ivy Bridge on the last
 * level keeps part of a buffer that is too large for it: so the level is asserted of every second
 * record, and the buffer for memory is four times the last level.
 */
#include "lab/experiment_old.h"
#include "lab/pebs_lab.h"
#include "kernel/cpuid.h"
#include "kernel/memory.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define RECORDS   64
#define PERIOD    97
#define SAMPLES   32
#define LOADS     (SAMPLES * (PERIOD + 1) + PERIOD / 2) /* the last sample lies well inside */
#define LINE      64
#define MANY_RUNS 64 /* a processor that tags few loads needs more */
#define LOWEST    4  /* cycles: MSR_PEBS_LD_LAT_THRESHOLD = 3 */
/* Of an order that visits every line once: multiplier and increment of a full-period generator. */
#define ORDER_MUL 0x2545f491u /* 1 modulo 4 */
#define ORDER_ADD 0x3039u     /* odd */

#define N_LEVELS (PEBS_MEMORY + 1)

struct sampled {
    unsigned n, below, outside, at_level; /* records; too fast; not in the buffer; of the level */
    unsigned runs;
    uint64_t least, most, sum; /* latencies */
};

static struct {
    unsigned counter;
    const struct pebs_event *event;
    uint8_t *memory;
    size_t room;
    uint64_t caches[PEBS_LLC + 1]; /* bytes of L1 data, L2 and last level */
    uint64_t sizes[N_LEVELS];      /* of the buffers */
    uint64_t chained;              /* size of the buffer that the chain is made for now */
    void *at;                      /* where in the chain to go on */
} lab;

/* CPUID leaf 4, SDM vol. 2 "CPUID": the data or unified cache of this level; 0: there is none. */
static uint64_t cache_size(unsigned level)
{
    for (unsigned i = 0; i < 16; i++) {
        struct cpuid_regs r = cpuid(4, i);
        unsigned type = r.eax & 0x1f;
        if (type == 0)
            break;
        if (type == 2 || (r.eax >> 5 & 7) != level)
            continue;
        return (uint64_t)((r.ebx >> 22) + 1) * ((r.ebx >> 12 & 0x3ff) + 1) * ((r.ebx & 0xfff) + 1) *
               ((uint64_t)r.ecx + 1);
    }
    return 0;
}

static uint64_t power_of_two_up_to(uint64_t n)
{
    uint64_t p = LINE;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

/* Half of a cache leaves room for what else is in it. */
static bool choose_sizes(void)
{
    for (unsigned i = 0; i <= PEBS_LLC; i++) {
        lab.caches[i] = cache_size(i + 1);
        if (lab.caches[i] == 0)
            return false;
        lab.sizes[i] = power_of_two_up_to(lab.caches[i] / 2);
    }
    /* Not more of the last level than needed: it is shared. */
    uint64_t enough = power_of_two_up_to(4 * lab.caches[PEBS_L2]);
    if (lab.sizes[PEBS_LLC] > enough)
        lab.sizes[PEBS_LLC] = enough;
    lab.sizes[PEBS_MEMORY] = 4 * power_of_two_up_to(2 * lab.caches[PEBS_LLC] - 1);
    return true;
}

/* Makes a cycle of pointers through all lines of the first size bytes, and follows it once. */
static void make_chain(uint64_t size)
{
    uint64_t lines = size / LINE, at = 0;
    struct pebs_chase_arg whole = {lab.memory, lines};
    if (lab.chained == size)
        return;
    for (uint64_t i = 0; i < lines; i++) {
        uint64_t next = (at * ORDER_MUL + ORDER_ADD) & (lines - 1);
        *(void **)(lab.memory + at * LINE) = lab.memory + next * LINE;
        at = next;
    }
    lab.chained = size;
    lab.at = lab.memory;
    pebs_chase((uint64_t)&whole);
}

/* Each run goes on where the one before ended: its lines are those not seen for the longest time.
 */
static void sample_once(void)
{
    struct pebs_chase_arg chase = {lab.at, LOADS};
    ds_buffer_drain(&ds_area()->pebs);
    pmu_count(PMU_MASK(lab.counter), pebs_chase, (uint64_t)&chase);
    for (unsigned i = 0; i < LOADS; i++)
        lab.at = *(void **)lab.at;
}

static void take_records(struct sampled *s, enum pebs_level level, uint64_t lowest)
{
    struct pebs_record r;
    for (unsigned i = 0; i < pebs_count() && pebs_read(i, &r); i++) {
        uint64_t latency = r.value[PEBS_LATENCY];
        s->n++;
        s->below += latency < lowest;
        s->outside += r.value[PEBS_DATA_ADDRESS] - (uint64_t)lab.memory >= lab.sizes[level];
        s->at_level += pebs_level_of(r.value[PEBS_DATA_SOURCE]) == level;
        s->sum += latency;
        s->least = latency < s->least ? latency : s->least;
        s->most = latency > s->most ? latency : s->most;
    }
}

/* Until there are enough records, but not more often than that. */
static struct sampled sample(enum pebs_level level, uint64_t lowest, unsigned most_runs)
{
    struct sampled s = {.least = UINT64_MAX};
    make_chain(lab.sizes[level]);
    pebs_set_latency((unsigned)lowest);
    pebs_enable(lab.counter, lab.event, PERIOD);
    for (; s.runs < most_runs && s.n < SAMPLES / 2; s.runs++) {
        sample_once();
        take_records(&s, level, lowest);
    }
    pebs_disable();
    note("%-6s %8llu KiB, latency at least %llu: %u records, cycles %llu to %llu, %u from %s",
         pebs_level_name(level), (unsigned long long)lab.sizes[level] >> 10,
         (unsigned long long)lowest, s.n, (unsigned long long)(s.n ? s.least : 0),
         (unsigned long long)s.most, s.at_level, pebs_level_name(level));
    return s;
}

static void show_one(void)
{
    struct pebs_record r;
    if (pebs_read(0, &r))
        pebs_dump_records("the first of the last buffer", &r, 1);
}

static void check_level(enum pebs_level level, const struct sampled *s)
{
    value_u64("buffer_bytes", lab.sizes[level]);
    value_u64("records", s->n);
    value_u64("faster_than_the_threshold", s->below);
    value_u64("outside_of_the_buffer", s->outside);
    value_u64("from_this_level", s->at_level);
    value_ratio("mean_cycles", s->sum, s->n);
    check(s->n != 0 && s->below == 0 && s->outside == 0 && 2 * s->at_level >= s->n);
}

static void check_high_threshold(const struct sampled low[N_LEVELS])
{
    uint64_t cache = low[PEBS_LLC].sum / (low[PEBS_LLC].n ? low[PEBS_LLC].n : 1);
    uint64_t memory = low[PEBS_MEMORY].sum / (low[PEBS_MEMORY].n ? low[PEBS_MEMORY].n : 1);
    uint64_t high = (cache + memory) / 2;
    struct sampled m = sample(PEBS_MEMORY, high, MANY_RUNS); /* its chain still stands */
    struct sampled s = sample(PEBS_L1, high, m.runs);
    value_u64("threshold", high);
    value_u64("records_of_memory", m.n);
    value_u64("faster_than_the_threshold", m.below + s.below);
    check(high > LOWEST && m.n != 0 && m.below + s.below == 0);
    value_u64("records_of_L1", s.n);
    value_u64("records_of_memory", m.n);
    check(m.n != 0 && s.n < m.n);
}

static bool set_up(void)
{
    const struct pebs_generation *g = pebs_generation(NULL);
    uint32_t counters = pebs_counters(&g->latency);
    const struct ds_setup setup = {.pebs_records = RECORDS, .pebs_threshold = DS_CIRCULAR};
    const char *refused = ds_setup(&setup);
    bool sizes = choose_sizes();
    lab.chained = 0;
    lab.event = &g->latency;
    lab.memory = memory_scratch(&lab.room);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    value_hex("counters", counters);
    value_u64("l1d_bytes", lab.caches[PEBS_L1]);
    value_u64("l2_bytes", lab.caches[PEBS_L2]);
    value_u64("llc_bytes", lab.caches[PEBS_LLC]);
    value_u64("free_memory", lab.room);
    if (refused != NULL || counters == 0 || !sizes)
        return false;
    lab.counter = (unsigned)__builtin_ctz(counters);
    return true;
}

static void run(void)
{
    struct sampled low[N_LEVELS];
    bool ready = set_up();
    check(ready);
    if (!ready)
        return;
    if (lab.room < lab.sizes[PEBS_MEMORY]) {
        for (unsigned i = 0; i < N_LEVELS + 2; i++)
            check_skip("a buffer larger than the last level cache needs %llu MiB of memory",
                       (unsigned long long)lab.sizes[PEBS_MEMORY] >> 20);
        return;
    }
    for (unsigned level = PEBS_L1; level < N_LEVELS; level++) {
        low[level] = sample(level, LOWEST, MANY_RUNS);
        if (level == PEBS_MEMORY)
            show_one();
        check_level(level, &low[level]);
    }
    check_high_threshold(low);
}

static const char *const checks[] = {
    "the debug store can be set up, a counter samples the event, the caches are known",
    "loads that hit L1: latency, address and source are right",
    "loads that hit L2: latency, address and source are right",
    "loads that hit the last level cache: latency, address and source are right",
    "loads from memory: latency, address and source are right",
    "with a high threshold every record's latency is at least that",
    "with a high threshold loads from memory are sampled, and fast ones are not",
    NULL,
};

const struct experiment ex15_10 = {
    .id = "15-10",
    .title = "Load latency",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_PEBS | NEED_LOAD_LATENCY,
    .run = run,
};
