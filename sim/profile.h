/* A profile: all that makes one simulated processor differ from another. Text files in
 * sim/profiles/. */
#ifndef PMUSIM_PROFILE_H
#define PMUSIM_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What the simulated core can count. A profile's events map encodings to these; EV_SLOTS and the
 * clocks derived from it count time while the core is not halted. */
enum cpu_event {
    EV_ABSENT,       /* an encoding the machine lacks: counts 0 */
    EV_INSN,         /* instructions retired; a REP string instruction is one */
    EV_SLOTS,        /* issue slots of unhalted time: one core cycle is retire_width of them */
    EV_UOPS,         /* micro-operations retired */
    EV_BRANCH,       /* branch instructions retired, taken or not */
    EV_BRANCH_TAKEN, /* of those, taken */
    EV_BRANCH_COND,  /* of those, conditional */
    EV_BRANCH_CALL,  /* near calls */
    EV_BRANCH_RET,   /* near returns */
    EV_BRANCH_FAR,   /* far branches, interrupts, exceptions, IRET, SYSCALL... */
    EV_MISPREDICT,   /* mispredicted branch instructions retired */
    EV_LOAD,         /* loads retired */
    EV_STORE,        /* stores retired */
    EV_L1_HIT,       /* loads that hit L1D */
    EV_L1_MISS,
    EV_L2_HIT,
    EV_L2_MISS,
    EV_LLC_REF, /* requests that reach the last level cache */
    EV_LLC_HIT,
    EV_LLC_MISS,
    EV_INTERRUPT, /* maskable interrupts taken */
    EV_DELIVERED, /* interrupts and exceptions, of any kind */
    /* Slots of unhalted time in which a condition holds: cpu_total() works out the running ones. */
    EV_SLOTS_MASKED,  /* RFLAGS.IF is 0 */
    EV_SLOTS_WAITING, /* ... while the local APIC has an interrupt for the processor */
    EV_LBR_INSERT,    /* architectural last branch records written */
    /* Where the slots of EV_SLOTS went: each is in one of these four (top-down, level 1) ... */
    EV_SLOTS_RETIRING, /* what is in none of the next three: cpu_total() works it out */
    EV_SLOTS_BAD_SPEC, /* lost by mispredicted branches, which are all that level 2 knows of it */
    EV_SLOTS_FRONTEND, /* no instruction was there to be taken */
    EV_SLOTS_BACKEND,  /* one was there and had to wait */
    /* ... and some of those in one of these as well (level 2). */
    EV_SLOTS_HEAVY,         /* of retiring: microcode, and operations of more than one slot */
    EV_SLOTS_FETCH_LATENCY, /* of front end: waiting for the bytes of an instruction */
    EV_SLOTS_MEMORY,        /* of back end: waiting for memory */
    EV_COUNT
};
/* How a counter derives from its event's total: clocks are slots scaled by a ratio. */
enum event_unit {
    UNIT_EVENT,      /* the total itself */
    UNIT_CORE_CYCLE, /* slots / retire_width */
    UNIT_TSC_CYCLE,  /* EV_SLOTS scaled to the TSC's frequency */
    UNIT_REF_CYCLE,  /* EV_SLOTS scaled to the profile's ref_hz (event 3CH/01H) */
};

struct profile_event {
    uint16_t event; /* 8 bits of Intel's, 12 of AMD's */
    uint8_t umask, umask2;
    enum cpu_event what, and_what; /* the sum of both; EV_ABSENT: the first alone */
    enum event_unit unit;
    bool pebs;         /* precise: may be used with PEBS */
    bool load_latency; /* the PEBS load-latency event */
    uint32_t counters; /* bitmap of the general counters it may use; 0: all */
    char name[48];     /* SDM name, "INST_RETIRED.ANY_P" */
};

/* One that the real processor has and the model does not count. */
struct profile_uncounted {
    uint16_t event;
    uint8_t umask, umask2;
    char name[48];
};

struct cpuid_leaf {
    uint32_t leaf, subleaf;
    bool any_subleaf; /* the leaf does not look at ECX */
    uint32_t eax, ebx, ecx, edx;
};

struct profile_cache {
    uint32_t size, ways, line; /* bytes; 0 size: absent */
    uint32_t latency;          /* load-to-use, core cycles */
};

#define MAX_MISSES            64
#define PROFILE_MAX_EVENTS    96
#define PROFILE_MAX_UNCOUNTED 256
#define PROFILE_MAX_CPUID     64
#define PROFILE_MAX_GENERAL   10 /* as many have an address: SDM vol. 4, IA32_PMC0 to IA32_PMC9 */
#define PROFILE_MAX_FIXED     16
#define PROFILE_MAX_KINDS     4
#define PROFILE_MAX_MTRR      10 /* as many have an address: IA32_MTRR_PHYSBASE0 to 9 */
#define PROFILE_MAX_BANKS     32 /* of machine checks, likewise: SDM vol. 4, IA32_MC0_CTL to 28 */
#define PROFILE_MAX_ORDER     8
#define PROFILE_KIND_LENGTH   12 /* with the NUL */
#define PROFILE_KIND_LIST     (PROFILE_MAX_KINDS * (PROFILE_KIND_LENGTH + 2))

/* IA32_PERF_CAPABILITIES.LBR_FMT of architectural last branch records. QEMU's and
 * KVM's patches for them have it (lbr-fmt=0x3f). */
#define LBR_FMT_ARCHITECTURAL  0x3f
#define LBR_FMT_MODEL_SPECIFIC 6 /* the greatest of the others */

#define CPUID_LEAF_ADDRESS 0x80000008 /* EAX[7:0]: MAXPHYADDR */

/* The facts of one kind of core, and of the machine that it is in. */
struct profile {
    char name[32];
    char description[128];

    /* The kinds of core of the machine (none: there is but one), which of them this is, and of
     * which each processor is. */
    unsigned kind, n_kinds;
    char kinds[PROFILE_MAX_KINDS][PROFILE_KIND_LENGTH];
    char processors[64]; /* as given; order follows from it */
    unsigned n_order;
    uint8_t order[PROFILE_MAX_ORDER];

    unsigned n_cpuid;
    struct cpuid_leaf cpuid[PROFILE_MAX_CPUID];
    uint32_t microcode; /* revision of the loaded update; 0: none is */
    bool amd;           /* by the vendor string of leaf 0. After profile_finish() */

    bool smi_count;             /* MSR_SMI_COUNT exists */
    bool split_lock;            /* MSR_TEST_CTRL exists, and makes split locks #AC */
    unsigned mtrr_variable;     /* variable ranges: IA32_MTRRCAP.VCNT */
    uint32_t mcg_cap;           /* IA32_MCG_CAP */
    unsigned platform_id;       /* IA32_PLATFORM_ID[52:50] */
    uint64_t platform_info;     /* MSR_PLATFORM_INFO; 0: there is none */
    uint64_t pstate;            /* AMD's P-state 0, C001_0064H; 0: there are none */
    uint64_t turbo_ratio_limit; /* MSR_TURBO_RATIO_LIMIT; 0: likewise, nor IA32_PERF_CTL */

    /* Clocks in Hz. */
    uint64_t core_hz, tsc_hz, ref_hz, apic_hz;

    struct {
        unsigned version; /* of CPUID.0AH; 0: no PMU, or AMD's */
        /* CPUID, IA32_PERF_CAPABILITIES and IA32_MISC_ENABLE announce what the profile gives them,
         * not what follows from these fields, which say what the registers do. */
        bool contradictory;
        unsigned general, general_width, fixed, fixed_width;
        unsigned general_more;       /* behind those: leaf 23H alone tells of them */
        uint32_t fixed_bitmap;       /* CPUID.0AH:ECX from version 5 on */
        uint32_t fixed_more;         /* bitmap of those that leaf 23H alone tells of */
        bool unannounced;            /* nothing tells of those, nor of the metrics: no leaf 23H */
        uint32_t events_unavailable; /* CPUID.0AH:EBX */
        unsigned events_length;      /* CPUID.0AH:EAX[31:24] */
        bool anythread;              /* ANY bits usable */
        bool pin_control;            /* PERFEVTSEL.PC not reserved */
        bool full_width;             /* IA32_A_PMCx */
        bool has_capabilities;       /* IA32_PERF_CAPABILITIES exists (PDCM) */
        uint64_t capabilities;       /* its value */
        uint64_t misc_enable;        /* reset value of IA32_MISC_ENABLE */
        bool bts, ds64;              /* branch trace store */
        bool bts_predicted;          /* its records have the predicted bit */
        unsigned pebs_counters;      /* bitmap; 0: no PEBS */
        unsigned pebs_format;
        uint64_t pebs_pdist;   /* counters with precise distribution, as in GLOBAL_CTRL */
        uint64_t pebs_untimed; /* those whose records have no retire latency, likewise */
        bool pebs_load_latency;
        enum {
            PEBS_SOURCE_CORE, /* SDM */
            PEBS_SOURCE_GRACEMONT,
            PEBS_SOURCE_CRESTMONT, /* and Skymont */
            PEBS_SOURCE_LION_COVE
        } pebs_source;      /* how its records encode where a load's data came from */
        unsigned lbr_depth; /* 0: none */
        unsigned lbr_format;
        bool lbr_select, lbr_callstack, lbr_info, lbr_core2_addresses;
        bool int_from_behind; /* the branch record of INT n begins behind it */
        bool no_freeze;       /* DEBUGCTL lacks the freeze controls (a hypervisor's PMU) */
        /* Errata. Those with a revision are there below it. */
        bool lbr_freeze_fails;      /* FREEZE_LBRS_ON_PMI can be set and freezes nothing */
        uint32_t freeze_fixed_from; /* FREEZE_PERFMON_ON_PMI likewise: Goldmont */
        uint32_t pebs_fixed_from;   /* PEBS writes no record: Sandy Bridge */
        bool pebs_pmi_late;         /* the PMI of a full PEBS buffer comes one event late: Core 2 */
        bool pebs_keeps_bit;        /* a sampling counter's own overflow bit is set with OvfBuf */
        bool counters_need_reset;   /* general counters count clocks until a sequence: Nehalem */
        bool latency_needs_aux;     /* load latency wants another event beside it: Golden Cove */
        bool metrics;               /* PERF_METRICS */
        bool metrics_level2;        /* with the fields of its upper half: Golden Cove on */
        unsigned offcore_rsp;       /* number of MSR_OFFCORE_RSP_x */
        unsigned skid;              /* core cycles from overflow to the PMI at the LVT */
    } pmu;

    unsigned n_events;
    struct profile_event events[PROFILE_MAX_EVENTS];
    unsigned n_uncounted;
    struct profile_uncounted uncounted[PROFILE_MAX_UNCOUNTED];

    /* The timing model (docs/simulator.md). */
    struct {
        unsigned retire_width;
        unsigned window; /* instructions in flight, in slots; 0: each block for itself */
        struct profile_cache l1i, l1d, l2, llc;
        unsigned fetch_bytes;        /* of instructions in a cycle; 0: any number */
        unsigned memory_latency;     /* core cycles */
        unsigned mispredict_penalty; /* core cycles */
        unsigned misses;             /* lines that can be on their way from memory; 0: any number */
        unsigned prefetch;           /* lines that the streamer runs ahead; 0: there is none */
        unsigned predictor_bits;     /* log2 of the number of two-bit counters */
        unsigned lat_mul, lat_div, lat_io, lat_msr; /* core cycles */
        unsigned lat_forward; /* from a store to a load of the same place; 0: as any load */
        unsigned lat_tsc, lat_pause, lat_serialize; /* core cycles */
    } uarch;
};

/* Reads the built-in profile of that name, for its kind of core number kind (0: the first or only
 * one; p->n_kinds tells how many there are). On an error prints "FILE:LINE: field: what is wrong"
 * to err and returns false. An unknown name is answered with the nearest. */
bool profile_load(struct profile *p, const char *name, unsigned kind, FILE *err);
/* Parses profile text. file is for messages. The checker of everything: ranges, unknown keys,
 * duplicates. */
bool profile_parse(struct profile *p, const char *file, const char *text, unsigned kind, FILE *err);
/* Applies one "--set" word ("pmu.version=3", "clock.core_hz=1000000000"): same keys as the files.
 * "e:pmu.general=4" is for the kind of core e alone, and changes nothing where p is another. */
bool profile_set(struct profile *p, const char *assignment, FILE *err);
/* Brings CPUID.0AH etc. in line with the pmu fields after all assignments, and checks across
 * fields. */
bool profile_finish(struct profile *p, FILE *err);
/* The number of the kind of core that a processor of the machine is of. After profile_finish(). */
unsigned profile_kind_of(const struct profile *p, unsigned processor);
/* Prints "NAME description" of each built-in one. */
void profile_list(FILE *out, FILE *err);

#endif
