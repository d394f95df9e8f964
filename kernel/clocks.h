/* The PC's clocks of a known rate, found through the ACPI tables: what the TSC can be measured
 * against. */
#ifndef PMULAB_CLOCKS_H
#define PMULAB_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct bootinfo;

struct reference_clock {
    uint64_t hz;
    uint64_t mask; /* the counter's bits: it wraps above them */
    uint64_t (*read)(void);
};

/* The main counter of the HPET, started when it stands; false when the tables name none, or its
 * registers make no sense. IA-PC HPET Specification 1.0a, "Register Model". */
bool clock_hpet(struct reference_clock *out, const struct bootinfo *boot);

/* The ACPI power management timer. ACPI Specification, "Power Management Timer". */
bool clock_acpi_pm(struct reference_clock *out, const struct bootinfo *boot);

#endif
