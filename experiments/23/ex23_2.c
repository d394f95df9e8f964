/* Experiment 23-2 · Architectural LBR: the stack. */
#include "kernel/msr.h"
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "x86/msr.h"

enum { IN_ORDER, NEWEST_0, MOVES, EACH_DEPTH, NONE_PAST };

static const char *const checks[] = {
    [IN_ORDER] = "of fewer branches than it holds each is there, newest first from entry 0 on",
    [NEWEST_0] = "of more the newest is in entry 0 again, and the oldest are gone",
    [MOVES] = "switched on again it goes on: each branch moves all entries on by one",
    [EACH_DEPTH] = "set to each depth that there is, it holds just as many of the newest",
    [NONE_PAST] = "also when it is full there is no entry past its depth: #GP",
};

static void run(void);

const struct experiment ex23_2 = {
    .id = "23-2",
    .title = "Architectural LBR: the stack",
    .needs = NEED_ARCH_LBR | NEED_LBR,
    CHECKS(checks),
    .run = run,
};

/*
 * The chain of ten jumps of 14-2. There the stack was a ring with a pointer; here it is a pipe:
 * each branch goes into entry 0 and moves the others on by one, the oldest falls out at the end
 * (SDM vol. 3 "Last Branch Records"). So there is no TOS to read, and none to restore. The entries
 * are compared where they stand, by their number. How many there are is for IA32_LBR_DEPTH to say,
 * one of the depths that CPUID.1CH:EAX[7:0] announces.
 *
 * Switching off and on moves nothing and clears nothing: only a write to IA32_LBR_DEPTH clears.
 * What can go wrong: the entries turn with a hidden pointer that shows after a switch; a shallower
 * stack keeps the oldest, or one too many.
 */
#define FEW        1 /* round of the chain: 12 branches */
#define MAX_ROUNDS (LBR_MAX_DEPTH / BRANCH_CHAIN_JUMPS + 2)
#define MAX_TAKEN  (BRANCH_CHAIN_TAKEN(MAX_ROUNDS) + 8)

static struct branch taken[MAX_TAKEN];

/* Rounds that the stack cannot hold. */
static unsigned too_many(void)
{
    return lbr_info()->depth / BRANCH_CHAIN_JUMPS + 1;
}

/* Entry x holds the branch that is x older than the newest; those past the n are empty. */
static bool entries_are(unsigned n)
{
    unsigned depth = lbr_info()->depth;
    for (unsigned x = 0; x < depth; x++) {
        struct branch_record record;
        bool there = lbr_read_entry(x, &record);
        if (there != (x < n) || (there && !branch_is(&record, &taken[n - 1 - x])))
            return false;
    }
    return true;
}

static unsigned record_rounds(unsigned rounds)
{
    unsigned n = branch_chain_taken(taken, rounds);
    branches_record(0, branch_chain, rounds, taken, n, 0);
    return n;
}

static void check_rounds(unsigned which, unsigned rounds, const char *title)
{
    unsigned n = record_rounds(rounds);
    lbr_dump(title);
    value_u64("branches_taken", n);
    value_u64("depth", lbr_info()->depth);
    bool same = branches_in_lbr(taken, n, 0, 0);
    check(which, same && entries_are(n));
}

/* A round of the chain, and, with no clearing between them, one call. */
static void check_moves(void)
{
    unsigned n = branch_chain_taken(taken, FEW);
    for (unsigned i = 0; i < branch_one_run.n; i++)
        taken[n++] = branch_one_run.taken[i];
    struct take take = take_begin();
    do {
        lbr_record(0, 0, branch_chain, FEW);
        lbr_record_more(branch_one, 0);
    } while (take_again(&take, entries_are(n)));
    lbr_dump("after the chain and one call more");
    bool same = branches_in_lbr(taken, n, 0, 0);
    check(MOVES, same && entries_are(n));
}

/* The entry at the depth raises #GP (SDM vol. 4 "IA-32 Architectural MSRs", IA32_LBR_x_*). */
static bool none_past(unsigned depth)
{
    const uint32_t registers[] = {MSR_IA32_LBR_0_FROM_IP + depth, MSR_IA32_LBR_0_TO_IP + depth,
                                  MSR_IA32_LBR_0_INFO + depth};
    uint64_t value;
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        if (rdmsr_safe(registers[i], &value))
            return false;
    return true;
}

static void check_each_depth(void)
{
    unsigned deepest = lbr_info()->depth, rounds = too_many();
    bool all = true, none = true;
    for (unsigned depth = LBR_DEPTH_STEP; depth <= deepest; depth += LBR_DEPTH_STEP) {
        if (!(lbr_info()->depths >> (depth / LBR_DEPTH_STEP - 1) & 1))
            continue;
        bool holds = lbr_set_depth(depth) && entries_are(record_rounds(rounds));
        bool ends = none_past(depth);
        note("depth %u: %s, %s", depth, holds ? "the newest are kept" : "other records are there",
             ends ? "and none past it" : "and more past it");
        all = all && holds;
        none = none && ends;
    }
    lbr_set_depth(deepest);
    check(EACH_DEPTH, all);
    check(NONE_PAST, none);
}

static void run(void)
{
    check_rounds(IN_ORDER, FEW, "after ten jumps");
    check_rounds(NEWEST_0, too_many(), "after more jumps than the stack holds");
    check_moves();
    check_each_depth();
}
