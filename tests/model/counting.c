/* What a counter counts, and when: select, rings, conditions, enables, clocks. */
#include "sim/dev/dev.h"
#include "tests/model/rig.h"
#include "sim/cpu/internal.h"
#include "x86/apic.h"
#include "x86/events.h"
#include "x86/pmu.h"
#include "x86/msr.h"

static void only_the_selected_event_counts(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        for (unsigned i = 0; i < rig.general; i++) {
            count_instructions(i, 0);
            write_msr(MSR_IA32_PMC0 + i, 0);
            retire(0, 100);
            pass(0, EV_BRANCH, 7, 7);
            CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), 100, "INST_RETIRED on IA32_PMC%u", i);
            write_msr(MSR_IA32_PERFEVTSEL0 + i, 0xc4 | BOTH_RINGS | PERFEVTSEL_EN);
            pass(0, EV_BRANCH, 7, 7);
            retire(0, 100);
            CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), 107, "branches on IA32_PMC%u", i);
            write_msr(MSR_IA32_PERFEVTSEL0 + i, 0);
        }
    }
}

static void an_absent_event_counts_nothing(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    write_msr(MSR_IA32_PERFEVTSEL0,
              0xfe | 0x77 << PERFEVTSEL_UMASK_SHIFT | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
    retire(0, 1000);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "an encoding that the machine lacks");
}

static char noted[256];
static unsigned n_noted;

static void take_note(void *context, const char *line)
{
    (void)context;
    snprintf(noted, sizeof noted, "%s", line);
    n_noted++;
}

static void select_and_count(unsigned counter, uint64_t event)
{
    write_msr(MSR_IA32_PERFEVTSEL0 + counter, event | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(counter));
    retire(0, 1000);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + counter), 0, "what the model does not count");
}

/* What stays 0 is named to the host, each encoding once: whether the profile knows it, and how. */
static void an_uncounted_event_is_named_once(void **state)
{
    (void)state;
    rig_start("skylake", "event.0xb7.0x01=OFFCORE_RESPONSE_0 uncounted",
              "event.0xb6.0x01=NOTHING none", NULL);
    rig.machine->host.note = take_note;
    n_noted = 0;
    select_and_count(0, 0xb6 | 1 << PERFEVTSEL_UMASK_SHIFT);
    CHECK_EQUAL(n_noted, 0, "what counts nothing on the silicon either is not named");
    select_and_count(0, 0xb7 | 1 << PERFEVTSEL_UMASK_SHIFT);
    assert_string_equal(noted,
                        "skylake: event 0xb7 umask 0x01 OFFCORE_RESPONSE_0 is not counted by "
                        "the model: it stays 0");
    select_and_count(1, 0xb7 | 1 << PERFEVTSEL_UMASK_SHIFT);
    CHECK_EQUAL(n_noted, 1, "it is named once");
    select_and_count(0, 0xfe | 0x77 << PERFEVTSEL_UMASK_SHIFT);
    assert_string_equal(noted,
                        "skylake: event 0xfe umask 0x77 is not in the profile's list: it stays 0");
    CHECK_EQUAL(n_noted, 2, "so is one that the profile does not know");
    write_msr(MSR_IA32_PERFEVTSEL0, 0xfd | BOTH_RINGS);
    CHECK_EQUAL(n_noted, 2, "one that is not counting is not");
}

/* An event of the records themselves: one for each that is written. */
static void lbr_inserts_are_counted(void **state)
{
    (void)state;
    rig_start("arrowlake", NULL);
    write_msr(MSR_IA32_PERFEVTSEL0, EVENT_MISC_RETIRED_LBR_INSERTS | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
    branch(BR_JMP_REL, 0x1000, 0x2000);
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | LBR_CTL_OS | LBR_CTL_JCC);
    for (unsigned i = 0; i < 40; i++)
        branch(i % 4 ? BR_JCC : BR_JMP_REL, 0x1000, 0x2000);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 30, "of 40 branches, 30 are recorded");
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | LBR_CTL_OS | LBR_CTL_CALL_STACK |
                                    LBR_CTL_NEAR_REL_CALL | LBR_CTL_NEAR_RET);
    for (unsigned i = 0; i < 6; i++)
        branch(i % 3 == 2 ? BR_RET : BR_CALL_REL, 0x1000, 0x2000);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 34, "a return that takes a record away writes none");
}

/* USR and OS: CPL 0 is OS, all else USR; neither counts nothing. */
static void general_counters_filter_rings(void **state)
{
    (void)state;
    static const struct {
        uint64_t bits;
        uint64_t wanted; /* of 1000 instructions at CPL 0, 100 at 3, 10 at 1, 1 at 2 */
    } cases[] = {{0, 0},
                 {PERFEVTSEL_OS, 1000},
                 {PERFEVTSEL_USR, 111},
                 {PERFEVTSEL_OS | PERFEVTSEL_USR, 1111}};
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++)
        for (unsigned c = 0; c < LENGTH(cases); c++) {
            rig_start(pmu_profiles[p], NULL);
            for (unsigned i = 0; i < rig.general; i++)
                write_msr(MSR_IA32_PERFEVTSEL0 + i,
                          SELECT_INSTRUCTIONS | PERFEVTSEL_EN | cases[c].bits);
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
            retire(0, 1000);
            retire(3, 100);
            retire(1, 10);
            retire(2, 1);
            for (unsigned i = 0; i < rig.general; i++)
                CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), cases[c].wanted, "case %u, IA32_PMC%u", c,
                            i);
        }
}

/* The two enable bits of each fixed counter are its rings; PMI alone does not enable it. */
static void fixed_counters_filter_rings(void **state)
{
    (void)state;
    static const uint64_t wanted[] = {0, 1000, 111, 1111};
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++)
        for (unsigned field = 0; field < 4; field++)
            for (unsigned pmi = 0; pmi < 2; pmi++) {
                rig_start(pmu_profiles[p], NULL);
                write_msr(MSR_IA32_FIXED_CTR_CTRL, field | (pmi ? FIXED_CTR_CTRL_PMI : 0));
                write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
                retire(0, 1000);
                retire(3, 100);
                retire(1, 10);
                retire(2, 1);
                CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0), wanted[field], "enables %u", field);
                CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + 1), 0, "its neighbour");
            }
}

static void en_switches_a_general_counter(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        count_instructions(0, 0);
        write_msr(MSR_IA32_PERFEVTSEL0 + 1, SELECT_INSTRUCTIONS | BOTH_RINGS);
        retire(0, 10);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 10, "with EN");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), 0, "without EN");
        write_msr(MSR_IA32_PERFEVTSEL0, SELECT_INSTRUCTIONS | BOTH_RINGS);
        retire(0, 10);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 10, "it keeps its value when EN goes");
    }
}

/* The enables of GLOBAL_CTRL and of the counter are ANDed, counter by counter. */
static void global_ctrl_gates_each_counter(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        for (unsigned i = 0; i < rig.general; i++)
            write_msr(MSR_IA32_PERFEVTSEL0 + i, 0x3c | BOTH_RINGS | PERFEVTSEL_EN);
        uint64_t all_fixed = 0;
        for (unsigned i = 0; i < rig.fixed; i++)
            all_fixed |= (uint64_t)(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR) << 4 * i;
        write_msr(MSR_IA32_FIXED_CTR_CTRL, all_fixed);
        for (unsigned on = 0; on < 64; on++) {
            if (!(counter_enables() >> on & 1))
                continue;
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
            for (unsigned i = 0; i < rig.general; i++)
                write_msr(MSR_IA32_PMC0 + i, 0);
            for (unsigned i = 0; i < rig.fixed; i++)
                write_msr(MSR_IA32_FIXED_CTR0 + i, 0);
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(on));
            pass(0, EV_INSN, 100000, 100000);
            for (unsigned i = 0; i < rig.general; i++)
                CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i) != 0, i == on, "enable %u, IA32_PMC%u", on,
                            i);
            for (unsigned i = 0; i < rig.fixed; i++)
                CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + i) != 0, 32 + i == on,
                            "enable %u, IA32_FIXED_CTR%u", on, i);
        }
    }
}

static void version_1_has_no_global_enable(void **state)
{
    (void)state;
    rig_start("merom", NULL);
    write_msr(MSR_IA32_PERFEVTSEL0 + 1, SELECT_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN);
    retire(0, 5);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), 5, "EN alone enables");
}

/* After power-on: all 0 but the enables of the general counters in GLOBAL_CTRL; an INIT changes
 * none of it. */
static void power_on_values_and_init(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), low_bits(rig.general), "power-on");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR_CTRL), 0, "power-on");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "power-on");
        CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), 0, "power-on");
        for (unsigned i = 0; i < rig.general; i++) {
            CHECK_EQUAL(read_msr(MSR_IA32_PERFEVTSEL0 + i), 0, "power-on");
            CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), 0, "power-on");
        }
        write_msr(MSR_IA32_PERFEVTSEL0, SELECT_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, 0x3);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
        write_msr(MSR_IA32_PMC0, 1234);
        pmu_reset(rig.pmu, true);
        CHECK_EQUAL(read_msr(MSR_IA32_PERFEVTSEL0),
                    SELECT_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN, "INIT");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR_CTRL), 3, "INIT");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), 1, "INIT");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 1234, "INIT");
        pmu_reset(rig.pmu, false);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), low_bits(rig.general), "RESET");
        CHECK_EQUAL(read_msr(MSR_IA32_PERFEVTSEL0), 0, "RESET");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "RESET");
    }
}

/* Clocks: core cycles, reference cycles at the bus or crystal frequency, and the TSC's. The fixed
 * counters' meaning is fixed. One simulated millisecond of each ring. */
static void clocks_run_at_their_rates(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        const struct profile *f = &rig.profile;
        write_msr(MSR_IA32_PERFEVTSEL0, 0x3c | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(MSR_IA32_PERFEVTSEL0 + 1,
                  0x3c | 1 << PERFEVTSEL_UMASK_SHIFT | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, 0x333);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        uint64_t cycles = f->core_hz / 1000, slots = cycles * f->uarch.retire_width;
        pass(0, EV_INSN, cycles, slots);
        pass(3, EV_INSN, cycles, slots);
        static const uint64_t near = 2;
        const struct {
            uint32_t msr;
            uint64_t wanted;
        } clocks[] = {{MSR_IA32_PMC0, 2 * cycles},
                      {MSR_IA32_PMC0 + 1, f->ref_hz / 500},
                      {MSR_IA32_FIXED_CTR0, 2 * cycles},
                      {MSR_IA32_FIXED_CTR0 + 1, 2 * cycles},
                      {MSR_IA32_FIXED_CTR0 + 2, f->tsc_hz / 500}};
        for (unsigned i = 0; i < LENGTH(clocks); i++) {
            uint64_t value = read_msr(clocks[i].msr);
            CHECK(value + near >= clocks[i].wanted && value <= clocks[i].wanted + near,
                  "MSR %XH: %llu, wanted %llu", clocks[i].msr, (unsigned long long)value,
                  (unsigned long long)clocks[i].wanted);
        }
    }
}

/* Halted time is no unhalted clock. */
static void halted_time_is_not_counted(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    write_msr(MSR_IA32_PERFEVTSEL0, 0x3c | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_FIXED_CTR_CTRL, 0x333);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    uint64_t tsc = cpu_tsc(rig.cpu);
    rig.cpu->now += 1000000; /* as the interpreter does in HLT: time, but no slots */
    rig.cpu->halted += 1000000;
    pmu_update(rig.pmu);
    CHECK(cpu_tsc(rig.cpu) > tsc, "the TSC runs on");
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + i), 0, "IA32_FIXED_CTR%u", i);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "IA32_PMC0");
}

/* ---- Clocks outside of the PMU ---- */

static void mperf_and_aperf_are_there_where_cpuid_says_so(void **state)
{
    static const char *const words[] = {"cpuid.0x6=4 0 0 0", "cpuid.0x6=4 0 1 0"};
    (void)state;
    for (unsigned there = 0; there < LENGTH(words); there++) {
        rig_start("skylake", words[there], NULL);
        for (uint32_t msr = MSR_IA32_MPERF; msr <= MSR_IA32_APERF; msr++) {
            CHECK_EQUAL(!read_faults(msr), there, "RDMSR of %#x with %s", msr, words[there]);
            CHECK_EQUAL(!write_faults(msr, 0), there, "WRMSR of %#x with %s", msr, words[there]);
        }
    }
}

/* A thousandth of a second of each kind. */
static void mperf_and_aperf_count_in_c0(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    uint64_t core = rig.profile.core_hz / 1000, tsc = rig.profile.tsc_hz / 1000;
    uint64_t slots = core * rig.profile.uarch.retire_width;
    rig.cpu->now += slots;
    CHECK_EQUAL(read_msr(MSR_IA32_APERF), core, "IA32_APERF");
    CHECK_EQUAL(read_msr(MSR_IA32_MPERF), tsc, "IA32_MPERF");
    rig.cpu->now += slots;
    rig.cpu->halted += slots;
    CHECK_EQUAL(read_msr(MSR_IA32_APERF), core, "IA32_APERF, halted");
    CHECK_EQUAL(read_msr(MSR_IA32_MPERF), tsc, "IA32_MPERF, halted");
    write_msr(MSR_IA32_APERF, 5);
    CHECK_EQUAL(read_msr(MSR_IA32_APERF), 5, "IA32_APERF, written");
    CHECK_EQUAL(read_msr(MSR_IA32_MPERF), tsc, "IA32_MPERF beside it");
    write_msr(MSR_IA32_MPERF, 0);
    CHECK_EQUAL(read_msr(MSR_IA32_APERF), 5, "IA32_APERF beside the other");
    CHECK_EQUAL(read_msr(MSR_IA32_MPERF), 0, "IA32_MPERF, written");
    rig.cpu->now += slots;
    CHECK_EQUAL(read_msr(MSR_IA32_APERF), 5 + core, "IA32_APERF goes on");
    CHECK_EQUAL(read_msr(MSR_IA32_MPERF), tsc, "IA32_MPERF goes on");
}

/* Either takes the other along. */
static void mperf_and_aperf_overflow_together(void **state)
{
    (void)state;
    for (uint32_t msr = MSR_IA32_MPERF; msr <= MSR_IA32_APERF; msr++) {
        rig_start("skylake", "clock.core_hz=3000000000", "clock.tsc_hz=3000000000", NULL);
        uint64_t cycle = rig.profile.uarch.retire_width;
        rig.cpu->now += 1000 * cycle;
        write_msr(msr, (uint64_t)-10);
        rig.cpu->now += 9 * cycle;
        CHECK_EQUAL(read_msr(msr), UINT64_MAX, "%#x before the overflow", msr);
        CHECK_EQUAL(read_msr(msr ^ MSR_IA32_MPERF ^ MSR_IA32_APERF), 1009, "the other one");
        rig.cpu->now += 7 * cycle;
        CHECK_EQUAL(read_msr(MSR_IA32_MPERF), 6, "IA32_MPERF after the overflow of %#x", msr);
        CHECK_EQUAL(read_msr(MSR_IA32_APERF), 6, "IA32_APERF after the overflow of %#x", msr);
    }
}

/* ---- Conditions ---- */

/* Cycles with so many instructions each, in CPL 0; one digit a cycle. Then the counter stops and is
 * read. */
static uint64_t count_of(const char *cycles, uint64_t bits)
{
    rig_start("skylake", NULL);
    write_msr(MSR_IA32_PERFEVTSEL0, SELECT_INSTRUCTIONS | PERFEVTSEL_EN | BOTH_RINGS | bits);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
    for (; *cycles; cycles++)
        pass(0, EV_INSN, *cycles - '0', rig.profile.uarch.retire_width);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    return read_msr(MSR_IA32_PMC0);
}

#define CMASK(n) ((uint64_t)(n) << PERFEVTSEL_CMASK_SHIFT)

static void cmask_counts_cycles_at_or_above_it(void **state)
{
    (void)state;
    static const char cycles[] = "0123401234";
    CHECK_EQUAL(count_of(cycles, 0), 20, "CMASK 0: events");
    static const unsigned wanted[] = {0, 8, 6, 4, 2, 0};
    for (unsigned n = 1; n < LENGTH(wanted); n++)
        CHECK_EQUAL(count_of(cycles, CMASK(n)), wanted[n], "CMASK %u", n);
    CHECK_EQUAL(count_of(cycles, CMASK(255)), 0, "CMASK 255");
}

static void inv_counts_cycles_below_cmask(void **state)
{
    (void)state;
    static const char cycles[] = "0123401234";
    static const unsigned wanted[] = {0, 2, 4, 6, 8, 10};
    for (unsigned n = 1; n < LENGTH(wanted); n++)
        CHECK_EQUAL(count_of(cycles, CMASK(n) | PERFEVTSEL_INV), wanted[n], "CMASK %u", n);
    CHECK_EQUAL(count_of(cycles, PERFEVTSEL_INV), 20, "INV means nothing while CMASK is 0");
}

static void edge_counts_rises_of_the_condition(void **state)
{
    (void)state;
    CHECK_EQUAL(count_of("0110111001", PERFEVTSEL_E), 3, "of the event");
    CHECK_EQUAL(count_of("0220122310", PERFEVTSEL_E | CMASK(2)), 2, "with CMASK 2");
    CHECK_EQUAL(count_of("2002200220", PERFEVTSEL_E | CMASK(1) | PERFEVTSEL_INV), 3, "inverted");
    CHECK_EQUAL(count_of("1111111111", PERFEVTSEL_E), 1, "one rise");
}

/* A cycle outside the counted rings asserts nothing. */
static void conditions_hold_in_counted_rings_only(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    unsigned width = rig.profile.uarch.retire_width;
    write_msr(MSR_IA32_PERFEVTSEL0,
              SELECT_INSTRUCTIONS | PERFEVTSEL_EN | PERFEVTSEL_USR | CMASK(1));
    write_msr(MSR_IA32_PERFEVTSEL0 + 1,
              SELECT_INSTRUCTIONS | PERFEVTSEL_EN | PERFEVTSEL_USR | CMASK(4) | PERFEVTSEL_INV);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 3);
    for (unsigned i = 0; i < 5; i++) {
        pass(0, EV_INSN, 1, width);
        pass(3, EV_INSN, 1, width);
        pass(3, EV_INSN, 1, width);
    }
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 10, "CMASK 1");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), 10, "INV");
}

/* Intel's event lists, Goldmont: RECEIVED "counts hardware interrupts received by the processor";
 * MASKED "increments by 1 each core cycle that EFLAGS.IF is 0, regardless of whether interrupts are
 * pending or not"; PENDING_AND_MASKED when "an INTR is pending (which means the APIC is telling the
 * ROB to cause an INTR)", but not if all are "inhibited by the PPR" (Tremont's list). */
static void masked_interrupts_are_timed(void **state)
{
    (void)state;
    enum { RECEIVED, MASKED, WAITING, PERIODS };
    rig_start("goldmont", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    cpu_set_rflags(rig.cpu, RFLAGS_IF);
    write_msr(MSR_IA32_PERFEVTSEL0 + RECEIVED, 0x01cb | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERFEVTSEL0 + MASKED, 0x02cb | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERFEVTSEL0 + WAITING, 0x04cb | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERFEVTSEL0 + PERIODS,
              0x02cb | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_E | CMASK(1));
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    static const struct step {
        const char *what;
        bool enabled; /* IF */
        uint32_t tpr;
        bool interrupt; /* one arrives */
        unsigned cycles, masked, waiting;
    } steps[] = {
        {"IF is 1", true, 0, false, 10, 0, 0},
        {"IF is 0", false, 0, false, 100, 100, 0},
        {"IF is 1 again", true, 0, false, 10, 100, 0},
        {"IF is 0 again", false, 0, false, 30, 130, 0},
        {"an interrupt waits", false, 0, true, 50, 180, 50},
        {"the task priority holds it back", false, 0xf0, false, 20, 200, 50},
        {"and no longer", false, 0, false, 5, 205, 55},
        {"IF is 1, before it is taken", true, 0, false, 10, 205, 55},
    };
    for (const struct step *s = steps; s < steps + LENGTH(steps); s++) {
        cpu_set_rflags(rig.cpu, s->enabled ? RFLAGS_IF : 0);
        apic_write(0x80, s->tpr);
        if (s->interrupt)
            apic_write(0x300, 0x50 | 1 << APIC_ICR_SHORTHAND_SHIFT);
        for (unsigned i = 0; i < s->cycles; i += 5)
            pass(0, EV_ABSENT, 0, 5 * rig.profile.uarch.retire_width);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + RECEIVED), 0, "received, %s", s->what);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + MASKED), s->masked, "masked, %s", s->what);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + WAITING), s->waiting, "waiting, %s", s->what);
    }
    CHECK(system_events(rig.cpu), "it is taken");
    pass(0, EV_ABSENT, 0, 7 * rig.profile.uarch.retire_width);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + RECEIVED), 1, "received");
    CHECK(read_msr(MSR_IA32_PMC0 + MASKED) >= 205 + 7, "masked in its handler");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + WAITING), 55, "and waits no longer");
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + PERIODS), 3, "periods");
}

/* What Linux's topdown-* select (arch/x86/events/intel/core.c), and what else counts the same. */
static void slots_are_counted_by_where_they_went(void **state)
{
    (void)state;
    enum { KINDS = 4 };
    static const enum cpu_event kinds[KINDS] = {EV_SLOTS_RETIRING, EV_SLOTS_BAD_SPEC,
                                                EV_SLOTS_FRONTEND, EV_SLOTS_BACKEND};
    static const struct {
        const char *profile;
        unsigned selects[KINDS]; /* 0: there is none */
        unsigned issued;
        bool cycles; /* bad speculation is counted in cycles */
    } cases[] = {
        {"sandybridge", {0x02c2, 0x030d, 0x019c, 0}, 0x010e, true},
        {"haswell", {0x02c2, 0x030d, 0x019c, 0}, 0x010e, true},
        {"skylake", {0x02c2, 0x010d, 0x019c, 0}, 0x010e, true},
        {"kvm", {0x02c2, 0x010d, 0x019c, 0}, 0x010e, true},
        {"icelake", {0x02c2, 0x010d, 0x019c, 0}, 0x010e, true},
        {"sapphirerapids", {0x02c2, 0, 0x019c, 0}, 0x010e, false},
        {"alderlake", {0x02c2, 0, 0x019c, 0}, 0x010e, false},
        {"goldmont", {0x00c2, 0x02ca, 0x009c, 0}, 0x000e, false},
        {"gracemont", {0x00c2, 0x0673, 0x0071, 0x0074}, 0, false},
        {"gracemont", {0x00c2, 0x0073, 0x0071, 0x0074}, 0, false},
        {"alderlake/e", {0x00c2, 0x0073, 0x0071, 0x0074}, 0, false},
    };
    static const unsigned cycles[KINDS] = {3, 5, 7, 11};
    for (unsigned c = 0; c < LENGTH(cases); c++) {
        rig_start(cases[c].profile, NULL);
        unsigned width = rig.profile.uarch.retire_width;
        for (unsigned k = 0; k < KINDS; k++)
            if (cases[c].selects[k])
                write_msr(MSR_IA32_PERFEVTSEL0 + k,
                          cases[c].selects[k] | BOTH_RINGS | PERFEVTSEL_EN);
        if (cases[c].issued)
            write_msr(MSR_IA32_PERFEVTSEL0 + 3, cases[c].issued | BOTH_RINGS | PERFEVTSEL_EN);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        for (unsigned k = 0; k < KINDS; k++) {
            rig.cpu->total[0][kinds[k]] += (uint64_t)cycles[k] * width;
            pass(0, EV_ABSENT, 0, (uint64_t)cycles[k] * width);
        }
        for (unsigned k = 0; k < KINDS; k++)
            if (cases[c].selects[k])
                CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + k),
                            cycles[k] *
                                (cases[c].cycles && kinds[k] == EV_SLOTS_BAD_SPEC ? 1 : width),
                            "%#x", cases[c].selects[k]);
        if (cases[c].issued)
            CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 3), cycles[0] * width, "%#x", cases[c].issued);
    }
}

/* Linux multiplies it by the width, to get the slots: so no cycle may count that they only touch.
 */
static void recovery_counts_the_cycles_that_its_slots_make(void **state)
{
    (void)state;
    enum { TIMES = 12, CYCLES = 5 };
    rig_start("skylake", NULL);
    unsigned width = rig.profile.uarch.retire_width;
    static const uint64_t conditions[] = {0, CMASK(1), CMASK(1) | PERFEVTSEL_E};
    static const unsigned wanted[] = {TIMES * CYCLES, TIMES * CYCLES, TIMES};
    for (unsigned i = 0; i < LENGTH(conditions); i++)
        write_msr(MSR_IA32_PERFEVTSEL0 + i, 0x010d | conditions[i] | BOTH_RINGS | PERFEVTSEL_EN);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    for (unsigned i = 0; i < TIMES; i++) {
        pass(0, EV_SLOTS_BAD_SPEC, CYCLES * width, CYCLES * width);
        pass(0, EV_ABSENT, 0, 3 * width + i % width); /* not only at a cycle's begin */
    }
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    for (unsigned i = 0; i < LENGTH(conditions); i++)
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + i), wanted[i], "condition %u", i);
}

const struct CMUnitTest counting_tests[] = {
    RULE(only_the_selected_event_counts),
    RULE(an_absent_event_counts_nothing),
    RULE(an_uncounted_event_is_named_once),
    RULE(lbr_inserts_are_counted),
    RULE(general_counters_filter_rings),
    RULE(fixed_counters_filter_rings),
    RULE(en_switches_a_general_counter),
    RULE(global_ctrl_gates_each_counter),
    RULE(version_1_has_no_global_enable),
    RULE(power_on_values_and_init),
    RULE(clocks_run_at_their_rates),
    RULE(halted_time_is_not_counted),
    RULE(mperf_and_aperf_are_there_where_cpuid_says_so),
    RULE(mperf_and_aperf_count_in_c0),
    RULE(mperf_and_aperf_overflow_together),
    RULE(cmask_counts_cycles_at_or_above_it),
    RULE(inv_counts_cycles_below_cmask),
    RULE(edge_counts_rises_of_the_condition),
    RULE(conditions_hold_in_counted_rings_only),
    RULE(masked_interrupts_are_timed),
    RULE(slots_are_counted_by_where_they_went),
    RULE(recovery_counts_the_cycles_that_its_slots_make),
};
const size_t n_counting_tests = LENGTH(counting_tests);
