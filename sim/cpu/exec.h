/* The interpreter's own: operations, blocks, private state. Only for decode.c, blocks.c, exec.c,
 * memory.c and ops_*.c. */
#ifndef PMUSIM_CPU_EXEC_H
#define PMUSIM_CPU_EXEC_H

#include "sim/cpu/internal.h"
#include "sim/fpu/vector.h"

struct op;
/* A handler executes its instruction and ends with a tail call of the next one's (NEXT), so that a
 * block runs without returning to a loop. The last one of a block only returns, with cpu->rip
 * set. */
typedef void (*op_fn)(struct cpu *cpu, const struct op *op);

/* What the instructions of a block before this one cost together. */
struct op_sum {
    uint32_t slots, waits; /* waits: of the slots, those in which nothing retires */
    union {
        struct {
            uint16_t insns, uops, loads, stores;
        };
        uint64_t counts; /* all four, to be added at once */
    };
};
/* Then one of them may overflow soon: a block adds less than what is left. */
#define COUNTS_HIGH 0x8000800080008000U

/* Where a handler for any form finds its operands. */
enum form { FORM_RR, FORM_RI, FORM_RM, FORM_MR, FORM_MI, FORM_N };

/* A decoded instruction. Register operands are byte offsets into cpu->r, so that AH is no special
 * case. */
struct op {
    op_fn fn;
    union {
        uint64_t imm; /* immediate, sign-extended to 64 bits; or the target of a direct branch */
        vector_fn *vector; /* what a vector instruction computes */
    };
    int64_t disp;  /* displacement; absolute when RIP-relative */
    uint64_t mask; /* of the effective address, by address size */
    uint64_t rip;
    struct op_sum before;
    uint8_t d, s, t; /* destination, source, third register */
    uint8_t base, index, shift;
    uint8_t seg;
    uint8_t complex; /* the address needs segment_linear() */
    uint8_t size;    /* operand size, log2 of bytes */
    uint8_t from;    /* source size where it differs (MOVZX); address size of string ops */
    uint8_t form;
    uint8_t cc; /* condition; other small data of the family */
    /* Vector instructions, see vector.h: */
    uint8_t vector_state, vector_imm, vector_c;
};

#define BLOCK_MAX_OPS 64

/* What a block makes of a state of the window (sim/cpu/window.h). */
struct transition {
    uint64_t from, to;
    uint32_t wait;    /* slots in which nothing retires */
    uint32_t starved; /* of those, because nothing was there to be taken */
};
#define FEW_TRANSITIONS  4
#define MANY_TRANSITIONS 32

struct block {
    uint64_t physical; /* of the first byte */
    uint64_t rip;
    uint64_t bound;  /* most slots that one run can cost, beyond what its transition waits */
    uint64_t second; /* physical page that the last instruction crosses into; NO_PAGE: none */
    uint32_t mode;   /* see exec_mode() */
    uint16_t n;      /* instructions */
    uint16_t bytes;
    bool dead;
    uint64_t end;      /* RIP of what is behind it */
    struct op_sum sum; /* of all its instructions */
    uint64_t fetches;  /* uarch.fetches when its code was last in the instruction cache */
    struct insn *insn; /* of a system instruction's block */
    struct flow *flow; /* NULL: nothing of it overlaps with anything */
    /* What the block made of the states in which it began, by their numbers' low bits: in few until
     * it turns out that many are needed. */
    struct transition *transition;
    uint32_t transition_mask;
    uint32_t worked_out; /* so often a transition was not there */
    struct transition few[FEW_TRANSITIONS];
    /* The blocks that ran after this one: behind it, and elsewhere. */
    struct block *successor[2];
    struct block *hash_next;
    struct block *page_next[2]; /* other blocks in the page of physical, of second */
    struct op op[];             /* n + 1: the last one ends the block */
};
#define NO_PAGE UINT64_MAX
/* The bound of a system instruction's block: it is always run with everything up to date. */
#define BOUND_SYSTEM (UINT64_MAX / 2)

/* What decoding depends on. */
enum mode {
    MODE_16 = 0,
    MODE_32 = 1,
    MODE_64 = 2,
    MODE_CODE = 3,
    MODE_STACK32 = 1 << 2,
    MODE_FLAT_DATA = 1 << 3, /* ES, SS, DS have base 0 and limit 4 GiB, and are writable */
    MODE_FLAT_CODE = 1 << 4,
    MODE_ALIGN = 1 << 5, /* alignment is checked */
    MODE_REAL = 1 << 6,
};

/* Memory for one access whose pages have been checked. */
struct span {
    struct tlb_entry page[2];
    uint64_t linear;
    unsigned first, n; /* bytes in the first page; in all */
};

#define CALLERS 16

struct exec {
    struct block *running;
    const struct transition *transition; /* what it waits for its own results */
    uint64_t counts;    /* of whole blocks, as in op_sum, that are not in the totals yet */
    unsigned accounted; /* instructions of running from the first run to this one (not including)
                           are in the totals */
    /* Where the next instruction is, when it is not the first of a block. */
    struct block *position;
    unsigned position_index;
    /* The blocks whose calls have not returned yet, latest at depth - 1; and the one whose call
     * returned last. */
    struct block *caller[CALLERS], *returned;
    unsigned depth;     /* counts on, they wrap */
    struct block *last; /* the block that ran last, for its successors */
    uint32_t mode;
    bool careful;
    /* An op whose handler has for the moment been replaced by op_leave. */
    struct op *patched;
    op_fn patched_fn;

    jmp_buf env;
    ZydisDecoder decoder[4];
    uint8_t *code_pages; /* [physical page]: holds decoded code (of any processor) */
    uint64_t n_code_pages;
    bool owns_code_pages;
    struct block *graveyard;
};

static inline struct exec *exec_of(struct cpu *cpu)
{
    return cpu->exec;
}

/* blocks.c */
struct block *blocks_find(struct cpu *cpu);
void blocks_written(struct machine *m, uint64_t physical, unsigned n);
bool blocks_init(struct cpu *cpu); /* false: no memory */
/* Ends the run: the host has no memory for a block. */
_Noreturn void exec_no_memory(struct cpu *cpu);
void blocks_done(struct cpu *cpu);

/* Memory, all zeros, that begins on a cache line: the speed of a block then does not hang on what
 * was allocated before it. Where there is none, unfinished is freed and the machine stops. */
void *exec_zeroed(struct cpu *cpu, size_t size, void *unfinished);
/* decode.c: decodes the block at the linear address of rip. */
struct block *decode_block(struct cpu *cpu, uint64_t linear, uint64_t physical);
void decode_init(struct cpu *cpu);
/* Operands, for the decoders of other families. */
void decode_memory(struct op *op, const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o,
                   uint32_t mode);
uint8_t register_offset(ZydisRegister r);

/* exec.c */
void op_leave(struct cpu *cpu, const struct op *op);
void op_end(struct cpu *cpu, const struct op *op);
void op_system(struct cpu *cpu, const struct op *op);
void exec_update_mode(struct cpu *cpu);
void exec_stop_after(struct cpu *cpu);
/* Brings the totals up to date. */
void exec_settle(struct cpu *cpu);
/* Puts back the handler that op_leave stands in for, if any. */
void exec_unpatch(struct exec *x);
/* A branch instruction retires: events, prediction, records, RIP. kind's static events are bumped
 * here. Jcc, the most frequent, has its own in ops_branch.c. */
void exec_branch(struct cpu *cpu, const struct op *op, enum branch_kind kind, uint64_t target,
                 bool taken);

/* A branch was taken (linear addresses): its event, and those who record branches. */
void exec_taken(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to,
                bool mispredicted);

#endif
