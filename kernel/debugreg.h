/* The debug registers, SDM vol. 3 "Debug Registers": as far as the experiments use them. */
#ifndef PMULAB_DEBUGREG_H
#define PMULAB_DEBUGREG_H

#include <stdint.h>

/* A breakpoint on the execution of the instruction at address, in DR0. It is a fault: a handler
 * that goes on there must set RF in the saved RFLAGS. */
void debug_break_on(const char *address);

/* DR6, whose bits the processor sets and never clears; and clearing it. */
uint64_t debug_status(void);
void debug_status_clear(void);

/* No breakpoints, DR6 clear, #DB unexpected again. */
void debug_reset(void);

#endif
