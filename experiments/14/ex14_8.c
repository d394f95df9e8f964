/* Experiment 14-8 · Single-step on branches. */
#include "kernel/cpuid.h"
#include "kernel/debugreg.h"
#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/trap.h"
#include "lab/branches.h"
#include "lab/debug_trap.h"
#include "lab/experiment.h"
#include "pmu/debugctl.h"
#include "x86/msr.h"

enum { ONE_A_BRANCH, IN_ORDER, BS_SET, BTF_CLEARED, ONE_AN_INSTRUCTION };

static const char *const checks[] = {
    [ONE_A_BRANCH] = "with BTF and TF there is one #DB for each branch that is taken",
    [IN_ORDER] = "they come in program order, each at the branch's target",
    [BS_SET] = "DR6.BS is set at each",
    [BTF_CLEARED] = "BTF is clear at each: the processor has cleared it, the handler sets it again",
    [ONE_AN_INSTRUCTION] = "with TF alone there is one #DB for each instruction",
};

static void run(void);

const struct experiment ex14_8 = {
    .id = "14-8",
    .title = "Single-step on branches",
    CHECKS(checks),
    .run = run,
};

/*
 * With IA32_DEBUGCTL.BTF set, RFLAGS.TF raises #DB "only after instructions that cause a branch",
 * and the processor clears BTF each time: the handler must set it again, or the next instruction is
 * stepped. The function under test has eight taken branches, its call and return included, and one
 * that is not taken; without BTF it takes one #DB for every instruction. SDM vol. 3
 * "Single-Stepping on Branches".
 *
 * Every processor has TF. Where BTF cannot be set, IA32_DEBUGCTL is not touched.
 */
#define MAX_TRAPS 64

static struct {
    bool btf; /* the handler sets it again */
    unsigned count, with_bs, with_btf;
    uint64_t rip[MAX_TRAPS];
} steps;

static void on_debug(struct trap_frame *frame)
{
    if (steps.count < MAX_TRAPS)
        steps.rip[steps.count] = frame->rip;
    steps.count++;
    steps.with_bs += (debug_status() & DR6_BS) != 0;
    debug_status_clear();
    if (steps.btf) {
        steps.with_btf += (rdmsr(MSR_IA32_DEBUGCTL) & DEBUGCTL_BTF) != 0;
        wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(DEBUGCTL_BTF));
    }
}

static void step_through(bool btf)
{
    steps = (typeof(steps)){.btf = btf};
    debug_status_clear();
    if (btf)
        wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(DEBUGCTL_BTF));
    debug_step(branch_calls);
    if (btf)
        wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(0));
}

/* Each #DB is a trap: its RIP is where the branch went. The last goes back to debug_step(), not to
 * the window. */
static bool in_program_order(void)
{
    const struct branch_run *all = &branch_calls_run;
    bool right = steps.count == all->n;
    for (unsigned i = 0; i < steps.count && i < MAX_TRAPS; i++) {
        uint64_t offset = 0;
        const char *name = symbol_name(steps.rip[i], &offset);
        note("#DB %u at 0x%llx %s+0x%llx", i + 1, (unsigned long long)steps.rip[i],
             name != NULL ? name : "?", (unsigned long long)offset);
        if (i + 1 < all->n)
            right = right && steps.rip[i] == all->taken[i].to;
        else
            right = right && steps.rip[i] == (uint64_t)debug_step_return;
    }
    return right;
}

static void check_btf(void)
{
    step_through(true);
    check_same(ONE_A_BRANCH, "exceptions", steps.count, "branches_taken", branch_calls_run.n);
    check(IN_ORDER, in_program_order());
    value_u64("with_dr6_bs", steps.with_bs);
    check(BS_SET, steps.count != 0 && steps.with_bs == steps.count);
    value_u64("with_btf_still_set", steps.with_btf);
    if (steps.count != 0 && steps.with_btf == steps.count && hypervisor_present())
        value_str("known", DEBUG_INJECTED);
    check(BTF_CLEARED, steps.count != 0 && steps.with_btf == 0);
}

static void run(void)
{
    const char *no_btf = need_missing(NEED_BTF);
    trap_set_handler(VEC_DB, on_debug);
    if (no_btf == NULL)
        check_btf();
    else
        check_skip_all(ONE_A_BRANCH, BTF_CLEARED, "%s", no_btf);

    step_through(false);
    check_same(ONE_AN_INSTRUCTION, "exceptions", steps.count, "instructions",
               branch_calls_insns + debug_step_insns);
    debug_reset();
}
