/* Architectural last branch records: what CPUID leaf 1CH announces, and nothing else. */
#include "tests/model/rig.h"
#include "x86/apic.h"
#include "x86/cpuid.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#define PROFILE  "sapphirerapids"
#define EVERY    (LBR_CTL_OS | LBR_CTL_USR | ALL_KINDS)
#define HIGH     0xffff900000000000ULL
#define ALL_ONES UINT64_MAX
#define ALL_KINDS                                                                                  \
    (LBR_CTL_JCC | LBR_CTL_NEAR_REL_JMP | LBR_CTL_NEAR_IND_JMP | LBR_CTL_NEAR_REL_CALL |           \
     LBR_CTL_NEAR_IND_CALL | LBR_CTL_NEAR_RET | LBR_CTL_OTHER_BRANCH)

/* Each kind of branch, with the bit that admits it and its type, SDM vol. 3 "Branch Type Enabling
 * and Filtering" and "Branch Types". */
static const struct {
    enum branch_kind kind;
    uint64_t enable;
    unsigned type, type_mask;
} kinds[] = {
    {BR_JCC, ARCH_BIT(16), 0, 15},      {BR_JMP_REL, ARCH_BIT(17), 2, 15},
    {BR_JMP_IND, ARCH_BIT(18), 1, 15},  {BR_CALL_REL, ARCH_BIT(19), 4, 15},
    {BR_CALL_IND, ARCH_BIT(20), 3, 15}, {BR_RET, ARCH_BIT(21), 5, 15},
    {BR_FAR, ARCH_BIT(22), 8, 8},       {BR_INTERRUPT, ARCH_BIT(22), 8, 8},
    {BR_EXCEPTION, ARCH_BIT(22), 8, 8},
};

static uint64_t from(unsigned i)
{
    return read_msr(MSR_IA32_LBR_0_FROM_IP + i);
}

static uint64_t to(unsigned i)
{
    return read_msr(MSR_IA32_LBR_0_TO_IP + i);
}

static uint64_t info(unsigned i)
{
    return read_msr(MSR_IA32_LBR_0_INFO + i);
}

static void start(uint64_t ctl)
{
    rig_start(PROFILE, NULL);
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | ctl);
}

static bool is_there(void)
{
    uint32_t out[4];
    cpu_cpuid(rig.cpu, 0, 0, out);
    if (out[0] < 7)
        return false;
    cpu_cpuid(rig.cpu, 7, 0, out);
    return out[3] & CPUID_7_EDX_ARCH_LBR;
}

/* They and the model-specific ones exclude each other; LBR_FMT tells which. */
static void arch_lbrs_are_announced_and_replace_the_others(void **state)
{
    (void)state;
    static const uint32_t architectural[] = {
        MSR_IA32_LBR_CTL,    MSR_IA32_LBR_DEPTH,     MSR_IA32_LER_INFO,
        MSR_IA32_LBR_0_INFO, MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP,
    };
    static const uint32_t others[] = {MSR_LBR_SELECT, MSR_LASTBRANCH_TOS, MSR_LASTBRANCH_0_FROM_IP,
                                      MSR_LASTBRANCH_0_TO_IP, MSR_LBR_INFO_0};
    for (unsigned p = 0; p < LENGTH(all_profiles); p++) {
        rig_start(all_profiles[p], NULL);
        bool there = is_there();
        CHECK_EQUAL((rig.capabilities & PERF_CAP_LBR_FMT) == 0x3f, there, "LBR_FMT");
        for (unsigned i = 0; i < LENGTH(architectural); i++)
            CHECK_EQUAL(read_faults(architectural[i]), !there, "MSR %XH", architectural[i]);
        for (unsigned i = 0; i < LENGTH(others); i++)
            CHECK(!there || read_faults(others[i]), "MSR %XH beside them", others[i]);
    }
    rig_start(PROFILE, "pmu.lbr_depth=0", NULL);
    uint32_t out[4];
    cpu_cpuid(rig.cpu, 0x1c, 0, out);
    CHECK(!is_there(), "none with a depth of 0");
    CHECK_EQUAL(out[0] | out[1] | out[2] | out[3], 0, "nor leaf 1CH");
    CHECK(read_faults(MSR_IA32_LBR_CTL), "nor IA32_LBR_CTL");
}

/* Each bit alone, with the whole leaf and with each of its promises taken away. */
static void lbr_ctl_takes_what_leaf_1ch_announces(void **state)
{
    (void)state;
    static const struct {
        const char *leaf;
        uint64_t mask;
    } leaves[] = {
        {"cpuid.0x1c=0x4000000b 7 7 0", 0x7f000f}, {"cpuid.0x1c=0x4000000b 6 7 0", 0x7f0009},
        {"cpuid.0x1c=0x4000000b 5 7 0", 0x00000f}, {"cpuid.0x1c=0x4000000b 3 7 0", 0x7f0007},
        {"cpuid.0x1c=0x4000000b 0 7 0", 0x000001},
    };
    for (unsigned i = 0; i < LENGTH(leaves); i++) {
        rig_start(PROFILE, leaves[i].leaf, NULL);
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), 0, "after a reset");
        for (unsigned bit = 0; bit < 64; bit++) {
            CHECK_EQUAL(!write_faults(MSR_IA32_LBR_CTL, ARCH_BIT(bit)), leaves[i].mask >> bit & 1,
                        "%s, bit %u", leaves[i].leaf, bit);
            write_msr(MSR_IA32_LBR_CTL, 0);
        }
    }
}

/* "The reset value will match the maximum"; "writes of unsupported values will #GP fault". */
static void lbr_depth_takes_announced_depths(void **state)
{
    (void)state;
    static const struct {
        const char *leaf, *depth;
        uint64_t announced; /* bit n: a depth of n */
        unsigned most;
    } leaves[] = {
        {"cpuid.0x1c=0x4000000b 7 7 0", "pmu.lbr_depth=32", 1ULL << 8 | 1ULL << 16 | 1ULL << 32,
         32},
        {"cpuid.0x1c=0x00000002 7 7 0", "pmu.lbr_depth=16", 1ULL << 16, 16},
        {"cpuid.0x1c=0x00000044 7 7 0", "pmu.lbr_depth=56", 1ULL << 24 | 1ULL << 56, 56},
    };
    for (unsigned i = 0; i < LENGTH(leaves); i++) {
        rig_start(PROFILE, leaves[i].leaf, leaves[i].depth, NULL);
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_DEPTH), leaves[i].most, "after a reset");
        for (unsigned depth = 0; depth < 64; depth++)
            CHECK_EQUAL(!write_faults(MSR_IA32_LBR_DEPTH, depth), leaves[i].announced >> depth & 1,
                        "a depth of %u", depth);
        CHECK(write_faults(MSR_IA32_LBR_DEPTH, 64), "a depth of 64");
        CHECK(write_faults(MSR_IA32_LBR_DEPTH, ARCH_BIT(32) | leaves[i].most), "upper bits");
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_DEPTH), leaves[i].most, "after the last that was taken");
    }
}

static void records_from_depth_on_fault(void **state)
{
    (void)state;
    static const unsigned depths[] = {8, 16, 32};
    static const uint32_t first[] = {MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP,
                                     MSR_IA32_LBR_0_INFO};
    rig_start(PROFILE, NULL);
    for (unsigned d = 0; d < LENGTH(depths); d++) {
        write_msr(MSR_IA32_LBR_DEPTH, depths[d]);
        for (unsigned r = 0; r < LENGTH(first); r++)
            for (unsigned i = 0; i < 64; i++) {
                CHECK_EQUAL(read_faults(first[r] + i), i >= depths[d], "RDMSR of %XH",
                            first[r] + i);
                CHECK_EQUAL(write_faults(first[r] + i, 0), i >= depths[d], "WRMSR of %XH",
                            first[r] + i);
            }
    }
}

/* "On a software write to IA32_LBR_DEPTH, all LBR entries are reset to 0", the same depth too. */
static void writing_lbr_depth_clears_the_records(void **state)
{
    (void)state;
    static const unsigned depths[] = {32, 8};
    for (unsigned d = 0; d < LENGTH(depths); d++) {
        start(EVERY);
        for (unsigned i = 0; i < 40; i++)
            branch(BR_JMP_REL, 0x1000 + i, 0x2000 + i);
        CHECK(from(0) && to(0) && info(0), "there is something to clear");
        write_msr(MSR_IA32_LBR_DEPTH, depths[d]);
        for (unsigned i = 0; i < depths[d]; i++)
            CHECK_EQUAL(from(i) | to(i) | info(i), 0, "record %u", i);
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), LBR_CTL_LBREN | EVERY, "IA32_LBR_CTL");
        branch(BR_JMP_REL, 0x10, 0x20);
        CHECK_EQUAL(from(0), 0x10, "and it goes on");
        CHECK_EQUAL(from(1), 0, "from an empty stack");
    }
}

static void entry_0_is_the_newest(void **state)
{
    (void)state;
    static const unsigned depths[] = {8, 16, 32};
    for (unsigned d = 0; d < LENGTH(depths); d++) {
        start(EVERY);
        write_msr(MSR_IA32_LBR_DEPTH, depths[d]);
        for (unsigned i = 0; i < depths[d] + 3; i++) {
            branch(BR_JMP_REL, 0x1000 + i, HIGH + i);
            for (unsigned back = 0; back <= i && back < depths[d]; back++) {
                CHECK_EQUAL(from(back), 0x1000 + i - back, "FROM, %u back", back);
                CHECK_EQUAL(to(back), HIGH + i - back, "TO, %u back", back);
            }
            CHECK(i >= depths[d] - 1 || from(i + 1) == 0, "empty behind them");
        }
    }
}

static void lbren_switches_and_keeps_the_records(void **state)
{
    (void)state;
    rig_start(PROFILE, NULL);
    write_msr(MSR_IA32_LBR_CTL, EVERY);
    CHECK(!rig.cpu->want_branches, "nobody wants branches");
    branch(BR_JMP_REL, 1, 2);
    CHECK_EQUAL(from(0), 0, "off");
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | EVERY);
    branch(BR_JMP_REL, 3, 4);
    write_msr(MSR_IA32_LBR_CTL, EVERY);
    branch(BR_JMP_REL, 5, 6);
    CHECK_EQUAL(from(0), 3, "off again, and kept");
    CHECK_EQUAL(from(1), 0, "one record");
}

/* IA32_DEBUGCTL.LBR belongs to the model-specific ones. */
static void debugctl_lbr_means_nothing(void **state)
{
    (void)state;
    rig_start(PROFILE, NULL);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_BTF);
    CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), DEBUGCTL_BTF, "it reads as 0");
    branch(BR_JMP_REL, 1, 2);
    CHECK_EQUAL(from(0), 0, "and records nothing");
}

/* Software must opt in for each kind and each ring: an empty filter records nothing. */
static void each_kind_has_its_enable(void **state)
{
    (void)state;
    for (unsigned bit = 15; bit <= 22; bit++) {
        uint64_t enable = bit == 15 ? 0 : ARCH_BIT(bit);
        start(LBR_CTL_OS | LBR_CTL_USR | enable);
        for (unsigned i = 0; i < LENGTH(kinds); i++) {
            branch(kinds[i].kind, 0x1000 + i, 0x2000);
            CHECK_EQUAL(from(0) == 0x1000 + i, kinds[i].enable == enable,
                        "kind %u with IA32_LBR_CTL bit %u", kinds[i].kind, bit);
        }
    }
    rig_start(PROFILE, "cpuid.0x1c=0x4000000b 1 7 0", NULL);
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | LBR_CTL_OS);
    for (unsigned i = 0; i < LENGTH(kinds); i++) {
        branch(kinds[i].kind, 0x1000 + i, 0x2000);
        CHECK_EQUAL(from(0), 0x1000 + i, "kind %u without the filter", kinds[i].kind);
    }
}

static void enter(unsigned cpl_from, unsigned cpl)
{
    rig.cpu->cpl = cpl;
    pmu_branch(rig.pmu, BR_FAR, 0x1000, 0x2000, cpl_from, false);
    rig.cpu->cpl = 0;
}

/* The ring in which the branch ends decides; an address in a ring that is filtered out is not
 * told. */
static void ring_filter_hides_the_other_ring(void **state)
{
    (void)state;
    static const struct {
        uint64_t rings;
        unsigned from, to;
        uint64_t recorded; /* FROM; 0: nothing */
    } trips[] = {
        {LBR_CTL_OS, 0, 0, 0x1000},
        {LBR_CTL_OS, 0, 3, 0},
        {LBR_CTL_OS, 3, 0, ALL_ONES},
        {LBR_CTL_OS, 3, 3, 0},
        {LBR_CTL_USR, 0, 0, 0},
        {LBR_CTL_USR, 0, 3, ALL_ONES},
        {LBR_CTL_USR, 3, 0, 0},
        {LBR_CTL_USR, 3, 3, 0x1000},
        {LBR_CTL_USR, 1, 2, 0x1000},
        {LBR_CTL_OS | LBR_CTL_USR, 0, 3, 0x1000},
        {LBR_CTL_OS | LBR_CTL_USR, 3, 0, 0x1000},
        {0, 0, 0, 0},
        {0, 3, 3, 0},
    };
    for (unsigned i = 0; i < LENGTH(trips); i++) {
        start(trips[i].rings | LBR_CTL_OTHER_BRANCH);
        enter(trips[i].from, trips[i].to);
        CHECK_EQUAL(from(0), trips[i].recorded, "IA32_LBR_CTL[2:1] = %llu, from ring %u to %u",
                    (unsigned long long)trips[i].rings >> 1, trips[i].from, trips[i].to);
        CHECK_EQUAL(to(0), trips[i].recorded ? 0x2000 : 0, "TO");
    }
    rig_start(PROFILE, "cpuid.0x1c=0x4000000b 2 7 0", NULL);
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | LBR_CTL_OTHER_BRANCH);
    enter(0, 3);
    CHECK_EQUAL(from(0), 0x1000, "without the filter both rings are recorded");
}

/* "Excluding" calls to the next instruction. */
static void a_call_of_zero_length_is_not_recorded(void **state)
{
    (void)state;
    start(EVERY);
    branch(BR_CALL_REL, 0x1000, 0x1005);
    CHECK_EQUAL(from(0), 0, "E8H 00000000H");
    branch(BR_CALL_REL, 0x1000, 0x1006);
    CHECK_EQUAL(from(0), 0x1000, "one byte further");
}

/* A return takes entry 0 away; the others move down, the last becomes 0. */
static void arch_call_stack(void **state)
{
    (void)state;
    start(LBR_CTL_OS | LBR_CTL_CALL_STACK | LBR_CTL_NEAR_REL_CALL | LBR_CTL_NEAR_IND_CALL |
          LBR_CTL_NEAR_RET);
    write_msr(MSR_IA32_LBR_DEPTH, 8);
    for (unsigned i = 0; i < 8; i++)
        branch(i % 2 ? BR_CALL_IND : BR_CALL_REL, 0x1000 + i, 0x2000 + i);
    branch(BR_RET, 0x2007, 0x1009);
    for (unsigned i = 0; i < 7; i++)
        CHECK_EQUAL(from(i), 0x1006 - i, "record %u after the return", i);
    CHECK_EQUAL(from(7) | to(7) | info(7), 0, "the last");
    branch(BR_CALL_REL, 0x3000, 0x4000);
    CHECK_EQUAL(from(0), 0x3000, "the next call");
    CHECK_EQUAL(from(7), 0x1000, "the oldest moved up again");
    for (unsigned i = 0; i < 10; i++)
        branch(BR_RET, 0x4000, 0x3005);
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(from(i) | to(i) | info(i), 0, "record %u after more returns than calls", i);

    start(LBR_CTL_OS | LBR_CTL_NEAR_REL_CALL | LBR_CTL_NEAR_RET);
    branch(BR_CALL_REL, 0x1000, 0x2000);
    branch(BR_RET, 0x2000, 0x1005);
    CHECK_EQUAL(from(0), 0x2000, "without the mode a return is a branch like others");
}

/* IA32_LBR_x_INFO: what CPUID.1CH:ECX announces is filled in, the rest is 0. */
static void arch_info_by_leaf_1ch(void **state)
{
    (void)state;
    static const struct {
        const char *leaf;
        bool mispred, cycles, type;
    } leaves[] = {
        {"cpuid.0x1c=0x4000000b 7 7 0", true, true, true},
        {"cpuid.0x1c=0x4000000b 7 6 0", false, true, true},
        {"cpuid.0x1c=0x4000000b 7 5 0", true, false, true},
        {"cpuid.0x1c=0x4000000b 7 3 0", true, true, false},
        {"cpuid.0x1c=0x4000000b 7 0 0", false, false, false},
    };
    for (unsigned l = 0; l < LENGTH(leaves); l++) {
        rig_start(PROFILE, leaves[l].leaf, NULL);
        write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | EVERY);
        branch(BR_JMP_REL, 1, 2);
        for (unsigned i = 0; i < LENGTH(kinds); i++)
            for (unsigned mispredicted = 0; mispredicted < 2; mispredicted++) {
                pass(0, EV_ABSENT, 0, 70ULL * rig.profile.uarch.retire_width);
                predicted_branch(kinds[i].kind, 3, 4, mispredicted);
                uint64_t got = info(0);
                CHECK_EQUAL(got >> 63, leaves[l].mispred && mispredicted, "MISPRED");
                CHECK_EQUAL(got >> 56 & kinds[i].type_mask, leaves[l].type ? kinds[i].type : 0,
                            "BR_TYPE of kind %u", kinds[i].kind);
                CHECK_EQUAL(got >> 60 & 1, leaves[l].cycles, "CYC_CNT_VALID");
                CHECK_EQUAL(got & 0xffff, leaves[l].cycles ? 70 : 0, "CYC_CNT");
                CHECK_EQUAL(got & ~0x9f0000000000ffffULL, 0, "no other bit");
            }
    }
}

/* Core cycles since the record before, at most FFFFH; the first since LBREn was set has none. */
static void arch_cycle_count(void **state)
{
    (void)state;
    start(EVERY & ~LBR_CTL_JCC);
    unsigned width = rig.profile.uarch.retire_width;
    branch(BR_JMP_REL, 1, 2);
    CHECK_EQUAL(info(0) & (LBR_INFO_CYC_CNT_VALID | LBR_INFO_CYCLES), 0, "the first record");
    pass(0, EV_ABSENT, 0, 40ULL * width);
    branch(BR_JCC, 1, 2);
    pass(0, EV_ABSENT, 0, 30ULL * width);
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(info(0) & LBR_INFO_CYCLES, 70, "a branch that is not recorded does not count");
    pass(0, EV_ABSENT, 0, 65534ULL * width);
    branch(BR_JMP_REL, 5, 6);
    CHECK_EQUAL(info(0) & LBR_INFO_CYCLES, 0xfffe, "below the limit");
    pass(0, EV_ABSENT, 0, 70000ULL * width);
    branch(BR_JMP_REL, 7, 8);
    CHECK_EQUAL(info(0) & LBR_INFO_CYCLES, 0xffff, "saturated");
    CHECK(info(0) & LBR_INFO_CYC_CNT_VALID, "and valid");
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | EVERY);
    branch(BR_JMP_REL, 9, 10);
    CHECK(info(0) & LBR_INFO_CYC_CNT_VALID, "LBREn was not off");
    write_msr(MSR_IA32_LBR_CTL, 0);
    write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | EVERY);
    branch(BR_JMP_REL, 11, 12);
    CHECK(!(info(0) & LBR_INFO_CYC_CNT_VALID), "LBREn was off");
}

/* FROM and TO hold canonical addresses, INFO takes everything; IA32_LER_* likewise. */
static void arch_records_can_be_written(void **state)
{
    (void)state;
    rig_start(PROFILE, NULL);
    static const uint32_t addresses[] = {MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_FROM_IP + 31,
                                         MSR_IA32_LBR_0_TO_IP,   MSR_IA32_LBR_0_TO_IP + 31,
                                         MSR_LER_FROM_LIP,       MSR_LER_TO_LIP};
    static const uint32_t infos[] = {MSR_IA32_LBR_0_INFO, MSR_IA32_LBR_0_INFO + 31,
                                     MSR_IA32_LER_INFO};
    for (unsigned i = 0; i < LENGTH(addresses); i++) {
        write_msr(addresses[i], HIGH + i);
        CHECK(write_faults(addresses[i], ARCH_BIT(62)), "MSR %XH, not canonical", addresses[i]);
        CHECK(write_faults(addresses[i], 0xffff7fffffffffffULL), "MSR %XH, not canonical",
              addresses[i]);
    }
    for (unsigned i = 0; i < LENGTH(addresses); i++)
        CHECK_EQUAL(read_msr(addresses[i]), HIGH + i, "MSR %XH", addresses[i]);
    for (unsigned i = 0; i < LENGTH(infos); i++) {
        write_msr(infos[i], 0xf0f0f0f0f0f0f0f0ULL + i);
        CHECK_EQUAL(read_msr(infos[i]), 0xf0f0f0f0f0f0f0f0ULL + i, "MSR %XH", infos[i]);
    }
}

/* "When a branch happens because of a #DB exception, IA32_LBR_CTL.LBREn is cleared. As a result,
 * the operation is not recorded." */
static void debug_exception_clears_lbren(void **state)
{
    (void)state;
    start(EVERY);
    branch(BR_JMP_REL, 0x1000, 0x2000);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_BTF | DEBUGCTL_TR);
    pmu_debug_exception(rig.pmu);
    CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), EVERY, "LBREn alone is cleared");
    CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), DEBUGCTL_TR, "BTF as ever");
    branch(BR_EXCEPTION, 0x2000, 0x3000);
    CHECK_EQUAL(from(0), 0x1000, "the #DB is not recorded");
    CHECK_EQUAL(from(1), 0, "one record");
}

/* "The last taken branch preceding the last exception, hardware interrupt, or software interrupt",
 * "subject to the same dependencies on enabling and filtering". */
static void last_event_record(void **state)
{
    (void)state;
    start(EVERY & ~LBR_CTL_JCC);
    branch(BR_JMP_REL, 0x100, 0x200);
    predicted_branch(BR_JMP_IND, 0x1000, 0x2000, true);
    uint64_t its_info = info(0);
    branch(BR_JCC, 0x2000, 0x2010);
    branch(BR_INTERRUPT, 0x2014, 0x3000);
    CHECK_EQUAL(read_msr(MSR_LER_FROM_LIP), 0x1000, "from");
    CHECK_EQUAL(read_msr(MSR_LER_TO_LIP), 0x2000, "to");
    CHECK_EQUAL(read_msr(MSR_IA32_LER_INFO), its_info, "info");
    CHECK(its_info & LBR_INFO_MISPRED, "which says that it was mispredicted");
    branch(BR_FAR, 0x3010, 0x2014);
    CHECK_EQUAL(read_msr(MSR_LER_TO_LIP), 0x2000, "a branch leaves it");
    write_msr(MSR_IA32_LBR_CTL, 0);
    branch(BR_EXCEPTION, 0x2020, 0x3000);
    CHECK_EQUAL(read_msr(MSR_LER_TO_LIP), 0x2000, "off, so does an exception");
}

/* FREEZE_LBRS_ON_PMI: LBR_FRZ stops the recording, LBREn stays; resetting it thaws. Before version
 * 4 there is no LBR_FRZ. */
static void arch_freeze_on_pmi(void **state)
{
    (void)state;
    static const char *const versions[] = {"pmu.version=2", "pmu.version=5"};
    for (unsigned v = 0; v < LENGTH(versions); v++) {
        rig_start(PROFILE, versions[v], "pmu.metrics=no", NULL);
        bool by_status = rig.version >= 4;
        apic_arm(APIC_LVT_DELIVERY_FIXED);
        write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | EVERY);
        count_instructions(0, PERFEVTSEL_INT);
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_FREEZE_LBRS_ON_PMI);
        write_msr(MSR_IA32_PMC0, (uint32_t)-1);
        branch(BR_JMP_REL, 1, 2);
        retire(0, 1);
        pass_skid();
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS),
                    1 | (by_status ? GLOBAL_STATUS_LBR_FRZ : 0), "GLOBAL_STATUS");
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), EVERY | (by_status ? LBR_CTL_LBREN : 0),
                    "IA32_LBR_CTL");
        branch(BR_JMP_REL, 3, 4);
        CHECK_EQUAL(from(0), 1, "frozen");
        if (by_status)
            write_msr(MSR_IA32_PERF_GLOBAL_STATUS_RESET, GLOBAL_STATUS_LBR_FRZ);
        else
            write_msr(MSR_IA32_LBR_CTL, LBR_CTL_LBREN | EVERY);
        branch(BR_JMP_REL, 5, 6);
        CHECK_EQUAL(from(0), 5, "thawed");
        CHECK_EQUAL(from(1), 1, "and kept");
    }
}

/* "IA32_LBR_CTL.LBREn is saved and cleared on #SMI, and restored on RSM", whatever
 * FREEZE_WHILE_SMM. */
static void smm_is_never_recorded(void **state)
{
    (void)state;
    static const uint64_t debugctls[] = {0, DEBUGCTL_FREEZE_WHILE_SMM};
    for (unsigned i = 0; i < LENGTH(debugctls); i++) {
        start(EVERY);
        write_msr(MSR_IA32_DEBUGCTL, debugctls[i]);
        branch(BR_JMP_REL, 1, 2);
        pmu_enter_smm(rig.pmu);
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), EVERY, "IA32_LBR_CTL in SMM");
        branch(BR_JMP_REL, 3, 4);
        pmu_leave_smm(rig.pmu);
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), LBR_CTL_LBREN | EVERY, "after it");
        CHECK_EQUAL(from(0), 1, "the newest record");
        branch(BR_JMP_REL, 5, 6);
        CHECK_EQUAL(from(0), 5, "it goes on");
        write_msr(MSR_IA32_LBR_CTL, EVERY);
        pmu_enter_smm(rig.pmu);
        pmu_leave_smm(rig.pmu);
        CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), EVERY, "what was off stays off");
    }
}

/* What the manual says of a warm reset: "all LBR MSRs ... have their values preserved. However,
 * IA32_LBR_CTL.LBREn is cleared". */
static void init_clears_lbren_and_keeps_the_rest(void **state)
{
    (void)state;
    start(EVERY);
    write_msr(MSR_IA32_LBR_DEPTH, 8);
    branch(BR_JMP_REL, 1, 2);
    pmu_reset(rig.pmu, true);
    CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), EVERY, "IA32_LBR_CTL");
    CHECK_EQUAL(read_msr(MSR_IA32_LBR_DEPTH), 8, "IA32_LBR_DEPTH");
    CHECK_EQUAL(from(0), 1, "the record");
    branch(BR_JMP_REL, 3, 4);
    CHECK_EQUAL(from(0), 1, "off");
    pmu_reset(rig.pmu, false);
    CHECK_EQUAL(read_msr(MSR_IA32_LBR_CTL), 0, "IA32_LBR_CTL after a power-up");
    CHECK_EQUAL(read_msr(MSR_IA32_LBR_DEPTH), 32, "IA32_LBR_DEPTH after it");
    CHECK_EQUAL(from(0), 0, "the record after it");
}

const struct CMUnitTest lbr_arch_tests[] = {
    RULE(arch_lbrs_are_announced_and_replace_the_others),
    RULE(lbr_ctl_takes_what_leaf_1ch_announces),
    RULE(lbr_depth_takes_announced_depths),
    RULE(records_from_depth_on_fault),
    RULE(writing_lbr_depth_clears_the_records),
    RULE(entry_0_is_the_newest),
    RULE(lbren_switches_and_keeps_the_records),
    RULE(debugctl_lbr_means_nothing),
    RULE(each_kind_has_its_enable),
    RULE(ring_filter_hides_the_other_ring),
    RULE(a_call_of_zero_length_is_not_recorded),
    RULE(arch_call_stack),
    RULE(arch_info_by_leaf_1ch),
    RULE(arch_cycle_count),
    RULE(arch_records_can_be_written),
    RULE(debug_exception_clears_lbren),
    RULE(last_event_record),
    RULE(arch_freeze_on_pmi),
    RULE(smm_is_never_recorded),
    RULE(init_clears_lbren_and_keeps_the_rest),
};
const size_t n_lbr_arch_tests = LENGTH(lbr_arch_tests);
