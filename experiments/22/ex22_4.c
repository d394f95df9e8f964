/* Experiment 22-4 · Reset the PMU. */
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "lapic/lapic.h"
#include "pmu/debugctl.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/apic.h"
#include "x86/msr.h"

enum { MADE, REGISTERS, NOTHING, NO_PMI, ALL_COUNT };

static const char *const checks[] = {
    [MADE] = "each state is there before it is reset",
    [REGISTERS] = "after the reset every register reads what the recipe says",
    [NOTHING] = "nothing counts, closed or opened",
    [NO_PMI] = "no PMI comes",
    [ALL_COUNT] = "programmed and opened by mask, every counter counts exactly",
};

static void run(void);

const struct experiment ex22_4 = {
    .id = "22-4",
    .title = "Reset the PMU",
    .needs = NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
};

/*
 * A processor comes out of its reset with the PMU off, and seldom comes to its software so: a
 * firmware has counted, a hypervisor has given the registers of somebody else, a kernel before this
 * one was ended by kexec. So who takes the PMU over begins with a recipe (pmu_reset()): all off by
 * the one register that enables all, if there is one, the select and control registers to 0, the
 * counters to 0, sampling and branch records off, and only then the status cleared, so that nothing
 * sets it again; the LVT entry last. SDM vol. 3 "Architectural Performance Monitoring Version 2" to
 * "Version 4", vol. 4 "IA-32 Architectural MSRs".
 *
 * Each state that may be met is made here on purpose, seen to be there, and reset. What can go
 * wrong: a register is forgotten that stays without effect until another one is written; the
 * status is cleared before the counters are off; CTR_FRZ stays, and then nothing counts at all.
 *
 * While a state is made the LVT entry is masked: a PMI that has been delivered cannot be withdrawn
 * by any register.
 */
#define RINGS      (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define SELECT     (pmu_event(PMU_EVENT_INSTRUCTIONS) | RINGS)
#define ITERATIONS 500
#define SPIN       10000      /* iterations in which a PMI that is due has come */
#define NEAR       100        /* events before the wrap */
#define OTHER      0x31       /* a vector of somebody else's */
#define ODD_SELECT 0x03830f0f /* CMASK, INV, rings and an event; without EN */

static uint64_t counters; /* those that count instructions */

static const struct pmu_kind *kind(void)
{
    return pmu_info()->kind;
}

/* ---- The states ---- */

static void lvt_mask(void)
{
    lapic_write(APIC_LVT_PERFMON, APIC_LVT_MASK | OTHER);
}

/* fixed is the field of FIXED_CTR0. */
static void program_all(uint64_t general, uint64_t fixed)
{
    for (unsigned n = 0; n < pmu_info()->n_general; n++)
        pmu_select(n, general);
    if (pmu_has_fixed(0))
        pmu_select_fixed(fixed);
}

/* All have overflowed, ask for an interrupt, and count on. */
static bool make_counting(void)
{
    program_all(SELECT | PERFEVTSEL_INT,
                FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR | FIXED_CTR_CTRL_PMI);
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            pmu_write_overflow_in(counter, NEAR);
    pmu_open(counters);
    body_spin(SPIN);
    return (pmu_status() & counters) == counters && pmu_enabled() == counters;
}

/* Nothing is on, and nothing is 0. */
static bool make_values(void)
{
    bool all = true;
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            all = pmu_write(counter, pmu_counter_max(counter)) && all;
    for (unsigned n = 0; n < pmu_info()->n_general; n++) {
        wrmsr(pmu_select_msr(n), ODD_SELECT);
        all = rdmsr(pmu_select_msr(n)) == ODD_SELECT && all;
    }
    return all;
}

static bool can_freeze(void)
{
    return pmu_info()->freeze_in_status;
}

/* Frozen, with the status of overflows that nobody has handled; the counters are on. */
static bool make_frozen(void)
{
    program_all(SELECT, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    uint64_t wanted = counters | kind()->frozen;
    wrmsr(kind()->status_set, wanted);
    wrmsr(kind()->enable, counters);
    return (pmu_status() & wanted) == wanted;
}

#define DEBUGCTL_LEFT                                                                              \
    (DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_FREEZE_LBRS_ON_PMI | DEBUGCTL_FREEZE_PERFMON_ON_PMI)

static bool can_debugctl(void)
{
    return debugctl_takes(DEBUGCTL_LEFT) != 0;
}

/* Branches are recorded, single steps go by branches, and a PMI freezes. */
static bool make_debugctl(void)
{
    uint64_t taken = debugctl_takes(DEBUGCTL_LEFT);
    wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(taken));
    return (rdmsr(MSR_IA32_DEBUGCTL) & taken) == taken;
}

static bool can_pebs(void)
{
    return pmu_info()->pebs;
}

/* A counter is to sample, into memory that is somebody else's. */
static bool make_pebs(void)
{
    static uint64_t area[64];
    wrmsr(MSR_IA32_DS_AREA, (uint64_t)area);
    wrmsr(MSR_IA32_PEBS_ENABLE, PMU_MASK(0));
    return rdmsr(MSR_IA32_PEBS_ENABLE) == PMU_MASK(0) && rdmsr(MSR_IA32_DS_AREA) == (uint64_t)area;
}

static bool make_lvt(void)
{
    return !lapic_pmi_ready();
}

static bool always(void)
{
    return true;
}

static const struct state {
    const char *name;
    bool (*can)(void);
    bool (*make)(void);
} states[] = {
    {"counting, overflowed, INT", always, make_counting},
    {"values, nothing on", always, make_values},
    {"frozen by the status", can_freeze, make_frozen},
    {"IA32_DEBUGCTL", can_debugctl, make_debugctl},
    {"PEBS", can_pebs, make_pebs},
    {"LVT masked, another vector", always, make_lvt},
};
#define N_STATES (sizeof(states) / sizeof(states[0]))

/* ---- What the recipe says ---- */

static bool reads(uint32_t msr, uint64_t mask, uint64_t expected)
{
    uint64_t value = rdmsr(msr) & mask;
    if (value != expected)
        note("MSR %XH reads 0x%llx, not 0x%llx", (unsigned)msr, (unsigned long long)value,
             (unsigned long long)expected);
    return value == expected;
}

static bool counter_is_0(unsigned counter)
{
    bool select = counter >= GLOBAL_FIXED_SHIFT || reads(pmu_select_msr(counter), ~0ULL, 0);
    return reads(pmu_counter_msr(counter), ~0ULL, 0) && select;
}

/* Of the status what this recipe has to clear: CondChgd stays set on some processors. */
static bool registers_are_reset(void)
{
    const struct pmu_info *info = pmu_info();
    uint64_t status = pmu_all_counters() | GLOBAL_STATUS_OVF_BUF;
    if (info->freeze_in_status)
        status |= GLOBAL_STATUS_CTR_FRZ | GLOBAL_STATUS_LBR_FRZ; /* AMD: PMCF and LBRSF */
    bool all = enumerated_all(pmu_all_counters(), counter_is_0);
    if (info->global_ctrl)
        all = reads(kind()->enable, ~0ULL, 0) && reads(kind()->status, status, 0) && all;
    if (info->fixed_mask != 0)
        all = reads(kind()->fixed_ctrl, ~0ULL, 0) && all;
    if (can_debugctl())
        all = reads(MSR_IA32_DEBUGCTL, ~0ULL, debugctl_with(0)) && all;
    if (info->pebs)
        all = reads(MSR_IA32_PEBS_ENABLE, ~0ULL, 0) && reads(MSR_IA32_DS_AREA, ~0ULL, 0) && all;
    if (!lapic_pmi_ready())
        note("LVT perfmon reads 0x%x", (unsigned)lapic_read(APIC_LVT_PERFMON));
    return lapic_pmi_ready() && all;
}

static bool is_0(unsigned counter)
{
    return reads(pmu_counter_msr(counter), ~0ULL, 0);
}

static bool nothing_counts(void)
{
    body_mixed(ITERATIONS);
    bool closed = enumerated_all(pmu_all_counters(), is_0);
    pmu_count(pmu_all_counters(), body_mixed, ITERATIONS);
    return enumerated_all(pmu_all_counters(), is_0) && closed;
}

static bool no_pmi_comes(void)
{
    body_spin(SPIN);
    return pmu_pmi_count() == 0 && pmu_unexpected_count() == 0;
}

static uint64_t expected;

static bool counted_exactly(unsigned counter)
{
    if (pmu_read(counter) != expected)
        note("MSR %XH holds %llu", (unsigned)pmu_counter_msr(counter),
             (unsigned long long)pmu_read(counter));
    return pmu_read(counter) == expected;
}

static bool all_count(void)
{
    program_all(SELECT, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    count_exactly(counters, 0, body_mixed, ITERATIONS, expected);
    return enumerated_all(counters, counted_exactly);
}

static void run(void)
{
    bool made = true, reset = true, nothing = true, no_pmi = true, all = true;
    unsigned n = 0;
    counters = enumerated_general() | (pmu_has_fixed(0) ? PMU_MASK(PMU_FIXED(0)) : 0);
    expected = insns_in_window(counters, &body_mixed_insns, ITERATIONS);
    for (const struct state *s = states; s < states + N_STATES; s++) {
        if (!s->can()) {
            note("state \"%s\": not here", s->name);
            continue;
        }
        note("state \"%s\"", s->name);
        n++;
        lvt_mask();
        made = s->make() && made;
        pmu_reset();
        reset = registers_are_reset() && reset;
        nothing = nothing_counts() && nothing;
        no_pmi = no_pmi_comes() && no_pmi;
        all = all_count() && all;
        pmu_reset();
    }
    program_all(SELECT, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    uint64_t empty = count_empty(counters, 0);
    value_u64("states", n);
    check(MADE, made);
    check(REGISTERS, reset);
    check(NOTHING, nothing);
    check(NO_PMI, no_pmi);
    value_u64("from_the_listing", expected);
    if (!all)
        value_known_loss(empty, expected - 1, expected);
    check(ALL_COUNT, all);
}
