/*
 * How the ACPI tables say to switch off and to reset: what firmware writes, what is malformed, and
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

#include "kernel/power.h"

#define MAX_BLOCKS 4
#define HEADER     36
#define XSDT_AT    0x2000
#define FADT_AT    0x3000
#define DSDT_AT    0x4000
#define FADT_SIZE  276 /* ACPI 6's */

/* Offsets in the FADT, from the specification's table. */
#define DSDT          40
#define SMI_CMD       48
#define ACPI_ENABLE   52
#define PM1A_CNT      64
#define PM1B_CNT      68
#define FLAGS         112
#define RESET_REG     116
#define RESET_VALUE   128
#define X_DSDT        140
#define X_PM1A_CNT    172
#define X_PM1B_CNT    184
#define SLEEP_CONTROL 244
#define RESET_REG_SUP 0x400
#define HW_REDUCED    0x100000

static struct {
    uint64_t address;
    size_t size;
    uint8_t *bytes;
} blocks[MAX_BLOCKS];
static unsigned n_blocks;

static uint8_t rsdp[36], fadt[FADT_SIZE], dsdt[512];
static size_t fadt_size, dsdt_size;
static struct power_off off;
static struct power_reset reset;

static const uint8_t *reader(uint64_t address, size_t size)
{
    for (unsigned i = 0; i < n_blocks; i++)
        if (blocks[i].address == address && size <= blocks[i].size)
            return blocks[i].bytes;
    return NULL;
}

static void little(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void gas(unsigned offset, uint8_t space, uint64_t address)
{
    fadt[offset] = space;
    little(fadt + offset + 4, address, 8);
}

static void place(uint64_t address, uint8_t *table, size_t size, const char *signature)
{
    uint8_t sum = 0;
    memcpy(table, signature, 4);
    little(table + 4, size, 4);
    table[9] = 0;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + table[i]);
    table[9] = (uint8_t)-sum;
    blocks[n_blocks].address = address;
    blocks[n_blocks].size = size;
    blocks[n_blocks].bytes = malloc(size);
    memcpy(blocks[n_blocks++].bytes, table, size);
}

static void forget(void)
{
    while (n_blocks)
        free(blocks[--n_blocks].bytes);
}

static void aml(const void *bytes, size_t size)
{
    memcpy(dsdt + dsdt_size, bytes, size);
    dsdt_size += size;
}
#define AML(...) aml((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Name (_S5, Package (4) {5, 6, 0, 0}) */
static void usual_s5(void)
{
    AML(0x08, '_', 'S', '5', '_', 0x12, 0x08, 0x04, 0x0a, 5, 0x0a, 6, 0x00, 0x00);
}

/* A FADT of ACPI 1.0 with one control block; the DSDT is empty. */
static int setup(void **state)
{
    (void)state;
    memset(rsdp, 0, sizeof rsdp);
    memset(fadt, 0, sizeof fadt);
    memset(dsdt, 0, sizeof dsdt);
    fadt_size = 116;
    dsdt_size = HEADER;
    little(fadt + DSDT, DSDT_AT, 4);
    little(fadt + PM1A_CNT, 0x604, 4);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    forget();
    return 0;
}

static void place_all(void)
{
    uint8_t xsdt[HEADER + 8] = {0};
    forget();
    little(xsdt + HEADER, FADT_AT, 8);
    little(rsdp + 24, XSDT_AT, 8);
    place(XSDT_AT, xsdt, sizeof xsdt, "XSDT");
    place(FADT_AT, fadt, fadt_size, "FACP");
    place(DSDT_AT, dsdt, dsdt_size, "DSDT");
}

static const char *find_off(void)
{
    place_all();
    memset(&off, 0xa5, sizeof off);
    return power_find_off(&off, rsdp, sizeof rsdp, reader);
}

static const char *find_reset(void)
{
    place_all();
    memset(&reset, 0xa5, sizeof reset);
    return power_find_reset(&reset, rsdp, sizeof rsdp, reader);
}

static void assert_why(const char *why, const char *word)
{
    if (!why || !strstr(why, word))
        fail_msg("\"%s\" lacks \"%s\"", why ? why : "(found)", word);
}

static void test_off_of_acpi_1(void **state)
{
    (void)state;
    little(fadt + PM1B_CNT, 0x704, 4);
    little(fadt + SMI_CMD, 0xb2, 4);
    fadt[ACPI_ENABLE] = 0xf1;
    AML(0x10, 0x20, 0x5c); /* Scope (\) */
    usual_s5();
    assert_null(find_off());
    assert_false(off.reduced);
    assert_int_equal(off.n, 2);
    assert_int_equal(off.control[0].space, ACPI_IO);
    assert_int_equal(off.control[0].address, 0x604);
    assert_int_equal(off.control[1].address, 0x704);
    assert_int_equal(off.type[0], 5);
    assert_int_equal(off.type[1], 6);
    assert_int_equal(off.smi_port, 0xb2);
    assert_int_equal(off.smi_enable, 0xf1);
}

static void test_off_without_smi(void **state)
{
    (void)state;
    usual_s5();
    assert_null(find_off());
    assert_int_equal(off.n, 1);
    assert_int_equal(off.smi_port, 0);
    little(fadt + SMI_CMD, 0xb2, 4); /* a port without a value turns nothing on */
    assert_null(find_off());
    assert_int_equal(off.smi_port, 0);
    little(fadt + SMI_CMD, 0x100b2, 4); /* no port */
    fadt[ACPI_ENABLE] = 0xf1;
    assert_null(find_off());
    assert_int_equal(off.smi_port, 0);
}

static void test_off_by_the_newer_fields(void **state)
{
    (void)state;
    fadt_size = FADT_SIZE;
    usual_s5();
    gas(X_PM1A_CNT, 0, 0xfed00000);
    little(fadt + DSDT, 0x5000, 4);
    little(fadt + X_DSDT, DSDT_AT, 8);
    assert_null(find_off());
    assert_int_equal(off.n, 1);
    assert_int_equal(off.control[0].space, ACPI_MEMORY);
    assert_int_equal(off.control[0].address, 0xfed00000);
    gas(X_PM1A_CNT, 1, 0); /* 0: the older field holds */
    gas(X_PM1B_CNT, 1, 0x804);
    assert_null(find_off());
    assert_int_equal(off.control[0].address, 0x604);
    assert_int_equal(off.control[1].address, 0x804);
}

static void test_off_hardware_reduced(void **state)
{
    (void)state;
    fadt_size = FADT_SIZE;
    little(fadt + FLAGS, HW_REDUCED, 4);
    little(fadt + PM1B_CNT, 0x704, 4);
    gas(SLEEP_CONTROL, 0, 0xfea00000);
    usual_s5();
    assert_null(find_off());
    assert_true(off.reduced);
    assert_int_equal(off.n, 1);
    assert_int_equal(off.control[0].space, ACPI_MEMORY);
    assert_int_equal(off.control[0].address, 0xfea00000);
    gas(SLEEP_CONTROL, 0, 0);
    assert_why(find_off(), "sleep control");
    fadt_size = 244; /* of a time before that register */
    assert_why(find_off(), "sleep control");
}

static void test_no_control_register(void **state)
{
    (void)state;
    usual_s5();
    little(fadt + PM1A_CNT, 0, 4);
    little(fadt + PM1B_CNT, 0x704, 4);
    assert_why(find_off(), "PM1a");
    little(fadt + PM1A_CNT, 0x10000, 4); /* no port */
    assert_why(find_off(), "cannot write");
    fadt_size = FADT_SIZE;
    gas(X_PM1A_CNT, 3, 0x604); /* the embedded controller */
    assert_why(find_off(), "cannot write");
}

/* Each of these holds SLP_TYPa 7 and SLP_TYPb 1. */
static void test_forms_of_s5(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } forms[] = {
#define FORM(text) {text, sizeof(text) - 1}
        FORM("\x08_S5_\x12\x05\x02\x0a\x07\x01"),
        FORM("\x08\\_S5_\x12\x06\x04\x0a\x07\x0a\x01"),
        FORM("\x08_S5_\x12\x08\x02\x0b\x07\x00\x0b\x01\x00"),
        FORM("\x08_S5_\x12\x0c\x02\x0c\x07\x00\x00\x00\x0c\x01\x00\x00\x00"),
        FORM(
            "\x08_S5_\x12\x47\x01\x02\x0a\x07\x0a\x01 sixteen and more"), /* PkgLength of 2 bytes */
        FORM("\x08_S5_\x12\x88\x00\x00\x02\x0a\x07\x0a\x01"),             /* of 3 */
        FORM("\x08_S5_\x12\xc9\x00\x00\x00\x02\x0a\x07\x0a\x01"),         /* of 4 */
        FORM("_S5_\x08_S5_\x12\x05\x02\x0a\x07\x01"), /* first a use of the name */
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        setup(NULL);
        aml(forms[i].bytes, forms[i].size);
        if (find_off())
            fail_msg("form %zu is not found", i);
        assert_int_equal(off.type[0], 7);
        assert_int_equal(off.type[1], 1);
    }
}

static void test_broken_s5(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
    } forms[] = {
        FORM(""),
        FORM("\x08_S5"),
        FORM("\x08_S5_"),
        FORM("\x08_S5_\x12"),
        FORM("\x08_S5_\x12\x05"),
        FORM("\x08_S5_\x12\x05\x02\x0a\x07"),         /* longer than the table */
        FORM("\x08_S5_\x12\x00\x02\x0a\x07\x01"),     /* shorter than its length */
        FORM("\x08_S5_\x12\x04\x02\x0a\x07\x01"),     /* ends before its second element */
        FORM("\x08_S5_\x12\x05\x01\x0a\x07\x01"),     /* one element */
        FORM("\x08_S5_\x12\x05\x02\x0a\x08\x01"),     /* SLP_TYP has three bits */
        FORM("\x08_S5_\x12\x06\x02\x0b\x07\x01\x01"), /* 107H */
        FORM("\x08_S5_\x12\x05\x02"
             "TYPA"),                             /* a name: takes an interpreter */
        FORM("\x08_S5_\x14\x05\x02\x0a\x07\x01"), /* a method */
        FORM("\x10_S5_\x12\x05\x02\x0a\x07\x01"), /* not a name's definition */
        FORM("\x08_S4_\x12\x05\x02\x0a\x07\x01"),
        FORM("\x08_S5_\x12\xff"),
        FORM("\x08_S5_\x12\xff\xff\xff\xff\x02\x0a\x07\x01"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        setup(NULL);
        aml(forms[i].bytes, forms[i].size);
        const char *why = find_off();
        if (!why || !strstr(why, "\\_S5"))
            fail_msg("form %zu gives \"%s\"", i, why ? why : "(found)");
    }
}

/* A broken one hides no good one behind it. */
static void test_second_s5(void **state)
{
    (void)state;
    AML(0x08, '_', 'S', '5', '_', 0x12, 0x05, 0x02, 0x0a, 8, 0x01);
    usual_s5();
    assert_null(find_off());
    assert_int_equal(off.type[0], 5);
}

static void test_reset(void **state)
{
    (void)state;
    fadt_size = FADT_SIZE;
    little(fadt + FLAGS, RESET_REG_SUP, 4);
    fadt[RESET_VALUE] = 0x0f;
    gas(RESET_REG, 1, 0xcf9);
    assert_null(find_reset());
    assert_int_equal(reset.control.space, ACPI_IO);
    assert_int_equal(reset.control.address, 0xcf9);
    assert_int_equal(reset.value, 0x0f);
    gas(RESET_REG, 0, 0x1fea00000);
    assert_null(find_reset());
    assert_int_equal(reset.control.address, 0x1fea00000);
    gas(RESET_REG, 2, 0x1f00000044);
    assert_null(find_reset());
    assert_int_equal(reset.control.space, ACPI_PCI);
    fadt_size = 129; /* just long enough */
    assert_null(find_reset());
}

static void test_no_reset(void **state)
{
    (void)state;
    fadt_size = FADT_SIZE;
    gas(RESET_REG, 1, 0xcf9);
    assert_why(find_reset(), "no reset register"); /* the flag is not set */
    little(fadt + FLAGS, RESET_REG_SUP, 4);
    fadt_size = 128;
    assert_why(find_reset(), "no reset register");
    fadt_size = FADT_SIZE;
    gas(RESET_REG, 1, 0);
    assert_why(find_reset(), "address 0");
    gas(RESET_REG, 1, 0x10000);
    assert_why(find_reset(), "cannot write");
    gas(RESET_REG, 4, 0xcf9); /* SMBus */
    assert_why(find_reset(), "cannot write");
}

static void test_no_tables(void **state)
{
    (void)state;
    assert_why(power_find_off(&off, rsdp, 0, reader), "RSDP");
    assert_why(power_find_reset(&reset, rsdp, 0, reader), "RSDP");
    assert_why(power_find_off(&off, rsdp, sizeof rsdp, reader), "no FADT");
    assert_why(power_find_reset(&reset, rsdp, sizeof rsdp, reader), "no FADT");
    usual_s5();
    fadt_size = 115;
    assert_why(find_off(), "shorter");
    assert_why(find_reset(), "shorter");
    fadt_size = 116;
    little(fadt + DSDT, 0x5000, 4);
    assert_why(find_off(), "no DSDT");
    little(fadt + DSDT, FADT_AT, 4);
    assert_why(find_off(), "no DSDT");
    little(fadt + DSDT, DSDT_AT, 4);
    assert_null(find_off());
    blocks[n_blocks - 1].bytes[HEADER]++;
    assert_why(power_find_off(&off, rsdp, sizeof rsdp, reader), "checksum");
    blocks[1].bytes[HEADER]++;
    assert_why(power_find_reset(&reset, rsdp, sizeof rsdp, reader), "checksum");
}

static uint32_t random_state = 12345;

static uint8_t noise(uint8_t most)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint8_t)((random_state >> 24) % (most + 1u));
}

/* Any bytes behind a right header: no read outside, and what is found can be written. */
static void test_noise(void **state)
{
    unsigned found = 0;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        setup(NULL);
        fadt_size = HEADER + round % (FADT_SIZE - HEADER + 1);
        for (size_t i = DSDT + 4; i < fadt_size; i++)
            fadt[i] = noise(3) ? noise(1) : noise(0xff);
        if (fadt_size >= X_DSDT + 8)
            little(fadt + X_DSDT, 0, 8);
        AML(0x08, '_', 'S', '5', '_', 0x12);
        dsdt[dsdt_size++] = noise(12);
        dsdt[dsdt_size++] = noise(4);
        for (unsigned left = noise(12); left; left--)
            dsdt[dsdt_size++] = noise(1) ? noise(1) : noise(0x10);
        if (!find_off()) {
            found++;
            assert_in_range(off.n, 1, 2);
            assert_in_range(off.type[0], 0, 7);
            assert_in_range(off.type[1], 0, 7);
        }
        if (!find_reset())
            assert_true(reset.control.address != 0 && reset.control.space <= ACPI_PCI);
    }
    assert_true(found > 10); /* the noise is not all noise */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_off_of_acpi_1),
        TEST(test_off_without_smi),
        TEST(test_off_by_the_newer_fields),
        TEST(test_off_hardware_reduced),
        TEST(test_no_control_register),
        TEST(test_forms_of_s5),
        TEST(test_broken_s5),
        TEST(test_second_s5),
        TEST(test_reset),
        TEST(test_no_reset),
        TEST(test_no_tables),
        TEST(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
