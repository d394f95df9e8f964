/* The summary and its short form for a QR code, of machines that are put together here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/bootinfo.h"
#include "kernel/console/console.h"
#include "kernel/cpuid.h"
#include "kernel/crc32.h"
#include "kernel/microcode.h"
#include "kernel/smi.h"
#include "kernel/time.h"
#include "lab/experiment.h"
#include "lapic/lapic.h"
#include "lapic/smp.h"
#include "pmu/errata.h"
#include "pmu/pmu.h"
#include "runner/qr.h"
#include "runner/summary.h"

/* ---- The machine ---- */

static struct pmu_info pmu;
static const char *vendor, *hypervisor; /* hypervisor: NULL, there is none; "": it has no name */
static const char *errata_text;
static bool microcode_known, smis_counted;

struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
    assert_int_equal(leaf, 1);
    assert_int_equal(subleaf, 0);
    return (struct cpuid_regs){.eax = 0x506e3};
}

void cpu_identify(struct cpu_ident *ident)
{
    *ident = (struct cpu_ident){.brand = "A processor", .family = 6, .model = 0x5e, .stepping = 3};
    snprintf(ident->vendor, sizeof(ident->vendor), "%s", vendor);
}

bool hypervisor_present(void)
{
    return hypervisor != NULL;
}

bool hypervisor_signature(char name[HYPERVISOR_NAME])
{
    snprintf(name, HYPERVISOR_NAME, "%s", hypervisor ? hypervisor : "");
    return name[0] != '\0';
}

bool microcode_revision(uint32_t *revision)
{
    *revision = microcode_known ? 0xdc : 0;
    return microcode_known;
}

bool smi_counted(void)
{
    return smis_counted;
}

uint32_t smi_total(void)
{
    return 3;
}

unsigned smp_count(void)
{
    return 2;
}

bool lapic_present(void)
{
    return true;
}

bool lapic_is_x2apic(void)
{
    return true;
}

uint64_t tsc_hz(void)
{
    return 3408000000;
}

const char *tsc_hz_source(void)
{
    return "CPUID 15H";
}

void errata_list(char *list, size_t size)
{
    snprintf(list, size, "%s", errata_text);
}

const struct pmu_info *pmu_info(void)
{
    return &pmu;
}

/* ---- What is printed ---- */

static char printed[8192];
static size_t length;

static void sink_putc(char byte)
{
    assert_true(length + 1 < sizeof(printed));
    printed[length++] = byte;
    printed[length] = '\0';
}
static struct console_sink sink = {.name = "test", .putc = sink_putc};

static const struct bootinfo bios, uefi = {.efi = true}, pvh = {.pvh = true};
static struct experiment experiments[20];
static char ids[20][8];

/* Whatever was run before is run again, with 4 checks each and none failed. */
static int start(void **state)
{
    static bool added;
    (void)state;
    if (!added)
        console_add(&sink);
    added = true;
    for (unsigned i = 0; i < 20; i++) {
        snprintf(ids[i], sizeof(ids[i]), "15-%u", i + 1);
        experiments[i].id = ids[i];
        summary_add(&(struct summary_result){&experiments[i], 4, 0, i == 19 ? 4 : 0, 0});
    }
    pmu = (struct pmu_info){
        .present = true,
        .title = "perfmon v4",
        .code = "4",
        .n_general = 4,
        .general_width = 48,
        .n_fixed = 3,
        .fixed_width = 40,
    };
    vendor = "GenuineIntel";
    hypervisor = NULL;
    errata_text = "";
    microcode_known = smis_counted = true;
    length = 0;
    printed[0] = '\0';
    return 0;
}

static void failing(unsigned experiment, uint64_t checks)
{
    unsigned n = (unsigned)__builtin_popcountll(checks);
    summary_add(&(struct summary_result){&experiments[experiment], 4, n, 0, checks});
}

static char text[1024];

/* The code's text with x for the two sums, which are tested on their own. */
static const char *code(const struct bootinfo *boot, size_t size)
{
    static char masked[1024];
    assert_true(summary_code(boot, text, size));
    assert_true(strlen(text) < size);
    for (const char *c = text; *c != '\0'; c++)
        assert_true(qr_takes(*c));
    strcpy(masked, text);
    char *sum = strstr(masked, " SUM:"), *crc = strstr(masked, " CRC:");
    assert_non_null(sum);
    assert_non_null(crc);
    assert_int_equal(strspn(sum + 5, "0123456789ABCDEF"), 8);
    assert_int_equal(strspn(crc + 5, "0123456789ABCDEF"), 8);
    assert_string_equal(crc + 13, "");
    assert_ptr_equal(crc, sum + 13);
    strcpy(sum, " x");
    return masked;
}

static void assert_line(const char *wanted)
{
    char line[128];
    snprintf(line, sizeof(line), "\n# %s\n", wanted);
    if (!strstr(printed, line))
        fail_msg("no line '%s' in:\n%s", wanted, printed);
}

/* ---- The tests ---- */

static void the_machine(void **state)
{
    (void)state;
    summary_print(&bios);
    assert_line("microcode 0xdc, 3 SMIs");
    assert_line("BIOS");
    assert_string_equal(code(&bios, 1024),
                        "PMULAB:" PMULAB_VERSION " CPU:GENUINEINTEL-506E3 CPUS:2 UC:DC BOOT:BIOS "
                        "PMU:4-4X48-3X40 SMI:3 N:76-0-4 x");
}

static void what_is_not_known(void **state)
{
    (void)state;
    pmu.present = microcode_known = smis_counted = false;
    vendor = "a \"b\":c?";
    hypervisor = "";
    summary_print(&uefi);
    assert_line("microcode unknown, SMIs not counted");
    assert_string_equal(code(&uefi, 1024),
                        "PMULAB:" PMULAB_VERSION " CPU:A.*B**C*-506E3 CPUS:2 BOOT:UEFI HV:- PMU:0 "
                        "N:76-0-4 x");
}

static void a_guest(void **state)
{
    (void)state;
    hypervisor = "Microsoft Hv";
    summary_print(&pvh);
    assert_line("started directly (PVH), a virtual machine: Microsoft Hv");
    assert_non_null(strstr(code(&pvh, 1024), " BOOT:PVH HV:MICROSOFT.HV PMU:"));
}

static void failures(void **state)
{
    (void)state;
    failing(1, 0x5);
    failing(6, 0x8);
    failing(7, 0); /* a check out of its turn has no number */
    summary_print(&bios);
    assert_line("failed: 15-2, 2 of 4 checks: 1 3");
    assert_line("failed: 15-7, 1 of 4 checks: 4");
    assert_non_null(strstr(code(&bios, 1024), " N:73-3-4 NOT:15-2.1.3/15-7.4 x"));
}

static void known_errata(void **state)
{
    (void)state;
    errata_text = "AAK100, AAP53, BD53; AAJ80; nhm_limit_period?";
    failing(1, 0x1);
    summary_print(&bios);
    assert_line("errata: AAK100, AAP53, BD53; AAJ80; nhm_limit_period?");
    assert_non_null(
        strstr(code(&bios, 1024), " NOT:15-2.1 ERR:AAK100.AAP53.BD53/AAJ80/NHM-LIMIT-PERIOD* x"));
    errata_text = "AAAAAA1, AAAAAA2, AAAAAA3; BBBBBB1, BBBBBB2, BBBBBB3; CCCCCC1, CCCCCC2; D1";
    summary_print(&bios);
    assert_line("errata: AAAAAA1, AAAAAA2, AAAAAA3; BBBBBB1, BBBBBB2, BBBBBB3;");
    assert_line("  CCCCCC1, CCCCCC2; D1");
    assert_non_null(strstr(code(&bios, 190), " NOT:15-2.1 ERR:AAAAAA1.AAAAAA2.AAAAAA3/+3 x"));
    assert_non_null(strstr(code(&bios, 160), " NOT:15-2.1 ERR:+4 x"));
}

/* The first ones stay; how many more there are is told. */
static void cut_to_its_room(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        failing(i, 0xf);
    summary_print(&bios);
    assert_line("failed: and 15 more experiments");
    assert_non_null(strstr(code(&bios, 1024), "/15-19.1.2.3.4/15-20.1.2.3.4 x"));
    size_t whole = strlen(text);
    for (size_t size = whole + 1 + 8; size >= 160; size--) {
        unsigned listed = 0, more = 0;
        const char *list = strstr(code(&bios, size), " NOT:");
        assert_non_null(list);
        for (const char *c = list; *c != ' ' || c == list; c++)
            listed += *c == '-';
        if (strchr(list, '+'))
            more = (unsigned)atoi(strchr(list, '+') + 1);
        assert_int_equal(listed + more, 20);
        assert_int_equal(summary_code(&bios, text, size), true);
    }
}

/* What was printed last is what SUM names; CRC is over all in front of it but the blanks. */
static void the_sums(void **state)
{
    char end[64];
    uint32_t crc = 0;
    (void)state;
    summary_print(&bios);
    code(&bios, 1024);
    unsigned sum = (unsigned)strtoul(strstr(text, " SUM:") + 5, NULL, 16);
    snprintf(end, sizeof(end), "# --- CRC-32 %08x ---\n", sum);
    assert_string_equal(printed + length - strlen(end), end);
    char *own = strstr(text, " CRC:");
    for (const char *c = text; c < own; c++)
        if (*c != ' ')
            crc = crc32(crc, c, 1);
    assert_int_equal(strtoul(own + 5, NULL, 16), crc);
}

/* 80 x 25 with a line below it, whatever the machine. */
static void fits_the_screen(void **state)
{
    unsigned lines = 0, column = 0;
    (void)state;
    hypervisor = "VMwareVMware";
    errata_text =
        "AAK100, AAP53, BD53; AAJ80; nhm_limit_period?; AAK100, AAP53, BD53; AAK100, AAP53";
    for (unsigned i = 0; i < 20; i++)
        failing(i, 0xf);
    summary_print(&pvh);
    for (const char *c = printed; *c != '\0'; c++) {
        lines += *c == '\n';
        column = *c == '\n' ? 0 : column + 1;
        assert_true(column < 80);
    }
    assert_true(lines < 24);
}

static void nothing_was_run(void **state)
{
    (void)state;
    assert_false(summary_code(&bios, text, sizeof(text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_was_run),
        cmocka_unit_test_setup(the_machine, start),
        cmocka_unit_test_setup(what_is_not_known, start),
        cmocka_unit_test_setup(a_guest, start),
        cmocka_unit_test_setup(failures, start),
        cmocka_unit_test_setup(known_errata, start),
        cmocka_unit_test_setup(cut_to_its_room, start),
        cmocka_unit_test_setup(the_sums, start),
        cmocka_unit_test_setup(fits_the_screen, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
