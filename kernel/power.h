/*
 * How ACPI's tables say to switch the machine off and to reset it, as far as they say it without an
 * interpreter of AML. Pure, as kernel/acpi.h is. ACPI Specification, "Fixed ACPI Description Table
 * (FADT)", "\_Sx (System States)".
 */
#ifndef PMULAB_POWER_H
#define PMULAB_POWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/acpi.h"

/* The way into S5, "soft off": SLP_TYP, then SLP_EN, into one or two registers. */
struct power_off {
    bool reduced; /* hardware-reduced ACPI: the sleep control register, 8 bits wide; else PM1a_CNT
                     and PM1b_CNT, 16 bits wide */
    unsigned n;
    struct acpi_register control[2];
    uint8_t type[2];    /* SLP_TYPa and SLP_TYPb */
    uint16_t smi_port;  /* SMI_CMD and the value that turns ACPI on; 0: it cannot be turned on */
    uint8_t smi_enable; /* ACPI_ENABLE */
};

/* Fills *out. NULL, or why these tables do not say it. */
const char *power_find_off(struct power_off *out, const uint8_t *rsdp, size_t rsdp_size,
                           acpi_reader read);

/* One byte into one register. */
struct power_reset {
    struct acpi_register control;
    uint8_t value;
};

/* Fills *out. NULL, or why these tables do not say it. */
const char *power_find_reset(struct power_reset *out, const uint8_t *rsdp, size_t rsdp_size,
                             acpi_reader read);

#endif
