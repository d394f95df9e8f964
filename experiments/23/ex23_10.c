/* Experiment 23-10 · Many samples, one interrupt. */
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { SET_UP, ONE_EACH, NONE_LOST, NONE_TWICE, NONE_FOR_LESS };

static const char *const checks[] = {
    [SET_UP] = "the debug store can be set up and a counter samples the event",
    [ONE_EACH] = "a buffer of N records: one PMI for each N, with all N in it",
    [NONE_LOST] = "no sample is lost: from one to the next it is less than two periods",
    [NONE_TWICE] = "none is there twice: from one to the next it is more than half a period",
    [NONE_FOR_LESS] = "one record less than N asks for no PMI, and stays in the buffer",
};

static void run(void);

const struct experiment ex23_10 = {
    .id = "23-10",
    .title = "Many samples, one interrupt",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_PMI | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * An interrupt for each sample costs more than the sample. PEBS needs one for a whole buffer: the
 * processor writes records by itself, reloads the counter from the debug store, and asks for the
 * interrupt when the index reaches the threshold (SDM vol. 3 "Setting Up the PEBS Buffer"). Here
 * buffers of 1, 3 and 10 records, three of each: the handler must find exactly N each time. The
 * loop of 15-5 tells by its registers how many loads it had done at each record: so the distance of
 * two says whether one is missing between them, also where the buffer was drained.
 *
 * What can go wrong: a record that comes between the threshold and the handler finds the buffer
 * full and is lost, without a sign ("no signaling is generated"): the period is far longer than
 * any way to the handler. A handler that restarts PEBS after the counter loses the overflow that
 * falls between; one that does not set the index back finds the old records again.
 */
#define PERIOD  50000
#define BUFFERS 3 /* full ones */
#define LARGEST 10
#define MOST    (BUFFERS * LARGEST + LARGEST)

static const unsigned sizes[] = {1, 3, LARGEST};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct pebs_run the_run;

static struct {
    unsigned n;            /* records in all */
    unsigned pmis, not_n;  /* and those of which whose buffer did not hold just N */
    unsigned wanted;       /* N */
    unsigned left;         /* in the buffer at the end */
    uint64_t events[MOST]; /* of the run, at each record */
} seen;

/* In the unit of the event that is sampled. */
static bool by_instructions(void)
{
    return pebs_lab_event()->code == EVENT_INST_RETIRED_ANY_P;
}

static void take_records(void)
{
    struct pebs_record r;
    for (unsigned i = 0; i < pebs_count() && seen.n < MOST && pebs_read(i, &r); i++) {
        struct pebs_place place = pebs_place_of(&r, &the_run);
        seen.events[seen.n++] = by_instructions() ? place.instructions : place.loads;
    }
    ds_buffer_drain(&ds_area()->pebs);
}

static void on_pmi(const struct pmi *pmi)
{
    seen.pmis++;
    seen.not_n += !pmi->pebs_full || pebs_count() != seen.wanted;
    take_records();
}

/* The last sample lies half a period before the end. */
static uint64_t rounds_for(unsigned samples)
{
    return (samples * (uint64_t)PERIOD + PERIOD / 2) / PEBS_LOADS;
}

static void sample_once(unsigned counter, unsigned size, unsigned samples)
{
    seen = (typeof(seen)){.wanted = size};
    ds_buffer_drain(&ds_area()->pebs);
    pebs_run_fill(&the_run, 0x1000, rounds_for(samples));
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    pebs_enable(counter, pebs_lab_event(), PERIOD);
    pmu_count(PMU_MASK(counter), pebs_loads, (uint64_t)&the_run);
    wait_for_pmi(pmu_pmi_count() + (ds_buffer_full(&ds_area()->pebs) ? 1 : 0));
    pebs_disable();
    seen.left = pebs_count();
    take_records();
}

static uint64_t distance(unsigned i)
{
    return seen.events[i] - (i == 0 ? 0 : seen.events[i - 1]);
}

/* Also none behind the last. */
static bool none_lost(void)
{
    uint64_t end = the_run.rounds * (by_instructions() ? PEBS_LOADS + 2 : PEBS_LOADS);
    bool none = seen.n != 0 && end - seen.events[seen.n - 1] < 2 * (uint64_t)PERIOD;
    for (unsigned i = 0; i < seen.n; i++)
        none = none && distance(i) < 2 * (uint64_t)PERIOD;
    return none;
}

/* Where the event counts micro-operations, those of the microcode that stores the record may be
 * among them, and the handler's way to the stop of the counters is among them everywhere. */
static bool none_twice(void)
{
    bool none = seen.n != 0;
    for (unsigned i = 0; i < seen.n; i++)
        none = none && distance(i) > PERIOD / 2 && distance(i) < UINT64_MAX / 2;
    return none;
}

static bool one_each(void)
{
    return seen.pmis == seen.n / seen.wanted && seen.not_n == 0 && seen.n >= seen.wanted;
}

static bool lay_out(unsigned size)
{
    const struct ds_setup setup = {.pebs_records = size, .pebs_threshold = size};
    return ds_setup(&setup) == NULL;
}

static void measure(unsigned counter, unsigned size, unsigned samples, bool (*right)(void))
{
    struct take take = take_begin();
    do
        sample_once(counter, size, samples);
    while (take_again(&take, right()));
    uint64_t shortest = UINT64_MAX, longest = 0;
    for (unsigned i = 1; i < seen.n; i++) {
        shortest = distance(i) < shortest ? distance(i) : shortest;
        longest = distance(i) > longest ? distance(i) : longest;
    }
    note("N = %u: %u samples, %u PMIs, %llu to %llu %s apart", size, seen.n, seen.pmis,
         seen.n > 1 ? (unsigned long long)shortest : 0, (unsigned long long)longest,
         by_instructions() ? "instructions" : "loads");
}

static bool all_right(void)
{
    return one_each() && none_lost() && none_twice();
}

static bool none_for_less(void)
{
    return seen.pmis == 0 && seen.left == LARGEST - 1;
}

static void run(void)
{
    const struct ds_setup setup = {.pebs_records = LARGEST, .pebs_threshold = LARGEST};
    uint32_t counters = pebs_lab_set_up(&setup);
    check(SET_UP, counters != 0);
    if (counters == 0)
        return;
    if (pebs_no_registers() != NULL) {
        check_skip_all(ONE_EACH, NONE_FOR_LESS, "%s", pebs_no_registers());
        return;
    }
    unsigned counter = (unsigned)__builtin_ctz(counters), samples = 0, pmis = 0;
    bool each = true, lost = true, twice = true;
    for (unsigned i = 0; i < N_SIZES; i++) {
        bool ready = lay_out(sizes[i]);
        measure(counter, sizes[i], BUFFERS * sizes[i], all_right);
        each = ready && one_each() && each;
        lost = none_lost() && lost;
        twice = none_twice() && twice;
        samples += seen.n;
        pmis += seen.pmis;
    }
    value_u64("samples", samples);
    value_u64("pmis", pmis);
    value_u64("unexpected", pmu_unexpected_count());
    check(ONE_EACH, each && pmu_unexpected_count() == 0);
    value_u64("period", PERIOD);
    check(NONE_LOST, lost);
    check(NONE_TWICE, twice);

    measure(counter, LARGEST, LARGEST - 1, none_for_less);
    value_u64("pmis", seen.pmis);
    value_u64("in_the_buffer", seen.left);
    check(NONE_FOR_LESS, none_for_less());
}
