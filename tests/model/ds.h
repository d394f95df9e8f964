/*
 * A debug store save area, its fields as the manual names them (SDM vol. 3 "DS Save Area and IA-32e
 * Mode Operation"), and where the tests of BTS and PEBS put it. The machine of tests/model/rig.h is
 * in real mode, so that a linear address is a physical one.
 */
#ifndef PMULAB_TESTS_MODEL_DS_H
#define PMULAB_TESTS_MODEL_DS_H

#define DS_AREA               0x10000
#define DS_BTS_BASE           (DS_AREA + 0x00)
#define DS_BTS_INDEX          (DS_AREA + 0x08)
#define DS_BTS_MAXIMUM        (DS_AREA + 0x10)
#define DS_BTS_THRESHOLD      (DS_AREA + 0x18)
#define DS_PEBS_BASE          (DS_AREA + 0x20)
#define DS_PEBS_INDEX         (DS_AREA + 0x28)
#define DS_PEBS_MAXIMUM       (DS_AREA + 0x30)
#define DS_PEBS_THRESHOLD     (DS_AREA + 0x38)
#define DS_PEBS_RESET(i)      (DS_AREA + 0x40 + 8 * (i))
#define DS_PEBS_RESET_FIXED   8  /* the first of the fixed counters, with extended PEBS */
#define DS_PEBS_RESET_FIXED_5 32 /* from format 5 on */
#define BTS_BUFFER            0x20000
#define PEBS_BUFFER           0x30000
#define UNMAPPED              0x200000 /* after map_two_mebibytes() */

#endif
