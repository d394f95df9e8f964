/* Experiment 14-4 · Filter jumps. */
#include "lab/branches.h"
#include "lab/experiment.h"

enum { NO_FILTER, NO_JCC, NO_REL_JUMPS, NO_IND_JUMPS, NO_JUMPS, NO_FAR_BRANCHES, FILTERS };

static const char *const checks[] = {
    [NO_FILTER] = "without a filter all branches are recorded, the far call and its return too",
    [NO_JCC] = "JCC: no conditional jump is recorded, the rest is",
    [NO_REL_JUMPS] = "NEAR_REL_JMP: no near relative jump is recorded, the rest is",
    [NO_IND_JUMPS] = "NEAR_IND_JMP: no near indirect jump is recorded, the rest is",
    [NO_JUMPS] = "all three: no jump is recorded, the far branches are",
    [NO_FAR_BRANCHES] = "FAR_BRANCH: no far branch is recorded, the rest is",
};

static void run(void);

const struct experiment ex14_4 = {
    .id = "14-4",
    .title = "Filter jumps",
    .needs = NEED_LBR | NEED_LBR_SELECT,
    CHECKS(checks),
    .run = run,
};

/*
 * The filters for conditional, relative and indirect jumps, with a near indirect call and a far
 * call among the branches: a filter for jumps must not take the calls along, and the far call and
 * its return go with FAR_BRANCH and with nothing else. One exception: before Sandy Bridge the
 * manual does not except near calls and returns from the jump filters, and Linux found that they go
 * too; there either is accepted. Architectural records call the far branches OTHER_BRANCH. SDM vol.
 * 3 "Filtering of Last Branch Records", and the same table in "... for Processors based on Intel
 * Microarchitecture code name Sandy Bridge"; "Last Branch Records".
 */
#define JUMPS (LBR_SELECT_JCC | LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_NEAR_IND_JMP)

static const struct {
    uint64_t select;
    const char *title;
} filters[FILTERS] = {
    [NO_FILTER] = {0, "no filter"},
    [NO_JCC] = {LBR_SELECT_JCC, "without conditional jumps"},
    [NO_REL_JUMPS] = {LBR_SELECT_NEAR_REL_JMP, "without near relative jumps"},
    [NO_IND_JUMPS] = {LBR_SELECT_NEAR_IND_JMP, "without near indirect jumps"},
    [NO_JUMPS] = {JUMPS, "without jumps"},
    [NO_FAR_BRANCHES] = {LBR_SELECT_FAR_BRANCH, "without far branches"},
};

/* What a filter may take along on this processor. */
static uint64_t may_lack(uint64_t select)
{
    bool jumps = select & (LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_NEAR_IND_JMP);
    return jumps && lbr_info()->wide_jump_filters ? CALLS_AND_RETURNS : 0;
}

static void run(void)
{
    const struct branch_run *all = &branch_jumps_run;
    for (unsigned i = 0; i < FILTERS; i++) {
        uint64_t select = filters[i].select;
        branches_record(select, branch_jumps, 0, all->taken, (unsigned)all->n, may_lack(select));
        lbr_dump(filters[i].title);
        value_hex(lbr_info()->filter_key, lbr_filter());
        if (may_lack(select) != 0)
            value_str("may_lack", "near calls and returns (before Sandy Bridge)");
        check(i, branches_in_lbr(all->taken, all->n, select, may_lack(select)));
    }
}
