/* Names and fields of MSRs, for --trace msr. */
#ifndef PMUSIM_TRACE_MSR_H
#define PMUSIM_TRACE_MSR_H

#include "sim/profile.h"

/* Writes the SDM's name of the MSR ("IA32_PERFEVTSEL0"), or "MSR". */
void msr_name(char *buf, size_t size, uint32_t msr);
/* Writes what value means in that MSR, "INST_RETIRED.ANY_P USR OS INT EN"; empty when there is
 * nothing to say. */
void msr_fields(char *buf, size_t size, const struct profile *p, uint32_t msr, uint64_t value);

#endif
