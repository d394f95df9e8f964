/*
 * Architectural last branch records: SDM vol. 3 "Last Branch Records", vol. 4 "IA-32 Architectural
 * MSRs", vol. 2 "CPUID", leaf 1CH, from which everything here takes what there is. Where the
 * chapter's words could be read only in quotations (KVM's and Linux' discussions of it), the rule
 * says so.
 *
 * Absent: the reset in deep C-states, TSX.
 *
 * Where the manual is silent:
 * - IA32_DEBUGCTL.LBR: "has no meaning and always returns 0" (Intel's patches of Linux); a write of
 *   1 is taken and forgotten.
 * - IA32_LER_*: an interrupt or exception is put down while LBREn is set, whether or not
 *   OTHER_BRANCH is; the branch before it is the last that passed the filters.
 * - The logging of events begins where CYC_CNT does, and a return that takes a record away ends
 *   neither.
 * - INIT: what the manual says of a warm reset, as KVM has it: LBREn is cleared, all else is kept.
 */
#include "sim/pmu/internal.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

#include <stddef.h>
#include <string.h>

#define MAX_CYCLES        0xffff
#define DEPTH_STEP        8          /* CPUID.1CH:EAX[n]: DEPTH may be 8 * (n + 1) */
#define FROM_FILTERED_OUT UINT64_MAX /* in place of an address in a ring that is not recorded */

#define BRANCHES                                                                                   \
    (LBR_CTL_JCC | LBR_CTL_NEAR_REL_JMP | LBR_CTL_NEAR_IND_JMP | LBR_CTL_NEAR_REL_CALL |           \
     LBR_CTL_NEAR_IND_CALL | LBR_CTL_NEAR_RET | LBR_CTL_OTHER_BRANCH)

struct announced {
    enum cpuid_word word;
    uint32_t bit; /* of CPUID leaf 1CH */
    uint64_t bits;
};

static uint64_t there_are(const struct pmu *pmu, const struct announced *a, unsigned n)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < n; i++)
        if (cpuid_word(pmu, 0x1c, a[i].word) & a[i].bit)
            mask |= a[i].bits;
    return mask;
}

/* "CPL Filtering Supported: if set, the processor supports setting IA32_LBR_CTL[2:1] to a non-zero
 * value"; likewise the branch filter and the call-stack mode. */
static uint64_t ctl_bits(const struct pmu *pmu)
{
    static const struct announced ctl[] = {
        {CPUID_EBX, CPUID_1C_EBX_CPL, LBR_CTL_OS | LBR_CTL_USR},
        {CPUID_EBX, CPUID_1C_EBX_BRANCH, BRANCHES},
        {CPUID_EBX, CPUID_1C_EBX_CALL_STACK, LBR_CTL_CALL_STACK},
    };
    return LBR_CTL_LBREN | there_are(pmu, ctl, sizeof ctl / sizeof *ctl);
}

/* ---- Logging of events ---- */

/* SDM vol. 3 "Last Branch Records", IA32_LBR_x_INFO.PMCx_CNT, as Linux' "LBR event logging" tells
 * of it: how often the event of a counter with EN_LBR_LOG occurred since the record before, in two
 * bits that stop at 3. The branch's own instruction is among them: the listings that came with
 * Linux' patches ("Support branch counters in block annotation") show a lone taken branch in its
 * own record, and an untaken one in that of the next taken. */
#define LOG_MAX ((1 << LBR_INFO_PMC_BITS) - 1)

static uint64_t event_count(unsigned counter, uint64_t n)
{
    return n << (LBR_INFO_PMC_SHIFT + LBR_INFO_PMC_BITS * counter);
}

/* From when the counters had these counts. */
static uint64_t log_events(const struct pmu *pmu, const uint64_t *since)
{
    uint64_t counts = 0;
    for (unsigned i = 0; i < LBR_LOGS; i++) {
        uint64_t n = counter_made(pmu, &pmu->general[i]) - since[i];
        if (pmu->perfevtsel[i] & PERFEVTSEL_EN_LBR_LOG)
            counts |= event_count(i, n < LOG_MAX ? n : LOG_MAX);
    }
    return counts;
}

static void end_log(struct pmu *pmu)
{
    for (unsigned i = 0; i < LBR_LOGS; i++)
        pmu->lbr_logged[i] = counter_made(pmu, &pmu->general[i]);
}

/* ---- What there is ---- */

/* What of IA32_LBR_x_INFO is filled in. */
static uint64_t info_bits(const struct pmu *pmu)
{
    static const struct announced info[] = {
        {CPUID_ECX, CPUID_1C_ECX_MISPRED, LBR_INFO_MISPRED},
        {CPUID_ECX, CPUID_1C_ECX_CYCLES, LBR_INFO_CYC_CNT_VALID | LBR_INFO_CYCLES},
        {CPUID_ECX, CPUID_1C_ECX_BR_TYPE, LBR_INFO_BR_TYPE},
    };
    uint64_t mask = there_are(pmu, info, sizeof info / sizeof *info);
    for (unsigned i = 0; i < LBR_LOGS; i++)
        if (has_lbr_log(pmu, i))
            mask |= event_count(i, LOG_MAX);
    return mask;
}

/* The timer of CYC_CNT begins with the recording: the first record has no valid count. */
static void restart(struct pmu *pmu)
{
    pmu->lbr_timed = false;
    end_log(pmu);
}

static void clear(struct pmu *pmu)
{
    memset(pmu->lbr, 0, sizeof pmu->lbr);
    pmu->lbr_tos = 0;
    restart(pmu);
}

/* "The reset value will match the maximum supported by the CPU." */
static void reset(struct pmu *pmu)
{
    clear(pmu);
    pmu->lbr_ctl = 0;
    pmu->lbr_ctl_bits = ctl_bits(pmu);
    pmu->lbr_info_bits = info_bits(pmu);
    pmu->lbr_depth = pmu->profile->pmu.lbr_depth;
    pmu->last = pmu->ler = (struct lbr_entry){0};
}

/* "Writes of unsupported values will #GP fault"; "on a software write to IA32_LBR_DEPTH, all LBR
 * entries are reset to 0". */
bool lbr_set_depth(struct pmu *pmu, uint64_t depth)
{
    uint64_t index = depth / DEPTH_STEP - 1;
    if (depth == 0 || depth % DEPTH_STEP || index >= 8 ||
        !(cpuid_word(pmu, 0x1c, CPUID_EAX) >> index & 1))
        return false;
    pmu->lbr_depth = depth;
    clear(pmu);
    return true;
}

void lbr_set_ctl(struct pmu *pmu, uint64_t ctl)
{
    if (!(pmu->lbr_ctl & LBR_CTL_LBREN))
        restart(pmu);
    pmu->lbr_ctl = ctl;
    pmu_attend(pmu);
}

static bool enabled(const struct pmu *pmu)
{
    return (pmu->lbr_ctl & LBR_CTL_LBREN) && !(pmu->global_status & GLOBAL_STATUS_LBR_FRZ);
}

static void stop(struct pmu *pmu)
{
    pmu->lbr_ctl &= ~LBR_CTL_LBREN;
}

/* ---- Filters ---- */

/* SDM vol. 3 "Branch Type Enabling and Filtering", and IA32_LBR_x_INFO.BR_TYPE: what is neither a
 * near branch nor conditional is an other branch, 1xxxB. */
static const struct {
    uint64_t enable;
    unsigned type;
} branches[] = {
    [BR_JCC] = {LBR_CTL_JCC, LBR_BR_TYPE_COND},
    [BR_JMP_REL] = {LBR_CTL_NEAR_REL_JMP, LBR_BR_TYPE_NEAR_REL_JMP},
    [BR_JMP_IND] = {LBR_CTL_NEAR_IND_JMP, LBR_BR_TYPE_NEAR_IND_JMP},
    [BR_CALL_REL] = {LBR_CTL_NEAR_REL_CALL, LBR_BR_TYPE_NEAR_REL_CALL},
    [BR_CALL_IND] = {LBR_CTL_NEAR_IND_CALL, LBR_BR_TYPE_NEAR_IND_CALL},
    [BR_RET] = {LBR_CTL_NEAR_RET, LBR_BR_TYPE_NEAR_RET},
    [BR_FAR] = {LBR_CTL_OTHER_BRANCH, LBR_BR_TYPE_OTHER},
    [BR_INTERRUPT] = {LBR_CTL_OTHER_BRANCH, LBR_BR_TYPE_OTHER},
    [BR_EXCEPTION] = {LBR_CTL_OTHER_BRANCH, LBR_BR_TYPE_OTHER},
};

/* Without the filter its bits are reserved, and everything is recorded. */
static bool ring_recorded(const struct pmu *pmu, unsigned cpl)
{
    uint64_t ring = cpl == 0 ? LBR_CTL_OS : LBR_CTL_USR;
    return !(pmu->lbr_ctl_bits & ring) || (pmu->lbr_ctl & ring);
}

/* A call to the next instruction is no branch to NEAR_REL_CALL ("excluding" it, the table of branch
 * types). */
static bool kind_recorded(const struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to)
{
    if (kind == BR_CALL_REL && to == from + NEAR_REL_CALL_BYTES)
        return false;
    uint64_t enable = branches[kind].enable;
    return !(pmu->lbr_ctl_bits & enable) || (pmu->lbr_ctl & enable);
}

/* ---- Records ---- */

/* Core cycles since the last record; CYC_CNT saturates. */
static uint64_t cycles(const struct pmu *pmu)
{
    uint64_t now = pmu->cpu->now / pmu->profile->uarch.retire_width;
    uint64_t elapsed = now - pmu->lbr_cycle;
    return elapsed < MAX_CYCLES ? elapsed : MAX_CYCLES;
}

static uint64_t info(const struct pmu *pmu, enum branch_kind kind, bool mispredicted)
{
    uint64_t value = (uint64_t)branches[kind].type << LBR_INFO_BR_TYPE_SHIFT;
    if (mispredicted)
        value |= LBR_INFO_MISPRED;
    if (pmu->lbr_timed)
        value |= LBR_INFO_CYC_CNT_VALID | cycles(pmu);
    if (pmu->lbr_info_bits & LBR_INFO_PMC_COUNTS)
        value |= log_events(pmu, pmu->lbr_logged);
    return value & pmu->lbr_info_bits;
}

/* "Last Event Record": "the last taken branch preceding the last exception, hardware interrupt, or
 * software interrupt". */
static void last_exception(struct pmu *pmu)
{
    pmu->ler = pmu->last;
}

/* "Call-Stack Mode": a near return takes entry 0 away, the others move down, and the last becomes
 * 0. */
static void pop(struct pmu *pmu)
{
    pmu->lbr[pmu->lbr_tos] = (struct lbr_entry){0};
    pmu->lbr_tos = (pmu->lbr_tos + pmu->lbr_depth - 1) % pmu->lbr_depth;
}

static void push(struct pmu *pmu, const struct lbr_entry *e)
{
    pmu->lbr_tos = (pmu->lbr_tos + 1) % pmu->lbr_depth;
    pmu->lbr[pmu->lbr_tos] = *e;
    pmu->lbr_cycle = pmu->cpu->now / pmu->profile->uarch.retire_width;
    pmu->lbr_timed = true;
    if (pmu->lbr_info_bits & LBR_INFO_PMC_COUNTS) {
        memcpy(pmu->lbr_logged_before, pmu->lbr_logged, sizeof pmu->lbr_logged);
        end_log(pmu);
    }
}

void lbr_complete_log(struct pmu *pmu)
{
    if (!(pmu->lbr_info_bits & LBR_INFO_PMC_COUNTS))
        return;
    uint64_t *of = &lbr_newest(pmu, 0)->info;
    *of = (*of & ~LBR_INFO_PMC_COUNTS) | log_events(pmu, pmu->lbr_logged_before);
    pmu->last.info = *of;
    end_log(pmu);
}

/* "For operations which change the CPL, the operation is recorded in LBRs only if the CPL at the
 * end of the operation is enabled for LBR recording. In cases where the CPL transitions from a
 * value that is filtered out to a value that is enabled for LBR recording, the FROM_IP address ...
 * will be 0FFFFFFFFFFFFFFFFH" ("Branch Type Enabling and Filtering", as quoted on Linux' list). */
static void record(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                   unsigned cpl_from, bool mispredicted)
{
    if (kind == BR_INTERRUPT || kind == BR_EXCEPTION)
        last_exception(pmu);
    if (!ring_recorded(pmu, pmu->cpu->cpl) || !kind_recorded(pmu, kind, from, to))
        return;
    bool pops = kind == BR_RET && (pmu->lbr_ctl & LBR_CTL_CALL_STACK);
    if (!pops)
        cpu_event(pmu->cpu, EV_LBR_INSERT, 1);
    struct lbr_entry e = {from, to, info(pmu, kind, mispredicted)};
    if (!ring_recorded(pmu, cpl_from))
        e.from = FROM_FILTERED_OUT;
    pmu->last = e;
    if (pops)
        pop(pmu);
    else
        push(pmu, &e);
    /* The instruction of a far transfer is counted behind its branch. */
    pmu->lbr_open = kind == BR_FAR || kind == BR_EXCEPTION;
}

/* ---- State component 15 of XSAVES ---- */

/* SDM vol. 1 "XSAVE-Managed State", as Linux' struct arch_lbr_state lays it out: the control, the
 * depth, the last event record, and the greatest depth of entries, latest first. Of what the manual
 * has to say of a depth that is no longer the present one nothing could be read: here the entries
 * are reset then, as a write of IA32_LBR_DEPTH does. XSAVES leaves the registers as they are. */
struct lbr_state {
    uint64_t ctl, depth;
    struct lbr_entry ler, entry[PMU_MAX_LBR];
};

unsigned pmu_lbr_state_bytes(const struct pmu *pmu)
{
    return offsetof(struct lbr_state, entry) +
           pmu->profile->pmu.lbr_depth * sizeof(struct lbr_entry);
}

void pmu_lbr_save(struct pmu *pmu, uint8_t *to)
{
    struct lbr_state s = {.ctl = pmu->lbr_ctl, .depth = pmu->lbr_depth, .ler = pmu->ler};
    for (unsigned i = 0; i < pmu->lbr_depth; i++)
        s.entry[i] = *lbr_newest(pmu, i);
    memcpy(to, &s, pmu_lbr_state_bytes(pmu));
}

bool pmu_lbr_restore(struct pmu *pmu, const uint8_t *from)
{
    struct lbr_state s = {.depth = pmu->lbr_depth};
    if (from)
        memcpy(&s, from, pmu_lbr_state_bytes(pmu));
    if (s.ctl & ~pmu->lbr_ctl_bits)
        return false;
    clear(pmu);
    lbr_set_ctl(pmu, s.ctl);
    pmu->ler = s.ler;
    if (s.depth == pmu->lbr_depth)
        for (unsigned i = 0; i < pmu->lbr_depth; i++)
            *lbr_newest(pmu, i) = s.entry[i];
    return true;
}

const struct lbr_kind lbr_architectural = {
    .reset = reset,
    .enabled = enabled,
    .stop = stop,
    .record = record,
    .last_exception = last_exception,
};
