/*
 * The parser of PVH's start info: what QEMU writes, what is malformed, and noise. Each piece of
 * physical memory that it asks for lies in a heap block of exactly that size, so that
 * AddressSanitizer sees any read outside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/pvh.h"

/* Where things lie; the last is the end of the memory. */
#define MAP     0x5a8
#define CMDLINE 0x11c0
#define INFO    0x21e0
#define RSDP    0x3000
#define END     0x4000

static uint8_t memory[END];
static struct bootinfo out;

static void *blocks[2 * BOOTINFO_CMDLINE];
static unsigned n_blocks;

static const uint8_t *read_memory(uint64_t address, size_t size)
{
    if (address >= END || size > END - address)
        return NULL;
    assert_true(n_blocks < sizeof blocks / sizeof *blocks);
    uint8_t *exact = malloc(size);
    assert_non_null(exact);
    memcpy(exact, memory + address, size);
    blocks[n_blocks++] = exact;
    return exact;
}

static bool parse_at(uint64_t start_info)
{
    memset(&out, 0xa5, sizeof out); /* defaults must be filled in, not found by luck */
    bool good = pvh_parse(&out, start_info, read_memory);
    while (n_blocks > 0)
        free(blocks[--n_blocks]);
    assert_int_equal(good, out.n_errors == 0);
    assert_true(out.pvh);
    assert_false(out.efi);
    assert_false(out.framebuffer.present);
    return good;
}
static bool parse(void)
{
    return parse_at(INFO);
}

static void put32(uint64_t at, uint32_t value)
{
    memcpy(memory + at, &value, sizeof value);
}
static void put64(uint64_t at, uint64_t value)
{
    memcpy(memory + at, &value, sizeof value);
}

/* The offsets of the fields, from the comment at the head of Xen's start_info.h. */
static void put_magic(uint64_t at, uint32_t version)
{
    memset(memory, 0, sizeof memory);
    put32(at, 0x336ec578);
    put32(at + 4, version);
}
static void put_cmdline(uint64_t address)
{
    put64(INFO + 24, address);
}
static void put_rsdp(uint64_t address)
{
    put64(INFO + 32, address);
}
static void put_map(uint64_t address, uint32_t entries)
{
    put64(INFO + 40, address);
    put32(INFO + 48, entries);
}
static void put_range(unsigned index, uint64_t base, uint64_t length, uint32_t type)
{
    put64(MAP + 24 * index, base);
    put64(MAP + 24 * index + 8, length);
    put32(MAP + 24 * index + 16, type);
}

static void checksum(uint64_t start, size_t size, uint64_t at)
{
    uint8_t sum = 0;
    memory[at] = 0;
    for (size_t i = 0; i < size; i++)
        sum += memory[start + i];
    memory[at] = (uint8_t)-sum;
}
/* An RSDP of ACPI 1.0 (revision 0, 20 bytes) or 2.0 (revision 2, 36 bytes). */
static void make_rsdp(uint64_t at, uint8_t revision)
{
    memcpy(memory + at, "RSD PTR ", 8);
    memory[at + 15] = revision;
    put32(at + 16, 0x7fe0000);
    checksum(at, 20, at + 8);
    if (revision >= 2) {
        put32(at + 20, 36);
        checksum(at, 36, at + 32);
    }
}

static void assert_refused(const char *word)
{
    assert_int_equal(out.n_errors, 1);
    if (!strstr(out.errors[0], word))
        fail_msg("\"%s\" does not say \"%s\"", out.errors[0], word);
}

static void nothing_in_it(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    strcpy((char *)memory, "list"); /* an address of 0 says that there is no such thing */
    assert_true(parse());
    assert_string_equal(out.cmdline, "");
    assert_null(out.cmdline_error);
    assert_int_equal(out.n_memory, 0);
    assert_int_equal(out.rsdp_size, 0);
}

static void what_qemu_writes(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    put_cmdline(CMDLINE);
    strcpy((char *)memory + CMDLINE, "run=15-3 pmi=nmi");
    put_rsdp(RSDP);
    make_rsdp(RSDP, 0);
    put_map(MAP, 3);
    put_range(0, 0, 0x9fc00, 1);
    put_range(1, 0xf0000, 0x10000, 2);
    put_range(2, 0x100000000, 0x80000000, 1);
    assert_true(parse());
    assert_string_equal(out.cmdline, "run=15-3 pmi=nmi");
    assert_null(out.cmdline_error);
    assert_int_equal(out.n_memory, 3);
    assert_int_equal(out.memory[0].length, 0x9fc00);
    assert_int_equal(out.memory[0].type, 1);
    assert_int_equal(out.memory[1].base, 0xf0000);
    assert_int_equal(out.memory[1].type, 2);
    assert_int_equal(out.memory[2].base, 0x100000000);
    assert_int_equal(out.memory[2].length, 0x80000000);
    assert_int_equal(out.rsdp_size, 20);
    assert_memory_equal(out.rsdp, memory + RSDP, 20);
}

/* Version 0 ends before the memory map; here the memory ends there, too. */
static void version_0(void **state)
{
    (void)state;
    put_magic(END - 40, 0);
    assert_true(parse_at(END - 40));
    assert_int_equal(out.n_memory, 0);
    put_magic(INFO, 0);
    put_map(MAP, 1);
    put_range(0, 0, 0x9fc00, 1);
    assert_true(parse());
    assert_int_equal(out.n_memory, 0);
    put_magic(END - 40, 1);
    assert_false(parse_at(END - 40));
    assert_refused("cut off");
}

static void no_start_info(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    put_cmdline(CMDLINE);
    strcpy((char *)memory + CMDLINE, "list");
    memory[INFO]++;
    assert_false(parse());
    assert_refused("336ec578h");
    assert_ptr_equal(out.cmdline_error, out.errors[0]); /* nothing is to be run */
    assert_string_equal(out.cmdline, "");
    put_magic(INFO, 1);
    for (uint64_t start_info = END - 39; start_info <= END; start_info++) {
        assert_false(parse_at(start_info));
        assert_refused("cannot be read");
        assert_ptr_equal(out.cmdline_error, out.errors[0]);
    }
}

static void command_line_as_long_as_the_room(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    put_cmdline(CMDLINE);
    memset(memory + CMDLINE, 'a', 1023);
    assert_true(parse());
    assert_int_equal(strlen(out.cmdline), 1023);
    memory[CMDLINE + 1023] = 'a';
    assert_false(parse()); /* cutting it off could turn it into another command line */
    assert_refused("longer than 1023 bytes");
    assert_string_equal(out.cmdline, "");
    assert_ptr_equal(out.cmdline_error, out.errors[0]);
}

static void command_line_at_the_end_of_memory(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    put_cmdline(END - 5);
    memcpy(memory + END - 5, "list", 5);
    assert_true(parse());
    assert_string_equal(out.cmdline, "list");
    memory[END - 1] = 's';
    assert_false(parse());
    assert_refused("cannot be read");
    assert_string_equal(out.cmdline, "");
    assert_ptr_equal(out.cmdline_error, out.errors[0]);
    put_cmdline(UINT64_MAX);
    assert_false(parse());
    assert_refused("cannot be read");
    assert_non_null(out.cmdline_error);
}

static void memory_map_faults(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    put_map(END - 24, 1);
    assert_true(parse());
    assert_int_equal(out.n_memory, 1);
    put_map(END - 24, 2);
    assert_false(parse());
    assert_refused("memory map");
    assert_int_equal(out.n_memory, 0);
    put_map(END - 24, UINT32_MAX);
    assert_false(parse());
    assert_refused("memory map");
    put_map(MAP, BOOTINFO_MAX_MEMORY);
    assert_true(parse());
    put_map(MAP, BOOTINFO_MAX_MEMORY + 1);
    assert_false(parse());
    assert_refused("more than 128");
    assert_int_equal(out.n_memory, BOOTINFO_MAX_MEMORY);
}

static void rsdp_kinds_and_faults(void **state)
{
    (void)state;
    put_magic(INFO, 1);
    put_rsdp(END - 36);
    make_rsdp(END - 36, 2);
    assert_true(parse());
    assert_int_equal(out.rsdp_size, 36);
    assert_memory_equal(out.rsdp, memory + END - 36, 36);
    memory[END - 1]++;
    assert_false(parse());
    assert_refused("extended checksum");
    assert_int_equal(out.rsdp_size, 0);

    put_rsdp(END - 20); /* of the older kind no more is read than there is */
    make_rsdp(END - 20, 0);
    assert_true(parse());
    assert_int_equal(out.rsdp_size, 20);
    make_rsdp(END - 20 - 16, 2);
    put_rsdp(END - 20);
    memcpy(memory + END - 20, "RSD PTR ", 8);
    memory[END - 20 + 15] = 2; /* of the newer kind, and cut off */
    assert_false(parse());
    assert_refused("RSDP");
    put_rsdp(END - 19);
    assert_false(parse());
    assert_refused("RSDP");
    put_rsdp(RSDP); /* nothing but zeros */
    assert_false(parse());
    assert_refused("RSDP");
}

/* A good start info with random bytes changed. */
static void noise(void **state)
{
    (void)state;
    static uint8_t whole[END];
    uint32_t random = 1;
    put_magic(INFO, 1);
    put_cmdline(CMDLINE);
    strcpy((char *)memory + CMDLINE, "list");
    put_rsdp(RSDP);
    make_rsdp(RSDP, 2);
    put_map(MAP, 2);
    memcpy(whole, memory, sizeof whole);
    for (int round = 0; round < 2000; round++) {
        memcpy(memory, whole, sizeof whole);
        for (int i = 0; i < 1 + round % 4; i++) {
            random = random * 1664525 + 1013904223;
            memory[INFO + 4 + (random >> 8) % 52] = (uint8_t)(random >> 24);
        }
        parse();
        assert_true(out.n_memory <= BOOTINFO_MAX_MEMORY);
        assert_non_null(memchr(out.cmdline, 0, sizeof out.cmdline));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_in_it),
        cmocka_unit_test(what_qemu_writes),
        cmocka_unit_test(version_0),
        cmocka_unit_test(no_start_info),
        cmocka_unit_test(command_line_as_long_as_the_room),
        cmocka_unit_test(command_line_at_the_end_of_memory),
        cmocka_unit_test(memory_map_faults),
        cmocka_unit_test(rsdp_kinds_and_faults),
        cmocka_unit_test(noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
