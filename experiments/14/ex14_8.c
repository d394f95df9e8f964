/*
 * Experiment 14-8 · Single-step on branches.
 *
 * With IA32_DEBUGCTL.BTF set, RFLAGS.TF raises #DB "only after instructions that cause a branch",
 * and the processor clears BTF each time: the handler must set it again, or the next instruction is
 * stepped. The function under test has eight taken branches, its call and return included, and one
 * that is not taken; without BTF it takes one #DB for every instruction. SDM vol. 3
 * "Single-Stepping on Branches".
 */
#include "lab/branches.h"
#include "lab/debug_trap.h"
#include "lab/experiment_old.h"
#include "kernel/debugreg.h"
#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/trap.h"

#include <stddef.h>

#define MAX_TRAPS 64

static struct {
    uint64_t debugctl; /* what the handler sets again */
    unsigned count, with_bs, with_btf;
    uint64_t rip[MAX_TRAPS];
} steps;

static void on_debug(struct trap_frame *frame)
{
    if (steps.count < MAX_TRAPS)
        steps.rip[steps.count] = frame->rip;
    steps.count++;
    steps.with_bs += (debug_status() & DR6_BS) != 0;
    steps.with_btf += (rdmsr(MSR_IA32_DEBUGCTL) & DEBUGCTL_BTF) != 0;
    debug_status_clear();
    wrmsr(MSR_IA32_DEBUGCTL, steps.debugctl);
}

static void step_through(uint64_t debugctl)
{
    steps.debugctl = debugctl;
    steps.count = steps.with_bs = steps.with_btf = 0;
    debug_status_clear();
    wrmsr(MSR_IA32_DEBUGCTL, debugctl);
    debug_step(branch_calls);
    wrmsr(MSR_IA32_DEBUGCTL, 0);
}

/* Each #DB is a trap: its RIP is where the branch went. The last goes back to debug_step(), not to
 * the window. */
static bool in_program_order(void)
{
    const struct branch_run *run = &branch_calls_run;
    bool right = steps.count == run->n;
    for (unsigned i = 0; i < steps.count && i < MAX_TRAPS; i++) {
        uint64_t offset = 0;
        const char *name = symbol_name(steps.rip[i], &offset);
        note("#DB %u at 0x%llx %s+0x%llx", i + 1, (unsigned long long)steps.rip[i],
             name != NULL ? name : "?", (unsigned long long)offset);
        if (i + 1 < run->n)
            right = right && steps.rip[i] == run->taken[i].to;
        else
            right = right && steps.rip[i] == (uint64_t)debug_step_return;
    }
    return right;
}

static void run(void)
{
    trap_set_handler(VEC_DB, on_debug);
    step_through(DEBUGCTL_BTF);
    value_u64("exceptions", steps.count);
    value_u64("branches_taken", branch_calls_run.n);
    check(steps.count == branch_calls_run.n);
    check(in_program_order());
    value_u64("with_dr6_bs", steps.with_bs);
    check(steps.count != 0 && steps.with_bs == steps.count);
    value_u64("with_btf_still_set", steps.with_btf);
    check(steps.count != 0 && steps.with_btf == 0);

    step_through(0);
    value_u64("exceptions", steps.count);
    value_u64("instructions", branch_calls_insns + debug_step_insns);
    check(steps.count == branch_calls_insns + debug_step_insns);
    debug_reset();
}

static const char *const checks[] = {
    "with BTF and TF there is one #DB for each branch that is taken",
    "they come in program order, each at the branch's target",
    "DR6.BS is set at each",
    "BTF is clear at each: the processor has cleared it, the handler sets it again",
    "with TF alone there is one #DB for each instruction",
    NULL,
};

const struct experiment ex14_8 = {
    .id = "14-8",
    .title = "Single-step on branches",
    CHECKS_OLD(checks),
    .needs = NEED_BTF,
    .run = run,
};
