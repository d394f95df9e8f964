/*
 * A kind of PMU: where its registers are and how they are to be used, as far as no CPUID leaf tells
 * it. How many counters there are, how wide, with which events, is enumeration (pmu/info.c). The
 * driver asks this table, never for a version or a vendor. Pure, also compiled for the host's unit
 * tests.
 *
 * One row a kind (kind.c): Intel's architectural versions, and AMD's three: the four counters of
 * old; six, whose registers lie in pairs (stride 2); and PerfMonV2, with a register that enables
 * all, status and freeze. AMD's are written in their full width; there are no fixed counters and no
 * debug store, and the LVT entry stays open. What P6 would need has its field: the two selects of
 * version 1, of which the first one's EN is that of both counters, no status, a local APIC that
 * does not mask its LVT entry.
 */
#ifndef PMULAB_PMU_KIND_H
#define PMULAB_PMU_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/decode.h"

/* Registers that lie stride apart. base 0: there are none. */
struct pmu_bank {
    uint32_t base, stride;
};

/* A counter's registers at addresses of its own. */
struct pmu_own {
    struct pmu_bank counters, selects;            /* selects: of general counters alone */
    struct pmu_bank reload_causes, reload_values; /* auto counter reload: pmu/reload.h */
};

struct pmu_event;

struct pmu_kind {
    const char *name;                  /* to be shown; NULL: its perfmon version is */
    const char *code;                  /* the same in a report's code */
    enum decode_vendor vendor;         /* whose names the registers have */
    const struct pmu_event *events;    /* by PMU_EVENT_*: x86/events.h */
    struct pmu_bank counters, selects; /* the general ones */
    /* A write to a counter takes so many bits and fills the others with copies of the uppermost;
     * full_width is where all bits are taken, if the processor has it. */
    unsigned written_bits;
    struct pmu_bank full_width;

    struct pmu_bank fixed;
    uint32_t fixed_ctrl;

    /* The same registers once more, where a write to a counter takes all bits, and new ones. */
    struct pmu_own own_general, own_fixed;

    bool fixed_bitmap;   /* CPUID.0AH:ECX has a bit for each fixed counter */
    bool fixed_may_be_3; /* some such processors have three, and CPUID.0AH:EDX[4:0] = 0 */

    /* The one register whose write starts and stops counters, from inside the counting window. It
     * has a bit for each counter and enable_bit is 0; or there is none, enable is 0, and a
     * counter's own select register starts it, by enable_bit: then a window is one counter's. (P6:
     * enable would be the first select, and the window all counters'.) */
    uint32_t enable;
    uint64_t enable_bit;

    /* The overflow status, and what writes of ones clear it. 0: none, the counters themselves show
     * by their uppermost bit who has overflowed. status_set: what writes of ones set in it, where
     * that can be written. status_other: what it can hold beside a bit for each counter. */
    uint32_t status, status_clear, status_set;
    uint64_t status_other;
    uint32_t in_use; /* says which counters are in use */

    /* The bit of IA32_DEBUGCTL that stops the counters at a PMI; 0: none. They run again when the
     * status bit frozen is cleared; where there is none, the freeze has cleared the enables. */
    uint64_t freeze, frozen;

    bool lvt_masked;  /* the local APIC masks its LVT entry when it delivers the PMI */
    bool debug_store; /* BTS and PEBS, if CPUID.1 has the debug store */
};

/* AMD's kinds. */
enum pmu_amd_kind { PMU_AMD_LEGACY, PMU_AMD_EXTENDED, PMU_AMD_PERFMON_V2, PMU_AMD_KINDS };
const struct pmu_kind *pmu_kind_of_amd(enum pmu_amd_kind kind);

/* The kind of an architectural version (CPUID.0AH:EAX[7:0]), the newest that is known for one that
 * is newer; 0: no PMU, all fields 0. */
const struct pmu_kind *pmu_kind_of_version(unsigned version);
#define PMU_VERSION_KNOWN 6

/* The address of register n. */
static inline uint32_t pmu_bank_msr(const struct pmu_bank *bank, unsigned n)
{
    return bank->base + n * bank->stride;
}

/* What starts the counters of mask, select being what the select register is to hold that starts
 * its counter, and what stops all of them. */
static inline uint64_t pmu_kind_on(const struct pmu_kind *kind, uint64_t mask, uint64_t select)
{
    return kind->enable_bit != 0 ? select | kind->enable_bit : mask;
}

static inline uint64_t pmu_kind_off(const struct pmu_kind *kind, uint64_t select)
{
    return kind->enable_bit != 0 ? select & ~kind->enable_bit : 0;
}

#endif
