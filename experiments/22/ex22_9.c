/* Experiment 22-9 · Leaf 23H and the new addresses. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

enum {
    NOT_NAMED,
    WITHIN,
    NAMED_THERE,
    OTHERS_NOT,
    BY_OLD,
    BY_OWN,
    SELECTS,
    FIXED,
    WIDTH,
    RESERVED,
    COUNTED,
    UMASK2,
    EQ,
};

static const char *const checks[] = {
    [NOT_NAMED] = "the sub-leaves that sub-leaf 0 does not name are 0",
    [WITHIN] = "those of single facilities name counters of sub-leaf 1 alone",
    [NAMED_THERE] = "each counter of sub-leaf 1 has its registers, and can be opened",
    [OTHERS_NOT] = "no other can",
    [BY_OLD] = "what a general counter is given by its own address, the old ones read",
    [BY_OWN] = "what it is given by an old address, its own reads",
    [SELECTS] = "so it is with the select registers, both ways",
    [FIXED] = "and with the fixed counters",
    [WIDTH] = "by its own address each counter takes each bit of its width alone",
    [RESERVED] = "bits 63:48 of a select register are #GP by both addresses, and change nothing",
    [COUNTED] = "selected by one address and read by the other, each counts exactly",
    [UMASK2] = "each select register keeps a second unit mask",
    [EQ] = "with EQ, cycles(= k) = cycles(>= k) - cycles(>= k + 1), for each k",
};

static void run(void);

const struct experiment ex22_9 = {
    .id = "22-9",
    .title = "Leaf 23H and the new addresses",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * CPUID leaf 0AH counts counters; leaf 23H has a bit for each, and says what this very processor
 * has: on a hybrid one, where leaf 0AH is what all cores have in common, an Arrow Lake P core names
 * ten general counters there, an E core fixed counters 4 to 6 without a 3. Sub-leaf 0 says which
 * sub-leaves there are, and those that it does not name read 0. SDM vol. 2 "CPUID", leaf 23H.
 *
 * Version 6 then gives each counter its registers side by side: IA32_PMC_GPn_CTR, which takes the
 * whole width, and IA32_PMC_GPn_CFG_A at 1900H + 4n, IA32_PMC_FXm_CTR at 1980H + 4m. They are no
 * new registers: the old addresses reach the same ones. SDM vol. 4 "Architectural MSRs", vol. 3
 * "Architectural Performance Monitoring Version 6". So each side is written with values that differ
 * from counter to counter, and read by the other.
 *
 * What can go wrong: an alias of the neighbour; one that keeps a value of its own; sign extension
 * by the new address; a bitmap that names what is not there, or hides what is. That the lower half
 * refuses reserved bits is old, so of the select registers just those are tried that no version
 * has: 63:48. What an unannounced bit below does (36, 37, 47:40) the manual leaves to "reserved".
 *
 * With EQ a counter takes one count in each cycle in which the event happened just CMASK times.
 * Those cycles are among cycles(>= k), and the rest of them is cycles(>= k + 1), counted in the
 * same window. As in 22-2, what an empty window takes is allowed.
 */
#define RINGS            (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define SELECT           (EVENT_INST_RETIRED_ANY_P | RINGS)
#define ITERATIONS       500
#define OLD_LAST         10 /* IA32_PMC0 to 9 and IA32_PERFEVTSEL0 to 9 have old addresses */
#define LEAF             0x23
#define SUBLEAVES        32
#define UMASK2_OF(value) ((uint64_t)(value) << PERFEVTSEL_UMASK2_SHIFT)

/* ---- The leaf ---- */

static void note_subleaf(unsigned n, const struct cpuid_regs *r)
{
    static const char *const says[] = {"what there is",
                                       "counters: general, fixed",
                                       "can be reloaded, can cause it",
                                       "architectural events",
                                       "PEBS: what",
                                       "PEBS: general, fixed counters"};
    note("CPUID.23H.%u: EAX=%08XH EBX=%08XH ECX=%08XH EDX=%08XH  %s", n, (unsigned)r->eax,
         (unsigned)r->ebx, (unsigned)r->ecx, (unsigned)r->edx,
         n < sizeof(says) / sizeof(says[0]) ? says[n] : "");
}

static void check_not_named(const struct leaf_23h *leaf)
{
    bool all_0 = true;
    for (unsigned n = 0; n < SUBLEAVES; n++) {
        struct cpuid_regs r = cpuid(LEAF, n);
        bool named = leaf->subleaves >> n & 1, zero = (r.eax | r.ebx | r.ecx | r.edx) == 0;
        if (named || !zero)
            note_subleaf(n, &r);
        all_0 = all_0 && (named || zero);
    }
    value_hex("named", leaf->subleaves);
    check(NOT_NAMED, all_0);
}

/* Sub-leaf 2: EAX and EBX, ECX and EDX; sub-leaf 5: EAX and ECX, EBX and EDX. */
static uint64_t pair(uint32_t general, uint32_t fixed)
{
    return general | (uint64_t)fixed << GLOBAL_FIXED_SHIFT;
}

static void check_within(const struct leaf_23h *leaf)
{
    uint64_t counters = pair(leaf->general, leaf->fixed), pebs = 0;
    if (leaf->subleaves & CPUID_23_EAX_PEBS_COUNTERS) {
        struct cpuid_regs r = cpuid(LEAF, 5);
        pebs = pair(r.eax | r.ebx, r.ecx | r.edx);
    }
    value_hex("counters", counters);
    value_hex("reloaded", leaf->reloaded);
    value_hex("reloading", leaf->reloading);
    value_hex("pebs", pebs);
    check(WITHIN, ((leaf->reloaded | leaf->reloading | pebs) & ~counters) == 0);
}

/* Can it be opened? All of it must be there. */
static bool is_there(unsigned counter)
{
    uint64_t value;
    bool all = wrmsr_safe(MSR_IA32_PERF_GLOBAL_CTRL, PMU_MASK(counter)) &&
               rdmsr_safe(pmu_counter_msr(counter), &value) &&
               rdpmc_safe(pmu_rdpmc_selector(counter), &value);
    wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    return all && (counter >= GLOBAL_FIXED_SHIFT || rdmsr_safe(pmu_select_msr(counter), &value));
}

static void check_bitmaps(const struct leaf_23h *leaf)
{
    uint64_t named = pair(leaf->general, leaf->fixed), there = 0;
    if (!(leaf->subleaves & CPUID_23_EAX_COUNTERS)) {
        check_skip_all(NAMED_THERE, OTHERS_NOT, "no bitmaps of counters: CPUID.23H.0:EAX[1] = 0");
        return;
    }
    for (unsigned counter = 0; counter < PMU_FIXED(PMU_MAX_FIXED); counter++)
        if (is_there(counter))
            there |= PMU_MASK(counter);
    value_hex("named", named);
    value_hex("there", there);
    check(NAMED_THERE, (named & ~there) == 0);
    value_hex("there", there);
    check(OTHERS_NOT, (there & ~named) == 0);
}

static void check_leaf(const struct leaf_23h *leaf)
{
    if (leaf->subleaves == 0) {
        check_skip_all(NOT_NAMED, OTHERS_NOT, "no leaf 23H: CPUID.7.1:EAX[8] = 0");
        return;
    }
    check_not_named(leaf);
    check_within(leaf);
    check_bitmaps(leaf);
}

/* ---- One register behind two addresses ---- */

/* Those that have old addresses. */
static uint64_t general(void)
{
    return enumerated_general() & (PMU_MASK(OLD_LAST) - 1);
}

static uint32_t full_width_msr(unsigned counter)
{
    return MSR_IA32_A_PMC0 + counter;
}

/* What it is given: in no other counter, and with bits in both halves where a write takes them. */
static uint64_t value_of(unsigned counter)
{
    return (0x123456789aULL + ((uint64_t)counter << 32) + counter) & pmu_counter_max(counter);
}

static uint64_t old_value_of(unsigned counter)
{
    return value_of(counter) & 0x7fffffff;
}

static bool reads(uint32_t msr, uint64_t expected)
{
    uint64_t value = 0;
    bool answers = rdmsr_safe(msr, &value);
    if (!answers || value != expected)
        note("MSR %XH: %s, reads 0x%llx, not 0x%llx", (unsigned)msr, answers ? "answers" : "#GP",
             (unsigned long long)value, (unsigned long long)expected);
    return answers && value == expected;
}

static bool give_by_own(unsigned counter)
{
    return wrmsr_safe(pmu_counter_msr(counter), value_of(counter));
}

static bool old_reads(unsigned counter)
{
    bool full = !pmu_info()->full_width_write || reads(full_width_msr(counter), value_of(counter));
    return reads(pmu_old_counter_msr(counter), value_of(counter)) && full;
}

static bool give_by_old(unsigned counter)
{
    return wrmsr_safe(pmu_old_counter_msr(counter), old_value_of(counter));
}

static bool own_reads_old(unsigned counter)
{
    return reads(pmu_counter_msr(counter), old_value_of(counter));
}

static bool give_by_full_width(unsigned counter)
{
    return wrmsr_safe(full_width_msr(counter), value_of(counter));
}

static bool own_reads(unsigned counter)
{
    return reads(pmu_counter_msr(counter), value_of(counter));
}

/* All are given their values before the first is read. */
static bool both(uint64_t counters, bool (*give)(unsigned), bool (*read)(unsigned))
{
    pmu_reset();
    bool given = enumerated_all(counters, give);
    return enumerated_all(counters, read) && given;
}

static uint64_t select_of(unsigned n)
{
    return RINGS | (uint64_t)(n + 1) << PERFEVTSEL_CMASK_SHIFT;
}

static bool select_by_own(unsigned n)
{
    return wrmsr_safe(pmu_select_msr(n), select_of(n));
}

static bool old_selects(unsigned n)
{
    return reads(pmu_old_select_msr(n), select_of(n));
}

static bool select_by_old(unsigned n)
{
    return wrmsr_safe(pmu_old_select_msr(n), select_of(n));
}

static bool own_selects(unsigned n)
{
    return reads(pmu_select_msr(n), select_of(n));
}

static bool fixed_old_reads(unsigned counter)
{
    return reads(pmu_old_counter_msr(counter), value_of(counter));
}

static bool fixed_by_old(unsigned counter)
{
    return wrmsr_safe(pmu_old_counter_msr(counter), value_of(counter));
}

static bool takes_each_bit(unsigned counter)
{
    uint64_t max = pmu_counter_max(counter);
    bool all = wrmsr_safe(pmu_counter_msr(counter), max) && reads(pmu_counter_msr(counter), max);
    for (uint64_t bit = 1; bit != 0 && bit <= max; bit <<= 1)
        all = wrmsr_safe(pmu_counter_msr(counter), bit) && reads(pmu_counter_msr(counter), bit) &&
              all;
    return all;
}

static void check_one_register(void)
{
    uint64_t counters = general(), fixed = enumerated_fixed();
    value_hex("counters", counters);
    check(BY_OLD, both(counters, give_by_own, old_reads));
    bool by_old = both(counters, give_by_old, own_reads_old);
    value_hex("counters", counters);
    check(BY_OWN,
          (!pmu_info()->full_width_write || both(counters, give_by_full_width, own_reads)) &&
              by_old);
    bool by_own = both(counters, select_by_own, old_selects);
    value_hex("counters", counters);
    check(SELECTS, both(counters, select_by_old, own_selects) && by_own);
    if (fixed == 0) {
        check_skip(FIXED, "%s", pmu_info()->no_fixed);
    } else {
        by_own = both(fixed, give_by_own, fixed_old_reads);
        value_hex("counters", fixed);
        check(FIXED, both(fixed, fixed_by_old, own_reads) && by_own);
    }
    value_hex("counters", pmu_all_counters());
    check(WIDTH, enumerated_all(pmu_all_counters(), takes_each_bit));
    pmu_reset();
}

/* ---- The select register's bits ---- */

static bool refuses(uint32_t msr, uint64_t kept)
{
    bool all = true;
    for (unsigned bit = 48; bit < 64; bit++)
        if (wrmsr_safe(msr, kept | ARCH_BIT(bit)) || rdmsr(msr) != kept) {
            note("MSR %XH takes bit %u, and reads 0x%llx", (unsigned)msr, bit,
                 (unsigned long long)rdmsr(msr));
            all = false;
        }
    return all;
}

static bool refuses_reserved(unsigned n)
{
    bool selected = select_by_own(n);
    bool old = refuses(pmu_old_select_msr(n), select_of(n));
    return refuses(pmu_select_msr(n), select_of(n)) && old && selected;
}

/* Even ones are selected by their own address and read by the old one, odd ones the other way
 * round. */
static uint64_t expected;

static bool select_crosswise(unsigned n)
{
    return wrmsr_safe(n % 2 ? pmu_old_select_msr(n) : pmu_select_msr(n), SELECT | PERFEVTSEL_EN);
}

static bool read_crosswise(unsigned n)
{
    return reads(n % 2 ? pmu_counter_msr(n) : pmu_old_counter_msr(n), expected);
}

static void check_counted(void)
{
    bool selected = enumerated_all(general(), select_crosswise);
    expected = insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS);
    uint64_t empty = count_empty(general(), 0);
    uint64_t count = count_exactly(general(), 0, body_mixed, ITERATIONS, expected);
    value_hex("counters", general());
    value_known_loss(empty, count, expected);
    value_u64("from_the_listing", expected);
    check(COUNTED, enumerated_all(general(), read_crosswise) && selected);
    pmu_reset();
}

static bool keeps_umask2(unsigned n)
{
    bool all = true;
    for (unsigned bit = 0; bit < 8; bit++) {
        uint64_t select = RINGS | UMASK2_OF(1u << bit);
        all = wrmsr_safe(pmu_select_msr(n), select) && reads(pmu_select_msr(n), select) &&
              reads(pmu_old_select_msr(n), select) && all;
    }
    return all;
}

static void check_umask2(const struct leaf_23h *leaf)
{
    if (!leaf->umask2) {
        check_skip(UMASK2, "no second unit mask: CPUID.23H.0:EBX[0] = 0");
        return;
    }
    value_hex("counters", general());
    check(UMASK2, enumerated_all(general(), keeps_umask2));
    pmu_reset();
}

/* ---- EQ ---- */

#define AT_LEAST(k) (SELECT | (uint64_t)(k) << PERFEVTSEL_CMASK_SHIFT)
#define EQUAL(k)    (AT_LEAST(k) | PERFEVTSEL_EQ)
#define THREE       (PMU_MASK(0) | PMU_MASK(1) | PMU_MASK(2))
#define WIDTH_MAX   16

struct cycles {
    uint64_t at_least, more, equal;
};

static struct cycles count_cycles(unsigned k, window_body body)
{
    pmu_select(0, AT_LEAST(k));
    pmu_select(1, AT_LEAST(k + 1));
    pmu_select(2, EQUAL(k));
    count_from_0(THREE, body, ITERATIONS);
    return (struct cycles){pmu_read(0), pmu_read(1), pmu_read(2)};
}

static bool parts_fit(const struct cycles *c, uint64_t own)
{
    uint64_t sum = c->equal + c->more;
    return (sum > c->at_least ? sum - c->at_least : c->at_least - sum) <= own;
}

static void check_eq(const struct leaf_23h *leaf)
{
    if (!leaf->eq || pmu_no_general(3) != NULL) {
        check_skip(EQ, "%s", leaf->eq ? pmu_no_general(3) : "no EQ: CPUID.23H.0:EBX[1] = 0");
        return;
    }
    /* The cycles of an empty window in which something retires are no more than its instructions.
     */
    uint64_t own = insns_in_window(PMU_MASK(0), &body_empty_insns, 0), equal = 0;
    bool all = true;
    struct cycles c = {.at_least = 1};
    for (unsigned k = 1; k <= WIDTH_MAX && c.at_least != 0; k++) {
        struct take take = take_begin();
        do
            c = count_cycles(k, body_mixed);
        while (take_again(&take, parts_fit(&c, own)));
        note("k = %u: cycles(= k) %llu, cycles(>= k) %llu, cycles(>= k + 1) %llu", k,
             (unsigned long long)c.equal, (unsigned long long)c.at_least,
             (unsigned long long)c.more);
        all = parts_fit(&c, own) && all;
        equal += c.equal;
    }
    value_u64("cycles_with_any", equal);
    value_u64("empty_window", own);
    check(EQ, all && equal > own);
}

static void run(void)
{
    const struct pmu_info *info = pmu_info();
    check_leaf(&info->leaf_23h);
    if (info->version < 6) {
        check_skip_all(BY_OLD, EQ, "no addresses of the counters' own: CPUID.0AH:EAX[7:0] < 6");
        return;
    }
    if (!info->own_addresses) {
        value_str("own_addresses", "RDMSR raises #GP");
        check(BY_OLD, false);
        check_skip_all(BY_OWN, EQ, "RDMSR of the counters' own addresses raises #GP");
        return;
    }
    check_one_register();
    value_hex("counters", general());
    check(RESERVED, enumerated_all(general(), refuses_reserved));
    pmu_reset();
    check_counted();
    check_umask2(&info->leaf_23h);
    check_eq(&info->leaf_23h);
    pmu_dump("behind the last window");
}
