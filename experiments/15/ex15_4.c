/* Experiment 15-4 · Freeze counters on PMI. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/bodies.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "pmu/debugctl.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/msr.h"

enum { FREE_PMI, FREE_COUNTS, FROZEN_PMI, FROZEN_STANDS, SHOWN, WRONG_WAY, RIGHT_WAY };

static const char *const checks[] = {
    [FREE_PMI] = "without the freeze one PMI arrives",
    [FREE_COUNTS] = "without the freeze the second read in the handler is larger",
    [FROZEN_PMI] = "with the freeze one PMI arrives",
    [FROZEN_STANDS] = "with the freeze both reads in the handler are equal",
    [SHOWN] = "the freeze shows where this kind has it: in the enables, which are 0, or the status",
    [WRONG_WAY] = "the other kind's way does not thaw",
    [RIGHT_WAY] = "it thaws where it shows: by the enables, or by the reset of the status bit",
};

static void run(void);

const struct experiment ex15_4 = {
    .id = "15-4",
    .title = "Freeze counters on PMI",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_FREEZE | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * Two PMIs, without and with IA32_DEBUGCTL.FREEZE_PERFMON_ON_PMI (AMD: DebugCtl.FPMCI, the same
 * bit). The handler reads general counter 0 twice with work between: without the freeze the counter
 * counts the handler itself, with it both reads are equal.
 *
 * The freeze has two forms (SDM vol. 3 "Freezing LBR and Performance Counters on PMI"). Versions 2
 * and 3 clear IA32_PERF_GLOBAL_CTRL, and writing it again thaws; from version 4 on the PMI sets
 * IA32_PERF_GLOBAL_STATUS.CTR_FRZ, GLOBAL_CTRL keeps its value, and writing the bit to
 * IA32_PERF_GLOBAL_STATUS_RESET thaws. AMD's PerfMonV2 does as version 4:
 * PerfCntrGlobalStatus.PMCF, PerfCntrGlobalStatusClr (APM vol. 2 "Performance Monitoring
 * Counters"). So the handler tries the other version's way first, which must not thaw, and then the
 * right one, which must.
 */
#define FLAGS          (PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_INT)
#define ITERATIONS     100000
#define OVERFLOW_AFTER 20000
#define WORK           1000 /* iterations of body_spin in the handler */

static struct {
    uint64_t first, second;   /* the counter, work between */
    uint64_t after_wrong_way; /* after the other kind's thaw and work */
    uint64_t after_right_way; /* after this kind's thaw and work */
    uint64_t global_ctrl, status;
} seen;

static void thaw(bool by_status_reset)
{
    const struct pmu_kind *kind = pmu_info()->kind;
    if (by_status_reset)
        pmu_status_reset(PMU_MASK(0) | kind->frozen);
    else
        wrmsr(kind->enable, PMU_MASK(0));
}

static uint64_t work_and_read(void)
{
    body_spin(WORK);
    return pmu_read(0);
}

static void read_twice(const struct pmi *pmi)
{
    seen.global_ctrl = pmi->global_ctrl;
    seen.status = pmi->status;
    seen.first = pmu_read(0);
    seen.second = work_and_read();
}

static void read_and_thaw(const struct pmi *pmi)
{
    bool in_status = pmu_info()->freeze_in_status;
    read_twice(pmi);
    thaw(!in_status);
    seen.after_wrong_way = work_and_read();
    thaw(in_status);
    seen.after_right_way = work_and_read();
}

/* One PMI with this handler; true when exactly one came. */
static bool one_pmi(pmi_handler handler)
{
    unsigned before = pmu_pmi_count();
    seen = (typeof(seen)){0}; /* what the PMI before left */
    pmu_set_pmi_handler(handler, PMI_KEEP_RUNNING);
    pmu_write_overflow_in(0, OVERFLOW_AFTER);
    pmu_count(PMU_MASK(0), body_spin, ITERATIONS);
    wait_for_pmi(before + 1);
    value_u64("pmis", pmu_pmi_count() - before);
    return pmu_pmi_count() - before == 1;
}

static void check_without_freeze(void)
{
    bool one = one_pmi(read_twice);
    check(FREE_PMI, one);
    value_u64("first", seen.first);
    value_u64("second", seen.second);
    check(FREE_COUNTS, one && seen.second > seen.first);
}

/* The manual gives the bit to every version from 2 on. A hypervisor may report version 2 and refuse
 * it. */
static bool turn_freeze_on(void)
{
    uint64_t freeze = pmu_info()->kind->freeze;
    bool can = debugctl_takes(freeze);
    if (can)
        wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(freeze));
    return can;
}

static void check_with_freeze(void)
{
    bool in_status = pmu_info()->freeze_in_status;
    bool on = turn_freeze_on();
    if (!on && hypervisor_present()) {
        check_skip_all(
            FROZEN_PMI, RIGHT_WAY,
            "IA32_DEBUGCTL[12] cannot be set under this hypervisor (CPUID.1:ECX[31] = 1)");
        return;
    }
    value_str("debugctl_12", on ? "set" : "cannot be set");
    bool one = one_pmi(read_and_thaw);
    check(FROZEN_PMI, on && one);
    value_u64("first", seen.first);
    value_u64("second", seen.second);
    check(FROZEN_STANDS, one && seen.second == seen.first);

    bool frozen = seen.status & pmu_info()->kind->frozen;
    value_hex("global_ctrl", seen.global_ctrl);
    value_hex("status", seen.status);
    value_str("shows_in", in_status ? "the status" : "the enables");
    check(SHOWN, one && (in_status ? frozen && seen.global_ctrl == PMU_MASK(0)
                                   : !frozen && seen.global_ctrl == 0));

    value_str("tried", in_status ? "the enables" : "the reset of the status");
    value_u64("before", seen.second);
    value_u64("after", seen.after_wrong_way);
    check(WRONG_WAY, one && seen.after_wrong_way == seen.second);

    value_str("thawed_by", in_status ? "the reset of the status" : "the enables");
    value_u64("before", seen.after_wrong_way);
    value_u64("after", seen.after_right_way);
    check(RIGHT_WAY, one && seen.after_right_way > seen.after_wrong_way);
}

static void run(void)
{
    pmu_select(0, pmu_event(PMU_EVENT_INSTRUCTIONS) | FLAGS);
    check_without_freeze();
    check_with_freeze();
    pmu_dump("after both");
}
