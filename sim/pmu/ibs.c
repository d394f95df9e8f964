/*
 * AMD's instruction-based sampling. APM vol. 2 "Instruction-Based Sampling"; what its fields mean
 * on a processor stands in that one's Processor Programming Reference (PPR), "IBS registers".
 *
 * Fetch sampling counts the model's fetches, aligned pieces of uarch.fetch_bytes, anew behind each
 * branch; none of them is in vain, so that all that are attempted complete. Op sampling counts
 * cycles or dispatched ops; the model dispatches none but those that retire. When a count has
 * reached its maximum, the next fetch, or the next instruction, is tagged: sim/cpu/watch.c watches
 * it, and when it has retired the sample is there and the interrupt is asked for.
 */
#include "sim/pmu/internal.h"

#include "sim/cpu/uarch.h"
#include "sim/dev/dev.h"
#include "x86/amd.h"

#define COUNT_LOW      4    /* bits of a count below those that MaxCnt has */
#define OP_RANDOM      0x7f /* bits 6:0 of the op count */
#define LATENCY_MAX    0xffff
#define SOURCE_CACHE   2 /* DataSrc: the L3 or another core's cache; 1 with the extended codes */
#define SOURCE_CCX     1
#define SOURCE_DRAM    3
#define LVT_OFFSET     0 /* what firmware gives it: Linux' "LVT offset 0 assigned for vector 0x400" */
#define WIDTHS         7 /* 1 byte to 64 */
#define MICROCODE_UOPS 2 /* an instruction of more comes from the microcode */

enum { LEVEL_L1 = 1, LEVEL_L2, LEVEL_LLC, LEVEL_MEMORY };

static uint32_t caps(const struct pmu *pmu)
{
    if (!(cpuid_word(pmu, 0x80000001, CPUID_ECX) & CPUID_80000001_ECX_IBS))
        return 0;
    uint32_t eax = cpuid_word(pmu, 0x8000001b, CPUID_EAX);
    return eax & CPUID_8000001B_EAX_IBSFFV ? eax : 0;
}

bool has_ibs(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return caps(pmu) != 0;
}

bool has_ibs_fetch(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return caps(pmu) & CPUID_8000001B_EAX_FETCH_SAM;
}

bool has_ibs_op(const struct pmu *pmu, unsigned i)
{
    (void)i;
    return caps(pmu) & CPUID_8000001B_EAX_OP_SAM;
}

bool has_ibs_br_target(const struct pmu *pmu, unsigned i)
{
    return has_ibs_op(pmu, i) && (caps(pmu) & CPUID_8000001B_EAX_BRN_TRGT);
}

bool has_ibs_fetch_extd(const struct pmu *pmu, unsigned i)
{
    return has_ibs_fetch(pmu, i) && (caps(pmu) & CPUID_8000001B_EAX_FETCH_CTL_EXTD);
}

/* ---- Counting ---- */

/* The generator of what is random: xorshift, of the machine's own, so that runs repeat. */
static uint64_t random_bits(struct pmu *pmu, uint64_t mask)
{
    uint64_t x = pmu->ibs.random + pmu->cpu->index + 1;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    pmu->ibs.random = x;
    return x >> 20 & mask;
}

static uint64_t both_rings(const struct pmu *pmu, enum cpu_event e)
{
    return cpu_total(pmu->cpu, 0, e) + cpu_total(pmu->cpu, 1, e);
}

static bool counts_ops(const struct pmu *pmu)
{
    return pmu->ibs.op_ctl & IBS_OP_CNT_CTL;
}

static uint64_t op_source(const struct pmu *pmu)
{
    return counts_ops(pmu) ? both_rings(pmu, EV_UOPS)
                           : both_rings(pmu, EV_SLOTS) / pmu->profile->uarch.retire_width;
}

static uint64_t fetch_source(const struct pmu *pmu)
{
    return cpu_fetches(pmu->cpu);
}

/* "IbsOpMaxCnt", bits 26:20 of it in the places that CPUID announces. */
static uint64_t op_max(const struct pmu *pmu)
{
    return ((pmu->ibs.op_ctl & IBS_OP_MAX_CNT) << COUNT_LOW) |
           (pmu->ibs.op_ctl & IBS_OP_MAX_CNT_EXT);
}

static uint64_t fetch_max(const struct pmu *pmu)
{
    return (pmu->ibs.fetch_ctl & IBS_FETCH_MAX_CNT) << COUNT_LOW;
}

/* A count goes on while sampling is enabled and no sample waits to be read. With a maximum of 0,
 * which is reserved, nothing is ever tagged. */
static bool op_counts(const struct pmu *pmu)
{
    return (pmu->ibs.op_ctl & (IBS_OP_EN | IBS_OP_VAL)) == IBS_OP_EN && op_max(pmu);
}

static bool fetch_counts(const struct pmu *pmu)
{
    return (pmu->ibs.fetch_ctl & (IBS_FETCH_EN | IBS_FETCH_VAL)) == IBS_FETCH_EN && fetch_max(pmu);
}

/* A machine that a snapshot was read into has run fewer blocks. */
static void count_on(uint64_t *count, uint64_t *at, uint64_t source)
{
    *count += source > *at ? source - *at : 0;
    *at = source;
}

static void sync(struct pmu *pmu)
{
    struct ibs *s = &pmu->ibs;
    if (op_counts(pmu))
        count_on(&s->op_count, &s->op_at, op_source(pmu));
    if (fetch_counts(pmu))
        count_on(&s->fetch_count, &s->fetch_at, fetch_source(pmu));
}

/* "The counter restarts": bits 26:7 are 0 then, 6:0 random. */
static void restart_op(struct pmu *pmu)
{
    pmu->ibs.op_count = random_bits(pmu, OP_RANDOM);
    pmu->ibs.op_at = op_source(pmu);
}

static void restart_fetch(struct pmu *pmu, uint64_t count)
{
    bool random = pmu->ibs.fetch_ctl & IBS_FETCH_RAND_EN;
    pmu->ibs.fetch_count = count | (random ? random_bits(pmu, bits(COUNT_LOW)) : 0);
    pmu->ibs.fetch_at = fetch_source(pmu);
}

bool ibs_tagged(const struct pmu *pmu)
{
    return pmu->ibs.op_tagged || pmu->ibs.fetch_tagged;
}

/* A slot makes at most EVENTS_PER_SLOT ops, and an instruction's slot two fetches: that of a
 * block's begin and the next. */
#define FETCHES_PER_SLOT 2
#define BLOCK_FETCHES    64 /* more than any block has: they are counted at once */

uint64_t ibs_deadline(const struct pmu *pmu)
{
    uint64_t deadline = NEVER, now = pmu->cpu->now;
    const struct ibs *s = &pmu->ibs;
    if (op_counts(pmu) && !s->op_tagged) {
        uint64_t counted = s->op_count + op_source(pmu) - s->op_at, max = op_max(pmu);
        uint64_t left = counted < max ? max - counted : 0;
        deadline = now + (counts_ops(pmu) ? left / EVENTS_PER_SLOT
                                          : left * pmu->profile->uarch.retire_width);
        if (!counts_ops(pmu) && left) /* the present cycle has begun */
            deadline -= both_rings(pmu, EV_SLOTS) % pmu->profile->uarch.retire_width;
    }
    if (fetch_counts(pmu) && !s->fetch_tagged) {
        uint64_t counted = s->fetch_count + fetch_source(pmu) - s->fetch_at, max = fetch_max(pmu);
        uint64_t left =
            counted + BLOCK_FETCHES < max ? (max - counted - BLOCK_FETCHES) / FETCHES_PER_SLOT : 0;
        uint64_t at = now + (left < FETCHES_KNOWN / 2 ? left : FETCHES_KNOWN / 2);
        deadline = at < deadline ? at : deadline;
    }
    return deadline;
}

/* ---- Samples ---- */

static void interrupt(struct pmu *pmu, const char *what)
{
    pmu_note(pmu, "IBS %s sample: interrupt by the extended LVT", what);
    lapic_extended(pmu->cpu->lapic, LVT_OFFSET);
}

static uint64_t limited(uint64_t cycles)
{
    return cycles < LATENCY_MAX ? cycles : LATENCY_MAX;
}

static uint64_t cycles(const struct pmu *pmu, uint64_t slots)
{
    return limited(slots / pmu->profile->uarch.retire_width);
}

static bool l3_miss_only(const struct pmu *pmu, uint64_t ctl, uint64_t bit)
{
    return (caps(pmu) & CPUID_8000001B_EAX_L3_MISS_ONLY) && (ctl & bit);
}

static uint64_t since_tag(const struct pmu *pmu, enum cpu_event e)
{
    return both_rings(pmu, e) - pmu->ibs.at_tag[e];
}

/* "IBS Op Data Register 1". */
static uint64_t op_data(const struct pmu *pmu, const struct watch *w)
{
    uint64_t lost = since_tag(pmu, EV_SLOTS_BAD_SPEC); /* behind it */
    uint64_t data = cycles(pmu, w->completed > lost ? w->completed - lost : 0) |
                    cycles(pmu, w->dispatched) << IBS_OP_DATA_TAG_TO_RET_SHIFT;
    if (since_tag(pmu, EV_BRANCH))
        data |= IBS_OP_DATA_BRN_RET;
    if (since_tag(pmu, EV_BRANCH_TAKEN))
        data |= IBS_OP_DATA_BRN_TAKEN;
    if (since_tag(pmu, EV_MISPREDICT))
        data |= IBS_OP_DATA_BRN_MISP;
    if (since_tag(pmu, EV_BRANCH_RET))
        data |= IBS_OP_DATA_RETURN;
    if (since_tag(pmu, EV_UOPS) > MICROCODE_UOPS)
        data |= IBS_OP_DATA_MICROCODE;
    return data;
}

/* "IBS Op Data Register 2": of loads that missed L1 and L2. */
static uint64_t op_data2(const struct pmu *pmu, const struct watch *w)
{
    bool extended = caps(pmu) & CPUID_8000001B_EAX_L3_MISS_ONLY;
    if (!w->load || w->device || w->level < LEVEL_LLC)
        return 0;
    return w->level == LEVEL_MEMORY ? SOURCE_DRAM : extended ? SOURCE_CCX : SOURCE_CACHE;
}

/* Log2 of the bytes, plus 1; 0 for what is no power of two, or more than a vector. */
static uint64_t width_code(unsigned bytes)
{
    unsigned code = bytes ? __builtin_ctz(bytes) + 1 : 0;
    return bytes == 1U << code >> 1 && code <= WIDTHS ? code : 0;
}

/* "IBS Op Data Register 3". */
static uint64_t op_data3(const struct pmu *pmu, const struct watch *w)
{
    static const uint64_t page_hit[] = {0, IBS_OP_DATA3_L1_TLB_HIT_2M, IBS_OP_DATA3_L1_TLB_HIT_1G};
    uint64_t walk = w->walk[0];
    uint64_t data = (w->load ? IBS_OP_DATA3_LD_OP : 0) | (w->store ? IBS_OP_DATA3_ST_OP : 0);
    if (!data)
        return 0;
    data |= IBS_OP_DATA3_LIN_ADDR_VALID | IBS_OP_DATA3_PHY_ADDR_VALID |
            width_code(w->bytes) << IBS_OP_DATA3_WIDTH_SHIFT;
    if (w->locked)
        data |= IBS_OP_DATA3_LOCKED;
    if (w->split)
        data |= IBS_OP_DATA3_MISALIGNED;
    if (walk)
        data |= IBS_OP_DATA3_L1_TLB_MISS | IBS_OP_DATA3_L2_TLB_MISS |
                limited(walk) << IBS_OP_DATA3_TLB_REFILL_LAT_SHIFT;
    else
        data |= page_hit[w->page];
    if (w->device)
        return data | IBS_OP_DATA3_UC;
    if (w->level > LEVEL_L1) {
        unsigned hit = pmu->profile->uarch.l1d.latency;
        data |= IBS_OP_DATA3_DC_MISS;
        if (w->latency > hit)
            data |= limited(w->latency - hit) << IBS_OP_DATA3_DC_MISS_LAT_SHIFT;
    }
    if (w->level > LEVEL_L2)
        data |= IBS_OP_DATA3_L2_MISS;
    return data;
}

/* The tagged op has retired. "IBS filtering": what is not wanted leaves no sample. */
static void sample_op(struct pmu *pmu)
{
    struct ibs *s = &pmu->ibs;
    const struct watch *w = &pmu->cpu->watch;
    restart_op(pmu);
    if (l3_miss_only(pmu, s->op_ctl, IBS_OP_L3_MISS_ONLY) && (w->device || w->level < LEVEL_MEMORY))
        return;
    s->op_rip = w->rip;
    s->op_data = op_data(pmu, w);
    s->op_data2 = op_data2(pmu, w);
    s->op_data3 = op_data3(pmu, w);
    s->dc_lin_ad = w->load || w->store ? w->linear : 0;
    s->dc_phys_ad = w->load || w->store ? w->physical : 0;
    s->br_target = s->op_data & IBS_OP_DATA_BRN_RET ? w->next : 0;
    s->op_ctl |= IBS_OP_VAL;
    interrupt(pmu, "op");
}

#define FETCH_STATUS                                                                               \
    (IBS_FETCH_LAT | IBS_FETCH_VAL | IBS_FETCH_COMP | IBS_FETCH_IC_MISS | IBS_FETCH_PHY_VALID |    \
     IBS_FETCH_PAGE_SIZE | IBS_FETCH_L1_TLB_MISS | IBS_FETCH_L2_TLB_MISS | IBS_FETCH_L2_MISS |     \
     IBS_FETCH_OC_MISS | IBS_FETCH_L3_MISS)

/* The tagged fetch has completed. There is no op cache: each fetch misses it. */
static void sample_fetch(struct pmu *pmu)
{
    struct ibs *s = &pmu->ibs;
    const struct watch *w = &pmu->cpu->watch;
    const struct uarch *u = pmu->cpu->uarch;
    bool zen4 = caps(pmu) & CPUID_8000001B_EAX_L3_MISS_ONLY;
    bool l3_missed = w->fetch_level == LEVEL_MEMORY;
    if (l3_miss_only(pmu, s->fetch_ctl, IBS_FETCH_L3_MISS_ONLY) && !l3_missed) {
        restart_fetch(pmu, 0);
        return;
    }
    uint64_t walk = w->entered ? w->walk[1] : 0;
    uint64_t took = walk + uarch_latency(u, w->fetch_level ? w->fetch_level : LEVEL_L1);
    uint64_t status = IBS_FETCH_VAL | IBS_FETCH_COMP | IBS_FETCH_PHY_VALID |
                      (uint64_t)w->fetch_page << IBS_FETCH_PAGE_SHIFT |
                      limited(took) << IBS_FETCH_LAT_SHIFT;
    if (w->fetch_level)
        status |= IBS_FETCH_IC_MISS;
    if (w->fetch_level > LEVEL_L2)
        status |= IBS_FETCH_L2_MISS;
    if (walk)
        status |= IBS_FETCH_L1_TLB_MISS | IBS_FETCH_L2_TLB_MISS;
    if (zen4)
        status |= IBS_FETCH_OC_MISS | (l3_missed ? IBS_FETCH_L3_MISS : 0);
    s->fetch_ctl = (s->fetch_ctl & ~FETCH_STATUS) | status;
    s->fetch_count = fetch_max(pmu);
    s->fetch_lin_ad = w->fetch_linear;
    s->fetch_phys_ad = w->fetch_physical;
    s->fetch_ctl_extd = limited(walk);
    interrupt(pmu, "fetch");
}

/* ---- The tag ---- */

static void watch_next(struct pmu *pmu)
{
    static const enum cpu_event wanted[] = {
        EV_BRANCH, EV_BRANCH_TAKEN,   EV_BRANCH_RET,         EV_MISPREDICT,
        EV_UOPS,   EV_SLOTS_BAD_SPEC, EV_SLOTS_FETCH_LATENCY};
    for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
        pmu->ibs.at_tag[wanted[i]] = both_rings(pmu, wanted[i]);
    cpu_watch(pmu->cpu);
}

/* What was watched has retired, or was ended by an interrupt or exception: an aborted op leaves no
 * sample, and its count begins anew; the fetch is then the next one's. */
static void take(struct pmu *pmu)
{
    struct ibs *s = &pmu->ibs;
    const struct watch *w = &pmu->cpu->watch;
    if (w->on)
        return;
    if (s->op_tagged && w->retired)
        sample_op(pmu);
    else if (s->op_tagged)
        restart_op(pmu);
    s->op_tagged = false;
    if (s->fetch_tagged && w->retired && w->fetched && s->fetch_skip-- == 0) {
        s->fetch_tagged = false;
        sample_fetch(pmu);
    }
}

void ibs_update(struct pmu *pmu)
{
    struct ibs *s = &pmu->ibs;
    if (!op_counts(pmu) && !fetch_counts(pmu))
        return;
    bool watching = ibs_tagged(pmu);
    uint64_t fetches_before = s->fetch_count;
    sync(pmu);
    if (watching)
        take(pmu);
    if (op_counts(pmu) && s->op_count >= op_max(pmu))
        s->op_tagged = true;
    if (fetch_counts(pmu) && !s->fetch_tagged && s->fetch_count >= fetch_max(pmu)) {
        /* A block's fetches count as it begins; its first has been made. */
        s->fetch_tagged = true;
        s->fetch_skip = fetches_before < fetch_max(pmu) ? fetch_max(pmu) - fetches_before - 1 : 0;
    }
    if (ibs_tagged(pmu) && !pmu->cpu->watch.on)
        watch_next(pmu);
    if (watching != ibs_tagged(pmu))
        pmu_attend(pmu);
}

/* ---- Registers ---- */

#define FETCH_WRITABLE (IBS_FETCH_MAX_CNT | IBS_FETCH_EN | IBS_FETCH_RAND_EN | FETCH_STATUS)
#define OP_WRITABLE    (IBS_OP_MAX_CNT | IBS_OP_EN | IBS_OP_VAL)

static void configured(struct pmu *pmu)
{
    struct ibs *s = &pmu->ibs;
    s->op_tagged &= op_counts(pmu);
    s->fetch_tagged &= fetch_counts(pmu);
    if (!ibs_tagged(pmu))
        pmu->cpu->watch.on = false;
    pmu_attend(pmu);
    counters_reschedule(pmu);
}

uint64_t ibs_read_fetch_ctl(struct pmu *pmu, unsigned i)
{
    (void)i;
    sync(pmu);
    uint64_t count = pmu->ibs.fetch_count >> COUNT_LOW;
    return pmu->ibs.fetch_ctl | (count << IBS_FETCH_CNT_SHIFT & IBS_FETCH_CNT);
}

/* "IbsFetchCnt": bits 19:4; a write gives them, and bits 3:0 by IbsRandEn. */
bool ibs_write_fetch_ctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    bool zen4 = caps(pmu) & CPUID_8000001B_EAX_L3_MISS_ONLY;
    sync(pmu);
    pmu->ibs.fetch_ctl = value & (FETCH_WRITABLE | (zen4 ? IBS_FETCH_L3_MISS_ONLY : 0));
    restart_fetch(pmu, (value & IBS_FETCH_CNT) >> IBS_FETCH_CNT_SHIFT << COUNT_LOW);
    pmu->ibs.fetch_tagged = false;
    configured(pmu);
    return true;
}

uint64_t ibs_read_op_ctl(struct pmu *pmu, unsigned i)
{
    (void)i;
    sync(pmu);
    bool readable = caps(pmu) & CPUID_8000001B_EAX_RDWR_OP_CNT;
    uint64_t count = pmu->ibs.op_count << IBS_OP_CUR_CNT_SHIFT & IBS_OP_CUR_CNT;
    return pmu->ibs.op_ctl | (readable ? count : 0);
}

/* "IbsOpCurCnt" can be written where CPUID says so. */
bool ibs_write_op_ctl(struct pmu *pmu, unsigned i, uint64_t value)
{
    (void)i;
    uint32_t has = caps(pmu);
    uint64_t takes = OP_WRITABLE | (has & CPUID_8000001B_EAX_OP_CNT ? IBS_OP_CNT_CTL : 0) |
                     (has & CPUID_8000001B_EAX_OP_CNT_EXT ? IBS_OP_MAX_CNT_EXT : 0) |
                     (has & CPUID_8000001B_EAX_L3_MISS_ONLY ? IBS_OP_L3_MISS_ONLY : 0);
    sync(pmu);
    pmu->ibs.op_ctl = value & takes;
    pmu->ibs.op_count =
        has & CPUID_8000001B_EAX_RDWR_OP_CNT ? (value & IBS_OP_CUR_CNT) >> IBS_OP_CUR_CNT_SHIFT : 0;
    pmu->ibs.op_at = op_source(pmu);
    pmu->ibs.op_tagged = false;
    configured(pmu);
    return true;
}

/* "IBS Control Register": firmware has named the entry of the extended LVT. */
uint64_t ibs_read_ctl(struct pmu *pmu, unsigned i)
{
    (void)pmu;
    (void)i;
    return IBS_CTL_LVT_OFFSET_VALID | LVT_OFFSET;
}
