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
    const struct branch *into, *back; /* the two that cross */
};

/* Loads branch_user for this way back and writes its branches down; user_enter() runs it. False as
 * user_load(): then there is nothing to run. */
bool round_trip_load(struct round_trip *trip, enum user_return how);

#endif
