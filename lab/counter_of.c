/* Fixed counters, or general ones in their place. */
#include "lab/counter_of.h"

#include "kernel/msr.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"

#include <stdbool.h>
#include <stddef.h>

/* SDM vol. 3 "Fixed-Function Performance Counters". */
static unsigned fixed_number(unsigned event)
{
    return event == PMU_EVENT_INSTRUCTIONS ? 0 : event == PMU_EVENT_CORE_CYCLES ? 1 : 2;
}

static bool kind_has_fixed(void)
{
    return pmu_info()->kind->fixed.base != 0;
}

unsigned counter_of(unsigned event, unsigned spare)
{
    return kind_has_fixed() ? PMU_FIXED(fixed_number(event)) : spare;
}

const char *counter_of_missing(unsigned event, unsigned spare)
{
    unsigned fixed = fixed_number(event);
    if (kind_has_fixed())
        return pmu_has_fixed(fixed) ? NULL : pmu_no_fixed(fixed);
    const char *missing = pmu_no_general(spare + 1);
    return missing != NULL ? missing : pmu_no_event(event);
}

static uint64_t fixed_field(uint64_t flags)
{
    return (flags & PERFEVTSEL_OS ? FIXED_CTR_CTRL_OS : 0) |
           (flags & PERFEVTSEL_USR ? FIXED_CTR_CTRL_USR : 0) |
           (flags & PERFEVTSEL_INT ? FIXED_CTR_CTRL_PMI : 0);
}

unsigned counter_of_select(unsigned event, unsigned spare, uint64_t flags)
{
    unsigned counter = counter_of(event, spare);
    if (kind_has_fixed()) {
        uint64_t others = rdmsr(pmu_info()->kind->fixed_ctrl);
        pmu_select_fixed(others | fixed_field(flags)
                                      << (FIXED_CTR_CTRL_BITS * fixed_number(event)));
    } else {
        pmu_select(counter, pmu_event(event) | flags);
    }
    return counter;
}
