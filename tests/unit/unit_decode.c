/* MSR names and fields as text. The values and the texts wanted are from the SDM's figures, by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "x86/decode.h"
#include "x86/events.h"

/* Version 4 and no names of events but the architectural ones. */
static const struct decode_context v4 = {.version = 4};

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
    {0x186, 1ULL << 34 | 0x4300c0, "INST_RETIRED.ANY_P USR OS EN Adaptive_Record"},
    {0x186, 1ULL << 48 | 0x4300c0, "INST_RETIRED.ANY_P USR OS EN reserved=0x1000000000000"},
    /* BR_INST_RETIRED.COND of Arrow Lake's P core: unit mask 11H, the second one 01H. */
    {0x190d, 1ULL << 40 | 0x4311c4, "event=0xc4 umask=0x11 USR OS EN UMASK2=1"},
    {0x1925, 0xff3800430000,
     "event=0x00 umask=0x00 USR OS EN EN_LBR_LOG EQ RDPMC_USR_DISABLE UMASK2=255"},
    {0x190a, 1ULL << 33 | 5, "PMC0 PMC2 FIXED_CTR1"},
    {0x1982, 1ULL << 48, "reserved=0x1000000000000"},
    {0x199b, 0xfffff000, "RELOAD=0xfffff000"},
    {0x38d, 0x7000, "FIXED_CTR3: OS USR METRICS_CLEAR_EN"},
    {0x38d, 0x740b, "FIXED_CTR0: OS USR PMI FIXED_CTR2: ANY FIXED_CTR3: OS USR METRICS_CLEAR_EN"},
    {0x345, 0x88000, "LBR_FMT=0x0 PEBS_FMT=0x0 PERF_METRICS RDPMC_METRICS_CLEAR"},
    {0x38d, 0xbULL | 1ULL << 32 | 1ULL << 36,
     "FIXED_CTR0: OS USR PMI Adaptive_Record FIXED_CTR1: Adaptive_Record"},
    {0x38d, 1ULL << 34, "reserved=0x400000000"},
    {0x38d, 1ULL << 37, "FIXED_CTR1: RDPMC_USR_DISABLE"},
    {0x3f2, 0x1f00000bULL, "MEMINFO GPRS LBRS LBR_ENTRIES-1=31"},
    {0x1c8, 0x3ff,
     "CPL_EQ_0 CPL_NEQ_0 JCC NEAR_REL_CALL NEAR_IND_CALL NEAR_RET NEAR_IND_JMP NEAR_REL_JMP "
     "FAR_BRANCH EN_CALLSTACK"},
    {0xdc0, 1ULL << 63 | 25, "CYCLES=25 MISPRED"},
    {0xddf, 3ULL << 61, "TSX_ABORT IN_TSX"},
    {0xdc0, 1ULL << 60, "reserved=0x1000000000000000"},
    {0x14ce, 0x7f000f,
     "LBREn OS USR CALL_STACK JCC NEAR_REL_JMP NEAR_IND_JMP NEAR_REL_CALL NEAR_IND_CALL NEAR_RET "
     "OTHER_BRANCH"},
    {0x14ce, 0x800010, "reserved=0x800010"},
    {0x1200, 9ULL << 60 | 5ULL << 56 | 25, "CYC_CNT=25 NEAR_RET CYC_CNT_VALID MISPRED"},
    {0x121f, 0x08ULL << 56, "OTHER_BRANCH"},
    {0x121f, 0x6fULL << 56, "OTHER_BRANCH TSX_ABORT IN_TSX"},
    {0x1e0, 2ULL << 56 | 3ULL << 32, "PMC_CNT=3 NEAR_REL_JMP"},
    {0x1201, 0, "COND"},
    {0x3f2, 0x5000300000030ULL, "CNTR METRICS PMC0 PMC1 FIXED_CTR0 FIXED_CTR2"},
    {0x329, 0x40302010, "RETIRING=16 BAD_SPECULATION=32 FRONTEND_BOUND=48 BACKEND_BOUND=64"},
    {0x329, 0x0403020100000000,
     "HEAVY_OPERATIONS=1 BRANCH_MISPREDICTS=2 FETCH_LATENCY=3 MEMORY_BOUND=4"},
    {0x1b, 0xfee00d00, "base=0xfee00000 BSP EXTD EN"},
    {0x1b, 0, "base=0x0"},
    {0xc0000080, 0xd01, "SCE LME LMA NXE"},
    {0x80f, 0x1ff, "vector=0xff ENABLE"},
    {0x830, 0x200004500ULL, "vector=0x00 INIT assert destination=0x00000002"},
    {0x830, 0xc0831, "vector=0x31 fixed logical all-but-self destination=0x00000000"},
    {0x832, 0x400ef, "vector=0xef unmasked TSC-deadline"},
    {0x832, 0x30000, "vector=0x00 masked periodic"},
    {0x835, 0x8700, "vector=0x00 ExtINT level unmasked"},
    {0x835, 0x6400, "vector=0x00 NMI active-low remote-IRR unmasked"},
    {0x837, 0x100fe, "vector=0xfe masked"},
    {0x837, 0x400, "vector=0x00 unmasked reserved=0x400"},
    {0x834, 0x2400, "vector=0x00 NMI unmasked reserved=0x2000"},
    {0xc1, 12345, ""}, /* a counter has no fields */
    {0x12345, 1, ""},  /* an MSR that nobody knows */
};

static void fields(void **state)
{
    (void)state;
    char text[256];
    for (size_t i = 0; i < sizeof field_cases / sizeof *field_cases; i++) {
        decode_msr_fields(text, sizeof text, field_cases[i].msr, field_cases[i].value, &v4);
        assert_string_equal(text, field_cases[i].text);
    }
}

/* The upper half of IA32_PEBS_ENABLE is another one from version 5 on. */
static void fields_by_version(void **state)
{
    (void)state;
    const struct decode_context v5 = {.version = 5};
    char text[128];
    decode_msr_fields(text, sizeof text, 0x3f1, 1ULL << 34 | 1ULL << 63, &v4);
    assert_string_equal(text, "LL_EN_PMC2 LL_EN_PMC31");
    decode_msr_fields(text, sizeof text, 0x3f1, 1ULL << 34 | 1 << 7, &v5);
    assert_string_equal(text, "PEBS_EN_PMC7 PEBS_EN_FIXED_CTR2");
    decode_msr_fields(text, sizeof text, 0x3f1, 1ULL << 63, &v5);
    assert_string_equal(text, "reserved=0x8000000000000000");
}

/* An event with a name of the model is asked for, an architectural one is not. */
static const char *an_event(const void *arg, uint64_t select)
{
    assert_int_not_equal(select & 0xffff, 0x00c0);
    return (select & 0xffff) == 0x0124 ? arg : NULL;
}

static void event_names(void **state)
{
    (void)state;
    const struct decode_context model = {.version = 4, .event_name = an_event, .arg = "L2.MISS"};
    char text[64];
    decode_msr_fields(text, sizeof text, 0x187, 0x430124, &model);
    assert_string_equal(text, "L2.MISS USR OS EN");
    decode_msr_fields(text, sizeof text, 0x187, 0x430224, &model);
    assert_string_equal(text, "event=0x24 umask=0x02 USR OS EN");
    decode_msr_fields(text, sizeof text, 0x187, 0x4300c0, &model);
    assert_string_equal(text, "INST_RETIRED.ANY_P USR OS EN");
    /* SDM vol. 3 "Pre-defined Architectural Performance Events", in the order of CPUID.0AH:EBX. */
    static const char *const architectural[] = {
        "CPU_CLK_UNHALTED.THREAD_P",     "INST_RETIRED.ANY_P",     "CPU_CLK_UNHALTED.REF_P",
        "LONGEST_LAT_CACHE.REFERENCE",   "LONGEST_LAT_CACHE.MISS", "BR_INST_RETIRED.ALL_BRANCHES",
        "BR_MISP_RETIRED.ALL_BRANCHES",  "TOPDOWN.SLOTS_P",        "TOPDOWN_BE_BOUND.ALL_P",
        "TOPDOWN_BAD_SPECULATION.ALL_P", "TOPDOWN_FE_BOUND.ALL_P", "TOPDOWN_RETIRING.ALL_P",
        "MISC_RETIRED.LBR_INSERTS",
    };
    static const uint16_t codes[] = {0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
                                     0x01a4, 0x02a4, 0x0073, 0x019c, 0x02c2, 0x01e4};
    assert_int_equal(PMU_N_EVENTS, sizeof codes / sizeof *codes);
    for (unsigned i = 0; i < PMU_N_EVENTS; i++) {
        assert_int_equal(pmu_events[i].code, codes[i]);
        assert_string_equal(pmu_events[i].name, architectural[i]);
        assert_string_equal(pmu_event_name(codes[i] | 0x430000, 6), architectural[i]);
    }
    /* A Skylake's event 9CH/01H is another one's name, and 0A4H/01H nobody's. */
    assert_null(pmu_event_name(0x43019c, 5));
    assert_null(pmu_event_name(0x4301a4, 4));
    assert_string_equal(pmu_event_name(0x4300c0, 1), "INST_RETIRED.ANY_P");
    /* SDM vol. 3 "Fixed-Function Performance Counters". */
    assert_string_equal(pmu_fixed_event_name(0), "INST_RETIRED.ANY");
    assert_string_equal(pmu_fixed_event_name(1), "CPU_CLK_UNHALTED.THREAD");
    assert_string_equal(pmu_fixed_event_name(2), "CPU_CLK_UNHALTED.REF_TSC");
    assert_string_equal(pmu_fixed_event_name(3), "TOPDOWN.SLOTS");
    assert_string_equal(pmu_fixed_event_name(4), "TOPDOWN_BAD_SPECULATION.ALL");
    assert_string_equal(pmu_fixed_event_name(5), "TOPDOWN_FE_BOUND.ALL");
    assert_string_equal(pmu_fixed_event_name(6), "TOPDOWN_RETIRING.ALL");
    assert_null(pmu_fixed_event_name(7));
}

/* Every single bit of a register with named fields shows up: as a field's name or as reserved. */
static void no_bit_is_passed_over(void **state)
{
    (void)state;
    const uint32_t registers[] = {0x186, 0x38d, 0x38e,      0x38f,  0x390, 0x391,
                                  0x392, 0x1d9, 0x345,      0x3f1,  0x3f2, 0x1c8,
                                  0xdc0, 0x1b,  0xc0000080, 0x14ce, 0x1200};
    for (size_t r = 0; r < sizeof registers / sizeof *registers; r++) {
        char none[256], one[256];
        decode_msr_fields(none, sizeof none, registers[r], 0, &v4);
        for (unsigned bit = 0; bit < 64; bit++) {
            decode_msr_fields(one, sizeof one, registers[r], 1ULL << bit, &v4);
            if (strcmp(none, one) == 0)
                fail_msg("MSR %x, bit %u: \"%s\"", registers[r], bit, one);
        }
    }
}

static void perf_capabilities(void **state)
{
    (void)state;
    char text[256];
    decode_msr_fields(text, sizeof text, 0x345, 0x31c3, &v4);
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
        {0x0ca, 6, "IA32_PMC9"},
        {0x4c1, 4, "IA32_A_PMC0"},
        {0x4ca, 6, "IA32_A_PMC9"},
        {0x1900, 6, "IA32_PMC_GP0_CTR"},
        {0x1925, 6, "IA32_PMC_GP9_CFG_A"},
        {0x190a, 6, "IA32_PMC_GP2_CFG_B"},
        {0x1907, 6, "IA32_PMC_GP1_CFG_C"},
        {0x1998, 6, "IA32_PMC_FX6_CTR"},
        {0x1982, 6, "IA32_PMC_FX0_CFG_B"},
        {0x1987, 6, "IA32_PMC_FX1_CFG_C"},
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
        {0x040, 2, "MSR_LASTBRANCH_0_FROM_IP"},
        {0x063, 2, "MSR_LASTBRANCH_3_TO_IP"},
        {0xdc0, 4, "MSR_LBR_INFO_0"},
        {0xddf, 4, "MSR_LBR_INFO_31"},
        {0x1dd, 4, "MSR_LER_FROM_LIP"},
        {0x1e0, 5, "IA32_LER_INFO"},
        {0x121f, 5, "IA32_LBR_31_INFO"},
        {0x14cf, 5, "IA32_LBR_DEPTH"},
        {0x1500, 5, "IA32_LBR_0_FROM_IP"},
        {0x161f, 5, "IA32_LBR_31_TO_IP"},
        {0x1a7, 4, "MSR_OFFCORE_RSP_1"},
        {0x329, 5, "MSR_PERF_METRICS"},
        {0x175, 4, "IA32_SYSENTER_ESP"},
        {0x277, 4, "IA32_PAT"},
        {0x17a, 4, "IA32_MCG_STATUS"},
        {0x200, 4, "IA32_MTRR_PHYSBASE0"},
        {0x20f, 4, "IA32_MTRR_PHYSMASK7"},
        {0x212, 4, "IA32_MTRR_PHYSBASE9"},
        {0x259, 4, "IA32_MTRR_FIX16K_A0000"},
        {0x26b, 4, "IA32_MTRR_FIX4K_D8000"},
        {0x26f, 4, "IA32_MTRR_FIX4K_F8000"},
        {0x2ff, 4, "IA32_MTRR_DEF_TYPE"},
        {0x832, 4, "IA32_X2APIC_LVT_TIMER"},
        {0x836, 4, "IA32_X2APIC_LVT_LINT1"},
        {0xc0000082, 4, "IA32_LSTAR"},
        {0xc0000102, 4, "IA32_KERNEL_GS_BASE"},
    };
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct decode_context context = {.version = cases[i].version};
        assert_true(decode_msr_name(text, sizeof text, cases[i].msr, &context));
        assert_string_equal(text, cases[i].name);
    }
    memset(text, 'x', sizeof text);
    assert_false(decode_msr_name(text, sizeof text, 0xdeadbeef, &v4));
    assert_string_equal(text, "");
}

static bool described(const struct decode_register *r, uint32_t msr)
{
    for (uint32_t n = 0; n < r->count; n++)
        if (msr == r->first + n * r->stride)
            return true;
    return false;
}

/* The table of registers: a name each, a number in it where the row has several registers, and in
 * every version one row at most for an MSR. */
static void registers(void **state)
{
    (void)state;
    const struct decode_register *r, *other;
    unsigned rows = 0;
    for (; (r = decode_register(rows)) != NULL; rows++) {
        if (r->vendor == DECODE_INTEL)
            assert_true(strncmp(r->name, "IA32_", 5) == 0 || strncmp(r->name, "MSR_", 4) == 0);
        assert_true(r->count >= 1 && r->stride >= 1);
        assert_int_equal(strstr(r->name, "%u") != NULL, r->count > 1);
        for (unsigned j = 0; j < rows; j++) {
            other = decode_register(j);
            if (r->version_min > other->version_max || other->version_min > r->version_max ||
                r->vendor != other->vendor)
                continue;
            for (uint32_t n = 0; n < r->count; n++)
                if (described(other, r->first + n * r->stride))
                    fail_msg("%s and %s overlap in number %u", r->name, other->name, n);
        }
    }
    assert_true(rows > 60);
    assert_null(decode_register(rows));
}

/* The fields as data: in their places they make up the text, none overlaps another, and each has a
 * name and, for a choice, all of its names. */
static void fields_as_data(void **state)
{
    (void)state;
    struct decode_field f;
    const struct decode_register *r;
    for (unsigned row = 0; (r = decode_register(row)) != NULL; row++) {
        const struct decode_context context = {.vendor = r->vendor, .version = r->version_min};
        uint64_t seen = 0;
        for (unsigned i = 0; decode_msr_field(&f, r->first, i, &context); i++) {
            assert_true(f.bits >= 1 && f.low + f.bits <= 64);
            uint64_t mask = (f.bits == 64 ? 0 : 1ULL << f.bits) - 1;
            assert_int_equal(seen & mask << f.low, 0);
            seen |= mask << f.low;
            assert_true(strlen(f.name) > 0 && strlen(f.name) < sizeof f.name - 1);
            assert_true(strlen(f.group) < sizeof f.group - 1);
            assert_null(strstr(f.name, "%"));
            assert_int_not_equal(f.kind, DECODE_COUNTERS);
            if (f.kind == DECODE_FLAG)
                assert_int_equal(f.bits, 1);
            assert_int_equal(f.kind == DECODE_CHOICE, f.choices != NULL);
            for (unsigned v = 0; f.kind == DECODE_CHOICE && v <= mask; v++)
                assert_non_null(f.choices[v]);
        }
    }
    static const struct {
        uint32_t msr;
        unsigned index;
        struct decode_field field;
    } cases[] = {
        {0x186, 0, {"EVENT", "", DECODE_EVENT, 0, 8, NULL}},
        {0x186, 1, {"UMASK", "", DECODE_UMASK, 8, 8, NULL}},
        {0x186, 10, {"CMASK", "", DECODE_AMOUNT, 24, 8, NULL}},
        {0x38e, 3, {"Ovf_PMC3", "", DECODE_FLAG, 3, 1, NULL}},
        {0x38e, 33, {"Ovf_FIXED_CTR1", "", DECODE_FLAG, 33, 1, NULL}},
        {0x38d, 9, {"PMI", "FIXED_CTR1", DECODE_FLAG, 7, 1, NULL}},
        {0x38d, 10, {"Adaptive_Record", "FIXED_CTR1", DECODE_FLAG, 36, 1, NULL}},
        {0x38d, 14, {"ANY", "FIXED_CTR2", DECODE_FLAG, 10, 1, NULL}},
        {0x38d, 20, {"METRICS_CLEAR_EN", "FIXED_CTR3", DECODE_FLAG, 14, 1, NULL}},
        {0x345, 3, {"PEBS_FMT", "", DECODE_NUMBER, 8, 4, NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(decode_msr_field(&f, cases[i].msr, cases[i].index, &v4));
        assert_string_equal(f.name, cases[i].field.name);
        assert_string_equal(f.group, cases[i].field.group);
        assert_int_equal(f.kind, cases[i].field.kind);
        assert_int_equal(f.low, cases[i].field.low);
        assert_int_equal(f.bits, cases[i].field.bits);
    }
    assert_true(decode_msr_field(&f, 0x834, 1, &v4));
    assert_string_equal(f.choices[4], "NMI");
    assert_false(decode_msr_field(&f, 0xc1, 0, &v4));
    assert_false(decode_msr_field(&f, 0x12345, 0, &v4));
}

#define GLOBAL_STATUS_FIELDS                                                                       \
    "48 OVF_PERF_METRICS, 55 Trace_ToPA_PMI, 58 LBR_FRZ, 59 CTR_FRZ, 60 ASCI, "                    \
    "61 Ovf_Uncore, 62 OvfBuf, 63 CondChgd"

/* Every field of every register but those of single counters, from the manual's figures: in which
 * bits, and its name. */
struct figure {
    uint32_t msr;
    const char *fields;
};

static const struct figure figures[] = {
    {0x1b, "8 BSP, 10 EXTD, 11 EN, 51:12 base"},
    {0x186, "7:0 EVENT, 15:8 UMASK, 16 USR, 17 OS, 18 E, 19 PC, 20 INT, 21 ANY, 22 EN, 23 INV, "
            "31:24 CMASK, 34 Adaptive_Record, 35 EN_LBR_LOG, 36 EQ, 37 RDPMC_USR_DISABLE, "
            "47:40 UMASK2"},
    {0x1a0, "0 FAST_STRINGS, 3 TCC, 7 PMU_AVAILABLE, 11 BTS_UNAVAILABLE, 12 PEBS_UNAVAILABLE, "
            "16 EIST, 18 MONITOR, 22 LIMIT_CPUID_MAXVAL, 23 XTPR_DISABLE, 34 XD_DISABLE, "
            "38 TURBO_DISABLE"},
    {0x1c8, "0 CPL_EQ_0, 1 CPL_NEQ_0, 2 JCC, 3 NEAR_REL_CALL, 4 NEAR_IND_CALL, 5 NEAR_RET, "
            "6 NEAR_IND_JMP, 7 NEAR_REL_JMP, 8 FAR_BRANCH, 9 EN_CALLSTACK"},
    {0x1d9, "0 LBR, 1 BTF, 6 TR, 7 BTS, 8 BTINT, 9 BTS_OFF_OS, 10 BTS_OFF_USR, "
            "11 FREEZE_LBRS_ON_PMI, 12 FREEZE_PERFMON_ON_PMI, 13 ENABLE_UNCORE_PMI, "
            "14 FREEZE_WHILE_SMM, 15 RTM_DEBUG"},
    {0x1e0, "15:0 CYC_CNT, 39:32 PMC_CNT, 59:56 branch type, 60 CYC_CNT_VALID, 61 TSX_ABORT, 62 "
            "IN_TSX, 63 MISPRED"},
    {0x329, "7:0 RETIRING, 15:8 BAD_SPECULATION, 23:16 FRONTEND_BOUND, 31:24 BACKEND_BOUND, "
            "39:32 HEAVY_OPERATIONS, 47:40 BRANCH_MISPREDICTS, 55:48 FETCH_LATENCY, "
            "63:56 MEMORY_BOUND"},
    {0x345,
     "5:0 LBR_FMT, 6 PEBS_TRAP, 7 PEBS_ARCH_REG, 11:8 PEBS_FMT, 12 FREEZE_WHILE_SMM, "
     "13 FW_WRITE, 14 PEBS_BASELINE, 15 PERF_METRICS, 16 PEBS_OUTPUT_PT, 17 PEBS_TIMING_INFO, "
     "19 RDPMC_METRICS_CLEAR"},
    {0x38e, GLOBAL_STATUS_FIELDS},
    {0x38f, "48 EN_PERF_METRICS"},
    {0x390, GLOBAL_STATUS_FIELDS},
    {0x391, GLOBAL_STATUS_FIELDS},
    {0x392, "63 PMI_InUse"},
    {0x3f2, "0 MEMINFO, 1 GPRS, 2 XMMS, 3 LBRS, 4 CNTR, 5 METRICS, 31:24 LBR_ENTRIES-1"},
    {0x80f, "7:0 vector, 8 ENABLE"},
    {0x828, "0 Send_Checksum_Error, 1 Receive_Checksum_Error, 2 Send_Accept_Error, "
            "3 Receive_Accept_Error, 4 Redirectible_IPI, 5 Send_Illegal_Vector, "
            "6 Receive_Illegal_Vector, 7 Illegal_Register_Address"},
    {0x82f, "7:0 vector, 10:8 delivery mode, 12 pending, 16 mask"},
    {0x830, "7:0 vector, 10:8 delivery mode, 11 logical, 12 pending, 14 assert, 15 level, "
            "19:18 shorthand, 63:32 destination"},
    {0x832, "7:0 vector, 12 pending, 16 mask, 18:17 timer mode"},
    {0x833, "7:0 vector, 10:8 delivery mode, 12 pending, 16 mask"},
    {0x834, "7:0 vector, 10:8 delivery mode, 12 pending, 16 mask"},
    {0x835, "7:0 vector, 10:8 delivery mode, 12 pending, 13 active-low, 14 remote-IRR, 15 level, "
            "16 mask"},
    {0x836, "7:0 vector, 10:8 delivery mode, 12 pending, 13 active-low, 14 remote-IRR, 15 level, "
            "16 mask"},
    {0x837, "7:0 vector, 12 pending, 16 mask"},
    {0xdc0, "15:0 CYCLES, 61 TSX_ABORT, 62 IN_TSX, 63 MISPRED"},
    {0x1200, "15:0 CYC_CNT, 39:32 PMC_CNT, 59:56 branch type, 60 CYC_CNT_VALID, 61 TSX_ABORT, 62 "
             "IN_TSX, 63 MISPRED"},
    {0x14ce, "0 LBREn, 1 OS, 2 USR, 3 CALL_STACK, 16 JCC, 17 NEAR_REL_JMP, 18 NEAR_IND_JMP, 19 "
             "NEAR_REL_CALL, "
             "20 NEAR_IND_CALL, 21 NEAR_RET, 22 OTHER_BRANCH"},
    {0x1901, "7:0 EVENT, 15:8 UMASK, 16 USR, 17 OS, 18 E, 19 PC, 20 INT, 21 ANY, 22 EN, 23 INV, "
             "31:24 CMASK, 34 Adaptive_Record, 35 EN_LBR_LOG, 36 EQ, 37 RDPMC_USR_DISABLE, "
             "47:40 UMASK2"},
    {0x1903, "31:0 RELOAD"},
    {0x1983, "31:0 RELOAD"},
    {0xc0000080, "0 SCE, 8 LME, 10 LMA, 11 NXE"},
};

static int by_place(const void *a, const void *b)
{
    return (int)((const struct decode_field *)a)->low - (int)((const struct decode_field *)b)->low;
}

/* "EN_PMC2", but not "RDPMC_METRICS_CLEAR". */
static bool of_a_counter(const char *name)
{
    const char *pmc = strstr(name, "PMC");
    return strstr(name, "FIXED_CTR") != NULL || (pmc != NULL && pmc[3] >= '0' && pmc[3] <= '9');
}

/* The fields of a register in the form of the table above. */
static const char *figure_of(uint32_t msr, const struct decode_context *context)
{
    static char text[1024];
    struct decode_field all[64];
    size_t n = 0, used = 0;
    for (unsigned i = 0; n < 64 && decode_msr_field(&all[n], msr, i, context); i++)
        if (!of_a_counter(all[n].name) && all[n].group[0] == '\0')
            n++;
    qsort(all, n, sizeof all[0], by_place);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        unsigned low = all[i].low, high = low + all[i].bits - 1;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i ? ", " : "", high);
        if (high != low)
            used += (size_t)snprintf(text + used, sizeof text - used, ":%u", low);
        used += (size_t)snprintf(text + used, sizeof text - used, " %s", all[i].name);
    }
    return text;
}

/* AMD's: APM vol. 2, figures "Performance Event-Select Register (PerfEvtSeln)" and of the four
 * PerfCntrGlobal registers, "Debug Control MSR", "Last Branch Stack", "IBS Fetch Control", "IBS
 * Execution Control" and the registers behind it; the PPRs' names of bits. */
#define PERF_CTL_FIELDS                                                                            \
    "7:0 EVENT, 15:8 UMASK, 16 USR, 17 OS, 18 EDGE, 20 INT, 22 EN, 23 INV, 31:24 CNT_MASK, "       \
    "35:32 EVENT_HIGH, 40 GuestOnly, 41 HostOnly, 43 PREC_RET"
#define CNTR_GLOBAL_STATUS_FIELDS                                                                  \
    "0 CNT_OF_0, 1 CNT_OF_1, 2 CNT_OF_2, 3 CNT_OF_3, 4 CNT_OF_4, 5 CNT_OF_5, 58 LBRSF, 59 PMCF"

static const struct figure amd_figures[] = {
    {0x1d9, "0 LBR, 1 BTF, 2 BUS_LOCK_DETECT, 11 FLBRI, 12 FPMCI"},
    {0xc000010e, "0 CPL_EQ_0, 1 CPL_NEQ_0, 2 JCC, 3 NEAR_REL_CALL, 4 NEAR_IND_CALL, 5 NEAR_RET, "
                 "6 NEAR_IND_JMP, 7 NEAR_REL_JMP, 8 FAR_BRANCH"},
    {0xc000010f, "6 LBRSE"},
    {0xc0000300, CNTR_GLOBAL_STATUS_FIELDS},
    {0xc0000301, "0 PERF_CNT_EN_0, 1 PERF_CNT_EN_1, 2 PERF_CNT_EN_2, 3 PERF_CNT_EN_3, "
                 "4 PERF_CNT_EN_4, 5 PERF_CNT_EN_5"},
    {0xc0000302, CNTR_GLOBAL_STATUS_FIELDS},
    {0xc0000303, CNTR_GLOBAL_STATUS_FIELDS},
    {0xc0010000, PERF_CTL_FIELDS},
    {0xc0010015, "30 IRPerfEn"},
    {0xc0010200, PERF_CTL_FIELDS},
    {0xc0010300, "56:0 ip, 63 MISPREDICT"},
    {0xc0010301, "56:0 ip, 62 SPEC, 63 VALID"},
    {0xc0011030, "15:0 IbsFetchMaxCnt, 31:16 IbsFetchCnt, 47:32 IbsFetchLat, 48 IbsFetchEn, "
                 "49 IbsFetchVal, 50 IbsFetchComp, 51 IbsIcMiss, 52 IbsPhyAddrValid, "
                 "54:53 IbsL1TlbPgSz, 55 IbsL1TlbMiss, 56 IbsL2TlbMiss, 57 IbsRandEn, "
                 "58 IbsFetchL2Miss, 59 IbsFetchL3MissOnly, 60 IbsFetchOcMiss, 61 IbsFetchL3Miss"},
    {0xc0011033, "15:0 IbsOpMaxCnt, 16 IbsOpL3MissOnly, 17 IbsOpEn, 18 IbsOpVal, 19 IbsOpCntCtl, "
                 "26:20 IbsOpMaxCntExt, 58:32 IbsOpCurCnt"},
    {0xc0011035, "15:0 IbsCompToRetCtr, 31:16 IbsTagToRetCtr, 34 IbsOpReturn, 35 IbsOpBrnTaken, "
                 "36 IbsOpBrnMisp, 37 IbsOpBrnRet, 38 IbsRipInvalid, 39 IbsOpBrnFuse, "
                 "40 IbsOpMicrocode"},
    {0xc0011036, "2:0 DataSrcLo, 4 RmtNode, 5 CacheHitSt, 7:6 DataSrcHi"},
    {0xc0011037, "0 IbsLdOp, 1 IbsStOp, 2 IbsDcL1TlbMiss, 3 IbsDcL2TlbMiss, 7 IbsDcMiss, "
                 "8 IbsDcMisAcc, 15 IbsDcLockedOp, 17 IbsDcLinAddrValid, 18 IbsDcPhyAddrValid, "
                 "20 IbsL2Miss, 21 IbsSwPf, 25:22 IbsOpMemWidth, 47:32 IbsDcMissLat"},
    {0xc001103a, "3:0 LvtOffset, 8 LvtOffsetVal"},
};

static void amds_figures(void **state)
{
    (void)state;
    const struct decode_context amd = {.vendor = DECODE_AMD};
    const struct decode_register *r;
    for (size_t i = 0; i < sizeof amd_figures / sizeof *amd_figures; i++)
        assert_string_equal(figure_of(amd_figures[i].msr, &amd), amd_figures[i].fields);
    for (unsigned row = 0; (r = decode_register(row)) != NULL; row++) {
        bool there = r->layout == NULL || r->vendor != DECODE_AMD;
        for (size_t i = 0; i < sizeof amd_figures / sizeof *amd_figures; i++)
            there = there || amd_figures[i].msr == r->first;
        if (!there)
            fail_msg("%s is not among AMD's figures", r->name);
    }
}

/* What is AMD's alone has a name only there; what has a number of Intel's has each side's. */
static void amds_names(void **state)
{
    (void)state;
    static const struct {
        uint32_t msr;
        const char *intel, *amd;
    } cases[] = {
        {0x1d9, "IA32_DEBUGCTL", "DebugCtl"},
        {0x1db, "", "LastBranchFromIP"},
        {0x1dd, "MSR_LER_FROM_LIP", "LastIntFromIP"},
        {0x1de, "MSR_LER_TO_LIP", "LastIntToIP"},
        {0xc00000e9, "", "IRPerfCount"},
        {0xc0000303, "", "PerfCntrGlobalStatusSet"},
        {0xc0010003, "", "PerfEvtSel3"},
        {0xc0010004, "", "PerfCtr0"},
        {0xc0010200, "", "PERF_CTL0"},
        {0xc001020a, "", "PERF_CTL5"},
        {0xc001020b, "", "PERF_CTR5"},
        {0xc001020c, "", ""},
        {0xc001031f, "", "LastBranchStackToIp15"},
        {0x277, "IA32_PAT", "IA32_PAT"},
    };
    const struct decode_context amd = {.vendor = DECODE_AMD};
    char text[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        decode_msr_name(text, sizeof text, cases[i].msr, &v4);
        assert_string_equal(text, cases[i].intel);
        decode_msr_name(text, sizeof text, cases[i].msr, &amd);
        assert_string_equal(text, cases[i].amd);
    }
}

static void amds_events(void **state)
{
    (void)state;
    const struct decode_context amd = {.vendor = DECODE_AMD};
    char text[256];
    decode_msr_fields(text, sizeof text, 0xc0010200, 0x530076, &amd);
    assert_string_equal(text, "CYCLES_NOT_IN_HALT USR OS INT EN");
    decode_msr_fields(text, sizeof text, 0xc0010202, 0x1200028400c0, &amd);
    assert_string_equal(
        text, "RETIRED_INSTRUCTIONS EDGE INV CNT_MASK=2 HostOnly reserved=0x100000000000");
    /* Twelve bits: 1C0H is not C0H. */
    decode_msr_fields(text, sizeof text, 0xc0010200, 0x1004340c0, &amd);
    assert_string_equal(text, "event=0x1c0 umask=0x40 USR OS EN");
    /* C4H is no event of all branches there, and 3CH none of cycles. */
    decode_msr_fields(text, sizeof text, 0xc0010200, 0x4300c4, &amd);
    assert_string_equal(text, "RETIRED_TAKEN_BRANCHES USR OS EN");
    decode_msr_fields(text, sizeof text, 0xc0010200, 0x43003c, &amd);
    assert_string_equal(text, "event=0x3c umask=0x00 USR OS EN");
}

static void the_manuals_figures(void **state)
{
    (void)state;
    const struct decode_register *r;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        assert_string_equal(figure_of(figures[i].msr, &v4), figures[i].fields);
    for (unsigned row = 0; (r = decode_register(row)) != NULL; row++) {
        if (r->vendor == DECODE_AMD)
            continue;
        bool there = figure_of(r->first, &v4)[0] == '\0';
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            there = there || figures[i].msr == r->first;
        if (!there && r->layout != NULL)
            fail_msg("%s is not among the figures", r->name);
    }
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
            decode_msr_name(text, size, msr, &v4);
            assert_true(strlen(text) < size);
            decode_msr_fields(text, size, msr, UINT64_MAX, &v4);
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
        cmocka_unit_test(fields_by_version),
        cmocka_unit_test(event_names),
        cmocka_unit_test(registers),
        cmocka_unit_test(fields_as_data),
        cmocka_unit_test(no_bit_is_passed_over),
        cmocka_unit_test(perf_capabilities),
        cmocka_unit_test(names),
        cmocka_unit_test(the_manuals_figures),
        cmocka_unit_test(amds_figures),
        cmocka_unit_test(amds_names),
        cmocka_unit_test(amds_events),
        cmocka_unit_test(lvt_entries),
        cmocka_unit_test(addresses_as_the_manual_writes_them),
        cmocka_unit_test(small_buffers),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
