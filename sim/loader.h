/*
 * What a boot loader and the firmware do before a kernel's first instruction: finds out what kind
 * of image it is, copies it into memory, builds the boot information, sets the machine state.
 */
#ifndef PMUSIM_LOADER_H
#define PMUSIM_LOADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct machine;
struct sim_boot;

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

/* How the kernel wants to be entered, in the order in which an image is asked. */
enum load_protocol {
    LOAD_MULTIBOOT2, /* a header within the first 32768 bytes */
    LOAD_MULTIBOOT,  /* one within the first 8192 */
    LOAD_BZIMAGE,    /* "HdrS" at 202H; Linux's 64-bit protocol */
    LOAD_LINUX,      /* ELF64 with a note of owner "Linux": entered as by the stub of its bzImage */
    LOAD_PVH,        /* ELF with a note of owner "Xen" and type 18 */
};

struct load_plan {
    enum load_protocol protocol;
    uint64_t entry; /* physical; below 4 GiB when the plan holds */
    unsigned n_segments;
    struct load_segment segment[LOADER_MAX_SEGMENTS];
    struct load_freedom freedom;
};

/*
 * Reads the headers of image (never beyond size) and says what goes where. ELF32 or
 * ELF64 for x86, a bzImage, or any format whose Multiboot header gives its addresses. False: the
 * reason is on err. Pure: looks at nothing but the image.
 */
bool loader_plan(struct load_plan *plan, const uint8_t *image, size_t size, FILE *err);

/* The whole way: plan, copy, ACPI tables, boot information, machine state of processor 0. False,
 * with the reason on err, when the image is wrong or does not fit the machine's memory. */
bool loader_load(struct machine *m, const struct sim_boot *b, FILE *err);

#endif
