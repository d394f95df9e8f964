/* Inside sim/pmu: the state of one PMU and what its files offer each other. */
#ifndef PMUSIM_PMU_INTERNAL_H
#define PMUSIM_PMU_INTERNAL_H

#include "sim/pmu/kind.h"
#include "sim/pmu/pmu.h"
#include "x86/pmu.h"

#define PMU_MAX_GENERAL PROFILE_MAX_GENERAL
#define PMU_MAX_LBR     64 /* the most that CPUID.1CH:EAX[7:0] can say */
#define LBR_LOGS        4  /* general counters that CPUID.1CH:ECX[19:16] can name */
#define NEVER           UINT64_MAX
#define SLOTS_COUNTER   3 /* IA32_FIXED_CTR3 */
#define METRICS_FIELDS  8

/* One counter, general or fixed. Its value is `value` plus what its source made since the last
 * sync, when `source` was read. */
struct counter {
    uint64_t value;  /* within the counter's width */
    uint64_t source; /* the source's running count at the last sync */
    bool counting;   /* the condition to count held at the last sync */
    /* What it counts and where. */
    enum cpu_event event, and_event; /* the sum of both; EV_ABSENT: the first alone */
    enum event_unit unit;
    bool os, usr;
    bool interrupt;    /* overflow asks for a PMI */
    bool precise;      /* the event may be used with PEBS */
    bool adaptive;     /* its PEBS records have the groups of MSR_PEBS_DATA_CFG */
    bool latency;      /* the load latency event: only loads slower than MSR_PEBS_LD_LAT count */
    uint64_t made;     /* events counted ever, for PEBS: the next one after an overflow */
    uint64_t armed_at; /* made when it overflowed */
    /* Counting of cycles by a condition (E, INV, CMASK): "Performance Event Select Registers". */
    bool by_cycle, edge, invert;
    bool equal;
    unsigned cmask;
    uint64_t slots;      /* unhalted slots of the enabled rings at the last sync */
    uint64_t held_slots; /* of those in which a level event held, likewise */
    uint64_t cycle;      /* index of the core cycle being filled */
    uint64_t in_cycle;   /* events in it so far */
    bool cycle_enabled;  /* some slot of it ran in an enabled ring */
    bool asserted;       /* the condition in the cycle before, for E */
};

struct lbr_entry {
    uint64_t from, to, info;
};

#define NEAR_REL_CALL_BYTES 5 /* E8H and 32 bits of distance */

/* Last branch records of one kind: model-specific or architectural. */
struct lbr_kind {
    void (*reset)(struct pmu *pmu);
    bool (*enabled)(const struct pmu *pmu); /* recording is on and not frozen */
    void (*stop)(struct pmu *pmu); /* as #DB and a freeze before version 4 do; the records stay */
    void (*record)(struct pmu *pmu, enum branch_kind kind, uint64_t from, uint64_t to,
                   unsigned cpl_from, bool mispredicted);
    /* An interrupt or exception is about to be delivered: MSR_LER_*. */
    void (*last_exception)(struct pmu *pmu);
};
/* lbr.c, lbr_arch.c, lbr_amd.c */
extern const struct lbr_kind lbr_model_specific, lbr_architectural, lbr_amd;

struct pmu {
    struct cpu *cpu;
    const struct profile *profile;
    const struct pmu_kind *kind;
    const struct lbr_kind *lbr_kind;
    uint64_t counters; /* bitmap of those that exist, as in IA32_PERF_GLOBAL_CTRL */

    struct counter general[PMU_MAX_GENERAL];
    struct counter fixed[PROFILE_MAX_FIXED];
    uint64_t perfevtsel[PMU_MAX_GENERAL];
    uint64_t fixed_ctr_ctrl, global_ctrl, global_status;
    uint64_t general_cfg_b[PMU_MAX_GENERAL], general_cfg_c[PMU_MAX_GENERAL];
    uint64_t fixed_cfg_b[PROFILE_MAX_FIXED], fixed_cfg_c[PROFILE_MAX_FIXED];
    uint64_t misc_enable, debugctl;
    uint64_t offcore_rsp[2];
    uint8_t noted[0x100000 / 8]; /* encodings that count nothing and were named */
    uint64_t counting;           /* bitmap of the counters that count now, as in GLOBAL_CTRL */
    uint64_t deadline;           /* value of cpu->now before which no counter can overflow */
    uint64_t pmi_due; /* value of cpu->now at which the PMI reaches the local APIC; NEVER: none */

    /* AMD's counter of retired instructions: its value, and of what total it was that. */
    struct {
        bool on;
        uint64_t value, since;
    } retired;

    /* PERF_METRICS: the slots of each field, since it was written. */
    struct {
        uint64_t part[METRICS_FIELDS], source[METRICS_FIELDS]; /* as of a counter */
        bool counting;
        bool torn; /* from IA32_FIXED_CTR3: the fields are undefined */
    } metrics;

    /* What is put back when SMM ends: IA32_LBR_CTL.LBREn, and by DEBUGCTL.FREEZE_WHILE_SMM. */
    struct {
        uint64_t lbren;
        bool frozen;
        uint64_t global_ctrl, debugctl;
    } smm;

    /* Last branch records: a ring, whose newest is lbr[lbr_tos]. */
    struct lbr_entry lbr[PMU_MAX_LBR];
    uint64_t lbr_depth; /* how many are used: IA32_LBR_DEPTH */
    uint64_t lbr_tos, lbr_select, lbr_ctl;
    uint64_t lbr_ctl_bits, lbr_info_bits; /* those that CPUID leaf 1CH announces */
    struct lbr_entry last;                /* the last branch, for the last exception record */
    struct lbr_entry ler;
    uint64_t lbr_cycle; /* core cycle of the last record, for the cycle count of LBR_INFO */
    bool lbr_timed;     /* architectural: there was one since recording began */
    /* What those counters had counted at the last record, and at the one before. */
    uint64_t lbr_logged[LBR_LOGS], lbr_logged_before[LBR_LOGS];
    bool lbr_open; /* the last record's instruction has not been counted yet */

    /* Debug store. */
    uint64_t rip;        /* of the instruction being executed, in careful mode: EventingIP */
    uint64_t retired_at; /* value of cpu->now when the one before it retired, likewise */
    uint64_t ds_area, pebs_enable, pebs_ld_lat, pebs_data_cfg;
    uint64_t pebs_armed; /* counters that overflowed and wait for their next event */
    bool pebs_pmi_owed;  /* errata.c: the threshold was reached, the PMI comes at the next event */

    uint64_t dbg_extn_cfg; /* AMD's, as lbr_amd.c has it */
    /* Instruction-based sampling, ibs.c: the registers without their counts; the counts, and the
     * sources' when they were right. */
    struct ibs {
        uint64_t fetch_ctl, fetch_lin_ad, fetch_phys_ad, fetch_ctl_extd;
        uint64_t op_ctl, op_rip, op_data, op_data2, op_data3, dc_lin_ad, dc_phys_ad, br_target;
        uint64_t fetch_count, fetch_at, op_count, op_at;
        bool fetch_tagged, op_tagged;
        uint64_t fetch_skip; /* fetches up to the tagged one */
        uint64_t at_tag[EV_COUNT];
        uint64_t random;
    } ibs;

    uint8_t reset_events;   /* errata.c: what of the sequence was written */
    uint8_t reset_counters; /* those that were on with a part of it */
};

static inline uint64_t bits(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (1ULL << n) - 1;
}

/* ---- facilities.c: what this processor has ---- */

/* Bitmap of the counters, as in IA32_PERF_GLOBAL_CTRL. */
uint64_t existing_counters(const struct pmu_kind *kind, const struct profile *p);

there always, has_lbr, has_arch_lbr, has_ds, has_pebs, has_load_latency;
/* The i-th general counter may be logged in branch records: CPUID.1CH:ECX[19:16]. */
there has_lbr_log;
/* PEBS_BASELINE: adaptive records, PEBS on every counter with every event. */
there has_extended_pebs;

/* A word of one of the profile's CPUID leaves, sub-leaf 0; 0 without the leaf. */
enum cpuid_word { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX };
uint32_t profile_word(const struct profile *p, uint32_t leaf, enum cpuid_word word);
uint32_t cpuid_word(const struct pmu *pmu, uint32_t leaf, enum cpuid_word word);
/* A word of leaf 23H; 0 where the leaf or the sub-leaf is not announced. */
uint32_t extended_word(const struct pmu *pmu, unsigned subleaf, enum cpuid_word word);

static inline bool has_general(const struct pmu *pmu, unsigned i)
{
    return pmu->counters >> i & 1;
}

static inline bool has_fixed(const struct pmu *pmu, unsigned i)
{
    return pmu->counters >> (GLOBAL_FIXED_SHIFT + i) & 1;
}

/* The bits that a control register has here. */
uint64_t perfevtsel_mask(const struct pmu *pmu);
uint64_t fixed_ctr_ctrl_mask(const struct pmu *pmu);
uint64_t global_ctrl_mask(const struct pmu *pmu);
uint64_t global_reset_mask(const struct pmu *pmu);
uint64_t global_set_mask(const struct pmu *pmu);
uint64_t debugctl_mask(const struct pmu *pmu);
uint64_t pebs_enable_mask(const struct pmu *pmu);
uint64_t pebs_data_cfg_mask(const struct pmu *pmu);
#define DATA_CFG_GENERAL_SHIFT 32 /* of the counters' bits in it */
#define DATA_CFG_FIXED_SHIFT   48

/* ---- errata.c: where this processor is not as the manual has it ---- */

/* After a change of an event select or of IA32_PERF_GLOBAL_CTRL. */
void errata_selects_changed(struct pmu *pmu);
/* General counter i counts core cycles, whatever was selected. */
bool errata_counts_clocks(const struct pmu *pmu, unsigned i);
bool errata_freeze_fails(const struct pmu *pmu);
bool errata_pebs_fails(const struct pmu *pmu);
/* A PEBS event has reached the threshold, or (reached false) has not: does the PMI come now? */
bool errata_pebs_pmi(struct pmu *pmu, bool reached);
void errata_pebs_bit(struct pmu *pmu, unsigned bit);
bool errata_memory_info_lacks(const struct pmu *pmu);

/* ---- counters.c ---- */

/* Counters by their bit in IA32_PERF_GLOBAL_CTRL. */
struct counter *counter_at(struct pmu *pmu, unsigned bit);
unsigned counter_width(const struct pmu *pmu, unsigned bit);
void counters_sync(struct pmu *pmu);      /* brings values up to date, finds overflows */
void counters_configure(struct pmu *pmu); /* after any change of a control register; sync first */
/* Computes pmu->deadline anew. It stays true as time goes on, so it is only needed after an update,
 * a change of a counter's value or of its configuration. */
void counters_reschedule(struct pmu *pmu);
/* The total of the rings in which a counter counts. */
uint64_t ring_total(const struct pmu *pmu, const struct counter *c, enum cpu_event e);

/* ---- msr.c ---- */

/* The value of general counter i, and a new one, which fits, for any counter. */
uint64_t read_pmc(struct pmu *pmu, unsigned i);
bool set_counter(struct pmu *pmu, struct counter *c, uint64_t value);

/* ---- reload.c: bitmaps of counters are as in IA32_PERF_GLOBAL_CTRL ---- */

uint64_t reloadable_counters(const struct pmu *pmu);
/* The bits that CFG_B and CFG_C have. */
uint64_t reload_causes_mask(const struct pmu *pmu);
uint64_t reload_value_mask(const struct pmu *pmu);
bool reloads_itself(const struct pmu *pmu, unsigned bit);
/* These counters have overflowed: reloads those of which they are causes. Their deadlines follow:
 * whoever finds an overflow is not before the deadline of before, and makes a new one. */
void reload_counters(struct pmu *pmu, uint64_t overflowed);

/* ---- metrics.c: PERF_METRICS., as the counters' functions of the same names need it ---- */

uint64_t metrics_mask(const struct pmu *pmu);
uint64_t metrics_read(const struct pmu *pmu);
void metrics_write(struct pmu *pmu, uint64_t value);
/* IA32_FIXED_CTR3 was written, or it overflowed. */
void metrics_tear(struct pmu *pmu);
void metrics_sync(struct pmu *pmu);
void metrics_configure(struct pmu *pmu);
/* The value of cpu->now before which no field can overflow. */
uint64_t metrics_deadline(const struct pmu *pmu);

/* ---- counters.c ---- */

uint64_t counter_source(const struct pmu *pmu, const struct counter *c);
/* What the counter has counted ever, now: for a branch, which comes between two updates. What
 * counts by a condition (E, CMASK) is as it was at the last one. */
uint64_t counter_made(const struct pmu *pmu, const struct counter *c);
/* Careful mode and branch reports, as far as the PMU needs them: after any change. */
void pmu_attend(struct pmu *pmu);
/* Asks for a PMI (after the profile's skid). */
void pmi_request(struct pmu *pmu, const char *why);
void pmi_request_at_once(struct pmu *pmu, const char *why);
void pmu_note(struct pmu *pmu, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- lbr.c, lbr_arch.c, bts.c, pebs.c, pebs_record.c ---- */

/* The i-th newest record. */
struct lbr_entry *lbr_newest(struct pmu *pmu, unsigned i);
/* IA32_LBR_DEPTH; false: not a depth of this processor. */
bool lbr_set_depth(struct pmu *pmu, uint64_t depth);
void lbr_set_ctl(struct pmu *pmu, uint64_t ctl);
/* Logs in the newest record what its instruction has made since. */
void lbr_complete_log(struct pmu *pmu);
/* The address in a FROM register, without the flags that some formats keep in its upper bits. */
uint64_t lbr_from_address(const struct profile *p, uint64_t from);
uint64_t lbr_to_address(const struct profile *p, uint64_t to);
uint64_t lbr_select_mask(const struct pmu *pmu);

/* DEBUGCTL asks for branch records in memory. */
bool bts_enabled(const struct pmu *pmu);
void bts_record(struct pmu *pmu, uint64_t from, uint64_t to, bool mispredicted);

/* The counter of that bit overflowed: with PEBS on it, its next event writes a record. */
void pebs_overflow(struct pmu *pmu, unsigned bit);
/* What a record that is being written shows of a counter: its value, after its reload. */
uint64_t pebs_counter_after(struct pmu *pmu, unsigned bit);
/* Some counter writes its record for the event that overflows, not for the next one: each
 * instruction's address must be known beforehand. */
bool pebs_is_distributed(const struct pmu *pmu);
/* After counters_sync, in careful mode: writes the records that are due. */
void pebs_update(struct pmu *pmu);
/* Lays out a record in the profile's format: of the event of the counter of that bit; applicable:
 * all the counters whose events it is for. Returns its size in bytes, at most PEBS_RECORD_MAX. */
#define PEBS_RECORD_MAX 7168 /* 256 branch records are 6144 of them */
unsigned pebs_record_fill(struct pmu *pmu, unsigned bit, uint64_t applicable, uint8_t *record);

/* ---- lbr_amd.c, ibs.c: AMD's, for its table of registers ---- */

there has_amd_lbr_stack, has_ibs, has_ibs_fetch, has_ibs_op, has_ibs_br_target, has_ibs_fetch_extd;
uint64_t amd_dbg_extn_cfg_mask(const struct pmu *pmu);
uint64_t amd_lbr_select_mask(const struct pmu *pmu);
bool amd_lbr_write_cfg(struct pmu *pmu, unsigned i, uint64_t value);
uint64_t amd_lbr_read_from(struct pmu *pmu, unsigned i);
uint64_t amd_lbr_read_to(struct pmu *pmu, unsigned i);
bool amd_lbr_write_from(struct pmu *pmu, unsigned i, uint64_t value);
bool amd_lbr_write_to(struct pmu *pmu, unsigned i, uint64_t value);
uint64_t ibs_read_fetch_ctl(struct pmu *pmu, unsigned i);
bool ibs_write_fetch_ctl(struct pmu *pmu, unsigned i, uint64_t value);
uint64_t ibs_read_op_ctl(struct pmu *pmu, unsigned i);
bool ibs_write_op_ctl(struct pmu *pmu, unsigned i, uint64_t value);
uint64_t ibs_read_ctl(struct pmu *pmu, unsigned i);
/* A fetch or an op is tagged: each instruction must be looked at. */
bool ibs_tagged(const struct pmu *pmu);
/* The value of cpu->now before which nothing can be tagged. */
uint64_t ibs_deadline(const struct pmu *pmu);
void ibs_update(struct pmu *pmu);

#endif
