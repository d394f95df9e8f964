/* Experiment 15-1 · Enumerate CPUID leaf 0AH. */
#include "kernel/msr.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "pmu/pmu.h"

enum {
    GENERAL_ANSWER,
    FIXED_ANSWER,
    GLOBAL_ANSWER,
    RDPMC_ANSWERS,
    ONE_PAST,
    GENERAL_WIDTH,
    FIXED_WIDTH
};

static const char *const checks[] = {
    [GENERAL_ANSWER] = "every announced IA32_PERFEVTSELx and IA32_PMCx answers",
    [FIXED_ANSWER] = "every announced IA32_FIXED_CTRx and IA32_FIXED_CTR_CTRL answer",
    [GLOBAL_ANSWER] = "IA32_PERF_GLOBAL_CTRL and IA32_PERF_GLOBAL_STATUS answer",
    [RDPMC_ANSWERS] = "RDPMC reads every announced counter",
    [ONE_PAST] = "one past the last general counter raises #GP or is not ours",
    [GENERAL_WIDTH] = "an all-ones write to IA32_PMCx reads back as wide as CPUID says",
    [FIXED_WIDTH] = "an all-ones write to IA32_FIXED_CTRx reads back as wide as CPUID says",
};

static void run(void);

const struct experiment ex15_1 = {
    .id = "15-1",
    .title = "Enumerate CPUID leaf 0AH",
    .needs = NEED_PMU,
    CHECKS(checks),
    .run = run,
};

/*
 * Prints what the processor says of its PMU, and then asks the registers themselves. What can go
 * wrong: a hypervisor announces counters that it does not implement, or implements more than it
 * announces; a width in CPUID that is not the counter's. SDM vol. 2 "CPUID" (leaf 0AH), vol. 3
 * "Architectural Performance Monitoring".
 */
#define PATTERN              ARCH_U64(0xa5a5a5a55a5a5a5a)
#define OLD_ADDRESS_ALL_ONES 0xffffffffULL /* what the old address takes of an all-ones value */

/* The announced counters of either sort, as bits of IA32_PERF_GLOBAL_CTRL. */
static uint64_t general(void)
{
    return pmu_all_counters() & (PMU_MASK(GLOBAL_FIXED_SHIFT) - 1);
}

static uint64_t fixed(void)
{
    return pmu_all_counters() & ~(PMU_MASK(GLOBAL_FIXED_SHIFT) - 1);
}

/* Asks all of these counters, also when one has said no. */
static bool all_of(uint64_t counters, bool (*holds)(unsigned counter))
{
    bool all = true;
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            all = holds(counter) && all;
    return all;
}

/* RDMSR of a register; notes one that faults. */
static bool answers(uint32_t msr)
{
    uint64_t value;
    bool ok = rdmsr_safe(msr, &value);
    if (!ok)
        note("MSR %XH raises #GP", (unsigned)msr);
    return ok;
}

static bool general_answers(unsigned counter)
{
    return answers(pmu_select_msr(counter)) && answers(pmu_counter_msr(counter));
}

static bool fixed_answers(unsigned counter)
{
    return answers(pmu_counter_msr(counter));
}

static bool rdpmc_answers(unsigned counter)
{
    uint64_t value;
    return rdpmc_safe(pmu_rdpmc_selector(counter), &value);
}

static void check_announced(const struct pmu_info *info)
{
    value_u64("general_counters", info->n_general);
    check(GENERAL_ANSWER, all_of(general(), general_answers));

    if (info->fixed_mask == 0) {
        check_skip(FIXED_ANSWER, "%s", info->no_fixed);
    } else {
        value_hex("fixed_mask", info->fixed_mask);
        bool control = answers(MSR_IA32_FIXED_CTR_CTRL);
        check(FIXED_ANSWER, all_of(fixed(), fixed_answers) && control);
    }

    if (!info->global_ctrl) {
        check_skip(GLOBAL_ANSWER, "%s", info->no_global_ctrl);
    } else {
        bool control = answers(MSR_IA32_PERF_GLOBAL_CTRL);
        check(GLOBAL_ANSWER, answers(MSR_IA32_PERF_GLOBAL_STATUS) && control);
    }

    check(RDPMC_ANSWERS, all_of(pmu_all_counters(), rdpmc_answers));
}

/* Not ours: an MSR of another meaning may stand there, but then GLOBAL_CTRL has no bit for it. */
static void check_one_past(const struct pmu_info *info)
{
    uint64_t value = 0;
    unsigned past = info->n_general;
    if (past == PMU_MAX_GENERAL) {
        check_skip(ONE_PAST, "there is no MSR past 32 general counters: CPUID.0AH:EAX[15:8] >= 32");
        return;
    }
    bool counter_faults = !rdmsr_safe(pmu_counter_msr(past), &value);
    bool select_faults = !rdmsr_safe(pmu_select_msr(past), &value);
    value_str("rdmsr_counter", "%XH %s", (unsigned)pmu_counter_msr(past),
              counter_faults ? "#GP" : "answers");
    value_str("rdmsr_select", "%XH %s", (unsigned)pmu_select_msr(past),
              select_faults ? "#GP" : "answers");
    if ((counter_faults && select_faults) || !info->global_ctrl) {
        check(ONE_PAST, counter_faults && select_faults);
        return;
    }
    bool enable_faults = !wrmsr_safe(MSR_IA32_PERF_GLOBAL_CTRL, PMU_MASK(past));
    wrmsr(MSR_IA32_PERF_GLOBAL_CTRL, 0);
    value_str("global_ctrl", "bit %u %s", past, enable_faults ? "#GP" : "can be set");
    check(ONE_PAST, enable_faults);
}

/* An all-ones write through the counter's widest door must come back as 2^width - 1, and so must a
 * pattern that the old address cannot write: bit 31 is not what stands above it. */
static bool reads_back_full(unsigned counter)
{
    uint64_t max = pmu_counter_max(counter);
    bool wide = counter >= GLOBAL_FIXED_SHIFT || pmu_info()->full_width_write;
    bool written =
        wide ? pmu_write(counter, max) : wrmsr_safe(pmu_counter_msr(counter), OLD_ADDRESS_ALL_ONES);
    uint64_t back = pmu_read(counter);
    if (!written || back != max)
        note("counter MSR %XH: wrote all ones, reads 0x%llx, CPUID says 0x%llx",
             (unsigned)pmu_counter_msr(counter), (unsigned long long)back, (unsigned long long)max);
    bool pattern =
        !wide || (pmu_write(counter, PATTERN & max) && pmu_read(counter) == (PATTERN & max));
    pmu_write(counter, 0);
    return written && back == max && pattern;
}

/* By the old address: 32 ones, bit 31 sign-extended. */
static bool reads_back_by_old_address(unsigned counter)
{
    wrmsr(pmu_counter_msr(counter), OLD_ADDRESS_ALL_ONES);
    bool full = pmu_read(counter) == pmu_counter_max(counter);
    wrmsr(pmu_counter_msr(counter), 0);
    return full;
}

static void check_widths(const struct pmu_info *info)
{
    value_u64("width", info->general_width);
    value_str("written_by", info->full_width_write ? "IA32_A_PMCx and IA32_PMCx" : "IA32_PMCx");
    bool full = all_of(general(), reads_back_full);
    check(GENERAL_WIDTH, all_of(general(), reads_back_by_old_address) && full);
    if (info->fixed_mask == 0) {
        check_skip(FIXED_WIDTH, "%s", info->no_fixed);
        return;
    }
    value_u64("width", info->fixed_width);
    check(FIXED_WIDTH, all_of(fixed(), reads_back_full));
}

static void run(void)
{
    const struct pmu_info *info = pmu_info();
    note_enumeration();
    check_announced(info);
    check_one_past(info);
    check_widths(info);
}
