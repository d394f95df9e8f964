/* The last branch record stack, its filters, the last exception record, single step on branches. */
#include "tests/model/rig.h"
#include "x86/pmu.h"
#include "x86/msr.h"

#define MISPREDICTED ARCH_BIT(63)
#define HIGH         0xffff900000000000ULL

/* As the tables of SDM vol. 3 "LBR Stack" and of each generation have it. */
static const struct stack {
    const char *profile;
    uint32_t from, to, info; /* info 0: none */
    unsigned depth;
    unsigned flag_bits; /* in the upper bits of FROM */
    bool select, call_stack;
    unsigned to_bits; /* of the address in TO, cycles above them; 0: all */
} stacks[] = {
    {"core2", 0x40, 0x60, 0, 4, 0, false, false, 0},
    {"westmere", 0x680, 0x6c0, 0, 16, 1, true, false, 0},
    {"sandybridge", 0x680, 0x6c0, 0, 16, 1, true, false, 0},
    {"haswell", 0x680, 0x6c0, 0, 16, 3, true, true, 0},
    {"skylake", 0x680, 0x6c0, 0xdc0, 32, 0, true, true, 0},
    {"icelake", 0x680, 0x6c0, 0xdc0, 32, 0, true, true, 0},
    {"goldmont", 0x680, 0x6c0, 0, 32, 1, true, true, 48},
};
#define FOR_EACH_STACK(s) for (const struct stack *s = stacks; s < stacks + LENGTH(stacks); s++)

static unsigned tos(void)
{
    return read_msr(MSR_LASTBRANCH_TOS);
}

static void start_recording(const struct stack *s)
{
    rig_start(s->profile, NULL);
    write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
}

static void stack_has_the_models_depth(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        rig_start(s->profile, NULL);
        read_msr(s->from + s->depth - 1);
        read_msr(s->to + s->depth - 1);
        CHECK(read_faults(s->from + s->depth), "FROM past the end");
        if (s->to + s->depth != MSR_IA32_TSC_DEADLINE)
            CHECK(read_faults(s->to + s->depth), "TO past the end");
        CHECK(write_faults(MSR_LASTBRANCH_TOS, s->depth), "TOS past the end");
        CHECK_EQUAL(!s->select, read_faults(MSR_LBR_SELECT), "MSR_LBR_SELECT");
        if (s->info)
            CHECK(read_faults(s->info + s->depth), "INFO past the end");
        else
            CHECK(read_faults(MSR_LBR_INFO_0), "no INFO");
        CHECK_EQUAL(write_faults(s->to, ARCH_BIT(62)), s->to_bits == 0,
                    "an address that is not canonical; cycles");
    }
}

/* TOS goes up before each record and wraps. */
static void newest_at_tos_and_wrap(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        start_recording(s);
        for (unsigned i = 0; i < s->depth + 2; i++) {
            unsigned before = tos();
            branch(BR_JMP_REL, 0x1000 + i, 0x2000 + i);
            CHECK_EQUAL(tos(), (before + 1) % s->depth, "TOS");
        }
        for (unsigned i = 0; i < s->depth; i++) {
            unsigned n = s->depth + 1 - i, at = (tos() + s->depth - i) % s->depth;
            CHECK_EQUAL(read_msr(s->from + at) & 0xffff, 0x1000 + n, "FROM, %u back", i);
            CHECK_EQUAL(read_msr(s->to + at), 0x2000 + n, "TO, %u back", i);
        }
    }
}

static void nothing_recorded_when_off(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        rig_start(s->profile, NULL);
        CHECK(!rig.cpu->want_branches, "nobody wants branches");
        branch(BR_JMP_REL, 1, 2);
        CHECK_EQUAL(tos(), 0, "TOS");
    }
}

/* 64-bit addresses; where FROM has flags, the rest is the address, its sign in the bits below. */
static void flags_where_the_format_has_them(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        start_recording(s);
        predicted_branch(BR_JMP_REL, HIGH + 1, HIGH + 2, true);
        predicted_branch(BR_JMP_REL, HIGH + 3, HIGH + 4, false);
        uint64_t address = ~0ULL >> s->flag_bits;
        CHECK_EQUAL(read_msr(s->from + 1),
                    ((HIGH + 1) & address) | (s->flag_bits ? MISPREDICTED : 0),
                    "FROM mispredicted");
        CHECK_EQUAL(read_msr(s->from + 2), (HIGH + 3) & address, "FROM predicted");
        CHECK_EQUAL(read_msr(s->to + 1), (HIGH + 2) & low_bits(s->to_bits ? s->to_bits : 64), "TO");
        if (!s->info)
            continue;
        CHECK_EQUAL(read_msr(s->info + 1) & MISPREDICTED, MISPREDICTED, "INFO mispredicted");
        CHECK_EQUAL(read_msr(s->info + 2) & MISPREDICTED, 0, "INFO predicted");
    }
}

/* MSR_LBR_INFO_x[15:0], on Goldmont MSR_LASTBRANCH_x_TO_IP[63:48]: core cycles since the record
 * before, at most FFFFH. */
static void info_counts_cycles(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        if (!s->info && !s->to_bits)
            continue;
        uint32_t msr = s->info ? s->info : s->to;
        start_recording(s);
        unsigned width = rig.profile.uarch.retire_width;
        branch(BR_JMP_REL, 1, 2);
        pass(0, EV_ABSENT, 0, 70 * width);
        branch(BR_JMP_REL, 3, 4);
        pass(0, EV_ABSENT, 0, 70000 * width);
        branch(BR_JMP_REL, 5, 6);
        CHECK_EQUAL(read_msr(msr + 2) >> s->to_bits, 70, "cycles");
        CHECK_EQUAL(read_msr(msr + 3) >> s->to_bits, 0xffff, "saturated");
    }
}

static const struct {
    enum branch_kind kind;
    uint64_t select;
} filters[] = {
    {BR_JCC, LBR_SELECT_JCC},
    {BR_JMP_REL, LBR_SELECT_NEAR_REL_JMP},
    {BR_JMP_IND, LBR_SELECT_NEAR_IND_JMP},
    {BR_CALL_REL, LBR_SELECT_NEAR_REL_CALL},
    {BR_CALL_IND, LBR_SELECT_NEAR_IND_CALL},
    {BR_RET, LBR_SELECT_NEAR_RET},
    {BR_FAR, LBR_SELECT_FAR_BRANCH},
    {BR_INTERRUPT, LBR_SELECT_FAR_BRANCH},
    {BR_EXCEPTION, LBR_SELECT_FAR_BRANCH},
};

static void each_filter_suppresses_its_kind_alone(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        if (!s->select)
            continue;
        for (unsigned bit = 2; bit <= 8; bit++) {
            start_recording(s);
            write_msr(MSR_LBR_SELECT, ARCH_BIT(bit));
            for (unsigned i = 0; i < LENGTH(filters); i++) {
                unsigned before = tos();
                branch(filters[i].kind, 0x1000, 0x2000);
                CHECK_EQUAL(tos() != before, filters[i].select != ARCH_BIT(bit),
                            "kind %u under filter %u", filters[i].kind, bit);
            }
        }
    }
}

/* The ring in which the branch ends. */
static void ring_filter(void **state)
{
    (void)state;
    for (unsigned cpl = 0; cpl <= 3; cpl += 3) {
        rig_start("skylake", NULL);
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR);
        write_msr(MSR_LBR_SELECT, cpl == 0 ? LBR_SELECT_CPL_EQ_0 : LBR_SELECT_CPL_NEQ_0);
        rig.cpu->cpl = cpl;
        pmu_branch(rig.pmu, BR_FAR, 1, 2, 3 - cpl, false);
        CHECK_EQUAL(tos(), 0, "into ring %u", cpl);
        rig.cpu->cpl = 3 - cpl;
        pmu_branch(rig.pmu, BR_FAR, 1, 2, cpl, false);
        CHECK_EQUAL(tos(), 1, "out of ring %u", cpl);
        rig.cpu->cpl = 0;
    }
}

/* SDM vol. 3 "Last Branch, Call Stack, Interrupt, and Exception Recording for Processors Based on
 * Haswell Microarchitecture". */
static void call_stack_forgets_what_returned(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        if (!s->select)
            continue;
        start_recording(s);
        const uint64_t select = LBR_SELECT_EN_CALLSTACK | LBR_SELECT_JCC | LBR_SELECT_NEAR_IND_JMP |
                                LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_FAR_BRANCH;
        CHECK_EQUAL(write_faults(MSR_LBR_SELECT, select), !s->call_stack, "EN_CALLSTACK");
        if (!s->call_stack)
            continue;
        branch(BR_CALL_REL, 0x1000, 0x2000);
        branch(BR_CALL_IND, 0x2000, 0x3000);
        branch(BR_RET, 0x3000, 0x2005);
        CHECK_EQUAL(tos(), 1, "the leaf is gone");
        CHECK_EQUAL(read_msr(s->from + 2), 0, "its record too");
        branch(BR_CALL_REL, 0x2010, 0x2015);
        CHECK_EQUAL(tos(), 1, "a call of zero length is not written");
        branch(BR_CALL_REL, 0x2020, 0x4000);
        CHECK_EQUAL(read_msr(s->to + 2), 0x4000, "the next leaf");
    }
}

/* LBR and BTF go, TR stays, the stack is kept. */
static void debug_exception_ends_recording(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        start_recording(s);
        branch(BR_JMP_REL, 0x1000, 0x2000);
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_TR);
        CHECK(pmu_btf(rig.pmu), "BTF");
        pmu_debug_exception(rig.pmu);
        CHECK(!pmu_btf(rig.pmu), "BTF is cleared");
        CHECK_EQUAL(read_msr(MSR_IA32_DEBUGCTL), DEBUGCTL_TR, "DEBUGCTL");
        branch(BR_EXCEPTION, 0x2000, 0x3000);
        CHECK_EQUAL(tos(), 1, "the #DB is not recorded");
        CHECK_EQUAL(read_msr(s->to + 1), 0x2000, "the branch before it is kept");
    }
}

/* SDM vol. 3 "Last Exception Records": the last branch before the exception or interrupt. */
static void last_exception_record(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        start_recording(s);
        branch(BR_JMP_REL, 0x1000, 0x2000);
        branch(BR_INTERRUPT, 0x2004, 0x3000);
        CHECK_EQUAL(read_msr(MSR_LER_FROM_LIP), 0x1000, "from");
        CHECK_EQUAL(read_msr(MSR_LER_TO_LIP), 0x2000, "to");
        branch(BR_RET, 0x3010, 0x2004);
        CHECK_EQUAL(read_msr(MSR_LER_TO_LIP), 0x2000, "a branch leaves it");
        pmu_debug_exception(rig.pmu);
        CHECK_EQUAL(read_msr(MSR_LER_FROM_LIP), 0x3010, "from, before the #DB");
        CHECK_EQUAL(read_msr(MSR_LER_TO_LIP), 0x2004, "to, before the #DB");
    }
}

/* SDM vol. 3 "Branch Trace Messages": from Nehalem on the stack is recorded under TR as well. */
static void stack_under_trace_messages(void **state)
{
    (void)state;
    FOR_EACH_STACK(s)
    {
        start_recording(s);
        write_msr(MSR_IA32_DEBUGCTL, DEBUGCTL_LBR | DEBUGCTL_TR);
        branch(BR_JMP_REL, 1, 2);
        CHECK_EQUAL(tos(), s->select ? 1 : 0, "TOS");
    }
}

const struct CMUnitTest lbr_tests[] = {
    RULE(stack_has_the_models_depth),
    RULE(newest_at_tos_and_wrap),
    RULE(nothing_recorded_when_off),
    RULE(flags_where_the_format_has_them),
    RULE(info_counts_cycles),
    RULE(each_filter_suppresses_its_kind_alone),
    RULE(ring_filter),
    RULE(call_stack_forgets_what_returned),
    RULE(debug_exception_ends_recording),
    RULE(last_exception_record),
    RULE(stack_under_trace_messages),
};
const size_t n_lbr_tests = LENGTH(lbr_tests);
