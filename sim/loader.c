/*
 * Places the image, the initrd, the boot information and the tables in guest memory, and sets the
 * state of the bootstrap processor: for Multiboot here, see linux.c and pvh.c. Sources: Multiboot2
 * Specification "I386 machine state", "Boot information format"; Multiboot Specification "Machine
 * state", "Boot information format".
 */
#include "sim/loader.h"

#include <inttypes.h>
#include <string.h>

#include "sim/acpi.h"
#include "sim/boot.h"
#include "sim/dev/dev.h"
#include "sim/cpu/internal.h"
#include "sim/fault.h"
#include "sim/multiboot.h"

#define LOADER_NAME  "pmusim " PMULAB_VERSION
#define LOW_MEMORY   0x9fc00 /* the extended BIOS data area begins here */
#define HIGH_MEMORY  0x100000
#define FIRST_FREE   0x1000  /* below: interrupt vectors, BIOS data area */
#define INFO_AT      0x10000 /* where the boot information goes when the image leaves it free */
#define INFO_MAX     0x4000
#define INFO_TAKEN   0x8000 /* and where in memory that is taken, the kernel's own place in mind */
#define PAGE_SIZE    4096u
#define BDA_COM1     0x400
#define BDA_EBDA     0x40e
#define BDA_MEMORY   0x413 /* KiB of base memory */
#define TEXT_BUFFER  0xb8000
#define TEXT_COLUMNS 80
#define TEXT_ROWS    25
/* Each pixel is a store of the guest: few of them, in as much memory as a large screen has. */
#define PIXEL_COLUMNS 320
#define PIXEL_ROWS    120
#define PIXEL_PITCH   32768

#define TAKEN_BYTE 0xa5

/* ---- Memory map ---- */

unsigned boot_memory_map(const struct machine *m, struct region map[MAP_MAX])
{
    struct fault_memory taken = fault_memory(m);
    uint64_t high = taken.for_good ? taken.end : HIGH_MEMORY;

    map[0] = (struct region){0, LOW_MEMORY, MB_MEMORY_AVAILABLE};
    map[1] = (struct region){LOW_MEMORY, 0xa0000 - LOW_MEMORY, MB_MEMORY_RESERVED};
    map[2] = (struct region){ACPI_RSDP, HIGH_MEMORY - ACPI_RSDP, MB_MEMORY_RESERVED};
    map[3] = (struct region){high, m->ram_size - high, MB_MEMORY_AVAILABLE};
    map[4] = (struct region){HIGH_MEMORY, high - HIGH_MEMORY, MB_MEMORY_RESERVED};
    return high > HIGH_MEMORY ? 5 : 4;
}

/* ---- Boot information, built in a buffer ---- */

struct writer {
    uint8_t data[INFO_MAX];
    uint32_t used;
    bool full;
};

static uint32_t put(struct writer *w, const void *data, uint32_t n)
{
    uint32_t at = w->used;

    if (n > INFO_MAX - w->used) {
        w->full = true;
        return at;
    }
    if (n != 0) /* data may be NULL then */
        memcpy(w->data + at, data, n);
    w->used += n;
    return at;
}

static void put_int(struct writer *w, uint64_t value, unsigned bytes)
{
    put(w, &value, bytes); /* the host is little-endian, too */
}

static void align(struct writer *w)
{
    static const uint8_t zeros[MB2_ALIGN];

    put(w, zeros, -w->used % MB2_ALIGN);
}

static void put_tag(struct writer *w, uint32_t type, const void *data, uint32_t n)
{
    align(w);
    put_int(w, type, 4);
    put_int(w, 8 + n, 4);
    put(w, data, n);
}

/* The lowest address of the image. */
static uint64_t first_byte(const struct load_plan *plan)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < plan->n_segments; i++)
        if (plan->segment[i].physical < first)
            first = plan->segment[i].physical;
    return first;
}

/* The text screen, or pixels at this address, which nobody sees. */
static void put_framebuffer(struct writer *w, uint64_t pixels)
{
    static const uint8_t rgb[] = {16, 8, 8, 8, 0, 8}; /* position and size of red, green, blue */

    align(w);
    put_int(w, MB2_INFO_FRAMEBUFFER, 4);
    put_int(w, pixels ? 32 + sizeof(rgb) : 32, 4);
    put_int(w, pixels ? pixels : TEXT_BUFFER, 8);
    put_int(w, pixels ? PIXEL_PITCH : TEXT_COLUMNS * 2, 4); /* pitch */
    put_int(w, pixels ? PIXEL_COLUMNS : TEXT_COLUMNS, 4);
    put_int(w, pixels ? PIXEL_ROWS : TEXT_ROWS, 4);
    put_int(w, pixels ? 32 : 16, 1); /* bits a pixel or a character */
    put_int(w, pixels ? MB_FRAMEBUFFER_RGB : MB_FRAMEBUFFER_EGA, 1);
    put_int(w, 0, 2);
    if (pixels)
        put(w, rgb, sizeof(rgb));
}

static void info_multiboot2(struct writer *w, const struct machine *m, const char *cmdline,
                            const struct load_plan *plan)
{
    const struct {
        uint32_t lower, upper;
    } basic = {LOW_MEMORY >> 10, (m->ram_size - HIGH_MEMORY) >> 10};
    struct region map[MAP_MAX];
    unsigned n = boot_memory_map(m, map);

    put_int(w, 0, 4); /* total_size, filled in at the end */
    put_int(w, 0, 4);
    put_tag(w, MB2_INFO_CMDLINE, cmdline, strlen(cmdline) + 1);
    put_tag(w, MB2_INFO_LOADER_NAME, LOADER_NAME, sizeof(LOADER_NAME));
    put_tag(w, MB2_INFO_BASIC_MEMORY, &basic, sizeof(basic));
    align(w);
    put_int(w, MB2_INFO_MEMORY_MAP, 4);
    put_int(w, 16 + 24 * n, 4);
    put_int(w, 24, 4); /* entry_size */
    put_int(w, 0, 4);  /* entry_version */
    for (unsigned i = 0; i < n; i++) {
        put_int(w, map[i].start, 8);
        put_int(w, map[i].length, 8);
        put_int(w, map[i].type, 4);
        put_int(w, 0, 4);
    }
    put_framebuffer(w, fault_framebuffer(m));
    put_tag(w, MB2_INFO_ACPI_OLD, m->ram + ACPI_RSDP, ACPI_RSDP_V1);
    put_tag(w, MB2_INFO_ACPI_NEW, m->ram + ACPI_RSDP, ACPI_RSDP_SIZE);
    if (plan->freedom.given) {
        uint32_t base = first_byte(plan);
        put_tag(w, MB2_INFO_LOAD_BASE, &base, sizeof(base));
    }
    put_tag(w, MB2_INFO_END, NULL, 0);
    memcpy(w->data, &w->used, 4);
}

static void info_multiboot1(struct writer *w, const struct machine *m, const char *cmdline,
                            uint32_t address)
{
    struct region map[MAP_MAX];
    unsigned n = boot_memory_map(m, map);
    uint32_t info[29] = {0}; /* the specification's structure, 116 bytes */

    put(w, info, sizeof(info));
    info[0] = MB1_INFO_MEMORY | MB1_INFO_CMDLINE | MB1_INFO_MEMORY_MAP | MB1_INFO_LOADER;
    info[1] = LOW_MEMORY >> 10;
    info[2] = (m->ram_size - HIGH_MEMORY) >> 10;
    /* As QEMU does: the first word is the image's name. */
    info[4] = address + put(w, "kernel", 6);
    if (*cmdline)
        put(w, " ", 1);
    put(w, cmdline, strlen(cmdline) + 1);
    info[16] = address + put(w, LOADER_NAME, sizeof(LOADER_NAME));
    align(w);
    info[11] = n * 24; /* mmap_length */
    info[12] = address + w->used;
    for (unsigned i = 0; i < n; i++) {
        put_int(w, 20, 4); /* size of what follows */
        put_int(w, map[i].start, 8);
        put_int(w, map[i].length, 8);
        put_int(w, map[i].type, 4);
    }
    memcpy(w->data, info, sizeof(info));
}

/* ---- Placing ---- */

static bool overlaps(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* Where the memory above 1 MiB is free for the kernel. */
static uint64_t free_from(const struct machine *m)
{
    uint64_t taken = fault_memory(m).end;

    return taken ? taken : HIGH_MEMORY;
}

/* Plain memory that nobody uses? The sums do not wrap: ram_size is below 4 GiB and is compared
 * first. */
static bool is_free(const struct machine *m, uint64_t start, uint64_t size)
{
    if (start > m->ram_size || size > m->ram_size - start)
        return false;
    return (start >= FIRST_FREE && start + size <= LOW_MEMORY) || start >= free_from(m);
}

static uint64_t round_up(uint64_t at, uint64_t align)
{
    return (at + align - 1) / align * align;
}

/* Where in the free memory [first, end) an image of this size may begin; 0: nowhere. */
static uint64_t fits(const struct load_freedom *f, uint64_t first, uint64_t end, uint64_t size)
{
    uint64_t align = f->align ? f->align : 1;
    uint64_t low = round_up(first > f->min ? first : f->min, align);

    if (end > (uint64_t)f->max + 1)
        end = (uint64_t)f->max + 1;
    if (end < size || low > end - size)
        return 0;
    return f->high ? (end - size) / align * align : low;
}

/* Gives a relocatable image the place that its tag prefers (Multiboot2 Specification, "Relocatable
 * header tag"), its parts as far from each other as before. */
static bool relocate(struct machine *m, struct load_plan *plan, FILE *err)
{
    const struct load_freedom *f = &plan->freedom;
    uint64_t first = first_byte(plan), size = 0;

    for (unsigned i = 0; i < plan->n_segments; i++) {
        const struct load_segment *s = &plan->segment[i];
        if (s->physical + s->memory_size - first > size)
            size = s->physical + s->memory_size - first;
    }
    uint64_t low = fits(f, FIRST_FREE, LOW_MEMORY, size);
    uint64_t high = fits(f, free_from(m), m->ram_size, size);
    uint64_t to = (f->high && high) || !low ? high : low;
    if (!to) {
        fprintf(err,
                "no %" PRIu64 " bytes are free for the relocatable image between %" PRIX32
                "H and %" PRIX32 "H\n",
                size, f->min, f->max);
        return false;
    }
    for (unsigned i = 0; i < plan->n_segments; i++)
        plan->segment[i].physical += to - first;
    plan->entry += to - first;
    return true;
}

static bool place(struct machine *m, const struct load_plan *plan, const uint8_t *image, FILE *err)
{
    for (unsigned i = 0; i < plan->n_segments; i++) {
        const struct load_segment *s = &plan->segment[i];
        if (!is_free(m, s->physical, s->memory_size)) {
            fprintf(err,
                    "segment of %" PRIu64 " bytes at %" PRIX64
                    "H does not fit the memory: %XH-%XH and %" PRIX64 "H-%" PRIX64 "H are free\n",
                    s->memory_size, s->physical, FIRST_FREE, LOW_MEMORY - 1, free_from(m),
                    m->ram_size - 1);
            return false;
        }
    }
    for (unsigned i = 0; i < plan->n_segments; i++) {
        const struct load_segment *s = &plan->segment[i];
        memcpy(m->ram + s->physical, image + s->offset, s->file_size);
        memset(m->ram + s->physical + s->file_size, 0, s->memory_size - s->file_size);
    }
    return true;
}

/* At or above INFO_AT. */
uint32_t boot_room(const struct machine *m, const struct load_plan *plan, uint32_t size, FILE *err)
{
    struct fault_memory taken = fault_memory(m);
    uint64_t at = INFO_AT;
    bool moved = true;

    /* A loader that keeps the kernel out of some memory may well use it itself. */
    if (taken.end && !taken.for_good)
        return HIGH_MEMORY + INFO_TAKEN;
    while (moved) {
        moved = false;
        if (at + size > LOW_MEMORY && at < free_from(m))
            at = free_from(m);
        for (unsigned i = 0; i < plan->n_segments; i++) {
            const struct load_segment *s = &plan->segment[i];
            if (overlaps(at, size, s->physical, s->memory_size)) {
                at = (s->physical + s->memory_size + PAGE_SIZE - 1) & ~(uint64_t)(PAGE_SIZE - 1);
                moved = true;
            }
        }
    }
    if (is_free(m, at, size))
        return at;
    fprintf(err, "no room for the boot information beside the image\n");
    return 0;
}

bool boot_initrd(struct machine *m, struct load_plan *plan, const struct sim_boot *b, uint64_t max,
                 uint64_t *at, FILE *err)
{
    uint64_t end = max < m->ram_size ? max + 1 : m->ram_size, first = free_from(m);

    *at = 0;
    if (b->initrd_size == 0)
        return true;
    for (unsigned i = 0; i < plan->n_segments; i++) {
        uint64_t behind = plan->segment[i].physical + plan->segment[i].memory_size;
        first = behind > first ? behind : first;
    }
    if (b->initrd_size > end || (end - b->initrd_size) / PAGE_SIZE * PAGE_SIZE < first) {
        fprintf(err,
                "no room for the initrd of %zu bytes between the image's end at %" PRIX64
                "H and %" PRIX64 "H\n",
                b->initrd_size, first, end);
        return false;
    }
    if (plan->n_segments == LOADER_MAX_SEGMENTS) {
        fprintf(err, "more than %d segments to load\n", LOADER_MAX_SEGMENTS);
        return false;
    }
    *at = (end - b->initrd_size) / PAGE_SIZE * PAGE_SIZE;
    plan->segment[plan->n_segments++] =
        (struct load_segment){.physical = *at, .memory_size = b->initrd_size};
    memcpy(m->ram + *at, b->initrd, b->initrd_size);
    return true;
}

/* ---- Machine state ---- */

void boot_protected_mode(struct machine *m, const struct load_plan *plan)
{
    const struct segment code = {0x08, 0, UINT32_MAX, 0xc09b00}; /* 32-bit, execute/read, 4 GiB */
    const struct segment data = {0x10, 0, UINT32_MAX, 0xc09300}; /* 32-bit, read/write, 4 GiB */
    struct cpu *cpu = m->cpus[0];

    for (unsigned i = RAX; i <= RDI; i++)
        cpu->r[i] = BOOT_UNDEFINED + i;
    for (unsigned i = SEG_ES; i <= SEG_GS; i++)
        cpu->seg[i] = i == SEG_CS ? code : data;
    cpu->cr0 = CR0_PE | CR0_ET;
    cpu->cpl = 0;
    cpu->gdtr.base = cpu->idtr.base = BOOT_UNDEFINED;
    cpu->gdtr.limit = cpu->idtr.limit = 0;
    cpu->rip = plan->entry;
    cpu_set_rflags(cpu, RFLAGS_FIXED1);
    cpu->state = CPU_RUNNING;
    exec_mode_changed(cpu);
}

static void bios_data_area(struct machine *m)
{
    const uint16_t com1 = 0x3f8, ebda = LOW_MEMORY >> 4, memory = LOW_MEMORY >> 10;

    memcpy(m->ram + BDA_COM1, &com1, 2);
    memcpy(m->ram + BDA_EBDA, &ebda, 2);
    memcpy(m->ram + BDA_MEMORY, &memory, 2);
    m->ram[LOW_MEMORY] = 1; /* length of the EBDA in KiB */
}

static bool multiboot_enter(struct machine *m, struct load_plan *plan, const struct sim_boot *b,
                            FILE *err)
{
    struct writer w = {.used = 0};
    bool second = plan->protocol == LOAD_MULTIBOOT2;
    uint32_t info = boot_room(m, plan, INFO_MAX, err);

    if (!info)
        return false;
    if (b->initrd_size) {
        fprintf(err, "an initrd is for a kernel of Linux's boot protocol or PVH's\n");
        return false;
    }
    if (second)
        info_multiboot2(&w, m, b->cmdline, plan);
    else
        info_multiboot1(&w, m, b->cmdline, info);
    if (w.full) {
        fprintf(err, "the command line is too long (%zu bytes; %d fit)\n", strlen(b->cmdline),
                INFO_MAX / 2);
        return false;
    }
    memcpy(m->ram + info, w.data, w.used);
    boot_protected_mode(m, plan);
    m->cpus[0]->r[RAX] = second ? MB2_BOOT_MAGIC : MB1_BOOT_MAGIC;
    m->cpus[0]->r[RBX] = info;
    return true;
}

bool loader_load(struct machine *m, const struct sim_boot *b, FILE *err)
{
    static bool (*const enter[])(struct machine *, struct load_plan *, const struct sim_boot *,
                                 FILE *) = {
        [LOAD_MULTIBOOT2] = multiboot_enter,
        [LOAD_MULTIBOOT] = multiboot_enter,
        [LOAD_BZIMAGE] = linux_enter,
        [LOAD_LINUX] = linux_enter,
        [LOAD_PVH] = pvh_enter,
    };
    struct load_plan plan;

    if (fault_memory(m).end >= m->ram_size) {
        fprintf(err, "--fault memory=: the machine has only %" PRIu64 " MiB\n", m->ram_size >> 20);
        return false;
    }
    if (!loader_plan(&plan, b->image, b->size, err))
        return false;
    if (plan.freedom.given && !relocate(m, &plan, err))
        return false;
    /* What is taken is not zero. */
    if (fault_memory(m).end)
        memset(m->ram + HIGH_MEMORY, TAKEN_BYTE, fault_memory(m).end - HIGH_MEMORY);
    if (!place(m, &plan, b->image, err))
        return false;
    bios_data_area(m);
    acpi_build(m);
    return enter[plan.protocol](m, &plan, b, err);
}
