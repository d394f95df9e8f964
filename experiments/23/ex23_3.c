/* Experiment 23-3 · Architectural LBR: filters. */
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/round_trip.h"
#include "lab/take.h"
#include "x86/cpuid.h"

enum { JCC, REL_JMP, IND_JMP, REL_CALL, IND_CALL, RET, OTHER, TYPES, NO_KIND, NO_RING, OS, USR };

static const char *const checks[] = {
    [JCC] = "JCC alone: each conditional jump is recorded, and nothing else",
    [REL_JMP] = "NEAR_REL_JMP alone: each near relative jump, and nothing else",
    [IND_JMP] = "NEAR_IND_JMP alone: each near indirect jump, and nothing else",
    [REL_CALL] = "NEAR_REL_CALL alone: each near relative call, and nothing else",
    [IND_CALL] = "NEAR_IND_CALL alone: each near indirect call, and nothing else",
    [RET] = "NEAR_RET alone: each near return, and nothing else",
    [OTHER] = "OTHER_BRANCH alone: the far call and its return, and nothing else",
    [TYPES] = "with all of them BR_TYPE of each record is the kind of its branch",
    [NO_KIND] = "with no kind of branch nothing is recorded",
    [NO_RING] = "with no ring nothing is recorded",
    [OS] = "OS alone, near returns alone: those of ring 0, and nothing else",
    [USR] = "USR alone, near returns alone: those of ring 3, and nothing else",
};

static void run(void);

const struct experiment ex23_3 = {
    .id = "23-3",
    .title = "Architectural LBR: filters",
    .needs = NEED_ARCH_LBR | NEED_LBR | NEED_LBR_SELECT,
    CHECKS(checks),
    .run = run,
};

/*
 * A bit of IA32_LBR_CTL admits, where one of MSR_LBR_SELECT suppresses: a kind of branch by bits
 * 22:16, a ring by OS and USR. What is recorded is what both admit, so with no bit of the one or of
 * the other it is nothing (SDM vol. 3 "Last Branch Records", "Branch Type Enabling and Filtering").
 * 14-3 and 14-4 take kinds away one at a time; here each stands alone, over a function that calls
 * those of both and so takes all seven. And a record tells its kind itself, in INFO[59:56], where
 * CPUID.1CH:ECX[2] says so: 0 to 5 for near branches, 1xxxB for the others.
 *
 * The last two put both filters together, over a round trip to ring 3: the branches that change the
 * ring are OTHER_BRANCH, so that near returns belong to one ring or the other beyond doubt. What
 * can go wrong: a hypervisor that translates from the bits of MSR_LBR_SELECT and turns one round;
 * calls that a filter for jumps admits.
 */
#define ALL_KINDS                                                                                  \
    (LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_CALL | LBR_SELECT_NEAR_IND_CALL | LBR_SELECT_NEAR_RET |  \
     LBR_SELECT_NEAR_IND_JMP | LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_FAR_BRANCH)
#define BOTH_RINGS (LBR_SELECT_CPL_EQ_0 | LBR_SELECT_CPL_NEQ_0)

static const uint64_t kinds[] = {
    [JCC] = LBR_SELECT_JCC,
    [REL_JMP] = LBR_SELECT_NEAR_REL_JMP,
    [IND_JMP] = LBR_SELECT_NEAR_IND_JMP,
    [REL_CALL] = LBR_SELECT_NEAR_REL_CALL,
    [IND_CALL] = LBR_SELECT_NEAR_IND_CALL,
    [RET] = LBR_SELECT_NEAR_RET,
    [OTHER] = LBR_SELECT_FAR_BRANCH,
};

static bool recorded_but(uint64_t select, uint64_t suppressed)
{
    const struct branch_run *all = &branch_kinds_run;
    struct take take = take_begin();
    do
        lbr_record(select, 0, branch_kinds, 0);
    while (take_again(&take, branches_held(all->taken, (unsigned)all->n, suppressed, 0)));
    lbr_dump("after branches of each kind");
    value_hex(lbr_info()->filter_key, lbr_filter());
    return branches_in_lbr(all->taken, (unsigned)all->n, suppressed, 0);
}

/* branch_is() has compared them. Returns whether anything was recorded. */
static bool check_types(void)
{
    struct branch_record newest;
    bool right = recorded_but(0, 0);
    if (!(lbr_info()->info_fields & CPUID_1C_ECX_BR_TYPE))
        check_skip(TYPES, "no BR_TYPE in IA32_LBR_x_INFO: CPUID.1CH:ECX[2] = 0");
    else
        check(TYPES, right);
    return lbr_read(&newest, 1) != 0;
}

/* The near returns of one ring; ring: the one that is kept out. */
static void check_ring(unsigned which, uint64_t ring)
{
    const char *missing = user_return_missing(USER_INTERRUPT);
    if (missing != NULL) {
        check_skip(which, "%s", missing);
        return;
    }
    struct round_trip trip;
    bool loaded = round_trip_load(&trip, USER_INTERRUPT);
    /* Of ring 3: a call, its return, a jump. Of ring 0: the last, back to the window. */
    struct branch there = ring == LBR_SELECT_CPL_EQ_0 ? trip.into[2] : trip.taken[trip.n - 1];
    there.kind = LBR_SELECT_NEAR_RET;
    if (loaded)
        branches_record((ALL_KINDS & ~LBR_SELECT_NEAR_RET) | ring, user_enter, 0, &there, 1, 0);
    lbr_dump("after a round trip");
    value_hex(lbr_info()->filter_key, lbr_filter());
    bool same = branches_in_lbr(&there, 1, 0, 0);
    check(which, loaded && same);
}

static void run(void)
{
    for (unsigned i = JCC; i <= OTHER; i++) {
        uint64_t others = ALL_KINDS & ~kinds[i];
        check(i, recorded_but(others, others));
    }
    bool recorded = check_types(); /* of what records nothing, nothing is found either */
    check(NO_KIND, recorded_but(ALL_KINDS, ALL_KINDS) && recorded);
    check(NO_RING, recorded_but(BOTH_RINGS, ALL_KINDS) && recorded);
    check_ring(OS, LBR_SELECT_CPL_NEQ_0);
    check_ring(USR, LBR_SELECT_CPL_EQ_0);
}
