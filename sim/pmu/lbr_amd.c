/*
 * AMD's last branch records. APM vol. 2 "Debug and Performance Resources", "Control-Transfer
 * Recording": the single record, by DebugCtl.LBR; and the stack, LbrExtV2, by
 * DebugExtnCtl.LBRSE, whose entry 0 is always the newest. Each goes its own way.
 *
 * The registers of the single record hold what RIP held; here that is the linear address less the
 * base of CS behind the transfer, which between code segments of different bases is not what the
 * silicon would have.
 */
#include "sim/pmu/internal.h"
#include "x86/amd.h"
#include "x86/msr.h"
#include "x86/pmu.h"

#include <string.h>

#define SELECT (LBR_SELECT_FAR_BRANCH | (LBR_SELECT_FAR_BRANCH - 1))

bool has_amd_lbr_stack(const struct pmu *pmu, unsigned i)
{
    bool there = cpuid_word(pmu, 0x80000022, CPUID_EAX) & CPUID_80000022_EAX_LBR_V2;
    uint32_t ebx = cpuid_word(pmu, 0x80000022, CPUID_EBX);
    return there && i < (ebx & CPUID_80000022_EBX_LBR) >> CPUID_80000022_EBX_LBR_SHIFT;
}

/* "Bits 5:0 and 63:7 must be zero." */
uint64_t amd_dbg_extn_cfg_mask(const struct pmu *pmu)
{
    (void)pmu;
    return AMD_DBG_EXTN_CFG_LBRSE;
}

uint64_t amd_lbr_select_mask(const struct pmu *pmu)
{
    (void)pmu;
    return SELECT;
}

static void reset(struct pmu *pmu)
{
    memset(pmu->lbr, 0, sizeof pmu->lbr);
    pmu->lbr_depth = 0;
    while (has_amd_lbr_stack(pmu, pmu->lbr_depth))
        pmu->lbr_depth++;
    pmu->lbr_tos = pmu->lbr_select = pmu->dbg_extn_cfg = 0;
    pmu->last = pmu->ler = (struct lbr_entry){0};
}

static bool single_enabled(const struct pmu *pmu)
{
    return pmu->debugctl & DEBUGCTL_LBR;
}

/* "LBRSF": the stack stands still while the bit of the global status is set. */
static bool stack_enabled(const struct pmu *pmu)
{
    return (pmu->dbg_extn_cfg & AMD_DBG_EXTN_CFG_LBRSE) &&
           !(pmu->global_status & AMD_GLOBAL_STATUS_LBRSF);
}

static bool enabled(const struct pmu *pmu)
{
    return single_enabled(pmu) || stack_enabled(pmu);
}

/* "Control-Transfer Breakpoint Feature" and "DebugExtnCtl": #DB clears LBR and LBRSE; the records
 * stay. */
static void stop(struct pmu *pmu)
{
    pmu->debugctl &= ~DEBUGCTL_LBR;
    pmu->dbg_extn_cfg &= ~AMD_DBG_EXTN_CFG_LBRSE;
}

/* #DB leaves the last event's record alone; other events: record(). */
static void last_exception(struct pmu *pmu)
{
    (void)pmu;
}

static uint64_t offset(const struct pmu *pmu, uint64_t linear)
{
    const struct cpu *cpu = pmu->cpu;
    bool flat = (cpu->efer & EFER_LMA) && (cpu->seg[SEG_CS].attr & SEG_ATTR_L);
    return flat ? linear : (uint32_t)(linear - cpu->seg[SEG_CS].base);
}

/* "LastIntFromIP, LastIntToIP": what the last branch's registers held when an interrupt or
 * exception came. */
static void record_single(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to)
{
    if (kind == BR_INTERRUPT || kind == BR_EXCEPTION)
        pmu->ler = pmu->last;
    pmu->last = (struct lbr_entry){.from = offset(pmu, from), .to = offset(pmu, to)};
}

/* "LbrSelect": a set bit suppresses the kind, or the ring in which the branch ends. */
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

/* Nothing is recorded before it retires: V without Spec. */
static void record_stack(struct pmu *pmu, uint64_t from, uint64_t to, bool mispredicted)
{
    pmu->lbr_tos = (pmu->lbr_tos + 1) % pmu->lbr_depth;
    pmu->lbr[pmu->lbr_tos] = (struct lbr_entry){
        .from = (from & AMD_LBR_IP) | (mispredicted ? AMD_LBR_FROM_MISPREDICT : 0),
        .to = (to & AMD_LBR_IP) | AMD_LBR_TO_VALID,
    };
}

static void record(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                   unsigned cpl_from, bool mispredicted)
{
    (void)cpl_from;
    if (single_enabled(pmu))
        record_single(pmu, kind, from, to);
    if (stack_enabled(pmu) && !suppressed(pmu, kind))
        record_stack(pmu, from, to, mispredicted);
}

uint64_t amd_lbr_read_from(struct pmu *pmu, unsigned i)
{
    return lbr_newest(pmu, i)->from;
}

uint64_t amd_lbr_read_to(struct pmu *pmu, unsigned i)
{
    return lbr_newest(pmu, i)->to;
}

bool amd_lbr_write_from(struct pmu *pmu, unsigned i, uint64_t value)
{
    lbr_newest(pmu, i)->from = value;
    return true;
}

bool amd_lbr_write_to(struct pmu *pmu, unsigned i, uint64_t value)
{
    lbr_newest(pmu, i)->to = value;
    return true;
}

bool amd_lbr_write_cfg(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    pmu->dbg_extn_cfg = value;
    pmu_attend(pmu);
    return true;
}

const struct lbr_kind lbr_amd = {
    .reset = reset,
    .enabled = enabled,
    .stop = stop,
    .record = record,
    .last_exception = last_exception,
};
