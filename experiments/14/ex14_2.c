/*
 * Experiment 14-2 · The LBR stack.
 *
 * The stack is a ring: MSR_LASTBRANCH_TOS points to the newest record, and each branch first adds
 * one to it, modulo the depth. A chain of ten jumps shows the order; then so many rounds of it that
 * the stack overflows show that the newest push out the oldest. What can go wrong: a depth taken
 * from another model, TOS read as the next free entry instead of the newest. SDM vol. 3 "LBR
 * Stack".
 */
#include "lab/branches.h"
#include "lab/experiment_old.h"
#include "kernel/msr.h"

#include <stddef.h>

#define MAX_ROUNDS (LBR_MAX_DEPTH / BRANCH_CHAIN_JUMPS + 1)
/* Ten jumps a round, a jump between two rounds, the window's call and return. */
#define TAKEN_IN(rounds) ((rounds) * (BRANCH_CHAIN_JUMPS + 1) - 1 + 2)

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

/* Runs the rounds; three checks: the records, where TOS points, what it points to. */
static void check_rounds(unsigned rounds)
{
    struct branch taken[TAKEN_IN(MAX_ROUNDS)];
    struct branch_record newest;
    unsigned depth = lbr_info()->depth, n = write_down(taken, rounds);
    unsigned before = lbr_tos();
    lbr_record(0, 0, branch_chain, rounds);
    unsigned after = lbr_tos();
    lbr_dump(rounds == 1 ? "after ten jumps" : "after more jumps than the stack holds");

    value_u64("branches_taken", n);
    value_u64("depth", depth);
    check(branches_in_lbr(taken, n, 0, 0));

    value_u64("tos_before", before);
    value_u64("branches_taken", n);
    value_u64("tos_after", after);
    check(after == (before + n) % depth);

    lbr_decode(lbr_info()->format, rdmsr(lbr_info()->from + after), rdmsr(lbr_info()->to + after),
               0, &newest);
    value_hex("from", newest.from);
    value_hex("to", newest.to);
    check(newest.from == taken[n - 1].from && newest.to == taken[n - 1].to);
}

static void run(void)
{
    check_rounds(1);
    check_rounds(lbr_info()->depth / BRANCH_CHAIN_JUMPS + 1);
}

static const char *const checks[] = {
    "newest first, the records are the ten jumps in program order, as many as the stack holds",
    "each record has moved TOS on by one, modulo the depth",
    "TOS points to the newest record",
    "of more branches than the stack holds the newest remain, the oldest are gone",
    "TOS has wrapped at the stack's depth",
    "TOS points to the newest record after the wrap",
    NULL,
};

const struct experiment ex14_2 = {
    .id = "14-2",
    .title = "The LBR stack",
    CHECKS_OLD(checks),
    .needs = NEED_LBR,
    .run = run,
};
