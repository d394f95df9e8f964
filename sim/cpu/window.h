/*
 * Instructions in flight: what waits for what, and how far ahead of retirement the front end is.
 * docs/simulator.md, "The window".
 */
#ifndef PMUSIM_CPU_WINDOW_H
#define PMUSIM_CPU_WINDOW_H

#include "sim/cpu/exec.h"
#include "sim/cpu/uarch.h"

/* What an instruction can wait for: the 16 registers and these. */
enum { RESULT_FLAGS = 16, RESULT_DIVIDER, N_RESULTS };

/* What decoding knows of one instruction. Sets of results are bitmaps. */
struct step {
    uint32_t address; /* of its load */
    uint32_t sources; /* all else that it reads */
    uint32_t results;
    uint32_t load;    /* slots from the address to the loaded value; 0: no load */
    uint32_t latency; /* slots from sources (and loaded value) to results */
    uint32_t slots;   /* that it takes when nothing waits */
    uint32_t fetched; /* slots until the front end has brought it, from the block's begin on */
};

/* The same of a block. */
struct flow {
    uint32_t writes;          /* results that it changes */
    uint32_t from[N_RESULTS]; /* by what they were at its begin */
    struct step step[];
};

/* No state's number. */
#define WINDOW_NEVER UINT64_MAX
struct window *window_new(const struct profile *p);
void window_free(struct window *w);

/* Most slots that a block can wait for what it computes itself. */
uint64_t flow_most(const struct flow *f, unsigned n);

/* A block begins in another state than when it last did: works out what it waits. */
void window_enter_slow(struct cpu *cpu, struct block *b, struct transition *t);
/* Blocks are about to be freed. */
void window_forget_blocks(struct cpu *cpu);

/* An access to memory takes longer than a hit in L1D. window_start says when it can begin, in terms
 * of cpu->now; window_finish, when it is done, lets retirement wait for it. */
struct access_time {
    uint64_t retires;  /* when it would retire, had it hit */
    uint64_t position; /* in slots of retiring instructions */
    unsigned op;       /* its instruction in the running block; NOT_IN_FLIGHT: nothing overlaps */
};
#define NOT_IN_FLIGHT UINT32_MAX
uint64_t window_start(struct cpu *cpu, struct access_time *a);
void window_finish(struct cpu *cpu, const struct access_time *a, uint64_t done);

#endif
