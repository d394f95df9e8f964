/* The register dump: the book's dump_perfmon, every field decoded by name. */
#include "kernel/msr.h"
#include "kernel/print.h"
#include "lapic/lapic.h"
#include "x86/decode.h"
#include "x86/msr.h"
#include "x86/apic.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "pmu/reload.h"
#include "pmu/topdown.h"

#include <stddef.h>

#define NAME_SIZE   40
#define FIELDS_SIZE 256

static struct pmu_msr_value read_msr(uint32_t msr)
{
    struct pmu_msr_value read = {0};
    read.answered = rdmsr_safe(msr, &read.value);
    return read;
}

/* One line of the dump; comment NULL: the fields of the value. A register that faults says so. */
static void dump_value(uint32_t msr, struct pmu_msr_value read, const char *comment)
{
    char name[NAME_SIZE], fields[FIELDS_SIZE];
    const struct decode_context context = pmu_decode_context();
    uint64_t value = read.value;
    decode_msr_name(name, sizeof(name), msr, &context);
    if (!read.answered) {
        kprintf("#   %-30s 0x%-4x   #GP\n", name, (unsigned)msr);
        return;
    }
    decode_msr_fields(fields, sizeof(fields), msr, value, &context);
    if (comment == NULL)
        comment = fields;
    kprintf("#   %-30s 0x%-4x = 0x%016llx%s%s\n", name, (unsigned)msr, (unsigned long long)value,
            *comment != '\0' ? "  " : "", comment);
}

static void dump_msr(uint32_t msr, const char *comment)
{
    dump_value(msr, read_msr(msr), comment);
}

/* Whose overflow reloads the counter, and with what. */
static void dump_reload(unsigned counter)
{
    if (!(reload_targets() & PMU_MASK(counter)))
        return;
    dump_msr(reload_causes_msr(counter), NULL);
    dump_msr(reload_value_msr(counter), NULL);
}

/* What a general counter counts stands in its select register. */
static void dump_general(unsigned n)
{
    struct pmu_msr_value select = read_msr(pmu_select_msr(n));
    const char *event = NULL;
    if (select.value != 0)
        event = pmu_info()->kind->vendor == DECODE_AMD
                    ? amd_event_name(select.value)
                    : pmu_event_name(select.value, pmu_info()->version);
    dump_value(pmu_select_msr(n), select, NULL);
    dump_msr(pmu_counter_msr(n), event != NULL ? event : "");
    dump_reload(n);
}

static void dump_fixed(unsigned i)
{
    const char *event = pmu_fixed_event_name(i);
    dump_msr(pmu_counter_msr(PMU_FIXED(i)), event != NULL ? event : "");
    dump_reload(PMU_FIXED(i));
}

/* In the xAPIC the entry is no MSR: its address is the offset in the page. */
static void dump_xapic_lvt(void)
{
    char fields[FIELDS_SIZE];
    uint32_t lvt = lapic_read(APIC_LVT_PERFMON);
    decode_lvt(fields, sizeof(fields), lvt);
    kprintf("#   %-30s 0x%-4x = 0x%016llx  %s\n", "LVT perfmon (local APIC page)", APIC_LVT_PERFMON,
            (unsigned long long)lvt, fields);
}

void pmu_dump(const char *title)
{
    const struct pmu_info *info = pmu_info();
    kprintf("# %s\n", title);
    if (!info->present) {
        kprintf("#   %s\n", info->no_pmu);
        return;
    }
    for (unsigned n = 0; n < info->n_general; n++)
        dump_general(n);
    for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
        if (pmu_has_fixed(i))
            dump_fixed(i);
    /* The rest, with the condition under which each exists; 0: the kind has none. The register that
     * clears the status is only written. */
    const struct pmu_kind *kind = info->kind;
    const struct {
        uint32_t msr;
        bool exists;
    } registers[] = {
        {kind->fixed_ctrl, info->fixed_mask != 0},
        {MSR_PERF_METRICS, topdown_missing() == NULL},
        {kind->enable, info->global_ctrl},
        {kind->status, true},
        {kind->in_use, true},
        {MSR_IA32_PEBS_ENABLE, info->pebs},
        {MSR_IA32_DS_AREA, info->ds},
        {MSR_IA32_DEBUGCTL, true},
        {MSR_IA32_PERF_CAPABILITIES, info->pdcm},
        {MSR_IA32_MISC_ENABLE, info->misc_enable.answered},
    };
    for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
        if (registers[i].msr != 0 && registers[i].exists)
            dump_msr(registers[i].msr, NULL);
    if (lapic_has_pmi() && lapic_is_x2apic())
        dump_msr(MSR_X2APIC_BASE + APIC_LVT_PERFMON / 16, NULL);
    else if (lapic_has_pmi())
        dump_xapic_lvt();
}
