/* Experiment 23-8 · PEBS of today. */
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { SET_UP, EACH_BIT, GENERAL, FIXED_0, OTHER_FIXED, ANY_EVENT };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up",
    [EACH_BIT] = "IA32_PEBS_ENABLE takes a bit for each counter, the fixed ones included",
    [GENERAL] = "each general counter samples instructions: registers right, in order, reloaded",
    [FIXED_0] = "IA32_FIXED_CTR0 samples instructions: registers right, in order, reloaded",
    [OTHER_FIXED] = "the fixed counters of cycles and slots sample: registers right, in order",
    [ANY_EVENT] = "each general counter samples core cycles: registers right, in order",
};

static void run(void);

const struct experiment ex23_8 = {
    .id = "23-8",
    .title = "PEBS of today",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_INSTRUCTIONS | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * Until Comet Lake PEBS was for a few events on a few general counters: 15-5 has to look up which.
 * Since Ice Lake IA32_PERF_CAPABILITIES.PEBS_BASELINE announces extended PEBS: every counter, the
 * fixed ones included, samples every event (SDM vol. 3 "Extended PEBS"). Here each counter that
 * CPUID announces samples the loads of 15-5, whose registers tell which load came last.
 *
 * Of a precise event (instructions) the record is that of an instruction which made the event. Of
 * one that is not precise (cycles, slots) it comes some time behind the overflow: then it may also
 * lie outside the loop, in the window's own instructions. But whatever instruction it names, its
 * registers are those of that instruction.
 *
 * What can go wrong: a counter is reloaded from another one's reset value, of which the debug store
 * has one for each, the fixed ones behind 8 general ones, from record format 5 on behind 32; a
 * fixed counter's record lacks the groups, because its own Adaptive_Record bit
 * (IA32_FIXED_CTR_CTRL[32 + 4i]) was forgotten; records hold the registers of another instruction
 * than that of their RIP.
 */
#define RECORDS 48
/* Of instructions: 26 records. Between two of them there lie a period, the event that makes the
 * record, and what the processor needs to arm PEBS, which is far less than another period. */
#define PERIOD 1000
#define ROUNDS 400
/* Of cycles, reference cycles and slots so many as the run has, counted before, make the period. */
#define CYCLE_ROUNDS 2000
#define SAMPLES      8
#define NO_SAMPLE    0x40000000 /* a period far longer than the run */
/* A record of cycles that overflow in the closing WRMSR may name what comes behind it. */
#define WINDOW_TAIL 16

static struct pebs_run the_run;

struct tally {
    unsigned records, in_loop;
    bool elsewhere;             /* a record lies outside the window */
    bool wrong;                 /* or its registers are not those of its RIP */
    bool in_order;              /* each is behind the one before it */
    uint64_t shortest, longest; /* instructions between two */
};

static bool in_loop(uint64_t rip)
{
    return rip >= (uint64_t)pebs_loads_loop && rip < (uint64_t)pebs_loads_loop_end;
}

static bool in_window(uint64_t rip)
{
    return (rip >= (uint64_t)pebs_loads && rip < (uint64_t)pebs_loads_end) ||
           (rip >= (uint64_t)pmu_window_open && rip <= (uint64_t)pmu_window_end + WINDOW_TAIL);
}

static void add(struct tally *t, const struct pebs_record *r, uint64_t *last)
{
    t->records++;
    if (!in_loop(r->value[PEBS_RIP])) {
        t->elsewhere = t->elsewhere || !in_window(r->value[PEBS_RIP]);
        return;
    }
    t->wrong = t->wrong || !pebs_record_agrees(r, &the_run, (uint64_t)pebs_loads);
    uint64_t at = pebs_place_of(r, &the_run).instructions;
    if (t->in_loop++ != 0) {
        uint64_t distance = at - *last;
        t->in_order = t->in_order && at > *last;
        t->shortest = distance < t->shortest ? distance : t->shortest;
        t->longest = distance > t->longest ? distance : t->longest;
    }
    *last = at;
}

static struct tally sample_once(unsigned counter, const struct pebs_event *event, uint64_t period,
                                uint64_t rounds)
{
    struct tally t = {.in_order = true, .shortest = ~(uint64_t)0};
    struct pebs_record r;
    uint64_t last = 0;
    unsigned n = pebs_lab_sample(counter, event, period, &the_run, rounds, 0);
    for (unsigned i = 0; i < n && pebs_read(i, &r); i++)
        add(&t, &r, &last);
    return t;
}

static bool good(const struct tally *t)
{
    return t->in_loop > 1 && !t->elsewhere && !t->wrong && t->in_order;
}

/* A counter that is not reloaded, or from another one's reset value, has other distances. */
static bool reloaded(const struct tally *t)
{
    return t->shortest >= PERIOD && t->longest < 2 * PERIOD;
}

static struct tally sample(unsigned counter, const struct pebs_event *event, uint64_t period,
                           uint64_t rounds)
{
    struct tally t;
    struct take take = take_begin();
    do
        t = sample_once(counter, event, period, rounds);
    while (take_again(&take, good(&t) && (rounds != ROUNDS || reloaded(&t))));
    note("MSR %XH, %s: %u records, %u of them in the loop, %llu to %llu instructions apart%s%s%s",
         (unsigned)pmu_counter_msr(counter), event != NULL ? event->name : "its own event",
         t.records, t.in_loop, t.in_loop > 1 ? (unsigned long long)t.shortest : 0,
         (unsigned long long)t.longest, t.elsewhere ? ", one outside the window" : "",
         t.wrong ? ", one with wrong registers" : "", t.in_order ? "" : ", not in order");
    return t;
}

static bool samples_instructions(unsigned counter)
{
    static const struct pebs_event instructions = {"INST_RETIRED.ANY_P", EVENT_INST_RETIRED_ANY_P,
                                                   ~0U};
    struct tally t =
        sample(counter, counter < GLOBAL_FIXED_SHIFT ? &instructions : NULL, PERIOD, ROUNDS);
    return good(&t) && reloaded(&t);
}

static bool samples_clock(unsigned counter, const struct pebs_event *event)
{
    pebs_lab_sample(counter, event, NO_SAMPLE, &the_run, CYCLE_ROUNDS, 0);
    uint64_t left = pmu_counter_max(counter) - pmu_read(counter) + 1;
    struct tally t = sample(counter, event, (NO_SAMPLE - left) / SAMPLES + 1, CYCLE_ROUNDS);
    return good(&t);
}

static bool samples_cycles(unsigned counter)
{
    static const struct pebs_event cycles = {"CPU_CLK_UNHALTED.THREAD_P",
                                             EVENT_CPU_CLK_UNHALTED_THREAD_P, ~0U};
    return samples_clock(counter, &cycles);
}

/* Core cycles, reference cycles, slots; those behind them may count nothing at all. */
static bool samples_itself(unsigned counter)
{
    return samples_clock(counter, NULL);
}

static bool takes_bit(unsigned counter)
{
    bool taken = pebs_enable_takes(PMU_MASK(counter));
    if (!taken)
        note("IA32_PEBS_ENABLE refuses bit %u", counter);
    return taken;
}

static bool set_up(void)
{
    const struct ds_setup setup = {.pebs_records = RECORDS, .pebs_threshold = DS_CIRCULAR};
    const char *refused = ds_setup(&setup);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    value_u64("record_format", pebs_format());
    value_u64("record_bytes", pebs_record_size());
    return refused == NULL;
}

static void check_fixed(void)
{
    uint64_t others = pmu_all_counters() &
                      (PMU_MASK(PMU_FIXED(1)) | PMU_MASK(PMU_FIXED(2)) | PMU_MASK(PMU_FIXED(3)));
    if (pmu_has_fixed(0))
        check(FIXED_0, samples_instructions(PMU_FIXED(0)));
    else
        check_skip(FIXED_0, "%s", pmu_no_fixed(0));
    value_hex("counters", others);
    if (others != 0)
        check(OTHER_FIXED, enumerated_all(others, samples_itself));
    else
        check_skip(OTHER_FIXED, "%s", pmu_no_fixed(1));
}

static void run(void)
{
    if (pebs_no_baseline() != NULL) {
        check_skip_all(SET_UP, ANY_EVENT, "%s", pebs_no_baseline());
        return;
    }
    bool ready = set_up();
    check(SET_UP, ready);
    if (!ready)
        return;
    value_hex("counters", pmu_all_counters());
    check(EACH_BIT, enumerated_all(pmu_all_counters(), takes_bit));
    if (pebs_no_registers() != NULL) {
        check_skip_all(GENERAL, ANY_EVENT, "%s", pebs_no_registers());
        return;
    }
    value_hex("counters", enumerated_general());
    check(GENERAL, enumerated_all(enumerated_general(), samples_instructions));
    check_fixed();
    if (pmu_no_event(PMU_EVENT_CORE_CYCLES) == NULL)
        check(ANY_EVENT, enumerated_all(enumerated_general(), samples_cycles));
    else
        check_skip(ANY_EVENT, "%s", pmu_no_event(PMU_EVENT_CORE_CYCLES));
}
