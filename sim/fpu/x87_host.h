/*
 * x87 arithmetic on values, by the host's own x87 unit: every result, rounding and exception flag
 * of what IEEE 754 and the manual define is exact. All exceptions are masked in it; what follows
 * from unmasked ones is x87.c's.
 *
 * The transcendental functions are exact to less than one unit in the last place (SDM vol. 1
 * "Transcendental Instruction Accuracy"), and so their last bit is the host's.
 */
#ifndef PMUSIM_FPU_X87_HOST_H
#define PMUSIM_FPU_X87_HOST_H

#include "sim/fpu/state.h"

/* What memory holds. The first four are as bits 2:1 of the opcodes of arithmetic name them. */
enum x87_format { X87_M32, X87_I32, X87_M64, X87_I16, X87_M80, X87_I64, X87_BCD };
static const uint8_t x87_bytes[] = {4, 4, 8, 2, 10, 8, 10};

/* Field reg of the arithmetic instructions. A = ST(0), B = the other operand. */
enum x87_arith {
    X87_ADD,
    X87_MUL,
    X87_COM,
    X87_COMP,
    X87_SUB,  /* A - B */
    X87_SUBR, /* B - A */
    X87_DIV,  /* A / B */
    X87_DIVR, /* B / A */
};

/* The second byte of the instructions D9 E4 and D9 E8 to FF that compute. */
enum x87_function {
    X87_TST = 0xe4,
    X87_2XM1 = 0xf0,
    X87_YL2X = 0xf1,
    X87_PTAN = 0xf2,
    X87_PATAN = 0xf3,
    X87_XTRACT = 0xf4,
    X87_PREM1 = 0xf5,
    X87_PREM = 0xf8,
    X87_YL2XP1 = 0xf9,
    X87_SQRT = 0xfa,
    X87_SINCOS = 0xfb,
    X87_RNDINT = 0xfc,
    X87_SCALE = 0xfd,
    X87_SIN = 0xfe,
    X87_COS = 0xff,
};

struct x87_outcome {
    struct x87_register r;    /* the result that replaces an operand */
    struct x87_register push; /* the second one, which is pushed: FPTAN, FSINCOS, FXTRACT */
    uint16_t status;          /* exception flags, C0 to C3 */
};

struct x87_outcome x87_host_arith(enum x87_arith what, struct x87_register a, struct x87_register b,
                                  uint16_t control);
/* With the operand B in memory. */
struct x87_outcome x87_host_arith_memory(enum x87_arith what, struct x87_register a,
                                         enum x87_format format, const void *b, uint16_t control);
struct x87_outcome x87_host_unordered(struct x87_register a, struct x87_register b,
                                      uint16_t control);
/* a: ST(0), b: ST(1) where the function has two operands. */
struct x87_outcome x87_host_function(enum x87_function what, struct x87_register a,
                                     struct x87_register b, uint16_t control);
/* FLD1 to FLDZ: which is 0 to 6. */
struct x87_register x87_host_constant(unsigned which, uint16_t control);
struct x87_outcome x87_host_load(enum x87_format format, const void *from);
/* status in return. */
uint16_t x87_host_store(enum x87_format format, struct x87_register a, void *to, uint16_t control);

#endif
