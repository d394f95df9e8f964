/* AMD's counters: APM vol. 2 "Performance Monitoring Counters", by each kind that a profile has. */
#include "tests/model/rig.h"

#include "sim/dev/dev.h"
#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#define WIDTH       48
#define SELECT      (SELECT_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN)
#define LEGACY_SEL0 0xc0010000u
#define LEGACY_CTR0 0xc0010004u
#define CTL0        0xc0010200u
#define CTR0        0xc0010201u
#define STATUS      0xc0000300u
#define GLOBAL_CTL  0xc0000301u
#define STATUS_CLR  0xc0000302u
#define STATUS_SET  0xc0000303u
#define DEBUGCTL    0x1d9u
#define HWCR        0xc0010015u
#define IRPERF      0xc00000e9u
#define PMCF        ARCH_BIT(59)
#define PREC_RET    "cpuid.0x80000021=0x1244 0 0 0"
#define NO_COUNTERS "pmu.general=0"

static const char *const profiles[] = {"k8", "zen1", "zen3", "zen4", "zen5"};

enum { EAX, EBX, ECX, EDX };
static uint32_t cpuid(uint32_t leaf, unsigned word)
{
    uint32_t out[4];
    cpu_cpuid(rig.cpu, leaf, 0, out);
    return out[word];
}

static bool extended(void)
{
    return cpuid(0x80000001, ECX) >> 23 & 1;
}
static bool perfmon_v2(void)
{
    return cpuid(0x80000022, EAX) & 1;
}
static bool has_freeze(void)
{
    return cpuid(0x80000022, EAX) >> 2 & 1;
}
static bool is_k8(void)
{
    return (cpuid(1, EAX) >> 20 & 0xff) == 0;
}
static unsigned counters(void)
{
    return perfmon_v2() ? cpuid(0x80000022, EBX) & 0xf : extended() ? 6 : 4;
}
static uint32_t select_msr(unsigned i)
{
    return extended() ? CTL0 + 2 * i : LEGACY_SEL0 + i;
}
static uint32_t counter_msr(unsigned i)
{
    return extended() ? CTR0 + 2 * i : LEGACY_CTR0 + i;
}

#define FOR_EACH_PROFILE(p)                                                                        \
    for (unsigned p = 0; p < LENGTH(profiles) && (rig_start(profiles[p], NULL), true); p++)

/* ---- What is there ---- */

static void leaf_0ah_is_empty(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        uint32_t out[4];
        cpu_cpuid(rig.cpu, 0xa, 0, out);
        CHECK_EQUAL(out[0] | out[1] | out[2] | out[3], 0, "leaf 0AH");
    }
}

static void counters_exist_as_announced(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        for (unsigned i = 0; i < 4; i++)
            CHECK(!read_faults(LEGACY_SEL0 + i) && !read_faults(LEGACY_CTR0 + i), "legacy %u", i);
        CHECK(read_faults(0xc0010008), "behind the legacy counters");
        for (unsigned i = 0; i < 6; i++) {
            CHECK_EQUAL(!read_faults(CTL0 + 2 * i), extended(), "PERF_CTL%u", i);
            CHECK_EQUAL(!read_faults(CTR0 + 2 * i), extended(), "PERF_CTR%u", i);
        }
        CHECK(read_faults(CTL0 + 12) && read_faults(CTR0 + 12), "PERF_CTL6");
        for (uint32_t msr = STATUS; msr <= STATUS_SET; msr++)
            CHECK_EQUAL(!read_faults(msr), perfmon_v2(), "MSR %XH", msr);
    }
    rig_start("zen3", NO_COUNTERS, NULL);
    CHECK(read_faults(CTL0) && read_faults(LEGACY_SEL0), "a hypervisor's that has none");
}

static void intel_registers_fault(void **state)
{
    static const uint32_t msrs[] = {0x17,  0xc1,  0xc2,  0x186,  0x187,  0x1a0, 0x1c8, 0x1c9, 0x309,
                                    0x345, 0x38d, 0x38e, 0x38f,  0x390,  0x391, 0x392, 0x3f1, 0x3f6,
                                    0x4c1, 0x600, 0x680, 0x14ce, 0x1900, 0x198, 0x1ad, 0xce};
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned i = 0; i < LENGTH(msrs); i++)
        CHECK(read_faults(msrs[i]) && write_faults(msrs[i], 0), "MSR %XH", msrs[i]);
}

static void first_four_are_the_legacy_ones(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned i = 0; i < 4 && extended(); i++) {
        write_msr(LEGACY_SEL0 + i, SELECT);
        write_msr(CTR0 + 2 * i, 1000 + i);
        CHECK_EQUAL(read_msr(CTL0 + 2 * i), SELECT, "PERF_CTL%u", i);
        CHECK_EQUAL(read_msr(LEGACY_CTR0 + i), 1000 + i, "PerfCtr%u", i);
    }
}

static void rdpmc_takes_the_number(void **state)
{
    static const uint32_t others[] = {0x20000000, 0x40000000, 0x80000000, 0xc0010201};
    uint64_t value;
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        for (unsigned i = 0; i < counters(); i++) {
            write_msr(counter_msr(i), 77 + i);
            CHECK(pmu_rdpmc(rig.pmu, i, &value), "RDPMC %u", i);
            CHECK_EQUAL(value, 77 + i, "RDPMC %u", i);
        }
        for (unsigned i = counters(); i < 32; i++)
            CHECK(!pmu_rdpmc(rig.pmu, i, &value), "RDPMC %u", i);
        for (unsigned i = 0; i < LENGTH(others); i++)
            CHECK(!pmu_rdpmc(rig.pmu, others[i], &value), "RDPMC %X", others[i]);
    }
}

/* ---- What they take ---- */

/* What is reserved reads as zero; the K8's bit 19 is pin control. */
static void reserved_select_bits_read_as_zero(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned i = 0; i < counters(); i++) {
        uint64_t wanted = is_k8() ? 0xffdfffff : 0x30fffd7ffff;
        write_msr(select_msr(i), UINT64_MAX);
        CHECK_EQUAL(read_msr(select_msr(i)), wanted, "select %u", i);
        write_msr(select_msr(i), 0);
    }
}

static void prec_ret_is_of_counter_2_where_announced(void **state)
{
    (void)state;
    rig_start("zen5", PREC_RET, NULL);
    for (unsigned i = 0; i < counters(); i++) {
        write_msr(select_msr(i), ARCH_BIT(43));
        CHECK_EQUAL(read_msr(select_msr(i)), i == 2 ? ARCH_BIT(43) : 0, "select %u", i);
    }
    write_msr(select_msr(2), SELECT | ARCH_BIT(43));
    retire(0, 100);
    CHECK_EQUAL(read_msr(counter_msr(2)), 100, "it counts");
}

static void a_counter_keeps_48_bits(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned i = 0; i < counters(); i++) {
        write_msr(counter_msr(i), UINT64_MAX);
        CHECK_EQUAL(read_msr(counter_msr(i)), low_bits(WIDTH), "counter %u", i);
        write_msr(counter_msr(i), 0x800000000123);
        CHECK_EQUAL(read_msr(counter_msr(i)), 0x800000000123, "no sign is extended");
    }
}

static void debugctl_has_bits_that_must_be_zero(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        for (unsigned bit = 3; bit <= 6; bit++)
            CHECK_EQUAL(write_faults(DEBUGCTL, ARCH_BIT(bit)), !is_k8(), "bit %u", bit);
        write_msr(DEBUGCTL, 0x780 | ARCH_BIT(13) | ARCH_BIT(63));
        CHECK_EQUAL(read_msr(DEBUGCTL), 0, "what reads as zero");
        write_msr(DEBUGCTL, 2);
        CHECK_EQUAL(read_msr(DEBUGCTL), 2, "BTF");
        write_msr(DEBUGCTL, ARCH_BIT(12));
        CHECK_EQUAL(read_msr(DEBUGCTL), has_freeze() ? ARCH_BIT(12) : 0, "FPMCI");
    }
}

/* ---- Counting ---- */

static void each_select_enables_its_counter(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned i = 0; i < counters(); i++) {
        write_msr(select_msr(i), SELECT & ~PERFEVTSEL_EN);
        retire(0, 100);
        CHECK_EQUAL(read_msr(counter_msr(i)), 0, "counter %u without En", i);
        write_msr(select_msr(i), SELECT);
        retire(0, 100);
        retire(3, 20);
        CHECK_EQUAL(read_msr(counter_msr(i)), 120, "counter %u", i);
        write_msr(select_msr(i), SELECT & ~PERFEVTSEL_OS);
        retire(0, 100);
        retire(3, 3);
        CHECK_EQUAL(read_msr(counter_msr(i)), 123, "counter %u above ring 0", i);
    }
}

/* Events 1A0H and 120H are Zen 4's, A0H and 20H nobody's; the K8 takes 176H for 76H. */
static void an_event_has_twelve_bits(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        bool sees = perfmon_v2();
        write_msr(select_msr(0), ARCH_BIT(32) | 0x01a0 | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(select_msr(1), 0x01a0 | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(select_msr(2), ARCH_BIT(32) | 0x76 | BOTH_RINGS | PERFEVTSEL_EN);
        pass(0, EV_SLOTS_FRONTEND, 60, 0);
        pass(0, EV_ABSENT, 0, 100ull * rig.profile.uarch.retire_width);
        CHECK_EQUAL(read_msr(counter_msr(0)), sees ? 60 : 0, "event 1A0H");
        CHECK_EQUAL(read_msr(counter_msr(1)), 0, "event A0H");
        CHECK_EQUAL(read_msr(counter_msr(2)) != 0, is_k8(), "event 176H");
    }
}

static void host_and_guest_bits_change_nothing_without_svm(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned bits = 0; bits < 4 && extended(); bits++) {
        write_msr(CTL0, SELECT | (uint64_t)bits << 40);
        write_msr(CTR0, 0);
        retire(0, 50);
        CHECK_EQUAL(read_msr(CTR0), 50, "bits 41:40 = %u", bits);
    }
}

/* Two cycles of a full core, one of a single instruction, two of none; in the K8's words CntMask
 * and Inv are the same. */
static void cntmask_inv_and_edge_count_cycles(void **state)
{
    static const struct {
        uint64_t more;
        unsigned wanted;
    } cases[] = {
        {1ull << PERFEVTSEL_CMASK_SHIFT, 3},
        {2ull << PERFEVTSEL_CMASK_SHIFT, 2},
        {1ull << PERFEVTSEL_CMASK_SHIFT | PERFEVTSEL_INV, 2},
        {1ull << PERFEVTSEL_CMASK_SHIFT | PERFEVTSEL_E, 1},
    };
    (void)state;
    for (unsigned c = 0; c < LENGTH(cases); c++)
        FOR_EACH_PROFILE(p)
        {
            unsigned width = rig.profile.uarch.retire_width;
            write_msr(select_msr(0), SELECT | cases[c].more);
            retire(0, width);
            retire(0, width);
            pass(0, EV_INSN, 1, 1);
            pass(0, EV_ABSENT, 0, 3 * width - 1);
            write_msr(select_msr(0), 0);
            CHECK_EQUAL(read_msr(counter_msr(0)), cases[c].wanted, "case %u", c);
        }
}

/* Interrupts and exceptions are branches, taken ones, and far ones. */
static void branches_count_interrupts(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        write_msr(select_msr(0), 0xc2 | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(select_msr(1), 0xc4 | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(select_msr(2), SELECT);
        write_msr(select_msr(3), 0xc3 | BOTH_RINGS | PERFEVTSEL_EN);
        pass(0, EV_BRANCH, 5, 5);
        pass(0, EV_BRANCH_TAKEN, 3, 5);
        pass(0, EV_INSN, 10, 10);
        pass(0, EV_MISPREDICT, 2, 10);
        pass(0, EV_DELIVERED, 1, 10);
        pass(0, EV_BRANCH_FAR, 4, 10);
        CHECK_EQUAL(read_msr(counter_msr(0)), 6, "branches");
        CHECK_EQUAL(read_msr(counter_msr(1)), 4, "taken branches");
        CHECK_EQUAL(read_msr(counter_msr(2)), is_k8() ? 11 : 10, "instructions");
        CHECK_EQUAL(read_msr(counter_msr(3)), p == 1 ? 6 : 2, "mispredicted");
    }
}

static void a_merged_pair_counts_nothing(void **state)
{
    (void)state;
    rig_start("zen3", NULL);
    write_msr(CTL0 + 2, 0xf004000ffull | BOTH_RINGS);
    write_msr(CTL0, SELECT);
    retire(0, 1000);
    CHECK_EQUAL(read_msr(CTR0 + 2), 0, "the odd half");
    CHECK_EQUAL(read_msr(CTR0), 1000, "the even one counts as ever");
}

/* HWCR[30] alone: no select, no ring, no interrupt. */
static void irperf_counts_while_hwcr_lets_it(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    {
        bool there = cpuid(0x80000008, EBX) >> 1 & 1;
        CHECK_EQUAL(!read_faults(IRPERF), there, "IRPerfCount");
        CHECK(write_faults(IRPERF, 0), "it is read-only");
        uint64_t hwcr = read_msr(HWCR);
        write_msr(HWCR, hwcr | ARCH_BIT(30));
        CHECK_EQUAL(read_msr(HWCR), there ? hwcr | ARCH_BIT(30) : hwcr, "HWCR");
        if (!there)
            continue;
        retire(0, 1000);
        retire(3, 234);
        CHECK_EQUAL(read_msr(IRPERF), 1234, "both rings");
        write_msr(HWCR, hwcr);
        retire(0, 1000);
        CHECK_EQUAL(read_msr(IRPERF), 1234, "it stands");
        write_msr(HWCR, hwcr | ARCH_BIT(30));
        retire(0, 1);
        CHECK_EQUAL(read_msr(IRPERF), 1235, "it goes on");
    }
}

/* ---- Overflow ---- */

static void arm(unsigned i, uint64_t more)
{
    write_msr(select_msr(i), SELECT | more);
    write_msr(counter_msr(i), (uint64_t)-100);
}

/* Carry out of bit 47; an interrupt for each, as the LVT entry stays open. */
static void each_overflow_interrupts(void **state)
{
    (void)state;
    FOR_EACH_PROFILE(p)
    for (unsigned i = 0; i < counters(); i++) {
        unsigned before = pmis();
        apic_arm(0);
        for (unsigned n = 1; n <= 3; n++) {
            arm(i, PERFEVTSEL_INT);
            retire(0, 99);
            pass_skid();
            CHECK_EQUAL(pmis() - before, n - 1, "counter %u: not yet", i);
            retire(0, 1);
            pass_skid();
            CHECK_EQUAL(pmis() - before, n, "counter %u", i);
            CHECK_EQUAL(read_msr(counter_msr(i)), 0, "bit 47 of counter %u", i);
            CHECK_EQUAL(apic_read(LVT_PERFMON), PMI_VECTOR, "the entry is not masked");
        }
        arm(i, 0);
        retire(0, 1000);
        pass_skid();
        CHECK_EQUAL(pmis() - before, 3, "counter %u without Int", i);
    }
}

#define FOR_EACH_V2(p)                                                                             \
    FOR_EACH_PROFILE(p)                                                                            \
    if (perfmon_v2())

static void global_ctl_enables_all_after_reset(void **state)
{
    (void)state;
    FOR_EACH_V2(p)
    {
        CHECK_EQUAL(read_msr(GLOBAL_CTL), low_bits(counters()), "after reset");
        write_msr(GLOBAL_CTL, UINT64_MAX & ~ARCH_BIT(1));
        CHECK_EQUAL(read_msr(GLOBAL_CTL), low_bits(counters()) & ~ARCH_BIT(1), "reserved bits");
        write_msr(select_msr(0), SELECT);
        write_msr(select_msr(1), SELECT);
        retire(0, 10);
        CHECK_EQUAL(read_msr(counter_msr(0)), 10, "with its bit");
        CHECK_EQUAL(read_msr(counter_msr(1)), 0, "without it");
    }
}

static void status_is_set_without_int(void **state)
{
    (void)state;
    FOR_EACH_V2(p)
    for (unsigned i = 0; i < counters(); i++) {
        arm(i, i & 1 ? PERFEVTSEL_INT : 0);
        retire(0, 100);
        CHECK_EQUAL(read_msr(STATUS), ARCH_BIT(i), "counter %u", i);
        CHECK(write_faults(STATUS, 0), "it is read-only");
        write_msr(STATUS_CLR, ~ARCH_BIT(i));
        CHECK_EQUAL(read_msr(STATUS), ARCH_BIT(i), "others were cleared, reserved ones too");
        write_msr(STATUS_CLR, ARCH_BIT(i));
        CHECK_EQUAL(read_msr(STATUS), 0, "cleared");
        CHECK_EQUAL(read_msr(STATUS_CLR), 0, "it reads as zero");
    }
}

static void status_set_asks_for_nothing(void **state)
{
    (void)state;
    FOR_EACH_V2(p)
    {
        apic_arm(0);
        write_msr(select_msr(0), SELECT | PERFEVTSEL_INT);
        write_msr(STATUS_SET, 1);
        pass_skid();
        CHECK_EQUAL(read_msr(STATUS), 1, "CNT_OF");
        CHECK_EQUAL(pmis(), 0, "no interrupt");
        retire(0, 10);
        CHECK_EQUAL(read_msr(counter_msr(0)) != 0, true, "no freeze");
        uint64_t before = read_msr(counter_msr(0));
        write_msr(STATUS_SET, PMCF);
        retire(0, 10);
        CHECK_EQUAL(read_msr(counter_msr(0)), before, "PMCF freezes");
        write_msr(STATUS_CLR, PMCF);
        retire(0, 10);
        CHECK_EQUAL(read_msr(counter_msr(0)), before + 10, "and lets go");
        CHECK_EQUAL(read_msr(STATUS_SET), 0, "it reads as zero");
    }
}

/* DebugCtl[12]: the counters of an overflow with Int, no other, stop all. */
static void fpmci_freezes_the_counters(void **state)
{
    (void)state;
    FOR_EACH_V2(p)
    for (unsigned interrupt = 0; interrupt < 2; interrupt++) {
        bool frozen = has_freeze() && interrupt;
        rig_start(profiles[p], NULL);
        apic_arm(0);
        write_msr(DEBUGCTL, ARCH_BIT(12));
        arm(0, interrupt ? PERFEVTSEL_INT : 0);
        write_msr(select_msr(1), SELECT);
        retire(0, 100);
        pass_skid();
        CHECK_EQUAL(read_msr(STATUS), frozen ? PMCF | 1 : 1, "status");
        uint64_t before = read_msr(counter_msr(1));
        retire(0, 50);
        CHECK_EQUAL(read_msr(counter_msr(1)), before + (frozen ? 0 : 50), "another counter");
        write_msr(STATUS_CLR, PMCF | 1);
        retire(0, 50);
        CHECK_EQUAL(read_msr(counter_msr(1)), before + (frozen ? 50 : 100), "it goes on");
    }
}

const struct CMUnitTest amd_tests[] = {
    RULE(leaf_0ah_is_empty),
    RULE(counters_exist_as_announced),
    RULE(intel_registers_fault),
    RULE(first_four_are_the_legacy_ones),
    RULE(rdpmc_takes_the_number),
    RULE(reserved_select_bits_read_as_zero),
    RULE(prec_ret_is_of_counter_2_where_announced),
    RULE(a_counter_keeps_48_bits),
    RULE(debugctl_has_bits_that_must_be_zero),
    RULE(each_select_enables_its_counter),
    RULE(an_event_has_twelve_bits),
    RULE(host_and_guest_bits_change_nothing_without_svm),
    RULE(cntmask_inv_and_edge_count_cycles),
    RULE(branches_count_interrupts),
    RULE(a_merged_pair_counts_nothing),
    RULE(irperf_counts_while_hwcr_lets_it),
    RULE(each_overflow_interrupts),
    RULE(global_ctl_enables_all_after_reset),
    RULE(status_is_set_without_int),
    RULE(status_set_asks_for_nothing),
    RULE(fpmci_freezes_the_counters),
};
const size_t n_amd_tests = LENGTH(amd_tests);
