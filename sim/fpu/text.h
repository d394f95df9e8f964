/* SSE4.2's comparison of texts. */
#ifndef PMUSIM_FPU_TEXT_H
#define PMUSIM_FPU_TEXT_H

#include <stdbool.h>

#include "sim/fpu/state.h"

struct text {
    const union vector *v;
    unsigned length; /* elements that are valid */
};

/* Elements of a register, as the immediate says. */
unsigned text_elements(unsigned imm);
/* Up to the first that is zero. */
unsigned text_length(const union vector *v, unsigned imm);
/* IntRes2; the six status flags. */
uint32_t text_compare(const struct text *a, const struct text *b, unsigned imm, uint32_t *rflags);

#endif
