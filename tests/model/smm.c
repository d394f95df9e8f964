/* System-management interrupts: what a handler leaves behind in counters and records. */
#include "sim/smi.h"
#include "tests/model/rig.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#define INSNS    1000
#define BRANCHES 7

static const struct smi handler = {.every = 1, .insns = INSNS, .branches = BRANCHES};

/* One that is due now. */
static void take_smi(const struct smi *what)
{
    struct smi smi = *what;
    CHECK(smi_deadline(&smi, rig.cpu) <= rig.cpu->now, "an SMI is due");
    smi_tick(&smi, rig.cpu);
    pmu_update(rig.pmu);
}

static bool can_freeze(void)
{
    return rig.capabilities & PERF_CAP_FREEZE_WHILE_SMM;
}

static void smi_count_is_there_where_the_profile_says_so(void **state)
{
    static const char *const words[] = {"msr.smi_count=no", "msr.smi_count=yes"};
    (void)state;
    for (unsigned there = 0; there < LENGTH(words); there++) {
        rig_start("skylake", words[there], NULL);
        CHECK_EQUAL(!read_faults(MSR_SMI_COUNT), there, "RDMSR with %s", words[there]);
        CHECK(write_faults(MSR_SMI_COUNT, 0), "WRMSR with %s", words[there]);
    }
    rig_start("core2", NULL);
    CHECK(read_faults(MSR_SMI_COUNT), "Core 2 has none");
}

static void smi_count_counts_in_32_bits(void **state)
{
    (void)state;
    rig_start("westmere", NULL);
    CHECK_EQUAL(read_msr(MSR_SMI_COUNT), 0, "after power-on");
    take_smi(&handler);
    take_smi(&handler);
    CHECK_EQUAL(read_msr(MSR_SMI_COUNT), 2, "after two");
    cpu_reset(rig.cpu, true);
    CHECK_EQUAL(read_msr(MSR_SMI_COUNT), 2, "INIT keeps it");
    rig.cpu->smi_count = UINT32_MAX;
    take_smi(&handler);
    CHECK_EQUAL(read_msr(MSR_SMI_COUNT), 0, "it wraps");
}

/* The handler runs at CPL 0: a counter of the other rings does not see it. */
static void smm_is_counted_without_the_freeze(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_OS << 4);
        count_instructions(0, 0);
        write_msr(MSR_IA32_PERFEVTSEL0 + 1, SELECT_INSTRUCTIONS | PERFEVTSEL_USR | PERFEVTSEL_EN);
        rig.cpu->cpl = 3;
        take_smi(&handler);
        CHECK_EQUAL(rig.cpu->cpl, 3, "back in the ring that was interrupted");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), INSNS, "IA32_PMC0");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), 0, "IA32_PMC1, of rings 1 to 3");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0), INSNS, "IA32_FIXED_CTR0");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0 + 1), INSNS, "IA32_FIXED_CTR1, a cycle for each");
    }
}

static void freeze_while_smm_stops_the_counters(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (!can_freeze())
            continue;
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
        count_instructions(0, 0);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 1);
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_WHILE_SMM);
        uint64_t tsc = cpu_tsc(rig.cpu);
        take_smi(&handler);
        CHECK(cpu_tsc(rig.cpu) > tsc, "time passes");
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "IA32_PMC0");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), 1, "the enables are as they were");
        retire(0, 50);
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 50, "and it counts again");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0), 0, "what was off stays off");
    }
}

static void freeze_while_smm_keeps_perf_metrics(void **state)
{
    (void)state;
    rig_start("icelake", NULL);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_WHILE_SMM);
    write_msr(MSR_IA32_FIXED_CTR_CTRL, (uint64_t)FIXED_CTR_CTRL_OS << 3 * FIXED_CTR_CTRL_BITS);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, GLOBAL_CTRL_PERF_METRICS | ARCH_BIT(35));
    pass(0, EV_SLOTS_FRONTEND, 600, 1000);
    uint64_t before = read_msr(MSR_PERF_METRICS);
    take_smi(&handler);
    CHECK_EQUAL(read_msr(MSR_PERF_METRICS), before, "PERF_METRICS");
    write_msr(MSR_IA32_DEBUGCTL, 0);
    take_smi(&handler);
    CHECK(read_msr(MSR_PERF_METRICS) != before, "without the freeze it moves");
}

/* How many records there are behind the first, which was at this place. */
static uint64_t recorded_since(uint64_t tos)
{
    return (read_msr(MSR_LASTBRANCH_TOS) - tos) % rig.profile.pmu.lbr_depth;
}

static void smm_is_recorded_without_the_freeze(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (read_faults(MSR_LASTBRANCH_TOS) || write_faults(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR))
            continue;
        uint64_t tos = read_msr(MSR_LASTBRANCH_TOS);
        take_smi(&handler);
        CHECK_EQUAL(recorded_since(tos), BRANCHES % rig.profile.pmu.lbr_depth, "the handler's");
        if (!can_freeze())
            continue;
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_FREEZE_WHILE_SMM);
        tos = read_msr(MSR_LASTBRANCH_TOS);
        take_smi(&handler);
        CHECK_EQUAL(recorded_since(tos), 0, "with the freeze none");
        CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), DEBUGCTL_LBR | DEBUGCTL_FREEZE_WHILE_SMM,
                    "DEBUGCTL is as it was");
        branch(BR_JMP_REL, 1, 2);
        CHECK_EQUAL(recorded_since(tos), 1, "and records again");
    }
}

/* Clarkdale specification update, BU10: also with the freeze. */
static void an_smi_can_spoil_the_records(void **state)
{
    struct smi spoils = handler;
    (void)state;
    spoils.spoils = true;
    rig_start("westmere", NULL);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_FREEZE_WHILE_SMM);
    uint64_t tos = read_msr(MSR_LASTBRANCH_TOS);
    take_smi(&spoils);
    CHECK_EQUAL(recorded_since(tos), 1, "one that no branch made");
}

/* The PMI comes behind the SMI. */
static void a_counter_can_overflow_in_smm(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    count_instructions(0, PERFEVTSEL_INT);
    write_msr(MSR_IA32_PMC0, (uint32_t) - (INSNS / 2));
    take_smi(&handler);
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1, "IA32_PERF_GLOBAL_STATUS");
}

const struct CMUnitTest smm_tests[] = {
    RULE(smi_count_is_there_where_the_profile_says_so),
    RULE(smi_count_counts_in_32_bits),
    RULE(smm_is_counted_without_the_freeze),
    RULE(freeze_while_smm_stops_the_counters),
    RULE(freeze_while_smm_keeps_perf_metrics),
    RULE(smm_is_recorded_without_the_freeze),
    RULE(an_smi_can_spoil_the_records),
    RULE(a_counter_can_overflow_in_smm),
};
const size_t n_smm_tests = LENGTH(smm_tests);
