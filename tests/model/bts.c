/* The branch trace store. */
#include "tests/model/ds.h"
#include "tests/model/rig.h"
#include "x86/apic.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#define RECORD    24
#define PREDICTED ARCH_BIT(4)
#define STORE     (DEBUGCTL_TR | DEBUGCTL_BTS)

static const char *const profiles[] = {"core2",   "westmere", "sandybridge",   "haswell",
                                       "skylake", "icelake",  "sapphirerapids"};
#define FOR_EACH_PROFILE(p) for (unsigned p = 0; p < LENGTH(profiles); p++)

/* A buffer for four records; threshold in records, past the maximum when more than four. */
static void set_up(const char *profile, unsigned threshold, uint64_t debugctl)
{
    rig_start(profile, "pmu.skid=0", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    poke(DS_BTS_BASE, BTS_BUFFER);
    poke(DS_BTS_INDEX, BTS_BUFFER);
    poke(DS_BTS_MAXIMUM, BTS_BUFFER + 4 * RECORD + 1);
    poke(DS_BTS_THRESHOLD, BTS_BUFFER + threshold * RECORD);
    write_msr(MSR_IA32_DS_AREA, DS_AREA);
    write_msr(MSR_IA32_DEBUGCTL, debugctl);
}

/* Branches number first to last, and the PMIs that they ask for. */
static void branches(unsigned first, unsigned last)
{
    for (unsigned i = first; i <= last; i++) {
        branch(BR_JMP_REL, 0x1000 * i, 0x1000 * i + 8);
        pmu_update(rig.pmu);
    }
}

static uint64_t used(void)
{
    return peek(DS_BTS_INDEX) - BTS_BUFFER;
}

static void records_need_tr_and_bts(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        const uint64_t controls[] = {DEBUGCTL_TR, DEBUGCTL_BTS, STORE};
        for (unsigned i = 0; i < LENGTH(controls); i++) {
            set_up(profiles[p], 9, controls[i]);
            branches(1, 1);
            CHECK_EQUAL(used(), controls[i] == STORE ? RECORD : 0, "DEBUGCTL %#llx",
                        (unsigned long long)controls[i]);
        }
    }
}

/* From, to, flags; the predicted bit is "not supported by Intel Core microarchitecture". */
static void record_layout(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        set_up(profiles[p], 9, STORE);
        predicted_branch(BR_JCC, 0xffff900000000001ULL, 0x4000000002, false);
        predicted_branch(BR_JCC, 3, 4, true);
        CHECK_EQUAL(peek(BTS_BUFFER), 0xffff900000000001ULL, "from");
        CHECK_EQUAL(peek(BTS_BUFFER + 8), 0x4000000002, "to");
        CHECK_EQUAL(peek(BTS_BUFFER + 16), p == 0 ? 0 : PREDICTED, "predicted");
        CHECK_EQUAL(peek(BTS_BUFFER + RECORD + 16), 0, "mispredicted");
    }
}

static void pmi_at_the_threshold(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        set_up(profiles[p], 3, STORE | DEBUGCTL_BTINT);
        branches(1, 2);
        CHECK_EQUAL(pmis(), 0, "below the threshold");
        branches(3, 3);
        CHECK_EQUAL(pmis(), 1, "at the threshold");
        CHECK_EQUAL(used(), 3 * RECORD, "index");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS) & GLOBAL_STATUS_OVF_BUF, 0,
                    "OvfBuf is of PEBS");
    }
}

static void full_buffer_with_btint_takes_no_more(void **state)
{
    (void)state;
    set_up("westmere", 3, STORE | DEBUGCTL_BTINT);
    branches(1, 9);
    CHECK_EQUAL(used(), 4 * RECORD, "index");
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQUAL(peek(BTS_BUFFER + i * RECORD), 0x1000 * (i + 1), "record %u", i);
    CHECK_EQUAL(peek(BTS_BUFFER + 4 * RECORD), 0, "nothing behind the maximum");
    poke(DS_BTS_INDEX, BTS_BUFFER);
    branches(10, 10);
    CHECK_EQUAL(peek(BTS_BUFFER), 0xa000, "it goes on when software has reset the index");
}

static void circular_buffer_wraps(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        set_up(profiles[p], 9, STORE);
        branches(1, 6);
        CHECK_EQUAL(used(), 2 * RECORD, "index");
        CHECK_EQUAL(peek(BTS_BUFFER), 0x5000, "the newest over the oldest");
        CHECK_EQUAL(peek(BTS_BUFFER + 2 * RECORD), 0x3000, "the oldest that is left");
        CHECK_EQUAL(pmis(), 0, "PMIs");
    }
}

/* "It's not enough to clear the BTINT flag itself only." */
static void threshold_counts_without_btint(void **state)
{
    (void)state;
    set_up("westmere", 3, STORE);
    branches(1, 3);
    CHECK_EQUAL(pmis(), 1, "PMIs");
}

static void ring_filters(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        set_up(profiles[p], 9, STORE | DEBUGCTL_BTS_OFF_OS);
        branches(1, 1);
        CHECK_EQUAL(used(), 0, "BTS_OFF_OS in ring 0");
        rig.cpu->cpl = 3;
        branches(1, 1);
        CHECK_EQUAL(used(), RECORD, "BTS_OFF_OS in ring 3");
        rig.cpu->cpl = 0;
        write_msr(MSR_IA32_DEBUGCTL, STORE | DEBUGCTL_BTS_OFF_USR);
        branches(1, 1);
        CHECK_EQUAL(used(), 2 * RECORD, "BTS_OFF_USR in ring 0");
        rig.cpu->cpl = 3;
        branches(1, 1);
        CHECK_EQUAL(used(), 2 * RECORD, "BTS_OFF_USR in ring 3");
        rig.cpu->cpl = 0;
    }
}

/* "A #DB does not automatically clear the TR flag." */
static void debug_exception_is_stored(void **state)
{
    (void)state;
    set_up("westmere", 9, STORE | DEBUGCTL_LBR);
    pmu_debug_exception(rig.pmu);
    branch(BR_EXCEPTION, 0x1000, 0x2000);
    CHECK_EQUAL(peek(BTS_BUFFER), 0x1000, "from");
    CHECK_EQUAL(used(), RECORD, "index");
}

static void unmapped_store_loses_the_record(void **state)
{
    (void)state;
    set_up("westmere", 1, STORE | DEBUGCTL_BTINT);
    map_two_mebibytes();
    poke(DS_BTS_BASE, UNMAPPED);
    poke(DS_BTS_INDEX, UNMAPPED);
    poke(DS_BTS_MAXIMUM, UNMAPPED + 4 * RECORD + 1);
    poke(DS_BTS_THRESHOLD, UNMAPPED + RECORD);
    branches(1, 1);
    CHECK_EQUAL(peek(DS_BTS_INDEX), UNMAPPED, "the index stands");
    CHECK_EQUAL(pmis(), 0, "PMIs");
    write_msr(MSR_IA32_DS_AREA, UNMAPPED);
    branches(1, 1);
    CHECK_EQUAL(pmis(), 0, "PMIs");
}

const struct CMUnitTest bts_tests[] = {
    RULE(records_need_tr_and_bts),
    RULE(record_layout),
    RULE(pmi_at_the_threshold),
    RULE(full_buffer_with_btint_takes_no_more),
    RULE(circular_buffer_wraps),
    RULE(threshold_counts_without_btint),
    RULE(ring_filters),
    RULE(debug_exception_is_stored),
    RULE(unmapped_store_loses_the_record),
};
const size_t n_bts_tests = LENGTH(bts_tests);
