/*
 * The search for the processors in the ACPI tables: what firmware writes, what is malformed, and
 * noise. Each table lies in a heap block of exactly its size, so that AddressSanitizer sees any
 * read outside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/acpi.h"

#define MAX_BLOCKS  8
#define HEADER      36
#define MADT_HEADER 44
#define RSDT_AT     0x1000
#define XSDT_AT     0x2000
#define MADT_AT     0x3000
#define OTHER_AT    0x4000
#define ENABLED     1

/* "Physical memory": blocks by address. */
static struct {
    uint64_t address;
    size_t size;
    uint8_t *bytes;
} blocks[MAX_BLOCKS];
static unsigned n_blocks;

static uint8_t rsdp[36];
static uint8_t madt[1024];
static size_t madt_size;
static struct acpi_processors out;

static const uint8_t *reader(uint64_t address, size_t size)
{
    for (unsigned i = 0; i < n_blocks; i++)
        if (blocks[i].address == address && size <= blocks[i].size)
            return blocks[i].bytes;
    return NULL;
}

static void place(uint64_t address, const void *bytes, size_t size)
{
    blocks[n_blocks].address = address;
    blocks[n_blocks].size = size;
    blocks[n_blocks].bytes = malloc(size ? size : 1);
    memcpy(blocks[n_blocks++].bytes, bytes, size);
}

static void little(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void seal(uint8_t *table, size_t size, const char *signature)
{
    uint8_t sum = 0;
    memcpy(table, signature, 4);
    little(table + 4, size, 4);
    table[9] = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + table[i]);
    table[9] = (uint8_t)-sum;
}

static int setup(void **state)
{
    (void)state;
    memset(rsdp, 0, sizeof rsdp);
    memset(madt, 0, sizeof madt);
    madt_size = MADT_HEADER;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    while (n_blocks)
        free(blocks[--n_blocks].bytes);
    return 0;
}

static void lapic(uint8_t id, uint32_t flags)
{
    uint8_t *entry = madt + madt_size;
    entry[0] = 0, entry[1] = 8, entry[2] = id, entry[3] = id;
    little(entry + 4, flags, 4);
    madt_size += 8;
}

static void x2apic(uint32_t id, uint32_t flags)
{
    uint8_t *entry = madt + madt_size;
    entry[0] = 9, entry[1] = 16;
    little(entry + 4, id, 4);
    little(entry + 8, flags, 4);
    madt_size += 16;
}

static void raw_entry(uint8_t type, uint8_t length, size_t takes)
{
    madt[madt_size] = type;
    if (takes > 1)
        madt[madt_size + 1] = length;
    madt_size += takes;
}

/* A root table with another table before the MADT. */
static void root(uint64_t at, const char *signature, unsigned pointer)
{
    uint8_t table[HEADER + 16] = {0};
    size_t size = HEADER + 2 * pointer;
    little(table + HEADER, OTHER_AT, pointer);
    little(table + HEADER + pointer, MADT_AT, pointer);
    seal(table, size, signature);
    place(at, table, size);
}

static void other(void)
{
    uint8_t table[HEADER] = {0};
    seal(table, sizeof table, "FACP");
    place(OTHER_AT, table, sizeof table);
}

static bool find(size_t rsdp_size)
{
    seal(madt, madt_size, "APIC");
    place(MADT_AT, madt, madt_size);
    other();
    little(rsdp + 16, RSDT_AT, 4);
    little(rsdp + 24, XSDT_AT, 8);
    return acpi_find_processors(&out, rsdp, rsdp_size, reader);
}

static bool find_by_xsdt(void)
{
    root(XSDT_AT, "XSDT", 8);
    return find(36);
}

static void test_rsdt_of_acpi_1(void **state)
{
    (void)state;
    lapic(0, ENABLED);
    lapic(6, ENABLED);
    root(RSDT_AT, "RSDT", 4);
    assert_true(find(20));
    assert_int_equal(out.n, 2);
    assert_int_equal(out.apic_id[1], 6);
    assert_null(out.error);
}

static void test_xsdt(void **state)
{
    (void)state;
    lapic(0, ENABLED);
    x2apic(0x12345, ENABLED);
    assert_true(find_by_xsdt());
    assert_int_equal(out.n, 2);
    assert_int_equal(out.apic_id[1], 0x12345);
}

static void test_broken_xsdt_falls_back(void **state)
{
    (void)state;
    uint8_t broken[HEADER + 8] = "XSDT";
    little(broken + 4, sizeof broken, 4);
    place(XSDT_AT, broken, sizeof broken);
    root(RSDT_AT, "RSDT", 4);
    lapic(3, ENABLED);
    assert_true(find(36));
    assert_int_equal(out.apic_id[0], 3);
}

static void test_disabled_and_doubled(void **state)
{
    (void)state;
    lapic(0, ENABLED);
    lapic(1, 0);
    lapic(2, 2); /* online capable: not there now */
    lapic(0xff, ENABLED);
    x2apic(0, ENABLED);
    x2apic(0xffffffff, ENABLED);
    lapic(4, ENABLED);
    assert_true(find_by_xsdt());
    assert_int_equal(out.n, 2);
    assert_int_equal(out.apic_id[1], 4);
    assert_int_equal(out.disabled, 2);
}

static void test_other_entries_are_passed(void **state)
{
    (void)state;
    raw_entry(1, 12, 12); /* an I/O APIC */
    raw_entry(200, 2, 2);
    lapic(5, ENABLED);
    raw_entry(0, 4, 4); /* too short for its type: not believed */
    raw_entry(9, 12, 12);
    assert_true(find_by_xsdt());
    assert_int_equal(out.n, 1);
    assert_null(out.error);
}

static void test_entry_lengths(void **state)
{
    static const struct {
        uint8_t length;
        size_t takes;
    } bad[] = {{0, 2}, {1, 2}, {8, 4}, {255, 8}, {0, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        setup(NULL);
        lapic(0, ENABLED);
        raw_entry(0, bad[i].length, bad[i].takes);
        assert_true(find_by_xsdt());
        assert_int_equal(out.n, 1);
        assert_non_null(out.error);
        teardown(NULL);
    }
}

static void test_checksum(void **state)
{
    (void)state;
    lapic(0, ENABLED);
    seal(madt, madt_size, "APIC");
    madt[MADT_HEADER + 3]++;
    place(MADT_AT, madt, madt_size);
    other();
    root(RSDT_AT, "RSDT", 4);
    little(rsdp + 16, RSDT_AT, 4);
    assert_false(acpi_find_processors(&out, rsdp, 20, reader));
    assert_non_null(out.error);
}

static void test_table_lengths(void **state)
{
    static const uint32_t lengths[] = {0, 1, 35, 36, 43, 4096, 0x7fffffff, 0xffffffff};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        setup(NULL);
        lapic(0, ENABLED);
        little(madt, 0x43495041, 4); /* "APIC" */
        little(madt + 4, lengths[i], 4);
        uint8_t sum = 0;
        for (size_t j = 0; j < lengths[i] && j < madt_size; j++)
            sum = (uint8_t)(sum + madt[j]);
        madt[9] = (uint8_t)-sum;
        place(MADT_AT, madt, madt_size);
        other();
        root(RSDT_AT, "RSDT", 4);
        little(rsdp + 16, RSDT_AT, 4);
        assert_false(acpi_find_processors(&out, rsdp, 20, reader));
        assert_non_null(out.error);
        teardown(NULL);
    }
}

static void test_no_tables(void **state)
{
    (void)state;
    assert_false(acpi_find_processors(&out, rsdp, 0, reader));
    assert_string_equal(out.error, "no ACPI RSDP in the boot information");
    assert_false(acpi_find_processors(&out, rsdp, 20, reader)); /* a pointer of 0 */
    little(rsdp + 16, 0xfffffff0, 4);
    assert_false(acpi_find_processors(&out, rsdp, 20, reader)); /* cannot be read */
    root(RSDT_AT, "RSDT", 4);
    other();
    little(rsdp + 16, RSDT_AT, 4);
    assert_false(acpi_find_processors(&out, rsdp, 20, reader)); /* no MADT */
    assert_string_equal(out.error, "no MADT among the ACPI tables");
}

static void test_empty_madt(void **state)
{
    (void)state;
    lapic(0, 0);
    assert_false(find_by_xsdt());
    assert_string_equal(out.error, "no enabled processor in the MADT");
}

static void test_more_than_fit(void **state)
{
    (void)state;
    uint8_t *big = calloc(1, MADT_HEADER + 300 * 16);
    for (uint32_t i = 0; i < 300; i++) {
        uint8_t *entry = big + MADT_HEADER + i * 16;
        entry[0] = 9, entry[1] = 16;
        little(entry + 4, i, 4);
        little(entry + 8, ENABLED, 4);
    }
    seal(big, MADT_HEADER + 300 * 16, "APIC");
    place(MADT_AT, big, MADT_HEADER + 300 * 16);
    free(big);
    other();
    root(RSDT_AT, "RSDT", 4);
    little(rsdp + 16, RSDT_AT, 4);
    assert_true(acpi_find_processors(&out, rsdp, 20, reader));
    assert_int_equal(out.n, ACPI_MAX_PROCESSORS);
    assert_int_equal(out.left_out, 300 - ACPI_MAX_PROCESSORS);
}

/* Any bytes behind a right header and checksum: no read outside, an end in every case. */
static void test_noise(void **state)
{
    uint32_t random = 12345;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        setup(NULL);
        madt_size = HEADER + round % 200;
        for (size_t i = HEADER; i < madt_size; i++) {
            random = random * 1664525 + 1013904223;
            madt[i] = (uint8_t)(random >> 24 & (random & 0x100 ? 0xff : 0x0f));
        }
        find_by_xsdt();
        assert_true(out.n > 0 || out.error);
        teardown(NULL);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_rsdt_of_acpi_1),
        TEST(test_xsdt),
        TEST(test_broken_xsdt_falls_back),
        TEST(test_disabled_and_doubled),
        TEST(test_other_entries_are_passed),
        TEST(test_entry_lengths),
        TEST(test_checksum),
        TEST(test_table_lengths),
        TEST(test_no_tables),
        TEST(test_empty_madt),
        TEST(test_more_than_fit),
        TEST(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
