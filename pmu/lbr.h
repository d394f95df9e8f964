/*
 * Last branch records: MSRs in which the processor keeps where its newest taken branches,
 * interrupts and exceptions came from and went to. Two kinds. Up to Rocket Lake and Tremont they
 * are of the model: a ring with a pointer to the newest, switched by IA32_DEBUGCTL.LBR, filtered by
 * MSR_LBR_SELECT (SDM vol. 3 "Last Branch, Interrupt, and Exception Recording" and its sections by
 * processor). No CPUID bit announces those: depth and addresses go by the model (the table in
 * lbr.c), the format by IA32_PERF_CAPABILITIES.LBR_FMT, and whether they are there at all (a
 * hypervisor may have hidden them) is found out by touching them. From Alder Lake and Sapphire
 * Rapids on they are architectural (lbr_arch.c; SDM vol. 3 "Last Branch Records"): announced by
 * CPUID, entry 0 always the newest, IA32_LBR_CTL the switch and the filter. AMD's, from Zen 4 on,
 * are announced too, entry 0 is the newest, and switch and filter are two registers (lbr_amd.c).
 */
#ifndef PMULAB_LBR_H
#define PMULAB_LBR_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/lbr_format.h"
#include "pmu/pmu.h"

#define LBR_MAX_DEPTH  32
#define LBR_DEPTH_STEP 8 /* of the architectural ones */

struct lbr_info {
    bool present;
    unsigned depth;          /* how many records the stack holds */
    uint32_t depths;         /* bit n: it can be set to 8 * (n + 1); 0: it is fixed */
    uint32_t from, to, info; /* MSR of entry 0; info is 0 when the format has none */
    unsigned stride;         /* from one entry's MSR to the next one's */
    uint32_t tos;            /* MSR with the index of the newest record; 0: it is entry 0 */
    unsigned format;         /* enum lbr_format */
    bool linear;             /* of the architectural ones: addresses are linear, not effective */
    bool select;             /* records can be filtered */
    uint32_t control;        /* MSR that switches the recording, and the bit that does */
    uint64_t enable;
    uint32_t filter;                      /* MSR that filters */
    const char *control_key, *filter_key; /* what the two are called in reports: "debugctl" */
    uint64_t beside; /* what IA32_DEBUGCTL holds meanwhile, where it is not the switch itself */
    /* "TR and LBR bits can not be set at the same time due to hardware limitation" (SDM vol. 3
     * "Branch Trace Messages"): Core 2 and before. */
    bool not_with_tr;
    /* The filters for near jumps may take near calls and returns with them: SDM vol. 3 calls their
     * exception "enhanced" from Sandy Bridge on. */
    bool wide_jump_filters;
    /* A branch that changes the ring is recorded if the ring is in which it ends; FROM is all ones
     * if the one is not that it comes from. (False: the manual leaves it open.) */
    bool hides_from;
    /* Which fields of IA32_LBR_x_INFO there are: CPUID_1C_ECX_*. Of the architectural kind. */
    uint32_t info_fields;
    /* Why there are none, naming what says so; "" when present. */
    char why[PMU_REASON], no_select[PMU_REASON], no_call_stack[PMU_REASON];
};

/* Finds out what this processor has; pmu_init_cpu() calls it. Never faults. */
void lbr_init(void);
/* Of the processor that asks. */
const struct lbr_info *lbr_info(void);

/* The general counters, as bits, that may have PERFEVTSEL_EN_LBR_LOG: each record tells how many of
 * their events there were since the one before (SDM vol. 3 "Last Branch Records", event logging).
 */
unsigned lbr_logged(void);

/* Off, and back to no filter; there are records without a PMU too. */
void lbr_reset(void);

/* Empties the stack: all entries 0. TOS stays where it is. */
void lbr_clear(void);

/* Sets the depth to one of lbr_info()->depths, which empties the stack. False when it is refused or
 * the depth is fixed. lbr_info()->depth is what it is set to. */
bool lbr_set_depth(unsigned depth);

/* The index of the newest record: MSR_LASTBRANCH_TOS, or 0. */
unsigned lbr_tos(void);

/* The registers that switch and that filter, as they stand. */
uint64_t lbr_control(void);
uint64_t lbr_filter(void);

/* Reads one entry of the stack; false, and all 0, when nothing was ever written there. */
bool lbr_read_entry(unsigned entry, struct branch_record *record);

/* Reads at most max records, newest first; returns how many there are. Entries never written since
 * lbr_clear() are none. Recording should be off. */
unsigned lbr_read(struct branch_record *records, unsigned max);

/*
 * Clears the stack and runs body(arg) while the branches are recorded, in the window of
 * pmu/window.S and with interrupts off, so that the records are exactly those of the body and the
 * two branches that the window itself adds: its indirect call at pmu_window_call to body, and the
 * body's last RET to pmu_window_return. select is what MSR_LBR_SELECT holds (IA32_LBR_CTL the same
 * the other way round; ignored where there is no filter), debugctl what IA32_DEBUGCTL holds beside
 * LBR.
 */
void lbr_record(uint64_t select, uint64_t debugctl, window_body body, uint64_t arg);

/* Once more, with the switch and the filter of the lbr_record() before, and the records stay: what
 * body adds comes on top of them. */
void lbr_record_more(window_body body, uint64_t arg);

/* lbr_record() in two steps, for spans that are not one call: clears the stack and records, stops.
 */
void lbr_start(uint64_t select, uint64_t debugctl);
void lbr_stop(void);
/* Runs body(arg) in the window without touching what is on, and ends the recording with it. */
void lbr_finish(window_body body, uint64_t arg);

/* In the handler of a PMI that has frozen the records (FREEZE_LBRS_ON_PMI): lets the recording go
 * on. From version 4 on LBR_FRZ is cleared and the switch has stayed; before, the PMI has cleared
 * the switch. */
void lbr_thaw(void);

/* What the switch holds when a recording with this filter is off, for code that ends it itself. */
uint64_t lbr_switched_off(uint64_t select);

/* Prints the stack, newest first, as '#' lines with symbols. */
void lbr_dump(const char *title);

#endif
