/*
 * The layout of PEBS records. Formats 0 to 3 are one structure, each format longer than the one
 * before: SDM vol. 3 "PEBS Record Format" of each generation. Formats 4 to 6 are made of groups
 * that MSR_PEBS_DATA_CFG selects: "Adaptive PEBS". What formats 5 and 6 add is taken from Linux'
 * arch/x86/events/intel/ds.c and asm/perf_event.h.
 */
#include "sim/pmu/internal.h"
#include "x86/pmu.h"

#include <string.h>

/* IA32_PERF_CAPABILITIES.PEBS_REC_FMT. */
static const struct {
    unsigned size;     /* of a record, bytes; 0: groups, as MSR_PEBS_DATA_CFG asks */
    bool data_address; /* for every precise event of loads */
    bool applicable; /* the counters that the record is for, in place of IA32_PERF_GLOBAL_STATUS */
} formats[] = {
    // clang-format off
    [0] = {144, false, false},
    [1] = {176, false, false},
    [2] = {192, true,  false},
    [3] = {200, true,  true},
    [4] = {0,   true,  true},
    [5] = {0,   true,  true},
    [6] = {0,   true,  true},
    // clang-format on
};

/* The fields of the memory access. Zero where the event has no such access. */
struct memory_access {
    uint64_t address, source, latency;
};

/* SDM vol. 3 "Data Source Encoding for Load Latency Record", by the level that served the load: L1,
 * L2, L3 without a snoop, local memory. The other cores' are known from Linux' ds.c:
 * grt_latency_data(), cmt_latency_data() and __intel_pmu_pebs_data_source_cmt(), lnc_latency_data()
 * and lnc_pebs_data_source[]. */
static const struct {
    uint8_t level[5];
    uint16_t stlb_miss;
} sources[] = {
    [PEBS_SOURCE_CORE] = {{0, 0x01, 0x03, 0x04, 0x0c}, 1 << 4},
    [PEBS_SOURCE_GRACEMONT] = {{0, 0x01, 0x03, 0x04, 0x0c}, 1 << 5},
    [PEBS_SOURCE_CRESTMONT] = {{0, 0x01, 0x03, 0x04, 0x0a}, 1 << 6},
    [PEBS_SOURCE_LION_COVE] = {{0, 0x01, 0x05, 0x08, 0x11}, 1 << 10},
};

/* Events that a load makes when it retires. */
static bool made_by_loads(enum cpu_event e)
{
    switch (e) {
    case EV_LOAD:
    case EV_L1_HIT:
    case EV_L1_MISS:
    case EV_L2_HIT:
    case EV_L2_MISS:
    case EV_LLC_HIT:
        return true;
    default:
        return false;
    }
}

/* SDM vol. 3 "Load Latency Performance Monitoring Facility": address, source and latency when the
 * counter's LL_EN is set (with extended PEBS, whose enable register has no such bits, always).
 * "PEBS Data Address Profiling", Haswell on (format 2): the address for every precise event of
 * loads; that of stores, with its L1D hit, is not modelled. */
static struct memory_access memory_access(const struct pmu *pmu, unsigned bit)
{
    const struct cpu *cpu = pmu->cpu;
    struct memory_access m = {0};
    if (bit >= PMU_MAX_GENERAL)
        return m;
    const struct counter *c = &pmu->general[bit];
    unsigned kind = pmu->profile->pmu.pebs_source;
    if (c->latency &&
        (has_extended_pebs(pmu, 0) || (pmu->pebs_enable & ARCH_BIT(GLOBAL_FIXED_SHIFT + bit)))) {
        m.address = cpu->last_load.linear;
        if (errata_memory_info_lacks(pmu))
            return m;
        m.source = sources[kind].level[cpu->last_load.level] |
                   (cpu->last_load.dtlb_miss ? sources[kind].stlb_miss : 0);
        m.latency = cpu->last_load.latency;
    } else if (made_by_loads(c->event) && formats[pmu->profile->pmu.pebs_format].data_address) {
        m.address = cpu->last_load.linear;
    }
    return m;
}

/* ---- Formats 0 to 3 ---- */

struct record {
    uint64_t rflags, rip;
    uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
    uint64_t r8_to_r15[8];
    /* Format 1: */
    uint64_t global_status; /* format 3: the counters that this record is for */
    uint64_t data_address, data_source, latency;
    /* Format 2: */
    uint64_t eventing_ip, tx;
    /* Format 3: */
    uint64_t tsc;
};

static unsigned fill_fixed(struct pmu *pmu, unsigned bit, uint64_t applicable, uint8_t *out)
{
    struct cpu *cpu = pmu->cpu;
    unsigned format = pmu->profile->pmu.pebs_format;
    struct memory_access m = memory_access(pmu, bit);
    struct record r = {
        .rflags = cpu_rflags(cpu),
        .rip = cpu->rip,
        .rax = cpu->r[RAX],
        .rbx = cpu->r[RBX],
        .rcx = cpu->r[RCX],
        .rdx = cpu->r[RDX],
        .rsi = cpu->r[RSI],
        .rdi = cpu->r[RDI],
        .rbp = cpu->r[RBP],
        .rsp = cpu->r[RSP],
        .global_status = formats[format].applicable ? applicable : pmu->global_status,
        .data_address = m.address,
        .data_source = m.source,
        .latency = m.latency,
        .eventing_ip = pmu->rip,
        .tsc = cpu_tsc(cpu),
    };
    memcpy(r.r8_to_r15, &cpu->r[R8], sizeof r.r8_to_r15);
    memcpy(out, &r, formats[format].size);
    return formats[format].size;
}

/* ---- Formats 4 to 6 ---- */

struct basic_group {
    uint32_t groups;         /* MSR_PEBS_DATA_CFG[31:0] */
    uint16_t retire_latency; /* with PEBS_TIMING_INFO */
    uint16_t size;           /* of the record */
    uint64_t ip;             /* EventingIP */
    uint64_t applicable_counters;
    uint64_t tsc;
};

struct memory_group {
    uint64_t address, source, latency, tsx;
};

/* The order of the registers is that of their numbers. */
struct gpr_group {
    uint64_t rflags, rip, r[16];
};

#define XMM_BYTES 16

struct lbr_group_entry {
    uint64_t from, to, info;
};

/* The newest records first, as many as MSR_PEBS_DATA_CFG asks for; zeros past the stack's depth. */
static unsigned fill_lbrs(struct pmu *pmu, uint8_t *out)
{
    unsigned n = 0;
    unsigned entries =
        ((pmu->pebs_data_cfg & PEBS_DATA_CFG_LBR_ENTRIES) >> PEBS_DATA_CFG_LBR_SHIFT) + 1;
    for (unsigned i = 0; i < entries; i++) {
        const struct lbr_entry none = {0}, *e = i < pmu->lbr_depth ? lbr_newest(pmu, i) : &none;
        struct lbr_group_entry g = {e->from, e->to, e->info};
        memcpy(out + n, &g, sizeof g);
        n += sizeof g;
    }
    return n;
}

/* IA32_PERF_CAPABILITIES.PEBS_TIMING_INFO: core cycles from the retirement of the instruction
 * before to that of this one. "The Retire Latency is not supported by the fixed counter 0 on p-core
 * of MTL" (Linux' patch for it); what its field holds there is not told, here it is 0. */
static uint16_t retire_latency(const struct pmu *pmu, unsigned bit)
{
    uint64_t cycles = (pmu->cpu->now - pmu->retired_at) / pmu->profile->uarch.retire_width;
    if (!(pmu->profile->pmu.capabilities & PERF_CAP_PEBS_TIMING_INFO) ||
        (pmu->profile->pmu.pebs_untimed & ARCH_BIT(bit)))
        return 0;
    return cycles < UINT16_MAX ? cycles : UINT16_MAX;
}

/* From format 5 on the quadword is divided: cycles of the instruction in 15:0, of the access to the
 * caches in 47:32. In this machine the one is the other. */
static uint64_t latency_field(const struct pmu *pmu, uint64_t latency)
{
    if (pmu->profile->pmu.pebs_format < 5)
        return latency;
    latency = latency < UINT16_MAX ? latency : UINT16_MAX;
    return latency | latency << 32;
}

struct counters_header {
    uint32_t general, fixed, metrics, reserved;
};
#define METRICS_THERE 3 /* IA32_FIXED_CTR3 and PERF_METRICS */

static unsigned put(uint8_t *out, uint64_t value)
{
    memcpy(out, &value, sizeof value);
    return sizeof value;
}

/* Format 6: the header says whose values follow, general counters, fixed ones, the slots with their
 * metrics. */
static unsigned fill_counters(struct pmu *pmu, uint64_t groups, uint8_t *out)
{
    struct counters_header h = {0};
    unsigned n = sizeof h;
    if (groups & PEBS_DATA_CFG_CNTR) {
        h.general = (groups & PEBS_DATA_CFG_GENERAL) >> DATA_CFG_GENERAL_SHIFT;
        h.fixed = (groups & PEBS_DATA_CFG_FIXED) >> DATA_CFG_FIXED_SHIFT;
    }
    if (groups & PEBS_DATA_CFG_METRICS)
        h.metrics = METRICS_THERE;
    for (uint64_t m = h.general | (uint64_t)h.fixed << GLOBAL_FIXED_SHIFT; m; m &= m - 1)
        n += put(out + n, pebs_counter_after(pmu, __builtin_ctzll(m)));
    if (h.metrics) {
        n += put(out + n, pebs_counter_after(pmu, GLOBAL_FIXED_SHIFT + SLOTS_COUNTER));
        n += put(out + n, metrics_read(pmu));
    }
    memcpy(out, &h, sizeof h);
    return n;
}

/* SDM vol. 3 "Adaptive_Record Counter Control": without the bit only the basic group is written. */
static unsigned fill_groups(struct pmu *pmu, unsigned bit, uint64_t applicable, uint8_t *out)
{
    struct cpu *cpu = pmu->cpu;
    uint64_t groups = counter_at(pmu, bit)->adaptive ? pmu->pebs_data_cfg : 0;
    struct basic_group basic = {
        .retire_latency = retire_latency(pmu, bit),
        .ip = pmu->rip,
        .applicable_counters = applicable,
        .tsc = cpu_tsc(cpu),
    };
    unsigned n = sizeof basic;
    if (groups & PEBS_DATA_CFG_MEMINFO) {
        struct memory_access m = memory_access(pmu, bit);
        struct memory_group g = {m.address, m.source, latency_field(pmu, m.latency), 0};
        memcpy(out + n, &g, sizeof g);
        n += sizeof g;
    }
    if (groups & PEBS_DATA_CFG_GPRS) {
        struct gpr_group g = {.rflags = cpu_rflags(cpu), .rip = cpu->rip};
        for (unsigned i = 0; i < 16; i++)
            g.r[i] = cpu->r[i];
        memcpy(out + n, &g, sizeof g);
        n += sizeof g;
    }
    if (groups & PEBS_DATA_CFG_XMMS) {
        for (unsigned i = 0; i < 16; i++, n += XMM_BYTES)
            memcpy(out + n, &cpu->fpu.ymm[i], XMM_BYTES);
    }
    if (groups & PEBS_DATA_CFG_LBRS)
        n += fill_lbrs(pmu, out + n);
    if (groups & (PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS))
        n += fill_counters(pmu, groups, out + n);
    basic.groups = groups;
    basic.size = n;
    memcpy(out, &basic, sizeof basic);
    return n;
}

unsigned pebs_record_fill(struct pmu *pmu, unsigned bit, uint64_t applicable, uint8_t *record)
{
    return formats[pmu->profile->pmu.pebs_format].size ? fill_fixed(pmu, bit, applicable, record)
                                                       : fill_groups(pmu, bit, applicable, record);
}
