/*
 * Precise event based sampling: when a counter enabled for PEBS has overflowed, its next event
 * writes a record of the processor's state to memory and reloads the counter. SDM vol. 3
 * "Processor Event Based Sampling (PEBS)" and its enhancements by generation; "Load Latency
 * Performance Monitoring Facility"; "PEBS Record Format". Wants a debug store with a PEBS buffer
 * (pmu/ds.h).
 */
#ifndef PMULAB_PEBS_H
#define PMULAB_PEBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Record formats: pure, also compiled for the host's unit tests ---- */

/* The fields in the order in which formats 0 to 3 have them, one quadword each. */
enum pebs_field {
    PEBS_RFLAGS,
    PEBS_RIP, /* of the next instruction */
    PEBS_RAX,
    PEBS_RBX,
    PEBS_RCX,
    PEBS_RDX,
    PEBS_RSI,
    PEBS_RDI,
    PEBS_RBP,
    PEBS_RSP,
    PEBS_R8,
    PEBS_R9,
    PEBS_R10,
    PEBS_R11,
    PEBS_R12,
    PEBS_R13,
    PEBS_R14,
    PEBS_R15,
    PEBS_STATUS, /* IA32_PERF_GLOBAL_STATUS; from format 3 on the counters this record is for */
    PEBS_DATA_ADDRESS,
    PEBS_DATA_SOURCE,
    PEBS_LATENCY,     /* core cycles */
    PEBS_EVENTING_IP, /* of the instruction that made the event */
    PEBS_TX,
    PEBS_TSC,
    PEBS_CACHE_LATENCY,  /* core cycles; from format 5 on, of which PEBS_LATENCY is the whole */
    PEBS_RETIRE_LATENCY, /* core cycles since the instruction before retired; from format 5 on */
    PEBS_N_FIELDS,
};

struct pebs_record {
    uint64_t value[PEBS_N_FIELDS];
    uint32_t present; /* bit n: field n is in the record */
    /* Of the adaptive formats: bytes, and the groups as in MSR_PEBS_DATA_CFG[31:0]; those that are
     * no fields lie in the buffer still, until it is drained. NULL: the record has them not. */
    unsigned size;
    uint32_t groups;
    const uint8_t *xmms, *branches, *counters;
    unsigned n_branches;
};

#define PEBS_XMMS      16
#define PEBS_XMM_BYTES 16

/* Formats whose records say themselves what is in them. From 5 on there are reset values of 32
 * general counters, two latencies of a load and the retire latency; 6 can hold counters. */
#define PEBS_FMT_ADAPTIVE    4
#define PEBS_FMT_GOLDEN_COVE 5
#define PEBS_FMT_LION_COVE   6

static inline bool pebs_has(const struct pebs_record *r, enum pebs_field f)
{
    return r->present >> f & 1;
}

/* The field as the manual names it: "R/EFLAGS", "Data Linear Address". */
const char *pebs_field_name(enum pebs_field f);

static inline bool pebs_format_is_adaptive(unsigned format)
{
    return format >= PEBS_FMT_ADAPTIVE && format <= PEBS_FMT_LION_COVE;
}

/* Where the reset value of a counter (its bit in IA32_PERF_GLOBAL_CTRL) is among those of the debug
 * store: general counters first, the fixed ones behind 8 of them, from format 5 on behind 32. */
unsigned pebs_reset_index(unsigned format, unsigned counter);

/* Bytes of a record of IA32_PERF_CAPABILITIES.PEBS_FMT = format; data_cfg (MSR_PEBS_DATA_CFG) is of
 * meaning in the adaptive formats only. 0: the format is not known. */
unsigned pebs_format_size(unsigned format, uint64_t data_cfg);

/* Reads one record of at most limit bytes. Returns how long it is, 0 when it does not fit into
 * limit, or says of itself what cannot be. */
unsigned pebs_decode(unsigned format, const void *raw, size_t limit, struct pebs_record *out);

/* Branch n of the record, 0 the newest: what its FROM, TO and INFO registers held. */
struct pebs_branch {
    uint64_t from, to, info;
};
bool pebs_branch(const struct pebs_record *r, unsigned n, struct pebs_branch *out);

/* The value of a counter (its bit in IA32_PERF_GLOBAL_CTRL) when the record was written; false when
 * the record does not hold it. */
bool pebs_counter_value(const struct pebs_record *r, unsigned counter, uint64_t *value);

/* ---- Which events are precise, and on which counters ---- */

struct pebs_event {
    const char *name;
    uint16_t code;     /* umask << 8 | event */
    uint32_t counters; /* general counters on which it is precise */
};

/* How PEBS_DATA_SOURCE is encoded. */
enum pebs_sources {
    PEBS_SOURCES_CORE,
    PEBS_SOURCES_ATOM,
    PEBS_SOURCES_LION_COVE,
    PEBS_N_SOURCES,
};

/* The precise events that the experiments use, of a family 6 processor: loads retired (all
 * instructions retired, where there is no such event), instructions retired, and load latency
 * (counters 0: none). */
struct pebs_generation {
    const char *name;
    struct pebs_event loads, instructions, latency;
    /* The counter (its bit in IA32_PERF_GLOBAL_CTRL) that samples instructions with a precise
     * distribution, the fixed one by its own event; 0: none. */
    uint64_t distribution;
    /* umask << 8 | event that must count on IA32_PMC0 for the latency event to work; 0: none. */
    uint16_t latency_aux;
    enum pebs_sources sources;
};
/* atom: which of the two kinds of cores of a hybrid processor it is. NULL when the model is not in
 * the table. */
const struct pebs_generation *pebs_find_generation(unsigned family, unsigned model, bool atom);

/* Where a load was served, by PEBS_DATA_SOURCE. */
enum pebs_level { PEBS_L1, PEBS_L2, PEBS_LLC, PEBS_MEMORY, PEBS_OTHER };
enum pebs_level pebs_level_of(enum pebs_sources sources, uint64_t data_source);
const char *pebs_level_name(enum pebs_level level);

/* ---- This processor ---- */

/* Chooses what its records are to hold; pmu_init_cpu() calls it. */
void pebs_init_cpu(void);
/* Sampling off, records as chosen. */
void pebs_reset(void);

/* The generation of this processor; NULL when it has no PEBS or the driver knows no precise event
 * of its model. *why (why may be NULL) then names the bit or the model, and is NULL otherwise. */
const struct pebs_generation *pebs_generation(const char **why);
unsigned pebs_format(void);
/* Bytes of the records that pebs_enable() makes. */
unsigned pebs_record_size(void);

/* Why there are neither extended PEBS (all counters, fixed ones too, and all events) nor adaptive
 * records, which PEBS_BASELINE announces together, naming the bit; NULL when there are. */
const char *pebs_no_baseline(void);

/* Why records do not tell the retire latency, naming the bit; NULL when they do. */
const char *pebs_no_retire_latency(void);

/* Chooses what the records are to hold, until pebs_reset(): MSR_PEBS_DATA_CFG. False, and as they
 * were, when the register does not hold that. PEBS must be off; pebs_record_size() follows, so the
 * debug store must be laid out behind it. */
bool pebs_set_groups(uint64_t groups);

/* IA32_PEBS_ENABLE takes this bit. PEBS must be off. */
bool pebs_enable_takes(uint64_t bit);

/* General counters that can sample this event: those of the table that the processor also lets be
 * enabled in IA32_PEBS_ENABLE. PEBS must be off. */
uint32_t pebs_counters(const struct pebs_event *event);
/* Why a record holds no general registers, nor RIP and RFLAGS, naming the bit; NULL when it does.
 */
const char *pebs_no_registers(void);
/* Why load latency cannot be sampled, naming the bit; NULL when it can. PEBS must be off. */
const char *pebs_no_latency(void);

/*
 * Enables PEBS on a counter: programs its select register for the event in all rings without INT
 * (the interrupt comes from the buffer's threshold), writes the counter and the reset value of the
 * debug store so that it overflows after period events, and sets its bits of IA32_PEBS_ENABLE. The
 * record is written by an event after the overflow. The counter runs when its window opens. A fixed
 * counter (with PEBS_BASELINE) has its own event, and event is NULL. False when the processor
 * refuses a register.
 */
bool pebs_enable(unsigned counter, const struct pebs_event *event, uint64_t period);
/* The counters that must run with it, as bits of IA32_PERF_GLOBAL_CTRL: itself, and for load
 * latency one that pebs_enable() has programmed beside it on some processors. */
uint64_t pebs_mask(unsigned counter, const struct pebs_event *event);
/* All counters off. */
void pebs_disable(void);

/* Loads as slow as this many core cycles or slower are sampled; 4 at least (the manual's register
 * holds one less: "latencies greater than this value are counted"). */
bool pebs_set_latency(unsigned cycles);

/* Records between the buffer's base and its index; and one of them. */
unsigned pebs_count(void);
bool pebs_read(unsigned n, struct pebs_record *out);

/* Prints n decoded records with all their fields, as '#' lines. */
void pebs_dump_records(const char *title, const struct pebs_record *records, unsigned n);

#endif
