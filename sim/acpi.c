/*
 * The ACPI tables that firmware would leave. ACPI Specification 6: "ACPI Software Programming
 * Model" for the tables, "ACPI Machine Language (AML) Specification" for the DSDT; Intel, "IA-PC
 * HPET Specification", "The ACPI 2.0 HPET Description Table".
 */
#include "sim/acpi.h"
#include "x86/apic.h"

#include <string.h>

/* Where each is, from ACPI_RSDP on. */
enum {
    RSDT = 0x40,
    XSDT = 0x80,
    MADT = 0x100,
    FADT = 0x200,
    FACS = 0x300,
    HPET = 0x380,
    DSDT = 0x400,
    TABLES_END = 0x500
};

#define HEADER_SIZE 36
#define PM_BASE     ACPI_PM_BASE
#define RTC_CENTURY 0x32

/* MADT. */
#define MADT_FLAG_PCAT     1 /* an 8259 pair is there too */
#define LOCAL_APIC         0
#define LOCAL_APIC_ENABLED 1
#define IO_APIC            1
#define SOURCE_OVERRIDE    2
#define LOCAL_APIC_NMI     4
#define ALL_PROCESSORS     0xff
#define ACTIVE_HIGH_LEVEL  0x0d
#define AS_THE_BUS_SAYS    0
#define TIMER_IRQ          0
#define TIMER_PIN          2
#define NMI_LINT           1

/* FADT: its flags, and what a PC has without ACPI. */
#define FADT_SIZE       244 /* as of ACPI 3.0 */
#define FADT_REVISION   4
#define WBINVD          (1 << 0)
#define PROC_C1         (1 << 2)
#define PWR_BUTTON      (1 << 4) /* the two buttons are not fixed hardware: there are none */
#define SLP_BUTTON      (1 << 5)
#define FIX_RTC         (1 << 6) /* the clock cannot wake the machine */
#define TMR_VAL_EXT     (1 << 8) /* 32 bits */
#define RESET_REG_SUP   (1 << 10)
#define LEGACY_DEVICES  (1 << 0)
#define NO_VGA          (1 << 2)
#define RESET_PORT      0xcf9
#define RESET_VALUE     0x06
#define C2_C3_NOT_THERE 0xffff
enum { SPACE_MEMORY, SPACE_IO };

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

/* "Generic Address Structure": 12 bytes. */
static void put_address(uint8_t *at, unsigned space, unsigned bytes, uint64_t address)
{
    at[0] = space;
    at[1] = 8 * bytes;
    at[2] = 0;
    at[3] = bytes == 1 ? 1 : bytes == 2 ? 2 : 3; /* the size of an access */
    put(at + 4, address, 8);
}

/* "Interrupt Source Override Structure". */
static uint8_t * override(uint8_t *at, unsigned irq, unsigned pin, unsigned flags)
{
    at[0] = SOURCE_OVERRIDE;
    at[1] = 10;
    at[2] = 0; /* ISA */
    at[3] = irq;
    put(at + 4, pin, 4);
    put(at + 8, flags, 2);
    return at + at[1];
}

static void build_madt(const struct machine *m, uint8_t *madt)
{
    uint8_t *at = madt + HEADER_SIZE;

    put(at, APIC_DEFAULT_BASE, 4);
    put(at + 4, MADT_FLAG_PCAT, 4);
    at += 8;
    for (unsigned i = 0; i < m->n_cpus; i++, at += at[1]) {
        at[0] = LOCAL_APIC;
        at[1] = 8;
        at[2] = i; /* processor UID */
        at[3] = i; /* APIC ID */
        put(at + 4, LOCAL_APIC_ENABLED, 4);
    }
    at[0] = IO_APIC;
    at[1] = 12;
    at[2] = ACPI_IOAPIC_ID;
    at[3] = 0;
    put(at + 4, IOAPIC_BASE, 4);
    put(at + 8, 0, 4); /* the number of its first pin */
    at += at[1];
    at = override(at, TIMER_IRQ, TIMER_PIN, AS_THE_BUS_SAYS);
    at = override(at, ACPI_SCI_IRQ, ACPI_SCI_IRQ, ACTIVE_HIGH_LEVEL);
    at[0] = LOCAL_APIC_NMI;
    at[1] = 6;
    at[2] = ALL_PROCESSORS;
    put(at + 3, AS_THE_BUS_SAYS, 2);
    at[5] = NMI_LINT;
    at += at[1];
    finish(madt, "APIC", 3, at - madt);
}

/* "Fixed ACPI Description Table". No SMI command port: ACPI mode is on. */
static void build_fadt(uint8_t *fadt)
{
    put(fadt + 36, ACPI_RSDP + FACS, 4);
    put(fadt + 40, ACPI_RSDP + DSDT, 4);
    put(fadt + 46, ACPI_SCI_IRQ, 2);
    put(fadt + 56, PM_BASE, 4);     /* PM1a event block */
    put(fadt + 64, PM_BASE + 4, 4); /* PM1a control block */
    put(fadt + 76, PM_BASE + 8, 4); /* timer */
    fadt[88] = 4;                   /* the lengths of the three */
    fadt[89] = 2;
    fadt[91] = 4;
    put(fadt + 96, C2_C3_NOT_THERE, 2); /* their latencies */
    put(fadt + 98, C2_C3_NOT_THERE, 2);
    fadt[108] = RTC_CENTURY;
    put(fadt + 109, LEGACY_DEVICES | NO_VGA, 2);
    put(fadt + 112,
        WBINVD | PROC_C1 | PWR_BUTTON | SLP_BUTTON | FIX_RTC | TMR_VAL_EXT | RESET_REG_SUP, 4);
    put_address(fadt + 116, SPACE_IO, 1, RESET_PORT);
    fadt[128] = RESET_VALUE;
    put(fadt + 132, ACPI_RSDP + FACS, 8);
    put(fadt + 140, ACPI_RSDP + DSDT, 8);
    put_address(fadt + 148, SPACE_IO, 4, PM_BASE);
    put_address(fadt + 172, SPACE_IO, 2, PM_BASE + 4);
    put_address(fadt + 208, SPACE_IO, 4, PM_BASE + 8);
    finish(fadt, "FACP", FADT_REVISION, FADT_SIZE);
}

/* "Firmware ACPI Control Structure": nothing sleeps, so nothing of it is used. */
static void build_facs(uint8_t *facs)
{
    memcpy(facs, "FACS", 4);
    put(facs + 4, 64, 4);
    facs[32] = 2; /* version */
}

static void build_hpet(uint8_t *hpet)
{
    put(hpet + 36, HPET_ID, 4);
    put_address(hpet + 40, SPACE_MEMORY, 8, HPET_BASE);
    put(hpet + 53, HPET_MIN_TICKS, 2);
    finish(hpet, "HPET", 1, 56);
}

/*
 *     DefinitionBlock ("", "DSDT", 2, ...) { Name (\_S5, Package (4) {5, 5, 0, 0}) }
 *
 * Its values are for SLP_TYP of PM1a and PM1b.
 */
static void build_dsdt(uint8_t *dsdt)
{
    enum { NAME_OP = 0x08, PACKAGE_OP = 0x12, BYTE_PREFIX = 0x0a, ZERO_OP = 0x00 };
    static const uint8_t aml[] = {NAME_OP,
                                  '\\',
                                  '_',
                                  'S',
                                  '5',
                                  '_',
                                  PACKAGE_OP,
                                  8 /* bytes, with this one */,
                                  4 /* elements */,
                                  BYTE_PREFIX,
                                  ACPI_S5_TYPE,
                                  BYTE_PREFIX,
                                  ACPI_S5_TYPE,
                                  ZERO_OP,
                                  ZERO_OP};

    memcpy(dsdt + HEADER_SIZE, aml, sizeof(aml));
    finish(dsdt, "DSDT", 2, HEADER_SIZE + sizeof(aml));
}

void acpi_build(struct machine *m)
{
    static const unsigned listed[] = {FADT, MADT, HPET};
    const unsigned n = sizeof(listed) / sizeof(listed[0]);
    uint8_t *rsdp = m->ram + ACPI_RSDP, *rsdt = rsdp + RSDT, *xsdt = rsdp + XSDT;

    memset(rsdp, 0, TABLES_END);
    build_madt(m, rsdp + MADT);
    build_fadt(rsdp + FADT);
    build_facs(rsdp + FACS);
    build_hpet(rsdp + HPET);
    build_dsdt(rsdp + DSDT);
    for (unsigned i = 0; i < n; i++) {
        put(rsdt + HEADER_SIZE + 4 * i, ACPI_RSDP + listed[i], 4);
        put(xsdt + HEADER_SIZE + 8 * i, ACPI_RSDP + listed[i], 8);
    }
    finish(rsdt, "RSDT", 1, HEADER_SIZE + 4 * n);
    finish(xsdt, "XSDT", 1, HEADER_SIZE + 8 * n);

    memcpy(rsdp, "RSD PTR ", 8);
    memcpy(rsdp + 9, "PMULAB", 6);
    rsdp[15] = 2; /* revision: ACPI 2.0 and later */
    put(rsdp + 16, ACPI_RSDP + RSDT, 4);
    put(rsdp + 20, ACPI_RSDP_SIZE, 4);
    put(rsdp + 24, ACPI_RSDP + XSDT, 8);
    rsdp[8] = checksum(rsdp, ACPI_RSDP_V1);
    rsdp[32] = checksum(rsdp, ACPI_RSDP_SIZE);
}
