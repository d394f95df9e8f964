/*
 * Linux's 64-bit boot protocol: boot_params, the initrd, page tables and the processor's state.
 * Source: Linux, Documentation/x86/boot.rst, "64-bit Boot Protocol", and zero-page.rst. A vmlinux
 * (ELF) is entered where the stub of its bzImage would, in the same state; it has no setup header
 * of its own: what a loader fills in is what the kernel reads.
 */
#include "sim/linux.h"

#include <inttypes.h>
#include <string.h>

#include "sim/acpi.h"
#include "sim/boot.h"
#include "sim/cpu/internal.h"
#include "sim/sim.h"

/* In pages from where there is room. */
enum { AT_PARAMS, AT_CMDLINE, AT_GDT, AT_PML4, AT_PDPT, AT_PD, AT_END = AT_PD + 4 };

#define PAGE       4096
#define LARGE_PAGE (1 << 21)
#define PAGE_TABLE 3    /* present, writable */
#define PAGE_LARGE 0x83 /* present, writable, page size */
#define GIB_MAPPED 4
#define BOOT_CS    0x10
#define BOOT_DS    0x18
#define GDT_CODE   0x00af9b000000ffff /* 64-bit, execute/read, accessed */
#define GDT_DATA   0x00cf93000000ffff /* read/write, accessed, 4 GiB */
#define CODE_ATTR  0xa09b00
#define DATA_ATTR  0xc09300
/* Of a vmlinux, which does not say it: as long as an x86-64 kernel has been taking them. */
#define CMDLINE_MAX 2047
#define INITRD_MAX  0x7fffffff

static void put(uint8_t *at, uint64_t value, unsigned bytes)
{
    memcpy(at, &value, bytes); /* the host is little-endian, too */
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes);
    return value;
}

/* The setup header: a bzImage's own, or what an ELF image's would say. */
static void setup_header(uint8_t *params, const struct load_plan *plan, const struct sim_boot *b)
{
    if (plan->protocol == LOAD_BZIMAGE) {
        unsigned end = LINUX_MAGIC + b->image[LINUX_JUMP];
        if (end > LINUX_HEADER_MAX)
            end = LINUX_HEADER_MAX;
        if (end > b->size)
            end = b->size;
        memcpy(params + LINUX_SETUP_SECTS, b->image + LINUX_SETUP_SECTS, end - LINUX_SETUP_SECTS);
    } else {
        put(params + LINUX_BOOT_FLAG, LINUX_BOOT_FLAG_IS, 2);
        put(params + LINUX_MAGIC, LINUX_MAGIC_IS, 4);
        put(params + LINUX_VERSION, LINUX_VERSION_2_12, 2);
        put(params + LINUX_LOADFLAGS, LINUX_LOADED_HIGH, 1);
        put(params + LINUX_XLOADFLAGS, LINUX_KERNEL_64, 2);
        put(params + LINUX_INITRD_MAX, INITRD_MAX, 4);
        put(params + LINUX_CMDLINE_SIZE, CMDLINE_MAX, 4);
    }
    put(params + LINUX_LOADER, LINUX_LOADER_OTHER, 1);
}

static bool check_cmdline(const uint8_t *params, const char *cmdline, FILE *err)
{
    uint64_t most = get(params + LINUX_CMDLINE_SIZE, 4);

    if (most > PAGE - 1)
        most = PAGE - 1;
    if (strlen(cmdline) <= most)
        return true;
    fprintf(err, "the command line is too long (%zu bytes; the kernel takes %" PRIu64 ")\n",
            strlen(cmdline), most);
    return false;
}

static void memory_map(uint8_t *params, const struct machine *m)
{
    struct region map[MAP_MAX];
    unsigned n = boot_memory_map(m, map);

    params[LINUX_E820_ENTRIES] = n;
    for (unsigned i = 0; i < n; i++) {
        uint8_t *e = params + LINUX_E820 + i * LINUX_E820_SIZE;
        put(e, map[i].start, 8);
        put(e + 8, map[i].length, 8);
        put(e + 16, map[i].type, 4);
    }
}

/* The low 4 GiB one to one, by 2-MiB pages, which every x86-64 has. */
static void page_tables(uint8_t *ram, uint64_t at)
{
    put(ram + at + AT_PML4 * PAGE, (at + AT_PDPT * PAGE) | PAGE_TABLE, 8);
    for (uint64_t i = 0; i < GIB_MAPPED; i++)
        put(ram + at + AT_PDPT * PAGE + 8 * i, (at + (AT_PD + i) * PAGE) | PAGE_TABLE, 8);
    for (uint64_t i = 0; i < GIB_MAPPED * PAGE / 8; i++)
        put(ram + at + AT_PD * PAGE + 8 * i, i * LARGE_PAGE | PAGE_LARGE, 8);
}

static void long_mode(struct machine *m, uint64_t at)
{
    const struct segment code = {BOOT_CS, 0, UINT32_MAX, CODE_ATTR};
    const struct segment data = {BOOT_DS, 0, UINT32_MAX, DATA_ATTR};
    struct cpu *cpu = m->cpus[0];

    cpu->r[RSI] = at + AT_PARAMS * PAGE;
    for (unsigned i = SEG_ES; i <= SEG_GS; i++)
        cpu->seg[i] = i == SEG_CS ? code : data;
    cpu->gdtr.base = at + AT_GDT * PAGE;
    cpu->gdtr.limit = BOOT_DS + 7;
    put(m->ram + cpu->gdtr.base + BOOT_CS, GDT_CODE, 8);
    put(m->ram + cpu->gdtr.base + BOOT_DS, GDT_DATA, 8);
    cpu->cr3 = at + AT_PML4 * PAGE;
    cpu->cr4 = CR4_PAE;
    cpu->efer = EFER_LME | EFER_LMA;
    cpu->cr0 |= CR0_PG;
    exec_mode_changed(cpu);
}

bool linux_enter(struct machine *m, struct load_plan *plan, const struct sim_boot *b, FILE *err)
{
    uint8_t params[LINUX_PARAMS_SIZE] = {0};
    uint64_t initrd;
    uint32_t at;

    setup_header(params, plan, b);
    if (!check_cmdline(params, b->cmdline, err) ||
        !boot_initrd(m, plan, b, get(params + LINUX_INITRD_MAX, 4), &initrd, err) ||
        !(at = boot_room(m, plan, AT_END * PAGE, err)))
        return false;
    put(params + LINUX_INITRD, initrd, 4);
    put(params + LINUX_INITRD_SIZE, b->initrd_size, 4);
    put(params + LINUX_CMDLINE, at + AT_CMDLINE * PAGE, 4);
    put(params + LINUX_RSDP, ACPI_RSDP, 8);
    memory_map(params, m);
    memcpy(m->ram + at + AT_PARAMS * PAGE, params, sizeof(params));
    memcpy(m->ram + at + AT_CMDLINE * PAGE, b->cmdline, strlen(b->cmdline) + 1);
    page_tables(m->ram, at);
    boot_protected_mode(m, plan);
    long_mode(m, at);
    return true;
}
