/*
 * MSR accesses that raised #GP: each is kept, for the list at the end of the run, and none may
 * bring the machine down. Processors, hypervisors and emulators refuse what CPUID announces; a
 * reader who sends in a report should find the access in it, whether it was tried on trial or not.
 */
#ifndef PMULAB_REFUSED_H
#define PMULAB_REFUSED_H

#include <stdbool.h>

struct trap_frame;

/* "WRMSR to", "RDMSR of" or "RDPMC of" when the frame is a #GP at such an instruction of the
 * kernel, with the register's number in its RCX; else NULL. */
const char *refused_access(const struct trap_frame *frame);
/* Keeps the access when it is one. */
void refused_note(const struct trap_frame *frame);
/* Goes on behind the instruction, as if RDMSR had read 0 and WRMSR had been ignored. False, and
 * nothing changed, when the frame is not such a #GP. */
bool refused_skip(struct trap_frame *frame);
/* The list as '#' lines; nothing when it is empty. */
void refused_print(void);

#endif
