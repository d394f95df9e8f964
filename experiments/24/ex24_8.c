/* Experiment 24-8 · IBS: sample operations. */
#include "lab/chain.h"
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/sample_bodies.h"
#include "lab/take.h"
#include "pmu/ibs.h"

enum { EXACT, LOADS, SHARE, JUMPS, PERIOD_HOLDS, ADDRESSES, IN_L1, IN_L2, IN_MEMORY };

static const char *const checks[] = {
    [EXACT] = "IbsOpRip of the samples is an instruction of the loop, to the byte",
    [LOADS] = "the load alone is told to load, in eight bytes",
    [SHARE] = "it has its share of the samples",
    [JUMPS] = "the jump alone is told to branch: taken, to where it goes",
    [PERIOD_HOLDS] = "with twice the period there are half as many samples",
    [ADDRESSES] = "IbsDcLinAd of a chain's loads is a line of it, and IbsDcPhysAd the same",
    [IN_L1] = "loads of what fits into the first-level data cache hit it",
    [IN_L2] = "those of what fits into the second level miss the first, and hit the second",
    [IN_MEMORY] = "those of what fits nowhere miss both, come from memory and take longer",
};

static void run(void);

const struct experiment ex24_8 = {
    .id = "24-8",
    .title = "IBS: sample operations",
    .needs = NEED_LAPIC | NEED_IBS_OP,
    CHECKS(checks),
    .run = run,
};

/*
 * The processor counts dispatched operations, or cycles where it can no more; when bits 26:4 of the
 * count reach IbsOpMaxCnt an operation is tagged, and as its instruction retires the registers say
 * which instruction that was, how long it took, whether it branched and where to, what it loaded or
 * stored and how deep the processor had to look for it. Nothing is counted between that and the
 * write that arms the next sample (APM vol. 2 "IBS Op Sampling"). No counter overflows, so no
 * interrupt's delay can move the address: it is exact. The share of an instruction among the
 * samples is its share of the operations that are run: one of 64 in a loop of 62 additions, a load
 * and a jump. Software varies where the count begins, or the loop's length and the period would
 * share a divisor.
 *
 * A compare or decrement and its jump may be one operation: its address is the first one's. What
 * can go wrong: firmware that leaves IBS_CTL without an LVT entry; a hypervisor that shows IBS and
 * has none; IbsOpData3's fields read of an operation that is no access.
 */
#define PERIOD      (16 * 31)  /* some hundred samples of the load: its share is no accident */
#define LONG_PERIOD (16 * 255) /* against which the interrupt's own operations are few */
#define ROUNDS      50000
#define FEW         16
#define WIDTH       8
#define LINE        64
#define CHAIN_LOADS 40000
#define CHAIN_STEP  (16 * 63)
#define DRAM        3 /* IbsOpData2.DataSrc: of every family */

static struct {
    unsigned n, inside, at_load, loads, loads_wrong, at_jump, jumps, jumps_wrong, mispredicted;
    uint64_t stray; /* an address that is no instruction of the loop */
} seen;

/* The decrement stands at the end of the additions. */
static uint64_t decrement(void)
{
    return (uint64_t)sparse_loads_loop + (uint64_t)(SPARSE_ADDS + 1) * SPARSE_SIZE;
}

static bool is_instruction(uint64_t rip)
{
    uint64_t past = rip - (uint64_t)sparse_loads_loop;
    if (rip == (uint64_t)sparse_loads_again || rip == (uint64_t)sparse_loads_end)
        return true;
    return rip <= decrement() && past % SPARSE_SIZE == 0;
}

static void on_loop(const struct ibs_op *op)
{
    uint64_t load = (uint64_t)sparse_loads_loop, jump = (uint64_t)sparse_loads_again;
    if (!op->rip_valid)
        return;
    seen.n++;
    if (!is_instruction(op->rip)) {
        seen.stray = op->rip;
        return;
    }
    seen.inside++;
    seen.at_load += op->rip == load;
    seen.loads += op->load;
    seen.loads_wrong += op->load != (op->rip == load) || op->store ||
                        (op->load && op->width != 0 && op->width != WIDTH);
    if (op->rip == (uint64_t)sparse_loads_end)
        return;
    bool at_jump = op->rip == jump || (op->rip == decrement() && op->branch && op->fused);
    seen.at_jump += at_jump;
    seen.jumps += op->branch;
    seen.mispredicted += op->mispredicted;
    seen.jumps_wrong += op->branch != at_jump || (at_jump && !op->taken) ||
                        (at_jump && ibs_info()->target && op->target != load);
}

static void sample_loop(uint64_t period)
{
    seen = (typeof(seen)){0};
    ibs_sample_ops(period, !ibs_info()->ops, on_loop, sparse_loads, ROUNDS);
    note("every %lluth %s: %u samples, %u in the loop, %u of the load, %u of the jump, %u of it "
         "mispredicted",
         (unsigned long long)period, ibs_info()->ops ? "operation" : "cycle", seen.n, seen.inside,
         seen.at_load, seen.at_jump, seen.mispredicted);
}

/* An SMI's code is sampled too, should one fall in. */
static bool all_but_few(unsigned part, unsigned whole)
{
    return whole >= FEW && part <= whole && (whole - part) * 20 <= whole;
}

/* The jump is not taken once, at the end. */
static bool loop_is_right(void)
{
    return all_but_few(seen.inside, seen.n) && seen.loads != 0 && seen.loads_wrong == 0 &&
           seen.jumps != 0 && seen.jumps_wrong <= 1;
}

/* Between half of it and twice: chance alone makes a tenth. */
static void check_share(void)
{
    unsigned expected = seen.inside / SPARSE_INSNS;
    if (!ibs_info()->ops) {
        check_skip(SHARE, "no sampling by operations: CPUID.8000001BH:EAX[4] = 0");
        return;
    }
    value_u64("of_the_load", seen.at_load);
    value_u64("expected", expected);
    check(SHARE, expected != 0 && 2 * seen.at_load >= expected && seen.at_load <= 2 * expected);
}

static void check_loop(void)
{
    struct take take = take_begin();
    do
        sample_loop(PERIOD);
    while (take_again(&take, loop_is_right()));
    value_u64("samples", seen.n);
    value_u64("in_the_loop", seen.inside);
    if (seen.stray != 0)
        value_hex("elsewhere", seen.stray);
    check(EXACT, all_but_few(seen.inside, seen.n));
    value_u64("loads", seen.loads);
    value_u64("wrong", seen.loads_wrong);
    check(LOADS, seen.loads != 0 && seen.loads_wrong == 0);
    check_share();
    value_u64("jumps", seen.jumps);
    value_u64("wrong", seen.jumps_wrong);
    check(JUMPS, seen.jumps != 0 && seen.jumps_wrong <= 1);
}

static void check_period(void)
{
    unsigned once, n;
    struct take take = take_begin();
    do {
        sample_loop(LONG_PERIOD);
        once = seen.n;
        sample_loop(2 * LONG_PERIOD);
        n = 2 * seen.n;
    } while (take_again(&take, n * 10 >= once * 9 && n * 10 <= once * 11));
    value_u64("samples", once);
    value_u64("with_twice_the_period", seen.n);
    check(PERIOD_HOLDS, once >= FEW && n * 10 >= once * 9 && n * 10 <= once * 11);
}

/* ---- A chain of loads ---- */

static struct {
    const struct chain *chain;
    uint64_t size;
    unsigned n, in_lines, same_physical, dc_missed, l2_missed, from_memory;
    uint64_t cycles; /* of those that missed */
} loads;

static void on_chain(const struct ibs_op *op)
{
    if (!op->rip_valid || op->rip != (uint64_t)pebs_chase_load || !op->load || !op->linear_valid)
        return;
    uint64_t past = op->linear - (uint64_t)loads.chain->memory;
    loads.n++;
    loads.in_lines += past < loads.size && past % LINE == 0;
    loads.same_physical += op->physical_valid && op->physical == op->linear;
    loads.dc_missed += op->dc_miss;
    loads.l2_missed += op->l2_miss;
    loads.from_memory += op->source == DRAM;
    loads.cycles += op->dc_miss_latency;
}

static void sample_chain(struct chain *chain, enum pebs_level level)
{
    chain_make(chain, level);
    loads = (typeof(loads)){.chain = chain, .size = chain->sizes[level]};
    struct pebs_chase_arg chase = {chain->at, CHAIN_LOADS};
    ibs_sample_ops(CHAIN_STEP, !ibs_info()->ops, on_chain, pebs_chase, (uint64_t)&chase);
    note("%-6s %8llu KiB: %u samples of the load, %u missed L1, %u L2, %u from memory",
         pebs_level_name(level), (unsigned long long)loads.size >> 10, loads.n, loads.dc_missed,
         loads.l2_missed, loads.from_memory);
}

static uint64_t latency(void)
{
    return loads.dc_missed != 0 ? loads.cycles / loads.dc_missed : 0;
}

static void value_loads(void)
{
    value_u64("loads", loads.n);
    value_u64("missed_l1", loads.dc_missed);
    value_u64("missed_l2", loads.l2_missed);
    value_u64("from_memory", loads.from_memory);
    value_u64("cycles", latency());
}

static void check_chain(void)
{
    struct chain chain = {0};
    if (!chain_init(&chain) || chain.room < chain.sizes[PEBS_MEMORY]) {
        check_skip_all(ADDRESSES, IN_MEMORY,
                       "no three levels of caches (CPUID leaf 4, 8000001DH), or no room for more "
                       "than the last holds");
        return;
    }
    sample_chain(&chain, PEBS_L1);
    value_u64("loads", loads.n);
    value_u64("lines", loads.in_lines);
    value_u64("physical", loads.same_physical);
    check(ADDRESSES, all_but_few(loads.in_lines, loads.n) && loads.same_physical == loads.in_lines);
    value_loads();
    check(IN_L1, all_but_few(loads.n - loads.dc_missed, loads.n));
    sample_chain(&chain, PEBS_L2);
    value_loads();
    uint64_t near = latency();
    check(IN_L2, all_but_few(loads.dc_missed, loads.n) &&
                     all_but_few(loads.n - loads.l2_missed, loads.n) && near != 0);
    sample_chain(&chain, PEBS_MEMORY);
    value_loads();
    check(IN_MEMORY, all_but_few(loads.l2_missed, loads.n) &&
                         all_but_few(loads.from_memory, loads.n) && latency() > near);
}

static void run(void)
{
    check_loop();
    check_period();
    check_chain();
}
