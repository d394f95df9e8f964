/*
 * PERF_METRICS: where the slots of IA32_FIXED_CTR3 went, as fractions of 255. SDM vol. 3
 * "Performance Metrics" (Ice Lake microarchitecture): it counts while the counter does and
 * IA32_PERF_GLOBAL_CTRL[48] is set, and "the values are derived from fixed-function performance
 * counter 3", so that "software should start both registers from zero" and, to restore them, has to
 * write the counter first, "otherwise undefined results may be observed". So that such results can
 * be seen, here they are all ones: from a write of the counter, or an overflow of either, until the
 * next write of PERF_METRICS.
 */
#include "sim/pmu/internal.h"

#define FRACTION_BITS 8
#define FRACTION_MAX  255ULL
#define LEVEL_1       4 /* fields of it; the other half is level 2 */

/* What the fields count, from the lowest on. */
static const enum cpu_event fields[METRICS_FIELDS] = {
    EV_SLOTS_RETIRING, EV_SLOTS_BAD_SPEC, EV_SLOTS_FRONTEND,      EV_SLOTS_BACKEND,
    EV_SLOTS_HEAVY,    EV_SLOTS_BAD_SPEC, EV_SLOTS_FETCH_LATENCY, EV_SLOTS_MEMORY,
};

static const struct counter *slots_counter(const struct pmu *pmu)
{
    return &pmu->fixed[SLOTS_COUNTER];
}

static unsigned fields_here(const struct pmu *pmu)
{
    return pmu->profile->pmu.metrics_level2 ? METRICS_FIELDS : LEVEL_1;
}

uint64_t metrics_mask(const struct pmu *pmu)
{
    return bits(fields_here(pmu) * FRACTION_BITS);
}

/* A part's own counter is as wide as the counter of the slots. */
void metrics_sync(struct pmu *pmu)
{
    const struct counter *slots = slots_counter(pmu);
    uint64_t most = bits(pmu->profile->pmu.fixed_width);
    if (!pmu->metrics.counting)
        return;
    for (unsigned i = 0; i < METRICS_FIELDS; i++) {
        uint64_t source = ring_total(pmu, slots, fields[i]);
        pmu->metrics.part[i] += source - pmu->metrics.source[i];
        pmu->metrics.source[i] = source;
        if (pmu->metrics.part[i] <= most)
            continue;
        pmu->metrics.part[i] &= most;
        pmu->metrics.torn = true;
        pmu->global_status |= GLOBAL_STATUS_PERF_METRICS_OVF;
        if (slots->interrupt)
            pmi_request(pmu, "overflow PERF_METRICS");
    }
}

void metrics_configure(struct pmu *pmu)
{
    const struct counter *slots = slots_counter(pmu);
    pmu->metrics.counting = slots->counting && (pmu->global_ctrl & GLOBAL_CTRL_PERF_METRICS);
    for (unsigned i = 0; i < METRICS_FIELDS; i++)
        pmu->metrics.source[i] = ring_total(pmu, slots, fields[i]);
}

uint64_t metrics_deadline(const struct pmu *pmu)
{
    uint64_t first = NEVER;
    for (unsigned i = 0; i < METRICS_FIELDS && pmu->metrics.counting; i++) {
        uint64_t part = pmu->metrics.part[i] + ring_total(pmu, slots_counter(pmu), fields[i]) -
                        pmu->metrics.source[i];
        uint64_t left = bits(pmu->profile->pmu.fixed_width) - part;
        uint64_t d = pmu->cpu->now + left / EVENTS_PER_SLOT;
        first = d < first ? d : first;
    }
    return first;
}

void metrics_tear(struct pmu *pmu)
{
    pmu->metrics.torn = true;
}

/* Each field is rounded down. Where the four of level 1 are all of the slots, what that leaves is
 * retiring's, so that they make the whole. */
uint64_t metrics_read(const struct pmu *pmu)
{
    uint64_t slots = slots_counter(pmu)->value, metrics = 0, sum = 0, rounded = 0;
    if (pmu->metrics.torn)
        return metrics_mask(pmu);
    if (slots == 0)
        return 0;
    for (unsigned i = 0; i < fields_here(pmu); i++) {
        uint64_t part = pmu->metrics.part[i] * FRACTION_MAX / slots;
        part = part < FRACTION_MAX ? part : FRACTION_MAX;
        metrics |= part << FRACTION_BITS * i;
        if (i >= LEVEL_1)
            continue;
        sum += pmu->metrics.part[i];
        rounded += part;
    }
    return sum == slots ? metrics + (FRACTION_MAX - rounded) : metrics;
}

/* The parts for which these fields will be read. */
void metrics_write(struct pmu *pmu, uint64_t value)
{
    uint64_t slots = slots_counter(pmu)->value;
    for (unsigned i = 0; i < METRICS_FIELDS; i++) {
        uint64_t field = value >> FRACTION_BITS * i & FRACTION_MAX;
        pmu->metrics.part[i] = (field * slots + FRACTION_MAX - 1) / FRACTION_MAX;
    }
    pmu->metrics.torn = false;
}
