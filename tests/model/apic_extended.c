/* The local APIC's extended space, by which IBS interrupts. */
#include "tests/model/rig.h"
#include "sim/dev/dev.h"
#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/msr.h"

#define ENTRIES 4
#define VECTOR  0x71
#define LOW     0x41

/* A machine with the space, in xAPIC mode, software-enabled. */
static void start(void)
{
    rig_start("zen4", NULL);
    apic_write(APIC_SVR, APIC_SVR_ENABLE | 0xff);
}

static uint32_t entry_at(unsigned i)
{
    return APIC_EXT_LVT0 + i * APIC_EXT_LVT_STRIDE;
}

static bool requested(unsigned vector)
{
    return apic_read(APIC_IRR + vector / 32 * 0x10) >> vector % 32 & 1;
}

static bool in_service(unsigned vector)
{
    return apic_read(APIC_ISR + vector / 32 * 0x10) >> vector % 32 & 1;
}

static void the_version_register_announces_the_space(void **state)
{
    (void)state;
    start();
    CHECK(apic_read(APIC_VERSION) & APIC_VERSION_EAS, "EAS");
    CHECK_EQUAL(apic_read(APIC_EXT_FEATURE), 0x00040007, "the feature register");
    for (unsigned i = 0; i < 8; i++)
        CHECK_EQUAL(apic_read(APIC_EXT_IER + 0x10 * i), 0xffffffff, "IER %u after reset", i);
    for (unsigned i = 0; i < ENTRIES; i++)
        CHECK_EQUAL(apic_read(entry_at(i)), 0, "entry %u after reset", i);
    apic_write(APIC_ESR, 0);
    CHECK_EQUAL(apic_read(APIC_ESR), 0, "no illegal register so far");
    apic_read(entry_at(ENTRIES));
    apic_write(APIC_ESR, 0);
    CHECK_EQUAL(apic_read(APIC_ESR), APIC_ESR_ILLEGAL_REGISTER, "there is no fifth entry");
}

static void without_the_cpuid_bit_there_is_no_space(void **state)
{
    (void)state;
    rig_start("skylake", NULL);
    apic_write(APIC_SVR, APIC_SVR_ENABLE | 0xff);
    CHECK(!(apic_read(APIC_VERSION) & APIC_VERSION_EAS), "EAS");
    CHECK_EQUAL(apic_read(APIC_EXT_FEATURE), 0, "it reads as 0");
    apic_write(APIC_ESR, 0);
    CHECK_EQUAL(apic_read(APIC_ESR), APIC_ESR_ILLEGAL_REGISTER, "and is an error");
}

static void an_extended_entry_delivers_and_stays_open(void **state)
{
    (void)state;
    start();
    for (unsigned i = 0; i < ENTRIES; i++) {
        apic_write(entry_at(i), VECTOR + i);
        lapic_extended(rig.cpu->lapic, i);
        CHECK(requested(VECTOR + i), "fixed, by entry %u", i);
        CHECK_EQUAL(apic_read(entry_at(i)), VECTOR + i, "it is not masked");
        apic_write(entry_at(i), APIC_LVT_DELIVERY_NMI);
        rig.cpu->attention &= ~(uint32_t)ATTN_NMI;
        lapic_extended(rig.cpu->lapic, i);
        CHECK(rig.cpu->attention & ATTN_NMI, "NMI, by entry %u", i);
    }
}

static void a_masked_extended_entry_delivers_nothing(void **state)
{
    (void)state;
    start();
    apic_write(entry_at(1), VECTOR | APIC_LVT_MASK);
    lapic_extended(rig.cpu->lapic, 1);
    CHECK(!requested(VECTOR), "masked");
    apic_write(entry_at(1), VECTOR);
    apic_write(APIC_SVR, 0xff);
    CHECK_EQUAL(apic_read(entry_at(1)), VECTOR | APIC_LVT_MASK, "software disabled: masked");
    apic_write(entry_at(1), VECTOR);
    CHECK_EQUAL(apic_read(entry_at(1)), VECTOR | APIC_LVT_MASK, "and cannot be opened");
    lapic_extended(rig.cpu->lapic, ENTRIES);
    CHECK(!(rig.cpu->attention & ATTN_NMI), "an entry that is not there");
}

static void interrupts_are_enabled_one_by_one(void **state)
{
    (void)state;
    start();
    apic_write(entry_at(0), VECTOR);
    apic_write(APIC_EXT_IER + VECTOR / 32 * 0x10, ~(1u << VECTOR % 32));
    lapic_extended(rig.cpu->lapic, 0);
    CHECK(lapic_pending(rig.cpu->lapic), "without IERN the bit means nothing");
    apic_write(APIC_EXT_CONTROL, APIC_EXT_CONTROL_IERN);
    CHECK(requested(VECTOR) && !lapic_pending(rig.cpu->lapic), "with it, it waits");
    apic_write(APIC_EXT_IER + VECTOR / 32 * 0x10, 0xffffffff);
    CHECK(lapic_pending(rig.cpu->lapic), "until it is enabled");
}

static void an_interrupt_in_service_is_ended_by_its_vector(void **state)
{
    (void)state;
    start();
    apic_write(entry_at(0), LOW);
    lapic_extended(rig.cpu->lapic, 0);
    CHECK_EQUAL(lapic_ack(rig.cpu->lapic), LOW, "the lower one");
    apic_write(entry_at(0), VECTOR);
    lapic_extended(rig.cpu->lapic, 0);
    CHECK_EQUAL(lapic_ack(rig.cpu->lapic), VECTOR, "the higher one");
    apic_write(APIC_EXT_SEOI, LOW);
    CHECK(in_service(LOW), "not before SN is set");
    apic_write(APIC_EXT_CONTROL, APIC_EXT_CONTROL_SN);
    apic_write(APIC_EXT_SEOI, LOW);
    CHECK(!in_service(LOW) && in_service(VECTOR), "the lower one alone");
}

static void in_x2apic_mode_the_space_is_at_840h(void **state)
{
    (void)state;
    start();
    write_msr(MSR_IA32_APIC_BASE, read_msr(MSR_IA32_APIC_BASE) | APIC_BASE_EXTD);
    CHECK_EQUAL(read_msr(0x840), 0x00040007, "the feature register");
    write_msr(0x850, VECTOR);
    CHECK_EQUAL(read_msr(0x850), VECTOR, "an entry");
    CHECK(write_faults(0x850, 1 << 17) && write_faults(0x841, 8) && write_faults(0x840, 0) &&
              read_faults(0x854),
          "reserved bits, the read-only register and what lies behind");
}

const struct CMUnitTest apic_extended_tests[] = {
    RULE(the_version_register_announces_the_space),
    RULE(without_the_cpuid_bit_there_is_no_space),
    RULE(an_extended_entry_delivers_and_stays_open),
    RULE(a_masked_extended_entry_delivers_nothing),
    RULE(interrupts_are_enabled_one_by_one),
    RULE(an_interrupt_in_service_is_ended_by_its_vector),
    RULE(in_x2apic_mode_the_space_is_at_840h),
};
const size_t n_apic_extended_tests = LENGTH(apic_extended_tests);
