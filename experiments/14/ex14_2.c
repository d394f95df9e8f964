/* Experiment 14-2 · The LBR stack. */
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
 * newest, and there is no TOS. More of them in 23-2. So it is with the stack of AMD's LbrExtV2.
 */
#define MAX_ROUNDS (LBR_MAX_DEPTH / BRANCH_CHAIN_JUMPS + 2)

/* The fewest that overflow the stack and leave TOS elsewhere: of a depth of 4, the 12 branches of
 * one round would bring it back to where it was. */
static unsigned rounds_that_wrap(unsigned depth)
{
    unsigned rounds = depth / BRANCH_CHAIN_JUMPS + 1;
    return BRANCH_CHAIN_TAKEN(rounds) % depth != 0 ? rounds : rounds + 1;
}

/* Runs the rounds; three checks: the records, where TOS points, what it points to. */
static void check_rounds(unsigned rounds, const char *title, unsigned records, unsigned moved,
                         unsigned newest)
{
    struct branch taken[BRANCH_CHAIN_TAKEN(MAX_ROUNDS)];
    struct branch_record record;
    unsigned depth = lbr_info()->depth, n = branch_chain_taken(taken, rounds);
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
    check(records, branches_in_lbr(taken, n, 0, 0));

    if (lbr_info()->tos != 0) {
        value_u64("tos_before", before);
        value_u64("branches_taken", n);
        value_u64("tos_after", after);
        check(moved, after == (before + n) % depth);
    } else {
        check_skip(moved, "no TOS: %s",
                   lbr_info()->depths != 0
                       ? "the records are architectural (CPUID.7:EDX[19] = 1)"
                       : "entry 0 is always the newest (CPUID.80000022H:EAX[1] = 1)");
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
