/*
 * MSR accesses that raised #GP, or in the guest of a TDX module #VE, and CPUID that raised #VE:
 * each is kept, for the list at the end of the run, and none may bring the machine down.
 * Processors, hypervisors and emulators refuse what CPUID announces; a reader who sends in a report
 * should find the access in it, whether it was tried on trial or not.
 */
#ifndef PMULAB_REFUSED_H
#define PMULAB_REFUSED_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/* "WRMSR to", "RDMSR of", "RDPMC of" or "CPUID of" when the frame is of such an instruction of the
 * kernel that was refused, with the register's or the leaf's number in *number; else NULL. */
const char *refused_access(const struct trap_frame *frame, uint32_t *number);
/* Keeps the access when it is one. */
void refused_note(const struct trap_frame *frame);
/* Goes on behind the instruction, as if RDMSR and CPUID had read 0 and WRMSR had been ignored.
 * False, and nothing changed, when the frame is of no such access. */
bool refused_skip(struct trap_frame *frame);
/* The list as '#' lines; nothing when it is empty. */
void refused_print(void);

#endif
