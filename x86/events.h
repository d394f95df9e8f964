/*
 * The architectural events: their codes, and the names of what counters count. SDM vol. 3
 * "Pre-defined Architectural Performance Events". The codes are read by C and by GNU as.
 */
#ifndef PMULAB_X86_EVENTS_H
#define PMULAB_X86_EVENTS_H

/* umask << 8 | event */
#define EVENT_CPU_CLK_UNHALTED_THREAD_P     0x003c
#define EVENT_INST_RETIRED_ANY_P            0x00c0
#define EVENT_CPU_CLK_UNHALTED_REF_P        0x013c
#define EVENT_LONGEST_LAT_CACHE_REFERENCE   0x4f2e
#define EVENT_LONGEST_LAT_CACHE_MISS        0x412e
#define EVENT_BR_INST_RETIRED_ALL_BRANCHES  0x00c4
#define EVENT_BR_MISP_RETIRED_ALL_BRANCHES  0x00c5
#define EVENT_TOPDOWN_SLOTS_P               0x01a4
#define EVENT_TOPDOWN_BE_BOUND_ALL_P        0x02a4
#define EVENT_TOPDOWN_BAD_SPECULATION_ALL_P 0x0073
#define EVENT_TOPDOWN_FE_BOUND_ALL_P        0x019c
#define EVENT_TOPDOWN_RETIRING_ALL_P        0x02c2
#define EVENT_MISC_RETIRED_LBR_INSERTS      0x01e4

/* Not architectural: Goldmont's. Core cycles with RFLAGS.IF = 0, and those of them in which an
 * interrupt is pending. */
#define EVENT_HW_INTERRUPTS_MASKED             0x02cb
#define EVENT_HW_INTERRUPTS_PENDING_AND_MASKED 0x04cb

#ifndef __ASSEMBLER__

#include <stdint.h>

/* Numbers of the events: their bits in CPUID.0AH:EBX, where a set bit says "not available", and in
 * CPUID.23H.3:EAX, where it says "available". */
enum pmu_event_number {
    PMU_EVENT_CORE_CYCLES,
    PMU_EVENT_INSTRUCTIONS,
    PMU_EVENT_REF_CYCLES,
    PMU_EVENT_LLC_REFERENCES,
    PMU_EVENT_LLC_MISSES,
    PMU_EVENT_BRANCHES,
    PMU_EVENT_MISPREDICTS,
    PMU_EVENT_SLOTS,
    PMU_EVENT_BACKEND_BOUND,
    PMU_EVENT_BAD_SPECULATION,
    PMU_EVENT_FRONTEND_BOUND,
    PMU_EVENT_RETIRING,
    PMU_EVENT_LBR_INSERTS,
    PMU_N_EVENTS,
};

struct pmu_event {
    const char *name;
    uint64_t code; /* umask << 8 | event, an EVENT_*; AMD's with bits 11:8 of the event in 35:32 */
    /* The perfmon version from which on the code is this event's: before, other events of some
     * processor have it. */
    uint8_t version;
};
extern const struct pmu_event pmu_events[PMU_N_EVENTS];
/* AMD's events that count the same (APM vol. 2 "Performance Monitoring Counters", the PPRs); a name
 * of NULL where there is none. version: PerfMonV2's processors have it, those before do not. */
extern const struct pmu_event amd_events[PMU_N_EVENTS];

/* The twelve bits of an event in AMD's PERF_CTL; with its unit mask, its name, or NULL when it is
 * not one that x86/amd.h lists. */
unsigned amd_event_select(uint64_t select);
const char *amd_event_name(uint64_t select);

/* Names of the fixed counters' events, by counter; NULL past the last known one. */
const char *pmu_fixed_event_name(unsigned counter);
/* Name of a select register's event and unit mask, or NULL when it is not an architectural one of
 * that perfmon version. */
const char *pmu_event_name(uint64_t select, unsigned version);

#endif
#endif
