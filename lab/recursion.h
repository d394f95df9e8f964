/*
 * A recursion of two functions that call each other, each a leaf function as well before it goes
 * deeper, and the list of the frames that are alive at one point of it. Read by C and by GNU as.
 */
#ifndef PMULAB_RECURSION_H
#define PMULAB_RECURSION_H

/* struct recursion, for GNU as. */
#define RECURSION_MSR  0
#define RECURSION_OFF  8
#define RECURSION_DOWN 16
#define RECURSION_UP   24

#ifndef __ASSEMBLER__

#include <stdint.h>

#include "lab/branches.h"

struct recursion {
    uint64_t msr, off; /* the register that ends the recording, and what is written to it */
    uint64_t down;     /* calls from one of the two to the other */
    uint64_t up;       /* so many of them have returned when the recording is ended; at most down */
};

/* Window bodies (pmu/window.h); arg is the address of a struct recursion. The WRMSR is not in the
 * trace of MSR accesses. */
void recursion(uint64_t arg);
/* A call to the next instruction, whose return address is popped, then the end of the recording. */
void recursion_next(uint64_t arg);
extern const struct branch_run recursion_next_run; /* without that call */

/* Writes down the calls into the frames that are alive at the end of the recording, the outermost
 * first, the window's own included; returns how many they are: down - up + RECURSION_OUTER. */
#define RECURSION_OUTER 2
unsigned recursion_frames(struct branch *calls, const struct recursion *r);

#endif
#endif
