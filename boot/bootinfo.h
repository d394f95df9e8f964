/*
 * The Multiboot2 boot information, read once into a structure of our own. Pure: no hardware, so the
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
#define BOOTINFO_RSDP       36

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

#endif
