/*
 * What is written to which register at the machine's end, and in which order: what QEMU's boards do
 * not have (two control registers, one in PCI's configuration space, firmware
 * in legacy mode, firmware that does not act).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "boot/bootinfo.h"
#include "kernel/ending.h"
#include "kernel/paging.h"
#include "kernel/power.h"
#include "kernel/print.h"
#include "kernel/time.h"

#define PM1A     0x604
#define PM1B     0x704
#define SMI_PORT 0xb2

/* What ending.c asks for: the tables' answers, set by the test. */
static struct power_off off;
static struct power_reset reset;
static const char *why_not;
static bool mapped;

/* What it did. */
static char done[512];
static char said[2048];
static uint16_t pm1a, pm1b;
static jmp_buf enough;
static unsigned waits_left; /* 0: no limit */
static unsigned naps;       /* the short waits */
static bool smi_works, no_keyboard, no_cf9;

static void note(const char *fmt, ...)
{
    size_t at = strlen(done);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(done + at, sizeof done - at, fmt, ap);
    va_end(ap);
}

uint8_t inb(uint16_t port);
uint16_t inw(uint16_t port);
uint32_t inl(uint16_t port);
void outb(uint16_t port, uint8_t value);
void outw(uint16_t port, uint16_t value);
void outl(uint16_t port, uint32_t value);
void irq_disable(void);

uint8_t inb(uint16_t port)
{
    return (port == 0x64 && no_keyboard) || (port == 0xcf9 && no_cf9) ? 0xff : 0;
}

uint16_t inw(uint16_t port)
{
    return port == PM1A ? pm1a : pm1b;
}

void outb(uint16_t port, uint8_t value)
{
    note("%x<%02x ", port, value);
    if (port == SMI_PORT && smi_works)
        pm1a |= 1;
}

void outw(uint16_t port, uint16_t value)
{
    note("%x<%04x ", port, value);
}

void outl(uint16_t port, uint32_t value)
{
    note("%x<%08x ", port, value);
}

void irq_disable(void)
{
    note("cli ");
}

void print_flush(void)
{
    note("flush ");
}

void delay_us(uint64_t us)
{
    if (us < 1000000) {
        naps++;
        return;
    }
    note("wait ");
    if (waits_left && --waits_left == 0)
        longjmp(enough, 1);
}

void kprintf(const char *fmt, ...)
{
    size_t at = strlen(said);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(said + at, sizeof said - at, fmt, ap);
    va_end(ap);
}

const uint8_t *paging_physical(uint64_t address, size_t size)
{
    (void)address, (void)size;
    return NULL;
}

volatile void *paging_map_mmio(uint64_t phys, size_t size)
{
    (void)size;
    return mapped ? (volatile void *)phys : NULL;
}

const char *power_find_off(struct power_off *out, const uint8_t *rsdp, size_t size,
                           acpi_reader read)
{
    (void)rsdp, (void)size, (void)read;
    *out = off;
    return why_not;
}

const char *power_find_reset(struct power_reset *out, const uint8_t *rsdp, size_t size,
                             acpi_reader read)
{
    (void)rsdp, (void)size, (void)read;
    *out = reset;
    return why_not;
}

static int setup(void **state)
{
    (void)state;
    memset(&off, 0, sizeof off);
    off.n = 1;
    off.control[0] = (struct acpi_register){ACPI_IO, PM1A};
    off.type[0] = 5;
    memset(&reset, 0, sizeof reset);
    why_not = NULL;
    mapped = true;
    done[0] = said[0] = '\0';
    naps = 0;
    pm1a = pm1b = 1;
    no_keyboard = no_cf9 = smi_works = false;
    return 0;
}

static void end_is(enum ending how)
{
    static const struct bootinfo none;
    ending_init(&none, how);
}

static void end(enum ending how)
{
    end_is(how);
    ending_perform();
}

static void test_halt(void **state)
{
    (void)state;
    end(END_HALT);
    assert_string_equal(done, "");
    assert_string_equal(said, "");
}

/* SLP_TYP is 3 bits from bit 10 on, SLP_EN bit 13; what else is set stays (ACPI, "PM1 Control
 * Registers Fixed Hardware Feature Control Bits"). */
static void test_two_control_registers(void **state)
{
    (void)state;
    off.n = 2;
    off.control[1] = (struct acpi_register){ACPI_IO, PM1B};
    off.type[1] = 6;
    pm1a = 0x2c03; /* SLP_EN and a SLP_TYP that were left there */
    end(END_POWEROFF);
    assert_string_equal(done, "cli flush 604<1403 704<1801 604<3403 704<3801 wait ");
    assert_non_null(strstr(said, "# end=poweroff: ACPI's state S5\n"));
    assert_non_null(strstr(said, "# end=poweroff: this machine cannot switch itself off\n"));
}

static void test_legacy_mode(void **state)
{
    (void)state;
    off.smi_port = SMI_PORT;
    off.smi_enable = 0xf1;
    smi_works = true;
    pm1a = 0;
    end(END_POWEROFF);
    assert_string_equal(done, "cli flush b2<f1 604<1401 604<3401 wait ");
    assert_int_equal(naps, 0);
}

static void test_legacy_mode_for_ever(void **state)
{
    (void)state;
    off.smi_port = SMI_PORT;
    off.smi_enable = 0xf1;
    pm1a = 0;
    end(END_POWEROFF);
    assert_string_equal(done, "cli flush b2<f1 604<1400 604<3400 wait ");
    assert_in_range(naps, 1000, 10000); /* some seconds of it */
}

static void test_acpi_mode_already(void **state)
{
    (void)state;
    off.smi_port = SMI_PORT;
    off.smi_enable = 0xf1;
    end(END_POWEROFF);
    assert_string_equal(done, "cli flush 604<1401 604<3401 wait ");
}

/* SLP_TYP is 3 bits from bit 2 on, SLP_EN bit 5 ("Sleep Control Register"), by one byte. */
static void test_hardware_reduced(void **state)
{
    static uint8_t control[2] = {0, 0xaa};
    (void)state;
    off.reduced = true;
    off.control[0] = (struct acpi_register){ACPI_MEMORY, (uint64_t)control};
    end(END_POWEROFF);
    assert_string_equal(done, "cli flush wait ");
    assert_int_equal(control[0], 0x34);
    assert_int_equal(control[1], 0xaa);
}

static void test_control_in_memory(void **state)
{
    static uint16_t control = 1;
    (void)state;
    off.control[0] = (struct acpi_register){ACPI_MEMORY, (uint64_t)&control};
    end(END_POWEROFF);
    assert_int_equal(control, 0x3401);
}

/* Until it has waited `limit` times: the last way, the triple fault, would end the test itself. A
 * panic that comes in between calls again, and nothing is tried twice. */
static void perform_until(unsigned limit)
{
    waits_left = limit;
    if (setjmp(enough) == 0)
        ending_perform();
    waits_left = 0;
}

static void test_resets_in_their_order(void **state)
{
    (void)state;
    reset.control = (struct acpi_register){ACPI_PCI, 0x1f00030046}; /* 1FH, 3, 46H */
    reset.value = 0x77;
    end_is(END_REBOOT);
    perform_until(2);
    assert_string_equal(done, "cli flush cf8<8000fb44 cfe<77 wait flush 64<fe wait ");
    done[0] = '\0';
    perform_until(1);
    assert_string_equal(done, "cli flush cf9<02 cf9<06 wait ");
}

static void test_reset_in_memory(void **state)
{
    static uint8_t control[2] = {0, 0xaa};
    (void)state;
    reset.control = (struct acpi_register){ACPI_MEMORY, (uint64_t)control};
    reset.value = 0x42;
    end_is(END_REBOOT);
    perform_until(1);
    assert_int_equal(control[0], 0x42);
    assert_int_equal(control[1], 0xaa);
}

static void test_reset_without_a_register(void **state)
{
    (void)state;
    why_not = "the tables are torn";
    no_keyboard = true;
    end_is(END_REBOOT);
    perform_until(1);
    assert_string_equal(done, "cli flush cf9<02 cf9<06 wait ");
    assert_non_null(strstr(said, "FADT: the tables are torn\n"));
    assert_non_null(strstr(said, "keyboard controller: none answers"));
}

static void test_not_mapped(void **state)
{
    (void)state;
    mapped = false;
    off.control[0].space = ACPI_MEMORY;
    end(END_POWEROFF);
    assert_string_equal(done, "cli ");
    assert_non_null(strstr(said, "S5: no page table"));
    reset.control.space = ACPI_MEMORY;
    end_is(END_REBOOT);
    perform_until(1);
    assert_non_null(strstr(said, "FADT: no page table"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(test_halt),
        TEST(test_two_control_registers),
        TEST(test_legacy_mode),
        TEST(test_legacy_mode_for_ever),
        TEST(test_acpi_mode_already),
        TEST(test_hardware_reduced),
        TEST(test_control_in_memory),
        TEST(test_not_mapped),
        TEST(test_resets_in_their_order),
        TEST(test_reset_in_memory),
        TEST(test_reset_without_a_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
