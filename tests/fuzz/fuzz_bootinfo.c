/* The kernel's parsers of what the firmware left: the boot information of Multiboot2, PVH's, and in
 * both the ACPI tables. The input lies in a block of exactly its size, and is the physical memory,
 * too. */
#include <string.h>

#include "boot/bootinfo.h"
#include "boot/pvh.h"
#include "kernel/acpi.h"
#include "kernel/power.h"
#include "tests/fuzz/fuzz.h"

static const uint8_t *memory;
static size_t memory_size;

static const uint8_t *read_physical(uint64_t address, size_t size)
{
    if (address > memory_size || size > memory_size - address)
        return NULL;
    return memory + address;
}

static void check(const struct bootinfo *info, bool good)
{
    static struct acpi_processors found;
    PROMISED(good == (info->n_errors == 0));
    PROMISED(info->n_memory <= BOOTINFO_MAX_MEMORY && info->rsdp_size <= BOOTINFO_RSDP);
    PROMISED(memchr(info->cmdline, 0, sizeof info->cmdline));
    if (info->rsdp_size) {
        bool any = acpi_find_processors(&found, info->rsdp, info->rsdp_size, read_physical);
        PROMISED(found.n <= ACPI_MAX_PROCESSORS && any == (found.n > 0));
        struct power_off off;
        struct power_reset reset;
        if (!power_find_off(&off, info->rsdp, info->rsdp_size, read_physical))
            PROMISED((off.n == 1 || off.n == 2) && off.type[0] <= 7 && off.type[1] <= 7);
        if (!power_find_reset(&reset, info->rsdp, info->rsdp_size, read_physical))
            PROMISED(reset.control.address != 0 && reset.control.space <= ACPI_PCI);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct bootinfo info;
    uint8_t *exact = malloc(size ? size : 1);
    PROMISED(exact);
    memcpy(exact, data, size);
    memory = exact;
    memory_size = size;

    check(&info, bootinfo_parse(&info, exact, size));
    check(&info, pvh_parse(&info, 0, read_physical));
    free(exact);
    return 0;
}
