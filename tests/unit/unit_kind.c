/* The table of kinds of PMU against the manual's numbers, written out here once more (SDM vol. 4
 * "IA-32 Architectural MSRs", vol. 3 "Architectural Performance Monitoring"); and that the struct
 * has room for kinds that are not in it yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/kind.h"
#include "x86/events.h"

#define EN (1ULL << 22)

static void general_counters(void **state)
{
    (void)state;
    for (unsigned version = 1; version <= 6; version++) {
        const struct pmu_kind *kind = pmu_kind_of_version(version);
        assert_int_equal(pmu_bank_msr(&kind->counters, 0), 0xc1);
        assert_int_equal(pmu_bank_msr(&kind->counters, 7), 0xc8);
        assert_int_equal(pmu_bank_msr(&kind->selects, 0), 0x186);
        assert_int_equal(pmu_bank_msr(&kind->selects, 7), 0x18d);
        assert_int_equal(pmu_bank_msr(&kind->full_width, 0), 0x4c1);
        assert_int_equal(pmu_bank_msr(&kind->full_width, 7), 0x4c8);
        assert_int_equal(kind->written_bits, 32);
        assert_true(kind->lvt_masked);
        assert_true(kind->debug_store);
    }
}

static void no_pmu_has_nothing(void **state)
{
    (void)state;
    static const struct pmu_kind nothing = {.events = pmu_events};
    assert_memory_equal(pmu_kind_of_version(0), &nothing, sizeof(nothing));
}

/* Version 1: EN of a counter's own select is all there is. */
static void version_1(void **state)
{
    (void)state;
    const struct pmu_kind *kind = pmu_kind_of_version(1);
    assert_int_equal(kind->enable, 0);
    assert_int_equal(kind->enable_bit, EN);
    assert_int_equal(kind->fixed.base, 0);
    assert_int_equal(kind->fixed_ctrl, 0);
    assert_int_equal(kind->status, 0);
    assert_int_equal(kind->status_clear, 0);
    assert_int_equal(kind->status_other, 0);
    assert_int_equal(kind->freeze, 0);
    assert_int_equal(pmu_kind_on(kind, 1, 0x5300c0 & ~EN), 0x5300c0);
    assert_int_equal(pmu_kind_off(kind, 0x5300c0), 0x1300c0);
}

static void from_version_2_on(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 6; version++) {
        const struct pmu_kind *kind = pmu_kind_of_version(version);
        assert_int_equal(pmu_bank_msr(&kind->fixed, 0), 0x309);
        assert_int_equal(pmu_bank_msr(&kind->fixed, 3), 0x30c);
        assert_int_equal(kind->fixed_ctrl, 0x38d);
        assert_int_equal(kind->fixed_may_be_3, version == 2);
        assert_int_equal(kind->fixed_bitmap, version >= 5);
        assert_int_equal(kind->enable, 0x38f);
        assert_int_equal(kind->status, 0x38e);
        assert_int_equal(kind->status_clear, 0x390);
        assert_int_equal(kind->status_set, version >= 4 ? 0x391 : 0);
        assert_int_equal(kind->in_use, version >= 4 ? 0x392 : 0);
        assert_int_equal(kind->freeze, 1 << 12);
        assert_int_equal(kind->frozen, version >= 4 ? 1ULL << 59 : 0);
        assert_int_equal(pmu_kind_on(kind, 0x700000003, 0x5300c0), 0x700000003);
        assert_int_equal(pmu_kind_off(kind, 0x5300c0), 0);
    }
}

/* CondChgd 63, OvfBuf 62; OvfUncore 61 from version 3 on; ASCI 60, CTR_FRZ 59, LBR_FRZ 58 and
 * TraceToPAPMI 55 from version 4 on. */
static void status_bits(void **state)
{
    (void)state;
    static const uint64_t bits[] = {0,
                                    0,
                                    0xc000000000000000,
                                    0xe000000000000000,
                                    0xfc80000000000000,
                                    0xfc80000000000000,
                                    0xfc80000000000000};
    for (unsigned version = 0; version <= 6; version++)
        assert_int_equal(pmu_kind_of_version(version)->status_other, bits[version]);
}

static void newer_versions_are_the_newest_known(void **state)
{
    (void)state;
    assert_ptr_equal(pmu_kind_of_version(7), pmu_kind_of_version(6));
    assert_ptr_equal(pmu_kind_of_version(255), pmu_kind_of_version(6));
    assert_ptr_not_equal(pmu_kind_of_version(5), pmu_kind_of_version(6));
}

/* Vol. 4 "Architectural MSRs": IA32_PMC_GPn_CTR, _CFG_A, _CFG_B and _CFG_C at 1900H to 1903H + 4n,
 * IA32_PMC_FXm_CTR, _CFG_B and _CFG_C at 1980H, 1982H and 1983H + 4m. */
static void addresses_of_their_own(void **state)
{
    (void)state;
    const struct pmu_kind *kind = pmu_kind_of_version(6);
    assert_int_equal(pmu_bank_msr(&kind->own_general.counters, 0), 0x1900);
    assert_int_equal(pmu_bank_msr(&kind->own_general.counters, 9), 0x1924);
    assert_int_equal(pmu_bank_msr(&kind->own_general.selects, 2), 0x1909);
    assert_int_equal(pmu_bank_msr(&kind->own_general.reload_causes, 2), 0x190a);
    assert_int_equal(pmu_bank_msr(&kind->own_general.reload_values, 2), 0x190b);
    assert_int_equal(pmu_bank_msr(&kind->own_fixed.counters, 6), 0x1998);
    assert_int_equal(kind->own_fixed.selects.base, 0);
    assert_int_equal(pmu_bank_msr(&kind->own_fixed.reload_causes, 1), 0x1986);
    assert_int_equal(pmu_bank_msr(&kind->own_fixed.reload_values, 1), 0x1987);
    for (unsigned version = 0; version < 6; version++)
        assert_int_equal(pmu_kind_of_version(version)->own_general.counters.base, 0);
}

/* APM vol. 2 "Performance Monitoring Counters": C001_0000H and C001_0004H on; from 8000_0001H:
 * ECX[23] on C001_0200H and C001_0201H + 2n; PerfMonV2 C000_0300H to C000_0303H, LBRSF 58, PMCF 59,
 * DebugCtl.FPMCI 12. No fixed counters, no debug store, nothing masks the LVT entry. */
static void amds_kinds(void **state)
{
    (void)state;
    for (unsigned n = 0; n < PMU_AMD_KINDS; n++) {
        const struct pmu_kind *kind = pmu_kind_of_amd(n);
        bool legacy = n == PMU_AMD_LEGACY, v2 = n == PMU_AMD_PERFMON_V2;
        assert_int_equal(pmu_bank_msr(&kind->selects, 3), legacy ? 0xc0010003 : 0xc0010206);
        assert_int_equal(pmu_bank_msr(&kind->counters, 3), legacy ? 0xc0010007 : 0xc0010207);
        assert_int_equal(kind->full_width.base, 0);
        assert_int_equal(kind->written_bits, 48);
        assert_int_equal(kind->fixed.base, 0);
        assert_int_equal(kind->fixed_ctrl, 0);
        assert_int_equal(kind->in_use, 0);
        assert_int_equal(kind->enable, v2 ? 0xc0000301 : 0);
        assert_int_equal(kind->enable_bit, v2 ? 0 : EN);
        assert_int_equal(kind->status, v2 ? 0xc0000300 : 0);
        assert_int_equal(kind->status_clear, v2 ? 0xc0000302 : 0);
        assert_int_equal(kind->status_set, v2 ? 0xc0000303 : 0);
        assert_int_equal(kind->status_other, v2 ? 0x0c00000000000000 : 0);
        assert_int_equal(kind->freeze, v2 ? 1 << 12 : 0);
        assert_int_equal(kind->frozen, v2 ? 1ULL << 59 : 0);
        assert_false(kind->lvt_masked);
        assert_false(kind->debug_store);
        assert_ptr_equal(kind->events, amd_events);
    }
}

/* AMD's registers lie in pairs (C001_0200H and C001_0201H + 2n), those of version 6 four apart. */
static void strides(void **state)
{
    (void)state;
    const struct pmu_bank amd_selects = {0xc0010200, 2}, amd_counters = {0xc0010201, 2};
    const struct pmu_bank v6_counters = {0x1900, 4};
    assert_int_equal(pmu_bank_msr(&amd_selects, 5), 0xc001020a);
    assert_int_equal(pmu_bank_msr(&amd_counters, 5), 0xc001020b);
    assert_int_equal(pmu_bank_msr(&v6_counters, 9), 0x1924);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(general_counters),
        cmocka_unit_test(no_pmu_has_nothing),
        cmocka_unit_test(version_1),
        cmocka_unit_test(from_version_2_on),
        cmocka_unit_test(status_bits),
        cmocka_unit_test(newer_versions_are_the_newest_known),
        cmocka_unit_test(addresses_of_their_own),
        cmocka_unit_test(strides),
        cmocka_unit_test(amds_kinds),
    };
    return cmocka_run_group_tests_name("kind", tests, NULL, NULL);
}
