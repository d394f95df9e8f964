#include "lab/pmi_wait.h"

#include "kernel/time.h"
#include "pmu/pmu.h"

#define WAIT_US 10000 /* a PMI is late by microseconds at most, even through a hypervisor */

void wait_for_pmi(unsigned count)
{
    uint64_t end = rdtsc() + tsc_ticks_us(WAIT_US);
    while (pmu_pmi_count() < count && rdtsc() < end)
        __asm__ volatile("pause");
}
