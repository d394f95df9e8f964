/*
 * Model-specific last branch records. SDM vol. 3 "Last Branch, Interrupt, and Exception Recording"
 * and the sections by generation; where generations differ, the profile's fields say how. The
 * architectural ones are in lbr_arch.c.
 */
#include "sim/pmu/internal.h"
#include "x86/pmu.h"

#include <string.h>

/* IA32_PERF_CAPABILITIES.LBR_FMT, SDM vol. 3 "LBR Stack and Intel 64 Processors". */
enum lbr_format {
    LBR_FMT_32,
    LBR_FMT_LIP,
    LBR_FMT_EIP,
    LBR_FMT_EIP_FLAGS,
    LBR_FMT_EIP_FLAGS_TSX,
    LBR_FMT_EIP_INFO,
    LBR_FMT_EIP_CYCLES, /* cycles in the upper bits of TO: vol. 4, MSR_LASTBRANCH_x_TO_IP of
                           Goldmont */
};
#define LBR_MISPRED         ARCH_BIT(63)
#define LBR_FLAG_BITS       1 /* EIP_FLAGS: bit 63 */
#define LBR_FLAG_BITS_TSX   3 /* EIP_FLAGS_TSX: bits 63:61 */
#define LBR_INFO_MAX_CYCLES 0xffff
#define LBR_TO_CYCLES_SHIFT 48

static unsigned from_flag_bits(const struct profile *p)
{
    switch (p->pmu.lbr_format) {
    case LBR_FMT_EIP_FLAGS:
    case LBR_FMT_EIP_CYCLES:
        return LBR_FLAG_BITS;
    case LBR_FMT_EIP_FLAGS_TSX:
        return LBR_FLAG_BITS_TSX;
    default:
        return 0;
    }
}

uint64_t lbr_from_address(const struct profile *p, uint64_t from)
{
    unsigned flags = from_flag_bits(p);
    return (uint64_t)((int64_t)(from << flags) >> flags);
}

uint64_t lbr_to_address(const struct profile *p, uint64_t to)
{
    unsigned others = p->pmu.lbr_format == LBR_FMT_EIP_CYCLES ? 64 - LBR_TO_CYCLES_SHIFT : 0;
    return (uint64_t)((int64_t)(to << others) >> others);
}

/* SDM vol. 3 "Filtering of Last Branch Records"; EN_CALLSTACK from Haswell on. */
uint64_t lbr_select_mask(const struct pmu *pmu)
{
    return LBR_SELECT_FAR_BRANCH | (LBR_SELECT_FAR_BRANCH - 1) |
           (pmu->profile->pmu.lbr_callstack ? LBR_SELECT_EN_CALLSTACK : 0);
}

struct lbr_entry *lbr_newest(struct pmu *pmu, unsigned i)
{
    return &pmu->lbr[(pmu->lbr_tos + pmu->lbr_depth - i) % pmu->lbr_depth];
}

static void reset(struct pmu *pmu)
{
    memset(pmu->lbr, 0, sizeof pmu->lbr);
    pmu->lbr_depth = pmu->profile->pmu.lbr_depth;
    pmu->lbr_tos = pmu->lbr_select = 0;
    pmu->last = pmu->ler = (struct lbr_entry){0};
    pmu->lbr_cycle = 0;
}

/* SDM vol. 3 "Freezing LBR and Performance Counters on PMI": from version 4 on, LBR_FRZ stops
 * recording while DEBUGCTL.LBR stays set. "Branch Trace Messages": in the Core microarchitecture
 * the stack is undefined while TR is set; here it stands still, so that nobody relies on it. */
static bool enabled(const struct pmu *pmu)
{
    if (pmu->profile->pmu.lbr_core2_addresses && (pmu->debugctl & DEBUGCTL_TR))
        return false;
    return (pmu->debugctl & DEBUGCTL_LBR) && !(pmu->global_status & GLOBAL_STATUS_LBR_FRZ);
}

static void stop(struct pmu *pmu)
{
    pmu->debugctl &= ~DEBUGCTL_LBR;
}

/* MSR_LBR_SELECT, SDM vol. 3 "Filtering of Last Branch Records": a set bit suppresses the kind.
 * Interrupts and exceptions go with the far branches. The ring is that in which the branch ends. */
static bool suppressed(const struct pmu *pmu, enum branch_kind kind)
{
    static const uint64_t select_bit[] = {
        [BR_JCC] = LBR_SELECT_JCC,
        [BR_JMP_REL] = LBR_SELECT_NEAR_REL_JMP,
        [BR_JMP_IND] = LBR_SELECT_NEAR_IND_JMP,
        [BR_CALL_REL] = LBR_SELECT_NEAR_REL_CALL,
        [BR_CALL_IND] = LBR_SELECT_NEAR_IND_CALL,
        [BR_RET] = LBR_SELECT_NEAR_RET,
        [BR_FAR] = LBR_SELECT_FAR_BRANCH,
        [BR_INTERRUPT] = LBR_SELECT_FAR_BRANCH,
        [BR_EXCEPTION] = LBR_SELECT_FAR_BRANCH,
    };
    uint64_t ring = pmu->cpu->cpl == 0 ? LBR_SELECT_CPL_EQ_0 : LBR_SELECT_CPL_NEQ_0;
    return pmu->lbr_select & (select_bit[kind] | ring);
}

static void last_exception(struct pmu *pmu)
{
    pmu->ler = pmu->last;
}

/* SDM vol. 3 "Last Branch, Call Stack, Interrupt, and Exception Recording for Processors Based on
 * Haswell": a return takes the last record away again; "zero length calls" are not written. Returns
 * whether that is all there is to do. */
static bool call_stack(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to)
{
    if (!(pmu->lbr_select & LBR_SELECT_EN_CALLSTACK))
        return false;
    if (kind == BR_RET) {
        pmu->lbr[pmu->lbr_tos] = (struct lbr_entry){0};
        pmu->lbr_tos = (pmu->lbr_tos + pmu->lbr_depth - 1) % pmu->lbr_depth;
        return true;
    }
    return kind == BR_CALL_REL && to == from + NEAR_REL_CALL_BYTES;
}

/* The ring filter looks at where the branch ends. */
static void record(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                   unsigned cpl_from, bool mispredicted)
{
    const struct profile *p = pmu->profile;
    (void)cpl_from;

    /* SDM vol. 3 "Last Exception Records": the last branch before the interrupt or exception. */
    if (kind == BR_INTERRUPT || kind == BR_EXCEPTION)
        last_exception(pmu);
    pmu->last = (struct lbr_entry){.from = from, .to = to};
    if (suppressed(pmu, kind) || call_stack(pmu, kind, from, to))
        return;

    uint64_t cycle = pmu->cpu->now / p->uarch.retire_width;
    uint64_t elapsed = cycle - pmu->lbr_cycle;
    elapsed = elapsed < LBR_INFO_MAX_CYCLES ? elapsed : LBR_INFO_MAX_CYCLES;
    pmu->lbr_cycle = cycle;
    pmu->lbr_tos = (pmu->lbr_tos + 1) % pmu->lbr_depth;
    struct lbr_entry *e = &pmu->lbr[pmu->lbr_tos];
    unsigned flags = from_flag_bits(p);
    e->from = flags ? (from << flags >> flags) | (mispredicted ? LBR_MISPRED : 0) : from;
    e->to = to;
    if (p->pmu.lbr_format == LBR_FMT_EIP_CYCLES)
        e->to = (to & bits(LBR_TO_CYCLES_SHIFT)) | elapsed << LBR_TO_CYCLES_SHIFT;
    e->info = 0;
    if (p->pmu.lbr_info)
        e->info = elapsed | (mispredicted ? LBR_MISPRED : 0);
}

const struct lbr_kind lbr_model_specific = {
    .reset = reset,
    .enabled = enabled,
    .stop = stop,
    .record = record,
    .last_exception = last_exception,
};
