/*
 * PVH: the start information and the state of processor 0. Sources: Xen, docs/misc/pvh.pandoc, and
 * xen/include/public/arch-x86/hvm/start_info.h ("hvm_start_info", "hvm_modlist_entry",
 * "hvm_memmap_table_entry", version 1).
 */
#include <inttypes.h>
#include <string.h>

#include "sim/acpi.h"
#include "sim/boot.h"
#include "sim/cpu/internal.h"
#include "sim/sim.h"

#define PVH_MAGIC   0x336ec578
#define PVH_VERSION 1
#define CMDLINE_MAX 4095
#define TSS_LIMIT   0x67
#define TSS_BUSY    0x008b00 /* 32-bit */

struct start_info {
    uint32_t magic, version, flags, n_modules;
    uint64_t modules, cmdline, rsdp, map;
    uint32_t n_map, reserved;
};
struct module {
    uint64_t address, size, cmdline, reserved;
};
struct map_entry {
    uint64_t start, length;
    uint32_t type, reserved;
};

/* All of it, as it lies in memory. */
struct information {
    struct start_info start;
    struct module module;
    struct map_entry map[MAP_MAX];
    char cmdline[CMDLINE_MAX + 1];
};

bool pvh_enter(struct machine *m, struct load_plan *plan, const struct sim_boot *b, FILE *err)
{
    const struct segment tss = {0, 0, TSS_LIMIT, TSS_BUSY};
    struct information info = {.start = {.magic = PVH_MAGIC, .version = PVH_VERSION}};
    struct region map[MAP_MAX];
    uint32_t at;

    if (strlen(b->cmdline) > CMDLINE_MAX) {
        fprintf(err, "the command line is too long (%zu bytes; %d fit)\n", strlen(b->cmdline),
                CMDLINE_MAX);
        return false;
    }
    if (!boot_initrd(m, plan, b, UINT32_MAX, &info.module.address, err) ||
        !(at = boot_room(m, plan, sizeof(info), err)))
        return false;
    memcpy(info.cmdline, b->cmdline, strlen(b->cmdline) + 1);
    info.module.size = b->initrd_size;
    info.start.n_modules = b->initrd_size != 0;
    info.start.modules = at + offsetof(struct information, module);
    info.start.cmdline = at + offsetof(struct information, cmdline);
    info.start.rsdp = ACPI_RSDP;
    info.start.map = at + offsetof(struct information, map);
    info.start.n_map = boot_memory_map(m, map);
    for (unsigned i = 0; i < info.start.n_map; i++)
        info.map[i] = (struct map_entry){map[i].start, map[i].length, map[i].type, 0};
    memcpy(m->ram + at, &info, sizeof(info));
    boot_protected_mode(m, plan);
    m->cpus[0]->r[RBX] = at;
    m->cpus[0]->seg[SEG_TR] = tss;
    return true;
}
