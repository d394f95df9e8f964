/*
 * Precise event based sampling: when a record is written, and what comes with it. SDM vol. 3
 * "Processor Event Based Sampling (PEBS)" and its enhancements by generation.
 *
 * A counter's overflow arms PEBS; the next event of that counter writes a record with the state
 * after its instruction. "Upon successful bounds checks, the processor will store the data record
 * in the defined buffer area, clear the counter overflow status, and reload the counter. If the
 * bounds checks fail, the PEBS will be skipped entirely": a full buffer, and here also a management
 * area or buffer that is not mapped, which the manual forbids. The event that triggers the record
 * is not counted by the reloaded counter.
 */
#include "sim/pmu/internal.h"

#include "sim/pmu/ds.h"
#include "x86/pmu.h"

static uint64_t enabled_counters(const struct pmu *pmu)
{
    uint64_t mask = pmu->pebs_enable;
    return has_extended_pebs(pmu, 0) ? mask : mask & bits(GLOBAL_FIXED_SHIFT);
}

/* SDM vol. 3 "PDist: Precise Distribution", as quoted in KVM's patches: "PDist eliminates any skid
 * or shadowing effects from PEBS. With PDist, the PEBS record will be generated precisely upon
 * completion of the instruction or operation that causes the counter to overflow (there is no 'wait
 * for next occurrence' by default)." */
static uint64_t distributed_counters(const struct pmu *pmu)
{
    return enabled_counters(pmu) & pmu->profile->pmu.pebs_pdist;
}

bool pebs_is_distributed(const struct pmu *pmu)
{
    return distributed_counters(pmu) & pmu->counting;
}

void pebs_overflow(struct pmu *pmu, unsigned bit)
{
    struct counter *c = counter_at(pmu, bit);
    if (!c->precise || !(enabled_counters(pmu) & ARCH_BIT(bit)))
        return;
    pmu->pebs_armed |= ARCH_BIT(bit);
    c->armed_at = c->made - (distributed_counters(pmu) & ARCH_BIT(bit) ? 1 : 0);
    pmu_note(pmu, "PEBS armed by counter %u of IA32_PERF_GLOBAL_STATUS", bit);
    pmu_attend(pmu);
}

/* The field "PEBS Counter Reset" of the management area; "Extended PEBS": the fixed counters follow
 * eight general ones; from format 5 on 32 (Linux' MAX_PEBS_EVENTS against MAX_PEBS_EVENTS_FMT4). */
static uint64_t reset_field(const struct pmu *pmu, unsigned bit)
{
    unsigned general = pmu->profile->pmu.pebs_format < 5 ? 8 : 32;
    unsigned slot = bit < GLOBAL_FIXED_SHIFT ? bit : general + bit - GLOBAL_FIXED_SHIFT;
    return pmu->ds_area + DS_PEBS_RESET + slot * sizeof(uint64_t);
}

/* Whether the record that is being written reloads the counter, and with what. */
static bool reloads(const struct pmu *pmu, unsigned bit, uint64_t *value)
{
    if (!(pmu->global_status & enabled_counters(pmu) & ARCH_BIT(bit)) ||
        !cpu_read_linear(pmu->cpu, reset_field(pmu, bit), value, sizeof *value))
        return false;
    *value &= bits(counter_width(pmu, bit));
    return true;
}

uint64_t pebs_counter_after(struct pmu *pmu, unsigned bit)
{
    uint64_t value;
    return reloads(pmu, bit, &value) ? value : counter_at(pmu, bit)->value;
}

/* "After each PEBS record is written, the processor checks each counter to see if it overflowed and
 * was enabled for PEBS ... then the reset value for each overflowed counter is loaded". */
static void reload(struct pmu *pmu)
{
    uint64_t overflowed = pmu->global_status & enabled_counters(pmu);
    for (uint64_t m = overflowed; m; m &= m - 1) {
        unsigned bit = __builtin_ctzll(m);
        counter_at(pmu, bit)->value = pebs_counter_after(pmu, bit);
    }
    pmu->global_status &= ~overflowed;
    pmu->pebs_armed &= ~overflowed;
    counters_reschedule(pmu);
}

/* "After the processor writes a PEBS record and updates PEBS Index, if the PEBS Index reaches the
 * threshold value of this field, the processor will generate a performance interrupt", with OvfBuf.
 * "No signaling is generated when PEBS buffer is full." The record is written between two
 * instructions, and "the PMI request is held until the processor completes processing of PEBS": it
 * has no skid. Linux relies on it: where a record has no EventingIP, intel_pmu_pebs_fixup_ip()
 * finds the instruction from the last branch record, which FREEZE_LBRS_ON_PMI has to stop right
 * there. */
static void signal_threshold(struct pmu *pmu, bool reached)
{
    if (!errata_pebs_pmi(pmu, reached))
        return;
    pmu->global_status |= GLOBAL_STATUS_OVF_BUF;
    pmi_request_at_once(pmu, "PEBS buffer reached its threshold");
}

static void record(struct pmu *pmu, unsigned bit, uint64_t applicable)
{
    struct cpu *cpu = pmu->cpu;
    struct ds_buffer b;
    uint8_t bytes[PEBS_RECORD_MAX];

    unsigned size = pebs_record_fill(pmu, bit, applicable, bytes);
    if (errata_pebs_fails(pmu))
        return;
    if (!cpu_read_linear(cpu, pmu->ds_area + DS_PEBS, &b, sizeof b) || b.index < b.base ||
        b.index + size > b.maximum || !cpu_write_linear(cpu, b.index, bytes, size)) {
        pmu_note(pmu, "PEBS record skipped: no room or not mapped");
        signal_threshold(pmu, false);
        return;
    }
    b.index += size;
    cpu_write_linear(cpu, pmu->ds_area + DS_PEBS + DS_INDEX, &b.index, sizeof b.index);
    reload(pmu);
    pmu_note(pmu, "PEBS record of counter %u of IA32_PERF_GLOBAL_STATUS", bit);
    signal_threshold(pmu, b.index >= b.threshold);
    errata_pebs_bit(pmu, bit);
}

/* The armed counters that have had their next event. */
static uint64_t triggered(struct pmu *pmu)
{
    uint64_t found = 0;
    for (uint64_t m = pmu->pebs_armed; m; m &= m - 1) {
        const struct counter *c = counter_at(pmu, __builtin_ctzll(m));
        if (c->made != c->armed_at)
            found |= m & -m;
    }
    return found;
}

/* "Performance Counter Prioritization": in index order. One record serves all that trigger at once.
 */
void pebs_update(struct pmu *pmu)
{
    if (!pmu->pebs_armed)
        return;
    uint64_t now = triggered(pmu);
    if (!now)
        return;
    pmu->pebs_armed &= ~now;
    record(pmu, __builtin_ctzll(now), now);
    pmu_attend(pmu);
}
