/* Experiment 14-5 · LBR and #DB. */
#include "kernel/cpuid.h"
#include "kernel/debugreg.h"
#include "kernel/trap.h"
#include "lab/branches.h"
#include "lab/debug_trap.h"
#include "lab/experiment.h"
#include "lab/lbr_pmi.h"
#include "lab/take.h"
#include "pmu/debugctl.h"
#include "x86/msr.h"

enum { ONE_TRAP, LBR_CLEARED, RECORDS_KEPT, TR_LEFT, TR_RECORDS_KEPT, GO_ON, STAND_STILL };

static const char *const checks[] = {
    [ONE_TRAP] = "one #DB, at the breakpoint, with DR6.B0",
    [LBR_CLEARED] = "the #DB has switched the recording off before its handler ran",
    [RECORDS_KEPT] =
        "the records are kept, with the branch that led to the exception as newest before it",
    [TR_LEFT] = "with TR on, the #DB clears LBR and leaves TR",
    [TR_RECORDS_KEPT] =
        "with TR on, the branch that led to the exception is found, newest before it",
    [GO_ON] = "without FREEZE_LBRS_ON_PMI the records go on in the PMI handler",
    [STAND_STILL] = "with it they stand still: LBR cleared before version 4, LBR_FRZ from 4 on",
};

static void run(void);

const struct experiment ex14_5 = {
    .id = "14-5",
    .title = "LBR and #DB",
    .needs = NEED_LBR,
    CHECKS(checks),
    .run = run,
};

/*
 * A debugger wants to see how the program came to its breakpoint, and not how the debugger came to
 * its handler. So "when the processor generates a debug exception (#DB), it automatically clears
 * the LBR flag before executing the exception handler", keeps the records, and makes none of the
 * exception itself (SDM vol. 3 "Monitoring Branches, Exceptions, and Interrupts"). TR, which sends
 * the branches out on the bus, is left alone; where both may be set, a processor that makes its
 * messages out of the stack may go on recording with LBR clear: then the record of the exception is
 * the newest, and the branch before it is the one to look for. The handler has no branch of its
 * own. Architectural records stop in the same way: the #DB clears IA32_LBR_CTL.LBREn, and of the
 * exceptions those "other than debug exceptions" are recorded (SDM vol. 3 "Last Branch Records").
 *
 * A hypervisor that takes the #DB itself and injects it has to clear the flag for its guest, and to
 * take the record away: the processor does neither then (SDM vol. 3 "Details of Vectored-Event
 * Injection").
 *
 * The other thing that stops the records is a PMI under FREEZE_LBRS_ON_PMI: versions 2 and 3 clear
 * the LBR flag, from version 4 on IA32_PERF_GLOBAL_STATUS.LBR_FRZ is set and the flag stays (SDM
 * vol. 3 "Freezing LBR and Performance Counters on PMI").
 */

/* The records are those of the branches that led to the breakpoint, and perhaps of the exception.
 */
static bool led_to_breakpoint(bool perhaps_itself, branches_check *holds)
{
    const struct branch *led = branch_to_breakpoint_run.taken;
    const struct branch taken[] = {
        led[0],
        led[1],
        led[2],
        {(uint64_t)branch_breakpoint, (uint64_t)debug_trap_entry, LBR_SELECT_FAR_BRANCH},
    };
    unsigned n = sizeof(taken) / sizeof(taken[0]);
    return perhaps_itself ? holds(taken, n, 0, LBR_SELECT_FAR_BRANCH) : holds(taken, n - 1, 0, 0);
}

static bool one_trap_at_breakpoint(uint64_t debugctl, bool perhaps_itself)
{
    struct take take = take_begin();
    do {
        debug_trap = (struct debug_trap){0};
        debug_status_clear();
        lbr_record(0, debugctl, branch_to_breakpoint, 0);
    } while (take_again(&take, led_to_breakpoint(perhaps_itself, branches_held)));
    value_u64("exceptions", debug_trap.count);
    value_hex("rip", debug_trap.rip);
    value_hex("dr6", debug_trap.dr6);
    return debug_trap.count == 1 && debug_trap.rip == (uint64_t)branch_breakpoint &&
           (debug_trap.dr6 & DR6_B0);
}

/* What the handler found in IA32_DEBUGCTL, and in the switch where that is another register. */
static void show_handler(void)
{
    value_hex("debugctl_in_handler", debug_trap.debugctl);
    if (lbr_info()->control != MSR_IA32_DEBUGCTL)
        value_hex(lbr_info()->control_key, debug_trap.control);
}

static bool still_on(void)
{
    return debug_trap.control & lbr_info()->enable;
}

static void value_known_injection(bool one)
{
    if (one && still_on() && hypervisor_present())
        value_str("known", DEBUG_INJECTED);
}

static void check_lbr_alone(void)
{
    bool one = one_trap_at_breakpoint(0, false);
    check(ONE_TRAP, one);
    show_handler();
    value_known_injection(one);
    check(LBR_CLEARED, one && !still_on());
    lbr_dump("after the breakpoint, LBR alone");
    value_known_injection(one);
    check(RECORDS_KEPT, one && led_to_breakpoint(false, branches_in_lbr));
}

static void check_with_tr(void)
{
    const char *why = lbr_info()->not_with_tr ? "TR and LBR exclude each other on this processor"
                      : !debugctl_takes(DEBUGCTL_TR) ? "IA32_DEBUGCTL[6] (TR) cannot be set"
                                                     : NULL;
    if (why != NULL) {
        check_skip_all(TR_LEFT, TR_RECORDS_KEPT, "%s", why);
        return;
    }
    bool one = one_trap_at_breakpoint(DEBUGCTL_TR, true);
    show_handler();
    value_known_injection(one);
    check(TR_LEFT, one && !still_on() && (debug_trap.debugctl & DEBUGCTL_TR));
    lbr_dump("after the breakpoint, LBR and TR");
    check(TR_RECORDS_KEPT, one && led_to_breakpoint(true, branches_in_lbr));
}

static void check_pmi(void)
{
    const char *missing = need_missing(LBR_PMI_NEEDS | NEED_FREEZE);
    if (missing != NULL) {
        check_skip_all(GO_ON, STAND_STILL, "%s", missing);
        return;
    }
    struct lbr_pmi pmi = lbr_pmi(0, true);
    value_str("records", pmi.went_on ? "went on" : "stood still");
    check(GO_ON, pmi.one && pmi.went_on);

    missing = lbr_freeze_missing();
    if (missing != NULL) {
        check_skip(STAND_STILL, "%s", missing);
        return;
    }
    bool on = debugctl_takes(DEBUGCTL_FREEZE_LBRS_ON_PMI);
    value_str("debugctl_11", on ? "set" : "cannot be set");
    pmi = on ? lbr_pmi(DEBUGCTL_FREEZE_LBRS_ON_PMI, false) : (struct lbr_pmi){0};
    bool lbr = pmi.control & lbr_info()->enable, frozen = pmi.status & GLOBAL_STATUS_LBR_FRZ;
    value_hex("debugctl", pmi.debugctl);
    if (lbr_info()->control != MSR_IA32_DEBUGCTL)
        value_hex(lbr_info()->control_key, pmi.control);
    value_hex("status", pmi.status);
    value_u64("perfmon_version", pmu_info()->version);
    value_u64("recorded", pmi.recorded);
    value_str("records", pmi.went_on ? "went on" : "stood still");
    check(STAND_STILL, pmi.one && pmi.recorded != 0 && !pmi.went_on &&
                           (pmu_info()->freeze_in_status ? lbr && frozen : !lbr && !frozen));
}

static void run(void)
{
    debug_trap_switch = lbr_info()->control;
    trap_set_entry(VEC_DB, debug_trap_entry);
    debug_break_on(branch_breakpoint);
    check_lbr_alone();
    check_with_tr();
    debug_reset();
    check_pmi();
}
