/* What CPUID and the capability MSRs announce is there, and nothing past it. */
#include <string.h>

#include "tests/model/rig.h"
#include "x86/msr.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

/* The facts of each processor, from the sources that its profile names. */
static const struct {
    const char *profile;
    unsigned version, general, general_width, fixed, fixed_width;
} facts[] = {
    {"merom", 1, 2, 40, 0, 0},        {"core2", 2, 2, 40, 3, 40},
    {"kvm", 2, 4, 48, 3, 48},         {"westmere", 3, 4, 48, 3, 48},
    {"sandybridge", 3, 4, 48, 3, 48}, {"haswell", 3, 4, 48, 3, 48},
    {"skylake", 4, 4, 48, 3, 48},     {"goldmont", 4, 4, 48, 3, 48},
    {"icelake", 5, 8, 48, 4, 48},     {"sapphirerapids", 5, 8, 48, 4, 48},
    {"alderlake", 5, 6, 48, 3, 48},   {"gracemont", 5, 6, 48, 3, 48},
    {"arrowlake", 6, 8, 48, 3, 48},   {"alderlake/e", 5, 6, 48, 3, 48},
    {"arrowlake/e", 6, 8, 48, 3, 48}, {"none", 0, 0, 0, 0, 0},
};

static void leaf_0ah_tells_version_numbers_widths(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LENGTH(facts); i++) {
        rig_start(facts[i].profile, NULL);
        CHECK_EQUAL(rig.version, facts[i].version, "EAX[7:0]");
        CHECK_EQUAL(rig.leaf_0ah[0] >> 8 & 0xff, facts[i].general, "EAX[15:8]");
        CHECK_EQUAL(rig.general_width, facts[i].general_width, "EAX[23:16]");
        CHECK_EQUAL(rig.fixed, facts[i].fixed, "EDX[4:0]");
        CHECK_EQUAL(rig.fixed_width, facts[i].fixed_width, "EDX[12:5]");
    }
}

/* One bit of EBX for each architectural event, 1: not available; bits at or past EAX[31:24] say
 * nothing and are 0. */
static void leaf_0ah_ebx_bit_means_not_available(void **state)
{
    (void)state;
    uint32_t out[4];
    rig_start("skylake", "pmu.events_unavailable=0x24", "pmu.events_length=7", NULL);
    cpu_cpuid(rig.cpu, 0xa, 0, out);
    CHECK_EQUAL(out[0] >> 24, 7, "length of the vector");
    CHECK_EQUAL(out[1], 0x24, "the vector");
    rig_start("skylake", "pmu.events_unavailable=0", "pmu.events_length=7", NULL);
    cpu_cpuid(rig.cpu, 0xa, 0, out);
    CHECK_EQUAL(out[1], 0, "all available");
    rig_start("icelake", NULL);
    cpu_cpuid(rig.cpu, 0xa, 0, out);
    CHECK_EQUAL(out[0] >> 24, 8, "with top-down slots");
}

/* The architectural events that a processor announces count something on it. */
static void announced_events_count(void **state)
{
    (void)state;
    static const struct {
        unsigned event, umask;
        enum cpu_event what;
    } architectural[] = {
        {0x3c, 0x00, EV_SLOTS},          {0xc0, 0x00, EV_INSN},
        {0x3c, 0x01, EV_SLOTS},          {0x2e, 0x4f, EV_LLC_REF},
        {0x2e, 0x41, EV_LLC_MISS},       {0xc4, 0x00, EV_BRANCH},
        {0xc5, 0x00, EV_MISPREDICT},     {0xa4, 0x01, EV_SLOTS},
        {0xa4, 0x02, EV_SLOTS_BACKEND},  {0x73, 0x00, EV_SLOTS_BAD_SPEC},
        {0x9c, 0x01, EV_SLOTS_FRONTEND}, {0xc2, 0x02, EV_SLOTS_RETIRING},
        {0xe4, 0x01, EV_LBR_INSERT},
    };
    for (unsigned p = 0; p < LENGTH(all_profiles); p++)
        for (unsigned i = 0; i < LENGTH(architectural); i++) {
            uint32_t out[4];
            rig_start(all_profiles[p], NULL);
            if (rig.version == 0)
                continue;
            cpu_cpuid(rig.cpu, 0xa, 0, out);
            bool announced = i < out[0] >> 24 && !(out[1] >> i & 1);
            if (!announced && !(rig.leaf_23h[3][0] >> i & 1))
                continue;
            write_msr(MSR_IA32_PERFEVTSEL0, architectural[i].event |
                                                architectural[i].umask << PERFEVTSEL_UMASK_SHIFT |
                                                BOTH_RINGS | PERFEVTSEL_EN);
            if (rig.version >= 2)
                write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
            pass(0, architectural[i].what, 4000, 4000);
            CHECK(read_msr(MSR_IA32_PMC0) != 0, "event %u is announced and counts nothing", i);
        }
}

/* Twelve numbers, of which those of the bitmap are there; a write of a missing one faults too. */
static void check_range(uint32_t first, unsigned stride, uint32_t there, const char *what)
{
    for (unsigned i = 0; i < 12; i++) {
        uint32_t msr = first + i * stride;
        CHECK_EQUAL(read_faults(msr), !(there >> i & 1), "%s %u of %XH", what, i, there);
        if (!(there >> i & 1))
            CHECK(write_faults(msr, 0), "a write of %s %u", what, i);
    }
}

static uint32_t fixed_counters(void)
{
    return counter_enables() >> GLOBAL_FIXED_SHIFT;
}

static void announced_counters_exist_the_next_faults(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        bool wide = rig.capabilities & PERF_CAP_FW_WRITE;
        uint32_t general = low_bits(rig.general);
        check_range(MSR_IA32_PMC0, 1, general, "IA32_PMC");
        check_range(MSR_IA32_PERFEVTSEL0, 1, general, "IA32_PERFEVTSEL");
        check_range(MSR_IA32_A_PMC0, 1, wide ? general : 0, "IA32_A_PMC");
        check_range(MSR_IA32_FIXED_CTR0, 1, fixed_counters(), "IA32_FIXED_CTR");
        bool strided = rig.version >= 6;
        check_range(MSR_IA32_PMC_GP0_CTR, 4, strided ? general : 0, "IA32_PMC_GPn_CTR");
        check_range(MSR_IA32_PMC_GP0_CFG_A, 4, strided ? general : 0, "IA32_PMC_GPn_CFG_A");
        check_range(MSR_IA32_PMC_FX0_CTR, 4, strided ? fixed_counters() : 0, "IA32_PMC_FXm_CTR");
    }
}

/* The registers that came with version 2 and version 4. */
static void registers_exist_from_their_version(void **state)
{
    (void)state;
    static const struct {
        uint32_t msr;
        unsigned version;
    } since[] = {
        {MSR_IA32_FIXED_CTR_CTRL, 2},         {MSR_IA32_PERF_GLOBAL_STATUS, 2},
        {MSR_IA32_PERF_GLOBAL_CTRL, 2},       {MSR_IA32_PERF_GLOBAL_OVF_CTRL, 2},
        {MSR_IA32_PERF_GLOBAL_STATUS_SET, 4}, {MSR_IA32_PERF_GLOBAL_INUSE, 4},
    };
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        for (unsigned i = 0; i < LENGTH(since); i++)
            CHECK_EQUAL(read_faults(since[i].msr), rig.version < since[i].version, "MSR %XH",
                        since[i].msr);
    }
    static const char *const versions[] = {"pmu.version=1", "pmu.version=2", "pmu.version=3",
                                           "pmu.version=4"};
    for (unsigned v = 1; v <= LENGTH(versions); v++) {
        rig_start("skylake", versions[v - 1], NULL);
        CHECK_EQUAL(rig.version, v, "the version that was set");
        for (unsigned i = 0; i < LENGTH(since); i++)
            CHECK_EQUAL(read_faults(since[i].msr), v < since[i].version, "version %u, MSR %XH", v,
                        since[i].msr);
        CHECK_EQUAL(read_faults(MSR_IA32_FIXED_CTR0), v < 2, "version %u, FIXED_CTR0", v);
    }
}

static void fixed_bitmap_adds_counters_in_version_5(void **state)
{
    (void)state;
    rig_start("icelake", "pmu.fixed=1", "pmu.fixed_bitmap=0x5", NULL);
    static const bool there[] = {true, false, true, false};
    for (unsigned i = 0; i < LENGTH(there); i++) {
        CHECK_EQUAL(!read_faults(MSR_IA32_FIXED_CTR0 + i), there[i], "FIXED_CTR%u", i);
        CHECK_EQUAL(!write_faults(MSR_IA32_FIXED_CTR_CTRL, 1ULL << 4 * i), there[i],
                    "FIXED_CTR_CTRL of %u", i);
        CHECK_EQUAL(!write_faults(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(32 + i)), there[i],
                    "GLOBAL_CTRL of %u", i);
        uint64_t value;
        CHECK_EQUAL(pmu_rdpmc(rig.pmu, 1u << 30 | i, &value), there[i], "RDPMC of %u", i);
    }
    /* Before version 5 ECX is not part of the leaf. */
    rig_start("skylake", "pmu.fixed=1", "pmu.fixed_bitmap=0x5", NULL);
    CHECK(read_faults(MSR_IA32_FIXED_CTR0 + 2), "version 4 looks at ECX");
}

static void capabilities_exist_with_pdcm_and_are_read_only(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        uint32_t out[4];
        rig_start(all_profiles[p], NULL);
        cpu_cpuid(rig.cpu, 1, 0, out);
        bool pdcm = out[2] & CPUID_1_ECX_PDCM;
        CHECK_EQUAL(read_faults(MSR_IA32_PERF_CAPABILITIES), !pdcm, "IA32_PERF_CAPABILITIES");
        CHECK(write_faults(MSR_IA32_PERF_CAPABILITIES, 0), "a write of it");
    }
    rig_start("skylake", "pmu.has_capabilities=no", NULL);
    CHECK(read_faults(MSR_IA32_PERF_CAPABILITIES), "without PDCM");
}

/* IA32_MISC_ENABLE says what is unavailable, and a write does not change that. */
static void misc_enable_tells_and_keeps_availability(void **state)
{
    (void)state;
    const uint64_t told =
        MISC_ENABLE_PMU_AVAILABLE | MISC_ENABLE_BTS_UNAVAILABLE | MISC_ENABLE_PEBS_UNAVAILABLE;
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        uint64_t before = read_msr(MSR_IA32_MISC_ENABLE);
        CHECK_EQUAL(before & MISC_ENABLE_PMU_AVAILABLE ? 1 : 0, rig.version != 0, "bit 7");
        CHECK_EQUAL(before & MISC_ENABLE_PEBS_UNAVAILABLE ? 1 : 0,
                    read_faults(MSR_IA32_PEBS_ENABLE), "bit 12");
        CHECK_EQUAL(before & MISC_ENABLE_BTS_UNAVAILABLE ? 1 : 0,
                    write_faults(MSR_IA32_DEBUGCTL, DEBUGCTL_BTS), "bit 11");
        write_msr(MSR_IA32_MISC_ENABLE, before ^ told);
        CHECK_EQUAL(read_msr(MSR_IA32_MISC_ENABLE) & told, before & told, "after a write");
    }
}

/* Limit CPUID Maxval: a leaf above it gives what the highest basic leaf gives. */
static void misc_enable_limits_the_basic_leaves(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    uint32_t before[4], top[4], two[4], ten[4], extended[4];
    uint64_t misc_enable = read_msr(MSR_IA32_MISC_ENABLE);
    cpu_cpuid(rig.cpu, 0, 0, before);
    write_msr(MSR_IA32_MISC_ENABLE, misc_enable | MISC_ENABLE_LIMIT_CPUID);
    cpu_cpuid(rig.cpu, 0, 0, top);
    cpu_cpuid(rig.cpu, 2, 0, two);
    cpu_cpuid(rig.cpu, 0xa, 0, ten);
    cpu_cpuid(rig.cpu, 0x80000000, 0, extended);
    CHECK_EQUAL(top[0], 2, "the maximum");
    CHECK(memcmp(top + 1, before + 1, 3 * sizeof(*top)) == 0, "the vendor stays");
    CHECK(memcmp(ten, two, sizeof(ten)) == 0, "leaf 0AH is leaf 2");
    CHECK_EQUAL(extended[0], 0x80000008, "the extended leaves");
    write_msr(MSR_IA32_MISC_ENABLE, misc_enable);
    cpu_cpuid(rig.cpu, 0, 0, top);
    cpu_cpuid(rig.cpu, 0xa, 0, ten);
    CHECK_EQUAL(top[0], before[0], "the maximum without the limit");
    CHECK_EQUAL(ten[0] & 0xff, rig.version, "leaf 0AH without it");
}

static void the_freezes_need_pdcm(void **state)
{
    (void)state;
    static const uint64_t freezes[] = {DEBUGCTL_FREEZE_LBRS_ON_PMI, DEBUGCTL_FREEZE_PERFMON_ON_PMI};
    for (unsigned i = 0; i < LENGTH(freezes); i++) {
        rig_start("skylake", NULL);
        CHECK(!write_faults(MSR_IA32_DEBUGCTL, freezes[i]), "with PDCM, bit %u", 11 + i);
        rig_start("skylake", "pmu.has_capabilities=no", NULL);
        CHECK(write_faults(MSR_IA32_DEBUGCTL, freezes[i]), "without PDCM, bit %u", 11 + i);
    }
}

const struct CMUnitTest enumeration_tests[] = {
    RULE(leaf_0ah_tells_version_numbers_widths),
    RULE(leaf_0ah_ebx_bit_means_not_available),
    RULE(announced_events_count),
    RULE(announced_counters_exist_the_next_faults),
    RULE(registers_exist_from_their_version),
    RULE(fixed_bitmap_adds_counters_in_version_5),
    RULE(capabilities_exist_with_pdcm_and_are_read_only),
    RULE(misc_enable_tells_and_keeps_availability),
    RULE(misc_enable_limits_the_basic_leaves),
    RULE(the_freezes_need_pdcm),
};
const size_t n_enumeration_tests = LENGTH(enumeration_tests);
