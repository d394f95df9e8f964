/* The DS buffer management area in its 64-bit layout: eight pointers, then the PEBS counters' reset
 * values. SDM vol. 3 "BTS and DS Save Area" and "DS Save Area and IA-32e Mode Operation". */
#ifndef PMUSIM_PMU_DS_H
#define PMUSIM_PMU_DS_H

#include <stdint.h>

struct ds_buffer {
    uint64_t base, index, maximum, threshold;
};

enum {
    DS_BTS = 0,
    DS_PEBS = sizeof(struct ds_buffer),
    DS_PEBS_RESET = 2 * sizeof(struct ds_buffer), /* one quadword for each counter */
    DS_INDEX = 8,                                 /* of a buffer's index in its ds_buffer */
};

#endif
