/* Auto counter reload. */
#include "tests/model/rig.h"
#include "x86/msr.h"
#include "x86/pmu.h"

/* A processor of which general counters 2 to 7 and fixed counters 0 and 1 can be reloaded, by those
 * same counters, as Skymont. */
#define GP_CTR(n)   (MSR_IA32_PMC_GP0_CTR + 4 * (n))
#define GP_CFG_B(n) (MSR_IA32_PMC_GP0_CFG_B + 4 * (n))
#define GP_CFG_C(n) (MSR_IA32_PMC_GP0_CFG_C + 4 * (n))
#define FX_CTR(n)   (MSR_IA32_PMC_FX0_CTR + 4 * (n))
#define FX_CFG_B(n) (MSR_IA32_PMC_FX0_CFG_B + 4 * (n))
#define FX_CFG_C(n) (MSR_IA32_PMC_FX0_CFG_C + 4 * (n))
#define FX(n)       ARCH_BIT(GLOBAL_FIXED_SHIFT + (n))
#define CAUSES      (0xfcULL | 3ULL << GLOBAL_FIXED_SHIFT)

static void start(const char *leaf)
{
    rig_start("sapphirerapids", "pmu.version=6", "pmu.metrics=no", "pmu.skid=0",
              "cpuid.0x0=0x23 0x756e6547 0x6c65746e 0x49656e69",
              "cpuid.0x7.0=1 0x00800309 0 0x00080000", "cpuid.0x7.1=0x100 0 0 0",
              "cpuid.0x23.0=0xf 3 0 0", "cpuid.0x23.1=0xff 0xf 0 0", "cpuid.0x23.3=0x1dff 0 0 0",
              leaf, NULL);
    apic_arm(0);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
}
#define SKYMONT "cpuid.0x23.2=0xfc 3 0xfc 3"

/* The negative of n in so many bits. */
static uint64_t minus(uint64_t n, unsigned width)
{
    return -n & low_bits(width);
}

/* A general counter of instructions (or another event) that is so many events before its overflow.
 */
static void count(unsigned n, unsigned event, uint64_t left, uint64_t more)
{
    write_msr(GP_CTR(n), minus(left, 48));
    write_msr(MSR_IA32_PERFEVTSEL0 + n, event | BOTH_RINGS | PERFEVTSEL_EN | more);
}
#define INSTRUCTIONS 0xc0
#define BRANCHES     0xc4

static void reload_registers_are_announced(void **state)
{
    (void)state;
    start(SKYMONT);
    for (unsigned i = 0; i < 16; i++) {
        CHECK_EQUAL(!read_faults(GP_CFG_B(i)), 0xfc >> i & 1, "CFG_B of %u", i);
        CHECK_EQUAL(!read_faults(GP_CFG_C(i)), 0xfc >> i & 1, "CFG_C of %u", i);
        CHECK_EQUAL(!read_faults(FX_CFG_B(i)), 3 >> i & 1, "CFG_B of fixed %u", i);
        CHECK_EQUAL(!read_faults(FX_CFG_C(i)), 3 >> i & 1, "CFG_C of fixed %u", i);
    }
    static const uint32_t b[] = {GP_CFG_B(2), GP_CFG_B(7), FX_CFG_B(0)};
    static const uint32_t c[] = {GP_CFG_C(2), GP_CFG_C(7), FX_CFG_C(1)};
    for (unsigned i = 0; i < LENGTH(b); i++)
        for (unsigned bit = 0; bit < 64; bit++) {
            CHECK_EQUAL(!write_faults(b[i], ARCH_BIT(bit)), CAUSES >> bit & 1, "cause %u", bit);
            CHECK_EQUAL(!write_faults(c[i], ARCH_BIT(bit)), bit < 32, "bit %u of the value", bit);
        }
    write_msr(GP_CFG_B(2), CAUSES);
    CHECK(write_faults(GP_CFG_B(2), CAUSES | 1), "with another one");
    CHECK_EQUAL(read_msr(GP_CFG_B(2)), CAUSES, "changes nothing");
    /* What can be reloaded and what can cause it are two things. */
    start("cpuid.0x23.2=0x4 0 0x8 0");
    CHECK(!write_faults(GP_CFG_B(2), 0x8) && write_faults(GP_CFG_B(2), 0x4), "the cause alone");
    CHECK(read_faults(GP_CFG_B(3)), "a cause that is not reloaded");
    /* Without the sub-leaf there is none of it. */
    start("cpuid.0x23.0=0xb 3 0 0");
    for (unsigned i = 0; i < 16; i++)
        CHECK(read_faults(GP_CFG_B(i)) && read_faults(FX_CFG_C(i)), "no sub-leaf 2, %u", i);
}

/* CFG_C[31:0] and ones above it; from there the counter goes on event by event. */
static void an_overflow_reloads_another(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 0xffffff9c, 0x7fffffff, 0x12345678};
    for (unsigned i = 0; i < LENGTH(values); i++)
        for (unsigned fixed = 0; fixed < 2; fixed++) {
            start(SKYMONT);
            write_msr(MSR_IA32_FIXED_CTR_CTRL, 3);
            count(2, BRANCHES, 3, 0);
            count(4, INSTRUCTIONS, 1000, 0);
            write_msr(fixed ? FX_CFG_B(0) : GP_CFG_B(4), 1 << 2);
            write_msr(fixed ? FX_CFG_C(0) : GP_CFG_C(4), values[i]);
            uint32_t counter = fixed ? FX_CTR(0) : GP_CTR(4);
            retire(0, 17);
            pass(0, EV_BRANCH, 2, 2);
            uint64_t before = fixed ? 17 : minus(1000 - 17, 48);
            CHECK_EQUAL(read_msr(counter), before, "two of three: not yet");
            pass(0, EV_BRANCH, 1, 1);
            CHECK_EQUAL(read_msr(counter), 0xffff00000000 | values[i], "reloaded");
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 << 2,
                        "the cause's overflow alone");
            retire(0, 5);
            CHECK_EQUAL(read_msr(counter), (0xffff00000000 | values[i]) + 5, "counts on");
            CHECK_EQUAL(read_msr(GP_CTR(2)), 0, "the cause goes on from 0");
        }
}

/* The value has the counter's width. */
static void a_reload_has_the_counters_width(void **state)
{
    (void)state;
    rig_start("sapphirerapids", "pmu.version=6", "pmu.metrics=no", "pmu.general_width=40",
              "cpuid.0x0=0x23 0x756e6547 0x6c65746e 0x49656e69",
              "cpuid.0x7.0=1 0x00800309 0 0x00080000", "cpuid.0x7.1=0x100 0 0 0",
              "cpuid.0x23.0=0xf 3 0 0", "cpuid.0x23.1=0xff 0xf 0 0", SKYMONT, NULL);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    write_msr(GP_CFG_B(3), 1 << 2);
    write_msr(GP_CFG_C(3), 5);
    write_msr(GP_CTR(2), low_bits(40));
    write_msr(MSR_IA32_PERFEVTSEL0 + 2, INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN);
    retire(0, 1);
    CHECK_EQUAL(read_msr(GP_CTR(3)), 0xff00000005, "40 bits, and a counter that stands");
}

/* The time of the reloaded counter's next overflow follows from its new value. */
static void a_reloaded_counter_overflows_in_time(void **state)
{
    (void)state;
    start(SKYMONT);
    count(2, BRANCHES, 1, 0);
    count(4, INSTRUCTIONS, 1000000, PERFEVTSEL_INT);
    write_msr(GP_CFG_B(4), 1 << 2);
    write_msr(GP_CFG_C(4), (uint32_t)-10);
    pass(0, EV_BRANCH, 1, 1);
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 << 2, "the cause");
    CHECK(pmu_deadline(rig.pmu) <= rig.cpu->now + 10, "the deadline is late");
    retire(0, 9);
    CHECK_EQUAL(pmis(), 0, "nine of ten");
    retire(0, 1);
    pass_skid();
    CHECK_EQUAL(pmis(), 1, "the tenth");
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 << 2 | 1 << 4, "its own bit");
}

/* Nothing in the status; with INT the PMI comes all the same. What comes past the overflow counts.
 */
static void a_counter_reloads_itself(void **state)
{
    (void)state;
    for (unsigned interrupt = 0; interrupt < 2; interrupt++) {
        start(SKYMONT);
        count(5, INSTRUCTIONS, 10, interrupt ? PERFEVTSEL_INT : 0);
        write_msr(GP_CFG_B(5), 1 << 5);
        write_msr(GP_CFG_C(5), (uint32_t)-20);
        retire(0, 10);
        CHECK_EQUAL(read_msr(GP_CTR(5)), minus(20, 48), "at once");
        retire(0, 19);
        CHECK_EQUAL(read_msr(GP_CTR(5)), minus(1, 48), "a period");
        retire(0, 4);
        CHECK_EQUAL(read_msr(GP_CTR(5)), minus(17, 48), "three past it");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "no bit");
        pass_skid();
        CHECK_EQUAL(pmis() != 0, interrupt, "the PMI");
        CHECK(pmu_deadline(rig.pmu) <= rig.cpu->now + 17, "the deadline is late");
    }
    /* A period that is shorter than one step of the counter. */
    start(SKYMONT);
    count(5, INSTRUCTIONS, 1, 0);
    write_msr(GP_CFG_B(5), 1 << 5);
    write_msr(GP_CFG_C(5), (uint32_t)-3);
    retire(0, 9);
    CHECK_EQUAL(read_msr(GP_CTR(5)), minus(1, 48), "8 past the overflow, 3 a time");
}

/* Instructions in periods of 40 that cycles' periods of 20 cut short: the first of the two to
 * overflow begins both anew. */
static void causes_name_several(void **state)
{
    (void)state;
    start(SKYMONT);
    write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
    count(3, BRANCHES, 20, 0);
    write_msr(FX_CTR(0), minus(40, 48));
    write_msr(FX_CFG_B(0), 1 << 3 | FX(0));
    write_msr(GP_CFG_B(3), 1 << 3 | FX(0));
    write_msr(FX_CFG_C(0), (uint32_t)-40);
    write_msr(GP_CFG_C(3), (uint32_t)-20);
    retire(0, 39);
    pass(0, EV_BRANCH, 19, 1);
    retire(0, 1);
    CHECK_EQUAL(read_msr(FX_CTR(0)), minus(40, 48), "the instructions were first");
    CHECK_EQUAL(read_msr(GP_CTR(3)), minus(20, 48), "and reloaded the branches");
    pass(0, EV_BRANCH, 20, 1);
    CHECK_EQUAL(read_msr(GP_CTR(3)), minus(20, 48), "the branches are first");
    CHECK_EQUAL(read_msr(FX_CTR(0)), minus(40, 48), "both anew");
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "each reloads itself");
    write_msr(GP_CFG_B(3), FX(0));
    pass(0, EV_BRANCH, 20, 1);
    CHECK_EQUAL(read_msr(GP_CTR(3)), 0, "not itself any more");
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 << 3, "and so has its bit");
    write_msr(FX_CFG_B(0), 0);
    retire(0, 40);
    CHECK_EQUAL(read_msr(FX_CTR(0)), 0, "no cause");
}

/* INIT keeps them, a reset does not. */
static void reload_registers_through_resets(void **state)
{
    (void)state;
    start(SKYMONT);
    write_msr(GP_CFG_B(2), 1 << 2);
    write_msr(FX_CFG_C(1), 77);
    pmu_reset(rig.pmu, true);
    CHECK(read_msr(GP_CFG_B(2)) == 1 << 2 && read_msr(FX_CFG_C(1)) == 77, "INIT");
    pmu_reset(rig.pmu, false);
    CHECK(read_msr(GP_CFG_B(2)) == 0 && read_msr(FX_CFG_C(1)) == 0, "RESET");
}

const struct CMUnitTest reload_tests[] = {
    RULE(reload_registers_are_announced),  RULE(an_overflow_reloads_another),
    RULE(a_reload_has_the_counters_width), RULE(a_reloaded_counter_overflows_in_time),
    RULE(a_counter_reloads_itself),        RULE(causes_name_several),
    RULE(reload_registers_through_resets),
};
const size_t n_reload_tests = LENGTH(reload_tests);
