/*
 * The ACPI tables: RSDP, RSDT or XSDT, the processors of the MADT, the registers that the FADT
 * names. Pure: the tables are reached through a function of the caller's, so the host's unit tests
 * and fuzzer compile it.
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

/* The same for a table that another one points to, as the FADT does to the DSDT. *error stays as it
 * is when what lies there is no such table. */
const uint8_t *acpi_table_at(uint64_t address, const char *signature, acpi_reader read,
                             size_t *length, const char **error);

/* The value of so many bytes (up to 8) in a table, the least significant one first. */
uint64_t acpi_little(const uint8_t *p, unsigned bytes);

/* Where a register is. Source: "Generic Address Structure (GAS)", Address Space ID. */
enum { ACPI_MEMORY = 0, ACPI_IO = 1, ACPI_PCI = 2 };
struct acpi_register {
    uint8_t space;    /* ACPI_MEMORY, ACPI_IO, ACPI_PCI, or another one that nobody here reaches */
    uint64_t address; /* 0: there is no such register */
};

/* The register in the 12 bytes of a GAS at that offset of a table; none when the table ends before.
 */
struct acpi_register acpi_gas(const uint8_t *table, size_t length, size_t offset);

/* A register of the FADT that has two fields: the GAS of ACPI 2.0 (X_...) holds when it is there
 * and not 0, else the I/O port in the 4 bytes of ACPI 1.0. Source: "Fixed ACPI Description Table
 * (FADT)", X_PM1a_CNT_BLK and its like. */
struct acpi_register acpi_fadt_register(const uint8_t *fadt, size_t length, size_t old, size_t gas);

/* FADT: the offset of its flags, and those flags that matter here. ACPI 1.0's ends behind them. */
#define FADT_FLAGS         112
#define FADT_SIZE_1        116
#define FADT_TMR_VAL_EXT   (1 << 8)
#define FADT_RESET_REG_SUP (1 << 10)
#define FADT_HW_REDUCED    (1 << 20)

#endif
