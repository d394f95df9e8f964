/* The one place that lists the experiments. A new one: its file, a line here and a line below. */
#include "runner/registry.h"

#include <stddef.h>

// One a line, so that two who each add one do not meet.
// clang-format off
extern const struct experiment ex0_1;
extern const struct experiment ex0_2;
extern const struct experiment ex0_3;
extern const struct experiment ex0_4;
extern const struct experiment ex0_5;
extern const struct experiment ex0_6;
extern const struct experiment ex0_7;
extern const struct experiment ex0_8;
extern const struct experiment ex0_9;
extern const struct experiment ex0_10;
extern const struct experiment ex14_1;
extern const struct experiment ex14_2;
extern const struct experiment ex14_3;
extern const struct experiment ex14_4;
extern const struct experiment ex14_5;
extern const struct experiment ex14_6;
extern const struct experiment ex14_7;
extern const struct experiment ex14_8;
extern const struct experiment ex14_9;
extern const struct experiment ex14_10;
extern const struct experiment ex14_11;
extern const struct experiment ex14_12;
extern const struct experiment ex14_13;
extern const struct experiment ex15_1;
extern const struct experiment ex15_2;
extern const struct experiment ex15_3;
extern const struct experiment ex15_4;
extern const struct experiment ex15_5;
extern const struct experiment ex15_6;
extern const struct experiment ex15_7;
extern const struct experiment ex15_8;
extern const struct experiment ex15_9;
extern const struct experiment ex15_10;
extern const struct experiment ex15_11;
extern const struct experiment ex15_12;
extern const struct experiment ex15_13;
extern const struct experiment ex18_15;
extern const struct experiment ex22_1;
extern const struct experiment ex22_2;
extern const struct experiment ex22_3;
extern const struct experiment ex22_4;
extern const struct experiment ex22_5;
extern const struct experiment ex22_6;
extern const struct experiment ex22_7;
extern const struct experiment ex22_8;
extern const struct experiment ex22_9;
extern const struct experiment ex22_10;
extern const struct experiment ex22_11;
extern const struct experiment ex22_12;
extern const struct experiment ex22_13;
extern const struct experiment ex22_14;
extern const struct experiment ex22_15;
extern const struct experiment ex23_1;
extern const struct experiment ex23_2;
extern const struct experiment ex23_3;
extern const struct experiment ex23_4;
extern const struct experiment ex23_5;
extern const struct experiment ex23_6;
extern const struct experiment ex23_7;
extern const struct experiment ex23_8;
extern const struct experiment ex23_9;
extern const struct experiment ex23_10;
extern const struct experiment ex23_11;
extern const struct experiment ex23_12;
extern const struct experiment ex23_13;
extern const struct experiment ex24_1;
extern const struct experiment ex24_2;
extern const struct experiment ex24_3;
extern const struct experiment ex24_4;
extern const struct experiment ex24_5;
extern const struct experiment ex24_6;
extern const struct experiment ex24_7;
extern const struct experiment ex24_8;
extern const struct experiment ex24_9;

const struct experiment *const experiments[] = {
    &ex0_1,
    &ex0_2,
    &ex0_3,
    &ex0_4,
    &ex0_5,
    &ex0_6,
    &ex0_7,
    &ex0_8,
    &ex0_9,
    &ex0_10,
    &ex14_1,
    &ex14_2,
    &ex14_3,
    &ex14_4,
    &ex14_5,
    &ex14_6,
    &ex14_7,
    &ex14_8,
    &ex14_9,
    &ex14_10,
    &ex14_11,
    &ex14_12,
    &ex14_13,
    &ex15_1,
    &ex15_2,
    &ex15_3,
    &ex15_4,
    &ex15_5,
    &ex15_6,
    &ex15_7,
    &ex15_8,
    &ex15_9,
    &ex15_10,
    &ex15_11,
    &ex15_12,
    &ex15_13,
    &ex18_15,
    &ex22_1,
    &ex22_2,
    &ex22_3,
    &ex22_4,
    &ex22_5,
    &ex22_6,
    &ex22_7,
    &ex22_8,
    &ex22_9,
    &ex22_10,
    &ex22_11,
    &ex22_12,
    &ex22_13,
    &ex22_14,
    &ex22_15,
    &ex23_1,
    &ex23_2,
    &ex23_3,
    &ex23_4,
    &ex23_5,
    &ex23_6,
    &ex23_7,
    &ex23_8,
    &ex23_9,
    &ex23_10,
    &ex23_11,
    &ex23_12,
    &ex23_13,
    &ex24_1,
    &ex24_2,
    &ex24_3,
    &ex24_4,
    &ex24_5,
    &ex24_6,
    &ex24_7,
    &ex24_8,
    &ex24_9,
    NULL,
};
// clang-format on
