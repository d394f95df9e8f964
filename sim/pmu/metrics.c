/* PERF_METRICS: where the issue slots went, as four fractions of 255. SDM vol. 3 "Performance
 * Metrics" (Ice Lake microarchitecture). */
#include "sim/pmu/internal.h"

#define FRACTION_BITS 8
#define FRACTION_MAX  255

static uint64_t since_restart(const struct pmu *pmu, enum cpu_event e)
{
    return pmu->cpu->total[0][e] + pmu->cpu->total[1][e] - pmu->metrics_base[e];
}

void metrics_restart(struct pmu *pmu)
{
    for (unsigned e = 0; e < EV_COUNT; e++)
        pmu->metrics_base[e] = pmu->cpu->total[0][e] + pmu->cpu->total[1][e];
}

static uint64_t share(const struct pmu *pmu, enum cpu_event where, uint64_t slots)
{
    return since_restart(pmu, where) * FRACTION_MAX / slots;
}

/* Retiring [7:0], bad speculation [15:8], front-end bound [23:16], back-end bound [31:24]. What
 * rounding leaves is retiring's, so that the four make the whole. */
uint64_t metrics_read(const struct pmu *pmu)
{
    uint64_t slots = since_restart(pmu, EV_SLOTS);
    if (slots == 0)
        return 0;
    uint64_t bad = share(pmu, EV_SLOTS_BAD_SPEC, slots);
    uint64_t frontend = share(pmu, EV_SLOTS_FRONTEND, slots);
    uint64_t backend = share(pmu, EV_SLOTS_BACKEND, slots);
    uint64_t retiring = FRACTION_MAX - bad - frontend - backend;
    return retiring | bad << FRACTION_BITS | frontend << (2 * FRACTION_BITS) |
           backend << (3 * FRACTION_BITS);
}
