/* Experiment 24-7 · IBS: sample fetches. */
#include "kernel/memory.h"
#include "kernel/paging.h"
#include "kernel/string.h"
#include "lab/experiment.h"
#include "lab/sample_bodies.h"
#include "lab/take.h"
#include "pmu/ibs.h"

enum { INSIDE, PHYSICAL, LATENCY, PERIOD_HOLDS, HOT, COLD };

static const char *const checks[] = {
    [INSIDE] = "IbsFetchLinAd of the samples lies in the code that runs",
    [PHYSICAL] = "IbsFetchPhysAd is that address's own: memory is mapped as it lies",
    [LATENCY] = "each fetch that completed has a latency",
    [PERIOD_HOLDS] = "with twice the period there are half as many samples",
    [HOT] = "a small loop is fetched without misses of the instruction cache",
    [COLD] = "code that runs for the first time is fetched with misses",
};

static void run(void);

const struct experiment ex24_7 = {
    .id = "24-7",
    .title = "IBS: sample fetches",
    .needs = NEED_LAPIC | NEED_IBS_FETCH,
    CHECKS(checks),
    .run = run,
};

/*
 * The processor counts the fetches that it attempts; when the count's bits 19:4 reach
 * IbsFetchMaxCnt, the next fetch is tagged. As it completes, or is given up, IbsFetchCtl and two
 * address registers say what became of it, IbsFetchVal is set, an interrupt comes through the
 * extended LVT entry that IBS_CTL names, and counting stands still until software writes
 * IbsFetchCtl again (APM vol. 2 "IBS Fetch Sampling", "IBS Fetch Control Register"). A fetch is no
 * instruction: it is a block of code, 16 to 64 bytes by family, on the wrong path too. So addresses
 * and shares are held, not counts.
 *
 * The interrupt's own return is fetched too, and counted: the period is long against it. What can
 * go wrong: firmware that leaves IBS_CTL without an LVT entry, a hypervisor that shows IBS and has
 * none, one sample read twice because IbsFetchVal was not cleared.
 */
#define PERIOD     2048
#define ROUNDS     20000
#define FEW        16      /* samples; fewer say nothing */
#define COLD_BYTES 0x40000 /* more than any first-level instruction cache */
#define COLD_RUNS  8
#define COLD_STEP  (16 * 16) /* its period: few fetches */
#define OP_NOP     0x90
#define OP_RET     0xc3

static struct {
    uint64_t first, end;
    unsigned n, inside, completed, with_latency, physical, physical_right, misses;
    unsigned least, most;
} seen;

static void on_fetch(const struct ibs_fetch *f)
{
    bool inside = f->linear >= seen.first && f->linear < seen.end;
    seen.n++;
    seen.inside += inside;
    if (!inside || !f->completed)
        return;
    seen.least = seen.completed == 0 || f->latency < seen.least ? f->latency : seen.least;
    seen.most = f->latency > seen.most ? f->latency : seen.most;
    seen.completed++;
    seen.with_latency += f->latency != 0;
    seen.physical += f->physical_valid;
    seen.physical_right += f->physical_valid && f->physical == f->linear;
    seen.misses += f->ic_miss;
}

static void sample(uint64_t period)
{
    seen = (typeof(seen)){.first = (uint64_t)sparse_loads, .end = (uint64_t)sparse_loads_end + 1};
    ibs_sample_fetches(period, true, on_fetch, sparse_loads, ROUNDS);
    note("every %lluth fetch: %u samples, %u in the loop, %u of them completed, %u missed, cycles "
         "%u to %u",
         (unsigned long long)period, seen.n, seen.inside, seen.completed, seen.misses, seen.least,
         seen.most);
}

/* The firmware's code is fetched too, should an SMI fall in, and the interrupt's own. */
static bool all_but_few(unsigned part, unsigned whole)
{
    return whole >= FEW && part <= whole && (whole - part) * 20 <= whole;
}

static void check_loop(void)
{
    struct take take = take_begin();
    do
        sample(PERIOD);
    while (take_again(&take, all_but_few(seen.inside, seen.n)));
    value_u64("samples", seen.n);
    value_u64("inside", seen.inside);
    check(INSIDE, all_but_few(seen.inside, seen.n));
    value_u64("with_address", seen.physical);
    value_u64("right", seen.physical_right);
    check(PHYSICAL, seen.physical != 0 && seen.physical_right == seen.physical);
    value_u64("completed", seen.completed);
    value_u64("least_cycles", seen.least);
    value_u64("most_cycles", seen.most);
    check(LATENCY, seen.completed != 0 && seen.with_latency == seen.completed);
}

static void check_period(void)
{
    unsigned n, misses = seen.misses, completed = seen.completed, once = seen.n;
    struct take take = take_begin();
    do {
        sample(2 * PERIOD);
        n = 2 * seen.n;
    } while (take_again(&take, n * 10 >= once * 9 && n * 10 <= once * 11));
    value_u64("samples", once);
    value_u64("with_twice_the_period", seen.n);
    check(PERIOD_HOLDS, once >= FEW && n * 10 >= once * 9 && n * 10 <= once * 11);
    value_u64("completed", completed);
    value_u64("missed", misses);
    check(HOT, completed != 0 && misses * 20 <= completed);
}

/* NOPs in memory that was just written as data: no instruction cache has them. The alias has rights
 * to run. */
static void check_cold(void)
{
    size_t room;
    uint8_t *memory = memory_scratch(&room);
    size_t bytes = room < COLD_BYTES ? room & ~(size_t)0xfff : COLD_BYTES;
    memset(memory, OP_NOP, bytes);
    memory[bytes - 1] = OP_RET;
    unsigned n = 0, misses = 0;
    for (unsigned i = 0; i < COLD_RUNS; i++) {
        void *code = paging_alias(paging_high(), memory, bytes, 0);
        if (code == NULL)
            break;
        seen = (typeof(seen)){.first = (uint64_t)code, .end = (uint64_t)code + bytes};
        ibs_sample_fetches(COLD_STEP, true, on_fetch, (window_body)code, 0);
        n += seen.completed;
        misses += seen.misses;
        memset(memory, OP_NOP, bytes - 1);
    }
    value_u64("bytes", bytes);
    value_u64("completed", n);
    value_u64("missed", misses);
    check(COLD, n >= FEW && misses * 10 >= n);
}

static void run(void)
{
    check_loop();
    check_period();
    check_cold();
}
