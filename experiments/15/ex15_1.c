/*
 * Experiment 15-1 · Enumerate CPUID leaf 0AH.
 *
 * Prints what the processor says of its PMU, and then asks the registers themselves. What can go
 * wrong: a hypervisor announces counters that it does not implement, or implements more than it
 * announces; a width in CPUID that is not the counter's. SDM vol. 2 "CPUID" (leaf 0AH), vol. 3
 * "Architectural Performance Monitoring".
 */
#include "lab/experiment_old.h"
#include "kernel/msr.h"
#include "x86/decode.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define FIELDS_SIZE          256
#define PATTERN              ARCH_U64(0xa5a5a5a55a5a5a5a)
#define OLD_ADDRESS_ALL_ONES 0xffffffffULL /* what the old address takes of an all-ones value */

static void print_events(const struct pmu_info *info)
{
    for (unsigned i = 0; i < PMU_N_EVENTS; i++)
        note("  event %u  %02XH/%02XH  %-30s %s", i, pmu_events[i].code & 0xffu,
             pmu_events[i].code >> 8u, pmu_events[i].name,
             info->events >> i & 1 ? "available" : "not available");
}

static void print_msr(const char *name, uint32_t msr, const struct pmu_msr_value *v)
{
    const struct decode_context context = {.version = pmu_info()->version};
    char fields[FIELDS_SIZE];
    decode_msr_fields(fields, sizeof(fields), msr, v->value, &context);
    if (v->answered)
        note("%s (%XH) = 0x%llx  %s", name, (unsigned)msr, (unsigned long long)v->value, fields);
    else
        note("%s (%XH): not there", name, (unsigned)msr);
}

static void print_info(const struct pmu_info *info)
{
    note("CPUID.0AH: EAX=%08XH EBX=%08XH ECX=%08XH EDX=%08XH", (unsigned)info->leaf_eax,
         (unsigned)info->leaf_ebx, (unsigned)info->leaf_ecx, (unsigned)info->leaf_edx);
    note("perfmon version %u", info->version);
    note("general counters: %u, %u bits wide", info->n_general, info->general_width);
    note("fixed counters: %u, %u bits wide, mask 0x%x%s%s", info->n_fixed, info->fixed_width,
         (unsigned)info->fixed_mask, info->no_fixed[0] ? ", " : "", info->no_fixed);
    note("AnyThread %s", info->anythread_deprecated ? "deprecated: EDX[15] = 1" : "not deprecated");
    print_events(info);
    print_msr("IA32_PERF_CAPABILITIES", MSR_IA32_PERF_CAPABILITIES, &info->perf_capabilities);
    print_msr("IA32_MISC_ENABLE", MSR_IA32_MISC_ENABLE, &info->misc_enable);
    note("PMU %s, BTS %s, PEBS %s",
         info->misc_enable.value & MISC_ENABLE_PMU_AVAILABLE ? "available" : "not available",
         info->bts ? "available" : info->no_bts, info->pebs ? "available" : info->no_pebs);
}

/* RDMSR of count registers from first on; notes each that faults. */
static bool answers(uint32_t msr)
{
    uint64_t value;
    bool ok = rdmsr_safe(msr, &value);
    if (!ok)
        note("MSR %XH raises #GP", (unsigned)msr);
    return ok;
}

static void check_announced(const struct pmu_info *info)
{
    bool ok = true;
    uint64_t value;
    for (unsigned n = 0; n < info->n_general; n++)
        ok = answers(pmu_select_msr(n)) && answers(pmu_counter_msr(n)) && ok;
    value_u64("general_counters", info->n_general);
    check(ok);

    if (info->fixed_mask == 0) {
        check_skip("%s", info->no_fixed);
    } else {
        ok = answers(MSR_IA32_FIXED_CTR_CTRL);
        for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
            if (pmu_has_fixed(i))
                ok = answers(pmu_counter_msr(PMU_FIXED(i))) && ok;
        value_hex("fixed_mask", info->fixed_mask);
        check(ok);
    }

    if (!info->global_ctrl) {
        check_skip("%s", info->no_global_ctrl);
    } else {
        ok = answers(MSR_IA32_PERF_GLOBAL_CTRL);
        ok = answers(MSR_IA32_PERF_GLOBAL_STATUS) && ok;
        check(ok);
    }

    ok = true;
    for (unsigned counter = 0; counter < PMU_FIXED(PMU_MAX_FIXED); counter++)
        if (pmu_all_counters() >> counter & 1)
            ok = rdpmc_safe(pmu_rdpmc_selector(counter), &value) && ok;
    check(ok);
}

/* Not ours: an MSR of another meaning may stand there, but then GLOBAL_CTRL has no bit for it. */
static void check_one_past(const struct pmu_info *info)
{
    uint64_t value = 0;
    unsigned past = info->n_general;
    if (past == PMU_MAX_GENERAL) {
        check_skip("there is no MSR past 32 general counters: CPUID.0AH:EAX[15:8] >= 32");
        return;
    }
    bool counter_faults = !rdmsr_safe(pmu_counter_msr(past), &value);
    bool select_faults = !rdmsr_safe(pmu_select_msr(past), &value);
    value_str("rdmsr_counter", "%XH %s", (unsigned)pmu_counter_msr(past),
              counter_faults ? "#GP" : "answers");
    value_str("rdmsr_select", "%XH %s", (unsigned)pmu_select_msr(past),
              select_faults ? "#GP" : "answers");
    if ((counter_faults && select_faults) || !info->global_ctrl) {
        check(counter_faults && select_faults);
        return;
    }
    bool enable_faults = !wrmsr_safe(MSR_IA32_PERF_GLOBAL_CTRL, PMU_MASK(past));
    wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    value_str("global_ctrl", "bit %u %s", past, enable_faults ? "#GP" : "can be set");
    check(enable_faults);
}

/* An all-ones write through the counter's widest door must come back as 2^width - 1. */
static bool reads_back_full(unsigned counter)
{
    uint64_t max = pmu_counter_max(counter);
    bool written;
    if (counter >= GLOBAL_FIXED_SHIFT || pmu_info()->full_width_write)
        written = pmu_write(counter, max);
    else
        written = wrmsr_safe(pmu_counter_msr(counter), OLD_ADDRESS_ALL_ONES);
    uint64_t back = pmu_read(counter);
    if (!written || back != max)
        note("counter MSR %XH: wrote all ones, reads 0x%llx, CPUID says 0x%llx",
             (unsigned)pmu_counter_msr(counter), (unsigned long long)back, (unsigned long long)max);
    /* A pattern that the old address cannot write: bit 31 is not what stands above it. */
    bool wide = counter >= GLOBAL_FIXED_SHIFT || pmu_info()->full_width_write;
    bool pattern =
        !wide || (pmu_write(counter, PATTERN & max) && pmu_read(counter) == (PATTERN & max));
    pmu_write(counter, 0);
    return written && back == max && pattern;
}

static void check_widths(const struct pmu_info *info)
{
    bool ok = true, old_ok = true;
    for (unsigned n = 0; n < info->n_general; n++) {
        ok = reads_back_full(n) && ok;
        /* The old address too: 32 ones, bit 31 sign-extended. */
        wrmsr(pmu_counter_msr(n), OLD_ADDRESS_ALL_ONES);
        old_ok = pmu_read(n) == pmu_counter_max(n) && old_ok;
        wrmsr(pmu_counter_msr(n), 0);
    }
    value_u64("width", info->general_width);
    value_str("written_by", info->full_width_write ? "IA32_A_PMCx and IA32_PMCx" : "IA32_PMCx");
    check(ok && old_ok);
    if (info->fixed_mask == 0) {
        check_skip("%s", info->no_fixed);
        return;
    }
    ok = true;
    for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
        if (pmu_has_fixed(i))
            ok = reads_back_full(PMU_FIXED(i)) && ok;
    value_u64("width", info->fixed_width);
    check(ok);
}

static void run(void)
{
    const struct pmu_info *info = pmu_info();
    print_info(info);
    check_announced(info);
    check_one_past(info);
    check_widths(info);
}

static const char *const checks[] = {
    "every announced IA32_PERFEVTSELx and IA32_PMCx answers",
    "every announced IA32_FIXED_CTRx and IA32_FIXED_CTR_CTRL answer",
    "IA32_PERF_GLOBAL_CTRL and IA32_PERF_GLOBAL_STATUS answer",
    "RDPMC reads every announced counter",
    "one past the last general counter raises #GP or is not ours",
    "an all-ones write to IA32_PMCx reads back as wide as CPUID says",
    "an all-ones write to IA32_FIXED_CTRx reads back as wide as CPUID says",
    NULL,
};

const struct experiment ex15_1 = {
    .id = "15-1",
    .title = "Enumerate CPUID leaf 0AH",
    CHECKS_OLD(checks),
    .needs = NEED_PMU,
    .run = run,
};
