/*
 * PEBS records of every format, and the tables of precise events. Offsets are those of the SDM's
 * tables (vol. 3 "PEBS Record Format" by generation), by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/pebs.h"
#include "x86/pmu.h"

static uint64_t raw[64];

/* Quadword n holds n + 1, so that a field tells where it was read. */
static void fill(void)
{
    for (unsigned n = 0; n < 64; n++)
        raw[n] = n + 1;
}

struct place {
    enum pebs_field field;
    unsigned offset;
};

static const struct place places[] = {
    {PEBS_RFLAGS, 0x00},  {PEBS_RIP, 0x08},          {PEBS_RAX, 0x10},
    {PEBS_RBX, 0x18},     {PEBS_RCX, 0x20},          {PEBS_RDX, 0x28},
    {PEBS_RSI, 0x30},     {PEBS_RDI, 0x38},          {PEBS_RBP, 0x40},
    {PEBS_RSP, 0x48},     {PEBS_R8, 0x50},           {PEBS_R15, 0x88},
    {PEBS_STATUS, 0x90},  {PEBS_DATA_ADDRESS, 0x98}, {PEBS_DATA_SOURCE, 0xa0},
    {PEBS_LATENCY, 0xa8}, {PEBS_EVENTING_IP, 0xb0},  {PEBS_TX, 0xb8},
    {PEBS_TSC, 0xc0},
};

static void fixed_formats(void **state)
{
    (void)state;
    static const unsigned sizes[] = {144, 176, 192, 200};
    fill();
    for (unsigned format = 0; format < 4; format++) {
        struct pebs_record r;
        assert_int_equal(pebs_format_size(format, 0), sizes[format]);
        assert_int_equal(pebs_decode(format, raw, sizes[format], &r), sizes[format]);
        for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
            bool inside = places[i].offset < sizes[format];
            assert_int_equal(pebs_has(&r, places[i].field), inside);
            assert_int_equal(r.value[places[i].field], inside ? places[i].offset / 8 + 1 : 0);
        }
        assert_int_equal(pebs_decode(format, raw, sizes[format] - 1, &r), 0);
    }
}

static void unknown_format(void **state)
{
    (void)state;
    struct pebs_record r;
    for (unsigned format = 7; format < 16; format++) {
        assert_int_equal(pebs_format_size(format, 0), 0);
        assert_int_equal(pebs_decode(format, raw, sizeof raw, &r), 0);
    }
}

static void adaptive(void **state)
{
    (void)state;
    struct pebs_record r;
    fill();
    assert_int_equal(pebs_format_size(4, 0), 32);
    raw[0] = 32ULL << 48;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 32);
    assert_int_equal(r.value[PEBS_EVENTING_IP], 2);
    assert_int_equal(r.value[PEBS_STATUS], 3);
    assert_int_equal(r.value[PEBS_TSC], 4);
    assert_false(pebs_has(&r, PEBS_RIP));
    assert_false(pebs_has(&r, PEBS_LATENCY));

    assert_int_equal(pebs_format_size(4, PEBS_DATA_CFG_GPRS), 32 + 144);
    raw[0] = (32ULL + 144) << 48 | PEBS_DATA_CFG_GPRS;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 32 + 144);
    assert_int_equal(r.value[PEBS_RFLAGS], 5);
    assert_int_equal(r.value[PEBS_RIP], 6);
    assert_int_equal(r.value[PEBS_RAX], 7);
    assert_int_equal(r.value[PEBS_RCX], 8);
    assert_int_equal(r.value[PEBS_RDX], 9);
    assert_int_equal(r.value[PEBS_RBX], 10);
    assert_int_equal(r.value[PEBS_RSP], 11);
    assert_int_equal(r.value[PEBS_RBP], 12);
    assert_int_equal(r.value[PEBS_RSI], 13);
    assert_int_equal(r.value[PEBS_RDI], 14);
    assert_int_equal(r.value[PEBS_R8], 15);
    assert_int_equal(r.value[PEBS_R15], 22);

    assert_int_equal(pebs_format_size(4, PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS),
                     32 + 32 + 144);
    raw[0] = (32ULL + 32 + 144) << 48 | PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 32 + 32 + 144);
    assert_int_equal(r.value[PEBS_DATA_ADDRESS], 5);
    assert_int_equal(r.value[PEBS_DATA_SOURCE], 6);
    assert_int_equal(r.value[PEBS_LATENCY], 7);
    assert_int_equal(r.value[PEBS_RFLAGS], 9);

    /* What is no group of fields stays where it is. */
    raw[0] = (32ULL + 256) << 48 | PEBS_DATA_CFG_XMMS;
    assert_int_equal(pebs_format_size(4, PEBS_DATA_CFG_XMMS), 32 + 256);
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 32 + 256);
    assert_int_equal(r.size, 32 + 256);
    assert_int_equal(r.groups, PEBS_DATA_CFG_XMMS);
    assert_ptr_equal(r.xmms, &raw[4]);
    assert_null(r.branches);
    assert_null(r.counters);
}

/* Branch records behind registers, newest first: LBR Entries is one less than there are. */
static void branches(void **state)
{
    (void)state;
    uint64_t cfg = PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_LBRS | 1ULL << PEBS_DATA_CFG_LBR_SHIFT;
    struct pebs_record r;
    struct pebs_branch b;
    fill();
    assert_int_equal(pebs_format_size(4, cfg), 32 + 144 + 48);
    raw[0] = (32ULL + 144 + 48) << 48 | cfg;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 32 + 144 + 48);
    assert_int_equal(r.n_branches, 2);
    assert_true(pebs_branch(&r, 0, &b));
    assert_int_equal(b.from, 23);
    assert_int_equal(b.to, 24);
    assert_int_equal(b.info, 25);
    assert_true(pebs_branch(&r, 1, &b));
    assert_int_equal(b.from, 26);
    assert_false(pebs_branch(&r, 2, &b));
    assert_int_equal(pebs_format_size(4, 0xffULL << PEBS_DATA_CFG_LBR_SHIFT | PEBS_DATA_CFG_LBRS),
                     32 + 256 * 24);
}

/* The counters' group of format 6 says itself what it has: here PMC1, PMC3, FIXED_CTR2, and the
 * slots with their metrics. */
static void counters(void **state)
{
    (void)state;
    uint64_t cfg =
        PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS | (0xaULL << 32 | 0x4ULL << 48); /* as asked */
    struct pebs_record r;
    uint64_t value = 0;
    fill();
    assert_int_equal(pebs_format_size(6, cfg), 32 + 16 + 3 * 8 + 16);
    raw[0] = (32ULL + 16 + 3 * 8 + 16) << 48 | PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS;
    raw[4] = 0xaULL | 0x4ULL << 32;
    raw[5] = 3;
    assert_int_equal(pebs_decode(6, raw, sizeof raw, &r), 32 + 16 + 3 * 8 + 16);
    assert_true(pebs_counter_value(&r, 1, &value));
    assert_int_equal(value, 7);
    assert_true(pebs_counter_value(&r, 3, &value));
    assert_int_equal(value, 8);
    assert_true(pebs_counter_value(&r, 32 + 2, &value));
    assert_int_equal(value, 9);
    assert_false(pebs_counter_value(&r, 0, &value));
    assert_false(pebs_counter_value(&r, 32, &value));
    raw[5] = 3;
    raw[4] |= 1; /* one more than there is room for */
    assert_int_equal(pebs_decode(6, raw, sizeof raw, &r), 0);
}

/* A record that is cut, or says of itself what cannot be. */
static void malformed(void **state)
{
    (void)state;
    struct pebs_record r;
    raw[0] = (32ULL + 144) << 48 | PEBS_DATA_CFG_GPRS;
    assert_int_equal(pebs_decode(4, raw, 32 + 143, &r), 0);
    raw[0] = 32ULL << 48 | PEBS_DATA_CFG_GPRS;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 0);
    raw[0] = 0;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 0);
    assert_int_equal(pebs_decode(4, raw, 31, &r), 0);
}

static void events(void **state)
{
    (void)state;
    static const struct {
        unsigned model;
        uint16_t loads, latency;
        uint32_t loads_on, latency_on;
        uint16_t aux;
        bool atom;
    } models[] = {
        {0x17, 0x00c0, 0, 0x1, 0, 0, false},        /* Penryn */
        {0x25, 0x010b, 0x100b, 0xf, 0xf, 0, false}, /* Westmere */
        {0x2a, 0x81d0, 0x01cd, 0xf, 0x8, 0, false}, /* Sandy Bridge: PMC3 alone */
        {0x3c, 0x81d0, 0x01cd, 0xf, 0xf, 0, false}, /* Haswell */
        {0x5e, 0x81d0, 0x01cd, 0xf, 0xf, 0, false}, /* Skylake */
        {0x7e, 0x81d0, 0x01cd, 0xf, 0xf, 0, false}, /* Ice Lake */
        /* perfmon's lists, PEBScounters; Linux: the auxiliary event on Golden Cove alone */
        {0x8f, 0x81d0, 0x01cd, 0xf, 0xfe, 0x8203, false}, /* Sapphire Rapids */
        {0x97, 0x81d0, 0x01cd, 0xf, 0xfe, 0x8203, false}, /* Alder Lake P */
        {0x97, 0x81d0, 0x05d0, 0x3f, 0x3, 0, true},       /* and E */
        {0xbe, 0x81d0, 0x05d0, 0x3f, 0x3, 0, true},       /* Alder Lake N */
        {0xbe, 0x81d0, 0x05d0, 0x3f, 0x3, 0, false},      /* that does not say it */
        {0xad, 0x81d0, 0x01cd, 0xf, 0xfe, 0, false},      /* Granite Rapids */
        {0xaf, 0x81d0, 0x05d0, 0xff, 0x3, 0, true},       /* Sierra Forest */
        {0xbd, 0x81d0, 0x01cd, 0xf, 0x3fc, 0, false},     /* Lunar Lake P */
        {0xbd, 0x81d0, 0x05d0, 0xff, 0x3, 0, true},       /* and E */
        {0x5c, 0x81d0, 0, 0x1, 0, 0, false},              /* Goldmont: PMC0 alone */
        {0x7a, 0x81d0, 0, 0xf, 0, 0, false},              /* Goldmont Plus */
        {0x96, 0x81d0, 0, 0xf, 0, 0, false},              /* Elkhart Lake */
        {0x1c, 0x00c0, 0, 0x1, 0, 0, false},              /* the first Atoms */
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++) {
        const struct pebs_generation *g = pebs_find_generation(6, models[i].model, models[i].atom);
        assert_non_null(g);
        assert_int_equal(g->loads.code, models[i].loads);
        assert_int_equal(g->loads.counters, models[i].loads_on);
        assert_int_equal(g->latency.code, models[i].latency);
        assert_int_equal(g->latency.counters, models[i].latency_on);
        assert_int_equal(g->latency_aux, models[i].aux);
        assert_int_equal(g->latency.name != NULL, models[i].latency != 0);
        assert_false(g->latency_aux != 0 && (g->latency.counters & 1)); /* which has PMC0 */
    }
    /* INST_RETIRED: where it is precise, and which counter has a precise distribution. */
    static const struct {
        unsigned model;
        uint16_t code;
        uint32_t on;
        uint64_t distribution;
        bool atom;
    } instructions[] = {
        {0x17, 0x00c0, 0x1, 0, false},           /* Penryn */
        {0x25, 0x00c0, 0xf, 0, false},           /* Westmere */
        {0x2a, 0x01c0, 0x2, 0x2, false},         /* Sandy Bridge: PREC_DIST on PMC1 */
        {0x5e, 0x01c0, 0x2, 0x2, false},         /* Skylake */
        {0x7e, 0x00c0, 0xff, 1ULL << 32, false}, /* Ice Lake: FIXED_CTR0 */
        {0x8f, 0x00c0, 0xfe, 1ULL << 32, false}, /* Sapphire Rapids */
        {0x5c, 0x00c0, 0x1, 0, false},           /* Goldmont */
        {0x97, 0x00c0, 0x3f, 1ULL << 32, true},  /* Alder Lake E */
    };
    for (unsigned i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        const struct pebs_generation *g =
            pebs_find_generation(6, instructions[i].model, instructions[i].atom);
        assert_int_equal(g->instructions.code, instructions[i].code);
        assert_int_equal(g->instructions.counters, instructions[i].on);
        assert_int_equal(g->distribution, instructions[i].distribution);
    }
    assert_null(pebs_find_generation(6, 0x8f, true)); /* it has no small cores */
    assert_null(pebs_find_generation(15, 0x25, false));
    assert_null(pebs_find_generation(6, 0, false));
    assert_null(pebs_find_generation(6, 0xff, true));
}

static void levels(void **state)
{
    (void)state;
    enum { L1 = PEBS_L1, L2 = PEBS_L2, L3 = PEBS_LLC, MM = PEBS_MEMORY, XX = PEBS_OTHER };
    static const struct {
        enum pebs_sources sources;
        uint8_t level[0x20], above; /* of codes 0 to 1FH; bits above the code change nothing */
    } tables[] = {
        {PEBS_SOURCES_CORE,
         {MM, L1, XX, L2, L3, L3, L3, L3, MM, MM, MM, MM, MM, MM, XX, XX,
          MM, L1, XX, L2, L3, L3, L3, L3, MM, MM, MM, MM, MM, MM, XX, XX},
         4},
        {PEBS_SOURCES_ATOM,
         {MM, L1, XX, L2, L3, L3, L3, L3, L3, MM, MM, MM, MM, MM, XX, XX,
          MM, L1, XX, L2, L3, L3, L3, L3, L3, MM, MM, MM, MM, MM, XX, XX},
         4},
        {PEBS_SOURCES_LION_COVE,
         {MM, L1, L1, XX, XX, L2, XX, XX, L3, XX, XX, XX, L3, L3, XX, MM,
          MM, MM, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX, XX},
         8},
    };
    for (unsigned i = 0; i < sizeof tables / sizeof *tables; i++)
        for (unsigned code = 0; code < 0x20; code++) {
            enum pebs_sources sources = tables[i].sources;
            assert_int_equal(pebs_level_of(sources, code), tables[i].level[code]);
            assert_int_equal(pebs_level_of(sources, ~0ULL << tables[i].above | code),
                             tables[i].level[code]);
        }
    assert_int_equal(pebs_level_of(PEBS_SOURCES_LION_COVE, 0xff), PEBS_OTHER);
}

/* Formats 5 and 6: two latencies in one quadword, and the retire latency in the header. */
static void latencies(void **state)
{
    (void)state;
    struct pebs_record r;
    for (unsigned format = 4; format <= 6; format++) {
        uint64_t cfg = PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS;
        fill();
        assert_int_equal(pebs_format_size(format, cfg), 32 + 32 + 144);
        raw[0] = (32ULL + 32 + 144) << 48 | 0x1234ULL << 32 | cfg;
        raw[6] = 0xffff0123ffff0456;
        assert_int_equal(pebs_decode(format, raw, sizeof raw, &r), 32 + 32 + 144);
        assert_int_equal(r.value[PEBS_DATA_ADDRESS], 5);
        assert_int_equal(r.value[PEBS_DATA_SOURCE], 6);
        assert_int_equal(r.value[PEBS_TX], 8);
        assert_int_equal(r.value[PEBS_RFLAGS], 9);
        assert_int_equal(r.value[PEBS_R15], 26);
        assert_int_equal(r.value[PEBS_LATENCY], format == 4 ? raw[6] : 0x456);
        assert_int_equal(pebs_has(&r, PEBS_CACHE_LATENCY), format != 4);
        assert_int_equal(r.value[PEBS_CACHE_LATENCY], format == 4 ? 0 : 0x123);
        assert_int_equal(pebs_has(&r, PEBS_RETIRE_LATENCY), format != 4);
        assert_int_equal(r.value[PEBS_RETIRE_LATENCY], format == 4 ? 0 : 0x1234);
        /* Without the memory group there is a retire latency alone. */
        raw[0] = 32ULL << 48;
        assert_int_equal(pebs_decode(format, raw, sizeof raw, &r), 32);
        assert_false(pebs_has(&r, PEBS_LATENCY) || pebs_has(&r, PEBS_CACHE_LATENCY));
        assert_int_equal(pebs_has(&r, PEBS_RETIRE_LATENCY), format != 4);
    }
    /* A group of counters, as format 6 can have behind all others. */
    fill();
    raw[0] = (32ULL + 144 + 24) << 48 | PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_CNTR;
    raw[22] = 1;
    raw[23] = 0;
    assert_int_equal(pebs_decode(6, raw, sizeof raw, &r), 32 + 144 + 24);
    assert_int_equal(r.value[PEBS_R15], 22);
}

/* Quadwords behind the 40H bytes of the two buffers' pointers. */
static void reset_values(void **state)
{
    (void)state;
    for (unsigned format = 0; format <= 6; format++) {
        assert_int_equal(pebs_reset_index(format, 0), 0);
        assert_int_equal(pebs_reset_index(format, 7), 7);
        assert_int_equal(0x40 + 8 * pebs_reset_index(format, 32), format < 5 ? 0x80 : 0x140);
        assert_int_equal(0x40 + 8 * pebs_reset_index(format, 35), format < 5 ? 0x98 : 0x158);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_formats), cmocka_unit_test(unknown_format),
        cmocka_unit_test(adaptive),      cmocka_unit_test(branches),
        cmocka_unit_test(counters),      cmocka_unit_test(malformed),
        cmocka_unit_test(events),        cmocka_unit_test(levels),
        cmocka_unit_test(latencies),     cmocka_unit_test(reset_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
