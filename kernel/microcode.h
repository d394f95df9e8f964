/* The revision of the microcode update that the processors run with. */
#ifndef PMULAB_MICROCODE_H
#define PMULAB_MICROCODE_H

#include <stdbool.h>
#include <stdint.h>

/* The revision of the microcode update in *revision, 0 when none is loaded; that of the processor
 * that asks first, the boot processor, and read once. False, and *revision 0, where it cannot be
 * known: no processor of Intel's or AMD's, or IA32_BIOS_SIGN_ID (8BH) raises #GP. A hypervisor may
 * answer with any number. Never faults. */
bool microcode_revision(uint32_t *revision);

#endif
