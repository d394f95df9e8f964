/* Experiment 15-1 · Enumerate the PMU. */
#include "kernel/msr.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "pmu/kind.h"
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
    [GENERAL_ANSWER] = "every announced general counter and its select register answer",
    [FIXED_ANSWER] = "every announced fixed counter and their control register answer",
    [GLOBAL_ANSWER] = "the register that enables all and the overflow status answer",
    [RDPMC_ANSWERS] = "RDPMC reads every announced counter",
    [ONE_PAST] = "one past the last general counter raises #GP or is not ours",
    [GENERAL_WIDTH] = "an all-ones write to a general counter reads back as wide as CPUID says",
    [FIXED_WIDTH] = "an all-ones write to a fixed counter reads back as wide as CPUID says",
};

static void run(void);

const struct experiment ex15_1 = {
    .id = "15-1",
    .title = "Enumerate the PMU",
    .needs = NEED_PMU,
    CHECKS(checks),
    .run = run,
};

/*
 * Prints what the processor says of its PMU, and then asks the registers themselves. What can go
 * wrong: a hypervisor announces counters that it does not implement, or implements more than it
 * announces; a width in CPUID that is not the counter's. SDM vol. 2 "CPUID" (leaves 0AH and 23H),
 * vol. 3 "Architectural Performance Monitoring".
 */

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
    check(GENERAL_ANSWER, enumerated_all(enumerated_general(), general_answers));

    if (info->fixed_mask == 0) {
        check_skip(FIXED_ANSWER, "%s", info->no_fixed);
    } else {
        value_hex("fixed_mask", info->fixed_mask);
        bool control = answers(info->kind->fixed_ctrl);
        check(FIXED_ANSWER, enumerated_all(enumerated_fixed(), fixed_answers) && control);
    }

    if (!info->global_ctrl) {
        check_skip(GLOBAL_ANSWER, "%s", info->no_global_ctrl);
    } else {
        bool control = answers(info->kind->enable);
        check(GLOBAL_ANSWER, answers(info->kind->status) && control);
    }

    check(RDPMC_ANSWERS, enumerated_all(pmu_all_counters(), rdpmc_answers));
}

/* Not ours: an MSR of another meaning may stand there, but then the register that enables all has
 * no bit for it: it is refused, or does not stay. Leaf 23H may name more counters than leaf 0AH
 * (the P cores of Lunar Lake and Arrow Lake do, with ten and eight): those are there, and the next
 * after them is not. Without leaf 23H the P cores of a hybrid processor may have more than it
 * names. */
static void check_one_past(const struct pmu_info *info)
{
    uint64_t value = 0;
    unsigned past = info->general_end;
    if (past == PMU_MAX_GENERAL) {
        check_skip(ONE_PAST, "there is no MSR past 32 general counters: CPUID.0AH:EAX[15:8] >= 32");
        return;
    }
    unsigned leaf_0ah = info->leaf_eax >> 8 & 0xff;
    if (info->leaf_23h.general != 0 && past != leaf_0ah)
        value_str("leaf_23h", "names %u general counters, leaf 0AH %u", past, leaf_0ah);
    else if (past != info->n_general)
        value_str("hybrid", "leaf 0AH names %u general counters, a P core may have %u",
                  info->n_general, past);
    bool counter_faults = !rdmsr_safe(pmu_counter_msr(past), &value);
    bool select_faults = !rdmsr_safe(pmu_select_msr(past), &value);
    bool select_is_counter = pmu_select_msr(past) == pmu_counter_msr(0); /* AMD's four of old */
    value_str("rdmsr_counter", "%XH %s", (unsigned)pmu_counter_msr(past),
              counter_faults ? "#GP" : "answers");
    value_str("rdmsr_select", "%XH %s", (unsigned)pmu_select_msr(past),
              select_faults       ? "#GP"
              : select_is_counter ? "is general counter 0"
                                  : "answers");
    bool nothing = counter_faults && (select_faults || select_is_counter);
    if (nothing || !info->global_ctrl) {
        check(ONE_PAST, nothing);
        return;
    }
    uint32_t enable = info->kind->enable;
    bool taken = wrmsr_safe(enable, PMU_MASK(past));
    bool set = taken && rdmsr(enable) == PMU_MASK(past);
    wrmsr(enable, 0);
    value_str("global_ctrl", "bit %u %s", past,
              !taken ? "#GP"
              : set  ? "can be set"
                     : "cannot be set");
    check(ONE_PAST, !set);
}

static void check_widths(const struct pmu_info *info)
{
    value_u64("width", info->general_width);
    value_str("written_by", info->full_width_write ? "the full-width address and the old one"
                                                   : "its one address");
    bool full = enumerated_all(enumerated_general(), counter_reads_back_full);
    check(GENERAL_WIDTH,
          enumerated_all(enumerated_general(), counter_reads_back_by_old_address) && full);
    if (info->fixed_mask == 0) {
        check_skip(FIXED_WIDTH, "%s", info->no_fixed);
        return;
    }
    value_u64("width", info->fixed_width);
    check(FIXED_WIDTH, enumerated_all(enumerated_fixed(), counter_reads_back_full));
}

static void run(void)
{
    const struct pmu_info *info = pmu_info();
    note_enumeration();
    check_announced(info);
    check_one_past(info);
    check_widths(info);
}
