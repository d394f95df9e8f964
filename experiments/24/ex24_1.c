/* Experiment 24-1 · What is there on AMD. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "pmu/debugctl.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/amd.h"
#include "x86/decode.h"

enum { REGISTERS, WIDTH, SAME_SELECTS, SAME_COUNTERS, GLOBAL, FREEZE, RECORDS, IBS, CLOCKS };

static const char *const checks[] = {
    [REGISTERS] = "the select and the counter of each announced counter answer",
    [WIDTH] = "each counter takes all of its 48 bits",
    [SAME_SELECTS] = "PerfEvtSel0 to 3 and PERF_CTL0 to 3 are the same registers",
    [SAME_COUNTERS] = "PerfCtr0 to 3 and PERF_CTR0 to 3 are the same counters",
    [GLOBAL] = "PerfMonV2: control and status answer, clear and set take a write",
    [FREEZE] = "DebugCtl takes FPMCI and, with LbrExtV2, FLBRI, which freeze at a PMI",
    [RECORDS] = "LbrExtV2: the switch, the filter and each entry answer",
    [IBS] = "each register of IBS that CPUID.8000001BH announces answers",
    [CLOCKS] = "IRPERF and the read-only copies of MPERF and APERF answer where announced",
};

static void run(void);

const struct experiment ex24_1 = {
    .id = "24-1",
    .title = "What is there on AMD",
    .needs = NEED_AMD | NEED_PMU,
    CHECKS(checks),
    .run = run,
};

/*
 * AMD tells of its PMU in the extended leaves of CPUID: 8000_0001H:ECX[23] six core counters in
 * place of the four that every processor since K7 has, [10] IBS; 8000_0022H PerfMonV2, how many
 * counters, the branch records and the freeze; 8000_001BH what IBS can do; 8000_0007H:EDX[10] and
 * 8000_0008H:EBX[1] counters that always run (APM vol. 3 appendix E). Each register that one of
 * these bits announces must answer.
 *
 * The six have addresses of their own, in pairs, from C001_0200H on, and the first four answer at
 * the old ones too: APM vol. 2 "Core Performance-Monitoring Counters". What is written by one
 * address must be read by the other, both ways.
 *
 * What can go wrong: a hypervisor that shows its guest the processor's CPUID and not its registers.
 */
#define LEAF_FEATURES 0x80000001
#define LEAF_POWER    0x80000007
#define LEAF_SIZES    0x80000008
#define LEAF_IBS      0x8000001b
#define LEAF_PERFMON  0x80000022
#define FIELDS_SIZE   256
#define PATTERN       ARCH_U64(0x5a5a5a5a5a5a)

static void note_leaf(uint32_t leaf)
{
    struct cpuid_regs r = cpuid(leaf, 0);
    note("CPUID.%XH: EAX=%08XH EBX=%08XH ECX=%08XH EDX=%08XH", (unsigned)leaf, (unsigned)r.eax,
         (unsigned)r.ebx, (unsigned)r.ecx, (unsigned)r.edx);
}

static bool answers(uint32_t msr)
{
    uint64_t value;
    bool ok = rdmsr_safe(msr, &value);
    if (!ok)
        note("RDMSR of %XH raises #GP", (unsigned)msr);
    return ok;
}

static bool has_registers(unsigned counter)
{
    bool select = answers(pmu_select_msr(counter));
    return answers(pmu_counter_msr(counter)) && select;
}

static bool holds_all_bits(unsigned counter)
{
    uint64_t max = pmu_counter_max(counter);
    bool all = pmu_write(counter, max) && pmu_read(counter) == max;
    bool pattern = pmu_write(counter, PATTERN & max) && pmu_read(counter) == (PATTERN & max);
    pmu_write(counter, 0);
    return all && pattern;
}

static void check_counters(void)
{
    const struct pmu_info *info = pmu_info();
    note("%s: %u counters, %s", info->title, info->n_general, info->general_by);
    value_u64("counters", info->n_general);
    check(REGISTERS, enumerated_all(pmu_all_counters(), has_registers));
    value_u64("width", info->general_width);
    check(WIDTH, enumerated_all(pmu_all_counters(), holds_all_bits));
}

/* What is written by one address is read by the other, for the first four; 0 is left. */
static bool are_the_same(const struct pmu_bank *one, const struct pmu_bank *other, uint64_t value)
{
    bool same = true;
    for (unsigned n = 0; n < AMD_LEGACY_COUNTERS && n < pmu_info()->n_general; n++) {
        const uint32_t a = pmu_bank_msr(one, n), b = pmu_bank_msr(other, n);
        uint64_t held = 0;
        bool right = wrmsr_safe(a, value + n) && rdmsr_safe(b, &held) && held == value + n;
        wrmsr_safe(a, 0);
        right = rdmsr_safe(b, &held) && held == 0 && right;
        if (!right)
            note("%XH and %XH are two registers", (unsigned)a, (unsigned)b);
        same = same && right;
    }
    return same;
}

static void check_legacy(void)
{
    const struct pmu_kind *old = pmu_kind_of_amd(PMU_AMD_LEGACY), *here = pmu_info()->kind;
    if (here == old) {
        check_skip_all(SAME_SELECTS, SAME_COUNTERS,
                       "no core counters at C0010200H: CPUID.80000001H:ECX[23] = 0");
        return;
    }
    check(SAME_SELECTS, are_the_same(&old->selects, &here->selects, AMD_EVENT_RETIRED_OPS) &&
                            are_the_same(&here->selects, &old->selects, AMD_EVENT_RETIRED_OPS));
    check(SAME_COUNTERS, are_the_same(&old->counters, &here->counters, PATTERN) &&
                             are_the_same(&here->counters, &old->counters, PATTERN));
}

static void check_global(void)
{
    const struct pmu_info *info = pmu_info();
    const struct pmu_kind *kind = info->kind;
    if (!info->global_ctrl) {
        check_skip(GLOBAL, "%s", info->no_global_ctrl);
    } else {
        bool control = answers(kind->enable), status = answers(kind->status);
        bool clear = wrmsr_safe(kind->status_clear, 0), set = wrmsr_safe(kind->status_set, 0);
        if (!set && hypervisor_present())
            value_str("known",
                      "KVM had no PerfCntrGlobalStatusSet in its first years of PerfMonV2");
        check(GLOBAL, control && status && clear && (set || hypervisor_present()));
    }
    bool stack = cpuid(LEAF_PERFMON, 0).eax & CPUID_80000022_EAX_LBR_V2;
    uint64_t bits = AMD_DEBUGCTL_FPMCI | (stack ? AMD_DEBUGCTL_FLBRI : 0);
    if (!info->freeze) {
        check_skip(FREEZE, "%s", info->no_freeze);
    } else {
        value_hex("taken", debugctl_takes(bits));
        check(FREEZE, debugctl_takes(bits) == bits);
    }
}

static void check_records(void)
{
    struct cpuid_regs leaf = cpuid(LEAF_PERFMON, 0);
    unsigned depth = (leaf.ebx & CPUID_80000022_EBX_LBR) >> CPUID_80000022_EBX_LBR_SHIFT;
    if (!(leaf.eax & CPUID_80000022_EAX_LBR_V2)) {
        check_skip(RECORDS, "no LbrExtV2: CPUID.80000022H:EAX[1] = 0");
        return;
    }
    bool all = answers(MSR_AMD_DBG_EXTN_CFG);
    all = answers(MSR_AMD_LBR_SELECT) && all;
    for (uint32_t i = 0; i < depth; i++) {
        all = answers(MSR_AMD_LBR_STACK_FROM0 + i * AMD_LBR_STRIDE) && all;
        all = answers(MSR_AMD_LBR_STACK_TO0 + i * AMD_LBR_STRIDE) && all;
    }
    value_u64("entries", depth);
    check(RECORDS, all && depth != 0);
}

/* The registers of IBS, by the bit of 8000_001BH:EAX that announces them. */
static const struct {
    uint32_t bit, msr, last;
} ibs_registers[] = {
    {CPUID_8000001B_EAX_FETCH_SAM, MSR_AMD_IBS_FETCH_CTL, MSR_AMD_IBS_FETCH_PHYS_AD},
    {CPUID_8000001B_EAX_OP_SAM, MSR_AMD_IBS_OP_CTL, MSR_AMD_IBS_DC_PHYS_AD},
    {CPUID_8000001B_EAX_IBSFFV, MSR_AMD_IBS_CTL, MSR_AMD_IBS_CTL},
    {CPUID_8000001B_EAX_BRN_TRGT, MSR_AMD_IBS_BR_TARGET, MSR_AMD_IBS_BR_TARGET},
    {CPUID_8000001B_EAX_FETCH_CTL_EXTD, MSR_AMD_IBS_FETCH_CTL_EXTD, MSR_AMD_IBS_FETCH_CTL_EXTD},
    {CPUID_8000001B_EAX_OP_DATA4, MSR_AMD_IBS_OP_DATA4, MSR_AMD_IBS_OP_DATA4},
};

static void check_ibs(void)
{
    uint32_t can = cpuid(LEAF_IBS, 0).eax;
    bool all = true;
    if (!(cpuid(LEAF_FEATURES, 0).ecx & CPUID_80000001_ECX_IBS)) {
        check_skip(IBS, "no IBS: CPUID.80000001H:ECX[10] = 0");
        return;
    }
    for (size_t i = 0; i < sizeof(ibs_registers) / sizeof(ibs_registers[0]); i++)
        for (uint32_t msr = ibs_registers[i].msr; msr <= ibs_registers[i].last; msr++)
            if (can & ibs_registers[i].bit)
                all = answers(msr) && all;
    value_hex("cpuid_8000001b_eax", can);
    check(IBS, all && (can & CPUID_8000001B_EAX_IBSFFV));
}

static void check_clocks(void)
{
    bool irperf = cpuid(LEAF_SIZES, 0).ebx & CPUID_80000008_EBX_IRPERF;
    bool copies = cpuid(LEAF_POWER, 0).edx & CPUID_80000007_EDX_RO_EFF_FREQ;
    if (!irperf && !copies) {
        check_skip(CLOCKS, "neither: CPUID.80000008H:EBX[1] = 0, CPUID.80000007H:EDX[10] = 0");
        return;
    }
    bool all = !irperf || answers(MSR_AMD_IRPERF);
    all = (!copies || (answers(MSR_AMD_MPERF_RO) && answers(MSR_AMD_APERF_RO))) && all;
    value_u64("irperf", irperf);
    value_u64("read_only_copies", copies);
    check(CLOCKS, all);
}

static void run(void)
{
    static const uint32_t leaves[] = {LEAF_FEATURES, LEAF_POWER, LEAF_SIZES, LEAF_IBS,
                                      LEAF_PERFMON};
    for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++)
        note_leaf(leaves[i]);
    check_counters();
    check_legacy();
    check_global();
    check_records();
    check_ibs();
    check_clocks();
    pmu_dump("all of it");
}
