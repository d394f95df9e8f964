/* Experiment 22-6 · Widths and the wrap. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"

enum {
    OLD_ADDRESS,
    FULL_WIDTH,
    FULL_WIDTH_PAST,
    FIXED_WIDTH,
    FIXED_PAST,
    WRAP_OLD,
    WRAP_FULL,
    WRAP_FIXED,
    LAST_EVENT,
    NEXT_EVENT,
};

static const char *const checks[] = {
    [OLD_ADDRESS] = "the old address takes 32 bits and extends bit 31 up to the width",
    [FULL_WIDTH] = "the full-width address takes each bit of the width alone",
    [FULL_WIDTH_PAST] = "a bit more there is #GP or, where no manual says so, never kept",
    [FIXED_WIDTH] = "a fixed counter takes each bit of the width alone",
    [FIXED_PAST] = "a bit more in a fixed counter is #GP, and leaves it alone",
    [WRAP_OLD] =
        "started by the old address, each counts exactly across its wrap; a status has its own bit",
    [WRAP_FULL] = "started by the full-width address, it does so too",
    [WRAP_FIXED] = "fixed counter 0 does so too",
    [LAST_EVENT] = "the event before the wrap leaves each at its maximum, and no bit set",
    [NEXT_EVENT] = "the event of the wrap leaves each at 0; a status has its own bit",
};

static void run(void);

const struct experiment ex22_6 = {
    .id = "22-6",
    .title = "Widths and the wrap",
    .needs = NEED_PMU | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * A counter is written through up to two doors. By the old address, IA32_PMCx, a write takes 32
 * bits, and all above are copies of bit 31: what lies between 2^31 and the upper 2^31 cannot be
 * written. By IA32_A_PMCx (IA32_PERF_CAPABILITIES[13]) it takes the whole width, and a bit above is
 * reserved. SDM vol. 3 "Full-Width Writes to Performance Counter Registers"; for the fixed counters
 * "Architectural Performance Monitoring Version 2": bits beyond the width "are reserved and must be
 * written as zeros". AMD's counters have the one address, which takes the whole width; what a bit
 * above does is not told (APM vol. 2 "Performance Monitoring Counters"), and software has always
 * written negative numbers there: so it need not be refused.
 *
 * Each counter is then started shortly before its wrap, in the same window as all the others, which
 * start at 0: across the wrap it must lose nothing, and the one bit that gets set in
 * IA32_PERF_GLOBAL_STATUS must be its own. Set without INT: the status is of the carry, INT of the
 * interrupt ("IA32_PERF_GLOBAL_STATUS"). At last the wrap is hit to the instruction, from both
 * sides. Where no register enables all, each has a window of its own, and there is no status.
 *
 * What can go wrong: a width that is not CPUID's, a counter that stops at its maximum or loses what
 * it counts while it wraps, a status bit of another counter, or one event too early.
 */
#define RINGS      (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define SELECT     (pmu_event(PMU_EVENT_INSTRUCTIONS) | RINGS)
#define ITERATIONS 500
#define OLD_BITS   32

/* ---- Writes ---- */

static bool reads_back(unsigned counter, uint32_t msr, uint64_t written, uint64_t expected)
{
    bool taken = wrmsr_safe(msr, written);
    uint64_t back = pmu_read(counter);
    if (!taken || back != expected)
        note("MSR %XH: wrote 0x%llx, %s, reads 0x%llx, not 0x%llx", (unsigned)msr,
             (unsigned long long)written, taken ? "taken" : "#GP", (unsigned long long)back,
             (unsigned long long)expected);
    return taken && back == expected;
}

static uint64_t sign_extended(unsigned counter, uint32_t written)
{
    return (uint64_t)(int64_t)(int32_t)written & pmu_counter_max(counter);
}

static bool old_address_holds(unsigned counter)
{
    static const uint32_t limits[] = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
    bool all = true;
    for (unsigned i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        all = reads_back(counter, pmu_old_counter_msr(counter), limits[i],
                         sign_extended(counter, limits[i])) &&
              all;
    for (unsigned bit = 0; bit < OLD_BITS; bit++)
        all = reads_back(counter, pmu_old_counter_msr(counter), 1u << bit,
                         sign_extended(counter, 1u << bit)) &&
              all;
    return all;
}

/* Where a counter takes its whole width. */
static uint32_t full_width_msr(unsigned counter)
{
    bool alias = counter < GLOBAL_FIXED_SHIFT && pmu_info()->full_width_write;
    return alias ? pmu_bank_msr(&pmu_info()->kind->full_width, counter)
                 : pmu_old_counter_msr(counter);
}

/* An address by which a write is cut to 32 bits. */
static bool has_old_address(void)
{
    return pmu_info()->kind->written_bits == OLD_BITS;
}
#define NO_OLD_ADDRESS "the counters have one address, which takes their whole width"

static bool full_width_holds(unsigned counter)
{
    uint32_t msr = full_width_msr(counter);
    uint64_t max = pmu_counter_max(counter);
    bool all = reads_back(counter, msr, max, max) && reads_back(counter, msr, 0, 0);
    for (uint64_t bit = 1; bit != 0 && bit <= max; bit <<= 1)
        all = reads_back(counter, msr, bit, bit) &&
              reads_back(counter, msr, max ^ bit, max ^ bit) && all;
    return all;
}

/* Each bit past the width, to a counter that holds a value. */
static bool refuses_past(unsigned counter)
{
    const uint64_t value = 0x5a5a5a;
    uint32_t msr = full_width_msr(counter);
    bool all = true;
    pmu_write(counter, value);
    for (uint64_t bit = pmu_counter_max(counter) + 1; bit != 0; bit <<= 1)
        if (wrmsr_safe(msr, bit | value) || pmu_read(counter) != value) {
            note("MSR %XH: 0x%llx is taken, reads 0x%llx", (unsigned)msr,
                 (unsigned long long)(bit | value), (unsigned long long)pmu_read(counter));
            all = false;
        }
    return all;
}

/* It never holds the bit, whether the write is refused or not; the others stay. */
static bool drops_past(unsigned counter)
{
    const uint64_t value = 0x5a5a5a;
    bool all = true;
    for (uint64_t bit = pmu_counter_max(counter) + 1; bit != 0; bit <<= 1) {
        pmu_write(counter, value);
        wrmsr_safe(pmu_old_counter_msr(counter), bit | value);
        all = pmu_read(counter) == value && all;
    }
    return all;
}

/* KVM takes a write to a fixed counter and drops what is past the width (Linux
 * arch/x86/kvm/vmx/pmu_intel.c, intel_pmu_set_msr()). The manual says that software must not write
 * it; that it faults it says of reserved bits in general (vol. 2 "WRMSR"). */
static void check_fixed_past(void)
{
    if (pmu_info()->fixed_width == 64) {
        check_skip(FIXED_PAST, "no bit past the width: CPUID.0AH:EDX[12:5] = 64");
        return;
    }
    bool guest = hypervisor_present();
    bool right = enumerated_all(enumerated_fixed(), refuses_past);
    if (!right && guest) {
        right = enumerated_all(enumerated_fixed(), drops_past);
        if (right)
            value_str("known", "a hypervisor takes the write and drops the bit: KVM");
    }
    check(FIXED_PAST, right);
}

static void check_writes(const struct pmu_info *info)
{
    if (has_old_address()) {
        value_u64("width", info->general_width);
        check(OLD_ADDRESS, enumerated_all(enumerated_general(), old_address_holds));
    } else {
        check_skip(OLD_ADDRESS, NO_OLD_ADDRESS);
    }
    if (!counter_has_wide_door()) {
        check_skip_all(FULL_WIDTH, FULL_WIDTH_PAST,
                       "no full-width writes: IA32_PERF_CAPABILITIES[13] = 0");
    } else {
        value_u64("width", info->general_width);
        check(FULL_WIDTH, enumerated_all(enumerated_general(), full_width_holds));
        if (info->general_width == 64)
            check_skip(FULL_WIDTH_PAST, "no bit past the width: CPUID.0AH:EAX[23:16] = 64");
        else
            check(FULL_WIDTH_PAST, enumerated_all(enumerated_general(),
                                                  has_old_address() ? refuses_past : drops_past));
    }
    if (info->fixed_mask == 0) {
        check_skip_all(FIXED_WIDTH, FIXED_PAST, "%s", info->no_fixed);
        return;
    }
    value_u64("width", info->fixed_width);
    check(FIXED_WIDTH, enumerated_all(enumerated_fixed(), full_width_holds));
    check_fixed_past();
}

/* ---- The wrap ---- */

/* counters: those that count instructions, each of which are counted in each window. */
static uint64_t counters, expected;
/* Which door starts a general counter, and how far before the wrap. */
static bool by_old_address;
static uint64_t before;

static void start(unsigned counter)
{
    uint64_t value = pmu_counter_max(counter) - before + 1;
    if (counter < GLOBAL_FIXED_SHIFT && by_old_address)
        wrmsr_safe(pmu_old_counter_msr(counter), (uint32_t)value);
    else
        wrmsr_safe(full_width_msr(counter), value);
}

/* Counts the function with all, this one so many events before its wrap. It must end at value with
 * just the bits of carried set in the status. */
static bool ends_with(unsigned counter, uint64_t value, uint64_t carried)
{
    uint64_t opened = pmu_info()->global_ctrl ? counters : PMU_MASK(counter);
    uint64_t status = pmu_info()->kind->status != 0 ? carried : 0;
    struct take take = take_begin();
    bool right;
    do {
        for (unsigned other = 0; counters >> other; other++)
            if (counters & PMU_MASK(other))
                pmu_write(other, 0);
        start(counter);
        pmu_status_reset(pmu_all_counters());
        pmu_count(opened, body_mixed, ITERATIONS);
        right = pmu_read(counter) == value && (pmu_status() & pmu_all_counters()) == status;
    } while (take_again(&take, right));
    if (!right)
        note("MSR %XH ends at 0x%llx with status 0x%llx, not at 0x%llx with 0x%llx",
             (unsigned)pmu_counter_msr(counter), (unsigned long long)pmu_read(counter),
             (unsigned long long)pmu_status(), (unsigned long long)value,
             (unsigned long long)status);
    return right;
}

/* Half of the events lie before the wrap. */
static bool wraps(unsigned counter)
{
    before = expected / 2;
    return ends_with(counter, expected - before, PMU_MASK(counter));
}

static bool stops_at_maximum(unsigned counter)
{
    before = expected + 1;
    return ends_with(counter, pmu_counter_max(counter), 0);
}

static bool stops_at_0(unsigned counter)
{
    before = expected;
    return ends_with(counter, 0, PMU_MASK(counter));
}

static uint64_t empty;

static void check_wrap(unsigned which, uint64_t of, bool (*holds)(unsigned counter))
{
    value_hex("counters", of);
    value_u64("counted", expected);
    bool right = enumerated_all(of, holds);
    if (!right)
        value_known_loss(empty, expected - 1, expected);
    check(which, right);
}

static void check_wraps(void)
{
    by_old_address = true;
    if (has_old_address())
        check_wrap(WRAP_OLD, enumerated_general(), wraps);
    else
        check_skip(WRAP_OLD, NO_OLD_ADDRESS);
    by_old_address = !counter_has_wide_door();
    if (by_old_address)
        check_skip(WRAP_FULL, "no full-width writes: IA32_PERF_CAPABILITIES[13] = 0");
    else
        check_wrap(WRAP_FULL, enumerated_general(), wraps);
    if (pmu_has_fixed(0))
        check_wrap(WRAP_FIXED, PMU_MASK(PMU_FIXED(0)), wraps);
    else
        check_skip(WRAP_FIXED, "%s", pmu_no_fixed(0));
    check_wrap(LAST_EVENT, counters, stops_at_maximum);
    check_wrap(NEXT_EVENT, counters, stops_at_0);
}

static void run(void)
{
    const struct pmu_info *info = pmu_info();
    check_writes(info);

    expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    counters = enumerated_general() | (pmu_has_fixed(0) ? PMU_MASK(PMU_FIXED(0)) : 0);
    for (unsigned n = 0; n < info->n_general; n++)
        pmu_select(n, SELECT);
    if (pmu_has_fixed(0))
        pmu_select_fixed(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    empty = count_empty(info->global_ctrl ? counters : PMU_MASK(0), 0);
    check_wraps();
    pmu_dump("after the last wrap");
}
