/*
 * The PMU driver: what the processor has, its counters, overflow and PMI, freeze, register dumps.
 * Source: Intel SDM vol. 3 "Architectural Performance Monitoring"; CPUID leaf 0AH in vol. 2
 * "CPUID"; AMD's APM vol. 2 "Performance Monitoring Counters".
 *
 * Every MSR is reached through kernel/msr.h. Of the counters, index n < 32 is general counter n and
 * PMU_FIXED(i) is fixed counter i: the same number as their bit in IA32_PERF_GLOBAL_CTRL.
 */
#ifndef PMULAB_PMU_H
#define PMULAB_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/bits.h"
#include "x86/decode.h"
#include "x86/pmu.h"
#include "x86/events.h"
#include "pmu/leaf_23h.h"
#include "pmu/window.h"

#define PMU_MAX_GENERAL   32 /* IA32_PERF_GLOBAL_CTRL[31:0] */
#define PMU_MAX_FIXED     16 /* FIXED_CTR_CTRL has room for sixteen fields of four bits */
#define PMU_FIXED(i)      (GLOBAL_FIXED_SHIFT + (i))
#define PMU_MASK(counter) ARCH_BIT(counter)
#define PMU_REASON        96
#define PMU_TITLE         24
#define PMU_CODE          8
#define PMU_MAX_NOTES     8

/* A register that may be missing: answered is false when RDMSR raised #GP or was not tried. */
struct pmu_msr_value {
    bool answered;
    uint64_t value;
};

struct pmu_kind;

/* What CPUID and the capability MSRs say, contradictions removed. Fields are 0 for what is absent.
 */
struct pmu_info {
    const struct pmu_kind *kind; /* the driver's own: pmu/kind.h */
    bool present;                /* of a kind that the driver knows, with a general counter */
    char title[PMU_TITLE];       /* "perfmon v4", "AMD PerfMonV2" */
    char code[PMU_CODE];         /* the same in a report's code: "4", "AMD2" */
    uint32_t core; /* CPUID.1AH:EAX, the kind of core (CPUID_1A_*); 0: it does not tell */
    /* CPUID.0AH:EAX[7:0], 0 on AMD's, to be shown: the fields say what follows from it. */
    unsigned version;
    char general_by[PMU_REASON]; /* who says how many general counters: "CPUID.0AH:EAX[15:8] = 4" */
    unsigned n_general;          /* 0 to PMU_MAX_GENERAL */
    /* The first number past those that leaf 0AH or leaf 23H names, or that a hybrid processor may
     * have unnamed. */
    unsigned general_end;
    struct leaf_23h leaf_23h; /* where there is one, it has the last word on the counters */
    unsigned general_width;   /* bits, 32 to 64 */
    unsigned n_fixed;         /* how many bits fixed_mask has */
    unsigned fixed_width;     /* bits, 32 to 64 */
    uint32_t fixed_mask;      /* bit i: fixed counter i exists; not contiguous from version 5 on */
    uint32_t events;          /* bit n: architectural event n is available */
    bool global_ctrl;         /* one register enables all counters */
    bool freeze;              /* DEBUGCTL.FREEZE_PERFMON_ON_PMI (AMD: FPMCI) is announced */
    bool freeze_in_status;    /* it sets GLOBAL_STATUS.CTR_FRZ (AMD: PMCF); if not, it clears
                                 GLOBAL_CTRL */
    bool full_width_write;    /* IA32_A_PMCx exist: IA32_PERF_CAPABILITIES[13] */
    bool metrics;             /* MSR_PERF_METRICS: IA32_PERF_CAPABILITIES[15], or the model */
    bool own_addresses;       /* version 6: each counter has addresses of its own, from 1900H on */
    bool anythread_deprecated;
    bool ds, dtes64, pdcm; /* CPUID.1 */
    bool pebs, bts;        /* the debug store is there and MISC_ENABLE does not forbid it */
    struct pmu_msr_value perf_capabilities, misc_enable;
    uint32_t leaf_eax, leaf_ebx, leaf_ecx, leaf_edx; /* CPUID.0AH as read */
    /* Why something is absent, naming the leaf or bit; "" when it is present. */
    char no_pmu[PMU_REASON], no_amd[PMU_REASON], no_fixed[PMU_REASON], no_global_ctrl[PMU_REASON],
        no_freeze[PMU_REASON], no_pebs[PMU_REASON], no_bts[PMU_REASON];
    char notes[PMU_MAX_NOTES][PMU_REASON]; /* contradictory or odd data met, one line each */
    unsigned n_notes;
};

/* Reads CPUID and the capability MSRs, installs the PMI handlers and puts the PMU into the initial
 * state of the curriculum. Wants trap_init() and lapic_init() done. Never faults; without a PMU it
 * only finds out why. */
void pmu_init(void);
/* The same, without the handlers, on another processor. What follows is the state of the processor
 * that calls: each has its own counters, handler and counts of PMIs. */
void pmu_init_cpu(void);
/* Of the processor that asks. */
const struct pmu_info *pmu_info(void);

/* Fixed counter i exists. */
bool pmu_has_fixed(unsigned i);
/* Names the CPUID bit that says that fixed counter i is absent; text lives until the next call. */
const char *pmu_no_fixed(unsigned i);
/* NULL when there are so many general counters, when the architectural event (PMU_EVENT_*) is
 * available; else the CPUID field that says no. Text as above. */
const char *pmu_no_general(unsigned wanted);
const char *pmu_no_event(unsigned event);

/* The event PMU_EVENT_* of this kind of PMU, for a select register: event and unit mask, to be ORed
 * with PERFEVTSEL_*; and its name there. */
uint64_t pmu_event(unsigned event);
const char *pmu_event_title(unsigned event);

/* By which the names of registers are found: x86/decode.h. */
struct decode_context pmu_decode_context(void);

/* The initial state: counters off and 0, PEBS off, overflow status cleared, DEBUGCTL 0 but for what
 * stays set (pmu/debugctl.h), RDPMC for ring 0 alone, no PMI handler, LVT perfmon unmasked with the
 * PMI vector. Harmless without a PMU. */
void pmu_reset(void);

/* The mask of all bits of IA32_PERF_GLOBAL_CTRL that this processor has. */
uint64_t pmu_all_counters(void);
/* 2^width - 1 of a counter. */
uint64_t pmu_counter_max(unsigned counter);
/* MSR address of a counter, and of a general counter's select register, by which the driver
 * reaches them: from version 6 on those of its own (IA32_PMC_GPn_CTR). */
uint32_t pmu_counter_msr(unsigned counter);
uint32_t pmu_select_msr(unsigned general);
/* Their addresses that every version has: IA32_PMCx, IA32_FIXED_CTRx, IA32_PERFEVTSELx; on other
 * kinds the same as above. */
uint32_t pmu_old_counter_msr(unsigned counter);
uint32_t pmu_old_select_msr(unsigned general);

/*
 * Programs general counter n: select is an event (EVENT_*) with PERFEVTSEL_* flags, EN set here.
 * The counter does not run before its window opens: where no register enables all, EN is left
 * to the window.
 */
void pmu_select(unsigned general, uint64_t select);
/* Programs IA32_FIXED_CTR_CTRL; value has four bits a counter (SDM "FIXED_CTR_CTRL MSR Layout"). */
void pmu_select_fixed(uint64_t value);

/* Reads a counter, by RDMSR and by RDPMC. */
uint64_t pmu_read(unsigned counter);
uint64_t pmu_rdpmc(unsigned counter);
/* Lets RDPMC run in ring 3, or not (CR4.PCE: SDM vol. 3 "Control Registers"); of this processor,
 * until pmu_reset(). */
void pmu_allow_user_rdpmc(bool allow);
/* ECX of RDPMC for a counter (SDM vol. 2 "RDPMC"). */
uint32_t pmu_rdpmc_selector(unsigned counter);

/* Writes a counter: general ones in full width through IA32_PMC_GPx_CTR or IA32_A_PMCx where the
 * processor has them, else by the old address, which takes 32 bits and sign-extends bit 31. False,
 * and nothing written, when the value cannot be reached that way or has bits past the width. */
bool pmu_write(unsigned counter, uint64_t value);
/* Sets a counter to overflow at the event number n counted from now: writes 2^width - n. n is 1 to
 * 2^31. */
bool pmu_write_overflow_in(unsigned counter, uint64_t n);

/* IA32_PERF_GLOBAL_STATUS, and its clearing through IA32_PERF_GLOBAL_OVF_CTRL (from version 4 on
 * IA32_PERF_GLOBAL_STATUS_RESET); PerfCntrGlobalStatus and PerfCntrGlobalStatusClr. Where there is
 * none, the status is made from the counters with INT that have run past their maximum, and what is
 * cleared is not told again before the counter is written. */
uint64_t pmu_status(void);
void pmu_status_reset(uint64_t bits);
uint64_t pmu_status_all(void); /* the bits that the status can have */
/* Those bits of a status that say why there is a PMI: overflows and OvfBuf. The others are states
 * (frozen, in SGX) or somebody else's; CondChgd is set by processors that nobody has touched. */
uint64_t pmu_causes(uint64_t status);

/* Runs body(arg) in the counting window (pmu/window.S) with the counters of mask counting. Where
 * no register enables all (pmu_info()->global_ctrl is false), they are opened one after the other
 * by their selects and closed in the same order. */
void pmu_count(uint64_t mask, window_body body, uint64_t arg);
/* The same in two steps, for spans that are not one call: opens, closes. */
void pmu_open(uint64_t mask);
void pmu_close(void);

/* How many instructions that window adds to a count of retired instructions: to each of the
 * counters of mask the same number. */
uint64_t pmu_window_adds(uint64_t mask);
/* But not the same instructions: how many of them one counter of mask has at most before another's
 * span begins, and as many behind its end. 0 where one write opens all. */
uint64_t pmu_window_shift(uint64_t mask);

/* Those that count now: IA32_PERF_GLOBAL_CTRL or, where there is none, a bit for each counter whose
 * select enables it. */
uint64_t pmu_enabled(void);

/* A performance-monitor interrupt, as the dispatcher found it. */
struct trap_frame;
struct pmi {
    const struct trap_frame *frame;
    uint64_t status;      /* pmu_status() on entry */
    uint64_t global_ctrl; /* IA32_PERF_GLOBAL_CTRL on entry, before the dispatcher stopped it; 0 in
                             version 1 */
    uint32_t lvt;         /* LVT perfmon on entry: the local APIC has set its mask bit */
    /* The buffers of the debug store that have reached their threshold. The handler must drain
     * them, or set their index back; BTS and PEBS are off meanwhile. */
    bool bts_full, pebs_full;
};
typedef void (*pmi_handler)(const struct pmi *pmi);

/* What the dispatcher does to the counters while the handler runs. */
enum pmi_counters {
    PMI_STOP,         /* stopped on entry, going on where they were at the end */
    PMI_KEEP_RUNNING, /* left to themselves or to DEBUGCTL.FREEZE_PERFMON_ON_PMI */
};
/* The handler is called between reading the status and resetting it; then the LVT is unmasked and
 * EOI is written (not for an NMI). NULL: a PMI is reported as unexpected. */
void pmu_set_pmi_handler(pmi_handler handler, enum pmi_counters counters);
/* PMIs delivered to the handler, and those that nobody waited for or that had no cause, since the
 * last pmu_reset(). An NMI without an overflow and with the LVT's mask bit clear is not a PMI; nor
 * is the late interrupt of an overflow that an earlier one has handled, where nothing masks it. */
unsigned pmu_pmi_count(void);
unsigned pmu_unexpected_count(void);
/* One '#' line each on the unexpected PMIs and NMIs since the last report, when there were any. */
void pmu_report_unexpected(void);

/* Prints every register of the PMU with its address, value and fields as '#' lines (the book's
 * dump_perfmon). */
void pmu_dump(const char *title);

#endif
