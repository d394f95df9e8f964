/*
 * Vector instructions: MMX, SSE and AVX, as normal instructions of blocks.
 *
 * Each mnemonic has a line in a table: vector_integer in vector_table.c (moves and integers), or
 * vector_float in vector_float.c. The line names the pure function (sim/fpu/vector.h) and what is
 * special about it. Everything else is the frame's (vector.c), and comes from Zydis' operands:
 *
 * - which operand is the destination, which are sources: the destination comes first; in
 *   two-operand forms it is the first source as well; a third source (the mask of a blend) comes
 *   last. Operands are registers of x87/MMX, XMM, YMM, general-purpose ones, memory;
 * - how many bytes of memory: Zydis' size of the operand;
 * - which CPUID bit announces it: the table of missing.c, by Zydis' extension;
 * - #UD, #NM, #MF by what registers it uses (vector_ready);
 * - alignment: a legacy form's operand of 16 bytes in memory must be aligned, a VEX form's need not
 *   be (SDM vol. 2 "Exception Conditions", types 1, 2, 4); the table tells the exceptions;
 * - a legacy form leaves bits 255:128 of its destination, a VEX form clears what it does not write;
 * - MXCSR: the function gets it and says which flags it raises. If one of those is not masked the
 *   destination stays, and it is #XM, or #UD without CR4.OSXMMEXCPT (SDM vol. 1 "SIMD
 *   Floating-Point Exceptions"). The function itself applies DAZ, FTZ and rounding, and of an
 *   unmasked exception before the computation (invalid, denormal, division by zero) in any element
 *   it reports no flag of a computation (overflow, underflow, precision).
 *
 * An instruction that fits none of that has a handler of its own (VECTOR_HANDLER lines).
 *
 * Timing: loads, stores and addresses are as for all instructions, a load or store alone is one
 * uop. That a vector register waits for what writes it is not modelled: each counts as ready.
 */
#ifndef PMUSIM_CPU_VECTOR_H
#define PMUSIM_CPU_VECTOR_H

#include "sim/cpu/exec.h"

enum {
    VR_UNALIGNED = 1 << 0, /* the legacy form's 16 bytes in memory may be anywhere */
    VR_ALIGNED = 1 << 1,   /* the VEX form's operand in memory must be aligned */
    VR_COMPARE = 1 << 2,   /* writes flags alone: both operands are sources */
    VR_COUNT = 1 << 3,     /* an immediate, where there is one, is the second source */
    VR_C_IS_D = 1 << 4,    /* FMA: three operands, of which the first is a source too */
    VR_MOVE = 1 << 5,      /* moves: with an operand in memory it is a load or store alone */
    VR_XMM0 = 1 << 6,      /* the legacy form's third source is XMM0 */
    VR_NO_STATE = 1 << 7,  /* uses no vector register, and asks for no permission (MOVNTI) */
    VR_SSE = 1 << 8,       /* asks for SSE's permission though no operand may be an XMM register */
};

struct vector_recipe {
    vector_fn *fn;
    vector_fn *load;  /* with a source in memory, where that differs */
    vector_fn *store; /* with the destination in memory, likewise */
    vector_fn *imm;   /* with an immediate in place of a source (VPERMILPS) */
    op_fn handler;    /* instead of the frame's own */
    uint16_t rules;
};

extern const struct vector_recipe vector_integer[ZYDIS_MNEMONIC_MAX_VALUE + 1];
extern const struct vector_recipe vector_float[ZYDIS_MNEMONIC_MAX_VALUE + 1];

/* False: not a vector instruction that is known here. Otherwise op is complete; op_undefined where
 * it is not announced. */
bool vector_decode(struct cpu *cpu, struct op *op, const ZydisDecodedInstruction *z,
                   const ZydisDecodedOperand *o, uint32_t mode);
bool vector_is_move(ZydisMnemonic m);

/* What follows is for handlers. */

/* op->vector_state: which registers it uses, and so which rules hold. */
enum {
    STATE_MMX = 1 << 0,
    STATE_SSE = 1 << 1,
    STATE_VEX = 1 << 2,
    STATE_ALIGNED = 1 << 3, /* the operand in memory must be */
};

/* op->d, op->t (first source), op->s (second), op->vector_c: what the operand is and which. */
enum {
    OPERAND_NONE = 0,
    OPERAND_VECTOR = 1 << 4,
    OPERAND_MMX = 2 << 4,
    OPERAND_GENERAL = 3 << 4,
    OPERAND_MEMORY = 4 << 4,
    OPERAND_COUNT = 5 << 4, /* the immediate */
    OPERAND_KIND = 7 << 4,
    OPERAND_NUMBER = 15,
};
/* op->size: log2 of the operation's bytes; op->from: bytes in memory; op->form: bytes of the
 * general-purpose register, or else of what is in memory. */

/* Raises #UD, #NM or #MF where the operating system has not switched the registers on. */
void vector_ready(struct cpu *cpu, const struct op *op);
/* Address of the operand in memory, aligned if it must be. */
uint64_t vector_address(struct cpu *cpu, const struct op *op, enum access access);
/* The flags that a function raised, into MXCSR; #XM or #UD. */
void vector_raise(struct cpu *cpu, uint32_t raised);

// clang-format off
#define VECTOR_HANDLERS(X)                                                                         \
    X(op_ldmxcsr) X(op_stmxcsr) X(op_emms) X(op_vzero)                                             \
    X(op_masked_bytes) X(op_masked_move32) X(op_masked_move64)                                     \
    X(op_pcmpestri) X(op_pcmpestrm) X(op_pcmpistri) X(op_pcmpistrm)                                \
    X(op_gather_d32) X(op_gather_d64) X(op_gather_q32) X(op_gather_q64)
// clang-format on
#define VECTOR_DECLARE_HANDLER(name) void name(struct cpu *cpu, const struct op *op);
VECTOR_HANDLERS(VECTOR_DECLARE_HANDLER)

#endif
