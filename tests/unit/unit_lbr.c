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
#define VALID (1ULL << 60)

#define TYPE(n) ((uint64_t)(n) << 56)

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
    /* Architectural: the type in INFO[59:56], the cycles count when INFO[60] says so. */
    {63, UPPER, HIGH, VALID | 17, UPPER, HIGH, "conditional, predicted, 17 cycles"},
    {63, LOW, LOW, TYPE(1) | 17, LOW, LOW, "indirect jump, predicted"},
    {63, LOW, LOW, TYPE(2) | MISS | VALID | 1, LOW, LOW, "jump, mispredicted, 1 cycle"},
    {63, LOW, LOW, TYPE(3) | TSX, LOW, LOW, "indirect call, predicted, in TSX"},
    {63, LOW, LOW, TYPE(4) | ABORT, LOW, LOW, "call, predicted, TSX abort"},
    {63, LOW, LOW, TYPE(5) | 0xff00ffff0000, LOW, LOW, "return, predicted"},
    {63, LOW, LOW, TYPE(2) | 0x2400000000, LOW, LOW, "jump, predicted, 1 of PMC1, 2 of PMC2"},
    {63, LOW, LOW, TYPE(0) | VALID | 0xc300000000, LOW, LOW,
     "conditional, predicted, 0 cycles, >= 3 of PMC0, >= 3 of PMC3"},
    /* No counts where there are no types. */
    {5, LOW, LOW, 0xffff0000 | 0xff00000000, LOW, LOW, "predicted, 0 cycles"},
    {63, LOW, LOW, TYPE(6), LOW, LOW, "reserved type, predicted"},
    {63, LOW, LOW, TYPE(8), LOW, LOW, "other branch, predicted"},
    {63, LOW, LOW, TYPE(15), LOW, LOW, "other branch, predicted"},
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
    for (unsigned format = LBR_FMT_COUNT; format < LBR_FMT_ARCHITECTURAL; format++) {
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
    assert_int_equal(LBR_FMT_ARCHITECTURAL, 63);
    assert_true(lbr_format_has_info(63));
}

/* AMD's: APM vol. 2 "Last Branch Stack", figures of LastBranchStackFromIp and ToIp. Addresses are
 * 57 bits wide. */
static void of_amd(void **state)
{
    (void)state;
    static const struct {
        uint64_t from, to, is_from, is_to;
        bool wrong_path;
        const char *text;
    } amd[] = {
        {LOW, LOW | 1ULL << 63, LOW, LOW, false, "predicted"},
        {LOW | MISS, LOW | 3ULL << 62, LOW, LOW, false, "mispredicted"},
        {0x1ffffffff812340, 0x81ffffffff812345, 0xffffffffff812340, 0xffffffffff812345, false,
         "predicted"},
        {LOW, LOW | 1ULL << 62, LOW, LOW, true, "predicted"},
        {LOW, LOW | 5ULL << 61, LOW, LOW, true, "predicted"}, /* V, and the reserved bit */
        {LOW, LOW, LOW, LOW, true, "predicted"},
    };
    for (size_t i = 0; i < sizeof amd / sizeof *amd; i++) {
        struct branch_record r;
        char text[64];
        assert_true(lbr_decode(LBR_FMT_AMD, amd[i].from, amd[i].to, 0, &r));
        assert_int_equal(r.from, amd[i].is_from);
        assert_int_equal(r.to, amd[i].is_to);
        assert_int_equal(r.wrong_path, amd[i].wrong_path);
        assert_false(r.has_cycles || r.has_type);
        lbr_flags_text(text, sizeof text, &r);
        assert_string_equal(text, amd[i].text);
    }
    assert_false(lbr_format_has_info(LBR_FMT_AMD));
}

/* A record's type against the bit of MSR_LBR_SELECT that suppresses such branches. */
static void kinds(void **state)
{
    (void)state;
    static const unsigned bit_of_type[16] = {2, 6, 7, 4, 3, 5, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8};
    for (unsigned type = 0; type < 16; type++) {
        struct branch_record r;
        lbr_decode(63, LOW, LOW, TYPE(type), &r);
        for (unsigned bit = 2; bit <= 8; bit++)
            assert_int_equal(lbr_is_kind(&r, 1 << bit), bit_of_type[type] == bit);
        assert_true(lbr_is_kind(&r, 1)); /* a ring is no kind */
        lbr_decode(5, LOW, LOW, TYPE(type), &r);
        for (unsigned bit = 2; bit <= 8; bit++)
            assert_true(lbr_is_kind(&r, 1 << bit)); /* this format does not tell */
    }
}

/* IA32_LBR_CTL for MSR_LBR_SELECT, bit by bit by the manual's two figures. */
static void filters(void **state)
{
    (void)state;
    static const unsigned control_bit[] = {1, 2, 16, 19, 20, 21, 18, 17, 22};
    assert_int_equal(lbr_control_of(0), 0x7f0006);
    assert_int_equal(lbr_control_of(0x1ff), 0);
    assert_int_equal(lbr_control_of(1 << 9), 0x7f000e); /* the call stack is no filter */
    for (unsigned bit = 0; bit < 9; bit++)
        assert_int_equal(lbr_control_of(1 << bit), 0x7f0006 & ~(1 << control_bit[bit]));
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
        cmocka_unit_test(of_amd),
        cmocka_unit_test(kinds),
        cmocka_unit_test(filters),
        cmocka_unit_test(small_buffers),
    };
    return cmocka_run_group_tests_name("lbr", tests, NULL, NULL);
}
