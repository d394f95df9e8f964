/* Experiment 23-13 · Retire latency. */
#include "lab/bodies.h"
#include "lab/chain.h"
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { SET_UP, NOPS, FAST_LOADS, SLOW_LOADS };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up, two counters sample, the caches are known",
    [NOPS] = "NOPs retire at once: of most the latency is below a tenth of a slow load's",
    [FAST_LOADS] = "loads that hit L1 retire in half the time of slow ones at most",
    [SLOW_LOADS] = "slow loads: the latency is what each takes in the count of cycles",
};

static void run(void);

const struct experiment ex23_13 = {
    .id = "23-13",
    .title = "Retire latency",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_GENERAL_2 | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * With IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO the basic group of each record, of whatever event,
 * tells how many core cycles lie between the retirement of the sampled instruction and that of the
 * one before it (Linux, struct pebs_basic; from Meteor Lake and Granite Rapids on). It is the time
 * that the program waited for just this instruction, which the latency of a load is not: another
 * may have hidden it.
 *
 * In a chain of pointers nothing hides it: each load needs the one before, and what lies between
 * them retires at once. Slow ones come from the last level cache. So the retire latencies of the
 * sampled loads are, in the mean, the cycles that a load takes by the count of all cycles. NOPs
 * retire several in a cycle. What can go wrong: the field is read from a record that does not have
 * it; it counts from another instruction, or in another clock.
 */
#define PERIOD  97
#define SAMPLES 32
#define LOADS   (SAMPLES * (PERIOD + 1) + PERIOD / 2)
#define ENOUGH  (SAMPLES / 2)
/* NOPs are sampled less often than they retire in the time that a record takes. */
#define NOP_PERIOD     1000
#define NOP_ITERATIONS ((SAMPLES * (NOP_PERIOD + 1) + NOP_PERIOD / 2) / BODY_NOPS)
#define CYCLES_SELECT  (EVENT_CPU_CLK_UNHALTED_THREAD_P | PERFEVTSEL_USR | PERFEVTSEL_OS)

static struct chain chain;
static unsigned of_loads, of_nops;

struct latencies {
    unsigned records; /* of the instructions under test, */
    unsigned others;  /* and of those beside them */
    unsigned quick;   /* below the bound */
    uint64_t sum, each;
};

static bool is_nop(uint64_t ip)
{
    return ip >= (uint64_t)body_nops_first && ip < (uint64_t)body_nops_first + BODY_NOPS;
}

static bool is_chain_load(uint64_t ip)
{
    return ip == (uint64_t)pebs_chase_load;
}

static struct latencies take_records(bool (*is_one)(uint64_t ip), uint64_t bound)
{
    struct latencies l = {0};
    struct pebs_record r;
    for (unsigned i = 0; i < pebs_count() && pebs_read(i, &r); i++) {
        uint64_t latency = r.value[PEBS_RETIRE_LATENCY];
        if (!is_one(r.value[PEBS_EVENTING_IP]) || !pebs_has(&r, PEBS_RETIRE_LATENCY)) {
            l.others++;
            continue;
        }
        l.records++;
        l.quick += latency < bound;
        l.sum += latency;
    }
    return l;
}

/* The cycles of a load by counting all, then the same loads sampled. */
static struct latencies sample_loads(enum pebs_level level)
{
    unsigned plain = of_loads == 0 ? 1 : 0;
    struct latencies l;
    struct take take = take_begin();
    chain_make(&chain, level);
    do {
        pmu_select(plain, CYCLES_SELECT);
        pmu_write(plain, 0);
        chain_count(&chain, PMU_MASK(plain), LOADS);
        uint64_t each = pmu_read(plain) / LOADS;
        ds_buffer_drain(&ds_area()->pebs);
        pebs_enable(of_loads, pebs_lab_event(), PERIOD);
        chain_count(&chain, PMU_MASK(of_loads), LOADS);
        pebs_disable();
        l = take_records(is_chain_load, 0);
        l.each = each;
    } while (take_again(&take, l.records >= ENOUGH));
    note("%-6s %u loads, %u others, %llu cycles of retire latency in the mean, %llu each by count",
         pebs_level_name(level), l.records, l.others,
         (unsigned long long)(l.records ? l.sum / l.records : 0), (unsigned long long)l.each);
    return l;
}

static struct latencies sample_nops(uint64_t bound)
{
    struct latencies l;
    struct take take = take_begin();
    do {
        ds_buffer_drain(&ds_area()->pebs);
        pebs_enable(of_nops, &pebs_generation(NULL)->instructions, NOP_PERIOD);
        pmu_count(PMU_MASK(of_nops), body_nops, NOP_ITERATIONS);
        pebs_disable();
        l = take_records(is_nop, bound);
    } while (take_again(&take, l.records >= ENOUGH));
    note("%-6s %u NOPs, %u others, %u below %llu cycles", "NOPs", l.records, l.others, l.quick,
         (unsigned long long)bound);
    return l;
}

static bool set_up(void)
{
    uint32_t loads = pebs_counters(pebs_lab_event());
    uint32_t nops = pebs_counters(&pebs_generation(NULL)->instructions);
    bool groups = pebs_set_groups(0); /* the basic group has it */
    const char *refused =
        ds_setup(&(struct ds_setup){.pebs_records = 2 * SAMPLES, .pebs_threshold = DS_CIRCULAR});
    bool caches = chain_init(&chain);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    value_hex("counters_of_loads", loads);
    value_hex("counters_of_instructions", nops);
    value_u64("free_memory", chain.room);
    if (refused != NULL || loads == 0 || nops == 0 || !caches || !groups ||
        chain.room < chain.sizes[PEBS_LLC])
        return false;
    of_loads = (unsigned)__builtin_ctz(loads);
    of_nops = (unsigned)__builtin_ctz(nops);
    return true;
}

static void run(void)
{
    if (pebs_no_retire_latency() != NULL) {
        check_skip_all(SET_UP, SLOW_LOADS, "%s", pebs_no_retire_latency());
        return;
    }
    bool ready = set_up();
    check(SET_UP, ready);
    if (!ready)
        return;
    struct latencies slow = sample_loads(PEBS_LLC), fast = sample_loads(PEBS_L1);
    struct latencies nops = sample_nops(slow.each / 10 + 1);

    value_u64("nops", nops.records);
    value_u64("below_the_bound", nops.quick);
    value_u64("bound_in_cycles", slow.each / 10 + 1);
    check(NOPS, nops.records >= ENOUGH && 2 * nops.quick > nops.records);
    value_u64("loads", fast.records);
    value_ratio("mean_cycles", fast.sum, fast.records);
    check(FAST_LOADS, fast.records >= ENOUGH && slow.records != 0 &&
                          2 * fast.sum * slow.records <= slow.sum * fast.records);
    value_u64("loads", slow.records);
    value_ratio("mean_cycles", slow.sum, slow.records);
    value_u64("by_counting", slow.each);
    uint64_t counted = slow.each * slow.records;
    check(SLOW_LOADS,
          slow.records >= ENOUGH && 2 * slow.sum >= counted && 2 * slow.sum <= 3 * counted);
}
