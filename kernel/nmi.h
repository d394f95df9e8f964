/*
 * The NMI: one vector, several senders, and nothing that says who sent it (SDM vol. 3 "Nonmaskable
 * Interrupt (NMI)"). Two that come at once are one: so each who may have sent it is asked.
 */
#ifndef PMULAB_NMI_H
#define PMULAB_NMI_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/* Looks whether the NMI is its own, does what is due, and says so. It runs on the NMI's stack,
 * where no second NMI comes in between. */
typedef bool (*nmi_owner)(struct trap_frame *frame);

/* From now on the owner is asked at each NMI, on every processor, after those that asked before. */
void nmi_add_owner(nmi_owner owner);

/* The handler of the vector. An NMI that nobody owns is counted. */
void nmi_interrupt(struct trap_frame *frame);

/* How many were nobody's on the processor that asks, since it started. */
unsigned nmi_strays(void);

/* Those of all processors since this was last asked, and where the first of them came. */
struct nmi_first_stray {
    unsigned count;
    uint64_t rip;
};
struct nmi_first_stray nmi_take_strays(void);

#endif
