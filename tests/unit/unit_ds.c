/*
 * The debug store's layout, and every rule of the manual that a plan may break. SDM vol. 3 "BTS and
 * DS Save Area", "Setting Up the DS Save Area", "Setting Up the BTS Buffer".
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/ds.h"

#define AREA    0x200000
#define BTS     0x201000
#define PEBS    0x203000
#define UNUSED  0x300000 /* a page that is not mapped */
#define CODE    0x100000
#define RECORD  24
#define SAMPLE  176
#define NO_ROOM 0xfffffffffffff000ULL

static bool writable(uint64_t page)
{
    assert_int_equal(page % 4096, 0);
    return page != UNUSED;
}

static struct ds_plan good_plan(void)
{
    return (struct ds_plan){
        .area = AREA,
        .bts = {BTS, 0x2000, RECORD, 100, 80},
        .pebs = {PEBS, 0x1000, SAMPLE, 20, 1},
        .code_start = CODE,
        .code_end = CODE + 0x10001, /* one byte in its last page */
        .writable = writable,
    };
}

static void lays_out(void **state)
{
    (void)state;
    struct ds_plan plan = good_plan();
    struct ds_area area;
    char why[DS_REASON];
    memset(&area, 0xff, sizeof area);
    assert_true(ds_lay_out(&plan, &area, why));
    assert_int_equal(area.bts.base, BTS);
    assert_int_equal(area.bts.index, BTS);
    assert_int_equal(area.bts.maximum, BTS + 100 * RECORD);
    assert_int_equal(area.bts.threshold, BTS + 80 * RECORD);
    assert_int_equal(area.pebs.base, PEBS);
    assert_int_equal(area.pebs.index, PEBS);
    assert_int_equal(area.pebs.maximum, PEBS + 20 * SAMPLE);
    assert_int_equal(area.pebs.threshold, PEBS + SAMPLE);
    for (unsigned i = 0; i < DS_RESETS; i++)
        assert_int_equal(area.reset[i], 0);
    /* The offsets that the processor knows. */
    assert_int_equal(offsetof(struct ds_area, pebs), 0x20);
    assert_int_equal(offsetof(struct ds_area, reset), 0x40);
    assert_int_equal(offsetof(struct ds_area, reset[DS_RESETS]), 0x1c0); /* 32 and 16 of them */
}

static void keeps_interrupts_off(void **state)
{
    (void)state;
    struct ds_plan plan = good_plan();
    struct ds_area area;
    char why[DS_REASON];
    plan.bts.threshold = DS_CIRCULAR;
    plan.pebs.records = 0; /* and no PEBS buffer at all */
    assert_true(ds_lay_out(&plan, &area, why));
    assert_true(area.bts.threshold > area.bts.maximum);
    assert_int_equal(area.pebs.base, 0);
    assert_int_equal(area.pebs.maximum, 0);
}

struct refusal {
    const char *what; /* a word of the reason */
    struct ds_plan plan;
};

static void refuses(void **state)
{
    (void)state;
#define BUT(field, value)                                                                          \
    ({                                                                                             \
        struct ds_plan p = good_plan();                                                            \
        p.field = (value);                                                                         \
        p;                                                                                         \
    })
    const struct refusal cases[] = {
        {"management area at 0x200008 is not aligned", BUT(area, AREA + 8)},
        {"BTS buffer at 0x201004 is not aligned", BUT(bts.base, BTS + 4)},
        {"PEBS buffer at 0x203020 is not aligned", BUT(pebs.base, PEBS + 32)},
        {"have no size", BUT(bts.record, 0)},
        {"342 records of 24 bytes do not fit into 8192 bytes", BUT(bts.records, 342)},
        {"4294967295 records", BUT(pebs.records, UINT32_MAX)},
        {"threshold of 101 records lies past its 100", BUT(bts.threshold, 101)},
        {"threshold of 21 records lies past its 20", BUT(pebs.threshold, 21)},
        {"overlaps the management area", BUT(bts.base, AREA + 0x80)},
        {"overlaps the BTS buffer", BUT(pebs.base, BTS + 0x80)},
        {"runs past the end", BUT(bts.base, NO_ROOM + 0xf00)},
        {"0x800000000000 is not canonical", BUT(area, 0x800000000000ULL)},
        {"0x7fffffffff80 is not canonical", BUT(bts.base, 0x7fffffffff80ULL)},
        {"0xffff7fffffffff80 is not canonical", BUT(bts.base, 0xffff7fffffffff80ULL)},
        {"shares the page 0x110000 with code", BUT(area, CODE + 0x10800)},
        {"shares the page 0x100000 with code", BUT(pebs.base, CODE - 0x40)},
        {"page 0x300000, which is not mapped", BUT(area, UNUSED + 0x40)},
        {"page 0x300000, which is not mapped", BUT(bts.base, UNUSED - 0x40)},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ds_area area;
        char why[DS_REASON] = "";
        memset(&area, 0x5a, sizeof area);
        struct ds_area before = area;
        assert_false(ds_lay_out(&cases[i].plan, &area, why));
        if (!strstr(why, cases[i].what))
            fail_msg("\"%s\" does not say \"%s\"", why, cases[i].what);
        assert_memory_equal(&area, &before, sizeof area);
    }
}

/* The first and last page that may be used. */
static void takes_the_edges(void **state)
{
    (void)state;
    const struct ds_plan plans[] = {
        BUT(bts.base, CODE + 0x11000),
        BUT(bts.base, UNUSED + 0x1000),
        BUT(bts.base, 0xffff800000000000ULL),
        BUT(bts.records, 341), /* 8184 of 8192 bytes */
        BUT(bts.threshold, 100),
    };
    for (unsigned i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct ds_area area;
        char why[DS_REASON] = "";
        if (!ds_lay_out(&plans[i], &area, why))
            fail_msg("plan %u: %s", i, why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lays_out),
        cmocka_unit_test(keeps_interrupts_off),
        cmocka_unit_test(refuses),
        cmocka_unit_test(takes_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
