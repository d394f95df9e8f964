/*
 * The state of x87, MMX, SSE and AVX of one processor. SDM vol. 1 "x87 FPU Execution Environment",
 * "MXCSR Control and Status Register", "The MMX State and MMX Register Set".
 */
#ifndef PMUSIM_FPU_STATE_H
#define PMUSIM_FPU_STATE_H

#include <stdint.h>

/* A vector register: XMMn is its lower half. Elements as the manual numbers them, from bit 0 on. */
union vector {
    uint8_t u8[32];
    uint16_t u16[16];
    uint32_t u32[8];
    uint64_t u64[4];
};

/* A register of 80 bits: the double extended-precision format, or an MMX register in mantissa. */
struct x87_register {
    uint64_t mantissa;
    uint16_t sign_exponent;
};

struct fpu {
    union vector ymm[16];
    uint32_t mxcsr;
    uint16_t control, status; /* status without TOP */
    uint8_t top;
    uint8_t valid;   /* the abridged tag word of FXSAVE: bit n is clear where physical register n is
                        empty */
    uint16_t opcode; /* of the last instruction that was no control instruction: FOP */
    uint16_t code_segment, data_segment;
    uint64_t instruction_pointer, data_pointer;
    struct x87_register r[8]; /* by physical number: ST(i) is r[(top + i) & 7], MMn is r[n] */
};

#define MXCSR_RESET       0x1f80
#define MXCSR_MASK        0xffff /* bits that are not reserved, with DAZ: what FXSAVE tells of it */
#define X87_CONTROL_RESET 0x0040 /* after power-on; FNINIT gives 37FH */

#endif
