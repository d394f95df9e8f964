/*
 * Instruction-based sampling: AMD's processors tag every n-th fetch, or every n-th operation,
 * follow it, and tell in registers all that befell it. Where Intel's PEBS takes what the counted
 * event hits, this takes whatever comes, and its address is exact. APM vol. 2 "Instruction-Based
 * Sampling"; the fields that vary: each family's PPR.
 */
#ifndef PMULAB_IBS_H
#define PMULAB_IBS_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/pmu.h"

struct ibs_info {
    bool fetch, op;  /* fetches, operations can be sampled */
    bool ops;        /* operations are counted to choose one, not only cycles */
    bool target;     /* a branch's target is told */
    bool current;    /* the op counter can be written */
    uint64_t op_max; /* the longest period of operations */
    unsigned lvt;    /* the extended LVT entry that interrupts */
    uint32_t leaf;   /* CPUID.8000001BH:EAX */
    /* Why not, naming what says so; "" when present. */
    char no_fetch[PMU_REASON], no_op[PMU_REASON];
};

#define IBS_PERIOD_STEP 16 /* periods are multiples of it */
#define IBS_FETCH_MAX   0xffff0

/* A fetch, as its sample tells it. */
struct ibs_fetch {
    bool completed; /* instructions came of it; if not, latency and misses say little */
    uint64_t linear, physical;
    bool physical_valid;
    unsigned latency; /* core cycles from its start to its end */
    bool ic_miss, l1_tlb_miss, l2_tlb_miss;
};

/* An operation. */
struct ibs_op {
    uint64_t rip; /* of its instruction; not valid: 0 */
    bool rip_valid;
    unsigned to_retire;   /* core cycles from tagging to retirement, */
    unsigned complete_to; /* and from completion to retirement */
    bool branch, taken, mispredicted, is_return;
    bool fused;      /* with the compare before it, at which rip stands */
    uint64_t target; /* of a branch, where ibs_info()->target: where it went */
    bool load, store, dc_miss, l2_miss;
    bool linear_valid, physical_valid;
    uint64_t linear, physical; /* of the load's or store's first byte */
    unsigned width;            /* bytes; 0: not told */
    unsigned dc_miss_latency;  /* core cycles, of a load that missed the data cache */
    unsigned source;           /* IbsOpData2.DataSrc, where the data came from; 0: not told */
};

/* Finds out what this processor has, and sets the LVT entry up; pmu_init_cpu() calls it. Never
 * faults. */
void ibs_init(void);
/* Of the processor that asks. */
const struct ibs_info *ibs_info(void);
/* Off. */
void ibs_reset(void);

/* Called in the interrupt, for each sample. The next is tagged so many fetches (or operations)
 * after it has returned. */
typedef void ibs_fetch_handler(const struct ibs_fetch *sample);
typedef void ibs_op_handler(const struct ibs_op *sample);

/* Runs body(arg) while every period-th fetch is sampled. random: the counter starts anew with its
 * lower four bits at random, so that no loop's length divides the period for good. */
void ibs_sample_fetches(uint64_t period, bool random, ibs_fetch_handler *handler, window_body body,
                        uint64_t arg);
/* Every period-th operation, or in each period-th cycle one (ibs_info()->ops: false). Where the
 * counter can be written it starts with its lower seven bits at random: that is software's work
 * (APM vol. 2 "IBS Op Sampling"). */
void ibs_sample_ops(uint64_t period, bool by_cycles, ibs_op_handler *handler, window_body body,
                    uint64_t arg);

/* Interrupts that came without a sample, since ibs_reset(): one may come late, after all is off. */
unsigned ibs_empty_count(void);

#endif
