/* Experiment 23-4 · Architectural LBR: time. */
#include "kernel/time.h"
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "x86/cpuid.h"

enum { VALID, GROWS, SUM, BY_CHANCE, ALWAYS };

static const char *const checks[] = {
    [VALID] = "each record behind the first has a valid number of cycles",
    [GROWS] = "the longer the stretch before a branch, the more cycles it has",
    [SUM] = "what a longer run takes more, their sum and the core cycles tell alike",
    [BY_CHANCE] =
        "a branch that goes by chance is flagged mispredicted, an eighth of the times or more",
    [ALWAYS] = "one that goes the same way each time never is",
};

static void run(void);

const struct experiment ex23_4 = {
    .id = "23-4",
    .title = "Architectural LBR: time",
    .needs = NEED_ARCH_LBR | NEED_LBR | NEED_LBR_SELECT,
    CHECKS(checks),
    .run = run,
};

/*
 * A record tells how many core cycles have gone by since the record before it, INFO[15:0], valid
 * where INFO[60] says so, and INFO[63] whether the branch was mispredicted; CPUID.1CH:ECX[1:0] say
 * whether there are these fields (SDM vol. 3 "Last Branch Records", IA32_LBR_x_INFO). Since the
 * record before: what a filter keeps out is not in between. So the loops of the stretches may have
 * branches of their own, conditional ones, while near relative jumps alone are recorded.
 *
 * The first record has none before it; what it says is reported. The others must grow with the
 * stretches, of which the nth has n times as many multiplies in a chain. Their sum is held against
 * the core cycles of a counter, each as the difference of a long run and a short one: all that lies
 * around the body goes out of it. The two need not agree to the cycle, for a branch retires a
 * little before or behind the WRMSR's place, but far better than one in twenty.
 *
 * Mispredictions: one branch, the same instructions each time, and nothing but the data differ. A
 * generator begun from the time decides: whatever the predictor has learned, it is wrong half of
 * the times, and less than an eighth of 56 (the fewest there can be) once in a thousand million
 * runs. From 0 the generator gives 0 and the branch is always taken: after hundreds of times any
 * predictor knows. What can go wrong: MISPRED read the wrong way round, as an early manual has it
 * for FROM[63]; a hypervisor hands on cycles that it took itself.
 */
#define OTHER_THAN(kind)                                                                           \
    ((LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL | LBR_SELECT_NEAR_RET | \
      LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_FAR_BRANCH) &                 \
     ~(kind))
#define SHORT     200
#define LONG      2000
#define TOLERANCE 20 /* one in so many */
#define TIMES     8  /* stacks full of decisions */
#define FLAGGED   8  /* one in so many at least */

/* ---- Cycles ---- */

struct timed {
    struct branch_record records[LBR_MAX_DEPTH]; /* newest first */
    unsigned n;
    bool all; /* those of the list, in order */
    uint64_t sum, counted;
};

static bool has_counter(void)
{
    return need_missing(NEED_PMU | NEED_GLOBAL_CTRL) == NULL &&
           pmu_no_event(PMU_EVENT_CORE_CYCLES) == NULL;
}

static struct timed run_stretches(uint64_t rounds)
{
    const struct branch_run *all = &branch_stretches_run;
    struct timed t = {0};
    if (has_counter()) {
        pmu_select(0, pmu_events[PMU_EVENT_CORE_CYCLES].code | PERFEVTSEL_USR | PERFEVTSEL_OS);
        pmu_write(0, 0);
        pmu_open(PMU_MASK(0));
    }
    lbr_record(OTHER_THAN(LBR_SELECT_NEAR_REL_JMP), 0, branch_stretches, rounds);
    if (has_counter()) {
        pmu_close();
        t.counted = pmu_read(0);
    }
    t.n = lbr_read(t.records, LBR_MAX_DEPTH);
    t.all = branches_held(all->taken, (unsigned)all->n, 0, 0);
    for (unsigned i = 0; i + 1 < t.n; i++)
        t.sum += t.records[i].cycles;
    return t;
}

static bool all_valid(const struct timed *t)
{
    bool valid = t->all;
    for (unsigned i = 0; i + 1 < t->n; i++)
        valid = valid && t->records[i].has_cycles;
    return valid;
}

/* Newest first, so they fall. */
static bool grow(const struct timed *t)
{
    bool right = t->all;
    for (unsigned i = 0; i + 2 < t->n; i++)
        right = right && t->records[i].cycles > t->records[i + 1].cycles;
    return right;
}

static bool fits(uint64_t sum, uint64_t counted)
{
    uint64_t apart = sum > counted ? sum - counted : counted - sum;
    return sum != 0 && apart <= counted / TOLERANCE;
}

static void check_cycles(void)
{
    if (!(lbr_info()->info_fields & CPUID_1C_ECX_CYCLES)) {
        check_skip_all(VALID, SUM, "no cycles in IA32_LBR_x_INFO: CPUID.1CH:ECX[1] = 0");
        return;
    }
    struct timed short_run, long_run;
    struct take take = take_begin();
    run_stretches(LONG); /* the first one finds the caches cold */
    do {
        short_run = run_stretches(SHORT);
        long_run = run_stretches(LONG);
    } while (take_again(&take, all_valid(&long_run) && grow(&long_run) &&
                                   (!has_counter() || fits(long_run.sum - short_run.sum,
                                                           long_run.counted - short_run.counted))));
    lbr_dump("after stretches of 1 to 5 times as many multiplies");
    value_str("first_record", long_run.n != 0 && long_run.records[long_run.n - 1].has_cycles
                                  ? "has a number of cycles too"
                                  : "has none");
    bool listed =
        branches_in_lbr(branch_stretches_run.taken, (unsigned)branch_stretches_run.n, 0, 0);
    check(VALID, listed && all_valid(&long_run));
    check(GROWS, grow(&long_run));
    if (!has_counter()) {
        const char *missing = need_missing(NEED_PMU | NEED_GLOBAL_CTRL);
        check_skip(SUM, "%s", missing != NULL ? missing : pmu_no_event(PMU_EVENT_CORE_CYCLES));
        return;
    }
    value_u64("sum_of_the_long_run", long_run.sum);
    value_u64("more_than_the_short_one", long_run.sum - short_run.sum);
    value_u64("counted_more", long_run.counted - short_run.counted);
    check(SUM, fits(long_run.sum - short_run.sum, long_run.counted - short_run.counted));
}

/* ---- Mispredictions ---- */

struct decisions {
    unsigned recorded, flagged;
};

static void record_decisions(struct decisions *d, uint64_t seed)
{
    struct branch_record records[LBR_MAX_DEPTH];
    lbr_record(OTHER_THAN(LBR_SELECT_JCC), 0, branch_decided, seed);
    unsigned n = lbr_read(records, LBR_MAX_DEPTH);
    for (unsigned i = 0; i < n; i++)
        if (records[i].from == (uint64_t)branch_decision) {
            d->recorded++;
            d->flagged += records[i].mispredicted;
        }
}

/* By chance or always; all but the last record of each stack are of that branch. */
static struct decisions decide(bool by_chance)
{
    struct decisions d;
    struct take take = take_begin();
    do {
        d = (struct decisions){0};
        for (unsigned i = 0; i < TIMES; i++)
            record_decisions(&d, by_chance ? rdtsc() | 1 : 0);
    } while (take_again(&take, by_chance ? d.flagged * FLAGGED >= d.recorded : d.flagged == 0));
    return d;
}

static void check_mispredictions(void)
{
    if (!(lbr_info()->info_fields & CPUID_1C_ECX_MISPRED)) {
        check_skip_all(BY_CHANCE, ALWAYS, "no MISPRED in IA32_LBR_x_INFO: CPUID.1CH:ECX[0] = 0");
        return;
    }
    unsigned each = TIMES * (lbr_info()->depth - 1);
    struct decisions chance = decide(true), always = decide(false);
    value_u64("recorded", chance.recorded);
    value_u64("flagged", chance.flagged);
    check(BY_CHANCE, chance.recorded == each && chance.flagged * FLAGGED >= chance.recorded);
    value_u64("recorded", always.recorded);
    value_u64("flagged", always.flagged);
    check(ALWAYS, always.recorded == each && always.flagged == 0);
}

static void run(void)
{
    check_cycles();
    check_mispredictions();
}
