/* Experiment 24-6 · AMD's branch records. */
#include "kernel/debugreg.h"
#include "kernel/msr.h"
#include "kernel/trap.h"
#include "lab/branches.h"
#include "lab/debug_trap.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/lbr_single.h"
#include "x86/amd.h"
#include "x86/msr.h"

enum { LAST, READ_ONLY, BEFORE_EXCEPTION, DEBUG, DEPTH, VALID, APART, RESERVED };

static const char *const checks[] = {
    [LAST] = "LastBranchFromIP and LastBranchToIP are the newest branch, as in the symbol table",
    [READ_ONLY] = "the four registers are read-only: WRMSR raises #GP",
    [BEFORE_EXCEPTION] = "LastIntFromIP and LastIntToIP are the newest branch before an exception",
    [DEBUG] = "#DB clears DebugCtl.LBR, and the record stays that of the branch before it",
    [DEPTH] = "the stack holds the newest branches, as many as CPUID.80000022H:EBX[9:4] says",
    [VALID] = "each of them has V set in its target's register",
    [APART] = "the stack records with DebugCtl.LBR clear, too",
    [RESERVED] = "DebugExtnCfg takes no bit but LBRSE: others raise #GP",
};

static void run(void);

const struct experiment ex24_6 = {
    .id = "24-6",
    .title = "AMD's branch records",
    .needs = NEED_LAST_BRANCH,
    CHECKS(checks),
    .run = run,
};

/*
 * DebugCtl.LBR keeps one branch: the newest. At an interrupt or exception, other than #DB, #MC and
 * ICEBP, what was in it moves to LastIntFromIP and LastIntToIP, so that a handler, whose own
 * branches overwrite it, can still tell how its victim came there. #DB clears the switch before its
 * handler runs. The registers hold offsets in the code segment and are read-only. APM vol. 2
 * "Control-Transfer Recording MSRs", "Control-Transfer Breakpoint Features".
 *
 * Zen 4 adds a stack, LbrExtV2, with a switch of its own, DebugExtnCfg.LBRSE: chapter 14 and 23-5
 * run on it as they run on Intel's. What is AMD's alone stands here: entry 0 is always the newest,
 * V and SPEC tell whether the branch was retired, the two switches do not know of each other.
 * With DebugCtl.LBR clear a compare and its jump may be one operation, and the record begin at the
 * compare; the driver sets it, and only APART, whose branches are calls and returns, does without.
 * APM vol. 2 "Last Branch Stack". What can go wrong: a hypervisor that has the registers and never
 * fills them, or takes a write; erratum 1452, bogus entries, which the driver leaves out.
 */
static void on_undefined(struct trap_frame *frame)
{
    frame->rip += BRANCH_UNDEFINED_BYTES;
}

static void value_record(const char *from_key, uint64_t from, const char *to_key, uint64_t to)
{
    value_hex(from_key, from);
    value_hex(to_key, to);
}

static void check_last(void)
{
    const struct branch *last = &branch_one_run.taken[branch_one_run.n - 1];
    struct lbr_single single;
    struct take take = take_begin();
    do
        single = lbr_single_record(branch_one, 0);
    while (take_again(&take, single.from == last->from && single.to == last->to));
    value_record("from", single.from, "to", single.to);
    check(LAST, single.from == last->from && single.to == last->to);
}

static void check_read_only(void)
{
    unsigned taken = 0;
    for (uint32_t msr = MSR_AMD_LAST_BRANCH_FROM_IP; msr <= MSR_AMD_LAST_INT_TO_IP; msr++)
        taken += wrmsr_safe(msr, 0);
    value_u64("writes_taken", taken);
    check(READ_ONLY, taken == 0);
}

/* The function under test is called, and raises #UD before it branches. */
static void check_exception(void)
{
    uint64_t from = (uint64_t)pmu_window_call, to = (uint64_t)branch_undefined;
    struct lbr_single single;
    trap_handler before = trap_set_handler(VEC_UD, on_undefined);
    struct take take = take_begin();
    do
        single = lbr_single_record(branch_undefined, 0);
    while (take_again(&take, single.int_from == from && single.int_to == to));
    trap_set_handler(VEC_UD, before);
    value_record("int_from", single.int_from, "int_to", single.int_to);
    check(BEFORE_EXCEPTION, single.int_from == from && single.int_to == to);
}

static void check_debug(void)
{
    const struct branch *led = &branch_to_breakpoint_run.taken[branch_to_breakpoint_run.n - 1];
    struct lbr_single single;
    debug_trap_switch = MSR_IA32_DEBUGCTL;
    trap_set_entry(VEC_DB, debug_trap_entry);
    debug_break_on(branch_breakpoint);
    struct take take = take_begin();
    do {
        debug_trap = (struct debug_trap){0};
        debug_status_clear();
        single = lbr_single_record(branch_to_breakpoint, 0);
    } while (take_again(&take, single.from == led->from && single.to == led->to));
    debug_reset();
    value_u64("exceptions", debug_trap.count);
    value_hex("debugctl_in_handler", debug_trap.debugctl);
    value_record("from", single.from, "to", single.to);
    check(DEBUG, debug_trap.count == 1 && !(debug_trap.debugctl & DEBUGCTL_LBR) &&
                     single.from == led->from && single.to == led->to);
}

/* How many entries, from 0 on, are valid. */
static unsigned valid_entries(void)
{
    unsigned n = 0;
    for (; n < lbr_info()->depth; n++)
        if (!(rdmsr(MSR_AMD_LBR_STACK_TO0 + n * AMD_LBR_STRIDE) & AMD_LBR_TO_VALID))
            break;
    return n;
}

static void check_stack(void)
{
    static struct branch taken[BRANCH_CHAIN_TAKEN(LBR_MAX_DEPTH / BRANCH_CHAIN_JUMPS + 1)];
    unsigned depth = lbr_info()->depth, rounds = depth / BRANCH_CHAIN_JUMPS + 1;
    unsigned n = branch_chain_taken(taken, rounds);
    branches_record(0, branch_chain, rounds, taken, n, 0);
    lbr_dump("after more jumps than the stack holds");
    value_u64("depth", depth);
    check(DEPTH, branches_in_lbr(taken, n, 0, 0));
    check_same(VALID, "valid", valid_entries(), "entries", depth);
}

/* Without the driver, which would set DebugCtl.LBR. */
static void check_apart(void)
{
    const struct branch_run *all = &branch_one_run;
    struct take take = take_begin();
    do {
        lbr_clear();
        irq_disable();
        pmu_window(MSR_AMD_DBG_EXTN_CFG, AMD_DBG_EXTN_CFG_LBRSE, 0, branch_one, 0);
        irq_enable();
    } while (take_again(&take, branches_held(all->taken, (unsigned)all->n, 0, 0)));
    value_hex("debugctl", rdmsr(MSR_IA32_DEBUGCTL));
    check(APART, branches_in_lbr(all->taken, (unsigned)all->n, 0, 0));
}

static void check_reserved(void)
{
    uint64_t taken = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        if (ARCH_BIT(bit) != AMD_DBG_EXTN_CFG_LBRSE &&
            wrmsr_safe(MSR_AMD_DBG_EXTN_CFG, ARCH_BIT(bit)))
            taken |= ARCH_BIT(bit);
    wrmsr(MSR_AMD_DBG_EXTN_CFG, 0);
    value_hex("bits_taken", taken);
    check(RESERVED, taken == 0);
}

static void run(void)
{
    check_last();
    check_read_only();
    check_exception();
    check_debug();
    if (!lbr_info()->present || lbr_info()->control != MSR_AMD_DBG_EXTN_CFG) {
        check_skip_all(DEPTH, RESERVED, "%s",
                       lbr_info()->present ? "the stack is not AMD's" : lbr_info()->why);
        return;
    }
    check_stack();
    check_apart();
    check_reserved();
}
