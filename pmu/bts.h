/*
 * Branch trace store: every taken branch, interrupt and exception as a record in memory. SDM vol. 3
 * "Branch Trace Store (BTS)", "Setting Up the BTS Buffer", "Setting Up CPL-Qualified BTS". Wants a
 * debug store with a BTS buffer (pmu/ds.h).
 */
#ifndef PMULAB_BTS_H
#define PMULAB_BTS_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/bits.h"
#include "x86/pmu.h"
#include "pmu/window.h"

/* The 64-bit record. */
struct bts_record {
    uint64_t from, to;
    uint64_t flags;
};
#define BTS_PREDICTED ARCH_BIT(4) /* not on every processor: never set by Core and Atom */

#define DEBUGCTL_BTS_ON (DEBUGCTL_TR | DEBUGCTL_BTS)

/*
 * Runs body(arg) with branch tracing on: one WRMSR to IA32_DEBUGCTL opens, one closes. flags:
 * DEBUGCTL_BTINT, DEBUGCTL_BTS_OFF_OS, DEBUGCTL_BTS_OFF_USR, freeze bits. What is recorded is the
 * call at pmu_window_call, the body's branches, and its RET to pmu_window_return. Not inside
 * another counting window.
 */
void bts_trace(uint64_t flags, window_body body, uint64_t arg);

/* Records between the buffer's base and its index, oldest first in a buffer that is not circular.
 */
unsigned bts_count(void);
const struct bts_record *bts_records(void);

/* Copies the newest records of a circular buffer that has wrapped, oldest first, at most max;
 * returns how many. */
unsigned bts_newest(struct bts_record *out, unsigned max);

/* Is the second record the next branch after the first, as far as addresses tell? From a branch's
 * target on, execution goes straight to the next taken branch. */
bool bts_follows(const struct bts_record *first, const struct bts_record *second);

/* Prints n records as a table with symbols, as '#' lines. */
void bts_dump(const char *title, const struct bts_record *records, unsigned n);

#endif
