/* Experiment 22-10 · Auto counter reload. */
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/elsewhere.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "pmu/reload.h"
#include "x86/msr.h"

enum { REGISTERS, REFUSED, RELOADED, GOES_ON, STATUS, ONE_PMI, OTHER_CAUSE, ITSELF, OFF };

static const char *const checks[] = {
    [REGISTERS] = "each counter that can be reloaded takes each cause, and a value",
    [REFUSED] = "a counter that cannot cause a reload is #GP there, and changes nothing",
    [RELOADED] = "the overflow of each cause gives each of them the value, as ones above bit 31",
    [GOES_ON] = "from there it counts on exactly, and overflows at the event that was asked for",
    [STATUS] = "the status has the cause's bit and not that of the reloaded counter",
    [ONE_PMI] = "with INT the cause raises one PMI, as ever",
    [OTHER_CAUSE] = "the overflow of a counter that is not among its causes leaves it alone",
    [ITSELF] = "one that reloads itself stays within its period, and sets no bit",
    [OFF] = "without a cause none is reloaded any more",
};

static void run(void);

const struct experiment ex22_10 = {
    .id = "22-10",
    .title = "Auto counter reload",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_INSTRUCTIONS | NEED_PMI,
    CHECKS(checks),
    .run = run,
    .elsewhere = true,
};

/*
 * IA32_PMC_GPn_CFG_B has a bit for each counter whose overflow gives counter n a new value:
 * IA32_PMC_GPn_CFG_C[31:0], the bits above becoming ones (fixed counters: IA32_PMC_FXm_CFG_B and
 * _CFG_C). So one counter can start another's period anew: of two, the one that overflows first
 * wins, and a sample is taken only where events came fast enough. CPUID.23H.2 says which
 * counters can be reloaded and which can do it. SDM vol. 3 "Auto Counter Reload"; Linux
 * arch/x86/events/intel/core.c, intel_pmu_acr_late_setup() and what it calls.
 *
 * How late after an overflow the reload comes, nobody promises. So the target counts ring 3 alone
 * while the cause overflows in ring 0: it stands, and must hold just the value. Then it counts both
 * rings, alone, and must go on from there to the instruction, across its own overflow.
 *
 * One that is its own cause sets no bit in IA32_PERF_GLOBAL_STATUS; what it did in its periods
 * is only seen by where it stands. INT stays clear there: a PMI would have no cause to be seen by
 * (Linux leaves it clear for that).
 *
 * Of a hybrid processor the efficient cores alone may have it: then it runs on the first of them.
 *
 * What can go wrong: the neighbour is reloaded, or by the wrong counter; the upper bits are zeros,
 * and the target needs 2^32 events more; a reload counts as an overflow; the registers stay in
 * force when the next one uses the counter.
 */
#define ITERATIONS 500
#define START      0x1234 /* what a target holds before */
#define PERIOD     777    /* events from the reload to the target's own overflow */
#define NEAR       8      /* events to the cause's */
#define TIMEOUT_MS 5000   /* on another processor */

static uint64_t expected, empty;

static bool counts_instructions(unsigned counter)
{
    return counter < GLOBAL_FIXED_SHIFT || counter == PMU_FIXED(0);
}

/* ---- Programming ---- */

static uint64_t fixed_ctrl;

/* rings: FIXED_CTR_CTRL_OS, _USR, and _PMI for INT; general counters count instructions. */
static void program(unsigned counter, unsigned rings)
{
    if (counter < GLOBAL_FIXED_SHIFT) {
        pmu_select(counter, EVENT_INST_RETIRED_ANY_P |
                                (rings & FIXED_CTR_CTRL_OS ? PERFEVTSEL_OS : 0) |
                                (rings & FIXED_CTR_CTRL_USR ? PERFEVTSEL_USR : 0) |
                                (rings & FIXED_CTR_CTRL_PMI ? PERFEVTSEL_INT : 0));
        return;
    }
    unsigned at = FIXED_CTR_CTRL_BITS * (counter - GLOBAL_FIXED_SHIFT);
    fixed_ctrl = (fixed_ctrl & ~(0xfULL << at)) | (uint64_t)rings << at;
    pmu_select_fixed(fixed_ctrl);
}

static void begin(void)
{
    pmu_reset();
    fixed_ctrl = 0;
}

static uint64_t reload_value(unsigned counter)
{
    return pmu_counter_max(counter) - PERIOD + 1;
}

/* Lets the cause overflow while the target stands; gives the status. */
static uint64_t let_overflow(unsigned target, unsigned cause, unsigned pmi)
{
    program(target, FIXED_CTR_CTRL_USR);
    program(cause, FIXED_CTR_CTRL_OS | pmi);
    pmu_write(target, START);
    pmu_write_overflow_in(cause, NEAR);
    pmu_count(PMU_MASK(target) | PMU_MASK(cause), body_mixed, ITERATIONS);
    return pmu_status() & pmu_all_counters();
}

/* ---- The registers ---- */

static bool holds(uint32_t msr, uint64_t value)
{
    uint64_t back = 0;
    bool taken = wrmsr_safe(msr, value) && rdmsr_safe(msr, &back);
    if (!taken || back != value)
        note("MSR %XH: wrote 0x%llx, %s, reads 0x%llx", (unsigned)msr, (unsigned long long)value,
             taken ? "taken" : "#GP", (unsigned long long)back);
    return taken && back == value;
}

static bool takes_all(unsigned target)
{
    bool all = holds(reload_causes_msr(target), reload_causes());
    for (unsigned cause = 0; reload_causes() >> cause; cause++)
        if (reload_causes() & PMU_MASK(cause))
            all = holds(reload_causes_msr(target), PMU_MASK(cause)) && all;
    for (uint64_t bit = 1; bit <= PMC_CFG_C_RELOAD; bit <<= 1)
        all = holds(reload_value_msr(target), bit) && all;
    all = holds(reload_value_msr(target), 0) && all;
    return holds(reload_causes_msr(target), 0) && all;
}

/* Of the counters that are there. */
static uint64_t no_causes(void)
{
    return pmu_all_counters() & ~reload_causes();
}

static bool refuses_others(unsigned target)
{
    uint32_t msr = reload_causes_msr(target);
    bool all = true;
    for (unsigned other = 0; no_causes() >> other; other++)
        if ((no_causes() & PMU_MASK(other)) &&
            (wrmsr_safe(msr, PMU_MASK(other)) || rdmsr(msr) != 0)) {
            note("MSR %XH takes bit %u", (unsigned)msr, other);
            wrmsr(msr, 0);
            all = false;
        }
    return all;
}

static void check_registers(void)
{
    value_hex("targets", reload_targets());
    value_hex("causes", reload_causes());
    check(REGISTERS, enumerated_all(reload_targets(), takes_all));
    if (no_causes() == 0) {
        check_skip(REFUSED, "all counters can cause a reload: CPUID.23H.2:ECX, EDX");
        return;
    }
    value_hex("no_causes", no_causes());
    check(REFUSED, enumerated_all(reload_targets(), refuses_others));
}

/* ---- Reloading ---- */

struct seen {
    bool reloaded, goes_on, status;
};

static struct seen see(unsigned target, unsigned cause)
{
    struct seen s = {.goes_on = true};
    begin();
    bool on = reload_on(target, PMU_MASK(cause), PERIOD);
    uint64_t status = let_overflow(target, cause, 0);
    uint64_t value = pmu_read(target);
    s.reloaded = on && value == reload_value(target);
    s.status = status == PMU_MASK(cause);
    if (!s.reloaded || !s.status)
        note("MSR %XH reloaded by MSR %XH: 0x%llx, not 0x%llx, status 0x%llx",
             (unsigned)pmu_counter_msr(target), (unsigned)pmu_counter_msr(cause),
             (unsigned long long)value, (unsigned long long)reload_value(target),
             (unsigned long long)status);
    if (!counts_instructions(target))
        return s;

    program(target, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    pmu_status_reset(pmu_all_counters());
    pmu_count(PMU_MASK(target), body_mixed, ITERATIONS);
    value = pmu_read(target);
    status = pmu_status() & pmu_all_counters();
    s.goes_on = s.reloaded && value == expected - PERIOD && status == PMU_MASK(target);
    if (s.reloaded && !s.goes_on)
        note("MSR %XH goes on to 0x%llx, not 0x%llx, status 0x%llx",
             (unsigned)pmu_counter_msr(target), (unsigned long long)value,
             (unsigned long long)(expected - PERIOD), (unsigned long long)status);
    return s;
}

static void check_reloads(void)
{
    bool reloaded = true, goes_on = true, status = true;
    unsigned pairs = 0;
    for (unsigned target = 0; reload_targets() >> target; target++)
        for (unsigned cause = 0; reload_causes() >> cause; cause++) {
            if (!(reload_targets() & PMU_MASK(target)) || !(reload_causes() & PMU_MASK(cause)) ||
                cause == target)
                continue;
            struct seen s;
            struct take take = take_begin();
            do
                s = see(target, cause);
            while (take_again(&take, s.reloaded && s.goes_on && s.status));
            pairs++;
            reloaded = s.reloaded && reloaded;
            goes_on = s.goes_on && goes_on;
            status = s.status && status;
        }
    value_u64("pairs", pairs);
    value_u64("period", PERIOD);
    check(RELOADED, reloaded && pairs != 0);
    value_known_loss(empty, expected - 1, expected);
    value_u64("from_the_listing", expected);
    check(GOES_ON, goes_on && pairs != 0);
    value_u64("pairs", pairs);
    check(STATUS, status && pairs != 0);
}

/* ---- One target ---- */

static unsigned lowest(uint64_t counters)
{
    return (unsigned)__builtin_ctzll(counters);
}

static uint64_t status_in_handler;

static void on_pmi(const struct pmi *pmi)
{
    status_in_handler |= pmi->status & pmu_all_counters();
}

static void check_pmi(unsigned target, unsigned cause)
{
    begin();
    status_in_handler = 0;
    pmu_set_pmi_handler(on_pmi, PMI_STOP);
    bool on = reload_on(target, PMU_MASK(cause), PERIOD);
    let_overflow(target, cause, FIXED_CTR_CTRL_PMI);
    wait_for_pmi(1);
    value_u64("pmis", pmu_pmi_count());
    value_u64("unexpected", pmu_unexpected_count());
    value_hex("status_in_handler", status_in_handler);
    check(ONE_PMI, on && pmu_pmi_count() == 1 && pmu_unexpected_count() == 0 &&
                       status_in_handler == PMU_MASK(cause) &&
                       pmu_read(target) == reload_value(target));
}

/* What the target holds when this cause has overflowed and those of its register are others. */
static uint64_t left_alone(unsigned target, uint64_t causes, unsigned cause)
{
    begin();
    reload_on(target, PMU_MASK(cause), PERIOD); /* the value stays in its register */
    wrmsr(reload_causes_msr(target), causes);
    let_overflow(target, cause, 0);
    return pmu_read(target);
}

static void check_itself(void)
{
    uint64_t able = reload_targets() & reload_causes();
    if (able == 0) {
        check_skip(ITSELF, "none can reload itself: CPUID.23H.2");
        return;
    }
    unsigned counter = lowest(able);
    begin();
    bool on = reload_on(counter, PMU_MASK(counter), PERIOD);
    program(counter, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    pmu_write_overflow_in(counter, PERIOD);
    pmu_count(PMU_MASK(counter), body_mixed, ITERATIONS);
    uint64_t value = pmu_read(counter), status = pmu_status() & pmu_all_counters();
    value_u64("counted", expected);
    value_u64("period", PERIOD);
    value_hex("at", value);
    value_u64("behind_the_last_reload", value - reload_value(counter));
    value_u64("if_each_comes_at_once", expected % PERIOD);
    value_hex("status", status);
    check(ITSELF, on && value >= reload_value(counter) && status == 0);
}

static void try_all(void)
{
    check_registers();
    expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    begin();
    program(0, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    empty = count_empty(PMU_MASK(0), 0);
    check_reloads();

    unsigned target = lowest(reload_targets());
    uint64_t others = reload_causes() & ~PMU_MASK(target);
    unsigned cause = lowest(others);
    check_pmi(target, cause);
    pmu_dump("after the reload");
    uint64_t rest = others & ~PMU_MASK(cause);
    if (rest == 0)
        check_skip(OTHER_CAUSE, "there is but one cause: CPUID.23H.2:ECX, EDX");
    else
        check_equal(OTHER_CAUSE, "target", left_alone(target, rest, cause), START);
    check_itself();
    check_equal(OFF, "target", left_alone(target, 0, cause), START);
}

static void run(void)
{
    const char *missing = run_where(reload_missing, try_all, TIMEOUT_MS);
    if (missing != NULL)
        check_skip_all(REGISTERS, OFF, "%s", missing);
}
