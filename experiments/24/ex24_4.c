/* Experiment 24-4 · PerfMonV2. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/debugctl.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/amd.h"
#include "x86/msr.h"

enum {
    BOTH_ENABLES,
    TOGETHER,
    WITHOUT_INT,
    READ_ONLY,
    SHOWN,
    NO_PMI,
    CLEARED,
    ALL_ONES,
    FREE,
    FROZEN,
    THAWED,
    STAND,
    GO_ON,
};

static const char *const checks[] = {
    [BOTH_ENABLES] = "a counter counts only with its bit in PerfCntrGlobalCtl and its own EN",
    [TOGETHER] = "one write opens and closes all counters: each holds the listing's instructions",
    [WITHOUT_INT] = "an overflow sets its bit in the status without INT too, and raises no PMI",
    [READ_ONLY] = "PerfCntrGlobalStatus cannot be written",
    [SHOWN] = "each bit set by PerfCntrGlobalStatusSet shows in the status, and no other",
    [NO_PMI] = "none of them raises a PMI",
    [CLEARED] = "PerfCntrGlobalStatusClr clears each of them, and no other",
    [ALL_ONES] = "PerfCntrGlobalStatusClr takes all ones",
    [FREE] = "without FPMCI the counter goes on in the PMI's handler",
    [FROZEN] = "with FPMCI it stands there, PMCF is set, and PerfCntrGlobalCtl keeps its value",
    [THAWED] = "it goes on when PMCF is cleared",
    [STAND] = "frozen by software, by PMCF set, all counters stand",
    [GO_ON] = "thawed they go on where they were, exactly",
};

static void run(void);

const struct experiment ex24_4 = {
    .id = "24-4",
    .title = "PerfMonV2",
    .needs = NEED_AMD | NEED_PMU | NEED_GLOBAL_CTRL | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * What Intel's versions 2 and 4 have, in four registers from C000_0300H on: 15-4 and 22-7 once
 * more. APM vol. 2 "Performance Monitoring Counters": a counter counts when its bit in
 * PerfCntrGlobalCtl and EN in its PERF_CTL are 1; PerfCntrGlobalStatus, read-only, has CNT_OF of
 * each counter, set by an overflow whether or not INT is, and PMCF, that the counters are frozen;
 * PerfCntrGlobalStatusClr and Set clear and set what is written as 1, and setting an overflow
 * raises no interrupt. Linux writes ones into the reserved bits of Clr as well
 * (arch/x86/events/amd/core.c, amd_pmu_ack_global_status()).
 *
 * DebugCtl.FPMCI, where 8000_0022H:EAX[2] announces it, freezes the counters at the overflow of one
 * with INT: it stands in the handler and goes on when PMCF is cleared, as Intel's from version 4
 * on.
 */
#define INSTRUCTIONS   (pmu_event(PMU_EVENT_INSTRUCTIONS) | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS     500
#define LONG           100000
#define OVERFLOW_AFTER 20000
#define SPIN           10000 /* iterations in which a PMI that is due has come */
#define WORK           1000  /* of body_spin in the handler */

/* ---- Control ---- */

static uint64_t count_0(uint64_t select, uint64_t mask)
{
    wrmsr(pmu_select_msr(0), select);
    pmu_write(0, 0);
    pmu_count(mask, body_mixed, ITERATIONS);
    return pmu_read(0);
}

static void check_control(uint64_t expected)
{
    uint64_t both = 0, own = 0, global = 0;
    struct take take = take_begin();
    do {
        own = count_0(INSTRUCTIONS | PERFEVTSEL_EN, 0);
        global = count_0(INSTRUCTIONS, PMU_MASK(0));
        both = count_0(INSTRUCTIONS | PERFEVTSEL_EN, PMU_MASK(0));
    } while (take_again(&take, both == expected));
    value_u64("own_alone", own);
    value_u64("global_alone", global);
    value_u64("both", both);
    value_u64("from_the_listing", expected);
    check(BOTH_ENABLES, own == 0 && global == 0 && both == expected);
}

static bool all_hold(uint64_t value)
{
    bool all = true;
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        all = pmu_read(n) == value && all;
    return all;
}

static void select_all(uint64_t select)
{
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        pmu_select(n, select);
}

static void check_together(uint64_t expected)
{
    select_all(INSTRUCTIONS);
    struct take take = take_begin();
    do
        count_from_0(pmu_all_counters(), body_mixed, ITERATIONS);
    while (take_again(&take, all_hold(expected)));
    value_u64("counters", pmu_info()->n_general);
    value_u64("first", pmu_read(0));
    value_u64("from_the_listing", expected);
    check(TOGETHER, all_hold(expected));
}

/* ---- Status ---- */

static uint64_t settable(void)
{
    return pmu_all_counters() | (pmu_info()->freeze ? pmu_info()->kind->frozen : 0);
}

/* KVM's PMU for its guests had none at first: only an emulator needs it. */
static const char *no_set(void)
{
    return hypervisor_present() && !wrmsr_safe(pmu_info()->kind->status_set, 0)
               ? "this hypervisor (CPUID.1:ECX[31] = 1) refuses PerfCntrGlobalStatusSet (C0000303H)"
               : NULL;
}

static bool status_is(uint64_t expected, const char *behind, unsigned bit)
{
    uint64_t status = pmu_status() & settable();
    if (status != expected)
        note("%s bit %u: the status is 0x%llx, not 0x%llx", behind, bit, (unsigned long long)status,
             (unsigned long long)expected);
    return status == expected;
}

static bool shows(unsigned bit)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    wrmsr(kind->status_set, ARCH_BIT(bit));
    bool right = status_is(ARCH_BIT(bit), "setting", bit);
    body_spin(SPIN); /* should there be a PMI after all */
    wrmsr(kind->status_clear, settable());
    return right;
}

static bool clears(unsigned bit)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    wrmsr(kind->status_set, settable());
    wrmsr(kind->status_clear, ARCH_BIT(bit));
    bool right = status_is(settable() & ~ARCH_BIT(bit), "clearing", bit);
    wrmsr(kind->status_clear, settable());
    return right;
}

static void check_without_int(void)
{
    select_all(0);
    pmu_select(0, INSTRUCTIONS);
    pmu_write_overflow_in(0, OVERFLOW_AFTER);
    pmu_count(PMU_MASK(0), body_spin, LONG);
    uint64_t status = pmu_status();
    value_hex("status", status);
    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    check(WITHOUT_INT,
          status == PMU_MASK(0) && pmu_pmi_count() == 0 && pmu_unexpected_count() == 0);
    pmu_status_reset(status);
}

static void check_status(void)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    uint64_t before = pmu_status();
    bool taken = wrmsr_safe(kind->status, ~before & pmu_all_counters());
    value_str("wrmsr", "%s", taken ? "is taken" : "#GP");
    value_hex("before", before);
    value_hex("after", pmu_status());
    check(READ_ONLY, pmu_status() == before);

    if (no_set() != NULL) {
        check_skip_all(SHOWN, ALL_ONES, "%s", no_set());
        return;
    }
    select_all(INSTRUCTIONS | PERFEVTSEL_INT);
    value_hex("bits", settable());
    check(SHOWN, enumerated_all(settable(), shows));
    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    check(NO_PMI, pmu_pmi_count() == 0 && pmu_unexpected_count() == 0);
    check(CLEARED, enumerated_all(settable(), clears));

    wrmsr(kind->status_set, settable());
    taken = wrmsr_safe(kind->status_clear, ~(uint64_t)0);
    value_hex("status", pmu_status());
    check(ALL_ONES, taken && pmu_status() == 0);
}

/* ---- Freeze ---- */

static struct {
    uint64_t first, second, thawed; /* counter 0, work between */
    uint64_t status, global_ctrl;
} seen;

static uint64_t work_and_read(void)
{
    body_spin(WORK);
    return pmu_read(0);
}

static void on_pmi(const struct pmi *pmi)
{
    seen.status = pmi->status;
    seen.global_ctrl = pmi->global_ctrl;
    seen.first = pmu_read(0);
    seen.second = work_and_read();
    pmu_status_reset(pmi->status);
    seen.thawed = work_and_read();
}

static bool one_pmi(void)
{
    unsigned before = pmu_pmi_count();
    seen = (typeof(seen)){0};
    pmu_write_overflow_in(0, OVERFLOW_AFTER);
    pmu_count(PMU_MASK(0), body_spin, LONG);
    wait_for_pmi(before + 1);
    value_u64("pmis", pmu_pmi_count() - before);
    value_u64("first", seen.first);
    value_u64("second", seen.second);
    value_hex("status", seen.status);
    return pmu_pmi_count() - before == 1;
}

static void check_freeze(void)
{
    const uint64_t frozen = pmu_info()->kind->frozen, freeze = pmu_info()->kind->freeze;
    select_all(0);
    pmu_select(0, INSTRUCTIONS | PERFEVTSEL_INT);
    pmu_set_pmi_handler(on_pmi, PMI_KEEP_RUNNING);
    bool one = one_pmi();
    check(FREE, one && seen.second > seen.first && !(seen.status & frozen));
    if (!pmu_info()->freeze) {
        check_skip_all(FROZEN, THAWED, "%s", pmu_info()->no_freeze);
        return;
    }
    bool on = debugctl_takes(freeze) == freeze;
    if (on)
        wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(freeze));
    one = one_pmi();
    value_str("fpmci", "%s", on ? "set" : "cannot be set");
    value_hex("global_ctl", seen.global_ctrl);
    check(FROZEN, one && on && seen.second == seen.first && (seen.status & frozen) &&
                      seen.global_ctrl == PMU_MASK(0));
    value_u64("before", seen.second);
    value_u64("after", seen.thawed);
    check(THAWED, one && on && seen.thawed > seen.second);
    pmu_set_pmi_handler(NULL, PMI_STOP);
    wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(0));
}

/* The function three times: counted, frozen, and counted again. */
static void check_software_freeze(uint64_t expected)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    bool counted, stand, go_on;
    uint64_t first[3];
    const char *why = pmu_info()->freeze ? no_set() : pmu_info()->no_freeze;
    if (why != NULL) {
        check_skip_all(STAND, GO_ON, "%s", why);
        return;
    }
    select_all(INSTRUCTIONS);
    struct take take = take_begin();
    do {
        count_from_0(pmu_all_counters(), body_mixed, ITERATIONS);
        counted = all_hold(expected);
        first[0] = pmu_read(0);
        wrmsr(kind->status_set, kind->frozen);
        pmu_count(pmu_all_counters(), body_mixed, ITERATIONS);
        stand = counted && all_hold(expected);
        first[1] = pmu_read(0);
        wrmsr(kind->status_clear, kind->frozen);
        pmu_count(pmu_all_counters(), body_mixed, ITERATIONS);
        go_on = counted && all_hold(2 * expected);
        first[2] = pmu_read(0);
    } while (take_again(&take, stand && go_on));
    value_u64("counted", first[0]);
    value_u64("frozen", first[1]);
    value_u64("from_the_listing", expected);
    check(STAND, stand);
    value_u64("thawed", first[2]);
    value_u64("twice", 2 * expected);
    check(GO_ON, go_on);
}

static void run(void)
{
    uint64_t expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    check_control(expected);
    check_together(expected);
    check_without_int();
    check_status();
    check_freeze();
    check_software_freeze(expected);
}
