/* HPET and ACPI power management timer. */
#include "kernel/clocks.h"

#include <stddef.h>

#include "boot/bootinfo.h"
#include "kernel/acpi.h"
#include "kernel/io.h"
#include "kernel/paging.h"
#include "kernel/string.h"

/* ACPI Specification, "Generic Address Structure (GAS)". */
#define GAS_SIZE    12
#define GAS_ADDRESS 4
#define GAS_MEMORY  0
#define GAS_IO      1

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
#define FADT_FLAGS        112
#define FADT_SIZE_1       116
#define FADT_X_PM_TMR_BLK 208
#define FADT_TMR_VAL_EXT  (1 << 8)
#define FADT_HW_REDUCED   (1 << 20)
#define PM_TIMER_BYTES    4
#define PM_TIMER_HZ       3579545

static volatile uint32_t *hpet;
static uint16_t pm_timer_port;

static uint64_t read_little(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, p, bytes);
    return value;
}

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
    if (!table || length < HPET_TABLE_SIZE || table[HPET_TABLE_ADDRESS] != GAS_MEMORY)
        return false;
    uint64_t address = read_little(table + HPET_TABLE_ADDRESS + GAS_ADDRESS, 8);
    if (address < PAGE_SIZE || address % sizeof(uint64_t) != 0)
        return false;
    hpet = paging_map_mmio(address, HPET_BYTES);
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

/* The newer field holds when it is there and not 0 (ACPI Specification, "FADT", X_PM_TMR_BLK). */
static uint64_t pm_timer_address(const uint8_t *fadt, size_t length)
{
    const uint8_t *gas = fadt + FADT_X_PM_TMR_BLK;
    if (length >= FADT_X_PM_TMR_BLK + GAS_SIZE && read_little(gas + GAS_ADDRESS, 8) != 0)
        return gas[0] == GAS_IO ? read_little(gas + GAS_ADDRESS, 8) : 0;
    return fadt[FADT_PM_TMR_LEN] == PM_TIMER_BYTES ? read_little(fadt + FADT_PM_TMR_BLK, 4) : 0;
}

bool clock_acpi_pm(struct reference_clock *out, const struct bootinfo *boot)
{
    size_t length;
    const uint8_t *fadt = find(boot, "FACP", &length);
    if (!fadt || length < FADT_SIZE_1)
        return false;
    uint32_t flags = (uint32_t)read_little(fadt + FADT_FLAGS, 4);
    uint64_t port = pm_timer_address(fadt, length);
    if ((flags & FADT_HW_REDUCED) || port == 0 || port > UINT16_MAX)
        return false;
    pm_timer_port = (uint16_t)port;
    uint64_t mask = flags & FADT_TMR_VAL_EXT ? UINT32_MAX : (1 << 24) - 1;
    *out = (struct reference_clock){PM_TIMER_HZ, mask, pm_timer_read};
    return true;
}
