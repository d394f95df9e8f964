/*
 * The logging of events in architectural last branch records: CPUID.1CH:ECX[19:16],
 * IA32_PERFEVTSELx.EN_LBR_LOG, IA32_LBR_x_INFO.PMCx_CNT.
 */
#include <stdio.h>

#include "tests/model/rig.h"
#include "x86/apic.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#define PROFILE "sapphirerapids"
#define EVERY                                                                                      \
    (LBR_CTL_LBREN | LBR_CTL_OS | LBR_CTL_USR | LBR_CTL_JCC | LBR_CTL_NEAR_REL_JMP |               \
     LBR_CTL_NEAR_IND_JMP | LBR_CTL_NEAR_REL_CALL | LBR_CTL_NEAR_IND_CALL | LBR_CTL_NEAR_RET |     \
     LBR_CTL_OTHER_BRANCH)
#define LOG      ARCH_BIT(35)
#define LOADS    0x81d0ULL
#define BRANCHES 0x00c4ULL
#define COUNT    (BOTH_RINGS | PERFEVTSEL_EN)

/* IA32_LBR_0_INFO's field of the general counter. */
static unsigned logged(unsigned counter)
{
    return read_msr(MSR_IA32_LBR_0_INFO) >> (32 + 2 * counter) & 3;
}

static void select_event(unsigned counter, uint64_t select)
{
    write_msr(MSR_IA32_PERFEVTSEL0 + counter, select);
}

/* Instructions on counter 0, loads on 1, both logged; branches on 2, not logged; on 3 nothing. */
static void start(void)
{
    rig_start(PROFILE, "cpuid.0x1c=0x4000000b 7 0xf0007 0", "pmu.skid=0", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    select_event(0, SELECT_INSTRUCTIONS | COUNT | LOG);
    select_event(1, LOADS | COUNT | LOG);
    select_event(2, BRANCHES | COUNT);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    write_msr(MSR_IA32_LBR_CTL, EVERY);
}

/* "Event Logging Supported", a bitmap of general counters: each alone, and none of the others. */
static void logging_needs_its_counters_bit(void **state)
{
    (void)state;
    for (unsigned bitmap = 0; bitmap < 16; bitmap++) {
        char leaf[64];
        snprintf(leaf, sizeof leaf, "cpuid.0x1c=0x4000000b 7 %#x 0", bitmap << 16 | 7);
        rig_start(PROFILE, leaf, NULL);
        for (unsigned i = 0; i < rig.general; i++) {
            CHECK_EQUAL(!write_faults(MSR_IA32_PERFEVTSEL0 + i, LOG), bitmap >> i & 1,
                        "%s, counter %u", leaf, i);
            CHECK_EQUAL(read_msr(MSR_IA32_PERFEVTSEL0 + i), bitmap >> i & 1 ? LOG : 0,
                        "%s, counter %u", leaf, i);
        }
        CHECK(write_faults(MSR_IA32_FIXED_CTR_CTRL, LOG), "a fixed counter");
    }
}

/* The number of occurrences since the record before, the branch's own instruction with them; more
 * than three are three. */
static void a_record_counts_events_since_the_one_before(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        start();
        branch(BR_JMP_REL, 1, 2);
        retire(0, n);
        pass(0, EV_LOAD, n ? 1 : 0, 0);
        pass(0, EV_BRANCH, 1, 0);
        branch(BR_JMP_REL, 3, 4);
        CHECK_EQUAL(logged(0), n < 3 ? n : 3, "%u instructions", n);
        CHECK_EQUAL(logged(1), n ? 1 : 0, "loads");
        CHECK_EQUAL(logged(2), 0, "branches are not logged");
        CHECK_EQUAL(logged(3), 0, "counter 3 counts nothing");
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_0_INFO) >> 40 & 0xffff, 0, "nothing above them");
        branch(BR_JMP_REL, 5, 6);
        CHECK_EQUAL(logged(0) | logged(1), 0, "none since then");
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_0_INFO + 1) >> 34 & 3, n ? 1 : 0, "the older one stays");
    }
}

/* What the branch itself makes is in its own record: the insertion too. */
static void a_record_counts_its_own_insertion(void **state)
{
    (void)state;
    rig_start("arrowlake", NULL);
    select_event(0, 0x01e4 | COUNT | LOG);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
    write_msr(MSR_IA32_LBR_CTL, EVERY & ~LBR_CTL_JCC);
    for (unsigned i = 0; i < 3; i++) {
        branch(BR_JCC, 1, 2);
        branch(BR_JMP_REL, 3, 4);
        CHECK_EQUAL(logged(0), 1, "record %u", i);
    }
}

/* A far transfer is counted as an instruction when it is done; a fault is none, and what its
 * handler does belongs to the next record. */
static void a_far_transfer_is_in_its_own_record(void **state)
{
    (void)state;
    static const struct {
        enum branch_kind kind;
        bool retires;
    } transfers[] = {{BR_FAR, true}, {BR_EXCEPTION, true}, {BR_EXCEPTION, false}};
    for (unsigned i = 0; i < LENGTH(transfers); i++) {
        start();
        branch(BR_JMP_REL, 1, 2);
        retire(0, 1);
        branch(transfers[i].kind, 3, 4);
        if (transfers[i].retires) {
            rig.cpu->total[0][EV_INSN]++;
            pmu_branch_retired(rig.pmu);
        }
        CHECK_EQUAL(logged(0), transfers[i].retires ? 2 : 1, "transfer %u", i);
        branch(BR_JMP_REL, 5, 6);
        CHECK_EQUAL(logged(0), 0, "and not in the next one");
        retire(0, 1);
        pmu_branch_retired(rig.pmu);
        CHECK_EQUAL(logged(0), 0, "nor what comes behind a near branch");
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_0_INFO + 1) >> 32 & 3, transfers[i].retires ? 2 : 1,
                    "which changes no older one");
    }
    start();
    branch(BR_EXCEPTION, 1, 2);
    write_msr(MSR_IA32_LBR_CTL, EVERY & ~LBR_CTL_OTHER_BRANCH);
    retire(0, 1);
    branch(BR_FAR, 3, 4);
    pmu_branch_retired(rig.pmu);
    CHECK_EQUAL(logged(0), 0, "one that is not recorded");
    branch(BR_JMP_REL, 5, 6);
    CHECK_EQUAL(logged(0), 1, "is in the next");
}

/* The interpreter adds up whole blocks, which end with their branch; the PMU is asked in between.
 */
static void a_record_counts_what_no_one_has_looked_at(void **state)
{
    (void)state;
    start();
    branch(BR_JMP_REL, 1, 2);
    rig.cpu->total[0][EV_LOAD] += 2;
    rig.cpu->total[1][EV_INSN] += 1;
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(logged(0), 1, "instructions");
    CHECK_EQUAL(logged(1), 2, "loads");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0 + 1), 2, "the counter");
    branch(BR_JMP_REL, 5, 6);
    CHECK_EQUAL(logged(0) | logged(1), 0, "none since then");
}

/* What the counter counts, and no more: its rings, its enables. */
static void a_record_counts_what_its_counter_counts(void **state)
{
    (void)state;
    start();
    select_event(0, SELECT_INSTRUCTIONS | PERFEVTSEL_USR | PERFEVTSEL_EN | LOG);
    select_event(1, LOADS | BOTH_RINGS | LOG);
    branch(BR_JMP_REL, 1, 2);
    retire(0, 2);
    retire(3, 1);
    pass(0, EV_LOAD, 1, 1);
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(logged(0), 1, "ring 3 alone");
    CHECK_EQUAL(logged(1), 0, "EN is 0");

    start();
    branch(BR_JMP_REL, 1, 2);
    retire(0, 1);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    retire(0, 1);
    write_msr(MSR_IA32_PERF_GLOBAL_CTRL, 2);
    pass(0, EV_LOAD, 2, 2);
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(logged(0), 1, "until IA32_PERF_GLOBAL_CTRL");
    CHECK_EQUAL(logged(1), 2, "which stops that one alone");
}

/* A branch that the filters keep out ends nothing; nor do the records frozen or off. */
static void what_is_not_recorded_ends_no_count(void **state)
{
    (void)state;
    start();
    write_msr(MSR_IA32_LBR_CTL, EVERY & ~LBR_CTL_JCC);
    branch(BR_JMP_REL, 1, 2);
    retire(0, 1);
    branch(BR_JCC, 3, 4);
    retire(0, 1);
    branch(BR_JMP_REL, 5, 6);
    CHECK_EQUAL(logged(0), 2, "before and after a Jcc");
    retire(0, 1);
    write_msr(MSR_IA32_PERF_GLOBAL_STATUS_SET, GLOBAL_STATUS_LBR_FRZ);
    retire(0, 1);
    branch(BR_JMP_REL, 7, 8);
    write_msr(MSR_IA32_PERF_GLOBAL_STATUS_RESET, GLOBAL_STATUS_LBR_FRZ);
    branch(BR_JMP_REL, 9, 10);
    CHECK_EQUAL(logged(0), 2, "before the freeze and in it");
}

/* It begins with the recording, as CYC_CNT does: what came before LBREn is in no record. */
static void the_logging_begins_with_the_recording(void **state)
{
    (void)state;
    start();
    write_msr(MSR_IA32_LBR_CTL, 0);
    retire(0, 2);
    write_msr(MSR_IA32_LBR_CTL, EVERY);
    retire(0, 1);
    branch(BR_JMP_REL, 1, 2);
    CHECK_EQUAL(logged(0), 1, "since LBREn");
    retire(0, 1);
    write_msr(MSR_IA32_LBR_CTL, EVERY);
    retire(0, 1);
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(logged(0), 2, "LBREn was not off");
    retire(0, 1);
    write_msr(MSR_IA32_LBR_DEPTH, 8);
    retire(0, 1);
    branch(BR_JMP_REL, 5, 6);
    CHECK_EQUAL(logged(0), 1, "since the stack was cleared");
}

/* The counter takes no notice: it counts, overflows and asks for its PMI. */
static void a_logged_counter_overflows_as_ever(void **state)
{
    (void)state;
    start();
    select_event(0, SELECT_INSTRUCTIONS | COUNT | PERFEVTSEL_INT | LOG);
    write_msr(MSR_IA32_PMC0, (uint32_t)-2);
    retire(0, 1);
    branch(BR_JMP_REL, 1, 2);
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "not yet");
    retire(0, 1);
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(logged(0), 1, "the one that overflows");
    CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "the counter");
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1, "overflow");
    CHECK_EQUAL(pmis(), 1, "PMIs");
}

const struct CMUnitTest lbr_log_tests[] = {
    RULE(logging_needs_its_counters_bit),
    RULE(a_record_counts_events_since_the_one_before),
    RULE(a_record_counts_its_own_insertion),
    RULE(a_far_transfer_is_in_its_own_record),
    RULE(a_record_counts_what_no_one_has_looked_at),
    RULE(a_record_counts_what_its_counter_counts),
    RULE(what_is_not_recorded_ends_no_count),
    RULE(the_logging_begins_with_the_recording),
    RULE(a_logged_counter_overflows_as_ever),
};
const size_t n_lbr_log_tests = LENGTH(lbr_log_tests);
