/* ACPI Specification: "Root System Description Pointer", "Root System Description Table", "Extended
 * System Description Table", "Multiple APIC Description Table", "Processor Local APIC Structure".
 */
#include "sim/acpi.h"
#include "x86/apic.h"

#include <string.h>

#define RSDT               (ACPI_RSDP + 0x40)
#define XSDT               (ACPI_RSDP + 0x80)
#define MADT               (ACPI_RSDP + 0x100)
#define HEADER_SIZE        36
#define MADT_FLAG_PCAT     1 /* an 8259 pair is there too */
#define LOCAL_APIC         0
#define LOCAL_APIC_SIZE    8
#define LOCAL_APIC_ENABLED 1

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = value >> (8 * i);
}

static uint8_t checksum(const uint8_t *table, unsigned length)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < length; i++)
        sum += table[i];
    return -sum;
}

/* Fills in the header of a table whose body stands. */
static void finish(uint8_t *table, const char *signature, uint8_t revision, uint32_t length)
{
    memcpy(table, signature, 4);
    put(table + 4, length, 4);
    table[8] = revision;
    table[9] = 0;
    memcpy(table + 10, "PMULABPMUSIM  ", 14); /* OEM ID (6), OEM table ID (8) */
    put(table + 24, 1, 4);                    /* OEM revision */
    memcpy(table + 28, "PMUS", 4);            /* creator */
    put(table + 32, 1, 4);
    table[9] = checksum(table, length);
}

void acpi_build(struct machine *m)
{
    uint8_t *rsdp = m->ram + ACPI_RSDP, *rsdt = m->ram + RSDT, *xsdt = m->ram + XSDT;
    uint8_t *madt = m->ram + MADT, *entry = madt + HEADER_SIZE + 8;

    put(madt + HEADER_SIZE, APIC_DEFAULT_BASE, 4);
    put(madt + HEADER_SIZE + 4, MADT_FLAG_PCAT, 4);
    for (unsigned i = 0; i < m->n_cpus; i++, entry += LOCAL_APIC_SIZE) {
        entry[0] = LOCAL_APIC;
        entry[1] = LOCAL_APIC_SIZE;
        entry[2] = i; /* processor UID */
        entry[3] = i; /* APIC ID */
        put(entry + 4, LOCAL_APIC_ENABLED, 4);
    }
    finish(madt, "APIC", 3, entry - madt);
    put(rsdt + HEADER_SIZE, MADT, 4);
    finish(rsdt, "RSDT", 1, HEADER_SIZE + 4);
    put(xsdt + HEADER_SIZE, MADT, 8);
    finish(xsdt, "XSDT", 1, HEADER_SIZE + 8);

    memset(rsdp, 0, ACPI_RSDP_SIZE);
    memcpy(rsdp, "RSD PTR ", 8);
    memcpy(rsdp + 9, "PMULAB", 6);
    rsdp[15] = 2; /* revision: ACPI 2.0 and later */
    put(rsdp + 16, RSDT, 4);
    put(rsdp + 20, ACPI_RSDP_SIZE, 4);
    put(rsdp + 24, XSDT, 8);
    rsdp[8] = checksum(rsdp, ACPI_RSDP_V1);
    rsdp[32] = checksum(rsdp, ACPI_RSDP_SIZE);
}
