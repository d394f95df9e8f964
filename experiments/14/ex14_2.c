/* Experiment 14-2 · The LBR stack. */
#include "kernel/msr.h"
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/take.h"

enum {
    IN_ORDER,
    TOS_MOVES,
    TOS_NEWEST,
    OLDEST_GONE,
    TOS_WRAPS,
    TOS_NEWEST_AFTER_WRAP,
};

static const char *const checks[] = {
    [IN_ORDER] = ("newest first, the records are the ten jumps in program order, as many as the "
                  "stack holds"),
    [TOS_MOVES] = "each record has moved TOS on by one, modulo the depth",
    [TOS_NEWEST] = "TOS points to the newest record, or entry 0 is it",
    [OLDEST_GONE] = "of more branches than the stack holds the newest remain, the oldest are gone",
    [TOS_WRAPS] = "TOS has wrapped at the stack's depth",
    [TOS_NEWEST_AFTER_WRAP] = "TOS points to the newest record after the wrap, or entry 0 is it",
};

static void run(void);

const struct experiment ex14_2 = {
    .id = "14-2",
    .title = "The LBR stack",
    .needs = NEED_LBR,
    CHECKS(checks),
    .run = run,
};

/*
 * The stack is a ring: MSR_LASTBRANCH_TOS points to the newest record, and each branch first adds
 * one to it, modulo the depth. A chain of ten jumps shows the order; then so many rounds of it that
 * the stack overflows show that the newest push out the oldest. What can go wrong: a depth taken
 * from another model, TOS read as the next free entry instead of the newest. SDM vol. 3 "LBR
 * Stack".
 *
 * Architectural records (SDM vol. 3 "Last Branch Records") move instead: entry 0 is always the
 * newest, and there is no TOS. Their depth is one of those that CPUID.1CH:EAX[7:0] announces; a
 * write to IA32_LBR_DEPTH sets it and clears all entries.
 */
#define MAX_ROUNDS (LBR_MAX_DEPTH / BRANCH_CHAIN_JUMPS + 2)
/* Ten jumps a round, a jump between two rounds, the window's call and return. */
#define TAKEN_IN(rounds) ((rounds) * (BRANCH_CHAIN_JUMPS + 1) - 1 + 2)

/* The fewest that overflow the stack and leave TOS elsewhere: of a depth of 4, the 12 branches of
 * one round would bring it back to where it was. */
static unsigned rounds_that_wrap(unsigned depth)
{
    unsigned rounds = depth / BRANCH_CHAIN_JUMPS + 1;
    return TAKEN_IN(rounds) % depth != 0 ? rounds : rounds + 1;
}

/* Writes down what branch_chain(rounds) takes; returns how many. */
static unsigned write_down(struct branch *taken, unsigned rounds)
{
    const struct branch *once = branch_chain_run.taken;
    const struct branch again = {(uint64_t)branch_chain_again, (uint64_t)branch_chain,
                                 LBR_SELECT_JCC};
    unsigned n = 0;
    taken[n++] = once[0];
    for (unsigned round = 0; round < rounds; round++) {
        if (round > 0)
            taken[n++] = again;
        for (unsigned jump = 1; jump <= BRANCH_CHAIN_JUMPS; jump++)
            taken[n++] = once[jump];
    }
    taken[n++] = once[BRANCH_CHAIN_JUMPS + 1];
    return n;
}

/* Entries from IA32_LBR_DEPTH on raise #GP (SDM vol. 4 "IA-32 Architectural MSRs", IA32_LBR_x_*).
 */
static bool none_behind(unsigned depth)
{
    const struct lbr_info *lbr = lbr_info();
    const uint32_t registers[] = {lbr->from + depth, lbr->to + depth, lbr->info + depth};
    uint64_t value;
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        if (rdmsr_safe(registers[i], &value))
            return false;
    return true;
}

/* Of the n branches of these rounds, at each depth that there is, as many are kept; and setting the
 * depth has cleared them; and there is no entry more. Ends at the depth it began with. */
static bool each_depth_holds(const struct branch *taken, unsigned n, unsigned rounds)
{
    struct branch_record records[LBR_MAX_DEPTH];
    uint32_t depths = lbr_info()->depths;
    unsigned began = lbr_info()->depth;
    bool right = true;
    for (unsigned depth = LBR_DEPTH_STEP; depths != 0 && depth <= began; depth += LBR_DEPTH_STEP) {
        if (!(depths >> (depth / LBR_DEPTH_STEP - 1) & 1))
            continue;
        bool cleared = lbr_set_depth(depth) && lbr_read(records, LBR_MAX_DEPTH) == 0;
        branches_record(0, branch_chain, rounds, taken, n, 0);
        bool kept = cleared && lbr_read(records, LBR_MAX_DEPTH) == depth && none_behind(depth);
        for (unsigned i = 0; i < depth && kept; i++)
            kept = records[i].from == taken[n - 1 - i].from && records[i].to == taken[n - 1 - i].to;
        note("depth %u: %s", depth, kept ? "the newest are kept" : "other records are there");
        right = right && kept;
    }
    return right && (depths == 0 || lbr_info()->depth == began);
}

/* Runs the rounds; three checks: the records, where TOS points, what it points to. */
static void check_rounds(unsigned rounds, const char *title, unsigned records, unsigned moved,
                         unsigned newest)
{
    struct branch taken[TAKEN_IN(MAX_ROUNDS)];
    struct branch_record record;
    unsigned depth = lbr_info()->depth, n = write_down(taken, rounds);
    bool each = n <= depth || each_depth_holds(taken, n, rounds);
    unsigned before;
    struct take take = take_begin();
    do {
        before = lbr_tos();
        lbr_record(0, 0, branch_chain, rounds);
    } while (take_again(&take, branches_held(taken, n, 0, 0)));
    unsigned after = lbr_tos();
    lbr_dump(title);

    value_u64("branches_taken", n);
    value_u64("depth", depth);
    if (n > depth && lbr_info()->depths != 0)
        value_str("every_depth", each ? "holds as many" : "does not hold as many");
    check(records, branches_in_lbr(taken, n, 0, 0) && each);

    if (lbr_info()->tos != 0) {
        value_u64("tos_before", before);
        value_u64("branches_taken", n);
        value_u64("tos_after", after);
        check(moved, after == (before + n) % depth);
    } else {
        check_skip(moved, "no TOS: the records are architectural (CPUID.7:EDX[19] = 1)");
    }

    lbr_read_entry(after, &record);
    value_hex("from", record.from);
    value_hex("to", record.to);
    check(newest, branch_among(&record, 1, &taken[n - 1]));
}

static void run(void)
{
    check_rounds(1, "after ten jumps", IN_ORDER, TOS_MOVES, TOS_NEWEST);
    check_rounds(rounds_that_wrap(lbr_info()->depth), "after more jumps than the stack holds",
                 OLDEST_GONE, TOS_WRAPS, TOS_NEWEST_AFTER_WRAP);
}
