/* The ACPI tables that firmware would leave: RSDP, RSDT, XSDT, MADT, FADT, FACS, HPET and DSDT; and
 * what of the machine stands in them. */
#ifndef PMUSIM_ACPI_H
#define PMUSIM_ACPI_H

#include "sim/dev/dev.h"

#define ACPI_RSDP      0xe0000
#define ACPI_RSDP_SIZE 36
#define ACPI_RSDP_V1   20 /* bytes of it that ACPI 1.0 knows */

/* Writes the tables into the ROM area of m->ram, the RSDP at ACPI_RSDP. */
void acpi_build(struct machine *m);

#endif
