/*
 * Last branch records: a ring of MSR pairs in which the processor keeps where its newest taken
 * branches, interrupts and exceptions came from and went to. SDM vol. 3 "Last Branch, Interrupt,
 * and Exception Recording" and its sections by processor.
 *
 * No CPUID bit announces them: depth and addresses go by the model (the table in lbr.c), the format
 * by IA32_PERF_CAPABILITIES.LBR_FMT, and whether they are there at all (a hypervisor may have
 * hidden them) is found out by touching them.
 */
#ifndef PMULAB_LBR_H
#define PMULAB_LBR_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/lbr_format.h"
#include "pmu/pmu.h"

#define LBR_MAX_DEPTH 32

struct lbr_info {
    bool present;
    unsigned depth;          /* how many records the stack holds */
    uint32_t from, to, info; /* MSR of entry 0; info is 0 when the format has none */
    unsigned format;         /* enum lbr_format */
    bool select;             /* MSR_LBR_SELECT: records can be filtered */
    /* "TR and LBR bits can not be set at the same time due to hardware limitation" (SDM vol. 3
     * "Branch Trace Messages"): Core 2 and before. */
    bool not_with_tr;
    /* The filters for near jumps may take near calls and returns with them: SDM vol. 3 calls their
     * exception "enhanced" from Sandy Bridge on. */
    bool wide_jump_filters;
    /* FREEZE_LBRS_ON_PMI is there and does not freeze. */
    bool freeze_fails;
    /* Why there are none, naming what says so; "" when present. */
    char why[PMU_REASON], no_select[PMU_REASON];
};

/* Finds out what there is, for all processors; pmu_init() calls it, on the boot processor, before
 * the others run. Never faults. */
void lbr_init(void);
const struct lbr_info *lbr_info(void);

/* Off, and back to no filter; there are records without a PMU too. */
void lbr_reset(void);

/* Empties the stack: all entries 0. TOS stays where it is. */
void lbr_clear(void);

/* MSR_LASTBRANCH_TOS: the index of the newest record. */
unsigned lbr_tos(void);

/* Reads at most max records, newest first; returns how many there are. Entries never written since
 * lbr_clear() are none. Recording should be off. */
unsigned lbr_read(struct branch_record *records, unsigned max);

/*
 * Clears the stack and runs body(arg) with IA32_DEBUGCTL = DEBUGCTL_LBR | debugctl, in the window
 * of pmu/window.S and with interrupts off, so that the records are exactly those of the body and
 * the two branches that the window itself adds: its indirect call at pmu_window_call to body, and
 * the body's last RET to pmu_window_return. select is MSR_LBR_SELECT (ignored where there is none).
 */
void lbr_record(uint64_t select, uint64_t debugctl, window_body body, uint64_t arg);

/* Prints the stack, newest first, as '#' lines with symbols. */
void lbr_dump(const char *title);

#endif
