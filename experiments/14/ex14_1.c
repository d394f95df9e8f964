/* Experiment 14-1 · Catch a branch with LBR. */
#include "lab/branches.h"
#include "lab/experiment.h"

enum { CALL, RETURN, NOTHING_ELSE, OFF_AGAIN };

static const char *const checks[] = {
    [CALL] = "the call is recorded, from and to as in the symbol table",
    [RETURN] = "the return is recorded, from and to as in the symbol table",
    [NOTHING_ELSE] = "these two and the window's own two are all that is recorded",
    [OFF_AGAIN] = "the recording is off again",
};

static void run(void);

const struct experiment ex14_1 = {
    .id = "14-1",
    .title = "Catch a branch with LBR",
    .needs = NEED_LBR,
    CHECKS(checks),
    .run = run,
};

/*
 * Recording on, one call, off, dump. Four branches are taken while the switch is on, which is
 * IA32_DEBUGCTL.LBR or, of architectural records, IA32_LBR_CTL.LBREn: the window's call of the
 * function, the function's own call, and the two returns; the stack must hold these four with the
 * very addresses of their labels, and nothing else. What can go wrong: the model has its registers
 * elsewhere or fewer of them, the flags of the format are taken for address bits, a hypervisor that
 * switches the records of its own code in. SDM vol. 3 "Last Branch, Interrupt, and Exception
 * Recording", "LBR Stack"; "Last Branch Records".
 */
static void run(void)
{
    const struct branch_run *all = &branch_one_run;
    const struct branch *call = &all->taken[1], *ret = &all->taken[2];
    struct branch_record records[LBR_MAX_DEPTH];

    branches_record(0, branch_one, 0, all->taken, (unsigned)all->n, 0);
    uint64_t control = lbr_control();
    unsigned n = lbr_read(records, LBR_MAX_DEPTH);
    lbr_dump("after one call");

    value_hex("from", call->from);
    value_hex("to", call->to);
    check(CALL, branch_among(records, n, call));
    value_hex("from", ret->from);
    value_hex("to", ret->to);
    check(RETURN, branch_among(records, n, ret));
    check(NOTHING_ELSE, branches_are(records, n, all->taken, all->n, 0, 0));
    value_hex(lbr_info()->control_key, control);
    check(OFF_AGAIN, n != 0 && !(control & lbr_info()->enable)); /* the records: it was on */
}
