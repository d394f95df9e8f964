/* Which mnemonic is which function: floating-point arithmetic. See vector.h. */
#include "sim/cpu/vector.h"

const struct vector_recipe vector_float[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    [ZYDIS_MNEMONIC_INVALID] = {0},
};
