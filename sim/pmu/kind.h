/*
 * Kinds of PMU: what the manual fixes for every processor of a kind. What differs from one
 * processor to the next (how many counters and how wide, which branch records and samples) stands
 * in its profile; facilities.c brings both together.
 *
 * The driver (pmu/) has a table of its own. Each is written from the manual, so that either can
 * catch the other.
 */
#ifndef PMUSIM_PMU_KIND_H
#define PMUSIM_PMU_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmu;
struct profile;

/* Whether the i-th of something exists; where there is only one, i is 0. */
typedef bool there(const struct pmu *pmu, unsigned i);

/* One MSR, or several that stand in a row: who has it, what it takes, what it does. */
struct msr_rule {
    uint32_t first;
    unsigned stride; /* from one to the next */
    unsigned most;   /* so many numbers are the PMU's, whether this processor has them or not */
    there *exists;   /* a number that does not is #GP */
    size_t value;    /* where in struct pmu it is kept, a quadword each, if there is no read */
    uint64_t (*read)(struct pmu *pmu, unsigned i);
    uint64_t (*takes)(const struct pmu *pmu); /* bits that a write may set; NULL: read-only */
    bool (*write)(struct pmu *pmu, unsigned i, uint64_t value); /* false: #GP; NULL: it is kept */
    bool steers; /* the counters go on under a new rule after a write */
};

/* RDPMC: the type in ECX[31:16], and the registers that ECX[15:0] numbers. */
struct rdpmc_rule {
    uint32_t type;
    unsigned most;
    there *exists;
    uint64_t (*read)(struct pmu *pmu, unsigned i);
};

struct pmu_kind {
    bool general;      /* general counters */
    bool fixed;        /* fixed counters, as many as CPUID.0AH:EDX says */
    bool fixed_bitmap; /* ... and those that CPUID.0AH:ECX names */
    bool any_thread;   /* selects may have AnyThread */
    enum {
        ENABLE_EACH,  /* by its own select alone */
        ENABLE_GLOBAL /* and by its bit of IA32_PERF_GLOBAL_CTRL */
    } enable;
    bool status;          /* a status register, and one to reset it */
    uint64_t status_bits; /* its bits besides the counters', where the processor has the cause */
    bool status_set;      /* a register that sets its bits */
    bool inuse;           /* one that tells what is programmed */
    enum {
        FREEZE_NOTHING,
        FREEZE_ENABLES, /* a PMI clears IA32_PERF_GLOBAL_CTRL and DEBUGCTL.LBR */
        FREEZE_STATUS   /* a PMI sets CTR_FRZ and LBR_FRZ */
    } freeze;
    bool extended;       /* AMD's counters at C001_0200H on */
    uint64_t event_high; /* bits of a select above 7:0 that belong to the event; then the other
                            fields above bit 31 are none of Intel's */
    bool strided;        /* the counters and selects stand at 1900H too */
    bool masks_lvt;      /* the local APIC masks the LVT entry when it delivers a PMI */
    const struct msr_rule *msrs;    /* the last has most = 0 */
    const struct rdpmc_rule *rdpmc; /* likewise */
};

/* The kind of a profile's PMU. */
const struct pmu_kind *pmu_kind(const struct profile *p);

/* The kind of its last branch records. */
struct lbr_kind;
const struct lbr_kind *lbr_kind(const struct profile *p);

/* Intel's registers, msr.c. */
extern const struct msr_rule intel_msrs[];
extern const struct rdpmc_rule intel_rdpmc[];

/* AMD's, msr_amd.c. */
extern const struct msr_rule amd_msrs[];
extern const struct rdpmc_rule amd_rdpmc[];

#endif
