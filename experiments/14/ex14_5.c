/*
 * Experiment 14-5 · LBR and #DB.
 *
 * A debugger wants to see how the program came to its breakpoint, and not how the debugger came to
 * its handler. So "when the processor generates a debug exception (#DB), it automatically clears
 * the LBR flag before executing the exception handler", keeps the records, and makes none of the
 * exception itself (SDM vol. 3 "Monitoring Branches, Exceptions, and Interrupts"). TR, which sends
 * the branches out on the bus, is left alone; where both may be set, a processor that makes its
 * messages out of the stack may go on recording with LBR clear: then the record of the exception is
 * the newest, and the branch before it is the one to look for. The handler has no branch of its
 * own.
 *
 * The other thing that stops the records is a PMI under FREEZE_LBRS_ON_PMI: versions 2 and 3 clear
 * the LBR flag, from version 4 on IA32_PERF_GLOBAL_STATUS.LBR_FRZ is set and the flag stays (SDM
 * vol. 3 "Freezing LBR and Performance Counters on PMI").
 */
#include "lab/bodies.h"
#include "lab/branches.h"
#include "lab/debug_trap.h"
#include "lab/experiment_old.h"
#include "lab/pmi_wait.h"
#include "kernel/cpuid.h"
#include "kernel/debugreg.h"
#include "kernel/msr.h"
#include "kernel/trap.h"

#include <stddef.h>

#define SELECT         (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define ITERATIONS     10000
#define OVERFLOW_AFTER 2000
#define NEEDS_PMI      (NEED_PMU | NEED_GLOBAL_CTRL | NEED_FREEZE | NEED_INSTRUCTIONS | NEED_PMI)
#define PMI_CHECKS     2

static bool one_trap_at_breakpoint(uint64_t debugctl)
{
    debug_trap = (struct debug_trap){0};
    debug_status_clear();
    lbr_record(0, debugctl, branch_to_breakpoint, 0);
    value_u64("exceptions", debug_trap.count);
    value_hex("rip", debug_trap.rip);
    value_hex("dr6", debug_trap.dr6);
    return debug_trap.count == 1 && debug_trap.rip == (uint64_t)branch_breakpoint &&
           (debug_trap.dr6 & DR6_B0);
}

static void check_lbr_alone(void)
{
    bool one = one_trap_at_breakpoint(0);
    check(one);
    value_hex("debugctl_in_handler", debug_trap.debugctl);
    check(one && !(debug_trap.debugctl & DEBUGCTL_LBR));
    lbr_dump("after the breakpoint, LBR alone");
    check(one && branches_in_lbr(branch_to_breakpoint_run.taken, branch_to_breakpoint_run.n, 0, 0));
}

/* A hypervisor may take the bit or drop it. */
static bool can_be_set(uint64_t bit)
{
    uint64_t value = 0;
    bool can = wrmsr_safe(MSR_IA32_DEBUGCTL, bit) && rdmsr_safe(MSR_IA32_DEBUGCTL, &value);
    wrmsr(MSR_IA32_DEBUGCTL, 0);
    return can && (value & bit);
}

static void check_with_tr(void)
{
    const char *why = lbr_info()->not_with_tr    ? "TR and LBR exclude each other on this processor"
                      : !can_be_set(DEBUGCTL_TR) ? "IA32_DEBUGCTL[6] (TR) cannot be set"
                                                 : NULL;
    if (why != NULL) {
        check_skip("%s", why);
        check_skip("%s", why);
        return;
    }
    bool one = one_trap_at_breakpoint(DEBUGCTL_TR);
    value_hex("debugctl_in_handler", debug_trap.debugctl);
    check(one && (debug_trap.debugctl & (DEBUGCTL_LBR | DEBUGCTL_TR)) == DEBUGCTL_TR);

    enum { LEADING = 3 };
    const struct branch *run = branch_to_breakpoint_run.taken;
    const struct branch taken[LEADING + 1] = {
        run[0],
        run[1],
        run[2],
        {(uint64_t)branch_breakpoint, (uint64_t)debug_trap_entry, LBR_SELECT_FAR_BRANCH},
    };
    lbr_dump("after the breakpoint, LBR and TR");
    check(one && branches_in_lbr(taken, LEADING + 1, 0, LBR_SELECT_FAR_BRANCH));
}

static struct {
    uint64_t debugctl, status;
    struct branch_record records[LBR_MAX_DEPTH];
    unsigned n;
} seen;

/* Calls branch_one() with IA32_DEBUGCTL as it is, then takes LBR out: were its four branches
 * recorded, they are the newest. */
static void call_and_read(const struct pmi *pmi)
{
    seen.debugctl = rdmsr(MSR_IA32_DEBUGCTL);
    seen.status = pmi->status;
    pmu_window(MSR_IA32_DEBUGCTL, seen.debugctl, seen.debugctl & ~DEBUGCTL_LBR, branch_one, 0);
    seen.n = lbr_read(seen.records, LBR_MAX_DEPTH);
}

/* The call in branch_one() is among the records of the handler. */
static bool handler_recorded(void)
{
    const struct branch *call = &branch_one_run.taken[1];
    for (unsigned i = 0; i < seen.n; i++)
        if (seen.records[i].from == call->from && seen.records[i].to == call->to)
            return true;
    return false;
}

/* One PMI with the records on and this in IA32_DEBUGCTL beside; true when exactly one came. */
static bool one_pmi(uint64_t debugctl)
{
    unsigned before = pmu_pmi_count();
    lbr_clear();
    pmu_set_pmi_handler(call_and_read, PMI_STOP);
    pmu_select(0, SELECT);
    pmu_write_overflow_in(0, OVERFLOW_AFTER);
    wrmsr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | debugctl);
    pmu_count(PMU_MASK(0), body_spin, ITERATIONS);
    wait_for_pmi(before + 1);
    wrmsr(MSR_IA32_DEBUGCTL, 0);
    return pmu_pmi_count() - before == 1;
}

static void check_pmi(void)
{
    const char *missing = need_missing(NEEDS_PMI);
    if (missing != NULL) {
        for (int i = 0; i < PMI_CHECKS; i++)
            check_skip("%s", missing);
        return;
    }
    bool one = one_pmi(0);
    value_str("records", handler_recorded() ? "went on" : "stood still");
    check(one && handler_recorded());

    /* As in 15-4: every version from 2 on has the bit, but not every hypervisor. */
    bool on = can_be_set(DEBUGCTL_FREEZE_LBRS_ON_PMI);
    if (!on && (cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR)) {
        check_skip("IA32_DEBUGCTL[11] cannot be set under this hypervisor (CPUID.1:ECX[31] = 1)");
        return;
    }
    value_str("debugctl_11", on ? "set" : "cannot be set");
    one = on && one_pmi(DEBUGCTL_FREEZE_LBRS_ON_PMI);
    bool lbr = seen.debugctl & DEBUGCTL_LBR, frozen = seen.status & GLOBAL_STATUS_LBR_FRZ;
    value_hex("debugctl", seen.debugctl);
    value_hex("status", seen.status);
    value_u64("perfmon_version", pmu_info()->version);
    value_u64("recorded", seen.n);
    value_str("records", handler_recorded() ? "went on" : "stood still");
    check(one && seen.n != 0 && !handler_recorded() &&
          (pmu_info()->freeze_in_status ? lbr && frozen : !lbr && !frozen));
}

static void run(void)
{
    trap_set_entry(VEC_DB, debug_trap_entry);
    debug_break_on(branch_breakpoint);
    check_lbr_alone();
    check_with_tr();
    debug_reset();
    check_pmi();
}

static const char *const checks[] = {
    "one #DB, at the breakpoint, with DR6.B0",
    "the #DB has cleared IA32_DEBUGCTL.LBR before its handler ran",
    "the records are kept, the newest is the branch that led to the exception",
    "with TR on, the #DB clears LBR and leaves TR",
    "with TR on, the branch that led to the exception is found, newest before it",
    "without FREEZE_LBRS_ON_PMI the records go on in the PMI handler",
    "with it they stand still: LBR cleared before version 4, LBR_FRZ from 4 on",
    NULL,
};

const struct experiment ex14_5 = {
    .id = "14-5",
    .title = "LBR and #DB",
    CHECKS_OLD(checks),
    .needs = NEED_LBR,
    .run = run,
};
