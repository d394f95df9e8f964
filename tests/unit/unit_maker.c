/* What follows from a processor's maker: against the manuals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "x86/maker.h"

static void makers(void **state)
{
    (void)state;
    assert_int_equal(maker_of("GenuineIntel"), MAKER_INTEL);
    assert_int_equal(maker_of("AuthenticAMD"), MAKER_AMD);
    assert_int_equal(maker_of("HygonGenuine"), MAKER_AMD);
    static const char *const others[] = {"", "GenuineIntelx", "Genuine", "CentaurHauls",
                                         "authenticAMD"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(maker_of(others[i]), MAKER_OTHER);
}

static void what_follows(void **state)
{
    (void)state;
    assert_true(maker_has_sysenter64("GenuineIntel"));
    assert_false(maker_has_sysenter64("AuthenticAMD") || maker_has_sysenter64("HygonGenuine"));
    assert_int_equal(maker_revision("GenuineIntel"), REVISION_UPPER);
    assert_int_equal(maker_revision("AuthenticAMD"), REVISION_LOWER);
    assert_int_equal(maker_revision("CentaurHauls"), REVISION_UNKNOWN);
}

/* SDM vol. 3, "Nominal Core Crystal Clock Frequency": 6th and 7th generation 24 MHz, Goldmont 19.2
 * MHz; what is not of Intel's family 6 is not in it. */
static void crystals(void **state)
{
    (void)state;
    assert_int_equal(maker_crystal_hz("GenuineIntel", 6, 0x5e), 24000000);
    assert_int_equal(maker_crystal_hz("GenuineIntel", 6, 0x5c), 19200000);
    assert_int_equal(maker_crystal_hz("GenuineIntel", 6, 0x55), 0);
    assert_int_equal(maker_crystal_hz("GenuineIntel", 15, 0x5e), 0);
    assert_int_equal(maker_crystal_hz("AuthenticAMD", 6, 0x5e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makers),
        cmocka_unit_test(what_follows),
        cmocka_unit_test(crystals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
