/* Parser of PVH's start info. It trusts nothing: every address goes through the reader. */
#include "boot/pvh.h"

/* What a freestanding environment provides anyway (GCC manual, "Standards"). */
#define memcpy __builtin_memcpy
#define memset __builtin_memset

#define RSDP_REVISION 15 /* offset; 2 since ACPI 2.0 */

typedef const uint8_t *reader(uint64_t address, size_t size);

struct memory_entry {
    uint64_t base, length;
    uint32_t
        type; /* as Multiboot2's: both are the BIOS's (ACPI Specification, "Address Range Types") */
    uint32_t reserved;
};

struct start_info {
    uint32_t magic, version, flags;
    uint32_t n_modules;
    uint64_t modules;
    uint64_t cmdline; /* this and the next: 0 when there is none */
    uint64_t rsdp;
    /* From version 1 on. */
    uint64_t memory;
    uint32_t n_memory;
    uint32_t reserved;
};
#define VERSION_0_SIZE offsetof(struct start_info, memory)

static void read_cmdline(struct bootinfo *out, uint64_t address, reader *read)
{
    size_t size = 0;
    while (size < BOOTINFO_CMDLINE && read(address, size + 1))
        size++;
    bootinfo_set_cmdline(out, read(address, size), size,
                         "the command line runs into memory that cannot be read");
}

static void read_memory(struct bootinfo *out, uint64_t address, size_t n, reader *read)
{
    const uint8_t *entries = read(address, n * sizeof(struct memory_entry));
    if (entries)
        bootinfo_add_memory(out, entries, n, sizeof(struct memory_entry));
    else
        bootinfo_error(out, "the memory map lies where it cannot be read; ignored");
}

static void read_rsdp(struct bootinfo *out, uint64_t address, reader *read)
{
    const uint8_t *rsdp = read(address, BOOTINFO_RSDP_V1);
    unsigned size = BOOTINFO_RSDP_V1;
    if (rsdp && rsdp[RSDP_REVISION] >= 2) {
        size = BOOTINFO_RSDP;
        rsdp = read(address, size);
    }
    if (rsdp)
        bootinfo_set_rsdp(out, rsdp, size, size);
    else
        bootinfo_error(out, "the ACPI RSDP lies where it cannot be read; ignored");
}

bool pvh_parse(struct bootinfo *out, uint64_t start_info, reader *read)
{
    struct start_info info = {0};
    const uint8_t *at = read(start_info, VERSION_0_SIZE);

    memset(out, 0, sizeof(*out));
    out->pvh = true;
    if (at)
        memcpy(&info, at, VERSION_0_SIZE);
    if (info.magic != PVH_START_MAGIC) {
        /* Nobody knows what was asked for, so nothing is to be run. */
        out->cmdline_error = at ? "PVH's start info does not begin with 336ec578h"
                                : "PVH's start info lies where it cannot be read";
        bootinfo_error(out, out->cmdline_error);
        return false;
    }
    if (info.version >= 1) {
        at = read(start_info, sizeof(info));
        if (at)
            memcpy(&info, at, sizeof(info));
        else
            bootinfo_error(out, "PVH's start info is cut off; there is no memory map");
    }
    if (info.cmdline != 0)
        read_cmdline(out, info.cmdline, read);
    if (info.n_memory != 0)
        read_memory(out, info.memory, info.n_memory, read);
    if (info.rsdp != 0)
        read_rsdp(out, info.rsdp, read);
    return out->n_errors == 0;
}
