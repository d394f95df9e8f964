/*
 * The timing model: caches, branch predictor, latencies (docs/simulator.md says what it is and is
 * not). Owner: sim/pmu's engineer. Called by the interpreter for each memory access and branch;
 * each call bumps events and spends penalties.
 */
#ifndef PMUSIM_UARCH_H
#define PMUSIM_UARCH_H

#include "sim/cpu/cpu.h"

/* An access to memory, in each handler: with its size known there it is one move. Left to itself
 * the compiler makes a function of it, for any size. */
#define always_inline inline __attribute__((always_inline))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

struct uarch *uarch_new(const struct profile *p);
void uarch_free(struct uarch *u);
void uarch_reset(struct uarch *u);

/* The L1D set-associative tags start with the most recently used way of each set, so that a hit
 * there is one compare; the interpreter's fast path inlines it. */
struct block;
struct window;
#define WINDOW_MAX     512 /* blocks and slots in flight */
#define RETURN_STACK   16
#define MAX_INSN_BYTES 15
#define FETCH_MISSES   32 /* as many lines as a block can have, at least */
struct uarch {
    const struct profile *profile;
    /* sim/cpu/window.c: the number of the window's state at the present block's end, and the blocks
     * that ran last. */
    uint64_t state, n_blocks;
    uint64_t from;       /* the number of its state at the present block's begin */
    uint64_t empty;      /* the number of the state in which nothing is in flight */
    uint64_t drained_at; /* n_blocks when that was so */
    struct window *window;
    uint64_t fetches; /* lines that came into the instruction cache: what was there may be gone */
    uint64_t *l1_mru; /* [set]: line address (physical >> line_shift) + 1 of the way used last */
    uint32_t l1_set_mask, line_shift;
    uint32_t l1_latency;       /* cycles */
    uint64_t max_access_slots; /* most that one access can spend beyond its instruction's own slots
                                  (TLB walk included) */
    uint64_t max_branch_slots; /* likewise for a branch */
    /* Two-bit counters of conditional branches, by address; from 2 on: taken. */
    uint8_t *taken;
    uint64_t taken_mask;
    /* The return stack predicts by the calls' own addresses; the depth counts on, the stack wraps.
     */
    uint64_t call_site[RETURN_STACK];
    unsigned call_depth;
    /* The instruction cache: line + 1 of each way, the one used last first in its set. */
    const uint64_t *l1i_tag;
    uint32_t l1i_ways, l1i_set_mask;
    /* Where the last store was found that was looked up (1 to 4 as of cpu.last_load), and the lines
     * of code that were not in L1I, the last ones: with the number of the block that they were for.
     */
    uint8_t store_level;
    struct fetch_miss {
        uint64_t block, line;
        uint8_t level;
    } fetch_miss[FETCH_MISSES];
    /* Fetches made for the blocks up to that one: see cpu_fetches. */
    uint64_t fetched, fetched_to;
    void *model;
    const struct block *log[WINDOW_MAX]; /* last: what is above it is used most */
};

/* An access that missed the MRU way: looks up all levels, fills, bumps EV_L1_*..EV_LLC_*, spends
 * the stall. Not called for uncached (device) accesses, which cost uarch_device_access(). */
void uarch_load_slow(struct cpu *cpu, uint64_t linear, uint64_t physical);
void uarch_store_slow(struct cpu *cpu, uint64_t linear, uint64_t physical);
void uarch_device_access(struct cpu *cpu);
/* The line leaves every cache of every processor. */
void uarch_flush(struct cpu *cpu, uint64_t physical);
void uarch_tlb_miss(struct cpu *cpu, unsigned levels, bool fetch);

/* Code is to run that may not be in the instruction cache: looks its lines up, fills, spends. */
void uarch_fetch(struct cpu *cpu, uint64_t physical, unsigned bytes);

/* The level in which the line of code was found that the present block had to bring into L1I; 0: it
 * was there. */
unsigned uarch_fetch_missed(const struct uarch *u, uint64_t physical);
unsigned uarch_latency(const struct uarch *u, unsigned level);

/* EV_LOAD and EV_STORE are bumped by the interpreter (statically per block); L1 hits here. An
 * access that crosses a line makes two calls but one EV_LOAD; only its first part counts as hit or
 * miss of L1. */
static always_inline bool uarch_in_l1(const struct uarch *u, uint64_t physical)
{
    uint64_t line = physical >> u->line_shift;
    return likely(u->l1_mru[line & u->l1_set_mask] == line + 1);
}
/* A load that was in L1D. */
static always_inline void uarch_hit(struct cpu *cpu, uint64_t *total, uint64_t linear)
{
    total[EV_L1_HIT]++;
    cpu->last_load.linear = linear;
    cpu->last_load.level = 1;
    cpu->last_load.latency = cpu->uarch->l1_latency;
}
static always_inline void uarch_load(struct cpu *cpu, uint64_t linear, uint64_t physical)
{
    if (uarch_in_l1(cpu->uarch, physical))
        uarch_hit(cpu, cpu->total[cpu->cpl != 0], linear);
    else
        uarch_load_slow(cpu, linear, physical);
}
static always_inline void uarch_store(struct cpu *cpu, uint64_t linear, uint64_t physical)
{
    if (!uarch_in_l1(cpu->uarch, physical))
        uarch_store_slow(cpu, linear, physical);
}

/* All that is in flight has retired, and nothing was begun ahead: after a mispredicted branch, an
 * exception, an interrupt, a system instruction, a REP iteration. */
static inline void window_drain(struct cpu *cpu)
{
    struct uarch *u = cpu->uarch;
    u->state = u->empty;
    u->drained_at = u->n_blocks;
}

/* Of the lines of the code, within a page, each is the one that was used last of its set: to look
 * them up would change nothing. */
static inline bool uarch_fetched(const struct uarch *u, uint64_t physical, unsigned bytes)
{
    if (unlikely(!u->l1i_tag))
        return false;
    uint64_t line = physical >> u->line_shift, last = (physical + bytes - 1) >> u->line_shift;
    for (; line <= last; line++)
        if (u->l1i_tag[(line & u->l1i_set_mask) * u->l1i_ways] != line + 1)
            return false;
    return true;
}

/* What a mispredicted branch costs. */
static inline void uarch_mispredicted(struct cpu *cpu)
{
    cpu_event(cpu, EV_MISPREDICT, 1);
    window_drain(cpu);
    cpu_spend(cpu, EV_SLOTS_BAD_SPEC, cpu->uarch->max_branch_slots);
}

static inline void uarch_call(struct uarch *u, uint64_t rip)
{
    u->call_site[u->call_depth++ % RETURN_STACK] = rip;
}
/* A return to right behind the call, at most one instruction's length away, is the predicted one.
 */
static inline bool uarch_predicts_return(struct uarch *u, uint64_t target)
{
    if (u->call_depth == 0)
        return false;
    uint64_t site = u->call_site[--u->call_depth % RETURN_STACK];
    return target - site - 1 < MAX_INSN_BYTES;
}

static inline uint8_t *uarch_counter(struct uarch *u, uint64_t rip)
{
    return &u->taken[rip & u->taken_mask];
}
/* A conditional branch retires: as uarch_branch, which see. */
static inline bool uarch_branch_conditional(struct cpu *cpu, uint64_t rip, bool taken)
{
    uint8_t *counter = uarch_counter(cpu->uarch, rip), old = *counter;
    *counter = taken ? old + (old < 3) : old - (old > 0);
    if (__builtin_expect((old >> 1) == taken, 1))
        return false;
    uarch_mispredicted(cpu);
    return true;
}

/* A branch retires: predicts and learns. Returns true (and bumps EV_MISPREDICT, spends the penalty)
 * when it was mispredicted. The interpreter bumps EV_BRANCH and its kinds. */
bool uarch_branch(struct cpu *cpu, enum branch_kind kind, uint64_t rip, uint64_t target,
                  bool taken);

#endif
