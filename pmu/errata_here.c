/* The errata of this processor. */
#include "pmu/errata.h"

#include "kernel/cpuid.h"
#include "kernel/microcode.h"
#include "kernel/msr.h"
#include "kernel/print.h"
#include "pmu/pmu.h"
#include "x86/maker.h"
#include "x86/msr.h"

static struct erratum_cpu here;

void errata_init(void)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    here = (struct erratum_cpu){.intel = maker_of(cpu.vendor) == MAKER_INTEL,
                                .amd = maker_of(cpu.vendor) == MAKER_AMD,
                                .family = cpu.family,
                                .model = cpu.model,
                                .stepping = cpu.stepping,
                                .guest = hypervisor_present()};
    here.known = microcode_revision(&here.microcode);
}

const struct erratum *errata_here(enum erratum_use use, char condition[ERRATA_TEXT])
{
    const struct erratum_machine *row = NULL;
    for (size_t i = 0; i < n_errata; i++) {
        if (errata[i].use != use || erratum_applies(&errata[i], &here, &row) == ERRATUM_NOT)
            continue;
        if (condition != NULL)
            erratum_condition(row, condition);
        return &errata[i];
    }
    return NULL;
}

/* What is known of the revision, where the erratum depends on it. */
static void print_revision(const struct erratum_machine *row)
{
    if (row->fixed_from == 0)
        return;
    if (!here.known)
        kprintf(", of an unknown revision here");
    else if (here.guest)
        kprintf(", which a guest cannot know");
    else
        kprintf(", here 0x%x", (unsigned)here.microcode);
}

void errata_explain(const char *experiment)
{
    const struct erratum_machine *row = NULL;
    char condition[ERRATA_TEXT];
    for (size_t i = 0; i < n_errata; i++) {
        if (!erratum_shows_in(&errata[i], experiment) ||
            erratum_applies(&errata[i], &here, &row) == ERRATUM_NOT)
            continue;
        erratum_condition(row, condition);
        kprintf("# ex%s: known erratum %s (%s", experiment, errata[i].number, condition);
        print_revision(row);
        kprintf("): %s\n", errata[i].what);
    }
}

void errata_list(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < n_errata && used < size; i++) {
        enum erratum_applies applies = erratum_applies(&errata[i], &here, NULL);
        if (applies != ERRATUM_NOT)
            used += (size_t)ksnprintf(text + used, size - used, "%s%s%s", used == 0 ? "" : "; ",
                                      errata[i].number, applies == ERRATUM_PERHAPS ? "?" : "");
    }
}

/*
 * Core i7 mobile specification update, AAP53: before the selects are programmed, each of the three
 * values 4300B5H, 4300D2H and 4300B1H must have been in a select, and each counter's select one of
 * them while IA32_PERF_GLOBAL_CTRL enabled the counter. They should count nothing; Linux found that
 * some do (intel_pmu_nhm_workaround()), so the counters are cleared.
 *
 * Linux does it each time that it adds an event. Here it is done before each experiment, on each
 * processor: whether a counter that is selected anew within one can need it again is not told.
 */
void errata_reset_counters(void)
{
    static const uint8_t events[] = {0xb5, 0xd2, 0xb1, 0xb1};
    const unsigned n = sizeof(events);
    if (!pmu_info()->global_ctrl || pmu_info()->n_general < n ||
        errata_here(ERRATUM_COUNTERS, NULL) == NULL)
        return;
    for (unsigned i = 0; i < n; i++) {
        wrmsr_safe(pmu_select_msr(i), events[i] | PERFEVTSEL_USR | PERFEVTSEL_OS | PERFEVTSEL_EN);
        wrmsr_safe(pmu_counter_msr(i), 0);
    }
    wrmsr_safe(MSR_IA32_PERF_GLOBAL_CTRL, (1U << n) - 1);
    wrmsr_safe(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    for (unsigned i = 0; i < n; i++) {
        wrmsr_safe(pmu_select_msr(i), 0);
        wrmsr_safe(pmu_counter_msr(i), 0);
    }
}
