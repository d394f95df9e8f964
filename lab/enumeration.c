/* What the processor says of its PMU. */
#include "lab/enumeration.h"

#include "kernel/msr.h"
#include "lab/experiment.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"
#include "x86/decode.h"
#include "x86/msr.h"

#define FIELDS_SIZE 256
#define PATTERN     ARCH_U64(0xa5a5a5a55a5a5a5a)

/* Those of the first five versions, and what more the processor knows of. */
static void note_events(const struct pmu_info *info)
{
    unsigned known = info->leaf_eax >> 24;
    for (unsigned i = 0; i < PMU_N_EVENTS && (i <= PMU_EVENT_SLOTS || i < known); i++)
        note("  event %u  %02XH/%02XH  %-30s %s", i, (unsigned)(pmu_events[i].code & 0xff),
             (unsigned)(pmu_events[i].code >> 8), pmu_events[i].name,
             info->events >> i & 1 ? "available" : "not available");
}

static void note_msr(const char *name, uint32_t msr, const struct pmu_msr_value *v)
{
    const struct decode_context context = pmu_decode_context();
    char fields[FIELDS_SIZE];
    decode_msr_fields(fields, sizeof(fields), msr, v->value, &context);
    if (v->answered)
        note("%s (%XH) = 0x%llx  %s", name, (unsigned)msr, (unsigned long long)v->value, fields);
    else
        note("%s (%XH): not there", name, (unsigned)msr);
}

void note_enumeration(void)
{
    const struct pmu_info *info = pmu_info();
    note("CPUID.0AH: EAX=%08XH EBX=%08XH ECX=%08XH EDX=%08XH", (unsigned)info->leaf_eax,
         (unsigned)info->leaf_ebx, (unsigned)info->leaf_ecx, (unsigned)info->leaf_edx);
    note("perfmon version %u", info->version);
    note("general counters: %u, %u bits wide", info->n_general, info->general_width);
    note("fixed counters: %u, %u bits wide, mask 0x%x%s%s", info->n_fixed, info->fixed_width,
         (unsigned)info->fixed_mask, info->no_fixed[0] ? ", " : "", info->no_fixed);
    note("AnyThread %s", info->anythread_deprecated ? "deprecated: EDX[15] = 1" : "not deprecated");
    note_events(info);
    note_msr("IA32_PERF_CAPABILITIES", MSR_IA32_PERF_CAPABILITIES, &info->perf_capabilities);
    note_msr("IA32_MISC_ENABLE", MSR_IA32_MISC_ENABLE, &info->misc_enable);
    note("PMU %s, BTS %s, PEBS %s",
         info->misc_enable.value & MISC_ENABLE_PMU_AVAILABLE ? "available" : "not available",
         info->bts ? "available" : info->no_bts, info->pebs ? "available" : info->no_pebs);
}

uint64_t enumerated_general(void)
{
    return pmu_all_counters() & (PMU_MASK(GLOBAL_FIXED_SHIFT) - 1);
}

uint64_t enumerated_fixed(void)
{
    return pmu_all_counters() & ~(PMU_MASK(GLOBAL_FIXED_SHIFT) - 1);
}

bool enumerated_all(uint64_t counters, bool (*holds)(unsigned counter))
{
    bool all = true;
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            all = holds(counter) && all;
    return all;
}

bool counter_has_wide_door(void)
{
    const struct pmu_info *info = pmu_info();
    return info->full_width_write || info->kind->written_bits >= info->general_width;
}

/* What a write takes by the address that every kind has. */
static uint64_t old_address_ones(void)
{
    unsigned bits = pmu_info()->kind->written_bits;
    return bits < 64 ? ARCH_BIT(bits) - 1 : ~(uint64_t)0;
}

bool counter_reads_back_full(unsigned counter)
{
    uint64_t max = pmu_counter_max(counter);
    bool wide = counter >= GLOBAL_FIXED_SHIFT || counter_has_wide_door();
    bool written = wide ? pmu_write(counter, max)
                        : wrmsr_safe(pmu_old_counter_msr(counter), old_address_ones());
    uint64_t back = pmu_read(counter);
    if (!written || back != max)
        note("counter MSR %XH: wrote all ones, reads 0x%llx, CPUID says 0x%llx",
             (unsigned)pmu_counter_msr(counter), (unsigned long long)back, (unsigned long long)max);
    /* Bit 31 of the pattern is not what stands above it. */
    bool pattern =
        !wide || (pmu_write(counter, PATTERN & max) && pmu_read(counter) == (PATTERN & max));
    pmu_write(counter, 0);
    return written && back == max && pattern;
}

bool counter_reads_back_by_old_address(unsigned counter)
{
    wrmsr(pmu_old_counter_msr(counter), old_address_ones());
    bool full = pmu_read(counter) == pmu_counter_max(counter);
    wrmsr(pmu_old_counter_msr(counter), 0);
    return full;
}
