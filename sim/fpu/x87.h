/*
 * The x87 unit: its stack, its words, its exceptions. SDM vol. 1 "Programming with the x87 FPU".
 * Every function is one instruction's doing, on the state alone: memory, faults and EFLAGS are the
 * caller's.
 */
#ifndef PMUSIM_FPU_X87_H
#define PMUSIM_FPU_X87_H

#include <stdbool.h>

#include "sim/fpu/x87_host.h"

/* The status word. */
enum {
    X87_IE = 1 << 0,
    X87_DE = 1 << 1,
    X87_ZE = 1 << 2,
    X87_OE = 1 << 3,
    X87_UE = 1 << 4,
    X87_PE = 1 << 5,
    X87_EXCEPTIONS = 0x3f,
    X87_SF = 1 << 6,
    X87_ES = 1 << 7,
    X87_C0 = 1 << 8,
    X87_C1 = 1 << 9,
    X87_C2 = 1 << 10,
    X87_TOP_SHIFT = 11,
    X87_C3 = 1 << 14,
    X87_B = 1 << 15,
};

/* ---- control, and the whole state ---- */

void x87_init(struct fpu *f);             /* FNINIT */
void x87_clear_exceptions(struct fpu *f); /* FNCLEX */
/* FLDCW, and as FLDENV, FRSTOR, FXRSTOR and XRSTOR load the words: reserved bits are ignored, ES
 * and B follow from flags and masks. */
void x87_set_control(struct fpu *f, uint16_t control);
void x87_set_status(struct fpu *f, uint16_t status);
/* The status word with TOP. */
uint16_t x87_status(const struct fpu *f);
/* The full tag word of FNSTENV and FNSAVE; of a loaded one only "empty" matters. */
uint16_t x87_tags(const struct fpu *f);
void x87_set_tags(struct fpu *f, uint16_t tags);
/* An unmasked exception waits for the next instruction that looks. */
static inline bool x87_pending(const struct fpu *f)
{
    return f->status & X87_ES;
}
static inline struct x87_register *x87_st(struct fpu *f, unsigned i)
{
    return &f->r[(f->top + i) & 7];
}

/* ---- instructions ---- */

void x87_arith_memory(struct fpu *f, enum x87_arith what, enum x87_format format, const void *from);
/* With ST(i), which is the destination if to_i. */
void x87_arith_register(struct fpu *f, enum x87_arith what, unsigned i, bool to_i, bool pop);
/* FCOM, FUCOM and the like, with so many pops. */
void x87_compare(struct fpu *f, unsigned i, bool unordered, unsigned pops);
/* FCOMI and the like: the bits C3, C2, C0 to be put in ZF, PF, CF; false: leave these alone. */
bool x87_compare_flags(struct fpu *f, unsigned i, bool unordered, bool pop, uint16_t *codes);
void x87_function(struct fpu *f, enum x87_function what);
void x87_examine(struct fpu *f);             /* FXAM */
void x87_sign(struct fpu *f, bool absolute); /* FABS, FCHS */
void x87_constant(struct fpu *f, unsigned which);
void x87_load(struct fpu *f, enum x87_format format, const void *from);
void x87_load_register(struct fpu *f, unsigned i);
void x87_store_register(struct fpu *f, unsigned i, bool pop);
void x87_exchange(struct fpu *f, unsigned i);
void x87_move_if(struct fpu *f, unsigned i, bool condition);
void x87_free(struct fpu *f, unsigned i, bool pop);
void x87_rotate(struct fpu *f, int by); /* FINCSTP, FDECSTP */

/* A store to memory in two steps: the value, and what becomes of the state once it is written. */
struct x87_store {
    uint8_t bytes[10];
    uint16_t status;
    bool write, pop;
};
struct x87_store x87_store(const struct fpu *f, enum x87_format format, bool truncate, bool pop);
void x87_stored(struct fpu *f, const struct x87_store *s);

#endif
