/* Exact counts. */
#include "lab/count.h"

#include "pmu/pmu.h"

uint64_t insns_in_window(const struct body_insns *insns, uint64_t iterations)
{
    return pmu_window_insns + insns_of(insns, iterations);
}

void count_from_0(uint64_t mask, window_body body, uint64_t iterations)
{
    for (unsigned counter = 0; mask >> counter; counter++)
        if (mask & PMU_MASK(counter))
            pmu_write(counter, 0);
    pmu_count(mask, body, iterations);
}

uint64_t count_exactly(uint64_t mask, unsigned counter, window_body body, uint64_t iterations,
                       uint64_t expected)
{
    uint64_t count = 0;
    for (int i = 0; i < EXACT_TRIES && (i == 0 || count > expected); i++) {
        count_from_0(mask, body, iterations);
        count = pmu_read(counter);
    }
    return count;
}
