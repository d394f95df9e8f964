/*
 * Experiment 14-1 · Catch a branch with LBR.
 *
 * Recording on, one call, off, dump. Four branches are taken while IA32_DEBUGCTL.LBR is set: the
 * window's call of the function, the function's own call, and the two returns; the stack must hold
 * these four with the very addresses of their labels, and nothing else. What can go wrong: the
 * model has its registers elsewhere or fewer of them, the flags of the format are taken for address
 * bits, a hypervisor that switches the records of its own code in. SDM vol. 3 "Last Branch,
 * Interrupt, and Exception Recording", "LBR Stack".
 */
#include "lab/branches.h"
#include "lab/experiment_old.h"
#include "kernel/msr.h"

#include <stddef.h>

static void run(void)
{
    const struct branch_run *run = &branch_one_run;
    const struct branch *call = &run->taken[1], *ret = &run->taken[2];
    struct branch_record records[LBR_MAX_DEPTH];

    lbr_record(0, 0, branch_one, 0);
    uint64_t debugctl = rdmsr(MSR_IA32_DEBUGCTL);
    unsigned n = lbr_read(records, LBR_MAX_DEPTH);
    lbr_dump("after one call");

    bool call_found = false, return_found = false;
    for (unsigned i = 0; i < n; i++) {
        call_found |= records[i].from == call->from && records[i].to == call->to;
        return_found |= records[i].from == ret->from && records[i].to == ret->to;
    }
    value_hex("from", call->from);
    value_hex("to", call->to);
    check(call_found);
    value_hex("from", ret->from);
    value_hex("to", ret->to);
    check(return_found);
    check(branches_are(records, n, run->taken, run->n, 0, 0));
    value_hex("debugctl", debugctl);
    check(!(debugctl & DEBUGCTL_LBR));
}

static const char *const checks[] = {
    "the call is recorded, from and to as in the symbol table",
    "the return is recorded, from and to as in the symbol table",
    "these two and the window's own two are all that is recorded",
    "IA32_DEBUGCTL.LBR is off again",
    NULL,
};

const struct experiment ex14_1 = {
    .id = "14-1",
    .title = "Catch a branch with LBR",
    CHECKS_OLD(checks),
    .needs = NEED_LBR,
    .run = run,
};
