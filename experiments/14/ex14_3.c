/*
 * Experiment 14-3 · Filter near calls and returns.
 *
 * A bit set in MSR_LBR_SELECT keeps a kind of branch out of the stack. The same function is run
 * with no filter, with each of the filters for near calls and returns, and with the three together;
 * it calls directly and through a register, and it jumps, so that each time something must go and
 * something must stay. The window's own call is an indirect one, its return a near return: they are
 * filtered with the rest. SDM vol. 3 "Filtering of Last Branch Records".
 */
#include "lab/branches.h"
#include "lab/experiment_old.h"
#include "kernel/msr.h"

#include <stddef.h>

static const struct {
    uint64_t select;
    const char *title;
} filters[] = {
    {0, "no filter"},
    {LBR_SELECT_NEAR_REL_CALL, "without near relative calls"},
    {LBR_SELECT_NEAR_IND_CALL, "without near indirect calls"},
    {LBR_SELECT_NEAR_RET, "without near returns"},
    {CALLS_AND_RETURNS, "without near calls and returns"},
};

static void run(void)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        lbr_record(filters[i].select, 0, branch_calls, 0);
        lbr_dump(filters[i].title);
        value_hex("lbr_select", rdmsr(MSR_LBR_SELECT));
        check(branches_in_lbr(branch_calls_run.taken, branch_calls_run.n, filters[i].select, 0));
    }
}

static const char *const checks[] = {
    "without a filter all branches are recorded",
    "NEAR_REL_CALL: no near relative call is recorded, the rest is",
    "NEAR_IND_CALL: no near indirect call is recorded, the rest is",
    "NEAR_RET: no near return is recorded, the rest is",
    "all three: no near call and no near return is recorded, the jumps are",
    NULL,
};

const struct experiment ex14_3 = {
    .id = "14-3",
    .title = "Filter near calls and returns",
    CHECKS_OLD(checks),
    .needs = NEED_LBR | NEED_LBR_SELECT,
    .run = run,
};
