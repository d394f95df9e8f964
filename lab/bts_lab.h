/* What the sheets of the branch trace store share. */
#ifndef PMULAB_BTS_LAB_H
#define PMULAB_BTS_LAB_H

#include <stdbool.h>

#include "pmu/bts.h"
#include "pmu/ds.h"
#include "pmu/window.h"

/* Lays out a debug store with a BTS buffer alone (pmu/ds.h says what the numbers are) and adds what
 * came of it to the values. False when it was refused. */
bool bts_set_up(unsigned records, unsigned threshold);

/* Empties the buffer and traces so many rounds of bts_jumps, here or where it is mapped again;
 * again when an SMI fell in (lab/take.h). Of the branches as many as there is room for are to be
 * there. */
void bts_trace_jumps(window_body jumps, unsigned rounds);

/* Of n records, oldest first, those that cannot be the next branch after the one before them: 0
 * when none is lost. */
unsigned bts_torn(const struct bts_record *records, unsigned n);

#endif
