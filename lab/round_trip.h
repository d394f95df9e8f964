/* Round trips to ring 3 (kernel/user.h) whose branches are known. */
#ifndef PMULAB_ROUND_TRIP_H
#define PMULAB_ROUND_TRIP_H

#include <stdbool.h>

#include "kernel/user.h"
#include "lab/branches.h"

#define ROUND_TRIP_MAX_BRANCHES 8
/* The kind of a branch from one ring to the other. Those within a ring have LBR_SELECT_CPL_EQ_0 or
 * LBR_SELECT_CPL_NEQ_0. */
#define ROUND_TRIP_CROSSING LBR_SELECT_FAR_BRANCH

struct round_trip {
    const char *name; /* of the way back */
    /* What a window around user_enter() takes, the window's own branches included. */
    struct branch taken[ROUND_TRIP_MAX_BRANCHES];
    unsigned n;
    struct branch *into, *back; /* the two that cross */
};

/* Loads branch_user for this way back and writes its branches down; user_enter() runs it. False as
 * user_load(): then there is nothing to run. */
bool round_trip_load(struct round_trip *trip, enum user_return how);

/* What a filter for rings (LBR_SELECT_CPL_EQ_0 or _NEQ_0; 0: none) does to the two that cross.
 * Where the manual leaves that open, returns their kind: they may be recorded or not. Where it does
 * not (lbr_info()->hides_from), writes down what the records must say of them, and returns 0. */
uint64_t round_trip_filter(struct round_trip *trip, uint64_t select);

#endif
