/* Experiment 22-7 · Set, in use, frozen. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

enum { SHOWN, NO_PMI, CLEARED, ASCI, UNUSED, IN_USE, PMI_IN_USE, STAND, GO_ON };

static const char *const checks[] = {
    [SHOWN] = "each bit of the status that is set shows there, and no other",
    [NO_PMI] = "none of them raises a PMI",
    [CLEARED] = "the reset of the status clears each of them, and no other",
    [ASCI] = "ASCI can be set and cleared",
    [UNUSED] = "with nothing programmed IA32_PERF_GLOBAL_INUSE is 0",
    [IN_USE] = "an event, or a ring of a fixed counter, sets its counter's bit, and no other",
    [PMI_IN_USE] = "INT, a fixed counter's PMI and PEBS set the PMI's bit",
    [STAND] = "frozen by the status all counters stand, and the enables keep their value",
    [GO_ON] = "thawed they go on where they were, exactly",
};

static void run(void);

const struct experiment ex22_7 = {
    .id = "22-7",
    .title = "Set, in use, frozen",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * What version 4 added for those who share a PMU (SDM vol. 3 "Architectural Performance Monitoring
 * Version 4"). IA32_PERF_GLOBAL_STATUS_SET writes bits into the status: a hypervisor needs that
 * to give a guest its status back, and must not cause an interrupt by it. IA32_PERF_GLOBAL_INUSE
 * tells who comes later what is taken: a general counter when its event select field is not 0,
 * a fixed one when a ring of it is enabled, the PMI when anything asks for one; whether it counts
 * now is another matter. And CTR_FRZ in the status stops all counters, set by a PMI or, as here, by
 * software, while IA32_PERF_GLOBAL_CTRL stays as it is.
 *
 * AMD's PerfMonV2 has the first and the last of the three, by PerfCntrGlobalStatusSet and its bit
 * PMCF (APM vol. 2 "Performance Monitoring Counters").
 *
 * What can go wrong: a set bit raises the PMI that its overflow would have raised; a bit of INUSE
 * follows EN, or INT, in place of the event; a frozen counter loses or adds an event as it stops or
 * goes on.
 */
#define EVENT         pmu_event(PMU_EVENT_INSTRUCTIONS)
#define SELECT        (EVENT | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define FIXED_ON      (FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR)
#define ITERATIONS    500
#define SPIN          10000 /* iterations in which a PMI that is due has come */
#define LEAF_FEATURES 0x07

static const struct pmu_kind *kind(void)
{
    return pmu_info()->kind;
}

/* ---- Set ---- */

static uint64_t settable(void)
{
    return pmu_all_counters() | (pmu_info()->freeze_in_status ? kind()->frozen : 0);
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
    wrmsr(kind()->status_set, ARCH_BIT(bit));
    bool right = status_is(ARCH_BIT(bit), "setting", bit);
    body_spin(SPIN); /* should there be a PMI after all */
    wrmsr(kind()->status_clear, settable());
    return right;
}

static bool clears(unsigned bit)
{
    wrmsr(kind()->status_set, settable());
    wrmsr(kind()->status_clear, ARCH_BIT(bit));
    bool right = status_is(settable() & ~ARCH_BIT(bit), "resetting", bit);
    wrmsr(kind()->status_clear, settable());
    return right;
}

/* Every counter asks for a PMI when it overflows. */
static void check_set(void)
{
    uint64_t fixed = 0;
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        pmu_select(n, SELECT | PERFEVTSEL_INT);
    for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
        if (pmu_has_fixed(i))
            fixed |= (uint64_t)(FIXED_ON | FIXED_CTR_CTRL_PMI) << (FIXED_CTR_CTRL_BITS * i);
    if (fixed != 0)
        pmu_select_fixed(fixed);

    value_hex("bits", settable());
    check(SHOWN, enumerated_all(settable(), shows));
    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    check(NO_PMI, pmu_pmi_count() == 0 && pmu_unexpected_count() == 0);
    check(CLEARED, enumerated_all(settable(), clears));
    pmu_reset();
}

/* SDM vol. 4 "IA-32 Architectural MSRs": the bit is there with SGX. */
static void check_asci(void)
{
    if (!(cpuid(LEAF_FEATURES, 0).ebx & CPUID_7_EBX_SGX)) {
        check_skip(ASCI, "no SGX, so no ASCI: CPUID.7:EBX[2] = 0");
        return;
    }
    wrmsr(kind()->status_set, GLOBAL_STATUS_ASCI);
    uint64_t set = pmu_status();
    wrmsr(kind()->status_clear, GLOBAL_STATUS_ASCI);
    uint64_t reset = pmu_status();
    value_hex("set", set);
    value_hex("reset", reset);
    check(ASCI, (set & GLOBAL_STATUS_ASCI) && !(reset & GLOBAL_STATUS_ASCI));
}

/* ---- In use ---- */

static bool in_use_is(uint64_t expected, const char *by, unsigned counter)
{
    uint64_t value = rdmsr(kind()->in_use) & (pmu_all_counters() | GLOBAL_INUSE_PMI);
    if (value != expected)
        note("%s of MSR %XH: in use is 0x%llx, not 0x%llx", by, (unsigned)pmu_counter_msr(counter),
             (unsigned long long)value, (unsigned long long)expected);
    return value == expected;
}

static bool general_in_use(unsigned n)
{
    uint32_t select = pmu_select_msr(n);
    wrmsr(select, EVENT); /* neither a ring nor EN */
    bool right = in_use_is(PMU_MASK(n), "the event", n);
    wrmsr(select, PERFEVTSEL_EN | PERFEVTSEL_USR | PERFEVTSEL_OS);
    right = in_use_is(0, "EN without an event", n) && right;
    wrmsr(select, 0);
    return in_use_is(0, "nothing", n) && right;
}

static bool counter_in_use(unsigned counter)
{
    if (counter < GLOBAL_FIXED_SHIFT)
        return general_in_use(counter);
    bool right = true;
    for (uint64_t ring = FIXED_CTR_CTRL_OS; ring <= FIXED_CTR_CTRL_USR; ring <<= 1) {
        pmu_select_fixed(ring << (FIXED_CTR_CTRL_BITS * (counter - GLOBAL_FIXED_SHIFT)));
        right = in_use_is(PMU_MASK(counter), "a ring", counter) && right;
    }
    pmu_select_fixed(0);
    return in_use_is(0, "nothing", counter) && right;
}

static bool pmi_in_use(unsigned counter)
{
    bool right;
    if (counter < GLOBAL_FIXED_SHIFT) {
        wrmsr(pmu_select_msr(counter), EVENT | PERFEVTSEL_INT);
        right = in_use_is(PMU_MASK(counter) | GLOBAL_INUSE_PMI, "INT", counter);
        wrmsr(pmu_select_msr(counter), 0);
        return right;
    }
    pmu_select_fixed((uint64_t)(FIXED_ON | FIXED_CTR_CTRL_PMI)
                     << (FIXED_CTR_CTRL_BITS * (counter - GLOBAL_FIXED_SHIFT)));
    right = in_use_is(PMU_MASK(counter) | GLOBAL_INUSE_PMI, "PMI", counter);
    pmu_select_fixed(0);
    return right;
}

/* IA32_PMC0's: every processor with PEBS has that one. */
static bool pebs_in_use(void)
{
    if (!pmu_info()->pebs)
        return true;
    wrmsr(MSR_IA32_PEBS_ENABLE, PMU_MASK(0));
    bool right = in_use_is(GLOBAL_INUSE_PMI, "PEBS", 0);
    wrmsr(MSR_IA32_PEBS_ENABLE, 0);
    return right;
}

static void check_in_use(void)
{
    if (kind()->in_use == 0) {
        check_skip_all(UNUSED, PMI_IN_USE, "no IA32_PERF_GLOBAL_INUSE: CPUID.0AH:EAX[7:0] < 4");
        return;
    }
    check_equal(UNUSED, "in_use", rdmsr(kind()->in_use), 0);
    value_hex("counters", pmu_all_counters());
    check(IN_USE, enumerated_all(pmu_all_counters(), counter_in_use));
    bool all = enumerated_all(pmu_all_counters(), pmi_in_use);
    value_str("pebs", "%s", pmu_info()->pebs ? "tried" : pmu_info()->no_pebs);
    check(PMI_IN_USE, pebs_in_use() && all);
}

/* ---- Frozen ---- */

static uint64_t counters, expected; /* counters: those that count instructions */

static bool all_hold(uint64_t value)
{
    bool all = true;
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            all = pmu_read(counter) == value && all;
    return all;
}

struct freeze {
    uint64_t counted, frozen, thawed; /* general counter 0 behind each window */
    uint64_t enabled;                 /* what the enables hold while frozen */
    bool before, stand, go_on;
};

/* The function three times, with the counters running, frozen, and running again. */
static struct freeze freeze_and_thaw(void)
{
    struct freeze f;
    count_from_0(counters, body_mixed, ITERATIONS);
    f.before = all_hold(expected);
    f.counted = pmu_read(0);

    wrmsr(kind()->status_set, kind()->frozen);
    wrmsr(kind()->enable, counters);
    f.enabled = rdmsr(kind()->enable);
    wrmsr(kind()->enable, 0);
    pmu_count(counters, body_mixed, ITERATIONS);
    f.stand = f.before && all_hold(expected);
    f.frozen = pmu_read(0);

    wrmsr(kind()->status_clear, kind()->frozen);
    pmu_count(counters, body_mixed, ITERATIONS);
    f.go_on = f.before && all_hold(2 * expected);
    f.thawed = pmu_read(0);
    return f;
}

static void check_frozen(void)
{
    counters = enumerated_general() | (pmu_has_fixed(0) ? PMU_MASK(PMU_FIXED(0)) : 0);
    expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        pmu_select(n, SELECT);
    if (pmu_has_fixed(0))
        pmu_select_fixed(FIXED_ON);
    uint64_t empty = count_empty(counters, 0);
    struct freeze f;
    struct take take = take_begin();
    do
        f = freeze_and_thaw();
    while (take_again(&take, f.stand && f.go_on));

    value_hex("global_ctrl", f.enabled);
    value_u64("counted", f.counted);
    value_known_loss(empty, f.counted, expected);
    value_u64("from_the_listing", expected);
    value_u64("frozen", f.frozen);
    check(STAND, f.stand && f.enabled == counters);
    value_known_loss(empty, f.counted, expected);
    value_u64("thawed", f.thawed);
    value_u64("twice", 2 * expected);
    check(GO_ON, f.go_on);
}

static void run(void)
{
    if (kind()->status_set == 0) {
        check_skip_all(SHOWN, GO_ON, "no IA32_PERF_GLOBAL_STATUS_SET: CPUID.0AH:EAX[7:0] < 4");
        return;
    }
    check_set();
    check_asci();
    check_in_use();
    if (pmu_info()->freeze_in_status)
        check_frozen();
    else
        check_skip_all(STAND, GO_ON, "%s", pmu_info()->no_freeze);
}
