/* Code for ring 3, in assembly (lab/ring3.S): to be given to user_load() or user_run(). */
#ifndef PMULAB_RING3_H
#define PMULAB_RING3_H

/* Gives 4 * the argument + CPL, after a push and a pop. */
extern const char user_probe[], user_probe_end[];

/* A loop of as many rounds as the argument says; gives 1. */
extern const char user_spin[], user_spin_end[];

/* HLT, which raises #GP in ring 3. */
extern const char user_halt[], user_halt_end[];

#endif
