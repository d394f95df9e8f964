/*
 * System-management interrupts: the firmware takes the processor away, at any instruction and
 * whatever is masked, and gives it back. Where MSR_SMI_COUNT is there, that can be seen. SDM vol. 4
 * "MSRs in Processors Based on Nehalem Microarchitecture", 34H: SMIs since the last reset, a count
 * of 32 bits for each logical processor, read-only. Later families have it too; no CPUID bit says
 * so.
 */
#ifndef PMULAB_SMI_H
#define PMULAB_SMI_H

#include <stdbool.h>
#include <stdint.h>

/* Asks whether MSR_SMI_COUNT is there. Wants trap_init(); never faults. */
void smi_init(void);

/* It is: SMIs can be seen. */
bool smi_counted(void);

/* SMIs that the calling processor has taken; only the difference of two such means anything, modulo
 * 2^32. 0 where there is no such register. */
uint32_t smi_count(void);

/* SMIs that the boot processor has taken from smi_init() to its last smi_count(), at the end of an
 * experiment: nothing is read any more when the summary is printed. */
uint32_t smi_total(void);

#endif
