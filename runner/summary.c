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
#include "kernel/print.h"
#include "lapic/smp.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#define MAX_RESULTS    128
#define LINE           77 /* with "# " in front 79: a terminal must not wrap it */
#define CELL           11 /* "15-11 FAIL " */
#define SHOWN_FAILURES 5

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
    for (const char *c = text; *c != '\0'; c++)
        if (*c != ' ')
            checksum = crc32(checksum, c, 1);
    kprintf("# %s\n", text);
}

static void print_totals(void)
{
    unsigned checks = 0, failed = 0, skipped = 0;
    for (unsigned i = 0; i < n_results; i++) {
        checks += results[i].checks;
        failed += results[i].failed;
        skipped += results[i].skipped;
    }
    line("PMU Lab " PMULAB_VERSION ": %u ok, %u failed, %u skipped", checks - failed - skipped,
         failed, skipped);
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
    if (tsc_hz() != 0)
        line("TSC %llu kHz by %s", (unsigned long long)(tsc_hz() / 1000), tsc_hz_source());
    else
        line("TSC of an unknown frequency");
    if (info->present)
        line("perfmon v%u: %u x %u-bit general, %u x %u-bit fixed", info->version, info->n_general,
             info->general_width, info->n_fixed, info->fixed_width);
    else
        line("%s", info->no_pmu);
}

static const char *verdict(const struct summary_result *r)
{
    if (r->failed > 0)
        return "FAIL";
    return r->skipped == r->checks ? "skip" : "ok";
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

static void print_failures(void)
{
    unsigned shown = 0, more = 0;
    for (unsigned i = 0; i < n_results; i++) {
        const struct summary_result *r = &results[i];
        if (r->failed == 0)
            continue;
        if (shown == SHOWN_FAILURES) {
            more++;
            continue;
        }
        shown++;
        line("failed: %s, %u of %u checks, the first is number %u", r->experiment->id, r->failed,
             r->checks, r->first_failed);
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
    print_verdicts();
    print_failures();
    kprintf("# --- CRC-32 %08x ---\n", (unsigned)checksum);
}
