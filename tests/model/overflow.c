/* Overflow, status, in use, and the way of the PMI to the processor. */
#include "tests/model/rig.h"

#include "sim/dev/dev.h"
#include "x86/msr.h"
#include "x86/pmu.h"
#include "x86/apic.h"

#define TIMER_VECTOR 0xd0
#define LAST(width)  (low_bits(width)) /* one before the carry */

/* The vector that the local APIC would interrupt with, as IRR shows it; -1: none. */
static int pending(void)
{
    if (!lapic_pending(rig.cpu->lapic))
        return -1;
    for (int word = 7; word >= 0; word--) {
        uint32_t requests = apic_read(APIC_IRR + 0x10 * word);
        if (requests)
            return 32 * word + 31 - __builtin_clz(requests);
    }
    return -1;
}

/* Sets a counter (bit of GLOBAL_CTRL) to count instructions or, fixed, its own clock in ring 0. */
static void set_up(unsigned bit, bool interrupt)
{
    if (bit < GLOBAL_FIXED_SHIFT)
        write_msr(MSR_IA32_PERFEVTSEL0 + bit,
                  0x3c | BOTH_RINGS | PERFEVTSEL_EN | (interrupt ? PERFEVTSEL_INT : 0));
    else
        write_msr(MSR_IA32_FIXED_CTR_CTRL,
                  (uint64_t)(FIXED_CTR_CTRL_OS | (interrupt ? FIXED_CTR_CTRL_PMI : 0))
                      << 4 * (bit - GLOBAL_FIXED_SHIFT));
}

/* Something happens of which that counter counts each slot's: slots of bad speculation or of the
 * front end are what the fixed counters 4 and 5 count. */
static void pass_for(unsigned bit, uint64_t slots)
{
    enum cpu_event event = bit == GLOBAL_FIXED_SHIFT + 4   ? EV_SLOTS_BAD_SPEC
                           : bit == GLOBAL_FIXED_SHIFT + 5 ? EV_SLOTS_FRONTEND
                                                           : EV_INSN;
    pass(0, event, slots, slots);
}

static uint32_t counter_msr(unsigned bit)
{
    return bit < GLOBAL_FIXED_SHIFT ? MSR_IA32_PMC0 + bit
                                    : MSR_IA32_FIXED_CTR0 + bit - GLOBAL_FIXED_SHIFT;
}

/* Sets the counter's bit of IA32_PERF_GLOBAL_STATUS and no other; not one event too early. */
static void overflow_sets_its_status_bit(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++)
        for (unsigned bit = 0; bit < 64; bit++) {
            rig_start(pmu_profiles[p], NULL);
            if (!(counter_enables() >> bit & 1))
                continue;
            set_up(bit, false);
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
            write_msr(counter_msr(bit),
                      low_bits(32)); /* general: sign-extended to the last value */
            if (bit >= GLOBAL_FIXED_SHIFT)
                write_msr(counter_msr(bit), LAST(rig.fixed_width));
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "counter %u at its maximum", bit);
            pass_for(bit, 100000);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), ARCH_BIT(bit), "counter %u", bit);
            CHECK(read_msr(counter_msr(bit)) < 100000, "counter %u goes on from 0", bit);
        }
}

/* The carry itself: maximum - 2 and then one event at a time. */
static void overflow_comes_with_the_carry(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        count_instructions(0, 0);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
        write_msr(MSR_IA32_PMC0, (uint32_t)-3);
        write_msr(MSR_IA32_FIXED_CTR0, LAST(rig.fixed_width) - 2);
        for (unsigned n = 1; n <= 3; n++) {
            retire(0, 1);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS),
                        n == 3 ? 1 | ARCH_BIT(GLOBAL_FIXED_SHIFT) : 0, "event %u", n);
        }
        CHECK_EQUAL(read_msr(MSR_IA32_PMC0), 0, "IA32_PMC0");
        CHECK_EQUAL(read_msr(MSR_IA32_FIXED_CTR0), 0, "IA32_FIXED_CTR0");
    }
}

/* The interpreter looks again only at pmu_deadline: that must never be later than the overflow. */
static void the_deadline_is_never_late(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++)
        for (unsigned bit = 0; bit < 64; bit++) {
            rig_start(pmu_profiles[p], NULL);
            if (!(counter_enables() >> bit & 1))
                continue;
            set_up(bit, false);
            write_msr(MSR_IA32_PERF_GLOBAL_CTRL, ARCH_BIT(bit));
            write_msr(counter_msr(bit), bit < 32 ? (uint32_t)-1000 : LAST(rig.fixed_width) - 999);
            uint64_t looked = 0;
            while (!(read_msr(MSR_IA32_PERF_GLOBAL_STATUS) & ARCH_BIT(bit))) {
                uint64_t deadline = pmu_deadline(rig.pmu);
                CHECK(deadline != UINT64_MAX && ++looked < 100000, "counter %u", bit);
                /* Everything before the deadline, with as many instructions as slots: no overflow.
                 */
                if (deadline > rig.cpu->now + 1)
                    pass_for(bit, deadline - rig.cpu->now - 1);
                CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "counter %u, too late", bit);
                pass_for(bit, 1);
            }
        }
}

static void status_reset_clears_what_it_names(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        count_instructions(0, 0);
        count_instructions(1, 0);
        write_msr(MSR_IA32_FIXED_CTR_CTRL, FIXED_CTR_CTRL_OS);
        write_msr(MSR_IA32_PMC0, (uint32_t)-1);
        write_msr(MSR_IA32_PMC0 + 1, (uint32_t)-1);
        write_msr(MSR_IA32_FIXED_CTR0, LAST(rig.fixed_width));
        retire(0, 1);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 3 | ARCH_BIT(32), "three overflows");
        write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, 2);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 | ARCH_BIT(32), "bit 1 cleared");
        write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, 0);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 | ARCH_BIT(32), "zeros clear nothing");
        write_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL, ARCH_BIT(32) | 1);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 0, "the rest");
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_OVF_CTRL), 0, "nothing is kept in it");
    }
}

/* Version 4: software sets status bits; no PMI comes of it. */
static void status_set_sets_without_a_pmi(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (rig.version < 4)
            continue;
        apic_arm(APIC_LVT_DELIVERY_FIXED);
        count_instructions(0, PERFEVTSEL_INT);
        write_msr(MSR_IA32_PERF_GLOBAL_STATUS_SET, 1 | ARCH_BIT(33) | GLOBAL_STATUS_OVF_BUF);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 1 | ARCH_BIT(33) | GLOBAL_STATUS_OVF_BUF,
                    "set");
        write_msr(MSR_IA32_PERF_GLOBAL_STATUS_SET, 2);
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 3 | ARCH_BIT(33) | GLOBAL_STATUS_OVF_BUF,
                    "zeros clear nothing");
        pass_skid();
        CHECK_EQUAL(apic_read(LVT_PERFMON), PMI_VECTOR, "the LVT entry is untouched");
        CHECK_EQUAL(pending(), -1, "no interrupt");
    }
}

/* Version 4, IA32_PERF_GLOBAL_INUSE: a general counter by its event select, a fixed one by its
 * enables, the PMI by any INT, any fixed PMI bit, any PEBS enable. */
static void inuse_shows_what_is_programmed(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        if (rig.version < 4)
            continue;
        CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), 0, "power-on");
        for (unsigned i = 0; i < rig.general; i++) {
            write_msr(MSR_IA32_PERFEVTSEL0 + i, 0xc0);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), ARCH_BIT(i), "event of %u", i);
            write_msr(MSR_IA32_PERFEVTSEL0 + i, PERFEVTSEL_EN | PERFEVTSEL_UMASK);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), 0, "no event on %u", i);
            write_msr(MSR_IA32_PERFEVTSEL0 + i, PERFEVTSEL_INT);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), GLOBAL_INUSE_PMI, "INT of %u", i);
            write_msr(MSR_IA32_PERFEVTSEL0 + i, 0);
        }
        for (unsigned i = 0; i < rig.fixed; i++) {
            write_msr(MSR_IA32_FIXED_CTR_CTRL, 1ULL << 4 * i);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), ARCH_BIT(32 + i), "OS of fixed %u",
                        i);
            write_msr(MSR_IA32_FIXED_CTR_CTRL, 2ULL << 4 * i);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), ARCH_BIT(32 + i), "USR of fixed %u",
                        i);
            write_msr(MSR_IA32_FIXED_CTR_CTRL, 8ULL << 4 * i);
            CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_INUSE), GLOBAL_INUSE_PMI, "PMI of fixed %u",
                        i);
            write_msr(MSR_IA32_FIXED_CTR_CTRL, 0);
        }
    }
}

/* ---- PMI ---- */

/* INT, or the fixed counter's PMI bit, sends the overflow to the local APIC, after the profile's
 * skid; without it only the status bit is set. */
static void pmi_needs_the_interrupt_bit(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++)
        for (unsigned bit = 0; bit < 64; bit++)
            for (unsigned interrupt = 0; interrupt < 2; interrupt++) {
                rig_start(pmu_profiles[p], NULL);
                if (!(counter_enables() >> bit & 1))
                    continue;
                apic_arm(APIC_LVT_DELIVERY_FIXED);
                set_up(bit, interrupt);
                write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
                write_msr(counter_msr(bit), bit < 32 ? 0xffffffff : LAST(rig.fixed_width));
                pass_for(bit, 100000);
                CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), ARCH_BIT(bit), "counter %u",
                            bit);
                pass_skid();
                CHECK_EQUAL(pending(), interrupt ? PMI_VECTOR : -1, "counter %u, interrupt bit %u",
                            bit, interrupt);
            }
}

/* Version 1 has no status register, but its PMI. */
static void version_1_pmi(void **state)
{
    (void)state;
    rig_start("merom", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    count_instructions(1, PERFEVTSEL_INT);
    write_msr(MSR_IA32_PMC0 + 1, (uint32_t)-1);
    retire(0, 1);
    pass_skid();
    CHECK_EQUAL(pending(), PMI_VECTOR, "version 1");
}

static void pmi_comes_after_the_skid(void **state)
{
    (void)state;
    rig_start("skylake", "pmu.skid=20", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    count_instructions(0, PERFEVTSEL_INT);
    write_msr(MSR_IA32_PMC0, (uint32_t)-1);
    retire(0, 1);
    uint64_t due = rig.cpu->now + 20 * rig.profile.uarch.retire_width;
    CHECK(pmu_deadline(rig.pmu) <= due, "the deadline");
    pass(0, EV_ABSENT, 0, due - rig.cpu->now - 1);
    CHECK_EQUAL(pending(), -1, "one slot before");
    pass(0, EV_ABSENT, 0, 1);
    CHECK_EQUAL(pending(), PMI_VECTOR, "20 core cycles after");
}

/* A clock carries while an instruction waits (here 15 cycles), and the skid begins there: core
 * cycles by both kinds of counter, the clock of the TSC, slots. */
static void a_clocks_skid_begins_at_its_carry(void **state)
{
    (void)state;
    static const unsigned counters[] = {0, GLOBAL_FIXED_SHIFT + 1, GLOBAL_FIXED_SHIFT + 2,
                                        GLOBAL_FIXED_SHIFT + 3};
    for (unsigned i = 0; i < LENGTH(counters); i++) {
        rig_start("icelake", "pmu.skid=20", NULL);
        apic_arm(APIC_LVT_DELIVERY_FIXED);
        unsigned bit = counters[i], width = rig.profile.uarch.retire_width;
        CHECK_EQUAL(rig.cpu->now, 0, "nothing has passed");
        set_up(bit, true);
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
        write_msr(counter_msr(bit), bit < 32 ? (uint32_t)-5 : LAST(rig.fixed_width) - 4);
        double slots_a_tick = bit == GLOBAL_FIXED_SHIFT + 3 ? 1
                              : bit == GLOBAL_FIXED_SHIFT + 2
                                  ? (double)rig.profile.core_hz * width / rig.profile.tsc_hz
                                  : width;
        uint64_t carry = 5 * slots_a_tick;
        carry += carry < 5 * slots_a_tick;
        pass(0, EV_ABSENT, 0, 15ULL * width);
        uint64_t due = carry + 20ULL * width;
        pass(0, EV_ABSENT, 0, due - rig.cpu->now - 1);
        CHECK_EQUAL(pending(), -1, "counter %u, one slot before", bit);
        pass(0, EV_ABSENT, 0, 1);
        CHECK_EQUAL(pending(), PMI_VECTOR, "counter %u, 20 core cycles after its carry", bit);
    }
}

static void overflow(void)
{
    write_msr(MSR_IA32_PMC0, (uint32_t)-1);
    retire(0, 1);
    pass_skid();
}

/* The delivery sets the mask bit of the LVT entry; while it is set the next PMI is lost; software
 * clears it and the one after that comes. */
static void pmi_masks_its_lvt_entry(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        apic_arm(APIC_LVT_DELIVERY_FIXED);
        count_instructions(0, PERFEVTSEL_INT);
        overflow();
        CHECK_EQUAL(apic_read(LVT_PERFMON), PMI_VECTOR | APIC_LVT_MASK, "after the PMI");
        CHECK_EQUAL(lapic_ack(rig.cpu->lapic), PMI_VECTOR, "the interrupt");
        apic_write(APIC_EOI, 0);
        overflow();
        CHECK_EQUAL(pending(), -1, "masked: the next is lost");
        apic_write(LVT_PERFMON, PMI_VECTOR);
        CHECK_EQUAL(pending(), -1, "unmasking brings none back");
        overflow();
        CHECK_EQUAL(pending(), PMI_VECTOR, "unmasked: the one after that");
    }
}

/* With delivery mode NMI it is an NMI, without a vector, and the mask is set all the same. */
/* Linux writes LVT perfmon in every PMI: an expiry in the midst of that write must not be lost. */
static void timer_expires_while_an_entry_is_written(void **state)
{
    (void)state;
    const struct {
        uint32_t offset, value;
    } writes[] = {{LVT_PERFMON, APIC_LVT_MASK | PMI_VECTOR}, {APIC_TIMER_INITIAL, 1000}};
    for (unsigned i = 0; i < LENGTH(writes); i++) {
        rig_start("skylake", NULL);
        apic_arm(APIC_LVT_DELIVERY_FIXED);
        apic_write(APIC_LVT_TIMER, TIMER_VECTOR);
        apic_write(APIC_TIMER_INITIAL, 1);
        rig.cpu->now += slot_rate(&rig.profile);
        apic_write(writes[i].offset, writes[i].value);
        CHECK_EQUAL(pending(), TIMER_VECTOR, "a write of %XH", writes[i].offset);
    }
}

static void pmi_as_nmi(void **state)
{
    (void)state;
    for (unsigned p = 0; p < LENGTH(pmu_profiles); p++) {
        rig_start(pmu_profiles[p], NULL);
        apic_arm(APIC_LVT_DELIVERY_NMI);
        count_instructions(0, PERFEVTSEL_INT);
        overflow();
        CHECK(rig.cpu->attention & ATTN_NMI, "an NMI is pending");
        CHECK_EQUAL(pending(), -1, "no fixed interrupt");
        CHECK(apic_read(LVT_PERFMON) & APIC_LVT_MASK, "masked");
    }
}

static void software_disabled_apic_takes_no_pmi(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    apic_write(APIC_SVR, 0xff);
    CHECK(apic_read(LVT_PERFMON) & APIC_LVT_MASK, "SVR[8] = 0 masks the LVT");
    count_instructions(0, PERFEVTSEL_INT);
    overflow();
    CHECK_EQUAL(pending(), -1, "no interrupt");
}

/* Counters that overflow within the skid of the first share its PMI. */
static void one_pmi_for_overflows_that_meet(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    apic_arm(APIC_LVT_DELIVERY_FIXED);
    count_instructions(0, PERFEVTSEL_INT);
    count_instructions(1, PERFEVTSEL_INT);
    write_msr(MSR_IA32_PMC0, (uint32_t)-1);
    write_msr(MSR_IA32_PMC0 + 1, (uint32_t)-3);
    retire(0, 1);
    retire(0, 2);
    pass_skid();
    CHECK_EQUAL(read_msr(MSR_IA32_PERF_GLOBAL_STATUS), 3, "both overflowed");
    CHECK_EQUAL(rig.cpu->stats.pmis, 1, "PMIs");
    apic_write(LVT_PERFMON, PMI_VECTOR); /* a second one would get through now */
    pass_skid();
    CHECK_EQUAL(rig.cpu->stats.pmis, 1, "PMIs, later");
}

const struct CMUnitTest overflow_tests[] = {
    RULE(overflow_sets_its_status_bit),
    RULE(overflow_comes_with_the_carry),
    RULE(the_deadline_is_never_late),
    RULE(status_reset_clears_what_it_names),
    RULE(status_set_sets_without_a_pmi),
    RULE(inuse_shows_what_is_programmed),
    RULE(pmi_needs_the_interrupt_bit),
    RULE(version_1_pmi),
    RULE(pmi_comes_after_the_skid),
    RULE(a_clocks_skid_begins_at_its_carry),
    RULE(pmi_masks_its_lvt_entry),
    RULE(timer_expires_while_an_entry_is_written),
    RULE(pmi_as_nmi),
    RULE(software_disabled_apic_takes_no_pmi),
    RULE(one_pmi_for_overflows_that_meet),
};
const size_t n_overflow_tests = LENGTH(overflow_tests);
