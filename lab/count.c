/* Exact counts. */
#include "lab/count.h"

#include "kernel/cpuid.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"

uint64_t insns_in_window(uint64_t mask, const struct body_insns *insns, uint64_t iterations)
{
    return pmu_window_adds(mask) + insns_of(insns, iterations);
}

void count_from_0(uint64_t mask, window_body body, uint64_t iterations)
{
    uint64_t counters = mask & pmu_all_counters(); /* not the performance metrics */
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            pmu_write(counter, 0);
    pmu_count(mask, body, iterations);
}

uint64_t count_exactly(uint64_t mask, unsigned counter, window_body body, uint64_t iterations,
                       uint64_t expected)
{
    struct take take = take_begin();
    do
        count_from_0(mask, body, iterations);
    while (take_again(&take, pmu_read(counter) <= expected));
    return pmu_read(counter);
}

uint64_t count_empty(uint64_t mask, unsigned counter)
{
    return count_exactly(mask, counter, body_empty, 0, insns_in_window(mask, &body_empty_insns, 0));
}

void value_known_loss(uint64_t empty, uint64_t count, uint64_t expected)
{
    if (hypervisor_present() && empty + 1 == insns_in_window(PMU_MASK(0), &body_empty_insns, 0) &&
        count + 1 == expected)
        value_str("known", "the WRMSR that opens the window is not counted: KVM before Linux 5.17 "
                           "(9cd803d496e7) counts no instruction that it executes itself");
}
