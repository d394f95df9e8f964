/* The ring of printed lines, and the checksum of the summary. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/console/console.h"
#include "kernel/crc32.h"
#include "kernel/console/history.h"

static struct console_sink *sink;

static void put(const char *text)
{
    while (*text != '\0')
        sink->putc(*text++);
}

static void assert_line(uint64_t line, const char *wanted)
{
    char got[128];
    size_t i = 0;
    int byte;
    while (i < sizeof(got) - 1 && (byte = history_byte(line, i)) >= 0)
        got[i++] = (char)byte;
    got[i] = '\0';
    assert_string_equal(got, wanted);
}

static void lines(void **state)
{
    (void)state;
    sink = history_init();
    assert_int_equal(history_last(), 0);
    put("one\n\nthree\nfo");
    assert_int_equal(history_first(), 0);
    assert_int_equal(history_last(), 3);
    assert_line(0, "one");
    assert_line(1, "");
    assert_line(2, "three");
    assert_line(3, "fo");
    put("ur\rfive");
    assert_line(3, "five"); /* written anew */
    put("\n");
}

/* More lines, then more text, than the rings hold: what is kept is whole. */
static void overrun(void **state)
{
    (void)state;
    char text[128], filler[1001];
    uint64_t base = history_last();
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(text, sizeof(text), "line %u\n", i);
        put(text);
    }
    assert_int_equal(history_last(), base + 20000);
    assert_true(history_first() > base && history_last() - history_first() > 5000);
    snprintf(text, sizeof(text), "line %u", (unsigned)(history_first() - base));
    assert_line(history_first(), text);
    assert_line(history_last() - 1, "line 19999");

    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    base = history_last();
    for (unsigned i = 0; i < 1000; i++) {
        put(filler);
        put("\n");
    }
    assert_true(history_first() > base && history_last() - history_first() > 400);
    for (size_t i = 0; i < sizeof(filler) - 1; i++)
        assert_int_equal(history_byte(history_first(), i), 'x');
    assert_int_equal(history_byte(history_first(), sizeof(filler) - 1), -1);
}

static void checksum(void **state)
{
    (void)state;
    assert_int_equal(crc32(0, "", 0), 0);
    assert_int_equal(crc32(0, "123456789", 9), 0xcbf43926); /* the check value of this CRC */
    assert_int_equal(crc32(crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(overrun),
        cmocka_unit_test(checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
