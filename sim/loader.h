/*
 * What GRUB and the firmware do before a kernel's first instruction: finds the Multiboot header,
 * copies the image into memory, builds the boot information, sets the machine state.
 */
#ifndef PMUSIM_LOADER_H
#define PMUSIM_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct machine;

/* A range of the image that goes into memory: file bytes, then zeros. */
struct load_segment {
    uint64_t offset, file_size;     /* in the image */
    uint64_t physical, memory_size; /* in the guest */
};

#define LOADER_MAX_SEGMENTS 64

/* Where a relocatable image may go, as its header's tag says. */
struct load_freedom {
    bool given;
    uint32_t min, max; /* of its first and of its last byte */
    uint32_t align;
    bool high; /* as high as can be, not as low */
};

struct load_plan {
    unsigned multiboot; /* version: 1 or 2 */
    uint64_t entry;     /* physical; below 4 GiB when the plan holds */
    unsigned n_segments;
    struct load_segment segment[LOADER_MAX_SEGMENTS];
    struct load_freedom freedom;
};

/*
 * Reads the headers of image (never beyond size) and says what goes where. Multiboot2, else
 * Multiboot (1); ELF32 or ELF64 for x86, or any format whose header gives its addresses. False: the
 * reason is on err. Pure: looks at nothing but the image.
 */
bool loader_plan(struct load_plan *plan, const uint8_t *image, size_t size, FILE *err);

/* The whole way: plan, copy, ACPI tables, boot information, machine state of processor 0. False,
 * with the reason on err, when the image is wrong or does not fit the machine's memory. */
bool loader_load(struct machine *m, const uint8_t *image, size_t size, const char *cmdline,
                 FILE *err);

#endif
