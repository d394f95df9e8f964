/* Experiment 23-12 · A profile. */
#include "kernel/trap.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/sample_bodies.h"
#include "lab/take.h"
#include "pmu/ds.h"
#include "pmu/pebs.h"
#include "pmu/pmu.h"

enum { COUNTED, PMI_TRUE, PMI_LIES, PEBS_TRUE, PEBS_LIES };

static const char *const checks[] = {
    [COUNTED] = "each function's count is its listing's: their shares are known",
    [PMI_TRUE] = "by PMI: each share of the samples is the function's, within three sigma",
    [PMI_LIES] = "by PMI, a period as long as the loop: one function has all samples",
    [PEBS_TRUE] = "by PEBS: each share of the samples is the function's, within three sigma",
    [PEBS_LIES] = "by PEBS, a period as long as the loop: one function has all samples",
};

static void run(void);

const struct experiment ex23_12 = {
    .id = "23-12",
    .title = "A profile",
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * A profiler asks where a program was each time a counter overflowed, and takes the shares of the
 * samples for those of the event. Here the program is a loop of four functions, whose instructions
 * are counted first: so the profile can be held against the truth. What N samples can tell has an
 * error: of a share p, sigma is the square root of p(1 - p) / N. Once by PMI, whose handler sets
 * the counter for the next period (SDM vol. 3 "Performance Counter Overflow"), and once by PEBS,
 * where the debug store does.
 *
 * A period that keeps step with the loop lies: all samples fall at the same place, and one function
 * of four has them all, whatever its share. Nothing in the samples betrays it, which is why
 * profilers choose odd periods, or change them at random.
 *
 * What can go wrong: a handler that starts the period anew adds the way to itself to each; one that
 * forgets its own instructions has them in the count. Both let a bad period drift away from its
 * place, and look like a cure.
 */
#define SELECT       (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define COUNT        (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define TRUE_SAMPLES 48 /* of a period that has nothing to do with the loop: 0.38 of it */
#define LIES         12
#define LIE_ROUNDS   (LIES + 1)
#define MOST         64
#define SIGMAS       3

static const struct function {
    const char *name;
    void (*body)(uint64_t unused);
    const char *end;
    const struct body_insns *insns;
    uint64_t iterations;
} functions[] = {
    {"share_a", share_a, share_a_end, &share_a_insns, SHARE_A},
    {"share_b", share_b, share_b_end, &share_b_insns, SHARE_B},
    {"share_c", share_c, share_c_end, &share_c_insns, SHARE_C},
    {"share_d", share_d, share_d_end, &share_d_insns, SHARE_D},
};
#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
#define LAST        (N_FUNCTIONS - 1)

static uint64_t counts[N_FUNCTIONS], whole; /* instructions, and of a round of the loop */

struct profile {
    unsigned n, of[N_FUNCTIONS], elsewhere;
};

static uint64_t listing(const struct function *f)
{
    return insns_of(f->insns, f->iterations);
}

static uint64_t round_insns(void)
{
    uint64_t sum = shares_loop_insns.each;
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        sum += listing(&functions[i]);
    return sum;
}

static void check_counts(void)
{
    bool all = true;
    pmu_select(0, COUNT);
    uint64_t empty = count_empty(PMU_MASK(0), 0);
    whole = round_insns();
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        const struct function *f = &functions[i];
        uint64_t expected = pmu_window_insns + listing(f);
        uint64_t count = count_exactly(PMU_MASK(0), 0, f->body, 0, expected);
        counts[i] = count - pmu_window_insns;
        value_u64(f->name, counts[i]);
        if (i == 0)
            value_known_loss(empty, count, expected);
        all = all && count == expected;
    }
    value_u64("a_round_of_the_loop", whole);
    check(COUNTED, all);
}

/* ---- The samples ---- */

static struct profile profile;

static void add(uint64_t ip)
{
    profile.n++;
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        if (ip >= (uint64_t)functions[i].body && ip < (uint64_t)functions[i].end) {
            profile.of[i]++;
            return;
        }
    profile.elsewhere++;
}

static uint64_t period;

/* The counter has gone on since it overflowed: the next overflow is a period behind that one. */
static void on_pmi(const struct pmi *pmi)
{
    uint64_t since = pmu_read(0);
    add(pmi->frame->rip);
    pmu_write_overflow_in(0, since < period ? period - since : 1);
}

static void by_pmi(uint64_t first, uint64_t rounds)
{
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pmu_select(0, SELECT);
    pmu_write_overflow_in(0, first);
    pmu_count(PMU_MASK(0), shares_loop, rounds);
    pmu_select(0, 0);
}

static unsigned sampler;

static void by_pebs(uint64_t first, uint64_t rounds)
{
    struct pebs_record r;
    ds_buffer_drain(&ds_area()->pebs);
    pebs_enable(sampler, &pebs_generation(NULL)->instructions, period);
    pmu_write_overflow_in(sampler, first);
    pmu_count(PMU_MASK(sampler), shares_loop, rounds);
    pebs_disable();
    unsigned n = pebs_count();
    for (unsigned i = 0; i < n && pebs_read(i, &r); i++)
        add(r.value[pebs_has(&r, PEBS_EVENTING_IP) ? PEBS_EVENTING_IP : PEBS_RIP]);
}

/* |of / n - count / whole| <= SIGMAS * sqrt(p(1 - p) / n), times n and whole, and squared. The
 * numbers are below 2^18 and 2^7. */
static bool share_agrees(unsigned i)
{
    uint64_t n = profile.n, by_samples = profile.of[i] * whole, by_count = n * counts[i];
    uint64_t error = by_samples > by_count ? by_samples - by_count : by_count - by_samples;
    return error * error <= SIGMAS * SIGMAS * n * counts[i] * (whole - counts[i]);
}

static bool is_true(void)
{
    bool all = profile.n >= TRUE_SAMPLES / 2;
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        all = share_agrees(i) && all;
    return all;
}

/* The first sample is in the middle of the last function, which has four tenths. */
static bool is_lie(void)
{
    return profile.n >= LIES && profile.of[LAST] == profile.n && !share_agrees(LAST);
}

static void print(const char *how)
{
    note("%s, a period of %llu: %u samples", how, (unsigned long long)period, profile.n);
    for (unsigned i = 0; i < N_FUNCTIONS; i++)
        note("  %-8s %3llu %% of the instructions, %3u %% of the samples (%u)", functions[i].name,
             (unsigned long long)((100 * counts[i] + whole / 2) / whole),
             profile.n != 0 ? (100 * profile.of[i] + profile.n / 2) / profile.n : 0, profile.of[i]);
    if (profile.elsewhere != 0)
        note("  elsewhere %u", profile.elsewhere);
}

static void check_profile(unsigned which, const char *how, void (*by)(uint64_t, uint64_t),
                          uint64_t first, uint64_t rounds, bool (*right)(void))
{
    struct take take = take_begin();
    do {
        profile = (struct profile){0};
        by(first, rounds);
    } while (take_again(&take, right()));
    print(how);
    value_u64("period", period);
    value_u64("samples", profile.n);
    value_u64("of_the_last_function", profile.of[LAST]);
    check(which, right());
}

static void check_both(unsigned which, const char *how, void (*by)(uint64_t, uint64_t))
{
    period = whole * 382 / 1000;
    check_profile(which, how, by, period, (TRUE_SAMPLES * period + period / 2) / whole + 1,
                  is_true);
    period = whole;
    check_profile(which + 1, how, by, whole - counts[LAST] / 2, LIE_ROUNDS, is_lie);
}

static const char *no_pebs(void)
{
    const char *why = NULL;
    if (!pmu_info()->global_ctrl)
        return pmu_info()->no_global_ctrl;
    pebs_generation(&why);
    return why;
}

static void run(void)
{
    check_counts();
    check_both(PMI_TRUE, "by PMI", by_pmi);
    if (no_pebs() != NULL) {
        check_skip_all(PEBS_TRUE, PEBS_LIES, "%s", no_pebs());
        return;
    }
    const struct ds_setup setup = {.pebs_records = MOST, .pebs_threshold = DS_CIRCULAR};
    uint32_t usable = pebs_counters(&pebs_generation(NULL)->instructions);
    const char *refused = ds_setup(&setup);
    if (refused != NULL || usable == 0) {
        value_str("ds_setup", "%s", refused != NULL ? refused : "no counter samples the event");
        check(PEBS_TRUE, false);
        return;
    }
    sampler = (unsigned)__builtin_ctz(usable);
    check_both(PEBS_TRUE, "by PEBS", by_pebs);
}
