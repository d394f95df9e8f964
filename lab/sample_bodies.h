/*
 * What the experiments about samples run (lab/sample_bodies.S): a loop in which one instruction of
 * 64 is a load, and a loop of four functions with known shares. The numbers are read by GNU as too.
 */
#ifndef PMULAB_SAMPLE_BODIES_H
#define PMULAB_SAMPLE_BODIES_H

#define SPARSE_ADDS  61
#define SPARSE_INSNS (1 + SPARSE_ADDS + 2) /* of a round, DEC and JNZ included */
#define SPARSE_SIZE  4                     /* of the load and of each addition, in bytes */

/* Iterations of each function of shares_loop: about a tenth, two, three and four of it. */
#define SHARE_A 2000
#define SHARE_B 4000
#define SHARE_C 6000
#define SHARE_D 8000

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

#include "lab/bodies.h"

void sparse_loads(uint64_t rounds);
extern const char sparse_loads_loop[], sparse_loads_again[], sparse_loads_end[];

/* Is this address in the loop, or where it ends? How many of its instructions were done there, by
 * RDI, which counts the rounds down from so many. */
bool sparse_loads_has(uint64_t rip);
uint64_t sparse_loads_done(uint64_t rip, uint64_t rdi, uint64_t rounds);

void share_a(uint64_t unused);
void share_b(uint64_t unused);
void share_c(uint64_t unused);
void share_d(uint64_t unused);
extern const char share_a_end[], share_b_end[], share_c_end[], share_d_end[];
extern const struct body_insns share_a_insns, share_b_insns, share_c_insns, share_d_insns;

/* Calls them in this order in each round. */
void shares_loop(uint64_t rounds);
extern const struct body_insns shares_loop_insns;

#endif
#endif
