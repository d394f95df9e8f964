/* Experiment 22-1 · Two rings and RDPMC. */
#include "kernel/user.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lab/ring3.h"
#include "lab/ring3_rdpmc.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum {
    USR,
    OS,
    SUM,
    PCE_0,
    PCE_1_GENERAL,
    PCE_1_FIXED,
    PAST_GENERAL,
    PAST_FIXED,
};

static const char *const checks[] = {
    [USR] = "USR counts exactly the ring 3 function's known number of instructions",
    [OS] = "OS counts the same, however long ring 3 runs",
    [SUM] = "both rings = USR + OS exactly",
    [PCE_0] = "CR4.PCE 0: RDPMC in ring 3 raises #GP",
    [PCE_1_GENERAL] = "CR4.PCE 1: RDPMC in ring 3 reads what RDMSR reads of general counters",
    [PCE_1_FIXED] = "CR4.PCE 1: RDPMC in ring 3 reads what RDMSR reads of fixed counters",
    [PAST_GENERAL] = "CR4.PCE 1: an index past all general counters raises #GP",
    [PAST_FIXED] = "CR4.PCE 1: an index past all fixed counters raises #GP",
};

static void run(void);

const struct experiment ex22_1 = {
    .id = "22-1",
    .title = "Two rings and RDPMC",
    .needs = NEED_PMU | NEED_GENERAL_2 | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * A function of known length runs in ring 3, entered by IRETQ and left through an interrupt gate,
 * while three counters count instructions: one with USR ("operating at privilege levels 1, 2 or
 * 3"), one with OS ("at privilege level 0"), one with both (SDM vol. 3 "Architectural Performance
 * Monitoring Version 1"). No instruction may be in neither or in both.
 *
 * In which ring the two that cross retire, the manual does not say. So it is measured first, with
 * one round of the function: what USR counts beyond the listing is their share, at most the two.
 *
 * Then ring 3 reads the counters itself. CR4.PCE says whether it may (SDM vol. 2 "RDPMC"); an index
 * that is no counter's raises #GP. Asserted is that of an index that no processor can have: no
 * register that enables all has a bit for it, and AMD's counters outside of the core end before it
 * (APM vol. 3 "RDPMC"). The first past those that CPUID names is reported: a P
 * core may have counters that CPUID hides beside E cores with fewer.
 */
#define SELECT    pmu_event(PMU_EVENT_INSTRUCTIONS)
#define ROUNDS    200
#define CROSSINGS 2 /* IRETQ and INT */

struct rings {
    uint64_t usr, os, both;
};

/* With two general counters alone the fixed one counts both rings. */
static unsigned counter_of_both(void)
{
    return pmu_no_general(3) == NULL ? 2 : PMU_FIXED(0);
}

static struct rings count_rings(uint64_t rounds)
{
    unsigned both = counter_of_both();
    count_from_0(PMU_MASK(0) | PMU_MASK(1) | PMU_MASK(both), user_enter, rounds);
    return (struct rings){pmu_read(0), pmu_read(1), pmu_read(both)};
}

static bool adds_up(const struct rings *rings)
{
    return rings->both == rings->usr + rings->os && rings->usr != 0 && rings->os != 0;
}

static void check_rings(void)
{
    struct rings one, many;
    uint64_t expected = insns_of(&user_counted_insns, ROUNDS), crossing, usr;
    struct take take = take_begin();
    do {
        one = count_rings(1);
        many = count_rings(ROUNDS);
        crossing = one.usr - insns_of(&user_counted_insns, 1);
        usr = many.usr - crossing;
    } while (take_again(&take, usr == expected && one.os == many.os && adds_up(&many)));

    value_u64("usr", many.usr);
    value_u64("crossing", crossing);
    value_u64("usr_without_crossing", usr);
    value_u64("from_the_listing", expected);
    check(USR, usr == expected && crossing <= CROSSINGS);
    check_same(OS, "os", many.os, "os_of_one_round", one.os);
    value_u64("usr", many.usr);
    value_u64("os", many.os);
    value_u64("both", many.both);
    check(SUM, adds_up(&one) && adds_up(&many));
}

/* Does ring 3 read from each counter of mask what RDMSR reads, and something at all? Shows the
 * first that it does not. */
static bool reads_alike(uint64_t mask)
{
    for (unsigned counter = 0; mask >> counter; counter++) {
        if (!(mask & PMU_MASK(counter)))
            continue;
        uint64_t value;
        enum ring3_rdpmc how = ring3_rdpmc(pmu_rdpmc_selector(counter), &value);
        uint64_t wanted = pmu_read(counter);
        if (how == RING3_READ && value == wanted && wanted != 0)
            continue;
        value_str("ring_3", "RDPMC of %XH: %s", (unsigned)pmu_rdpmc_selector(counter),
                  ring3_rdpmc_names[how]);
        value_hex("rdpmc", value);
        value_hex("rdmsr", wanted);
        return false;
    }
    return true;
}

static bool refused(uint32_t selector)
{
    uint64_t value;
    enum ring3_rdpmc how = ring3_rdpmc(selector, &value);
    value_str("ring_3", "RDPMC of %XH: %s", (unsigned)selector, ring3_rdpmc_names[how]);
    return how == RING3_REFUSED;
}

/* Each counter has a value of its own, so that none can be taken for another. */
static void number_counters(uint64_t mask)
{
    for (unsigned counter = 0; mask >> counter; counter++)
        if (mask & PMU_MASK(counter))
            pmu_write(counter, 0x1000 + counter);
}

static void check_rdpmc(void)
{
    const struct pmu_info *info = pmu_info();
    uint64_t fixed = (uint64_t)info->fixed_mask << GLOBAL_FIXED_SHIFT;
    uint64_t value;

    number_counters(pmu_all_counters());
    pmu_allow_user_rdpmc(false);
    check(PCE_0, refused(pmu_rdpmc_selector(0)));

    pmu_allow_user_rdpmc(true);
    value_u64("general_counters", info->n_general);
    check(PCE_1_GENERAL, reads_alike(pmu_all_counters() & ~fixed));
    if (fixed == 0) {
        check_skip(PCE_1_FIXED, "%s", info->no_fixed);
    } else {
        value_hex("fixed_mask", info->fixed_mask);
        check(PCE_1_FIXED, reads_alike(fixed));
    }
    value_str("first_past", "RDPMC of %XH: %s", info->general_end,
              ring3_rdpmc_names[ring3_rdpmc(info->general_end, &value)]);
    check(PAST_GENERAL, refused(PMU_MAX_GENERAL));
    check(PAST_FIXED, refused(pmu_rdpmc_selector(PMU_FIXED(PMU_MAX_FIXED))));
    pmu_allow_user_rdpmc(false);
}

/* What three counters lack here; NULL: nothing. */
static const char *no_three(void)
{
    return pmu_has_fixed(0) ? NULL : pmu_no_general(3);
}

static void run(void)
{
    if (no_three() != NULL) {
        check_skip_all(USR, SUM, "%s", no_three());
    } else {
        pmu_select(0, SELECT | PERFEVTSEL_USR);
        pmu_select(1, SELECT | PERFEVTSEL_OS);
        if (counter_of_both() == 2)
            pmu_select(2, SELECT | PERFEVTSEL_USR | PERFEVTSEL_OS);
        else
            pmu_select_fixed(FIXED_CTR_CTRL_USR | FIXED_CTR_CTRL_OS);
        if (!user_load(user_counted, (size_t)(user_counted_end - user_counted), USER_INTERRUPT))
            note("ring 3 cannot be entered: no page can be mapped");
        else
            check_rings();
    }
    check_rdpmc();
}
