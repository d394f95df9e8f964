/*
 * Branch trace store: each taken branch, interrupt and exception as a record in memory. SDM vol. 3
 * "Branch Trace Store (BTS)", "BTS and DS Save Area", "Setting Up the BTS Buffer".
 *
 * Where the manual is silent:
 * - A management area or buffer that is not mapped: it demands that both be resident. Here the
 * record is lost and nothing else happens.
 * - A full buffer with BTINT set: it takes no more until software resets the index.
 * - IA32_PERF_GLOBAL_STATUS.OvfBuf: the manual names PEBS alone as setting it ("In the event that
 * the PEBS buffer fills up"), and software is known to find a full BTS buffer by its index. BTS
 * leaves it alone.
 */
#include "sim/pmu/internal.h"

#include "sim/pmu/ds.h"
#include "x86/pmu.h"

#define BTS_PREDICTED ARCH_BIT(4)

struct bts_record {
    uint64_t from, to, flags;
};

bool bts_enabled(const struct pmu *pmu)
{
    return (pmu->debugctl & (DEBUGCTL_TR | DEBUGCTL_BTS)) == (DEBUGCTL_TR | DEBUGCTL_BTS);
}

/* SDM vol. 3 "Setting Up CPL-Qualified BTS", the table of encodings: "Store BTMs with CPL > 0". The
 * table does not say which CPL a branch between rings has; here it is that in which the branch
 * ends, as for MSR_LBR_SELECT. */
static bool ring_is_off(const struct pmu *pmu)
{
    return pmu->debugctl & (pmu->cpu->cpl == 0 ? DEBUGCTL_BTS_OFF_OS : DEBUGCTL_BTS_OFF_USR);
}

/* With BTINT clear the buffer is circular. With BTINT set, a full buffer takes no more. The
 * threshold asks for a PMI in both cases: software that wants none puts it past the maximum ("It's
 * not enough to clear the BTINT flag itself only"). */
void bts_record(struct pmu *pmu, uint64_t from, uint64_t to, bool mispredicted)
{
    struct cpu *cpu = pmu->cpu;
    struct ds_buffer b;
    bool circular = !(pmu->debugctl & DEBUGCTL_BTINT);
    struct bts_record r = {from, to, 0};

    if (ring_is_off(pmu) || !cpu_read_linear(cpu, pmu->ds_area + DS_BTS, &b, sizeof b))
        return;
    if (b.index < b.base || b.index + sizeof r > b.maximum) {
        if (!circular)
            return;
        b.index = b.base;
    }
    if (pmu->profile->pmu.bts_predicted && !mispredicted)
        r.flags = BTS_PREDICTED;
    if (!cpu_write_linear(cpu, b.index, &r, sizeof r))
        return;
    b.index += sizeof r;
    bool full = b.index >= b.threshold;
    if (circular && b.index + sizeof r > b.maximum)
        b.index = b.base;
    cpu_write_linear(cpu, pmu->ds_area + DS_BTS + DS_INDEX, &b.index, sizeof b.index);
    if (full)
        pmi_request(pmu, "BTS buffer reached its threshold");
}
