/*
 * What the loader says of the machine, read once into a structure of our own: here from the
 * Multiboot2 boot information, in boot/pvh.h from PVH's start info. Pure: no hardware, so the
 * host's unit tests compile it.
 */
#ifndef PMULAB_BOOTINFO_H
#define PMULAB_BOOTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOOTINFO_CMDLINE    1024
#define BOOTINFO_MAX_MEMORY 128
#define BOOTINFO_MAX_ERRORS 8
#define BOOTINFO_RSDP_V1    20 /* ACPI 1.0 */
#define BOOTINFO_RSDP       36 /* ACPI 2.0 and later */

struct memory_range {
    uint64_t base, length;
    uint32_t type; /* MB2_MEMORY_AVAILABLE or a reserved kind */
};

struct boot_framebuffer {
    bool present;
    uint8_t type; /* MB2_FRAMEBUFFER_* */
    uint8_t bits_per_pixel;
    uint64_t address;
    uint32_t pitch, width, height; /* bytes a line; pixels, or characters in text mode */
    struct {
        uint8_t position, size;
    } red, green, blue; /* in bits; only with MB2_FRAMEBUFFER_RGB */
};

struct bootinfo {
    char cmdline[BOOTINFO_CMDLINE]; /* "" when there is none */
    const char *cmdline_error;      /* there is one, and it could not be read: why; else NULL */
    struct memory_range memory[BOOTINFO_MAX_MEMORY];
    unsigned n_memory;
    struct boot_framebuffer framebuffer;
    bool efi; /* started by UEFI: there is no VGA text screen */
    bool pvh; /* started without a boot loader */
    uint8_t rsdp[BOOTINFO_RSDP];
    unsigned rsdp_size; /* 20: ACPI 1.0, 36: ACPI 2.0 and later, 0: none */
    const char *errors[BOOTINFO_MAX_ERRORS];
    unsigned n_errors; /* what was malformed; more than the maximum are only counted */
};

/*
 * Reads the boot information of at most limit bytes at info (any alignment) into *out. What is
 * missing or malformed keeps its default (empty, absent, 0) and, when malformed, leaves one
 * sentence in errors. Never reads outside [info, info + limit). Returns n_errors == 0. Source:
 * Multiboot2 Specification, "Boot information format".
 */
bool bootinfo_parse(struct bootinfo *out, const void *info, size_t limit);

/* The first range of the memory map that is not available and has a byte in [base, end), or NULL.
 */
const struct memory_range *bootinfo_reserved(const struct bootinfo *boot, uint64_t base,
                                             uint64_t end);

/*
 * For the parsers. Each checks what it is given and notes what is wrong with it.
 */

/* One sentence for out->errors. */
void bootinfo_error(struct bootinfo *out, const char *message);

/* The command line at text, of which size bytes can be read; no_end: what is wrong when no NUL is
 * among them. */
void bootinfo_set_cmdline(struct bootinfo *out, const uint8_t *text, size_t size,
                          const char *no_end);

/* n entries of a memory map, each of 8 bytes of base, 8 of length and 4 of type, step bytes apart.
 */
void bootinfo_add_memory(struct bootinfo *out, const uint8_t *entry, size_t n, size_t step);

/* An RSDP of which size bytes can be read and wanted (BOOTINFO_RSDP_V1, BOOTINFO_RSDP) are needed.
 */
void bootinfo_set_rsdp(struct bootinfo *out, const uint8_t *rsdp, size_t size, unsigned wanted);

#endif
