/*
 * What the tests of branch records and of the debug store share. The machine is that of
 * tests/model/rig.h; it is in real mode, so that a linear address is a physical one.
 */
#ifndef PMULAB_TESTS_PMU_TRACE_H
#define PMULAB_TESTS_PMU_TRACE_H

#include "tests/model/rig.h"

/* A debug store save area, its fields as the manual names them ("DS Save Area and IA-32e Mode
 * Operation"), and where the tests put it. */
#define DS_AREA             0x10000
#define DS_BTS_BASE         (DS_AREA + 0x00)
#define DS_BTS_INDEX        (DS_AREA + 0x08)
#define DS_BTS_MAXIMUM      (DS_AREA + 0x10)
#define DS_BTS_THRESHOLD    (DS_AREA + 0x18)
#define DS_PEBS_BASE        (DS_AREA + 0x20)
#define DS_PEBS_INDEX       (DS_AREA + 0x28)
#define DS_PEBS_MAXIMUM     (DS_AREA + 0x30)
#define DS_PEBS_THRESHOLD   (DS_AREA + 0x38)
#define DS_PEBS_RESET(i)    (DS_AREA + 0x40 + 8 * (i))
#define DS_PEBS_RESET_FIXED 8 /* the first of the fixed counters, with extended PEBS */
#define BTS_BUFFER          0x20000
#define PEBS_BUFFER         0x30000
#define UNMAPPED            0x200000 /* after map_two_mebibytes() */

uint64_t peek(uint64_t address);
void poke(uint64_t address, uint64_t value);

/* Turns paging on; the first two mebibytes are what they were, all else is not mapped. */
void map_two_mebibytes(void);

/* A branch, at the present CPL or into another. */
void branch(enum branch_kind kind, uint64_t from, uint64_t to);
void predicted_branch(enum branch_kind kind, uint64_t from, uint64_t to, bool mispredicted);

unsigned pmis(void); /* that reached the local APIC since the start */

extern const struct CMUnitTest lbr_tests[], bts_tests[], pebs_tests[];
extern const size_t n_lbr_tests, n_bts_tests, n_pebs_tests;

#endif
