/* The report and the screen below it: what stands there, in which colour, at every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/console/console.h"
#include "kernel/console/report.h"
#include "kernel/console/screen.h"

/* What the machine shows; before is what the screen believes to be there. */
static uint16_t cells[SCREEN_MAX_ROWS][SCREEN_MAX_COLUMNS];
static unsigned columns, rows;
static bool dots[2 * SCREEN_MAX_ROWS][SCREEN_MAX_COLUMNS]; /* white ones */

static void draw(unsigned column, unsigned row, uint16_t cell, uint16_t before)
{
    assert_true(column < columns && row < rows);
    assert_true(before == SCREEN_UNKNOWN || cells[row][column] == before);
    assert_int_not_equal(cell, before);
    cells[row][column] = cell;
}

#define PAINTED_OVER 0xdead
static void square(unsigned x, unsigned y, unsigned size, bool black)
{
    assert_true(x + size <= columns && y + size <= 2 * rows);
    for (unsigned i = 0; i < size * size; i++) {
        dots[y + i / size][x + i % size] = !black;
        cells[(y + i / size) / 2][x + i % size] = PAINTED_OVER;
    }
}

static struct console_sink *start(unsigned with_columns, unsigned with_rows, unsigned scroll)
{
    const struct screen screen = {with_columns, with_rows, scroll, draw, 1, 2, 1, square};
    columns = with_columns;
    rows = with_rows;
    for (unsigned i = 0; i < SCREEN_MAX_ROWS * SCREEN_MAX_COLUMNS; i++)
        cells[i / SCREEN_MAX_COLUMNS][i % SCREEN_MAX_COLUMNS] = SCREEN_BLANK;
    memset(dots, 0, sizeof(dots));
    screen_init(&screen);
    return report_sink();
}

static void print(struct console_sink *sink, const char *text)
{
    while (*text != '\0')
        sink->putc(*text++);
}

static void assert_row(unsigned row, const char *wanted)
{
    char got[SCREEN_MAX_COLUMNS + 1];
    unsigned n = 0;
    for (unsigned x = 0; x < columns; x++) {
        got[x] = (char)cells[row][x];
        if (got[x] != ' ')
            n = x + 1;
    }
    got[n] = '\0';
    assert_string_equal(got, wanted);
}

static void assert_rows(const char *const *wanted, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_row(i, wanted[i]);
    for (unsigned i = n; i < rows; i++)
        assert_row(i, "");
}
#define ROWS(...)                                                                                  \
    assert_rows((const char *const[]){__VA_ARGS__},                                                \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static uint8_t colour(unsigned column, unsigned row)
{
    return cells[row][column] >> 8;
}

static void kinds(void **state)
{
    (void)state;
    struct console_sink *sink = start(60, 20, 1);
    print(sink, "TAP version 14\n# PMU Lab 1\n1..3\n# ex15-3 PMI on overflow\n");
    print(sink, "ok 1 - ex15-3 it counts\n  ---\n  pmc0: 7\n  fixed0: 7\n  ...\n");
    print(sink, "not ok 2 - ex15-3 it stops\n  ---\n  pmc0: 8\n  ...\n#   a dump\n");
    print(sink, "ok 3 - ex15-3 it sleeps # SKIP no bed: 1A0H[2] = 0\n#\nBail out! the end\nfree\n");
    ROWS("PMU Lab 1", "15-3 PMI on overflow", "  ok       1  it counts",
         "              pmc0: 7  fixed0: 7", "  not ok   2  it stops", "              pmc0: 8",
         "  a dump", "  skip     3  it sleeps: no bed: 1A0H[2] = 0", "", "Bail out! the end",
         "free");
    assert_int_equal(colour(0, 1), ON(BLACK, WHITE));
    assert_int_equal(colour(2, 2), ON(BLACK, LIGHT_GREEN));
    assert_int_equal(colour(2, 4), ON(BLACK, LIGHT_RED));
    assert_int_equal(colour(14, 5), ON(BLACK, YELLOW)); /* why it failed */
    assert_int_equal(colour(2, 7), ON(BLACK, YELLOW));
    assert_int_equal(colour(0, 9), ON(BLACK, LIGHT_RED));

    print(sink, "# --- summary: x ---\n# 1 ok, 1 failed\n# 15-3 FAIL 15-4 ok 15-5 skip\n"
                "# --- CRC-32 00000000 ---\n# ok\n");
    ROWS("--- summary: x ---", "1 ok, 1 failed", "15-3 FAIL 15-4 ok 15-5 skip",
         "--- CRC-32 00000000 ---", "ok");
    assert_int_equal(colour(5, 2), ON(BLACK, LIGHT_RED));
    assert_int_equal(colour(15, 2), ON(BLACK, LIGHT_GREEN));
    assert_int_equal(colour(23, 2), ON(BLACK, YELLOW));
    assert_int_equal(colour(0, 4), ON(BLACK, GREY));

    sink = start(60, 5, 1);
    print(sink, "1..0 # SKIP nothing was run\n# one\rtwo\n");
    report_mute(true);
    print(sink, "# unseen\n");
    report_mute(false);
    print(sink, "# seen");
    ROWS("nothing was run", "two");
    print(sink, "\n");
    ROWS("nothing was run", "two", "seen");
    screen_look(0);
    screen_cover(true);
    report_mute(true);
    print(sink, "# unseen\nBail out! panic\n# why\n");
    ROWS("nothing was run", "two", "seen", "Bail out! panic", "why");
}

/* Between words, on below the text; a word longer than a line anywhere. */
static void wrapping(void **state)
{
    (void)state;
    struct console_sink *sink = start(30, 16, 1);
    print(sink, "ok 12 - ex1-1 the record has its full address\n");
    print(sink, "#   IA32_PERF = 0x1234567890 eventually\n");
    print(sink, "# abcdefghijklmnopqrstuvwxyz0123456789\n");
    print(sink, "ok 13 - ex1-1 x\n  ---\n  aaaaaaa: 1\n  b: 2\n  c: 3\n  ...\n");
    print(sink, "# caf\xc3\xa9 12345678901234567890 \xc2\xb7\xc2\xb7\xc2\xb7\xc2\xb7\n");
    print(sink, "#    rip 0x12345678901234 cs 0x123\n#   rip 0x12345678901234 cs 0x1234567\n");
    ROWS("  ok      12  the record has", "              its full address",
         "  IA32_PERF = 0x1234567890", "    eventually", "abcdefghijklmnopqrstuvwxyz0123", "456789",
         "  ok      13  x", "              aaaaaaa: 1  b: 2", "              c: 3",
         "caf? 12345678901234567890 \xfa\xfa\xfa\xfa", " rip 0x12345678901234 cs 0x123",
         "  rip 0x12345678901234 cs", "    0x1234567");
}

static void skips(void **state)
{
    (void)state;
    struct console_sink *sink = start(60, 8, 1);
    print(sink, "# ex1-1 One\nok 1 - ex1-1 a # SKIP no PMU\n");
    ROWS("1-1 One", "  skip     1  a: no PMU");
    print(sink, "ok 2 - ex1-1 b # SKIP no PMU\n");
    ROWS("1-1 One", "  skip   1-2  2 checks skipped: no PMU");
    print(sink, "# ex1-2 Two\n");
    ROWS("1-1 One", "  skip   1-2  2 checks skipped: no PMU", "1-2 Two");
    print(sink, "ok 3 - ex1-2 c # SKIP no PMU\n");
    ROWS("  skip   1-3  3 checks of 2 experiments skipped: no PMU");
    /* The second has a check that is none: it stands for itself again. */
    print(sink, "ok 4 - ex1-2 d\n");
    ROWS("1-1 One", "  skip   1-2  2 checks skipped: no PMU", "1-2 Two", "  skip     3  c: no PMU",
         "  ok       4  d");
    /* Another reason, and the same one after a check that was made, begin anew. */
    print(sink, "ok 5 - ex1-2 e # SKIP no PMU\nok 6 - ex1-2 f # SKIP no LBR\n");
    ROWS("1-1 One", "  skip   1-2  2 checks skipped: no PMU", "1-2 Two", "  skip     3  c: no PMU",
         "  ok       4  d", "  skip     5  e: no PMU", "  skip     6  f: no LBR");
    /* The second one has two reasons: it stands for itself. */
    sink = start(60, 8, 1);
    print(sink, "# ex1-1 One\nok 1 - ex1-1 a # SKIP no PMU\n");
    print(sink, "# ex1-2 Two\nok 2 - ex1-2 b # SKIP no PMU\nok 3 - ex1-2 c # SKIP no LBR\n");
    ROWS("1-1 One", "  skip     1  a: no PMU", "1-2 Two", "  skip     2  b: no PMU",
         "  skip     3  c: no LBR");
    sink = start(60, 8, 1);
    print(sink, "# ex1-1 One\n\n\n\n\n\nok 6 - ex1-2 f # SKIP no LBR\n");
    /* Not from its title on: the next experiment's do not join. */
    print(sink, "# ex1-3 Three\nok 7 - ex1-3 g # SKIP no LBR\n");
    assert_row(7, "  skip     7  g: no LBR");
    assert_row(6, "1-3 Three");
    /* Up to the end of a run they stay together. */
    print(sink, "# ex1-4 Four\nok 8 - ex1-4 h # SKIP no LBR\n# --- summary ---\n");
    print(sink, "# --- CRC-32 00000000 ---\n");
    screen_look(screen_oldest());
    screen_look(screen_top() + 5);
    assert_row(1, "  skip     6  f: no LBR");
    assert_row(2, "  skip   7-8  2 checks of 2 experiments skipped: no LBR");
    assert_row(3, "--- summary ---");
}

/* A machine without a PMU: one line, however many there are and wherever the screen is. */
static void many_skips(void **state)
{
    (void)state;
    char text[128];
    for (unsigned scroll = 1; scroll <= 10; scroll += 9) {
        struct console_sink *sink = start(80, 10, scroll);
        for (unsigned i = 0; i < 9; i++)
            print(sink, "# filler\n");
        for (unsigned i = 1; i <= 147; i++) {
            if (i % 7 == 1) {
                snprintf(text, sizeof(text), "# ex15-%u Title\n", i / 7);
                print(sink, text);
            }
            snprintf(text, sizeof(text), "ok %u - ex15-%u c # SKIP no PMU: leaf 3\n", i, i / 7);
            print(sink, text);
        }
        unsigned row = (unsigned)(screen_line() - screen_top());
        assert_int_equal(screen_line(), 9);
        assert_row(row, "  skip  1-147  147 checks of 21 experiments skipped: no PMU: leaf 3");
    }
}

static void the_log(void **state)
{
    (void)state;
    char text[64];
    struct console_sink *sink = start(40, 10, 1);
    screen_reserve(1);
    screen_text(0, 9, ON(BLUE, WHITE), "progress");
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "# line %u\n", i);
        print(sink, text);
    }
    assert_row(8, "line 4999");
    assert_row(0, "line 4991");
    assert_row(9, "progress");
    assert_int_equal(colour(0, 9), ON(BLUE, WHITE));
    screen_look(0); /* older than what is kept */
    snprintf(text, sizeof(text), "line %u", (unsigned)screen_oldest());
    assert_row(0, text);
    assert_true(screen_oldest() > 0 && screen_oldest() < 1000);
    print(sink, "# unseen\n");
    assert_row(0, text);
    screen_look(SCREEN_NEWEST);
    assert_row(8, "unseen");
    screen_cover(true);
    ROWS("");
    print(sink, "# below\n");
    screen_text(2, 3, ON(BLACK, WHITE), "page");
    assert_int_equal(screen_text(38, 0, ON(BLACK, WHITE), "cut"), 40);
    screen_text(0, 10, ON(BLACK, WHITE), "below the screen");
    assert_row(3, "  page");
    screen_cover(false);
    assert_row(8, "below");
    assert_row(7, "unseen");
    assert_row(3, "line 4996");
}

/* Black where a bit is set, white around, at the right, not over text, gone when the log scrolls.
 */
static void picture(void **state)
{
    (void)state;
    static const uint8_t bits[] = {0x0b, 0x01}; /* 3 x 3: XX. X.. ..X */
    static const bool black[3][3] = {{1, 1, 0}, {1, 0, 0}, {0, 0, 1}};
    struct console_sink *sink = start(40, 12, 1);
    print(sink, "# one\n# 3456789012345678901234567890\n");
    assert_true(screen_bitmap(bits, 3)); /* 22 dots would cover the second row: 11 x 1 */
    for (unsigned y = 0; y < 24; y++) {
        for (unsigned x = 0; x < 40; x++) {
            int bx = (int)x - 29 - 4, by = (int)y - 13 - 4;
            bool in = x >= 29 && y >= 13;
            bool set = bx >= 0 && by >= 0 && bx < 3 && by < 3 && black[by][bx];
            assert_int_equal(dots[y][x], in && !set);
        }
    }
    assert_false(screen_bitmap(NULL, 0));
    ROWS("one", "3456789012345678901234567890");
    assert_true(screen_bitmap(bits, 3));
    for (unsigned i = 0; i < 40; i++)
        print(sink, "# abcdefghijabcdefghijabcdefghijabcdefghi\n");
    for (unsigned i = 0; i < 12; i++)
        assert_row(i, "abcdefghijabcdefghijabcdefghijabcdefghi");
    assert_false(screen_bitmap(bits, 3)); /* no room */
    assert_false(screen_bitmap(NULL, 0));
}

/* Any bytes on any screen: nothing is drawn outside, and what is there is what was drawn. */
static void anything(void **state)
{
    (void)state;
    static const char *const pieces[] = {"# ex1-1 T\n", "ok 1 - ex1-1 x # SKIP r\n",
                                         "ok ",         "not ok 2",
                                         "  ---\n",     "  k: v\n",
                                         "\n",          "# --- summary\n",
                                         "# --- CRC\n", "\xc3",
                                         "\xe2\x96",    " # SKIP ",
                                         "\r",          "\t",
                                         "1..",         "Bail out!",
                                         " ",           "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                                         "# "};
    static const struct {
        unsigned columns, rows, scroll;
    } sizes[] = {{1, 1, 1}, {2, 2, 1}, {13, 3, 2}, {40, 12, 6}, {80, 25, 1}, {160, 100, 50}};
    srand(1);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct console_sink *sink = start(sizes[i].columns, sizes[i].rows, sizes[i].scroll);
        for (unsigned n = 0; n < 20000; n++) {
            int what = rand() % 64;
            if (what == 0)
                screen_reserve((unsigned)rand() % 2);
            else if (what == 1)
                screen_look(rand() % 2 ? SCREEN_NEWEST : (uint64_t)rand() % (screen_line() + 1));
            else if (what == 2)
                screen_cover(rand() % 2);
            else if (what < 8)
                sink->putc((char)rand());
            else
                print(sink, pieces[(unsigned)rand() % (sizeof(pieces) / sizeof(pieces[0]))]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),      cmocka_unit_test(wrapping), cmocka_unit_test(skips),
        cmocka_unit_test(many_skips), cmocka_unit_test(the_log),  cmocka_unit_test(picture),
        cmocka_unit_test(anything),
    };
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
