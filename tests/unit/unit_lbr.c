/* The formats of a last branch record. The register values are made by hand from the SDM's tables
 * (vol. 3 "LBR Stack and Intel 64 Processors", MSR_LASTBRANCH_x_FROM_IP, MSR_LBR_INFO_x). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pmu/lbr_format.h"

#define LOW   0x0000000000101234
#define HIGH  0x0000004000101234
#define UPPER 0xffff900000101234
#define MISS  (1ULL << 63)
#define TSX   (1ULL << 62)
#define ABORT (1ULL << 61)

struct record_case {
    unsigned format;
    uint64_t from, to, info; /* registers */
    uint64_t is_from, is_to; /* what they mean */
    const char *text;
};

static const struct record_case cases[] = {
    {0, 0x0010200000101234, 0xdead, 0xdead, 0x101234, 0x102000, ""},
    {1, UPPER, HIGH, MISS | 5, UPPER, HIGH, ""},
    {2, LOW, UPPER, 0, LOW, UPPER, ""},
    /* One flag: the sign of the address is bit 62. */
    {3, LOW, HIGH, 0, LOW, HIGH, "predicted"},
    {3, LOW | MISS, HIGH, 0, LOW, HIGH, "mispredicted"},
    {3, UPPER & ~MISS, UPPER, 0, UPPER, UPPER, "predicted"},
    {3, UPPER, UPPER, 0, UPPER, UPPER, "mispredicted"},
    {3, LOW, LOW, MISS | 7, LOW, LOW, "predicted"}, /* has no information register */
    /* Three flags: the sign is bit 60. */
    {4, LOW | TSX, LOW, 0, LOW, LOW, "predicted, in TSX"},
    {4, LOW | MISS | ABORT, LOW, 0, LOW, LOW, "mispredicted, TSX abort"},
    {4, UPPER & ~(MISS | TSX | ABORT), UPPER, 0, UPPER, UPPER, "predicted"},
    {4, UPPER, HIGH, 0, UPPER, HIGH, "mispredicted, in TSX, TSX abort"},
    /* The flags apart: FROM is all address. */
    {5, UPPER, HIGH, 17, UPPER, HIGH, "predicted, 17 cycles"},
    {5, LOW, LOW, MISS | 0xffff, LOW, LOW, "mispredicted, 65535 cycles"},
    {5, LOW, LOW, TSX | 1, LOW, LOW, "predicted, 1 cycle, in TSX"},
    {5, LOW, LOW, 0x10000, LOW, LOW, "predicted, 0 cycles"}, /* reserved bits */
    /* Cycles in TO: its sign is bit 47. */
    {6, LOW | MISS, 0x0003000000101234, 0, LOW, LOW, "mispredicted, 3 cycles"},
    {6, UPPER & ~MISS, 0x0003900000101234, 0, UPPER, UPPER, "predicted, 3 cycles"},
    {7, UPPER, UPPER, MISS | TSX | 2, UPPER, UPPER, "mispredicted, 2 cycles"},
};

static void records(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct record_case *c = &cases[i];
        struct branch_record r;
        char text[64];
        assert_true(lbr_decode(c->format, c->from, c->to, c->info, &r));
        assert_int_equal(r.from, c->is_from);
        assert_int_equal(r.to, c->is_to);
        lbr_flags_text(text, sizeof text, &r);
        assert_string_equal(text, c->text);
    }
}

static void unknown_formats(void **state)
{
    (void)state;
    for (unsigned format = LBR_FMT_COUNT; format < 64; format++) {
        struct branch_record r = {.from = 1, .mispredicted = true};
        assert_false(lbr_decode(format, UPPER, UPPER, MISS, &r));
        assert_int_equal(r.from | r.to | r.cycles, 0);
        assert_false(r.mispredicted || lbr_format_has_info(format));
        assert_string_equal(lbr_format_name(format), "unknown");
    }
}

static void information_registers(void **state)
{
    (void)state;
    for (unsigned format = 0; format < LBR_FMT_COUNT; format++) {
        assert_int_equal(lbr_format_has_info(format), format == 5 || format == 7);
        assert_true(strlen(lbr_format_name(format)) > 0);
    }
}

/* The text is cut at any size, always ended, never written past (a heap block of its exact size).
 */
static void small_buffers(void **state)
{
    (void)state;
    struct branch_record r;
    lbr_decode(LBR_FMT_INFO, UPPER, UPPER, MISS | TSX | ABORT | 0xffff, &r);
    for (size_t size = 1; size < 64; size++) {
        char *text = malloc(size);
        assert_non_null(text);
        lbr_flags_text(text, size, &r);
        assert_true(strlen(text) < size);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),
        cmocka_unit_test(unknown_formats),
        cmocka_unit_test(information_registers),
        cmocka_unit_test(small_buffers),
    };
    return cmocka_run_group_tests_name("lbr", tests, NULL, NULL);
}
