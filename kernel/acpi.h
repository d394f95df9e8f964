/*
 * The ACPI tables: RSDP, RSDT or XSDT, and the processors of the MADT. Pure: the tables
 * are reached through a function of the caller's, so the host's unit tests and fuzzer compile it.
 * ACPI Specification, "Root System Description Pointer (RSDP)" to "Multiple APIC Description Table
 * (MADT)".
 */
#ifndef PMULAB_ACPI_H
#define PMULAB_ACPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ACPI_MAX_PROCESSORS 256

/* The enabled processors, in the order of the MADT, each local APIC ID once. */
struct acpi_processors {
    unsigned n;
    uint32_t apic_id[ACPI_MAX_PROCESSORS];
    unsigned left_out; /* enabled ones beyond the list */
    unsigned disabled; /* entries without the flag Enabled: sockets or cores that are not there */
    const char
        *error; /* one sentence: why the list is empty or ends early; NULL when all is well */
};

/* size bytes at a physical address, readable until the search is over; NULL when it cannot be read.
 */
typedef const uint8_t *(*acpi_reader)(uint64_t address, size_t size);

/* Fills *out from the RSDP (20 bytes of ACPI 1.0, or 36 of 2.0 and later, checked by the caller).
 * Malformed tables give what was read up to there, and the error; nothing outside a table's length
 * is read. True when there is at least one processor. */
bool acpi_find_processors(struct acpi_processors *out, const uint8_t *rsdp, size_t rsdp_size,
                          acpi_reader read);

/*
 * The first table with this signature ("APIC", "HPET"), whole, with its length: it is at least a
 * header long, its checksum is right. NULL when there is none; then *error is NULL, or says what is
 * broken on the way to it.
 */
const uint8_t *acpi_find_table(const uint8_t *rsdp, size_t rsdp_size, const char *signature,
                               acpi_reader read, size_t *length, const char **error);

#endif
