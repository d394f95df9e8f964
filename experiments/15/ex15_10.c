/* Experiment 15-10 · Load latency. */
#include "lab/chain.h"
#include "lab/experiment.h"
#include "lab/load_sample.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

enum { SET_UP, L1, L2, LAST_LEVEL, MEMORY, NONE_FASTER, FEWER_FAST };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up, a counter samples the event, the caches are known",
    [L1] = "loads that hit L1: latency, address and source are right",
    [L2] = "loads that hit L2: latency, address and source are right",
    [LAST_LEVEL] = "loads that hit the last level cache: latency, address and source are right",
    [MEMORY] = "loads from memory: latency, address and source are right",
    [NONE_FASTER] = "with a high threshold every record's latency is at least that",
    [FEWER_FAST] = "with a high threshold loads from memory are sampled, and fast ones are not",
};

static void run(void);

const struct experiment ex15_10 = {
    .id = "15-10",
    .title = "Load latency",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_PEBS | NEED_LOAD_LATENCY,
    CHECKS(checks),
    .run = run,
};

/*
 * The load latency event counts loads that took longer than MSR_PEBS_LD_LAT_THRESHOLD core cycles;
 * its PEBS records tell the load's latency, its linear address, and which level of the memory
 * hierarchy served it (SDM vol. 3 "Load Latency Performance Monitoring Facility", "Data Source
 * Encoding for Load Latency Record"). The loads follow a chain of pointers (lab/chain.h) through
 * four buffers, of which one fits into L1, one into L2, one into the last level, and one into none.
 * It has been followed once before: what still fits is found where it fits.
 *
 * First every load counts (threshold 3, the lowest), then only those slower than the half way from
 * the last level's latency to memory's. A real processor's caches are shared with code, tables and
 * other processors, prefetchers guess right by chance: so the level is asserted of every second
 * record.
 */
#define MANY_RUNS 64 /* a processor that tags few loads needs more than one */

static struct chain chain;
static unsigned counter;

static void show_one(void)
{
    struct pebs_record r;
    if (pebs_read(0, &r))
        pebs_dump_records("the first of the last buffer", &r, 1);
}

static void check_level(unsigned which, enum pebs_level level, const struct load_sample *s)
{
    value_u64("buffer_bytes", chain.sizes[level]);
    value_u64("records", s->records);
    value_u64("faster_than_the_threshold", s->below);
    value_u64("outside_of_the_buffer", s->outside);
    value_u64("from_this_level", s->at_level);
    value_ratio("mean_cycles", s->sum, s->records);
    check(which,
          s->records != 0 && s->below == 0 && s->outside == 0 && 2 * s->at_level >= s->records);
}

static uint64_t mean(const struct load_sample *s)
{
    return s->sum / (s->records ? s->records : 1);
}

static void check_high_threshold(const struct load_sample low[CHAIN_LEVELS])
{
    uint64_t high = (mean(&low[PEBS_LLC]) + mean(&low[PEBS_MEMORY])) / 2;
    struct load_sample m =
        load_sample(&chain, counter, PEBS_MEMORY, high, MANY_RUNS); /* its chain still stands */
    struct load_sample s = load_sample(&chain, counter, PEBS_L1, high, m.runs);
    value_u64("threshold", high);
    value_u64("records_of_memory", m.records);
    value_u64("faster_than_the_threshold", m.below + s.below);
    check(NONE_FASTER, high > LOAD_SAMPLE_LOWEST && m.records != 0 && m.below + s.below == 0);
    value_u64("records_of_L1", s.records);
    value_u64("records_of_memory", m.records);
    check(FEWER_FAST, m.records != 0 && s.records < m.records);
}

static bool set_up(void)
{
    uint32_t counters = pebs_counters(load_sample_event());
    const struct ds_setup setup = {.pebs_records = LOAD_SAMPLE_RECORDS,
                                   .pebs_threshold = DS_CIRCULAR};
    const char *refused = ds_setup(&setup);
    bool caches = chain_init(&chain);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    value_hex("counters", counters);
    value_u64("l1d_bytes", chain.caches[PEBS_L1]);
    value_u64("l2_bytes", chain.caches[PEBS_L2]);
    value_u64("llc_bytes", chain.caches[PEBS_LLC]);
    value_u64("free_memory", chain.room);
    if (refused != NULL || counters == 0 || !caches)
        return false;
    /* The highest: on Nehalem, Haswell and Broadwell perfmon's event lists give this event to
     * counter 3 alone, Linux (ds.c) to all four. */
    counter = 31 - (unsigned)__builtin_clz(counters);
    return true;
}

static void run(void)
{
    struct load_sample low[CHAIN_LEVELS];
    bool ready = set_up();
    check(SET_UP, ready);
    if (!ready)
        return;
    if (chain.room < chain.sizes[PEBS_MEMORY]) {
        check_skip_all(L1, FEWER_FAST,
                       "a buffer larger than the last level cache needs %llu MiB of memory",
                       (unsigned long long)chain.sizes[PEBS_MEMORY] >> 20);
        return;
    }
    for (unsigned level = PEBS_L1; level < CHAIN_LEVELS; level++) {
        low[level] = load_sample(&chain, counter, level, LOAD_SAMPLE_LOWEST, MANY_RUNS);
        if (level == PEBS_MEMORY)
            show_one();
        check_level(L1 + level, level, &low[level]);
    }
    check_high_threshold(low);
}
