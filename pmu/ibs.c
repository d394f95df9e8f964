/* Instruction-based sampling. */
#include "pmu/ibs.h"

#include <stddef.h>

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/nmi.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "x86/amd.h"
#include "x86/apic.h"

#define LEAF_FEATURES 0x80000001
#define LEAF_IBS      0x8000001b
#define COUNT_SHIFT   4 /* of the period in MaxCnt: bits 19:4 */
#define RANDOM_OP     0x7f
#define WAIT_READS    64

/* Of each processor its own. */
static struct {
    struct ibs_info info;
    ibs_fetch_handler *on_fetch; /* NULL: fetches are not being sampled */
    ibs_op_handler *on_op;
    uint64_t fetch_ctl, op_ctl; /* what arms the next sample */
    unsigned empty;
    bool late;         /* sampling has ended: one more interrupt may come */
    bool period_first; /* the period must be cleared before the enable bit */
    uint32_t random;
} states[MAX_CPUS];
#define here (states[this_cpu()->index])

const struct ibs_info *ibs_info(void)
{
    return &here.info;
}

unsigned ibs_empty_count(void)
{
    return here.empty;
}

/* ---- A sample, out of its registers ---- */

static struct ibs_fetch read_fetch(uint64_t ctl)
{
    struct ibs_fetch f = {
        .completed = ctl & IBS_FETCH_COMP,
        .linear = rdmsr(MSR_AMD_IBS_FETCH_LIN_AD),
        .physical_valid = ctl & IBS_FETCH_PHY_VALID,
        .latency = (unsigned)((ctl & IBS_FETCH_LAT) >> IBS_FETCH_LAT_SHIFT),
        .ic_miss = ctl & IBS_FETCH_IC_MISS,
        .l1_tlb_miss = ctl & IBS_FETCH_L1_TLB_MISS,
        .l2_tlb_miss = ctl & IBS_FETCH_L2_TLB_MISS,
    };
    if (f.physical_valid)
        f.physical = rdmsr(MSR_AMD_IBS_FETCH_PHYS_AD);
    return f;
}

static void read_branch(struct ibs_op *op, uint64_t data)
{
    op->branch = data & IBS_OP_DATA_BRN_RET;
    op->taken = op->branch && (data & IBS_OP_DATA_BRN_TAKEN);
    op->mispredicted = op->branch && (data & IBS_OP_DATA_BRN_MISP);
    op->fused = op->branch && (data & IBS_OP_DATA_BRN_FUSE);
    op->is_return = op->branch && (data & IBS_OP_DATA_RETURN);
    if (op->branch && here.info.target)
        op->target = rdmsr(MSR_AMD_IBS_BR_TARGET);
}

/* IbsOpData2 tells of loads that missed the data cache; the latency of those alone is told. */
static void read_access(struct ibs_op *op)
{
    uint64_t data = rdmsr(MSR_AMD_IBS_OP_DATA3);
    op->load = data & IBS_OP_DATA3_LD_OP;
    op->store = data & IBS_OP_DATA3_ST_OP;
    if (!op->load && !op->store)
        return;
    op->dc_miss = data & IBS_OP_DATA3_DC_MISS;
    op->l2_miss = data & IBS_OP_DATA3_L2_MISS;
    unsigned width = (unsigned)((data & IBS_OP_DATA3_WIDTH) >> IBS_OP_DATA3_WIDTH_SHIFT);
    op->width = width != 0 ? 1u << (width - 1) : 0;
    op->linear_valid = data & IBS_OP_DATA3_LIN_ADDR_VALID;
    op->physical_valid = data & IBS_OP_DATA3_PHY_ADDR_VALID;
    op->linear = op->linear_valid ? rdmsr(MSR_AMD_IBS_DC_LIN_AD) : 0;
    op->physical = op->physical_valid ? rdmsr(MSR_AMD_IBS_DC_PHYS_AD) : 0;
    if (!op->load || !op->dc_miss)
        return;
    op->dc_miss_latency =
        (unsigned)((data & IBS_OP_DATA3_DC_MISS_LAT) >> IBS_OP_DATA3_DC_MISS_LAT_SHIFT);
    uint64_t from = rdmsr(MSR_AMD_IBS_OP_DATA2);
    op->source = (unsigned)((from & IBS_OP_DATA2_SRC_LOW) |
                            (from & IBS_OP_DATA2_SRC_HIGH) >> IBS_OP_DATA2_SRC_HIGH_SHIFT << 3);
}

static struct ibs_op read_op(void)
{
    uint64_t data = rdmsr(MSR_AMD_IBS_OP_DATA);
    struct ibs_op op = {
        .rip_valid = !(here.info.leaf & CPUID_8000001B_EAX_RIP_INVALID_CHK &&
                       data & IBS_OP_DATA_RIP_INVALID),
        .to_retire = (unsigned)((data & IBS_OP_DATA_TAG_TO_RET) >> IBS_OP_DATA_TAG_TO_RET_SHIFT),
        .complete_to = (unsigned)(data & IBS_OP_DATA_COMP_TO_RET),
    };
    if (op.rip_valid)
        op.rip = rdmsr(MSR_AMD_IBS_OP_RIP);
    read_branch(&op, data);
    read_access(&op);
    return op;
}

/* ---- Its interrupt ---- */

/* A small generator of our own (xorshift): that the seven bits differ is all that is asked. */
static uint32_t random_bits(void)
{
    uint32_t x = here.random != 0 ? here.random : 0x2545f491;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return here.random = x;
}

/* The counter begins anew with a change of the enable bit from 0 to 1 alone on families 16H to 18H
 * (Linux arch/x86/events/amd/ibs.c, fetch_count_reset_broken); elsewhere the first write only
 * clears the sample. */
static void arm_fetch(void)
{
    wrmsr(MSR_AMD_IBS_FETCH_CTL, here.fetch_ctl & ~IBS_FETCH_EN);
    wrmsr(MSR_AMD_IBS_FETCH_CTL, here.fetch_ctl);
}

static uint64_t op_armed(void)
{
    uint64_t start = here.info.current ? random_bits() & RANDOM_OP : 0;
    return here.op_ctl | start << IBS_OP_CUR_CNT_SHIFT;
}

static bool take_fetch(void)
{
    if (here.on_fetch == NULL)
        return false;
    uint64_t ctl = rdmsr(MSR_AMD_IBS_FETCH_CTL);
    if (!(ctl & IBS_FETCH_VAL))
        return false;
    struct ibs_fetch sample = read_fetch(ctl);
    here.on_fetch(&sample);
    arm_fetch();
    return true;
}

static bool take_op(void)
{
    if (here.on_op == NULL || !(rdmsr(MSR_AMD_IBS_OP_CTL) & IBS_OP_VAL))
        return false;
    struct ibs_op sample = read_op();
    here.on_op(&sample);
    wrmsr(MSR_AMD_IBS_OP_CTL, op_armed());
    return true;
}

static bool take_samples(void)
{
    bool fetch = take_fetch(), op = take_op();
    return fetch || op;
}

static void ibs_interrupt(struct trap_frame *frame)
{
    (void)frame;
    if (!take_samples())
        here.empty++;
    lapic_eoi();
}

/* After the enable bit is cleared one more interrupt may come, with nothing to tell (Linux
 * arch/x86/events/amd/ibs.c): an NMI that nobody else owns is that one. */
static bool ibs_nmi(struct trap_frame *frame)
{
    (void)frame;
    if (lapic_pmi_mode() != PMI_NMI || (here.on_fetch == NULL && here.on_op == NULL && !here.late))
        return false;
    if (take_samples())
        return true;
    here.empty += here.late;
    bool was_late = here.late;
    here.late = false;
    return was_late;
}

/* ---- Enumeration ---- */

static void lacks(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void lacks(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvsnprintf(here.info.no_fetch, PMU_REASON, fmt, ap);
    va_end(ap);
    ksnprintf(here.info.no_op, PMU_REASON, "%s", here.info.no_fetch);
}

/* The LVT entry that the firmware has chosen; false, and why, when there is none. */
static bool find_entry(void)
{
    uint64_t ctl = 0;
    if (!rdmsr_safe(MSR_AMD_IBS_CTL, &ctl)) {
        lacks("no IBS: IBS_CTL (C001103AH) raises #GP, against CPUID.80000001H:ECX[10]");
        return false;
    }
    here.info.lvt = (unsigned)(ctl & IBS_CTL_LVT_OFFSET);
    if (!(ctl & IBS_CTL_LVT_OFFSET_VALID))
        lacks("no interrupt of IBS: the firmware has left IBS_CTL[8] (LvtOffsetVal) = 0");
    else if (here.info.lvt >= lapic_extended_lvts())
        lacks("no interrupt of IBS: IBS_CTL names LVT entry %u of %u extended ones", here.info.lvt,
              lapic_extended_lvts());
    else
        return true;
    return false;
}

void ibs_init(void)
{
    here.info = (struct ibs_info){0};
    if (!(cpuid(LEAF_FEATURES, 0).ecx & CPUID_80000001_ECX_IBS)) {
        lacks("no IBS: CPUID.80000001H:ECX[10] = 0");
        return;
    }
    if (!find_entry())
        return;
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    here.period_first = cpu.family == 0x10; /* its erratum 420 */
    /* The first families with IBS have no leaf: both kinds, and no more (APM vol. 3, appendix E,
     * "IBSFFV"). */
    uint32_t leaf = cpuid(LEAF_IBS, 0).eax;
    if (!(leaf & CPUID_8000001B_EAX_IBSFFV))
        leaf = CPUID_8000001B_EAX_FETCH_SAM | CPUID_8000001B_EAX_OP_SAM;
    here.info.leaf = leaf;
    here.info.ops = leaf & CPUID_8000001B_EAX_OP_CNT;
    here.info.target = leaf & CPUID_8000001B_EAX_BRN_TRGT;
    here.info.current = leaf & CPUID_8000001B_EAX_RDWR_OP_CNT;
    here.info.op_max = IBS_OP_MAX_CNT << COUNT_SHIFT;
    if (leaf & CPUID_8000001B_EAX_OP_CNT_EXT)
        here.info.op_max |= IBS_OP_MAX_CNT_EXT;
    here.info.fetch = leaf & CPUID_8000001B_EAX_FETCH_SAM;
    here.info.op = leaf & CPUID_8000001B_EAX_OP_SAM;
    if (!here.info.fetch)
        ksnprintf(here.info.no_fetch, PMU_REASON,
                  "no IBS fetch sampling: CPUID.8000001BH:EAX[1] = 0");
    if (!here.info.op)
        ksnprintf(here.info.no_op, PMU_REASON, "no IBS op sampling: CPUID.8000001BH:EAX[2] = 0");
    trap_set_handler(LAPIC_VECTOR_IBS, ibs_interrupt);
    if (this_cpu()->index == 0)
        nmi_add_owner(ibs_nmi);
    lapic_extended_setup(here.info.lvt, LAPIC_VECTOR_IBS);
    ibs_reset();
}

static void stop(uint32_t ctl, uint64_t enable)
{
    if (here.period_first)
        wrmsr_safe(ctl, enable);
    wrmsr_safe(ctl, 0);
}

void ibs_reset(void)
{
    here.on_fetch = NULL;
    here.on_op = NULL;
    here.empty = 0;
    here.late = false;
    here.random = 0;
    if (here.info.fetch)
        stop(MSR_AMD_IBS_FETCH_CTL, IBS_FETCH_EN);
    if (here.info.op)
        stop(MSR_AMD_IBS_OP_CTL, IBS_OP_EN);
}

/* ---- Sampling ---- */

/* What is on its way comes now, not in what follows. */
static void let_the_last_come(void)
{
    here.late = true;
    for (unsigned i = 0; i < WAIT_READS; i++)
        (void)lapic_read(APIC_VERSION);
}

void ibs_sample_fetches(uint64_t period, bool random, ibs_fetch_handler *handler, window_body body,
                        uint64_t arg)
{
    here.fetch_ctl = (period >> COUNT_SHIFT & IBS_FETCH_MAX_CNT) | IBS_FETCH_EN |
                     (random ? IBS_FETCH_RAND_EN : 0);
    here.on_fetch = handler;
    arm_fetch();
    body(arg);
    stop(MSR_AMD_IBS_FETCH_CTL, IBS_FETCH_EN);
    let_the_last_come();
    here.on_fetch = NULL;
}

void ibs_sample_ops(uint64_t period, bool by_cycles, ibs_op_handler *handler, window_body body,
                    uint64_t arg)
{
    here.op_ctl =
        (period >> COUNT_SHIFT & IBS_OP_MAX_CNT) |
        (here.info.op_max > IBS_OP_MAX_CNT << COUNT_SHIFT ? period & IBS_OP_MAX_CNT_EXT : 0) |
        IBS_OP_EN | (by_cycles ? 0 : IBS_OP_CNT_CTL);
    here.on_op = handler;
    wrmsr(MSR_AMD_IBS_OP_CTL, op_armed());
    body(arg);
    stop(MSR_AMD_IBS_OP_CTL, IBS_OP_EN);
    let_the_last_come();
    here.on_op = NULL;
}
