/* Freezing on PMI, by version. */
#include "tests/model/rig.h"
#include "x86/msr.h"
#include "x86/pmu.h"
#include "x86/apic.h"

static bool has_freeze(void)
{
    bool there = !write_faults(MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_PERFMON_ON_PMI);
    write_msr(MSR_IA32_DEBUGCTL, 0);
    return there;
}

static void overflow_with(uint64_t debugctl)
{
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
    count_instructions(0, PERFEVTSEL_INT);
    write_msr(MSR_IA32_DEBUGCTL, debugctl);
    write_msr(MSR_IA32_PMC0, (uint32_t)-1);
    retire(0, 1);
    pass_skid();
}

static void counts(bool running, const char *what)
{
    uint64_t general = read_msr(MSR_IA32_PMC0), fixed = read_msr(MSR_IA32_FIXED_CTR0);
    retire(0, 50);
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0) - general, running ? 50 : 0, "IA32_PMC0, %s", what);
    CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0) - fixed, running ? 50 : 0, "IA32_FIXED_CTR0, %s",
                what);
}

static void without_the_freeze_bit_counters_go_on(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        overflow_with(0);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), counter_enables(), "GLOBAL_CTRL stays");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1, "no frozen bit");
        counts(true, "after the PMI");
    }
}

/* Versions 2 and 3: the PMI clears GLOBAL_CTRL; writing it again thaws, the status reset does not.
 */
static void legacy_freeze_clears_global_ctrl(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (rig.version >= 4 || !has_freeze())
            continue;
        overflow_with(DEBUGCTL_FREEZE_PERFMON_ON_PMI);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), 0, "GLOBAL_CTRL");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1, "no frozen bit in the status");
        counts(false, "frozen");
        write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1);
        counts(false, "after the status reset");
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        counts(true, "after GLOBAL_CTRL");
    }
}

/* From version 4 on: the PMI sets CTR_FRZ and leaves GLOBAL_CTRL; resetting CTR_FRZ thaws, writing
 * GLOBAL_CTRL does not. */
static void streamlined_freeze_sets_ctr_frz(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (rig.version < 4)
            continue;
        overflow_with(DEBUGCTL_FREEZE_PERFMON_ON_PMI);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_CTRL), counter_enables(), "GLOBAL_CTRL stays");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 | GLOBAL_STATUS_CTR_FRZ, "CTR_FRZ");
        counts(false, "frozen");
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        counts(false, "after GLOBAL_CTRL");
        write_msr(MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1);
        counts(false, "after the reset of another bit");
        write_msr(MSR_IA32_PERF_GLOBAL_STATUS_RESET, GLOBAL_STATUS_CTR_FRZ);
        counts(true, "after the reset of CTR_FRZ");
    }
}

/* CTR_FRZ is a gate of its own: set by software, it stops the counters as well. */
static void ctr_frz_set_by_software_stops_counting(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (rig.version < 4)
            continue;
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
        count_instructions(0, 0);
        counts(true, "before");
        write_msr(MSR_IA32_PERF_GLOBAL_STATUS_SET, GLOBAL_STATUS_CTR_FRZ);
        counts(false, "frozen");
        write_msr(MSR_IA32_PERF_GLOBAL_STATUS_RESET, GLOBAL_STATUS_CTR_FRZ);
        counts(true, "thawed");
    }
}

/* Whether a branch gets into the stack. */
static bool records(void)
{
    uint64_t before = read_msr(MSR_LASTBRANCH_TOS);
    branch(BR_JMP_REL, 1, 2);
    return read_msr(MSR_LASTBRANCH_TOS) != before;
}

/* The same for the last branch records: DEBUGCTL.LBR is cleared in versions 2 and 3, LBR_FRZ set
 * from version 4 on. */
static void freeze_lbrs_on_pmi_by_version(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        const uint64_t bits = DEBUGCTL_LBR | DEBUGCTL_FREEZE_LBRS_ON_PMI;
        if (read_faults(MSR_LASTBRANCH_TOS) || write_faults(MSR_IA32_DEBUGCTL, bits))
            continue;
        overflow_with(bits);
        CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL) & DEBUGCTL_LBR, rig.version >= 4 ? DEBUGCTL_LBR : 0,
                    "DEBUGCTL.LBR");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS),
                    1 | (rig.version >= 4 ? GLOBAL_STATUS_LBR_FRZ : 0), "GLOBAL_STATUS");
        counts(true, "the counters are not frozen");
        CHECK(!records(), "the stack is frozen");
        if (rig.version >= 4)
            write_msr(MSR_IA32_PERF_GLOBAL_STATUS_RESET, GLOBAL_STATUS_LBR_FRZ);
        else
            write_msr(MSR_IA32_DEBUGCTL, bits);
        CHECK(records(), "the stack is thawed");
    }
}

/* LBR_FRZ is a gate of its own for both kinds of records: set by software, it stops them, no PMI
 * comes, and neither DEBUGCTL.LBR nor IA32_LBR_CTL.LBREn changes. */
static void lbr_frz_set_by_software_stops_recording(void **state)
{
    (void)state;
    const uint64_t ctl = LBR_CTL_LBREN | LBR_CTL_OS | LBR_CTL_NEAR_REL_JMP;
    static const uint32_t newest[] = {MSR_IA32_LBR_0_FROM_IP, MSR_LASTBRANCH_0_FROM_IP};
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        bool old = !read_faults(MSR_LASTBRANCH_TOS), new = !read_faults(MSR_IA32_LBR_CTL);
        if (rig.version < 4 || !(old || new))
            continue;
        write_msr(new ? MSR_IA32_LBR_CTL : MSR_IA32_DEBUGCTL, new ? ctl : DEBUGCTL_LBR);
        for (unsigned i = 1; i <= 3; i++) {
            bool frozen = i == 2;
            write_msr(frozen ? MSR_IA32_PERF_GLOBAL_STATUS_SET : MSR_IA32_PERF_GLOBAL_STATUS_RESET,
                      GLOBAL_STATUS_LBR_FRZ);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), frozen ? GLOBAL_STATUS_LBR_FRZ : 0,
                        "GLOBAL_STATUS");
            branch(BR_JMP_REL, 0x100 * i, 0x200);
            uint32_t at = newest[old] + (old ? read_msr(MSR_LASTBRANCH_TOS) : 0);
            CHECK_EQUAL(read_msr(at) & 0xffff, i == 3 ? 0x300 : 0x100, "the newest, %s",
                        frozen ? "frozen" : "not");
        }
        CHECK_EQUAL(read_msr(new ? MSR_IA32_LBR_CTL : MSR_IA32_DEBUGCTL), new ? ctl : DEBUGCTL_LBR,
                    "the enable");
        CHECK_EQUAL(pmis(), 0, "PMIs");
    }
}

/* The PMI freezes when it is raised, even where the local APIC does not let it through. */
static void masked_pmi_freezes_all_the_same(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    apic_write(LVT_PERFMON, APIC_LVT_MASK | PMI_VECTOR);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_PERFMON_ON_PMI);
    count_instructions(0, PERFEVTSEL_INT);
    write_msr(MSR_IA32_PMC0, (uint32_t)-1);
    retire(0, 1);
    pass_skid();
    CHECK(read_msr(MSR_IA32_PERF_GLOBAL_STATUS) & GLOBAL_STATUS_CTR_FRZ, "CTR_FRZ");
}

/* An overflow that asks for no PMI freezes nothing. */
static void overflow_without_pmi_does_not_freeze(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (!has_freeze())
            continue;
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_PERFMON_ON_PMI);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
        count_instructions(0, 0);
        write_msr(MSR_IA32_PMC0, (uint32_t)-1);
        retire(0, 1);
        pass_skid();
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1, "the overflow alone");
        counts(true, "no PMI");
    }
}

const struct CMUnitTest freeze_tests[] = {
    RULE(without_the_freeze_bit_counters_go_on), RULE(legacy_freeze_clears_global_ctrl),
    RULE(streamlined_freeze_sets_ctr_frz),       RULE(ctr_frz_set_by_software_stops_counting),
    RULE(freeze_lbrs_on_pmi_by_version),         RULE(masked_pmi_freezes_all_the_same),
    RULE(overflow_without_pmi_does_not_freeze),  RULE(lbr_frz_set_by_software_stops_recording),
};
const size_t n_freeze_tests = LENGTH(freeze_tests);
