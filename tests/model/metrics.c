/* PERF_METRICS and the counter of the slots that they are fractions of. */
#include "tests/model/rig.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#define FX3            ARCH_BIT(GLOBAL_FIXED_SHIFT + 3)
#define MSR_SLOTS      (MSR_IA32_FIXED_CTR0 + 3)
#define SLOTS_FIELD(f) ((uint64_t)(f) << 3 * FIXED_CTR_CTRL_BITS)
#define BOTH           (FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR)
#define READ_METRICS   0x20000000

static void start(const char *profile)
{
    rig_start(profile, NULL);
    write_msr(MSR_IA32_FIXED_CTR_CTRL, SLOTS_FIELD(BOTH));
    write_msr(MSR_SLOTS, 0);
    write_msr(MSR_PERF_METRICS, 0);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, GLOBAL_CTRL_PERF_METRICS | FX3);
}

/* So many slots of each kind, at CPL 0; of the parts of level 2 a half each. */
static void spend(uint64_t retiring, uint64_t bad, uint64_t frontend, uint64_t backend)
{
    uint64_t *total = rig.cpu->total[0];
    total[EV_SLOTS_BAD_SPEC] += bad;
    total[EV_SLOTS_FRONTEND] += frontend;
    total[EV_SLOTS_FETCH_LATENCY] += frontend / 2;
    total[EV_SLOTS_BACKEND] += backend;
    total[EV_SLOTS_MEMORY] += backend / 2;
    total[EV_SLOTS_HEAVY] += retiring / 2;
    pass(0, EV_ABSENT, 0, retiring + bad + frontend + backend);
}

static void perf_metrics_come_with_their_capability(void **state)
{
    (void)state;
    static const char *const metrics[] = {"pmu.metrics=no", "pmu.metrics=yes"};
    for (unsigned there = 0; there < 2; there++) {
        uint64_t value;
        rig_start("icelake", metrics[there], NULL);
        CHECK_EQUAL(rig.capabilities >> 15 & 1, there, "IA32_PERF_CAPABILITIES[15]");
        CHECK_EQUAL(!read_faults(MSR_PERF_METRICS), there, "RDMSR");
        CHECK_EQUAL(!write_faults(MSR_PERF_METRICS, 0), there, "WRMSR");
        CHECK_EQUAL(pmu_rdpmc(rig.pmu, READ_METRICS, &value), there, "RDPMC");
        CHECK_EQUAL(!write_faults(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(48)), there, "GLOBAL_CTRL");
        CHECK_EQUAL(!write_faults(MSR_IA32_PERF_GLOBAL_OVF_CTRL, ARCH_BIT(48)), there, "RESET");
        CHECK_EQUAL(!write_faults(MSR_IA32_PERF_GLOBAL_STATUS_SET, ARCH_BIT(48)), there, "SET");
    }
}

static void perf_metrics_are_fractions_of_255(void **state)
{
    (void)state;
    start("sapphirerapids");
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0, "no slots yet");
    spend(510, 1020, 1530, 2040);
    CHECK_EQUAL(read_msr(MSR_SLOTS), 5100, "the slots");
    uint64_t level1 = 25 | 51 << 8 | 76 << 16 | 102u << 24;
    uint64_t level2 = 12 | 51 << 8 | 38 << 16 | 51u << 24;
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), (level1 + 1) | level2 << 32, "each of 5100 slots");
    uint64_t value;
    CHECK(pmu_rdpmc(rig.pmu, READ_METRICS, &value), "RDPMC");
    CHECK_EQUAL(value, (level1 + 1) | level2 << 32, "RDPMC");
    spend(0, 0, 0, 510000);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS) >> 24 & 0xff, 253, "more of them");
}

/* Ice Lake has the four of level 1, and those alone can be written. */
static void perf_metrics_of_ice_lake_have_level_1(void **state)
{
    (void)state;
    start("icelake");
    spend(100, 100, 100, 100);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0x3f3f3f42, "a quarter each");
    for (unsigned bit = 0; bit < 64; bit++)
        CHECK_EQUAL(write_faults(MSR_PERF_METRICS, ARCH_BIT(bit)), bit >= 32, "bit %u", bit);
    start("sapphirerapids");
    for (unsigned bit = 0; bit < 64; bit++)
        CHECK(!write_faults(MSR_PERF_METRICS, ARCH_BIT(bit)), "bit %u on Golden Cove", bit);
}

static void perf_metrics_count_while_enabled(void **state)
{
    (void)state;
    const uint64_t both = GLOBAL_CTRL_PERF_METRICS | FX3;
    start("icelake");
    spend(0, 0, 500, 0);
    uint64_t frontend = read_msr(MSR_PERF_METRICS);
    CHECK_EQUAL(frontend, 0xff0000, "front end alone");
    static const struct {
        uint64_t global_ctrl;
        unsigned field;
    } off[] = {{0, BOTH}, {GLOBAL_CTRL_PERF_METRICS, BOTH}, {GLOBAL_CTRL_PERF_METRICS | FX3, 0}};
    for (unsigned i = 0; i < LENGTH(off); i++) {
        write_msr(MSR_IA32_FIXED_CTR_CTRL, SLOTS_FIELD(off[i].field));
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, off[i].global_ctrl);
        spend(0, 0, 0, 5000);
        CHECK_EQUAL(read_msr(MSR_PERF_METRICS), frontend, "case %u", i);
    }
    write_msr(MSR_IA32_FIXED_CTR_CTRL, SLOTS_FIELD(BOTH));
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, both);
    write_msr(MSR_IA32_PERF_GLOBAL_STATUS_SET, GLOBAL_STATUS_CTR_FRZ);
    spend(0, 0, 0, 5000);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), frontend, "frozen");
    write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, GLOBAL_STATUS_CTR_FRZ);
    spend(0, 0, 0, 500);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0x7f7f0001, "enabled again");
    /* The slots alone: their parts fall behind. */
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, FX3);
    spend(0, 0, 0, 1000);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0x3f3f0000, "without bit 48");
}

static void perf_metrics_are_of_the_counters_rings(void **state)
{
    (void)state;
    static const struct {
        unsigned field;
        uint64_t wanted;
    } cases[] = {
        {FIXED_CTR_CTRL_OS, 0xff000000}, {FIXED_CTR_CTRL_USR, 0xff0000}, {BOTH, 0x7f7f0001}};
    for (unsigned i = 0; i < LENGTH(cases); i++) {
        start("icelake");
        write_msr(MSR_IA32_FIXED_CTR_CTRL, SLOTS_FIELD(cases[i].field));
        pass(0, EV_SLOTS_BACKEND, 100, 100);
        pass(3, EV_SLOTS_FRONTEND, 100, 100);
        CHECK_EQUAL(read_msr(MSR_PERF_METRICS), cases[i].wanted, "field %u", cases[i].field);
    }
}

/* The counter first: the fields are parts of what it holds when they are written. */
static void perf_metrics_are_written_behind_the_slots(void **state)
{
    (void)state;
    start("icelake");
    spend(0, 0, 0, 1000);
    write_msr(MSR_SLOTS, 0);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0xffffffff, "undefined");
    write_msr(MSR_PERF_METRICS, 0);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0, "from zero");
    spend(0, 0, 100, 0);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0xff0000, "anew");
    write_msr(MSR_PERF_METRICS, 0);
    write_msr(MSR_SLOTS, 0);
    spend(0, 0, 100, 0);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0xffffffff, "the other way round");
    /* What was saved goes on where it was. */
    write_msr(MSR_SLOTS, 1000000);
    write_msr(MSR_PERF_METRICS, 0x80402000);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0x80402000, "restored");
    spend(1000000, 0, 0, 0);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS) & 0xffffff00, 0x40201000, "half of it");
}

/* A field's own counter carries: its status bit, and the PMI of the slots' counter. */
static void perf_metrics_overflow(void **state)
{
    (void)state;
    for (unsigned pmi = 0; pmi < 2; pmi++) {
        start("icelake");
        apic_arm(0);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, SLOTS_FIELD(BOTH | (pmi ? FIXED_CTR_CTRL_PMI : 0)));
        write_msr(MSR_SLOTS, low_bits(48) - 9);
        write_msr(MSR_PERF_METRICS, 0xff000000);
        write_msr(MSR_SLOTS, 0);
        spend(100, 0, 0, 9);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "not yet");
        CHECK(pmu_deadline(rig.pmu) <= rig.cpu->now + 1, "the deadline is late");
        spend(0, 0, 0, 1);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), GLOBAL_STATUS_PERF_METRICS_OVF,
                    "bit 48");
        pass_skid();
        CHECK_EQUAL(pmis(), pmi, "the PMI");
        write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, GLOBAL_STATUS_PERF_METRICS_OVF);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "reset");
    }
    /* The counter's own overflow has its own bit, and leaves no whole to be parts of. */
    start("icelake");
    write_msr(MSR_SLOTS, low_bits(48));
    write_msr(MSR_PERF_METRICS, 0);
    spend(10, 0, 0, 0);
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), FX3, "bit 35");
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0xffffffff, "undefined");
}

#define WITH_CLEAR "pmu.capabilities=0x8f5ff"

static void rdpmc_clears_the_metrics(void **state)
{
    (void)state;
    uint64_t value;
    rig_start("sapphirerapids", NULL);
    CHECK(write_faults(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_METRICS_CLEAR_EN), "not announced");
    for (unsigned on = 0; on < 2; on++) {
        rig_start("sapphirerapids", WITH_CLEAR, NULL);
        write_msr(MSR_IA32_FIXED_CTR_CTRL,
                  SLOTS_FIELD(BOTH) | (on ? FIXED_CTR_CTRL_METRICS_CLEAR_EN : 0));
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, GLOBAL_CTRL_PERF_METRICS | FX3);
        spend(0, 0, 0, 1000);
        CHECK_EQUAL(read_msr(MSR_PERF_METRICS), 0x7f000000ff000000, "RDMSR");
        CHECK_EQUAL(read_msr(MSR_SLOTS), 1000, "and does not clear");
        CHECK(pmu_rdpmc(rig.pmu, READ_METRICS, &value), "RDPMC");
        CHECK_EQUAL(value, 0x7f000000ff000000, "what it reads");
        CHECK_EQUAL(read_msr(MSR_SLOTS), on ? 0 : 1000, "the slots");
        spend(0, 0, 1000, 0);
        CHECK_EQUAL(read_msr(MSR_PERF_METRICS) & 0xffffffff, on ? 0xff0000 : 0x7f7f0001,
                    "counted on");
        CHECK(pmu_rdpmc(rig.pmu, 0x40000003, &value), "RDPMC of the slots");
        CHECK_EQUAL(read_msr(MSR_SLOTS), on ? 1000 : 2000, "clears nothing");
    }
}

const struct CMUnitTest metrics_tests[] = {
    RULE(perf_metrics_come_with_their_capability),
    RULE(perf_metrics_are_fractions_of_255),
    RULE(perf_metrics_of_ice_lake_have_level_1),
    RULE(perf_metrics_count_while_enabled),
    RULE(perf_metrics_are_of_the_counters_rings),
    RULE(perf_metrics_are_written_behind_the_slots),
    RULE(perf_metrics_overflow),
    RULE(rdpmc_clears_the_metrics),
};
const size_t n_metrics_tests = LENGTH(metrics_tests);
