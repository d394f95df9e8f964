/* Code for ring 3, in assembly (lab/ring3.S): to be given to user_load() or user_run(). */
#ifndef PMULAB_RING3_H
#define PMULAB_RING3_H

#include "lab/bodies.h"

#define USER_TOUCH_PAGES 4 /* read by GNU as too */

#ifndef __ASSEMBLER__

/* Gives 4 * the argument + CPL, after a push and a pop. */
extern const char user_probe[], user_probe_end[];

/* A loop of as many rounds as the argument says; gives 1. */
extern const char user_spin[], user_spin_end[];

/* A loop over the stack with calls in it, of the argument's rounds, at least 1; its listing. The
 * way back is not in it. */
extern const char user_counted[], user_counted_end[];
extern const struct body_insns user_counted_insns;

/* Loads from USER_TOUCH_PAGES pages, from the argument's address on. */
extern const char user_touch[], user_touch_end[];
extern const struct body_insns user_touch_insns;

/* RDPMC of the selector in the argument; gives what it reads. */
extern const char user_rdpmc[], user_rdpmc_instruction[], user_rdpmc_end[];

/* HLT, which raises #GP in ring 3. */
extern const char user_halt[], user_halt_end[];

#endif
#endif
