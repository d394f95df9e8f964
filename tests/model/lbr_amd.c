/* AMD's last branch records: the single one, and the stack of LbrExtV2. */
#include "tests/model/rig.h"
#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/msr.h"

#define DEPTH  16 /* of Zen 4 and Zen 5: CPUID.80000022H:EBX[9:4] */
#define TARGET 0x9000

static const char *const amd_profiles[] = {"k8", "zen1", "zen3", "zen4", "zen5"};
static const char *const with_stack[] = {"zen4", "zen5"};

static uint64_t from_at(unsigned i)
{
    return read_msr(MSR_AMD_LBR_STACK_FROM0 + AMD_LBR_STRIDE * i);
}

static uint64_t to_at(unsigned i)
{
    return read_msr(MSR_AMD_LBR_STACK_TO0 + AMD_LBR_STRIDE * i);
}

static void start_stack(const char *profile)
{
    rig_start(profile, NULL);
    rig.cpu->seg[SEG_CS].base = 0;
    write_msr(MSR_AMD_DBG_EXTN_CFG, AMD_DBG_EXTN_CFG_LBRSE);
}

static void single_record_is_the_last_branch(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(amd_profiles); p++) {
        rig_start(amd_profiles[p], NULL);
        rig.cpu->seg[SEG_CS].base = 0;
        branch(BR_JMP_REL, 0x100, 0x200);
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0, "none without DebugCtl.LBR");
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
        branch(BR_JMP_REL, 0x300, 0x400);
        branch(BR_CALL_REL, 0x500, 0x600);
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0x500, "LastBranchFromIP");
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_TO_IP), 0x600, "LastBranchToIP");
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_INT_FROM_IP), 0, "no interrupt so far");
    }
}

/* The registers hold offsets in the code segment. */
static void single_record_holds_what_rip_held(void **state)
{
    (void)state;
    rig_start("zen4", NULL);
    rig.cpu->seg[SEG_CS].base = 0x10000;
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
    branch(BR_JMP_REL, 0x10300, 0x10400);
    CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0x300, "from");
    CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_TO_IP), 0x400, "to");
}

static void an_interrupt_moves_the_last_branch(void **state)
{
    (void)state;
    static const enum branch_kind kinds[] = {BR_INTERRUPT, BR_EXCEPTION};
    for (unsigned k = 0; k < LENGTH(kinds); k++) {
        rig_start("zen1", NULL);
        rig.cpu->seg[SEG_CS].base = 0;
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
        branch(BR_JMP_REL, 0x300, 0x400);
        branch(kinds[k], 0x420, 0x700);
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0x420, "the interrupted instruction");
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_TO_IP), 0x700, "the handler");
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_INT_FROM_IP), 0x300, "the branch before");
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_INT_TO_IP), 0x400, "and its target");
    }
}

static void single_records_are_read_only(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(amd_profiles); p++) {
        rig_start(amd_profiles[p], NULL);
        for (uint32_t msr = MSR_AMD_LAST_BRANCH_FROM_IP; msr <= MSR_AMD_LAST_INT_TO_IP; msr++)
            CHECK(!read_faults(msr) && write_faults(msr, 0), "MSR %XH", msr);
    }
}

static void debug_exception_stops_both_records(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(with_stack); p++) {
        start_stack(with_stack[p]);
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_BTF);
        branch(BR_JMP_REL, 0x300, 0x400);
        pmu_debug_exception(rig.pmu);
        CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), 0, "LBR and BTF");
        CHECK_EQUAL(read_msr(MSR_AMD_DBG_EXTN_CFG), 0, "LBRSE");
        branch(BR_EXCEPTION, 0x420, 0x700);
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0x300, "the single record stays");
        CHECK_EQUAL(read_msr(MSR_AMD_LAST_INT_FROM_IP), 0, "#DB moves nothing");
        CHECK_EQUAL(from_at(0), 0x300, "the stack stays");
    }
}

static void stack_begins_with_the_newest(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(with_stack); p++) {
        start_stack(with_stack[p]);
        for (unsigned i = 1; i <= DEPTH + 3; i++)
            predicted_branch(BR_JMP_IND, 0x100 * i, TARGET + i, i % 2);
        for (unsigned i = 0; i < DEPTH; i++) {
            unsigned n = DEPTH + 3 - i;
            CHECK_EQUAL(from_at(i), 0x100 * n | (n % 2 ? AMD_LBR_FROM_MISPREDICT : 0), "from %u",
                        i);
            CHECK_EQUAL(to_at(i), (TARGET + n) | AMD_LBR_TO_VALID, "V without Spec, to %u", i);
        }
        CHECK(read_faults(MSR_AMD_LBR_STACK_FROM0 + AMD_LBR_STRIDE * DEPTH), "no more of them");
    }
}

static void stack_holds_addresses_of_57_bits(void **state)
{
    (void)state;
    start_stack("zen4");
    branch(BR_JMP_REL, 0xffffffff81000000, 0xffffffff82000000);
    CHECK_EQUAL(from_at(0), 0x01ffffff81000000, "bits 56:0 of from");
    CHECK_EQUAL(to_at(0), 0x01ffffff82000000 | AMD_LBR_TO_VALID, "of to");
    write_msr(MSR_AMD_LBR_STACK_FROM0, 0);
    write_msr(MSR_AMD_LBR_STACK_TO0, 0);
    CHECK(from_at(0) == 0 && to_at(0) == 0, "software clears them");
}

static void stack_is_there_by_cpuid(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(amd_profiles); p++) {
        rig_start(amd_profiles[p], NULL);
        uint32_t max[4], v2[4] = {0};
        cpu_cpuid(rig.cpu, 0x80000000, 0, max);
        if (max[0] >= 0x80000022)
            cpu_cpuid(rig.cpu, 0x80000022, 0, v2);
        bool there = v2[0] & CPUID_80000022_EAX_LBR_V2;
        CHECK(read_faults(MSR_AMD_LBR_SELECT) == !there, "LbrSelect");
        CHECK(read_faults(MSR_AMD_DBG_EXTN_CFG) == !there, "DebugExtnCfg");
        CHECK(read_faults(MSR_AMD_LBR_STACK_TO0) == !there, "the first record");
    }
}

static void stack_needs_no_debugctl(void **state)
{
    (void)state;
    start_stack("zen4");
    branch(BR_JMP_REL, 0x300, 0x400);
    CHECK_EQUAL(from_at(0), 0x300, "the stack records");
    CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0, "the single record does not");
    write_msr(MSR_AMD_DBG_EXTN_CFG, 0);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
    branch(BR_JMP_REL, 0x500, 0x600);
    CHECK_EQUAL(from_at(0), 0x300, "now it is the other way round");
    CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0x500, "the single record");
}

static void lbr_select_suppresses(void **state)
{
    (void)state;
    static const struct {
        enum branch_kind kind;
        uint64_t bit;
    } kinds[] = {
        {BR_JCC, LBR_SELECT_JCC},
        {BR_CALL_REL, LBR_SELECT_NEAR_REL_CALL},
        {BR_CALL_IND, LBR_SELECT_NEAR_IND_CALL},
        {BR_RET, LBR_SELECT_NEAR_RET},
        {BR_JMP_IND, LBR_SELECT_NEAR_IND_JMP},
        {BR_JMP_REL, LBR_SELECT_NEAR_REL_JMP},
        {BR_FAR, LBR_SELECT_FAR_BRANCH},
        {BR_INTERRUPT, LBR_SELECT_FAR_BRANCH},
        {BR_EXCEPTION, LBR_SELECT_FAR_BRANCH},
    };
    start_stack("zen4");
    for (unsigned k = 0; k < LENGTH(kinds); k++) {
        write_msr(MSR_AMD_LBR_SELECT, kinds[k].bit);
        branch(kinds[k].kind, 0x100 * (k + 1), TARGET);
        CHECK(from_at(0) != 0x100 * (k + 1), "kind %u is suppressed", k);
        write_msr(MSR_AMD_LBR_SELECT, LBR_SELECT_CPL_NEQ_0 | (0x1fc & ~kinds[k].bit));
        branch(kinds[k].kind, 0x100 * (k + 1), TARGET);
        CHECK_EQUAL(from_at(0), 0x100 * (k + 1), "kind %u is not", k);
    }
    write_msr(MSR_AMD_LBR_SELECT, LBR_SELECT_CPL_EQ_0);
    branch(BR_JCC, 0x7000, TARGET);
    CHECK(from_at(0) != 0x7000, "targets in ring 0");
    rig.cpu->cpl = 3;
    branch(BR_JCC, 0x7100, TARGET);
    CHECK_EQUAL(from_at(0), 0x7100, "but not in ring 3");
}

static void stack_registers_reserved_bits(void **state)
{
    (void)state;
    start_stack("zen4");
    for (unsigned i = 0; i < 64; i++) {
        CHECK(write_faults(MSR_AMD_DBG_EXTN_CFG, ARCH_BIT(i)) == (i != 6), "DebugExtnCfg[%u]", i);
        CHECK(write_faults(MSR_AMD_LBR_SELECT, ARCH_BIT(i)) == (i > 8), "LbrSelect[%u]", i);
    }
}

/* Zen 5's: CPUID.80000022H:EAX[2]. */
static void flbri_freezes_the_stack(void **state)
{
    (void)state;
    start_stack("zen4");
    write_msr(MSR_IA32_DEBUGCTL, AMD_DEBUGCTL_FLBRI);
    CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), 0, "zen4 has no freeze: the bit reads as zero");

    start_stack("zen5");
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    write_msr(MSR_IA32_DEBUGCTL, AMD_DEBUGCTL_FLBRI | DEBUGCTL_LBR);
    write_msr(MSR_AMD_PERF_CNTR_GLOBAL_CTL, 1);
    write_msr(MSR_AMD_PERF_CTR0, low_bits(48));
    write_msr(MSR_AMD_PERF_CTL0,
              AMD_EVENT_RETIRED_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN | PERFEVTSEL_INT);
    branch(BR_JMP_REL, 0x300, 0x400);
    retire(0, 1);
    pass_skid();
    CHECK_EQUAL(read_msr(MSR_AMD_PERF_CNTR_GLOBAL_STATUS), 1 | AMD_GLOBAL_STATUS_LBRSF, "LBRSF");
    branch(BR_JMP_REL, 0x500, 0x600);
    CHECK_EQUAL(from_at(0), 0x300, "the stack is frozen");
    CHECK_EQUAL(read_msr(MSR_AMD_LAST_BRANCH_FROM_IP), 0x500, "the single record is not");
    write_msr(MSR_AMD_PERF_CNTR_GLOBAL_STATUS_CLR, AMD_GLOBAL_STATUS_LBRSF);
    branch(BR_JMP_REL, 0x700, 0x800);
    CHECK_EQUAL(from_at(0), 0x700, "thawed");
}

const struct CMUnitTest lbr_amd_tests[] = {
    RULE(single_record_is_the_last_branch),
    RULE(single_record_holds_what_rip_held),
    RULE(an_interrupt_moves_the_last_branch),
    RULE(single_records_are_read_only),
    RULE(debug_exception_stops_both_records),
    RULE(stack_begins_with_the_newest),
    RULE(stack_holds_addresses_of_57_bits),
    RULE(stack_is_there_by_cpuid),
    RULE(stack_needs_no_debugctl),
    RULE(lbr_select_suppresses),
    RULE(stack_registers_reserved_bits),
    RULE(flbri_freezes_the_stack),
};
const size_t n_lbr_amd_tests = LENGTH(lbr_amd_tests);
