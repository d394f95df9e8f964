/*
 * Branches whose order is known from the listing, and their comparison with the records that the
 * processor kept. The functions under test stand in lab/branches.S, each with the list of
 * the branches that it takes. Read by C and by GNU as.
 */
#ifndef PMULAB_BRANCHES_H
#define PMULAB_BRANCHES_H

#define BRANCH_DECISIONS 512 /* of branch_decided() */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include "pmu/lbr.h"

/* A branch that is taken. kind is the bit of MSR_LBR_SELECT that suppresses it (LBR_SELECT_*), for
 * both kinds of records. */
struct branch {
    uint64_t from, to, kind;
};

/*
 * With the kind: this is INT n. A branch's record begins at the instruction, an interrupt's at the
 * return address that is saved (SDM vol. 3 "LBR Stack"), and INT n is both: the manual does not say
 * which of the two counts. Either is right.
 */
#define BRANCH_INT_N       ARCH_BIT(63)
#define BRANCH_INT_N_BYTES 2

/* What runs when the window (pmu/window.S) calls a body: oldest first, the window's own call and
 * the RET back to it included. Made by the macros of branches.S. */
struct branch_run {
    uint64_t n;
    struct branch taken[];
};

/*
 * Do the records (newest first) hold just what n branches (oldest first) left behind? Those whose
 * kind is in suppressed must be absent; those of may_lack may be absent;
 * of the rest the newest that the stack can hold must be there, in order, each with its type where
 * records have one, and nothing else. Notes the first difference and adds "recorded" and "expected"
 * to the values.
 */
bool branches_are(const struct branch_record *records, unsigned n_records,
                  const struct branch *taken, unsigned n, uint64_t suppressed, uint64_t may_lack);

/* Reads the LBR stack and compares it. */
typedef bool branches_check(const struct branch *taken, unsigned n, uint64_t suppressed,
                            uint64_t may_lack);
branches_check branches_in_lbr;

/* The same, and says nothing. */
branches_check branches_held;

/* lbr_record() with this filter of a body that takes these branches; again when an SMI fell in
 * (lab/take.h). */
void branches_record(uint64_t select, window_body body, uint64_t arg, const struct branch *taken,
                     unsigned n, uint64_t may_lack);

/* Is the record this branch, of its kind? */
bool branch_is(const struct branch_record *record, const struct branch *branch);

/* Is one of the records this branch? */
bool branch_among(const struct branch_record *records, unsigned n, const struct branch *branch);

/* 14-1: one call. */
void branch_one(uint64_t unused);
extern const struct branch_run branch_one_run;

/* 14-2, 23-2: rounds times ten jumps; the rounds are joined by a conditional jump,
 * branch_chain_again. The list is that of one round; branch_chain_taken() writes down that of so
 * many, and returns its length. */
#define BRANCH_CHAIN_JUMPS 10
#define BRANCH_CHAIN_TAKEN(rounds)                                                                 \
    ((rounds) * (BRANCH_CHAIN_JUMPS + 1) - 1 + 2) /* + the window's */
void branch_chain(uint64_t rounds);
extern const char branch_chain_again[];
extern const struct branch_run branch_chain_run;
unsigned branch_chain_taken(struct branch *taken, unsigned rounds);

/* 14-3, 14-4: near calls and returns. */
#define CALLS_AND_RETURNS                                                                          \
    (LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL | LBR_SELECT_NEAR_RET)

/* 14-3, 14-8: calls, direct and through a register, returns, jumps taken and one not taken. */
void branch_calls(uint64_t unused);
extern const struct branch_run branch_calls_run;
extern const uint64_t branch_calls_insns; /* instructions that it runs, RET included */

/* 14-4: jumps of each kind, a near indirect call, a far call and its return. */
void branch_jumps(uint64_t unused);
extern const struct branch_run branch_jumps_run;

/* 23-3: both of these, one after the other: branches of each kind that there is. */
void branch_kinds(uint64_t unused);
extern const struct branch_run branch_kinds_run;

/* 23-4: near relative jumps, and between each two of them a loop of multiplies that each need the
 * one before: rounds of them, twice, three times, to BRANCH_STRETCHES times as many. The list has
 * these jumps alone. */
#define BRANCH_STRETCHES 5
void branch_stretches(uint64_t rounds);
extern const struct branch_run branch_stretches_run;

/* 23-4: the conditional jump branch_decision, BRANCH_DECISIONS times, taken or not as a
 * pseudo-random generator has it; from seed 0 it is taken each time. One conditional jump more is
 * taken, the last. */
void branch_decided(uint64_t seed);
extern const char branch_decision[];

/* 23-7: near relative jumps, before the nth of them n - 1 conditional ones that are never taken and
 * one other instruction. The list is from the window's call to its return. */
void branch_logged(uint64_t unused);
extern const struct branch_run branch_logged_run;

/* 14-5: a call and a jump to branch_breakpoint, where a breakpoint is; the list ends there. */
void branch_to_breakpoint(uint64_t unused);
extern const char branch_breakpoint[];
extern const struct branch_run branch_to_breakpoint_run;

/* 24-6: an instruction that raises #UD, so many bytes long, and the return. */
#define BRANCH_UNDEFINED_BYTES 2
void branch_undefined(uint64_t unused);

/* 14-6: two calls in a loop; position-independent, ends at branch_high_end. */
void branch_high(uint64_t unused);
extern const char branch_high_end[];
extern const struct branch_run branch_high_run;

/* 14-7: code for ring 3 (kernel/user.h), from branch_user to branch_user_end; the list has its own
 * branches alone. */
extern const char branch_user[], branch_user_end[];
extern const struct branch_run branch_user_run;

#endif
#endif
