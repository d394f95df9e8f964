/* What a run has done, for --stats. */
#ifndef PMUSIM_STATS_H
#define PMUSIM_STATS_H

#include <stdio.h>

#include "sim/dev/dev.h"

/* Prints the totals of each processor; wall_seconds is the host's time. */
void stats_print(const struct machine *m, double wall_seconds, FILE *out);

#endif
