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

/* Retiring [7:0] is what retired micro-operations took; bad speculation [15:8] the mispredicts'
 * penalties; the model's front end never starves [23:16]; the rest waited for memory or a long
 * instruction, back-end bound [31:24]. */
uint64_t metrics_read(const struct pmu *pmu)
{
    const struct profile *p = pmu->profile;
    uint64_t slots = since_restart(pmu, EV_SLOTS);
    if (slots == 0)
        return 0;
    uint64_t retiring = since_restart(pmu, EV_UOPS);
    retiring = retiring < slots ? retiring : slots;
    uint64_t bad =
        since_restart(pmu, EV_MISPREDICT) * p->uarch.mispredict_penalty * p->uarch.retire_width;
    bad = bad < slots - retiring ? bad : slots - retiring;
    uint64_t retiring_share = retiring * FRACTION_MAX / slots;
    uint64_t bad_share = bad * FRACTION_MAX / slots;
    uint64_t backend_share = FRACTION_MAX - retiring_share - bad_share;
    return retiring_share | bad_share << FRACTION_BITS | backend_share << (3 * FRACTION_BITS);
}
