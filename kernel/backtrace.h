/* The chain of calls, by the frame pointers that -fno-omit-frame-pointer keeps. */
#ifndef PMULAB_BACKTRACE_H
#define PMULAB_BACKTRACE_H

#include <stdint.h>

/* Prints the return addresses found from rbp on, with symbols, as '#' lines. Never faults: a
 * pointer outside of the kernel's stacks ends the chain. */
void backtrace_print(uint64_t rbp);

#endif
