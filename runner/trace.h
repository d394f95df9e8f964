/* trace=msr: the MSR accesses of an experiment, printed decoded after it. */
#ifndef PMULAB_TRACE_H
#define PMULAB_TRACE_H

/* Prints every access that the ring (kernel/msr.h) kept as '#' lines, oldest first. */
void trace_print(void);

#endif
