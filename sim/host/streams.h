/* The standard streams as a machine's host: the guest's serial line is the standard output (and
 * input), traces and notes go to the standard error. */
#ifndef PMUSIM_HOST_STREAMS_H
#define PMUSIM_HOST_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

/* The host table. input: give the guest the standard input. traced: many lines are to come. */
struct sim_host streams_host(bool input, bool traced);
/* Characters that guests have written so far. */
uint64_t streams_written(void);
/* Has this text been among them, since it was named? */
void streams_watch(const char *text);
bool streams_seen(void);
/* Says on stderr which stream could not be written and why; false: none. */
bool streams_report(void);
/* Ends both streams; false: what was printed there is not all written. */
bool streams_close(void);

#endif
