/* A PMI while branches are recorded: what its handler finds, and whether the recording goes on in
 * it.
 */
#ifndef PMULAB_LBR_PMI_H
#define PMULAB_LBR_PMI_H

#include <stdbool.h>
#include <stdint.h>

struct lbr_pmi {
    bool one;                  /* exactly one PMI arrived */
    uint64_t debugctl, status; /* IA32_DEBUGCTL and IA32_PERF_GLOBAL_STATUS in its handler */
    uint64_t control;          /* lbr_control() there */
    unsigned recorded;         /* records in the stack, read at the handler's end */
    bool went_on;              /* branches of the handler are among them */
};

/*
 * Counts instructions with IA32_PMC0 until it overflows and records the branches meanwhile, with
 * debugctl in IA32_DEBUGCTL; off again afterwards. All is 0 when no PMI arrives. goes_on: what is
 * expected of the recording; taken again when an SMI fell in (lab/take.h). Wants what LBR_PMI_NEEDS
 * names, beside the records themselves (NEED_LBR).
 */
#define LBR_PMI_NEEDS (NEED_PMU | NEED_GLOBAL_CTRL | NEED_INSTRUCTIONS | NEED_PMI)
struct lbr_pmi lbr_pmi(uint64_t debugctl, bool goes_on);

/* Why FREEZE_LBRS_ON_PMI cannot be asked for here, beside what NEED_FREEZE says: a hypervisor that
 * keeps the bit, an erratum. NULL: it can. */
const char *lbr_freeze_missing(void);

#endif
