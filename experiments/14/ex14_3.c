/* Experiment 14-3 · Filter near calls and returns. */
#include "lab/branches.h"
#include "lab/experiment.h"

enum { NO_FILTER, NO_REL_CALLS, NO_IND_CALLS, NO_RETURNS, NONE_OF_THREE, FILTERS };

static const char *const checks[] = {
    [NO_FILTER] = "without a filter all branches are recorded",
    [NO_REL_CALLS] = "NEAR_REL_CALL: no near relative call is recorded, the rest is",
    [NO_IND_CALLS] = "NEAR_IND_CALL: no near indirect call is recorded, the rest is",
    [NO_RETURNS] = "NEAR_RET: no near return is recorded, the rest is",
    [NONE_OF_THREE] = "all three: no near call and no near return is recorded, the jumps are",
};

static void run(void);

const struct experiment ex14_3 = {
    .id = "14-3",
    .title = "Filter near calls and returns",
    .needs = NEED_LBR | NEED_LBR_SELECT,
    CHECKS(checks),
    .run = run,
};

/*
 * A bit set in MSR_LBR_SELECT keeps a kind of branch out of the stack; in IA32_LBR_CTL, of
 * architectural records, it is the bit that is clear. The same function is run
 * with no filter, with each of the filters for near calls and returns, and with the three together;
 * it calls directly and through a register, and it jumps, so that each time something must go and
 * something must stay. The window's own call is an indirect one, its return a near return: they are
 * filtered with the rest. SDM vol. 3 "Filtering of Last Branch Records"; "Last Branch Records".
 */
static const struct {
    uint64_t select;
    const char *title;
} filters[FILTERS] = {
    [NO_FILTER] = {0, "no filter"},
    [NO_REL_CALLS] = {LBR_SELECT_NEAR_REL_CALL, "without near relative calls"},
    [NO_IND_CALLS] = {LBR_SELECT_NEAR_IND_CALL, "without near indirect calls"},
    [NO_RETURNS] = {LBR_SELECT_NEAR_RET, "without near returns"},
    [NONE_OF_THREE] = {CALLS_AND_RETURNS, "without near calls and returns"},
};

static void run(void)
{
    for (unsigned i = 0; i < FILTERS; i++) {
        branches_record(filters[i].select, branch_calls, 0, branch_calls_run.taken,
                        (unsigned)branch_calls_run.n, 0);
        lbr_dump(filters[i].title);
        value_hex(lbr_info()->filter_key, lbr_filter());
        check(i, branches_in_lbr(branch_calls_run.taken, branch_calls_run.n, filters[i].select, 0));
    }
}
