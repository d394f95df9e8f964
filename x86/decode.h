/*
 * What the manual calls a register and the fields of its value: for register dumps, trace=msr,
 * pmusim's --trace msr, and tools that draw registers. Tables in x86/decode.c; no hardware. Names
 * are those of the SDM vol. 4 "Model-Specific Registers (MSRs)", and of AMD's APM vol. 2 "MSR
 * Cross-Reference" and PPRs.
 */
#ifndef PMULAB_X86_DECODE_H
#define PMULAB_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose registers: a number may be that of another one at each. */
enum decode_vendor { DECODE_INTEL, DECODE_AMD };

/* What a name depends on besides the register's number. */
struct decode_context {
    enum decode_vendor vendor;
    unsigned version; /* CPUID.0AH:EAX[7:0] */
    /* The name of an event that is not an architectural one, by its select register's value; NULL
     * when it has none. May be NULL itself. */
    const char *(*event_name)(const void *arg, uint64_t select);
    const void *arg; /* of event_name */
};

/* How a field's value is told. */
enum decode_kind {
    DECODE_FLAG,     /* its name when set: "EN" */
    DECODE_COUNTERS, /* a row of the table only: a flag for each counter, "EN_PMC%u" */
    DECODE_NUMBER,   /* "LBR_FMT=0x3" */
    DECODE_AMOUNT,   /* "CMASK=2", nothing when 0 */
    DECODE_ADDRESS,  /* the bits in their places: "base=0xfee00000" */
    DECODE_CHOICE,   /* one of choices, "NMI"; "" is not told */
    DECODE_EVENT,    /* of a select register: with its unit mask, the event's name */
    DECODE_UMASK,    /* told with the event */
};

struct decode_field {
    char name[32];
    char group[16]; /* whose field it is: "FIXED_CTR1"; "" when the register has but one of it */
    enum decode_kind kind;
    unsigned low, bits;
    const char *const *choices; /* DECODE_CHOICE: 1 << bits names */
};

/*
 * Writes the MSR's name into buf ("IA32_PERFEVTSEL0", "IA32_X2APIC_EOI"), NUL-terminated and cut at
 * size. 390H is IA32_PERF_GLOBAL_OVF_CTRL below version 4 and IA32_PERF_GLOBAL_STATUS_RESET from it
 * on. False, and "" in buf, when the MSR is not in the table.
 */
bool decode_msr_name(char *buf, size_t size, uint32_t msr, const struct decode_context *context);

/* The fields of a value of that MSR: "INST_RETIRED.ANY_P USR OS INT EN". Set bits that have no name
 * are listed as "reserved=0x…". "" for a value without fields, such as a counter's. */
void decode_msr_fields(char *buf, size_t size, uint32_t msr, uint64_t value,
                       const struct decode_context *context);

/* Field number index of that MSR (0, 1, …, the lowest bits first, but the fields of one group
 * together); false past the last one. Bits in no field are reserved. */
bool decode_msr_field(struct decode_field *field, uint32_t msr, unsigned index,
                      const struct decode_context *context);

/* The fields of the local APIC's LVT entry of the PMI: "vector=0xe0 fixed unmasked". */
void decode_lvt(char *buf, size_t size, uint32_t value);

/* The address as the SDM writes it: "186H", "0C1H" with a leading zero before a letter. */
void decode_msr_address(char *buf, size_t size, uint32_t msr);

/* The registers, to go through them: row i describes count MSRs, first and every stride-th one
 * behind it, whose names differ in a number; NULL past the last row. */
struct decode_register {
    uint32_t first;
    uint16_t count, stride;
    const char *name; /* "IA32_PMC%u" */
    const struct decode_layout *layout;
    uint8_t version_min, version_max; /* of the context, where name or layout depend on it */
    /* DECODE_AMD: known to such a context alone, and before a row of the others with that number.
     * DECODE_INTEL: known to both, for much is common. */
    enum decode_vendor vendor;
};
const struct decode_register *decode_register(unsigned i);

#endif
