/* HPET and ACPI power management timer. */
#include "kernel/clocks.h"

#include <stddef.h>

#include "boot/bootinfo.h"
#include "kernel/acpi.h"
#include "kernel/io.h"
#include "kernel/paging.h"

/* IA-PC HPET Specification 1.0a, "The ACPI 2.0 HPET Description Table (HPET)". */
#define HPET_TABLE_ADDRESS 40
#define HPET_TABLE_SIZE    56
#define HPET_BYTES         1024
#define HPET_CAPABILITIES  0x00
#define HPET_CONFIGURATION 0x10
#define HPET_MAIN_COUNTER  0xf0
#define HPET_ENABLE        1
#define HPET_PERIOD_SHIFT  32
#define HPET_PERIOD_MAX    0x05f5e100 /* in femtoseconds: 100 ns */
#define FEMTOSECONDS       1000000000000000ULL

/* ACPI Specification, "Fixed ACPI Description Table (FADT)". */
#define FADT_PM_TMR_BLK   76
#define FADT_PM_TMR_LEN   91
#define FADT_X_PM_TMR_BLK 208
#define PM_TIMER_BYTES    4
#define PM_TIMER_HZ       3579545

static volatile uint32_t *hpet;
static uint16_t pm_timer_port;

static const uint8_t *find(const struct bootinfo *boot, const char *signature, size_t *length)
{
    const char *error = NULL;
    return acpi_find_table(boot->rsdp, boot->rsdp_size, signature, paging_physical, length, &error);
}

/* The low half is enough: it wraps after minutes, and a 64-bit read need not be atomic. */
static uint64_t hpet_read(void)
{
    return hpet[HPET_MAIN_COUNTER / sizeof(*hpet)];
}

bool clock_hpet(struct reference_clock *out, const struct bootinfo *boot)
{
    size_t length;
    const uint8_t *table = find(boot, "HPET", &length);
    if (!table || length < HPET_TABLE_SIZE)
        return false;
    struct acpi_register block = acpi_gas(table, length, HPET_TABLE_ADDRESS);
    if (block.space != ACPI_MEMORY || block.address < PAGE_SIZE ||
        block.address % sizeof(uint64_t) != 0)
        return false;
    hpet = paging_map_mmio(block.address, HPET_BYTES);
    if (!hpet)
        return false;
    uint32_t period = hpet[(HPET_CAPABILITIES + HPET_PERIOD_SHIFT / 8) / sizeof(*hpet)];
    if (period == 0 || period > HPET_PERIOD_MAX)
        return false;
    hpet[HPET_CONFIGURATION / sizeof(*hpet)] |= HPET_ENABLE;
    *out = (struct reference_clock){FEMTOSECONDS / period, UINT32_MAX, hpet_read};
    return true;
}

static uint64_t pm_timer_read(void)
{
    return inl(pm_timer_port);
}

bool clock_acpi_pm(struct reference_clock *out, const struct bootinfo *boot)
{
    size_t length;
    const uint8_t *fadt = find(boot, "FACP", &length);
    if (!fadt || length < FADT_SIZE_1)
        return false;
    uint32_t flags = (uint32_t)acpi_little(fadt + FADT_FLAGS, 4);
    struct acpi_register timer =
        acpi_fadt_register(fadt, length, FADT_PM_TMR_BLK, FADT_X_PM_TMR_BLK);
    bool wide = acpi_gas(fadt, length, FADT_X_PM_TMR_BLK).address != 0;
    if ((flags & FADT_HW_REDUCED) || (!wide && fadt[FADT_PM_TMR_LEN] != PM_TIMER_BYTES) ||
        timer.space != ACPI_IO || timer.address == 0 || timer.address > UINT16_MAX)
        return false;
    pm_timer_port = (uint16_t)timer.address;
    uint64_t mask = flags & FADT_TMR_VAL_EXT ? UINT32_MAX : (1 << 24) - 1;
    *out = (struct reference_clock){PM_TIMER_HZ, mask, pm_timer_read};
    return true;
}
