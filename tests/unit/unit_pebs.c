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
    assert_int_equal(pebs_format_size(5, 0), 0);
    assert_int_equal(pebs_decode(5, raw, sizeof raw, &r), 0);
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

    /* Groups that we do not read are skipped by the size. */
    raw[0] = (32ULL + 256) << 48 | PEBS_DATA_CFG_XMMS;
    assert_int_equal(pebs_decode(4, raw, sizeof raw, &r), 32 + 256);
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
    } models[] = {
        {0x17, 0x00c0, 0, 0x1, 0},        /* Penryn */
        {0x25, 0x010b, 0x100b, 0xf, 0xf}, /* Westmere */
        {0x2a, 0x81d0, 0x01cd, 0xf, 0x8}, /* Sandy Bridge: PMC3 alone */
        {0x3c, 0x81d0, 0x01cd, 0xf, 0xf}, /* Haswell */
        {0x5e, 0x81d0, 0x01cd, 0xf, 0xf}, /* Skylake */
        {0x7e, 0x81d0, 0x01cd, 0xf, 0xf}, /* Ice Lake */
    };
    for (unsigned i = 0; i < sizeof models / sizeof *models; i++) {
        const struct pebs_generation *g = pebs_find_generation(6, models[i].model);
        assert_non_null(g);
        assert_int_equal(g->loads.code, models[i].loads);
        assert_int_equal(g->loads.counters, models[i].loads_on);
        assert_int_equal(g->latency.code, models[i].latency);
        assert_int_equal(g->latency.counters, models[i].latency_on);
    }
    assert_null(pebs_find_generation(15, 0x25));
    assert_null(pebs_find_generation(6, 0));
    assert_null(pebs_find_generation(6, 0xff));
}

static void levels(void **state)
{
    (void)state;
    assert_int_equal(pebs_level_of(0x01), PEBS_L1);
    assert_int_equal(pebs_level_of(0x02), PEBS_OTHER);
    assert_int_equal(pebs_level_of(0x03), PEBS_L2);
    assert_int_equal(pebs_level_of(0x04), PEBS_LLC);
    assert_int_equal(pebs_level_of(0x0c), PEBS_MEMORY);
    assert_int_equal(pebs_level_of(0x1c), PEBS_MEMORY); /* bit 4: the second-level TLB missed */
    assert_int_equal(pebs_level_of(0x0f), PEBS_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_formats), cmocka_unit_test(unknown_format),
        cmocka_unit_test(adaptive),      cmocka_unit_test(malformed),
        cmocka_unit_test(events),        cmocka_unit_test(levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
