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
    /* Places in memory, named by how they are addressed (place_of); 0: none. */
    uint32_t loads, stores;
    uint32_t
        changes;   /* registers whose values change: places addressed by them are no more known */
    uint32_t from; /* what the address is made of, by what it was at the block's begin */
    bool behind_load; /* ... and of what a load of the block brought */
    uint32_t fetched; /* slots until the front end has brought it, from the block's begin on */
};

/* A place's name: from its address's registers (16: none) and a hash of the rest. */
static inline uint32_t place_of(unsigned base, unsigned index, uint32_t rest)
{
    return 1 | base << 1 | index << 6 | (rest * 0x9e3779b1U) >> 11 << 11;
}
static inline uint32_t place_registers(uint32_t place)
{
    return 1U << (place >> 1 & 31) | 1U << (place >> 6 & 31);
}

/* The same of a block. */
struct flow {
    uint32_t writes;          /* results that it changes */
    uint32_t loaded;          /* of those, what depends on a load of the block */
    uint32_t from[N_RESULTS]; /* by what they were at its begin */
    struct step step[];
};

/* No state's number. */
#define WINDOW_NEVER UINT64_MAX
struct window *window_new(const struct profile *p);
void window_free(struct window *w);

/* A block begins in another state than when it last did: works out what it waits. */
void window_enter_slow(struct cpu *cpu, struct block *b, struct transition *t);
/* Of what the running block waits for its own results: the part of its instructions first up to,
 * not including, end. */
void window_part(struct cpu *cpu, const struct block *b, unsigned first, unsigned end,
                 uint64_t *wait, uint64_t *starved);
/* Of an instruction of the running block that has just retired: so many slots ago it was
 * dispatched, and so many its results were there. */
void window_flight(struct cpu *cpu, const struct block *b, unsigned op, uint64_t *dispatched,
                   uint64_t *completed);
/* Blocks are about to be freed. */
void window_forget_blocks(struct cpu *cpu);

/* An access to memory takes longer than a hit in L1D. window_start says when it can begin, in terms
 * of cpu->now; window_finish, when it is done, lets retirement wait for it. */
struct access_time {
    uint64_t retires;  /* when it would retire, had it hit */
    uint64_t behind;   /* slots of the instructions behind it that are in the totals already */
    uint64_t position; /* in slots of retiring instructions */
    unsigned op;       /* its instruction in the running block; NOT_IN_FLIGHT: nothing overlaps */
};
#define NOT_IN_FLIGHT UINT32_MAX
/* retires and op alone. */
void window_retires(struct cpu *cpu, struct access_time *a);
uint64_t window_start(struct cpu *cpu, struct access_time *a);
void window_finish(struct cpu *cpu, const struct access_time *a, uint64_t done);

#endif
