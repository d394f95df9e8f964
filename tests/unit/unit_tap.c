/* The reporter: checks by name, in their order, with what was measured and expected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/console/console.h"
#include "lab/experiment.h"
#include "runner/summary.h"
#include "runner/tap.h"

#define RFLAGS 0x246 /* with IF */

static char printed[8192];
static size_t length;
static bool interrupts_off, held;

uint64_t irq_save(void)
{
    assert_false(interrupts_off);
    interrupts_off = true;
    return RFLAGS;
}

void irq_restore(uint64_t rflags)
{
    assert_int_equal(rflags, RFLAGS);
    assert_true(interrupts_off);
    interrupts_off = false;
}

void trap_hold(bool on)
{
    held = on;
}

/* Nothing may come between a test point and its values: an interrupt whose handler prints waits. */
static void sink_putc(char byte)
{
    size_t line = length;
    assert_true(length + 1 < sizeof printed);
    printed[length++] = byte;
    printed[length] = '\0';
    while (line > 0 && printed[line - 1] != '\n')
        line--;
    assert_true(printed[line] == '#' || (interrupts_off && held));
}
static struct console_sink sink = {.name = "test", .putc = sink_putc};

enum { ONE, TWO, THREE };
static const char *const words[] = {[ONE] = "first", [TWO] = "second", [THREE] = "third"};
static const struct experiment experiment = {.id = "1-2", .title = "Three checks", CHECKS(words)};

/* What is printed, with N for the numbers of the test points: they go on from test to test. */
static void assert_printed(const char *wanted)
{
    char got[sizeof printed];
    size_t n = 0;
    for (const char *c = printed; *c != '\0';) {
        bool starts = c == printed || c[-1] == '\n';
        got[n++] = *c++;
        if (!starts)
            continue;
        size_t prefix = strncmp(c - 1, "not ok ", 7) == 0 ? 6
                        : strncmp(c - 1, "ok ", 3) == 0   ? 2
                                                          : 0;
        if (prefix == 0)
            continue;
        memcpy(got + n, c, prefix);
        n += prefix;
        c += prefix + strspn(c + prefix, "0123456789");
        got[n++] = 'N';
    }
    got[n] = '\0';
    assert_string_equal(got, wanted);
}

static int start(void **state)
{
    static bool added;
    (void)state;
    if (!added)
        console_add(&sink);
    added = true;
    tap_start(&experiment);
    length = 0;
    printed[0] = '\0';
    return 0;
}

static struct summary_result result(void)
{
    struct summary_result r;
    tap_result(&r);
    return r;
}

static void in_their_order(void **state)
{
    (void)state;
    check(ONE, true);
    check(TWO, false);
    check(THREE, false);
    tap_end(NULL);
    assert_printed("ok N - ex1-2 first\n"
                   "not ok N - ex1-2 second\n"
                   "not ok N - ex1-2 third\n");
    assert_ptr_equal(result().experiment, &experiment);
    assert_int_equal(result().checks, 3);
    assert_int_equal(result().failed, 2);
    assert_int_equal(result().failed_checks, 1 << 1 | 1 << 2);
    assert_int_equal(result().skipped, 0);
}

static void numbers_go_on(void **state)
{
    unsigned first, second;
    (void)state;
    check(ONE, true);
    assert_int_equal(sscanf(printed, "ok %u ", &first), 1);
    length = 0;
    tap_end("stopped");
    assert_int_equal(sscanf(printed, "not ok %u ", &second), 1);
    assert_int_equal(second, first + 1);
}

static void what_is_passed_over_is_not_ok(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    value_u64("of_the_third", 3);
    check(THREE, true);
    tap_end(NULL);
    assert_printed("not ok N - ex1-2 first\n"
                   "  ---\n  reason: \"the experiment passed over this check\"\n  ...\n"
                   "not ok N - ex1-2 second\n"
                   "  ---\n  reason: \"the experiment passed over this check\"\n  ...\n"
                   "ok N - ex1-2 third\n"
                   "  ---\n  of_the_third: 3\n  ...\n");
    assert_int_equal(tap_failures(), before + 2);
}

static const char DISORDER[] =
    "# ex1-2 makes a check out of its turn, twice, or one that it does not list\n";

static void twice_fails_the_experiment(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    check(ONE, true);
    value_u64("lost", 1);
    check(ONE, true);
    check(TWO, true);
    check(THREE, true);
    tap_end(NULL);
    char wanted[256];
    snprintf(wanted, sizeof wanted,
             "ok N - ex1-2 first\nok N - ex1-2 second\nok N - ex1-2 third\n%s", DISORDER);
    assert_printed(wanted);
    assert_int_equal(tap_failures(), before + 1);
    assert_int_equal(result().failed, 1);
}

static void too_late_fails_the_experiment(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    check(TWO, true);
    check(ONE, true);
    check(THREE, true);
    tap_end(NULL);
    assert_non_null(strstr(printed, DISORDER));
    assert_int_equal(tap_failures(), before + 2); /* ONE passed over, ONE too late */
}

static void what_is_not_listed_fails_the_experiment(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    check(ONE, true);
    check(TWO, true);
    check(THREE, true);
    check(THREE + 1, true);
    tap_end(NULL);
    assert_non_null(strstr(printed, DISORDER));
    assert_int_equal(tap_failures(), before + 1);
    start(NULL); /* and is forgotten by the next one */
    check_skip_all(ONE, THREE, "why");
    tap_end(NULL);
    assert_int_equal(tap_failures(), before + 1);
}

static void equal_shows_the_expected_side_of_a_failure(void **state)
{
    (void)state;
    value_u64("between", 7);
    assert_true(check_equal(ONE, "measured", 5, 5));
    value_u64("between", 7);
    assert_false(check_equal(TWO, "measured", 5, 6));
    assert_true(check_equal(THREE, "measured", 0, 0));
    assert_printed("ok N - ex1-2 first\n  ---\n  measured: 5\n  between: 7\n  ...\n"
                   "not ok N - ex1-2 second\n"
                   "  ---\n  measured: 5\n  between: 7\n  expected: 6\n  ...\n"
                   "ok N - ex1-2 third\n  ---\n  measured: 0\n  ...\n");
}

static void same_shows_both_sides(void **state)
{
    (void)state;
    value_str("between", "%s", "x");
    assert_true(check_same(ONE, "left", 5, "right", 5));
    assert_false(check_same(TWO, "left", 5, "right", 6));
    assert_true(check_same(THREE, "left", 0, "right", 0));
    assert_printed("ok N - ex1-2 first\n  ---\n  left: 5\n  between: \"x\"\n  right: 5\n  ...\n"
                   "not ok N - ex1-2 second\n  ---\n  left: 5\n  right: 6\n  ...\n"
                   "ok N - ex1-2 third\n  ---\n  left: 0\n  right: 0\n  ...\n");
}

static void skips_have_a_reason(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    check_skip(ONE, "no %s", "PEBS");
    check_skip_all(TWO, THREE, "bit %u", 12u);
    tap_end(NULL);
    assert_printed("ok N - ex1-2 first # SKIP no PEBS\n"
                   "ok N - ex1-2 second # SKIP bit 12\n"
                   "ok N - ex1-2 third # SKIP bit 12\n");
    assert_int_equal(result().skipped, 3);
    assert_int_equal(tap_failures(), before);
}

static void a_skip_hides_nothing(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    check_skip(TWO, "why");
    check_skip(TWO, "why");
    check(THREE, true);
    tap_end(NULL);
    assert_non_null(strstr(printed, "passed over"));
    assert_non_null(strstr(printed, DISORDER));
    assert_int_equal(tap_failures(), before + 2);
}

static void an_early_end_fails_the_next_check(void **state)
{
    (void)state;
    check(ONE, true);
    value_u64("so_far", 1);
    tap_end("a fault");
    assert_printed("ok N - ex1-2 first\n"
                   "not ok N - ex1-2 second\n  ---\n  so_far: 1\n  reason: \"a fault\"\n  ...\n"
                   "ok N - ex1-2 third # SKIP not reached: a fault\n");
    assert_int_equal(result().failed, 1);
    assert_int_equal(result().failed_checks, 1 << 1);
}

static void a_return_too_early_too(void **state)
{
    (void)state;
    check(ONE, true);
    check(TWO, true);
    tap_end(NULL);
    assert_non_null(strstr(printed, "not ok"));
    assert_non_null(strstr(printed, "reason: \"the experiment returned before this check\""));
}

static void an_end_after_the_last_check_fails(void **state)
{
    unsigned before = tap_failures();
    (void)state;
    check_skip_all(ONE, THREE, "why");
    tap_end("a fault");
    assert_non_null(strstr(printed, "# ex1-2 ended after its last check: a fault\n"));
    assert_int_equal(tap_failures(), before + 1);
}

static void values_are_yaml(void **state)
{
    (void)state;
    value_hex("hex", 0xabc);
    value_str("text", "%s", "a \"b\" \\ c\nd");
    value_ratio("third", 1, 3);
    value_ratio("rounded", 2, 3);
    value_ratio("none", 0, 0);
    check(ONE, true);
    assert_printed("ok N - ex1-2 first\n  ---\n  hex: 0xabc\n  text: \"a \\\"b\\\" \\\\ c d\"\n"
                   "  third: 0.333\n  rounded: 0.667\n  none: no value\n  ...\n");
}

static void too_many_values_do_no_harm(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 100; i++)
        value_u64("key", i);
    assert_false(check_equal(ONE, "measured", 5, 6));
    assert_non_null(strstr(printed, "  key: 0\n"));
    assert_null(strstr(printed, "  key: 99\n"));
    length = 0;
    check(TWO, true);
    assert_printed("ok N - ex1-2 second\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(in_their_order, start),
        cmocka_unit_test_setup(numbers_go_on, start),
        cmocka_unit_test_setup(what_is_passed_over_is_not_ok, start),
        cmocka_unit_test_setup(twice_fails_the_experiment, start),
        cmocka_unit_test_setup(too_late_fails_the_experiment, start),
        cmocka_unit_test_setup(what_is_not_listed_fails_the_experiment, start),
        cmocka_unit_test_setup(equal_shows_the_expected_side_of_a_failure, start),
        cmocka_unit_test_setup(same_shows_both_sides, start),
        cmocka_unit_test_setup(skips_have_a_reason, start),
        cmocka_unit_test_setup(a_skip_hides_nothing, start),
        cmocka_unit_test_setup(an_early_end_fails_the_next_check, start),
        cmocka_unit_test_setup(a_return_too_early_too, start),
        cmocka_unit_test_setup(an_end_after_the_last_check_fails, start),
        cmocka_unit_test_setup(values_are_yaml, start),
        cmocka_unit_test_setup(too_many_values_do_no_harm, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
