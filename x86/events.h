/* The architectural events, SDM vol. 3 "Pre-defined Architectural Performance Events". */
#ifndef PMULAB_EVENTS_H
#define PMULAB_EVENTS_H

#include <stdint.h>

/* Numbers of the events: their bits in CPUID.0AH:EBX, where a set bit says "not available". */
enum pmu_event_number {
    PMU_EVENT_CORE_CYCLES,
    PMU_EVENT_INSTRUCTIONS,
    PMU_EVENT_REF_CYCLES,
    PMU_EVENT_LLC_REFERENCES,
    PMU_EVENT_LLC_MISSES,
    PMU_EVENT_BRANCHES,
    PMU_EVENT_MISPREDICTS,
    PMU_EVENT_SLOTS,
    PMU_N_EVENTS,
};

struct pmu_event {
    const char *name;
    uint16_t code; /* umask << 8 | event, an EVENT_* of x86/arch.h */
};
extern const struct pmu_event pmu_events[PMU_N_EVENTS];

/* Names of the fixed counters' events, by counter; NULL past the last known one. */
const char *pmu_fixed_event_name(unsigned counter);
/* Name of a select register's event and unit mask, or NULL when it is not an architectural one. */
const char *pmu_event_name(uint64_t select);

#endif
