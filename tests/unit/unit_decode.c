/* MSR names and fields as text. The values and the texts wanted are from the SDM's figures, by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "x86/decode.h"

struct field_case {
    uint32_t msr;
    uint64_t value;
    const char *text;
};

static const struct field_case field_cases[] = {
    /* The book's macro for INST_RETIRED on PMC0 with INT: 5300C0H. */
    {0x186, 0x5300c0, "INST_RETIRED.ANY_P USR OS INT EN"},
    {0x187, 0x43003c, "CPU_CLK_UNHALTED.THREAD_P USR OS EN"},
    {0x189, 0x42412e, "LONGEST_LAT_CACHE.MISS OS EN"},
    {0x186, 0, ""},
    {0x186, 0x01, "event=0x01 umask=0x00"},
    {0x186, 0x0242ffff, "event=0xff umask=0xff OS EN CMASK=2"},
    {0x186, 0xffc000c0, "INST_RETIRED.ANY_P EN INV CMASK=255"},
    {0x38d, 0xbbb, "FIXED_CTR0: OS USR PMI FIXED_CTR1: OS USR PMI FIXED_CTR2: OS USR PMI"},
    {0x38d, 0x0040, "FIXED_CTR1: ANY"},
    {0x38d, 0, ""},
    {0x38f, 0x70000000f,
     "EN_PMC0 EN_PMC1 EN_PMC2 EN_PMC3 EN_FIXED_CTR0 EN_FIXED_CTR1 EN_FIXED_CTR2"},
    {0x38f, 1ULL << 48, "EN_PERF_METRICS"},
    {0x38e, 1, "Ovf_PMC0"},
    {0x38e, 1ULL << 34 | 1ULL << 62 | 1ULL << 63, "Ovf_FIXED_CTR2 OvfBuf CondChgd"},
    {0x38e, 1ULL << 59 | 1ULL << 58, "LBR_FRZ CTR_FRZ"},
    {0x38e, 1ULL << 50, "reserved=0x4000000000000"},
    {0x390, 1ULL << 61, "Ovf_Uncore"},
    {0x392, 1ULL << 63 | 2, "PMC1 PMI_InUse"},
    {0x1d9, 0x1000, "FREEZE_PERFMON_ON_PMI"},
    {0x1d9, 0x1801, "LBR FREEZE_LBRS_ON_PMI FREEZE_PERFMON_ON_PMI"},
    {0x1d9, 0x1c0, "TR BTS BTINT"},
    {0x1d9, 0x4, "reserved=0x4"},
    {0x3f1, 1ULL << 33 | 1, "PEBS_EN_PMC0 LL_EN_PMC1"},
    {0xc1, 12345, ""}, /* a counter has no fields */
    {0x12345, 1, ""},  /* an MSR that nobody knows */
};

static void fields(void **state)
{
    (void)state;
    char text[256];
    for (size_t i = 0; i < sizeof field_cases / sizeof *field_cases; i++) {
        decode_msr_fields(text, sizeof text, field_cases[i].msr, field_cases[i].value);
        assert_string_equal(text, field_cases[i].text);
    }
}

/* Every single bit of a register with named fields shows up: as a field's name or as reserved. */
static void no_bit_is_passed_over(void **state)
{
    (void)state;
    const uint32_t registers[] = {0x186, 0x38d, 0x38e, 0x38f, 0x390,
                                  0x391, 0x392, 0x1d9, 0x345, 0x3f1};
    for (size_t r = 0; r < sizeof registers / sizeof *registers; r++) {
        char none[256], one[256];
        decode_msr_fields(none, sizeof none, registers[r], 0);
        for (unsigned bit = 0; bit < 64; bit++) {
            decode_msr_fields(one, sizeof one, registers[r], 1ULL << bit);
            if (strcmp(none, one) == 0)
                fail_msg("MSR %x, bit %u: \"%s\"", registers[r], bit, one);
        }
    }
}

static void perf_capabilities(void **state)
{
    (void)state;
    char text[256];
    decode_msr_fields(text, sizeof text, 0x345, 0x31c3);
    assert_non_null(strstr(text, "LBR_FMT=0x3"));
    assert_non_null(strstr(text, "PEBS_FMT=0x1"));
    assert_non_null(strstr(text, "PEBS_TRAP"));
    assert_non_null(strstr(text, "PEBS_ARCH_REG"));
    assert_non_null(strstr(text, "FREEZE_WHILE_SMM"));
    assert_non_null(strstr(text, "FW_WRITE"));
    assert_null(strstr(text, "PEBS_BASELINE"));
}

static void names(void **state)
{
    (void)state;
    static const struct {
        uint32_t msr;
        unsigned version;
        const char *name;
    } cases[] = {
        {0x0c1, 3, "IA32_PMC0"},
        {0x0c4, 3, "IA32_PMC3"},
        {0x4c1, 4, "IA32_A_PMC0"},
        {0x186, 3, "IA32_PERFEVTSEL0"},
        {0x18d, 5, "IA32_PERFEVTSEL7"},
        {0x309, 3, "IA32_FIXED_CTR0"},
        {0x30c, 5, "IA32_FIXED_CTR3"},
        {0x345, 3, "IA32_PERF_CAPABILITIES"},
        {0x38d, 3, "IA32_FIXED_CTR_CTRL"},
        {0x38e, 3, "IA32_PERF_GLOBAL_STATUS"},
        {0x38f, 3, "IA32_PERF_GLOBAL_CTRL"},
        {0x390, 2, "IA32_PERF_GLOBAL_OVF_CTRL"},
        {0x390, 3, "IA32_PERF_GLOBAL_OVF_CTRL"},
        {0x390, 4, "IA32_PERF_GLOBAL_STATUS_RESET"},
        {0x390, 5, "IA32_PERF_GLOBAL_STATUS_RESET"},
        {0x391, 4, "IA32_PERF_GLOBAL_STATUS_SET"},
        {0x392, 4, "IA32_PERF_GLOBAL_INUSE"},
        {0x3f1, 4, "IA32_PEBS_ENABLE"},
        {0x600, 4, "IA32_DS_AREA"},
        {0x1d9, 4, "IA32_DEBUGCTL"},
        {0x1a0, 4, "IA32_MISC_ENABLE"},
        {0x80b, 4, "IA32_X2APIC_EOI"},
        {0x834, 4, "IA32_X2APIC_LVT_PMI"},
        {0x680, 4, "MSR_LASTBRANCH_0_FROM_IP"},
        {0x6cf, 4, "MSR_LASTBRANCH_15_TO_IP"},
    };
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(decode_msr_name(text, sizeof text, cases[i].msr, cases[i].version));
        assert_string_equal(text, cases[i].name);
    }
    memset(text, 'x', sizeof text);
    assert_false(decode_msr_name(text, sizeof text, 0xdeadbeef, 4));
    assert_string_equal(text, "");
}

static void lvt_entries(void **state)
{
    (void)state;
    char text[64];
    decode_lvt(text, sizeof text, 0xe0);
    assert_string_equal(text, "vector=0xe0 fixed unmasked");
    decode_lvt(text, sizeof text, 0x100e0);
    assert_string_equal(text, "vector=0xe0 fixed masked");
    decode_lvt(text, sizeof text, 0x400);
    assert_string_equal(text, "vector=0x00 NMI unmasked");
    decode_lvt(text, sizeof text, 0x10e0 | 0x10000);
    assert_string_equal(text, "vector=0xe0 fixed pending masked");
}

static void addresses_as_the_manual_writes_them(void **state)
{
    (void)state;
    char text[16];
    decode_msr_address(text, sizeof text, 0x186);
    assert_string_equal(text, "186H");
    decode_msr_address(text, sizeof text, 0xc1);
    assert_string_equal(text, "0C1H");
    decode_msr_address(text, sizeof text, 0xc0000080);
    assert_string_equal(text, "0C0000080H");
}

/* Every MSR address near ours, every buffer size: always ended by NUL, never written past (the
 * buffer is a heap block of its exact size, AddressSanitizer watches). */
static void small_buffers(void **state)
{
    (void)state;
    for (size_t size = 1; size < 80; size += 3) {
        char *text = malloc(size);
        assert_non_null(text);
        for (uint32_t msr = 0; msr < 0x900; msr++) {
            decode_msr_name(text, size, msr, 4);
            assert_true(strlen(text) < size);
            decode_msr_fields(text, size, msr, UINT64_MAX);
            assert_true(strlen(text) < size);
            decode_msr_address(text, size, msr);
            assert_true(strlen(text) < size);
        }
        decode_lvt(text, size, UINT32_MAX);
        assert_true(strlen(text) < size);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields),
        cmocka_unit_test(no_bit_is_passed_over),
        cmocka_unit_test(perf_capabilities),
        cmocka_unit_test(names),
        cmocka_unit_test(lvt_entries),
        cmocka_unit_test(addresses_as_the_manual_writes_them),
        cmocka_unit_test(small_buffers),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
