/*
 * The functions under test, in assembly (lab/bodies.S), with the number of instructions
 * that each retires, RET included, as its listing has it: for a body with a loop, once + each *
 * iterations. COST_REPEATS and BODY_NOPS are read by GNU as too.
 */
#ifndef PMULAB_BODIES_H
#define PMULAB_BODIES_H

#define COST_REPEATS 8  /* of an instruction whose cost is measured, in each iteration */
#define BODY_NOPS    64 /* of body_nops, in each iteration */

#ifndef __ASSEMBLER__

#include <stdint.h>

struct body_insns {
    uint64_t once, each;
};

/* Only RET. */
void body_empty(uint64_t unused);
extern const struct body_insns body_empty_insns;

/* Loads, stores, calls, pushes, branches and one REP STOSQ (one instruction, however often it
 * repeats). */
void body_mixed(uint64_t iterations);
extern const struct body_insns body_mixed_insns;

/* A loop of two instructions: where a PMI can be waited for. */
void body_spin(uint64_t iterations);
extern const struct body_insns body_spin_insns;
extern const char body_spin_end[]; /* first byte after it */

/* NOPs of a byte each, the first of them at body_nops_first. */
void body_nops(uint64_t iterations);
extern const struct body_insns body_nops_insns;
extern const char body_nops_first[];

/* Multiplications, each of which needs the one before it: latency bound. */
void body_chain(uint64_t iterations);
extern const struct body_insns body_chain_insns;

/* The same, and what loops it, by one instruction, needs the last of them: none retires beside
 * another. */
void body_serial(uint64_t iterations);
extern const struct body_insns body_serial_insns;

/* As many additions that do not need each other: width bound. */
void body_parallel(uint64_t iterations);
extern const struct body_insns body_parallel_insns;

/* Instructions that read and write counters, COST_REPEATS of one an iteration: RDTSC; RDPMC of
 * general counter 1; RDMSR of body_cost_msr, which is to be set to that counter's address; WRMSR of
 * 0 to it. #GP where that counter is missing, and not in the trace of MSR accesses. */
extern uint32_t body_cost_msr;
void body_rdtsc(uint64_t iterations);
extern const struct body_insns body_rdtsc_insns;
void body_rdpmc(uint64_t iterations);
extern const struct body_insns body_rdpmc_insns;
void body_rdmsr(uint64_t iterations);
extern const struct body_insns body_rdmsr_insns;
void body_wrmsr(uint64_t iterations);
extern const struct body_insns body_wrmsr_insns;

/* Bursts and stalls by turns: nothing retires while a division is under way, which LFENCE keeps
 * from starting early, then additions that have waited for it retire several at once. */
void body_bursts(uint64_t iterations);
extern const struct body_insns body_bursts_insns;

/* Time-stamp counter and a counter read together by RDTSC and RDPMC, busy in between. */
struct clock_pair {
    uint64_t tsc, counter;
};
/* selector is RDPMC's ECX. Earlier loads and later instructions are kept out by LFENCE. */
void body_clock_read(struct clock_pair *pair, uint32_t selector);

/* STI; HLT. No interrupt can come between the two (SDM vol. 2 "STI": the interrupt shadow). Returns
 * with interrupts on after the interrupt that ended the halt. */
void body_halt(void);

/* The same without the halt. An instruction must stand between STI and a CLI, else no interrupt
 * ever gets in: the shadow of STI covers the next instruction. */
void body_open_for_interrupts(void);

/* How many instructions a body retires. */
static inline uint64_t insns_of(const struct body_insns *insns, uint64_t iterations)
{
    return insns->once + insns->each * iterations;
}

#endif
#endif
