/*
 * The parser of the Multiboot2 boot information: what GRUB writes, what is malformed, and noise.
 * Every input lies in a heap block of exactly its size, so that AddressSanitizer sees any read
 * outside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/bootinfo.h"
#include "boot/multiboot2.h"

static struct bootinfo out;

/* Boot information in the making. */
static uint8_t image[8192];
static size_t used;

static void put(const void *bytes, size_t size)
{
    assert_true(used + size <= sizeof image);
    memcpy(image + used, bytes, size);
    used += size;
}
static void put8(uint8_t value)
{
    put(&value, sizeof value);
}
static void put32(uint32_t value)
{
    put(&value, sizeof value);
}
static void put64(uint64_t value)
{
    put(&value, sizeof value);
}
static void align(void)
{
    while (used % 8)
        put8(0xcc); /* padding that must not be taken for anything */
}

static void begin(void)
{
    used = 0;
    put32(0); /* total_size, by end() */
    put32(0); /* reserved */
}
static void tag(uint32_t type, const void *body, uint32_t size)
{
    align();
    put32(type);
    put32(8 + size);
    put(body, size);
}
static void end(void)
{
    tag(MB2_TAG_END, "", 0);
    memcpy(image, &(uint32_t){(uint32_t)used}, 4);
}

/* Parses the image as memory of `limit` bytes (the image's own size when shorter). */
static bool parse_limit(size_t limit)
{
    uint8_t *exact = malloc(limit ? limit : 1);
    assert_non_null(exact);
    memcpy(exact, image, limit < used ? limit : used);
    memset(&out, 0xa5, sizeof out); /* defaults must be filled in, not found by luck */
    bool good = bootinfo_parse(&out, exact, limit);
    free(exact);
    assert_int_equal(good, out.n_errors == 0);
    return good;
}
static bool parse(void)
{
    return parse_limit(used);
}

static void assert_defaults(void)
{
    assert_string_equal(out.cmdline, "");
    assert_int_equal(out.n_memory, 0);
    assert_false(out.framebuffer.present);
    assert_false(out.efi);
    assert_int_equal(out.rsdp_size, 0);
}
static void assert_refused(const char *word)
{
    assert_true(out.n_errors >= 1);
    if (!strstr(out.errors[0], word))
        fail_msg("\"%s\" does not say \"%s\"", out.errors[0], word);
}

static void checksum(uint8_t *bytes, size_t size, size_t at)
{
    uint8_t sum = 0;
    bytes[at] = 0;
    for (size_t i = 0; i < size; i++)
        sum += bytes[i];
    bytes[at] = (uint8_t)-sum;
}
/* An RSDP of ACPI 1.0 (20 bytes) or 2.0 (36 bytes). */
static void make_rsdp(uint8_t rsdp[36], unsigned size)
{
    memset(rsdp, 0, 36);
    memcpy(rsdp, "RSD PTR PMULAB", 14);
    rsdp[15] = size == 36 ? 2 : 0;
    memcpy(rsdp + 16, &(uint32_t){0x7fe0000}, 4);
    checksum(rsdp, 20, 8);
    if (size == 36) {
        memcpy(rsdp + 20, &(uint32_t){36}, 4);
        memcpy(rsdp + 24, &(uint64_t){0x7fe1000}, 8);
        checksum(rsdp, 36, 32);
    }
}

static void nothing_in_it(void **state)
{
    (void)state;
    begin();
    end();
    assert_true(parse());
    assert_defaults();
}

static void what_grub_writes(void **state)
{
    (void)state;
    uint8_t rsdp1[36], rsdp2[36];
    begin();
    tag(MB2_TAG_CMDLINE, "run=15-3 pmi=nmi", 17);
    tag(2, "GRUB 2.06", 10); /* a tag that nobody needs */
    align();
    put32(MB2_TAG_MMAP), put32(16 + 2 * 24), put32(24), put32(0);
    put64(0), put64(0x9fc00), put32(1), put32(0);
    put64(0x100000), put64(0x7ee0000), put32(2), put32(0);
    align();
    put32(MB2_TAG_FRAMEBUFFER), put32(38);
    put64(0xfd000000), put32(4096), put32(1024), put32(768), put8(32), put8(1), put8(0), put8(0);
    put8(16), put8(8), put8(8), put8(8), put8(0), put8(8);
    make_rsdp(rsdp1, 20);
    tag(MB2_TAG_ACPI_OLD, rsdp1, 20);
    make_rsdp(rsdp2, 36);
    tag(MB2_TAG_ACPI_NEW, rsdp2, 36);
    tag(MB2_TAG_EFI64, &(uint64_t){0x1234}, 8);
    end();
    assert_true(parse());
    assert_string_equal(out.cmdline, "run=15-3 pmi=nmi");
    assert_int_equal(out.n_memory, 2);
    assert_int_equal(out.memory[0].length, 0x9fc00);
    assert_int_equal(out.memory[0].type, 1);
    assert_int_equal(out.memory[1].base, 0x100000);
    assert_int_equal(out.memory[1].length, 0x7ee0000);
    assert_int_equal(out.memory[1].type, 2);
    assert_true(out.framebuffer.present);
    assert_int_equal(out.framebuffer.address, 0xfd000000);
    assert_int_equal(out.framebuffer.pitch, 4096);
    assert_int_equal(out.framebuffer.width, 1024);
    assert_int_equal(out.framebuffer.height, 768);
    assert_int_equal(out.framebuffer.bits_per_pixel, 32);
    assert_int_equal(out.framebuffer.type, MB2_FRAMEBUFFER_RGB);
    assert_int_equal(out.framebuffer.red.position, 16);
    assert_int_equal(out.framebuffer.green.position, 8);
    assert_int_equal(out.framebuffer.blue.size, 8);
    assert_int_equal(out.rsdp_size, 36);
    assert_memory_equal(out.rsdp, rsdp2, 36);
    assert_true(out.efi);
}

static void old_rsdp_alone_and_new_one_first(void **state)
{
    (void)state;
    uint8_t rsdp1[36], rsdp2[36];
    make_rsdp(rsdp1, 20);
    make_rsdp(rsdp2, 36);
    begin();
    tag(MB2_TAG_ACPI_OLD, rsdp1, 20);
    end();
    assert_true(parse());
    assert_int_equal(out.rsdp_size, 20);
    assert_memory_equal(out.rsdp, rsdp1, 20);
    begin();
    tag(MB2_TAG_ACPI_NEW, rsdp2, 36);
    tag(MB2_TAG_ACPI_OLD, rsdp1, 20);
    end();
    assert_true(parse());
    assert_int_equal(out.rsdp_size, 36);
}

static void bad_rsdp(void **state)
{
    (void)state;
    uint8_t rsdp[36];
    for (int fault = 0; fault < 4; fault++) {
        unsigned size = 36;
        make_rsdp(rsdp, 36);
        if (fault == 0)
            rsdp[8]++;
        else if (fault == 1)
            rsdp[32]++;
        else if (fault == 2)
            rsdp[0] = 'X', checksum(rsdp, 20, 8), checksum(rsdp, 36, 32);
        else
            size = 35;
        begin();
        tag(MB2_TAG_ACPI_NEW, rsdp, size);
        end();
        assert_false(parse());
        assert_int_equal(out.rsdp_size, 0);
        assert_refused("RSDP");
    }
    /* A length field that points past the tag. */
    make_rsdp(rsdp, 36);
    memcpy(rsdp + 20, &(uint32_t){0xfffffff0}, 4);
    checksum(rsdp, 20, 8);
    begin();
    tag(MB2_TAG_ACPI_NEW, rsdp, 36);
    end();
    assert_false(parse());
    assert_int_equal(out.rsdp_size, 0);
}

static void size_runs_past_the_end(void **state)
{
    (void)state;
    begin();
    tag(MB2_TAG_CMDLINE, "list", 5);
    end();
    assert_false(parse_limit(used - 8)); /* total_size beyond the memory */
    assert_true(out.n_errors >= 1);

    begin();
    align();
    size_t at = used;
    tag(MB2_TAG_CMDLINE, "list", 5);
    end();
    memcpy(image + at + 4, &(uint32_t){4096}, 4); /* the tag beyond total_size */
    assert_false(parse());
    assert_defaults();
    assert_refused("past the end");
    memcpy(image + at + 4, &(uint32_t){UINT32_MAX}, 4); /* a size that overflows when rounded up */
    assert_false(parse());
    assert_defaults();
}

static void missing_end_tag(void **state)
{
    (void)state;
    begin();
    tag(MB2_TAG_CMDLINE, "list\0\0\0", 8);
    memcpy(image, &(uint32_t){(uint32_t)used}, 4);
    assert_false(parse());
    assert_refused("end tag");
    assert_string_equal(out.cmdline, "list"); /* what stood before is still good */
}

static void tag_of_size_0_or_less_than_its_header(void **state)
{
    (void)state;
    for (uint32_t size = 0; size < 8; size++) {
        begin();
        tag(MB2_TAG_CMDLINE, "list", 5);
        align();
        size_t at = used;
        tag(MB2_TAG_EFI64, "01234567", 8);
        end();
        memcpy(image + at + 4, &size, 4);
        assert_false(parse());
        assert_true(out.n_errors >= 1);
        assert_string_equal(out.cmdline, "list");
        assert_false(out.efi);
    }
}

static void command_line_without_nul(void **state)
{
    (void)state;
    begin();
    tag(MB2_TAG_CMDLINE, "run=15-3", 8);
    end();
    assert_false(parse());
    assert_string_equal(out.cmdline, "");
    assert_refused("NUL");
    begin();
    tag(MB2_TAG_CMDLINE, "", 0);
    end();
    assert_false(parse());
    assert_string_equal(out.cmdline, "");
}

static void command_line_as_long_as_the_room(void **state)
{
    (void)state;
    char text[BOOTINFO_CMDLINE + 1];
    memset(text, 'a', sizeof text);
    text[BOOTINFO_CMDLINE - 1] = '\0';
    begin();
    tag(MB2_TAG_CMDLINE, text, BOOTINFO_CMDLINE);
    end();
    assert_true(parse());
    assert_int_equal(strlen(out.cmdline), BOOTINFO_CMDLINE - 1);
    assert_null(out.cmdline_error);
    text[BOOTINFO_CMDLINE - 1] = 'a';
    text[BOOTINFO_CMDLINE] = '\0';
    begin();
    tag(MB2_TAG_CMDLINE, text, BOOTINFO_CMDLINE + 1);
    end();
    assert_false(parse()); /* cutting it off could turn it into another command line */
    assert_string_equal(out.cmdline, "");
    assert_non_null(strstr(out.cmdline_error, "1023"));
}

static void memory_map_faults(void **state)
{
    (void)state;
    const uint32_t bad_entry_sizes[] = {0, 1, 16, 23};
    for (size_t i = 0; i < sizeof bad_entry_sizes / sizeof *bad_entry_sizes; i++) {
        begin();
        align();
        put32(MB2_TAG_MMAP), put32(16 + 24), put32(bad_entry_sizes[i]), put32(0);
        put64(0), put64(4096), put32(1), put32(0);
        end();
        assert_false(parse());
        assert_int_equal(out.n_memory, 0);
    }
    begin(); /* entries larger than today's are stepped over by their size */
    align();
    put32(MB2_TAG_MMAP), put32(16 + 2 * 32), put32(32), put32(1);
    put64(0), put64(4096), put32(1), put32(0), put64(~0ULL);
    put64(8192), put64(4096), put32(1), put32(0), put64(~0ULL);
    end();
    assert_true(parse());
    assert_int_equal(out.n_memory, 2);
    assert_int_equal(out.memory[1].base, 8192);

    begin(); /* the last entry is cut off */
    align();
    put32(MB2_TAG_MMAP), put32(16 + 24 + 20), put32(24), put32(0);
    put64(0), put64(4096), put32(1), put32(0);
    put64(8192), put64(4096), put32(1);
    end();
    assert_false(parse());
    assert_int_equal(out.n_memory, 1);

    begin(); /* more than there is room for */
    align();
    put32(MB2_TAG_MMAP), put32(16 + (BOOTINFO_MAX_MEMORY + 1) * 24), put32(24), put32(0);
    for (unsigned n = 0; n <= BOOTINFO_MAX_MEMORY; n++)
        put64(n * 4096), put64(4096), put32(1), put32(0);
    end();
    assert_false(parse());
    assert_int_equal(out.n_memory, BOOTINFO_MAX_MEMORY);
}

/* The image lies in [1 MiB, 2 MiB). */
static void reserved_ranges(void **state)
{
    (void)state;
    static const struct {
        struct memory_range range;
        bool in_it;
    } cases[] = {
        {{0x100000, 0x100000, 2}, true},   {{0x100000, 0x100000, 1}, false}, /* free */
        {{0, 1ULL << 32, 3}, true},        {{0, 0x100000, 2}, false},
        {{0, 0x100001, 2}, true},          {{0x200000, 0x1000, 2}, false},
        {{0x1fffff, 1, 2}, true},          {{0x1fffff, 0, 2}, false},
        {{0x1fffff, UINT64_MAX, 2}, true}, /* base + length wraps */
        {{0x100000, 0, 2}, false},         {{0x180000, 0x1000, 5}, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        out = (struct bootinfo){
            .memory = {{0x100000, 0x7ee0000, 1}, cases[i].range, {0x100000, 0x100000, 2}},
            .n_memory = 2,
        };
        const struct memory_range *found = bootinfo_reserved(&out, 0x100000, 0x200000);
        if (found != (cases[i].in_it ? &out.memory[1] : NULL))
            fail_msg("case %zu", i);
    }
    out.n_memory = 0;
    assert_null(bootinfo_reserved(&out, 0x100000, 0x200000));
}

static void short_framebuffer(void **state)
{
    (void)state;
    uint8_t body[30] = {0};
    body[21] = MB2_FRAMEBUFFER_RGB;
    for (uint32_t size = 0; size < 30; size++) {
        begin();
        tag(MB2_TAG_FRAMEBUFFER, body, size);
        end();
        assert_false(parse());
        assert_false(out.framebuffer.present);
    }
}

static void every_limit(void **state)
{
    (void)state;
    begin();
    tag(MB2_TAG_CMDLINE, "list", 5);
    tag(MB2_TAG_EFI64, "01234567", 8);
    end();
    for (size_t limit = 0; limit < used; limit++)
        assert_false(parse_limit(limit));
    assert_true(parse_limit(used));
    assert_false(bootinfo_parse(&out, NULL, 4096));
    assert_defaults();
}

/* Good boot information with random bytes changed, and pure noise. */
static void noise(void **state)
{
    (void)state;
    uint32_t random = 1;
    uint8_t rsdp[36], whole[1024];
    make_rsdp(rsdp, 36);
    begin();
    tag(MB2_TAG_CMDLINE, "run=15-3", 9);
    align();
    put32(MB2_TAG_MMAP), put32(16 + 24), put32(24), put32(0);
    put64(0), put64(4096), put32(1), put32(0);
    tag(MB2_TAG_ACPI_NEW, rsdp, 36);
    tag(MB2_TAG_FRAMEBUFFER, image, 31);
    end();
    size_t size = used;
    memcpy(whole, image, size);
    for (int round = 0; round < 30000; round++) {
        memcpy(image, whole, size);
        for (int i = 0; i < 1 + round % 4; i++) {
            random = random * 1664525 + 1013904223;
            image[(random >> 8) % size] = (uint8_t)(random >> 24);
        }
        parse();
    }
    for (int round = 0; round < 10000; round++) {
        for (size_t i = 8; i < size; i++) {
            random = random * 1664525 + 1013904223;
            /* Mostly small numbers, as types and sizes are. */
            image[i] = (random >> 30) ? 0 : (uint8_t)(random >> 16);
        }
        parse();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_it),
        cmocka_unit_test(what_grub_writes),
        cmocka_unit_test(old_rsdp_alone_and_new_one_first),
        cmocka_unit_test(bad_rsdp),
        cmocka_unit_test(size_runs_past_the_end),
        cmocka_unit_test(missing_end_tag),
        cmocka_unit_test(tag_of_size_0_or_less_than_its_header),
        cmocka_unit_test(command_line_without_nul),
        cmocka_unit_test(command_line_as_long_as_the_room),
        cmocka_unit_test(memory_map_faults),
        cmocka_unit_test(reserved_ranges),
        cmocka_unit_test(short_framebuffer),
        cmocka_unit_test(every_limit),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests_name("bootinfo", tests, NULL, NULL);
}
