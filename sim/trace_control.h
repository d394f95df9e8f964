/* Switching the trace on: main's side of sim/trace.h. */
#ifndef PMUSIM_TRACE_CONTROL_H
#define PMUSIM_TRACE_CONTROL_H

#include <stdint.h>

/* Traces these kinds (TRACE_*), from the first execution of *from on and until that of *to; NULL:
 * from the start, to the end. */
void trace_start(unsigned kinds, const uint64_t *from, const uint64_t *to);

#endif
