/* Experiment 23-1 · Architectural LBR: what is there. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/experiment.h"
#include "pmu/lbr.h"
#include "x86/cpuid.h"
#include "x86/msr.h"
#include "x86/pmu.h"

enum { DEPTHS, NO_OTHERS, ENTRIES, CLEARED, CONTROL };

static const char *const checks[] = {
    [DEPTHS] = "each depth that CPUID.1CH announces can be set, and reads back",
    [NO_OTHERS] = "any other is #GP, and IA32_LBR_DEPTH keeps what it has",
    [ENTRIES] = "each entry keeps values of its own, and from the depth on there is none: #GP",
    [CLEARED] = "writing a depth clears every entry, also when it is the one that is set",
    [CONTROL] = "IA32_LBR_CTL takes the bits that CPUID.1CH announces, any other is #GP",
};

static void run(void);

const struct experiment ex23_1 = {
    .id = "23-1",
    .title = "Architectural LBR: what is there",
    .needs = NEED_ARCH_LBR | NEED_LBR,
    CHECKS(checks),
    .run = run,
};

/*
 * Architectural branch records need no table of models: CPUID leaf 1CH says how deep the stack can
 * be made, what its filters know and which fields its records have (SDM vol. 2 "CPUID", leaf 1CH;
 * vol. 3 "Last Branch Records"; vol. 4 "IA-32 Architectural MSRs", IA32_LBR_*). The sheet holds the
 * registers against the leaf. IA32_LBR_DEPTH takes the announced depths alone; each write of it
 * clears all entries, which is how software empties the stack. An entry is three registers, FROM,
 * TO and INFO; behind the depth there are none. IA32_LBR_CTL switches and filters: OS and USR,
 * CALL_STACK and the kinds of branches are each there when a bit of EBX says so.
 *
 * What can go wrong: a hypervisor passes the leaf on and drops what is written; a depth is taken
 * and the old entries stay; two entries are one register.
 */
#define LEAF         0x1c
#define DEPTHS_TRIED 256
#define WIDTH        64 /* bits of a register */

/* What entry x is filled with: canonical addresses, a number of cycles. */
#define OWN_FROM(x)   (0x100000 + (uint64_t)(x))
#define OWN_TO(x)     (ARCH_U64(0xffff800000000000) + (x))
#define OWN_CYCLES(x) (1 + (uint64_t)(x))

static const struct {
    uint32_t ebx;
    uint64_t bits;
} announced[] = {
    {CPUID_1C_EBX_CPL, LBR_CTL_OS | LBR_CTL_USR},
    {CPUID_1C_EBX_BRANCH, LBR_CTL_JCC | LBR_CTL_NEAR_REL_JMP | LBR_CTL_NEAR_IND_JMP |
                              LBR_CTL_NEAR_REL_CALL | LBR_CTL_NEAR_IND_CALL | LBR_CTL_NEAR_RET |
                              LBR_CTL_OTHER_BRANCH},
    {CPUID_1C_EBX_CALL_STACK, LBR_CTL_CALL_STACK},
};

static void note_leaf(const struct cpuid_regs *leaf)
{
    note("CPUID.1CH: EAX=%08XH EBX=%08XH ECX=%08XH", (unsigned)leaf->eax, (unsigned)leaf->ebx,
         (unsigned)leaf->ecx);
    for (unsigned depth = LBR_DEPTH_STEP; depth <= WIDTH; depth += LBR_DEPTH_STEP)
        if (leaf->eax >> (depth / LBR_DEPTH_STEP - 1) & 1)
            note("  depth %u", depth);
    note("  addresses: %s", leaf->eax & CPUID_1C_EAX_LIP ? "linear" : "effective");
    note("  cleared in deep C-states: %s",
         leaf->eax & CPUID_1C_EAX_DEEP_C_RESET ? "perhaps" : "no");
    note("  filters: by ring %s, by branch %s, call stack %s",
         leaf->ebx & CPUID_1C_EBX_CPL ? "yes" : "no",
         leaf->ebx & CPUID_1C_EBX_BRANCH ? "yes" : "no",
         leaf->ebx & CPUID_1C_EBX_CALL_STACK ? "yes" : "no");
    note("  records: mispredicted %s, cycles %s, type %s, event counts of counters 0x%x",
         leaf->ecx & CPUID_1C_ECX_MISPRED ? "yes" : "no",
         leaf->ecx & CPUID_1C_ECX_CYCLES ? "yes" : "no",
         leaf->ecx & CPUID_1C_ECX_BR_TYPE ? "yes" : "no",
         (unsigned)(leaf->ecx & CPUID_1C_ECX_EVENT_LOGGING) >> 16);
}

/* ---- The depth ---- */

static bool is_announced(unsigned depth)
{
    return depth != 0 && depth % LBR_DEPTH_STEP == 0 && depth <= WIDTH &&
           (lbr_info()->depths >> (depth / LBR_DEPTH_STEP - 1) & 1);
}

static void check_depths(void)
{
    unsigned wrong = 0;
    for (unsigned depth = 0; depth <= WIDTH; depth++) {
        uint64_t now = 0;
        if (!is_announced(depth))
            continue;
        if (!wrmsr_safe(MSR_IA32_LBR_DEPTH, depth) || !rdmsr_safe(MSR_IA32_LBR_DEPTH, &now) ||
            now != depth) {
            note("depth %u: reads %llu", depth, (unsigned long long)now);
            wrong++;
        }
    }
    value_hex("depths", lbr_info()->depths);
    check_equal(DEPTHS, "not_taken", wrong, 0);
}

/* Is it #GP, and IA32_LBR_DEPTH as before? */
static bool is_refused(uint64_t depth, uint64_t before)
{
    bool faulted = !wrmsr_safe(MSR_IA32_LBR_DEPTH, depth);
    uint64_t now = rdmsr(MSR_IA32_LBR_DEPTH);
    if (!faulted || now != before)
        note("depth 0x%llx: %s, reads %llu", (unsigned long long)depth, faulted ? "#GP" : "no #GP",
             (unsigned long long)now);
    return faulted && now == before;
}

static void check_no_others(void)
{
    unsigned tried = 0, wrong = 0, deepest = lbr_info()->depth;
    for (unsigned depth = 0; depth < DEPTHS_TRIED; depth++)
        if (!is_announced(depth)) {
            wrong += !is_refused(depth, deepest);
            tried++;
        }
    /* And a bit too many above them. */
    for (uint64_t bit = DEPTHS_TRIED; bit != 0; bit <<= 1, tried++)
        wrong += !is_refused(bit | deepest, deepest);
    value_u64("tried", tried);
    check_equal(NO_OTHERS, "taken", wrong, 0);
}

/* ---- The entries ---- */

/* The fields that every IA32_LBR_x_INFO here has; 0 when the records have none. */
static uint64_t own_info(unsigned entry)
{
    return lbr_info()->info_fields & CPUID_1C_ECX_CYCLES
               ? LBR_INFO_CYC_CNT_VALID | OWN_CYCLES(entry)
               : 0;
}

static bool fill(unsigned depth)
{
    bool written = true;
    for (unsigned x = 0; x < depth; x++)
        written = wrmsr_safe(MSR_IA32_LBR_0_FROM_IP + x, OWN_FROM(x)) &&
                  wrmsr_safe(MSR_IA32_LBR_0_TO_IP + x, OWN_TO(x)) &&
                  wrmsr_safe(MSR_IA32_LBR_0_INFO + x, own_info(x)) && written;
    return written;
}

static bool entry_is(unsigned x, uint64_t from, uint64_t to, uint64_t info)
{
    uint64_t is[3] = {0};
    bool same = rdmsr_safe(MSR_IA32_LBR_0_FROM_IP + x, &is[0]) &&
                rdmsr_safe(MSR_IA32_LBR_0_TO_IP + x, &is[1]) &&
                rdmsr_safe(MSR_IA32_LBR_0_INFO + x, &is[2]) && is[0] == from && is[1] == to &&
                is[2] == info;
    if (!same)
        note("entry %u: 0x%llx -> 0x%llx, 0x%llx", x, (unsigned long long)is[0],
             (unsigned long long)is[1], (unsigned long long)is[2]);
    return same;
}

static bool keep_their_own(unsigned depth)
{
    bool kept = true;
    for (unsigned x = 0; x < depth; x++)
        kept = entry_is(x, OWN_FROM(x), OWN_TO(x), own_info(x)) && kept;
    return kept;
}

static bool are_clear(unsigned depth)
{
    bool clear = true;
    for (unsigned x = 0; x < depth; x++)
        clear = entry_is(x, 0, 0, 0) && clear;
    return clear;
}

/* Entries from IA32_LBR_DEPTH on raise #GP, whether read or written (SDM vol. 4 "IA-32
 * Architectural MSRs", IA32_LBR_x_*): the first of them, and the one behind the last that any depth
 * could have. */
static bool none_from(unsigned depth)
{
    const unsigned entries[] = {depth, LBR_MAX_DEPTH};
    const uint32_t first[] = {MSR_IA32_LBR_0_FROM_IP, MSR_IA32_LBR_0_TO_IP, MSR_IA32_LBR_0_INFO};
    uint64_t value;
    bool none = true;
    for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        for (unsigned j = 0; j < sizeof(first) / sizeof(first[0]); j++)
            if (rdmsr_safe(first[j] + entries[i], &value) || wrmsr_safe(first[j] + entries[i], 0)) {
                note("depth %u: MSR %XH answers", depth, (unsigned)(first[j] + entries[i]));
                none = false;
            }
    return none;
}

static void check_entries(void)
{
    bool own = true, clear = true;
    unsigned deepest = lbr_info()->depth;
    for (unsigned depth = LBR_DEPTH_STEP; depth <= deepest; depth += LBR_DEPTH_STEP) {
        if (!is_announced(depth) || !lbr_set_depth(depth))
            continue;
        bool filled = fill(depth);
        own = filled && keep_their_own(depth) && none_from(depth) && own;
        wrmsr(MSR_IA32_LBR_DEPTH, depth);
        clear = are_clear(depth) && clear;
        /* And by the way of another one. */
        fill(depth);
        lbr_set_depth(deepest);
        clear = are_clear(deepest) && clear;
    }
    check(ENTRIES, own);
    check(CLEARED, own && clear);
}

/* ---- The control register ---- */

static uint64_t control_announced(void)
{
    uint64_t bits = LBR_CTL_LBREN;
    for (unsigned i = 0; i < sizeof(announced) / sizeof(announced[0]); i++)
        bits |= cpuid(LEAF, 0).ebx & announced[i].ebx ? announced[i].bits : 0;
    return bits;
}

static void check_control(void)
{
    uint64_t taken = 0, refused = 0;
    for (unsigned bit = 0; bit < WIDTH; bit++) {
        uint64_t value = 0;
        if (!wrmsr_safe(MSR_IA32_LBR_CTL, ARCH_BIT(bit)))
            refused |= ARCH_BIT(bit);
        else if (rdmsr_safe(MSR_IA32_LBR_CTL, &value) && value == ARCH_BIT(bit))
            taken |= ARCH_BIT(bit);
    }
    wrmsr(MSR_IA32_LBR_CTL, 0);
    uint64_t bits = control_announced();
    value_hex("taken", taken);
    value_hex("refused", refused);
    value_hex("announced", bits);
    check(CONTROL, taken == bits && refused == ~bits);
}

static void run(void)
{
    struct cpuid_regs leaf = cpuid(LEAF, 0);
    note_leaf(&leaf);
    check_depths();
    lbr_set_depth(lbr_info()->depth);
    check_no_others();
    check_entries();
    check_control();
}
