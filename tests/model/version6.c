/* What came with perfmon version 6: leaf 23H and what it announces. */
#include "tests/model/rig.h"
#include "x86/cpuid.h"
#include "x86/msr.h"
#include "x86/pmu.h"

/* A processor of version 6: ten general counters and fixed ones with a gap, of which leaf 0AH tells
 * eight and three. */
#define VERSION_6                                                                                  \
    "pmu.version=6", "pmu.general_more=2", "pmu.fixed=3", "pmu.fixed_bitmap=7",                    \
        "pmu.fixed_more=0x70", "pmu.metrics=no",                                                   \
        "cpuid.0x0=0x23 0x756e6547 0x6c65746e 0x49656e69",                                         \
        "cpuid.0x7.0=1 0x00800309 0 0x00080000", "cpuid.0x7.1=0x100 0 0 0"
#define LEAF_23H                                                                                   \
    "cpuid.0x23.0=0xb 3 0 0", "cpuid.0x23.1=0x3ff 0x77 0 0", "cpuid.0x23.3=0x1dff 0 0 0"

/* Leaf 23H adds counters to those of leaf 0AH, which come to both kinds of address. */
static void leaf_23h_adds_counters(void **state)
{
    (void)state;
    rig_start("sapphirerapids", VERSION_6, LEAF_23H, NULL);
    CHECK_EQUAL(rig.leaf_0ah[0] >> 8 & 0xff, 8, "general counters of leaf 0AH");
    CHECK_EQUAL(rig.leaf_0ah[2] | low_bits(rig.leaf_0ah[3] & 0x1f), 7, "fixed ones");
    CHECK_EQUAL(rig.leaf_23h[1][0], 0x3ff, "general counters of leaf 23H");
    CHECK_EQUAL(rig.leaf_23h[1][1], 0x77, "fixed ones");
    CHECK_EQUAL(counter_enables(), 0x77000003ff, "all of them");
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    CHECK(write_faults(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(10)), "the eleventh");
    CHECK(write_faults(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(35)), "the gap");
    for (unsigned i = 0; i < 10; i++) {
        uint64_t value;
        count_instructions(i, 0);
        retire(0, 7);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), 7, "IA32_PMC%u counts", i);
        CHECK(pmu_rdpmc(rig.pmu, i, &value) && value == 7, "RDPMC of %u", i);
        write_msr(MSR_IA32_PERFEVTSEL0 + i, 0);
    }
}

/* Each kind of core tells its own. The values of the dumps. */
static void leaf_23h_is_the_cores_own(void **state)
{
    (void)state;
    static const uint32_t p[4][4] = {{0xb, 3}, {0x3ff, 0xf}, {0}, {0x1dff}},
                          e[4][4] = {{0xf, 3, 8}, {0xff, 0x77}, {0xfc, 3, 0xfc, 3}, {0x1f7f}};
    for (unsigned kind = 0; kind < 2; kind++) {
        rig_start(kind ? "arrowlake/e" : "arrowlake", NULL);
        for (unsigned i = 0; i < 4; i++)
            for (unsigned word = 0; word < 4; word++)
                CHECK_EQUAL(rig.leaf_23h[i][word], kind ? e[i][word] : p[i][word],
                            "sub-leaf %u, word %u", i, word);
        CHECK_EQUAL(rig.leaf_0ah[0], 0x0d300806, "leaf 0AH is the same");
        CHECK_EQUAL(rig.leaf_0ah[1], 0x280, "EBX");
        CHECK_EQUAL(rig.leaf_0ah[2], 7, "ECX");
        CHECK_EQUAL(rig.leaf_0ah[3], 0x8603, "EDX");
        uint32_t past[4];
        cpu_cpuid(rig.cpu, 0x23, 6, past);
        CHECK_EQUAL(past[0] | past[1] | past[2] | past[3], 0, "an invalid sub-leaf");
    }
}

/* Skymont's fixed counters 4 to 6 count where the slots went; it has no counter 3. */
static void fixed_counters_4_to_6_count_where_slots_went(void **state)
{
    (void)state;
    static const enum cpu_event events[] = {EV_SLOTS_BAD_SPEC, EV_SLOTS_FRONTEND,
                                            EV_SLOTS_RETIRING};
    for (unsigned i = 0; i < LENGTH(events); i++) {
        rig_start("arrowlake/e", NULL);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, 0x3330333);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        pass(0, EV_SLOTS_BACKEND, 20, 20);
        pass(3, events[i], events[i] == EV_SLOTS_RETIRING ? 0 : 7, 7);
        for (unsigned n = 0; n < 3; n++)
            CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + 4 + n), n == i ? 7 : 0,
                        "event %u on IA32_FIXED_CTR%u", i, 4 + n);
    }
}

/* Without bit 8 of EAX in sub-leaf 1 of leaf 7, or its own bit in sub-leaf 0, a sub-leaf says
 * nothing: what it has is for other software. */
static void a_subleaf_counts_when_it_is_announced(void **state)
{
    (void)state;
    rig_start("sapphirerapids", VERSION_6, "pmu.contradictory=yes", LEAF_23H, "cpuid.0x7.1=0 0 0 0",
              NULL);
    CHECK(write_faults(MSR_IA32_PERFEVTSEL0, PERFEVTSEL_EQ), "EQ without leaf 23H");
    CHECK(write_faults(MSR_IA32_PERFEVTSEL0, ARCH_BIT(PERFEVTSEL_UMASK2_SHIFT)), "UMASK2");
}

/* IA32_PMC_GPn_CTR and _CFG_A, IA32_PMC_FXm_CTR are the registers of the old addresses: what is
 * written to one is read at the other. */
static void strided_addresses_are_the_same_registers(void **state)
{
    (void)state;
    rig_start("sapphirerapids", VERSION_6, LEAF_23H, NULL);
    for (unsigned i = 0; i < rig.general; i++) {
        uint32_t counter = MSR_IA32_PMC_GP0_CTR + 4 * i, select = MSR_IA32_PMC_GP0_CFG_A + 4 * i;
        write_msr(counter, 0x800000000000 + i);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), 0x800000000000 + i, "full width, %u", i);
        write_msr(MSR_IA32_PMC0 + i, 0x80000000);
        CHECK_EQUAL(read_msr(counter), 0xffff80000000, "%u by its old address", i);
        CHECK(write_faults(counter, ARCH_BIT(48)), "past the width, %u", i);
        write_msr(select, SELECT_INSTRUCTIONS | BOTH_RINGS);
        CHECK_EQUAL(read_msr(MSR_IA32_PERFEVTSEL0 + i), SELECT_INSTRUCTIONS | BOTH_RINGS,
                    "select %u", i);
        write_msr(MSR_IA32_PERFEVTSEL0 + i, i);
        CHECK_EQUAL(read_msr(select), i, "select %u by its old address", i);
    }
    for (unsigned i = 0; i < 16; i++) {
        uint32_t counter = MSR_IA32_PMC_FX0_CTR + 4 * i;
        if (!fixed_there(i))
            continue;
        write_msr(counter, 0x123456789abc);
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + i), 0x123456789abc, "fixed %u", i);
        write_msr(MSR_IA32_FIXED_CTR0 + i, i);
        CHECK_EQUAL(read_msr(counter), i, "fixed %u by its old address", i);
        CHECK(write_faults(counter, ARCH_BIT(48)), "past the width, fixed %u", i);
        CHECK(read_faults(counter + 1), "a fixed counter has no CFG_A, %u", i);
    }
    /* A write steers the counter as by the old address. */
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    write_msr(MSR_IA32_PMC_GP0_CTR, 0);
    write_msr(MSR_IA32_PMC_GP0_CFG_A, SELECT_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN);
    retire(0, 5);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC_GP0_CTR), 5, "counts");
}

static void strided_addresses_come_with_version_6(void **state)
{
    (void)state;
    rig_start("sapphirerapids", VERSION_6, LEAF_23H, "pmu.version=5", NULL);
    CHECK_EQUAL(rig.leaf_23h[1][0], 0x3ff, "leaf 23H in version 5, as on Meteor Lake");
    CHECK(!read_faults(MSR_IA32_PMC0 + 9), "its counters are there");
    for (uint32_t msr = MSR_IA32_PMC_GP0_CTR; msr < MSR_IA32_PMC_FX0_CTR + 4 * 16; msr++)
        CHECK(read_faults(msr) && write_faults(msr, 0), "%#x in version 5", msr);
}

static void umask2_is_part_of_the_encoding(void **state)
{
    (void)state;
    rig_start("sapphirerapids", VERSION_6, LEAF_23H, "event.0xc4.0x11.0x01 = COND branch-cond",
              "event.0xc4.0x11 = OTHER branch-ret", NULL);
    write_msr(MSR_IA32_PERFEVTSEL0,
              0x11c4 | BOTH_RINGS | PERFEVTSEL_EN | 1ULL << PERFEVTSEL_UMASK2_SHIFT);
    write_msr(MSR_IA32_PERFEVTSEL0 + 1, 0x11c4 | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERFEVTSEL0 + 2,
              0x11c4 | BOTH_RINGS | PERFEVTSEL_EN | 2ULL << PERFEVTSEL_UMASK2_SHIFT);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 7);
    pass(0, EV_BRANCH_COND, 3, 10);
    pass(0, EV_BRANCH_RET, 5, 10);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 3, "UMASK2 1");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), 5, "UMASK2 0");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 2), 0, "UMASK2 2 is no event's");
}

/* Each exists where leaf 23H says so. */
static void umask2_and_eq_are_announced(void **state)
{
    (void)state;
    static const char *const leaves[] = {"cpuid.0x23.0=0xb 0 0 0", "cpuid.0x23.0=0xb 1 0 0",
                                         "cpuid.0x23.0=0xb 2 0 0", "cpuid.0x23.0=0xb 3 0 0"};
    for (unsigned i = 0; i < LENGTH(leaves); i++) {
        rig_start("sapphirerapids", VERSION_6, LEAF_23H, leaves[i], NULL);
        for (unsigned bit = 0; bit < 8; bit++)
            CHECK_EQUAL(!write_faults(MSR_IA32_PERFEVTSEL0, ARCH_BIT(40 + bit)), i & 1,
                        "%s: UMASK2", leaves[i]);
        CHECK_EQUAL(!write_faults(MSR_IA32_PERFEVTSEL0, PERFEVTSEL_EQ), i >> 1, "%s: EQ",
                    leaves[i]);
    }
}

/* Cycles with so many instructions each; one digit a cycle. */
static uint64_t count_of(const char *cycles, uint64_t bits)
{
    rig_start("sapphirerapids", VERSION_6, LEAF_23H, NULL);
    write_msr(MSR_IA32_PERFEVTSEL0, SELECT_INSTRUCTIONS | PERFEVTSEL_EN | BOTH_RINGS | bits);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
    for (; *cycles; cycles++)
        pass(0, EV_INSN, *cycles - '0', rig.profile.uarch.retire_width);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    return read_msr(MSR_IA32_PMC0);
}

static void eq_counts_cycles_with_just_so_many(void **state)
{
    (void)state;
    static const char cycles[] = "0122333040";
    static const unsigned wanted[] = {3, 1, 2, 3, 1, 0};
    for (uint64_t n = 1; n < LENGTH(wanted); n++) {
        uint64_t cmask = n << PERFEVTSEL_CMASK_SHIFT;
        CHECK_EQUAL(count_of(cycles, cmask | PERFEVTSEL_EQ), wanted[n], "CMASK %u", (unsigned)n);
        CHECK_EQUAL(count_of(cycles, cmask | PERFEVTSEL_EQ | PERFEVTSEL_INV), 10 - wanted[n],
                    "inverted, CMASK %u", (unsigned)n);
    }
    CHECK_EQUAL(count_of(cycles, PERFEVTSEL_EQ), 18, "with CMASK 0: the events");
    CHECK_EQUAL(count_of("21020", PERFEVTSEL_EQ | PERFEVTSEL_E), 2, "their rises");
    CHECK_EQUAL(count_of("3133033", PERFEVTSEL_EQ | PERFEVTSEL_E | 3 << PERFEVTSEL_CMASK_SHIFT), 3,
                "its rises");
}

const struct CMUnitTest version6_tests[] = {
    RULE(leaf_23h_adds_counters),
    RULE(leaf_23h_is_the_cores_own),
    RULE(fixed_counters_4_to_6_count_where_slots_went),
    RULE(a_subleaf_counts_when_it_is_announced),
    RULE(strided_addresses_are_the_same_registers),
    RULE(strided_addresses_come_with_version_6),
    RULE(umask2_is_part_of_the_encoding),
    RULE(umask2_and_eq_are_announced),
    RULE(eq_counts_cycles_with_just_so_many),
};
const size_t n_version6_tests = LENGTH(version6_tests);
