/* The table of all experiments, in the order in which they run. */
#ifndef PMULAB_REGISTRY_H
#define PMULAB_REGISTRY_H

#include "lab/experiment.h"

/* Ended by NULL. */
extern const struct experiment *const experiments[];

#endif
