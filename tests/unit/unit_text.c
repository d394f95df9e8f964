/* The growing text of x86/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "x86/text.h"

static void numbers(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        unsigned base, digits;
        const char *text, *hex;
    } cases[] = {
        {0, 10, 1, "0", "0x0"},
        {0, 16, 2, "00", "0x00"},
        {0xe0, 16, 2, "E0", "0xe0"},
        {0xabc, 16, 2, "ABC", "0xabc"},
        {1234567890, 10, 1, "1234567890", "0x499602d2"},
        {5, 2, 4, "0101", "0x0005"},
        {UINT64_MAX, 10, 1, "18446744073709551615", "0xffffffffffffffff"},
        {UINT64_MAX, 2, 1, "1111111111111111111111111111111111111111111111111111111111111111",
         "0xffffffffffffffff"},
    };
    char buf[80];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text t = text_in(buf, sizeof buf);
        text_add_number(&t, cases[i].value, cases[i].base, cases[i].digits);
        assert_string_equal(buf, cases[i].text);
        assert_int_equal(t.length, strlen(buf));
        t = text_in(buf, sizeof buf);
        text_add_hex(&t, cases[i].value, cases[i].digits);
        assert_string_equal(buf, cases[i].hex);
    }
    struct text t = text_in(buf, sizeof buf);
    text_add_number(&t, 1, 10, 1000); /* more digits than any number has */
    assert_int_equal(t.length, 64);
}

static void words(void **state)
{
    (void)state;
    char buf[40];
    struct text t = text_in(buf, sizeof buf);
    assert_string_equal(buf, "");
    text_add_space(&t);
    text_add(&t, "EN");
    text_add_space(&t);
    text_add_name(&t, "EN_PMC%u", 12);
    text_add_space(&t);
    text_add_name(&t, "100%", 3);
    assert_string_equal(buf, "EN EN_PMC12 100%");
}

/* In every size the text is the beginning of the whole one, ended by NUL; the buffer is a heap
 * block of its exact size, AddressSanitizer watches. */
static void cut(void **state)
{
    (void)state;
    static const char whole[] = "vector=0xe0 PMC3 255";
    for (size_t size = 0; size < sizeof whole + 2; size++) {
        char *buf = malloc(size + (size == 0));
        assert_non_null(buf);
        *buf = 'x';
        struct text t = text_in(buf, size);
        text_add(&t, "vector=");
        text_add_hex(&t, 0xe0, 2);
        text_add_space(&t);
        text_add_name(&t, "PMC%u", 3);
        text_add_space(&t);
        text_add_number(&t, 255, 10, 1);
        if (size == 0) {
            assert_int_equal(*buf, 'x');
        } else {
            size_t kept = size - 1 < strlen(whole) ? size - 1 : strlen(whole);
            assert_int_equal(strlen(buf), kept);
            assert_memory_equal(buf, whole, kept);
        }
        free(buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(words),
        cmocka_unit_test(cut),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
