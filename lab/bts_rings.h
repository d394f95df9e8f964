/* A round trip to ring 3 (kernel/user.h), traced, and in which ring its branches lie. */
#ifndef PMULAB_BTS_RINGS_H
#define PMULAB_BTS_RINGS_H

#include <stdbool.h>
#include <stdint.h>

struct bts_rings {
    unsigned user, kernel, crossing; /* records with both ends in ring 3, in ring 0, one in each */
    bool user_whole;                 /* those of ring 3 are the branches of bts_user, in order */
    bool kernel_whole;               /* the window's call is there, and the return to it */
};

/* Loads bts_user (lab/ds_bodies.h), back by the interrupt gate. False as user_load(). */
bool bts_rings_load(void);

/* Empties the buffer, traces one trip of so many rounds of bts_user with these flags beside
 * DEBUGCTL_BTS_ON, again when an SMI fell in (lab/take.h), dumps the records, and adds how many lie
 * where to the values. Wants a BTS buffer that is not full by it. */
struct bts_rings bts_rings_trace(uint64_t flags, unsigned rounds, const char *title);

#endif
