/* Experiment 22-5 · All counters there are. */
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "lab/count.h"
#include "lab/enumeration.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/kind.h"
#include "pmu/pmu.h"

enum { OWN_VALUES, PAST, GENERAL_EXACT, FIXED_EXACT, BY_ENABLE, BY_SELECT };

static const char *const checks[] = {
    [OWN_VALUES] = "every announced counter and select register keeps a value of its own",
    [PAST] = "no general counter past those that CPUID names can be opened",
    [GENERAL_EXACT] = "in one window every general counter holds exactly the listing's number",
    [FIXED_EXACT] = "in the same window fixed counter 0 holds it too",
    [BY_ENABLE] = "its bit in the register that enables all opens each of them, and no other",
    [BY_SELECT] = "its own select register starts each of them, and no other",
};

static void run(void);

const struct experiment ex22_5 = {
    .id = "22-5",
    .title = "All counters there are",
    .needs = NEED_PMU | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * How many general counters a logical processor has depends on the model, and on some models on
 * whether its core's other one is there: Sandy Bridge to Skylake have eight in a core, which two
 * logical processors share, four each. CPUID says the number that holds here (SDM vol. 3
 * "Architectural Performance Monitoring Version 3", and the notes on CPUID.0AH:EAX[15:8] in vol. 4
 * at IA32_PMC4 to 7).
 *
 * The number is held against the registers: each keeps its own value while all others are written,
 * and past the last nothing can be opened. What the registers of a number further on are is not
 * promised, an MSR of another meaning may stand there; then the register that enables all has no
 * bit for it. Leaf 23H may name more than leaf 0AH: those are there. On a hybrid processor without
 * leaf 23H (Alder Lake, Raptor Lake) leaf 0AH names what all cores have, and a P core has two more.
 *
 * Then all count retired instructions, and must agree to the instruction. Opened in one window they
 * show that each counts; opened one by one, and programmed one by one, that each is steered by its
 * own bit and its own select register: two that are exchanged agree in one window. Where no
 * register enables all, there is no such bit to try.
 */
#define RINGS      (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define SELECT     (pmu_event(PMU_EVENT_INSTRUCTIONS) | RINGS)
#define ITERATIONS 500
#define FIRST_OWN  0x1000 /* counter n gets this + n, in its lower 32 bits */

#define LEAF_TOPOLOGY 0x0b

/* ---- The registers ---- */

/* CPUID leaf 0BH, sub-leaf 0. */
static void value_threads(void)
{
    if (cpuid(0, 0).eax < LEAF_TOPOLOGY || cpuid(LEAF_TOPOLOGY, 0).ebx == 0)
        value_str("threads_of_the_core", "not told: no CPUID leaf 0BH");
    else
        value_u64("threads_of_the_core", cpuid(LEAF_TOPOLOGY, 0).ebx & 0xffff);
}

/* The select register takes an event, which differs from one counter to the next by its mask: it
 * counts nothing, for EN is 0. */
static uint64_t own_select(unsigned general)
{
    return RINGS | (uint64_t)general << PERFEVTSEL_CMASK_SHIFT;
}

static bool own_values_written(unsigned counter)
{
    bool selected =
        counter >= GLOBAL_FIXED_SHIFT || wrmsr_safe(pmu_select_msr(counter), own_select(counter));
    return pmu_write(counter, FIRST_OWN + counter) && selected;
}

static bool own_values_kept(unsigned counter)
{
    uint64_t value = 0, select = 0;
    bool general = counter < GLOBAL_FIXED_SHIFT;
    bool kept = rdmsr_safe(pmu_counter_msr(counter), &value) && value == FIRST_OWN + counter;
    bool selected =
        !general || (rdmsr_safe(pmu_select_msr(counter), &select) && select == own_select(counter));
    if (!kept)
        note("MSR %XH: wrote 0x%x, reads 0x%llx", (unsigned)pmu_counter_msr(counter),
             FIRST_OWN + counter, (unsigned long long)value);
    if (!selected)
        note("MSR %XH: wrote 0x%llx, reads 0x%llx", (unsigned)pmu_select_msr(counter),
             (unsigned long long)own_select(counter), (unsigned long long)select);
    return kept && selected;
}

static void check_own_values(const struct pmu_info *info)
{
    value_u64("general_counters", info->n_general);
    value_threads();
    value_u64("fixed_counters", info->n_fixed);
    bool written = enumerated_all(pmu_all_counters(), own_values_written);
    bool kept = enumerated_all(pmu_all_counters(), own_values_kept);
    check(OWN_VALUES, written && kept);
    pmu_reset();
}

/* Can a counter of this number be opened? All of it must be there. */
static bool is_there(unsigned general)
{
    uint64_t value;
    uint32_t enable = pmu_info()->kind->enable;
    return wrmsr_safe(enable, PMU_MASK(general)) && rdmsr(enable) == PMU_MASK(general) &&
           rdmsr_safe(pmu_counter_msr(general), &value) &&
           rdmsr_safe(pmu_select_msr(general), &value);
}

static void check_past(const struct pmu_info *info)
{
    unsigned there = 0;
    if (!info->global_ctrl) {
        check_skip(PAST, "%s", info->no_global_ctrl);
        return;
    }
    for (unsigned n = info->general_end; n < PMU_MAX_GENERAL; n++)
        if (is_there(n)) {
            note("general counter %u can be opened", n);
            there++;
        }
    wrmsr(info->kind->enable, 0);
    value_u64("tried_from", info->general_end);
    value_u64("to", PMU_MAX_GENERAL - 1);
    check_equal(PAST, "there", there, 0);
}

/* ---- The counts ---- */

static uint64_t expected, empty, counters; /* counters: all that count instructions */

static void select_one(unsigned counter)
{
    if (counter == PMU_FIXED(0))
        pmu_select_fixed(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR);
    else
        pmu_select(counter, SELECT);
}

static void deselect_one(unsigned counter)
{
    if (counter == PMU_FIXED(0))
        pmu_select_fixed(0);
    else
        wrmsr(pmu_select_msr(counter), 0);
}

/* Do those of selected and opened hold just the function, and the others of counters nothing? */
static bool all_as_expected(uint64_t counting)
{
    bool all = true;
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            all = pmu_read(counter) == (counting & PMU_MASK(counter) ? expected : 0) && all;
    return all;
}

/* All set to 0, those of opened counted by one window; counting are to count. */
static bool counts(uint64_t opened, uint64_t counting)
{
    struct take take = take_begin();
    bool right;
    expected = insns_in_window(opened, &body_mixed_insns, ITERATIONS);
    do {
        for (unsigned counter = 0; counters >> counter; counter++)
            if (counters & PMU_MASK(counter))
                pmu_write(counter, 0);
        pmu_count(opened, body_mixed, ITERATIONS);
        right = all_as_expected(counting);
    } while (take_again(&take, right));
    return right;
}

static void note_counts(const char *what, unsigned alone)
{
    note("%s MSR %XH, counted:", what, (unsigned)pmu_counter_msr(alone));
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            note("  MSR %XH %llu", (unsigned)pmu_counter_msr(counter),
                 (unsigned long long)pmu_read(counter));
}

static bool alone_by_enable(unsigned counter)
{
    bool right = counts(PMU_MASK(counter), PMU_MASK(counter));
    if (!right)
        note_counts("opened only", counter);
    return right;
}

/* The select registers are all 0 before and after. Where they open the window, with their own
 * event, its own alone. */
static bool alone_by_select(unsigned counter)
{
    select_one(counter);
    bool right = counts(pmu_info()->global_ctrl ? counters : PMU_MASK(counter), PMU_MASK(counter));
    if (!right)
        note_counts("selected only", counter);
    deselect_one(counter);
    return right;
}

static void check_one_window(void)
{
    uint64_t least = ~(uint64_t)0, most = 0;
    counts(counters, counters);
    for (unsigned n = 0; n < pmu_info()->n_general; n++) {
        uint64_t value = pmu_read(n);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    uint64_t fixed = pmu_has_fixed(0) ? pmu_read(PMU_FIXED(0)) : 0;
    pmu_dump("after the window");

    empty = count_empty(counters, 0);
    value_u64("least", least);
    value_u64("most", most);
    value_u64("from_the_listing", expected);
    value_known_loss(empty, least, expected);
    check(GENERAL_EXACT, least == expected && most == expected);
    if (!pmu_has_fixed(0)) {
        check_skip(FIXED_EXACT, "%s", pmu_no_fixed(0));
        return;
    }
    value_known_loss(empty, fixed, expected);
    check_same(FIXED_EXACT, "fixed0", fixed, "from_the_listing", expected);
}

static void check_alone(unsigned which, bool (*alone)(unsigned counter))
{
    value_hex("counters", counters);
    bool right = enumerated_all(counters, alone);
    if (!right)
        value_known_loss(empty, expected - 1, expected);
    check(which, right);
}

static void run(void)
{
    const struct pmu_info *info = pmu_info();
    check_own_values(info);
    check_past(info);

    counters = enumerated_general() | (pmu_has_fixed(0) ? PMU_MASK(PMU_FIXED(0)) : 0);
    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            select_one(counter);
    check_one_window();
    if (info->global_ctrl)
        check_alone(BY_ENABLE, alone_by_enable);
    else
        check_skip(BY_ENABLE, "%s", info->no_global_ctrl);

    for (unsigned counter = 0; counters >> counter; counter++)
        if (counters & PMU_MASK(counter))
            deselect_one(counter);
    check_alone(BY_SELECT, alone_by_select);
}
