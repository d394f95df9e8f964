/* Parser of the Multiboot2 boot information, and what it shares with the other one. It trusts
 * nothing: every size is checked before it is used. */
#include "boot/bootinfo.h"

#include "boot/multiboot2.h"

/* What a freestanding environment provides anyway (GCC manual, "Standards"). */
#define memcmp __builtin_memcmp
#define memcpy __builtin_memcpy
#define memset __builtin_memset

#define FRAMEBUFFER_COMMON  24 /* body up to and with the reserved field */
#define FRAMEBUFFER_RGB_END 30
#define RSDP_LENGTH         20 /* offset of the length in an RSDP of ACPI 2.0 */

/* Byte-wise copies: the information is packed, and not all of it is aligned. */
static uint32_t read32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof(value));
    return value;
}

static uint64_t read64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof(value));
    return value;
}

void bootinfo_error(struct bootinfo *out, const char *message)
{
    if (out->n_errors < BOOTINFO_MAX_ERRORS)
        out->errors[out->n_errors] = message;
    out->n_errors++;
}

void bootinfo_set_cmdline(struct bootinfo *out, const uint8_t *text, size_t size,
                          const char *no_end)
{
    size_t length = 0;
    while (length < size && text[length] != 0)
        length++;
    if (length >= sizeof(out->cmdline))
        out->cmdline_error = "the command line is longer than 1023 bytes";
    else if (length == size)
        out->cmdline_error = no_end;
    else
        memcpy(out->cmdline, text, length + 1);
    if (out->cmdline_error)
        bootinfo_error(out, out->cmdline_error);
}

static void read_cmdline(struct bootinfo *out, const uint8_t *body, size_t size)
{
    bootinfo_set_cmdline(out, body, size, "the command line has no NUL inside its tag");
}

void bootinfo_add_memory(struct bootinfo *out, const uint8_t *entry, size_t n, size_t step)
{
    for (; n > 0; n--, entry += step) {
        if (out->n_memory == BOOTINFO_MAX_MEMORY) {
            bootinfo_error(out, "the memory map has more than 128 entries; the rest is ignored");
            return;
        }
        out->memory[out->n_memory++] =
            (struct memory_range){read64(entry), read64(entry + 8), read32(entry + 16)};
    }
}

const struct memory_range *bootinfo_reserved(const struct bootinfo *boot, uint64_t base,
                                             uint64_t end)
{
    for (unsigned i = 0; i < boot->n_memory; i++) {
        const struct memory_range *r = &boot->memory[i];
        bool reaches = r->base >= base ? r->length > 0 : r->length > base - r->base;
        if (r->type != MB2_MEMORY_AVAILABLE && r->base < end && reaches)
            return r;
    }
    return NULL;
}

static void read_memory_map(struct bootinfo *out, const uint8_t *body, size_t size)
{
    if (size < MB2_MMAP_ENTRIES) {
        bootinfo_error(out, "the memory map's tag is too short for its header; ignored");
        return;
    }
    size_t entry_size = read32(body);
    if (entry_size == 0) {
        bootinfo_error(out, "the memory map's entry_size is 0; ignored");
        return;
    }
    if (entry_size < MB2_MMAP_ENTRY_MIN) {
        bootinfo_error(out, "the memory map's entry_size is below 24; ignored");
        return;
    }
    size_t left = size - MB2_MMAP_ENTRIES;
    bootinfo_add_memory(out, body + MB2_MMAP_ENTRIES, left / entry_size, entry_size);
    if (left % entry_size != 0)
        bootinfo_error(out, "the memory map's last entry is cut off; ignored");
}

static void read_framebuffer(struct bootinfo *out, const uint8_t *body, size_t size)
{
    struct boot_framebuffer fb = {.present = true};
    if (size < FRAMEBUFFER_COMMON - 1) {
        bootinfo_error(out, "the framebuffer's tag is too short; ignored");
        return;
    }
    fb.address = read64(body);
    fb.pitch = read32(body + 8);
    fb.width = read32(body + 12);
    fb.height = read32(body + 16);
    fb.bits_per_pixel = body[20];
    fb.type = body[21];
    if (fb.type == MB2_FRAMEBUFFER_RGB) {
        if (size < FRAMEBUFFER_RGB_END) {
            bootinfo_error(out, "the framebuffer's tag is too short for its colours; ignored");
            return;
        }
        const uint8_t *colour = body + FRAMEBUFFER_COMMON;
        fb.red.position = colour[0], fb.red.size = colour[1];
        fb.green.position = colour[2], fb.green.size = colour[3];
        fb.blue.position = colour[4], fb.blue.size = colour[5];
    }
    out->framebuffer = fb;
}

static bool checksum_ok(const uint8_t *p, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + p[i]);
    return sum == 0;
}

/* ACPI Specification, "Root System Description Pointer (RSDP)": 20 bytes with a checksum of their
 * own, in 2.0 and later 36 with a second one over all. */
void bootinfo_set_rsdp(struct bootinfo *out, const uint8_t *rsdp, size_t size, unsigned wanted)
{
    if (size < wanted || (wanted == BOOTINFO_RSDP && read32(rsdp + RSDP_LENGTH) < wanted)) {
        bootinfo_error(out, "the ACPI RSDP is too short; ignored");
        return;
    }
    if (memcmp(rsdp, "RSD PTR ", 8) != 0 || !checksum_ok(rsdp, BOOTINFO_RSDP_V1)) {
        bootinfo_error(out, "the ACPI RSDP's signature or checksum is wrong; ignored");
        return;
    }
    if (wanted == BOOTINFO_RSDP) {
        size_t length = read32(rsdp + RSDP_LENGTH);
        if (length > size || !checksum_ok(rsdp, length)) {
            bootinfo_error(out, "the ACPI RSDP's extended checksum is wrong; ignored");
            return;
        }
    }
    if (wanted < out->rsdp_size)
        return; /* the newer one was there before */
    memcpy(out->rsdp, rsdp, wanted);
    out->rsdp_size = wanted;
}

static void read_rsdp_old(struct bootinfo *out, const uint8_t *body, size_t size)
{
    bootinfo_set_rsdp(out, body, size, BOOTINFO_RSDP_V1);
}

static void read_rsdp_new(struct bootinfo *out, const uint8_t *body, size_t size)
{
    bootinfo_set_rsdp(out, body, size, BOOTINFO_RSDP);
}

static void read_efi(struct bootinfo *out, const uint8_t *body, size_t size)
{
    (void)body, (void)size;
    out->efi = true;
}

static const struct {
    uint32_t type;
    void (*read)(struct bootinfo *out, const uint8_t *body, size_t size);
} readers[] = {
    {MB2_TAG_CMDLINE, read_cmdline},
    {MB2_TAG_MMAP, read_memory_map},
    {MB2_TAG_FRAMEBUFFER, read_framebuffer},
    {MB2_TAG_EFI32, read_efi},
    {MB2_TAG_EFI64, read_efi},
    {MB2_TAG_ACPI_OLD, read_rsdp_old},
    {MB2_TAG_ACPI_NEW, read_rsdp_new},
};

/* Walks the tags of [tag, tag + left). */
static void read_tags(struct bootinfo *out, const uint8_t *tag, size_t left)
{
    while (left >= MB2_TAG_HEADER) {
        uint32_t type = read32(tag);
        size_t size = read32(tag + 4);
        if (size < MB2_TAG_HEADER) {
            bootinfo_error(
                out, size == 0 ? "a tag has size 0; it and the rest are ignored"
                               : "a tag is smaller than its header; it and the rest are ignored");
            return;
        }
        if (size > left) {
            bootinfo_error(out, "a tag runs past the end; it and the rest are ignored");
            return;
        }
        if (type == MB2_TAG_END)
            return;
        for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++)
            if (readers[i].type == type)
                readers[i].read(out, tag + MB2_TAG_HEADER, size - MB2_TAG_HEADER);
        size_t step = (size + MB2_TAG_ALIGN - 1) & ~(size_t)(MB2_TAG_ALIGN - 1);
        if (step > left)
            break;
        tag += step;
        left -= step;
    }
    bootinfo_error(out, "the end tag is missing");
}

bool bootinfo_parse(struct bootinfo *out, const void *info, size_t limit)
{
    memset(out, 0, sizeof(*out));
    if (!info || limit < MB2_INFO_FIXED) {
        bootinfo_error(out, "there is no boot information");
        return false;
    }
    size_t total = read32(info);
    if (total < MB2_INFO_FIXED + MB2_TAG_HEADER)
        bootinfo_error(out, "total_size is below 16; the whole is ignored");
    else if (total % MB2_TAG_ALIGN != 0)
        bootinfo_error(out, "total_size is not a multiple of 8; the whole is ignored");
    else if (total > limit)
        bootinfo_error(out,
                       "total_size runs past the memory that can hold it; the whole is ignored");
    else
        read_tags(out, (const uint8_t *)info + MB2_INFO_FIXED, total - MB2_INFO_FIXED);
    return out->n_errors == 0;
}
