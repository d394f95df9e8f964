/*
 * Last branch records. SDM vol. 3 "Last Branch, Interrupt, and Exception Recording" and the
 * sections by generation; where generations differ, the profile's fields say how.
 */
#include "sim/pmu/internal.h"

#include <string.h>

/* IA32_PERF_CAPABILITIES.LBR_FMT, SDM vol. 3 "LBR Stack and Intel 64 Processors". */
enum lbr_format {
    LBR_FMT_32,
    LBR_FMT_LIP,
    LBR_FMT_EIP,
    LBR_FMT_EIP_FLAGS,
    LBR_FMT_EIP_FLAGS_TSX,
    LBR_FMT_EIP_INFO,
};
#define LBR_MISPRED         ARCH_BIT(63)
#define LBR_FLAG_BITS       1 /* EIP_FLAGS: bit 63 */
#define LBR_FLAG_BITS_TSX   3 /* EIP_FLAGS_TSX: bits 63:61 */
#define LBR_INFO_MAX_CYCLES 0xffff

static unsigned from_flag_bits(const struct profile *p)
{
    switch (p->pmu.lbr_format) {
    case LBR_FMT_EIP_FLAGS:
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

/* SDM vol. 3 "Filtering of Last Branch Records"; EN_CALLSTACK from Haswell on is not modelled and
 * so not announced as writable. */
uint64_t lbr_select_mask(const struct profile *p)
{
    (void)p;
    return LBR_SELECT_FAR_BRANCH | (LBR_SELECT_FAR_BRANCH - 1);
}

void lbr_reset(struct pmu *pmu)
{
    memset(pmu->lbr, 0, sizeof pmu->lbr);
    pmu->lbr_tos = pmu->lbr_select = 0;
    pmu->last_from = pmu->last_to = pmu->ler_from = pmu->ler_to = 0;
    pmu->lbr_cycle = 0;
}

/* SDM vol. 3 "Freezing LBR and Performance Counters on PMI": from version 4 on, LBR_FRZ stops
 * recording while DEBUGCTL.LBR stays set. */
bool lbr_enabled(const struct pmu *pmu)
{
    return (pmu->debugctl & DEBUGCTL_LBR) && !(pmu->global_status & GLOBAL_STATUS_LBR_FRZ);
}

/* MSR_LBR_SELECT, SDM vol. 3 "Filtering of Last Branch Records": a set bit suppresses the kind.
 * Interrupts and exceptions go with the far branches. */
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

void lbr_record(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                unsigned cpl_from, bool mispredicted)
{
    const struct profile *p = pmu->profile;
    (void)cpl_from; /* the ring filter looks at where the branch ends */

    /* MSR_LER_*: the last branch before the last interrupt or exception. */
    if (kind == BR_INTERRUPT || kind == BR_EXCEPTION) {
        pmu->ler_from = pmu->last_from;
        pmu->ler_to = pmu->last_to;
    }
    pmu->last_from = from;
    pmu->last_to = to;
    if (suppressed(pmu, kind))
        return;

    uint64_t cycle = pmu->cpu->now / p->uarch.retire_width;
    uint64_t elapsed = cycle - pmu->lbr_cycle;
    pmu->lbr_cycle = cycle;
    pmu->lbr_tos = (pmu->lbr_tos + 1) % p->pmu.lbr_depth;
    struct lbr_entry *e = &pmu->lbr[pmu->lbr_tos];
    unsigned flags = from_flag_bits(p);
    e->from = flags ? (from << flags >> flags) | (mispredicted ? LBR_MISPRED : 0) : from;
    e->to = to;
    e->info = 0;
    if (p->pmu.lbr_info)
        e->info = (elapsed < LBR_INFO_MAX_CYCLES ? elapsed : LBR_INFO_MAX_CYCLES) |
                  (mispredicted ? LBR_MISPRED : 0);
}
