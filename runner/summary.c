/* The summary. */
#include "runner/summary.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/bootinfo.h"
#include "lab/experiment.h"
#include "kernel/cpuid.h"
#include "kernel/crc32.h"
#include "kernel/microcode.h"
#include "kernel/print.h"
#include "kernel/smi.h"
#include "lapic/smp.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lapic/lapic.h"
#include "pmu/errata.h"
#include "pmu/pmu.h"
#include "runner/qr.h"

#define MAX_RESULTS    128
#define LINE           77 /* with "# " in front 79: a terminal must not wrap it */
#define CELL           11 /* "15-11 FAIL " */
#define SHOWN_FAILURES 5
#define ERRATA_SIZE    256

static struct summary_result results[MAX_RESULTS];
static unsigned n_results;
static uint32_t checksum;

void summary_add(const struct summary_result *result)
{
    unsigned i = 0;
    while (i < n_results && results[i].experiment != result->experiment)
        i++;
    if (i == MAX_RESULTS)
        return;
    results[i] = *result;
    if (i == n_results)
        n_results++;
}

/* The characters without the blanks: how many there are does not matter. */
static uint32_t crc_of(uint32_t before, const char *text)
{
    for (; *text != '\0'; text++)
        if (*text != ' ')
            before = crc32(before, text, 1);
    return before;
}

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    char text[LINE + 1];
    va_list ap;
    va_start(ap, format);
    kvsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' '; end--)
        text[end - 1] = '\0';
    checksum = crc_of(checksum, text);
    kprintf("# %s\n", text);
}

struct totals {
    unsigned ok, failed, skipped;
};

static struct totals add_up(void)
{
    struct totals t = {0, 0, 0};
    for (unsigned i = 0; i < n_results; i++) {
        t.ok += results[i].checks - results[i].failed - results[i].skipped;
        t.failed += results[i].failed;
        t.skipped += results[i].skipped;
    }
    return t;
}

static void print_totals(void)
{
    struct totals t = add_up();
    line("PMU Lab " PMULAB_VERSION ": %u ok, %u failed, %u skipped", t.ok, t.failed, t.skipped);
}

/* What this processor runs below the kernel. */
static void print_below(void)
{
    char microcode[16] = "unknown", smis[24] = "SMIs not counted";
    uint32_t revision;
    if (microcode_revision(&revision))
        ksnprintf(microcode, sizeof(microcode), "0x%x", (unsigned)revision);
    if (smi_counted())
        ksnprintf(smis, sizeof(smis), "%u SMIs", (unsigned)smi_total());
    line("microcode %s, %s", microcode, smis);
}

static void print_machine(const struct bootinfo *boot)
{
    struct cpu_ident cpu;
    const struct pmu_info *info = pmu_info();
    char hypervisor[HYPERVISOR_NAME];
    bool named = hypervisor_signature(hypervisor);
    const char *apic = !lapic_present() ? "no local APIC" : lapic_is_x2apic() ? "x2APIC" : "xAPIC";
    cpu_identify(&cpu);
    line("%s", cpu.brand[0] != '\0' ? cpu.brand : "(a processor without a brand string)");
    line("%s family %u model 0x%x stepping %u, %u running, %s", cpu.vendor, (unsigned)cpu.family,
         (unsigned)cpu.model, (unsigned)cpu.stepping, smp_count(), apic);
    line("%s%s%s%s",
         boot->pvh   ? "started directly (PVH)"
         : boot->efi ? "UEFI"
                     : "BIOS",
         hypervisor_present() ? ", a virtual machine" : "", named ? ": " : "", hypervisor);
    print_below();
    if (tsc_hz() != 0)
        line("TSC %llu kHz by %s", (unsigned long long)(tsc_hz() / 1000), tsc_hz_source());
    else
        line("TSC of an unknown frequency");
    if (info->present)
        line("%s: %u x %u-bit general, %u x %u-bit fixed", info->title, info->n_general,
             info->general_width, info->n_fixed, info->fixed_width);
    else
        line("%s", info->no_pmu);
}

/* Broken behind a ';', which stands between errata. */
static void print_errata(void)
{
    char list[ERRATA_SIZE], *next = list;
    errata_list(list, sizeof(list));
    while (*next != '\0') {
        const char *lead = next == list ? "errata: " : "  ";
        size_t length = strlen(next), room = LINE - strlen(lead);
        if (length > room)
            for (length = room; length > 0 && next[length - 1] != ';'; length--)
                ;
        if (length == 0)
            length = room;
        line("%s%.*s", lead, (int)length, next);
        next += length;
        while (*next == ' ')
            next++;
    }
}

static const char *verdict(const struct summary_result *r)
{
    if (r->failed > 0)
        return "FAIL";
    return r->skipped == r->checks ? "skip" : "ok";
}

const char *summary_verdict(const struct experiment *e)
{
    for (unsigned i = 0; i < n_results; i++)
        if (results[i].experiment == e)
            return verdict(&results[i]);
    return "";
}

static void print_verdicts(void)
{
    char text[LINE + 1], cell[2 * CELL];
    size_t used = 0;
    for (unsigned i = 0; i < n_results; i++) {
        ksnprintf(cell, sizeof(cell), "%s %s", results[i].experiment->id, verdict(&results[i]));
        used += (size_t)ksnprintf(text + used, sizeof(text) - used, "%-*s", CELL - 1, cell);
        if (i + 1 == n_results || used + CELL > LINE) {
            line("%s", text);
            used = 0;
        } else {
            used += (size_t)ksnprintf(text + used, sizeof(text) - used, " ");
        }
    }
}

/* The numbers of the failed checks, each with the separator in front. */
static void list_checks(char *text, size_t size, const struct summary_result *r,
                        const char *separator)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < 64; i++)
        if (r->failed_checks >> i & 1 && used < size)
            used += (size_t)ksnprintf(text + used, size - used, "%s%u", separator, i + 1);
}

static void print_failures(void)
{
    unsigned shown = 0, more = 0;
    char numbers[LINE + 1];
    for (unsigned i = 0; i < n_results; i++) {
        const struct summary_result *r = &results[i];
        if (r->failed == 0)
            continue;
        if (shown == SHOWN_FAILURES) {
            more++;
            continue;
        }
        shown++;
        list_checks(numbers, sizeof(numbers), r, " ");
        line("failed: %s, %u of %u checks:%s", r->experiment->id, r->failed, r->checks, numbers);
    }
    if (more > 0)
        line("failed: and %u more experiments", more);
}

void summary_print(const struct bootinfo *boot)
{
    if (n_results == 0)
        return;
    checksum = 0;
    kprintf("# --- summary: a photograph of these lines is a report ---\n");
    print_totals();
    print_machine(boot);
    print_errata();
    print_verdicts();
    print_failures();
    kprintf("# --- CRC-32 %08x ---\n", (unsigned)checksum);
}

/* ---- For a QR code ---- */

/* Kept free behind lists: "/+999 ERR:+99 SUM:01234567 CRC:01234567". */
#define CODE_TAIL 40
#define ITEM      (64 * 3 + 8)

struct code {
    char *text;
    size_t size, used;
};

static void put(struct code *code, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct code *code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    size_t length =
        (size_t)kvsnprintf(code->text + code->used, code->size - code->used, format, ap);
    va_end(ap);
    size_t room = code->size - code->used - 1;
    code->used += length < room ? length : room;
}

/* What stands for a character of a name in a value. */
static char in_code(char c)
{
    if (c >= 'a' && c <= 'z')
        return (char)(c - 'a' + 'A');
    return c == ' ' ? '.' : c == ':' || !qr_takes(c) ? '*' : c;
}

/* A name that came from elsewhere: "Microsoft Hv" is MICROSOFT.HV. */
static void put_name(struct code *code, const char *name)
{
    for (; *name != '\0'; name++)
        put(code, "%c", in_code(*name));
}

static void put_machine(struct code *code, const struct bootinfo *boot)
{
    struct cpu_ident cpu;
    const struct pmu_info *info = pmu_info();
    char hypervisor[HYPERVISOR_NAME];
    uint32_t revision;
    cpu_identify(&cpu);
    put(code, "PMULAB:");
    put_name(code, PMULAB_VERSION);
    put(code, " CPU:");
    put_name(code, cpu.vendor);
    put(code, "-%X CPUS:%u", (unsigned)cpuid(1, 0).eax, smp_count());
    if (microcode_revision(&revision))
        put(code, " UC:%X", (unsigned)revision);
    put(code, " BOOT:%s", boot->pvh ? "PVH" : boot->efi ? "UEFI" : "BIOS");
    if (hypervisor_present()) {
        put(code, " HV:");
        put_name(code, hypervisor_signature(hypervisor) ? hypervisor : "-");
    }
    if (info->present)
        put(code, " PMU:%s-%uX%u-%uX%u", info->code, info->n_general, info->general_width,
            info->n_fixed, info->fixed_width);
    else
        put(code, " PMU:0");
    if (smi_counted())
        put(code, " SMI:%u", (unsigned)smi_total());
}

/* One of a list that may be cut: false when there is no room for it. */
static bool put_item(struct code *code, const char *item)
{
    if (code->used + strlen(item) + CODE_TAIL >= code->size)
        return false;
    put(code, "%s", item);
    return true;
}

static void put_failures(struct code *code)
{
    const char *before = " NOT:";
    char item[ITEM];
    unsigned more = 0;
    for (unsigned i = 0; i < n_results; i++) {
        const struct summary_result *r = &results[i];
        if (r->failed == 0)
            continue;
        size_t used = (size_t)ksnprintf(item, sizeof(item), "%s%s", before, r->experiment->id);
        list_checks(item + used, sizeof(item) - used, r, ".");
        if (more == 0 && put_item(code, item))
            before = "/";
        else
            more++;
    }
    if (more > 0)
        put(code, "%s+%u", before, more);
}

/* "AAK100, AAP53; AAJ80; pebs_ucodes?" is AAK100.AAP53/AAJ80/PEBS-UCODES*. */
static void put_errata(struct code *code)
{
    char list[ERRATA_SIZE], item[ERRATA_SIZE];
    const char *before = " ERR:", *next = list;
    unsigned more = 0;
    errata_list(list, sizeof(list));
    while (*next != '\0') {
        size_t used = (size_t)ksnprintf(item, sizeof(item), "%s", before);
        for (; *next != '\0' && *next != ';'; next++)
            if (*next != ' ' && used + 1 < sizeof(item))
                item[used++] = *next == ',' ? '.' : *next == '_' ? '-' : in_code(*next);
        item[used] = '\0';
        if (more == 0 && put_item(code, item))
            before = "/";
        else
            more++;
        next += *next == ';';
    }
    if (more > 0)
        put(code, "%s+%u", before, more);
}

bool summary_code(const struct bootinfo *boot, char *text, size_t size)
{
    struct code code = {text, size, 0};
    struct totals t = add_up();
    if (n_results == 0)
        return false;
    put_machine(&code, boot);
    put(&code, " N:%u-%u-%u", t.ok, t.failed, t.skipped);
    put_failures(&code);
    put_errata(&code);
    put(&code, " SUM:%08X", (unsigned)checksum);
    put(&code, " CRC:%08X", (unsigned)crc_of(0, text));
    return true;
}
