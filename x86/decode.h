/*
 * MSR names and fields as text, for register dumps and trace=msr. Pure: values in, text out, no
 * hardware, so that the host tests compile it. Names are those of the SDM vol. 4 "Architectural
 * MSRs".
 */
#ifndef PMULAB_DECODE_H
#define PMULAB_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writes the MSR's name into buf ("IA32_PERFEVTSEL0", "IA32_X2APIC_EOI"), NUL-terminated and cut at
 * size. version is CPUID.0AH:EAX[7:0]: 390H is IA32_PERF_GLOBAL_OVF_CTRL below version 4 and
 * IA32_PERF_GLOBAL_STATUS_RESET from it on. False, and "" in buf, when the MSR is not in the table.
 */
bool decode_msr_name(char *buf, size_t size, uint32_t msr, unsigned version);

/* The fields of a value of that MSR: "INST_RETIRED.ANY_P USR OS INT EN". Set bits that have no name
 * are listed as "reserved=0x…". "" for a value without fields, such as a counter's. */
void decode_msr_fields(char *buf, size_t size, uint32_t msr, uint64_t value);

/* The fields of an LVT entry of the local APIC: "vector=0xe0 fixed unmasked". */
void decode_lvt(char *buf, size_t size, uint32_t value);

/* The address as the SDM writes it: "186H", "0C1H" with a leading zero before a letter. */
void decode_msr_address(char *buf, size_t size, uint32_t msr);

#endif
