/*
 * Precise event based sampling, record formats 0 to 3. SDM vol. 3 "Processor Event Based Sampling
 * (PEBS)" and its enhancements by generation.
 *
 * A counter's overflow arms PEBS; the next event of that counter writes a record with the state
 * after its instruction, clears the overflow status and reloads the counter from the DS area. The
 * event that triggers the record is not counted by the reloaded counter. A DS area that is not
 * mapped fails the bounds check: "the PEBS will be skipped entirely".
 */
#include "sim/pmu/internal.h"

#include "sim/pmu/ds.h"

/* The longest record (format 3); shorter formats are its beginnings. SDM vol. 3 "PEBS Record
 * Format". */
struct pebs_record {
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
static const unsigned record_size[] = {144, 176, 192, 200};
#define FORMAT_APPLICABLE_COUNTERS 3

/* SDM vol. 3 "Data Source Encoding for Load Latency Record", by the level that served the load. */
static const uint8_t source_encoding[] = {
    [1] = 0x01, /* L1 data cache */
    [2] = 0x03, /* L2 */
    [3] = 0x04, /* L3 hit, no snoop */
    [4] = 0x0c, /* L3 miss, local DRAM, exclusive */
};
#define SOURCE_STLB_MISS (1 << 4)

void pebs_overflow(struct pmu *pmu, unsigned i)
{
    const struct counter *c = &pmu->general[i];
    if (!c->precise || !(pmu->pebs_enable & ARCH_BIT(i)))
        return;
    pmu->pebs_armed |= 1U << i;
    pmu->pebs_seen[i] = c->made;
    pmu_note(pmu, "PEBS armed by IA32_PMC%u", i);
    pmu_attend(pmu);
}

static void fill(struct pmu *pmu, unsigned i, struct pebs_record *r)
{
    struct cpu *cpu = pmu->cpu;
    const struct counter *c = &pmu->general[i];
    *r = (struct pebs_record){
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
        .global_status = pmu->profile->pmu.pebs_format >= FORMAT_APPLICABLE_COUNTERS
                             ? ARCH_BIT(i)
                             : pmu->global_status,
        .eventing_ip = pmu->rip,
        .tsc = cpu_tsc(cpu),
    };
    for (unsigned n = 0; n < 8; n++)
        r->r8_to_r15[n] = cpu->r[R8 + n];
    bool latency = c->latency && (pmu->pebs_enable & ARCH_BIT(GLOBAL_FIXED_SHIFT + i));
    if (latency) {
        r->data_address = cpu->last_load.linear;
        r->data_source = source_encoding[cpu->last_load.level] |
                         (cpu->last_load.dtlb_miss ? SOURCE_STLB_MISS : 0);
        r->latency = cpu->last_load.latency;
    }
}

/* OvfBuf and the PMI that comes with it: "PEBS buffer full". */
static void buffer_full(struct pmu *pmu)
{
    pmu->global_status |= GLOBAL_STATUS_OVF_BUF;
    pmi_request(pmu, "PEBS buffer reached its threshold");
}

static void reload(struct pmu *pmu, unsigned i)
{
    uint64_t value;
    if (!cpu_read_linear(pmu->cpu, pmu->ds_area + DS_PEBS_RESET + i * sizeof value, &value,
                         sizeof value))
        return;
    pmu->general[i].value = value & bits(pmu->profile->pmu.general_width);
    counters_reschedule(pmu);
}

static void record(struct pmu *pmu, unsigned i)
{
    struct cpu *cpu = pmu->cpu;
    unsigned size = record_size[pmu->profile->pmu.pebs_format];
    struct ds_buffer b;
    struct pebs_record r;

    if (!cpu_read_linear(cpu, pmu->ds_area + DS_PEBS, &b, sizeof b) || b.index < b.base)
        return;
    if (b.index + size > b.maximum) {
        buffer_full(pmu);
        return;
    }
    fill(pmu, i, &r);
    if (!cpu_write_linear(cpu, b.index, &r, size))
        return;
    b.index += size;
    cpu_write_linear(cpu, pmu->ds_area + DS_PEBS + DS_INDEX, &b.index, sizeof b.index);
    pmu->global_status &= ~ARCH_BIT(i);
    reload(pmu, i);
    pmu_note(pmu, "PEBS record of IA32_PMC%u", i);
    if (b.index >= b.threshold)
        buffer_full(pmu);
}

void pebs_update(struct pmu *pmu)
{
    uint32_t armed = pmu->pebs_armed;
    if (!armed)
        return;
    for (unsigned i = 0; i < general_count(pmu->profile); i++) {
        if (!(armed >> i & 1) || pmu->general[i].made == pmu->pebs_seen[i])
            continue;
        pmu->pebs_armed &= ~(1U << i);
        record(pmu, i);
    }
    pmu_attend(pmu);
}
