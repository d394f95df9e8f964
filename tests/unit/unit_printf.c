/* The kernel's printf against its header's contract, and against the C library's on the common
 * ground. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/console/console.h"
#include "kernel/print.h"

static char console[8192];
static size_t console_length;

static void sink_putc(char byte)
{
    assert_true(console_length + 1 < sizeof console);
    console[console_length++] = byte;
    console[console_length] = '\0';
}
static struct console_sink sink = {.name = "test", .putc = sink_putc};

/* Formats with both printfs into buffers of their own size and compares text and length. */
#define assert_as_libc(...)                                                                        \
    do {                                                                                           \
        char ours[512], theirs[512];                                                               \
        int our_length = ksnprintf(ours, sizeof ours, __VA_ARGS__);                                \
        int their_length = snprintf(theirs, sizeof theirs, __VA_ARGS__);                           \
        assert_string_equal(ours, theirs);                                                         \
        assert_int_equal(our_length, their_length);                                                \
    } while (0)

static void integers(void **state)
{
    (void)state;
    assert_as_libc("%d %i %u %x %X", -5, 7, 5u, 0xbeefu, 0xbeefu);
    assert_as_libc("%d %d %d", 0, INT_MAX, INT_MIN);
    assert_as_libc("%u %x", UINT_MAX, UINT_MAX);
    assert_as_libc("%ld %lu %lx", LONG_MIN, ULONG_MAX, ULONG_MAX);
    assert_as_libc("%lld %llu %llX", LLONG_MIN, ULLONG_MAX, ULLONG_MAX);
    assert_as_libc("%hd %hu %hhd %hhu", (short)-3, (unsigned short)65535, (signed char)-128,
                   (unsigned char)255);
    assert_as_libc("%zu %zx", SIZE_MAX, (size_t)4096);
}

/* A length modifier must cut the value, not only widen it. */
static void short_lengths_cut_the_value(void **state)
{
    (void)state;
    char text[32];
    const char *volatile format =
        "%hhu %hu"; /* not a literal: the compiler would rightly complain */
    ksnprintf(text, sizeof text, format, 0x1ff, 0x1ffff);
    assert_string_equal(text, "255 65535");
}

static void flags_width_and_precision(void **state)
{
    (void)state;
    assert_as_libc("[%5d][%-5d][%05d][%+d][% d]", 42, 42, 42, 42, 42);
    assert_as_libc("[%5d][%-5d][%05d]", -42, -42, -42);
    assert_as_libc("[%#x][%#X][%#x]", 0x1fu, 0x1fu, 0u);
    assert_as_libc("[%#10x][%-#10x][%#010x]", 0x1fu, 0x1fu, 0x1fu);
    assert_as_libc("[%016llx]", 0x123456789abcULL);
    assert_as_libc("[%.5d][%8.5d][%-8.5d]", 42, 42, -42);
    assert_as_libc("[%.0d][%.0u][%5.0x]", 0, 0u, 0u);
    assert_as_libc("[%*d][%-*d][%.*d]", 6, 1, 6, 2, 4, 3);
    assert_as_libc("[%*d]", -6, 1);                 /* a negative '*' width is the flag '-' */
    assert_as_libc("[%.*d][%.*s]", -1, 7, -1, "x"); /* a negative '*' precision is none */
    assert_as_libc("[%3d]", 123456);
}

/* C: with a precision the flag '0' is ignored; '-' beats '0'; '+' beats ' '. */
static void flags_that_cancel(void **state)
{
    (void)state;
    char text[64];
    const char *volatile format = "[%08.3d][%-05d][%+ d]";
    ksnprintf(text, sizeof text, format, 42, 42, 42);
    assert_string_equal(text, "[     042][42   ][+42]");
}

static void strings_and_characters(void **state)
{
    (void)state;
    assert_as_libc("%s|%s|%c|%%", "hello", "", 'x');
    assert_as_libc("[%8s][%-8s][%.3s][%8.3s]", "abc", "abc", "abcdef", "abcdef");
    assert_as_libc("[%3c][%-3c]", 'y', 'z');
    /* A precision bounds the read: no NUL is needed behind it (AddressSanitizer watches). */
    char *no_end = malloc(3);
    assert_non_null(no_end);
    memcpy(no_end, "abc", 3);
    char text[16];
    ksnprintf(text, sizeof text, "%.3s", no_end);
    assert_string_equal(text, "abc");
    free(no_end);
}

static void pointers(void **state)
{
    (void)state;
    char text[64];
    ksnprintf(text, sizeof text, "%p", (void *)0xfee00000);
    assert_non_null(strstr(text, "fee00000"));
}

static void cut_off_text_reports_the_whole_length(void **state)
{
    (void)state;
    char text[8];
    memset(text, '#', sizeof text);
    assert_int_equal(ksnprintf(text, 5, "%s", "abcdefgh"), 8);
    assert_string_equal(text, "abcd");
    assert_memory_equal(text + 5, "###", 3);
    assert_int_equal(ksnprintf(text, 1, "%d", 12345), 5);
    assert_string_equal(text, "");
    assert_int_equal(ksnprintf(NULL, 0, "%d", 12345), 5);
    assert_int_equal(ksnprintf(text, sizeof text, "%7d", 1), 7); /* fits to the last byte */
    assert_string_equal(text, "      1");
}

static void an_unknown_conversion_stands_as_it_is(void **state)
{
    (void)state;
    char text[64];
    const char *volatile format = "a %y b";
    ksnprintf(text, sizeof text, format);
    assert_string_equal(text, "a %y b");
    format = "ends in %";
    ksnprintf(text, sizeof text, format);
    assert_string_equal(text, "ends in %");
}

static void long_lines_reach_the_console_whole(void **state)
{
    (void)state;
    static char line[4001];
    memset(line, 'a', sizeof line - 1);
    console_add(&sink);
    kprintf("%s|%u\n", line, 7u);
    assert_int_equal(console_length, 4000 + 3);
    assert_string_equal(console + 4000, "|7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(short_lengths_cut_the_value),
        cmocka_unit_test(flags_width_and_precision),
        cmocka_unit_test(flags_that_cancel),
        cmocka_unit_test(strings_and_characters),
        cmocka_unit_test(pointers),
        cmocka_unit_test(cut_off_text_reports_the_whole_length),
        cmocka_unit_test(an_unknown_conversion_stands_as_it_is),
        cmocka_unit_test(long_lines_reach_the_console_whole),
    };
    return cmocka_run_group_tests_name("printf", tests, NULL, NULL);
}
