/*
 * Inside the generator: what its files share.
 *
 * The generator keeps what it knows: a register nobody has touched yet is *free* and may still be
 * given the value an instruction needs (a pointer, a shift count); one that was only read is
 * *known*. So addresses always hit what they are meant to hit, and nothing ever reads or jumps
 * where the host program lives.
 */
#ifndef TESTS_DIFF_GENERATE_H
#define TESTS_DIFF_GENERATE_H

#include "tests/diff/diff.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define STACK_MID   (STACK_BASE + 0xc00)
#define STACK_RANGE 0x800

struct gen {
    struct sequence *s;
    const struct choice *any;
    uint64_t random;
    uint16_t used, known; /* bitmaps of registers */
    uint16_t hold;        /* registers the current instruction needs as they are */
    uint16_t undef;       /* status flags undefined here */
    int df;               /* direction flag, -1 unknown */
    bool df_free;         /* nothing has used or changed DF yet */
    bool rsp_ok;          /* RSP points well into the stack */
    bool routine;         /* inside a routine: leave RSP and the stack alone */
    bool ended;           /* the last instruction faults */
    int join;             /* the next instruction is also reached from this one; -1: is not */
};

static inline unsigned below(struct gen *g, unsigned n)
{
    return random_next(&g->random) % n;
}

static inline bool percent(struct gen *g, unsigned n)
{
    return below(g, 100) < n;
}

/* ---- encode.c ---- */

/* One instruction on its way to bytes. */
struct enc {
    uint8_t map, opcode, prefix;
    bool opsize, addr32, lock, w, norex, rex, vex, wide; /* wide: VEX.L */
    uint8_t segment;
    bool modrm, sib;
    uint8_t mod, reg, rm, scale, index, base; /* reg, rm, index, base: 0-15 */
    uint8_t vvvv, disp_bytes, imm_bytes;
    int64_t disp;
    bool rip_relative;
    uint64_t target, imm;
    bool memory;
};

/* Appends the instruction, with its legacy prefixes in any order. */
void emit(struct gen *g, const struct enc *e);
void byte(struct gen *g, uint8_t b);
void bytes(struct gen *g, uint64_t v, unsigned n);
/* Overwrites n bytes, a displacement that was not known yet. */
void patch32(struct gen *g, unsigned at, uint32_t v, unsigned n);
/* The address of the next byte. */
uint64_t here(const struct gen *g);
unsigned imm_bytes(enum imm imm, unsigned size);
/* Notes the instruction that began at start, and what becomes of the flags. form -1: the
 * generator's own. */
struct insn_record *record(struct gen *g, unsigned start, int form, uint16_t reads, uint16_t writes,
                           uint16_t undef);

/* ---- operands.c ---- */

/* A number, of those that are edges of something rather than any. */
uint64_t value(struct gen *g);
/* MOV of a constant, by one of its encodings. */
void load_constant(struct gen *g, unsigned r, uint64_t v);
/* Sees to it that r holds v when the next instruction runs. */
void need(struct gen *g, unsigned r, uint64_t v);
/* r is no longer known. */
void written(struct gen *g, unsigned r);
void stack_ready(struct gen *g);
/* Makes the flags an instruction reads defined. */
void clean_flags(struct gen *g, uint16_t reads);
/* Chooses a register operand's number. byte_reg: an 8-bit one; then 4-7 are AH-BH without REX. */
unsigned pick(struct gen *g, struct enc *e, bool byte_reg, bool write);
/* The sequence begins with this value at this address, if no other was given to it. */
void patch(struct gen *g, uint64_t address, uint64_t v);
/* Where a memory operand of so many bytes shall lie: mostly well inside, now and then over an edge,
 * read-only, unmapped or non-canonical (safe: never). */
uint64_t pick_target(struct gen *g, unsigned width, bool aligned, bool safe);
/* Tries one addressing form for target; false when it cannot reach it. */
bool address(struct gen *g, struct enc *e, uint64_t target);
/* An addressing form that does reach it. */
void memory_at(struct gen *g, struct enc *e, uint64_t target);
unsigned pick_size(struct gen *g, const struct form *f);
/* A count for a shift by size bytes, and the flags that depend on it. */
unsigned pick_count(struct gen *g, const struct form *f, unsigned size);
void shift_flags(const struct form *f, unsigned size, unsigned count, uint16_t *writes,
                 uint16_t *undef);

/* ---- branches.c ---- */

void jump_insn(struct gen *g, int form);
void loop_insn(struct gen *g, int form);
void call_insn(struct gen *g, int form);
void jump_indirect_insn(struct gen *g, int form);

/* ---- x87.c ---- */

/* The x87 state in which the sequence begins. */
void x87_begin(struct gen *g);
void x87_insn(struct gen *g, int form);
/* Numbers of the formats, and NaNs. */
uint64_t real64(struct gen *g);
uint32_t real32(struct gen *g);
/* Makes all condition codes defined. */
void x87_clean(struct gen *g);

/* ---- vector.c ---- */

/* The vector registers with which the sequence begins. */
void vector_begin(struct gen *g);
void vector_insn(struct gen *g, int form);

/* ---- generate.c ---- */

struct insn_record *finish_insn(struct gen *g, struct enc *e, int form, unsigned size,
                                uint16_t reads, uint16_t writes, uint16_t undef);

/* An instruction of the form, with what it needs before it. */
void insn(struct gen *g, int form);

#endif
