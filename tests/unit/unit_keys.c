/* Keys from scan codes and terminals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/console/keys.h"

#define MAX_KEYS 64

typedef int decode(struct key_decoder *decoder, uint8_t byte);

/* The bytes must give exactly these keys; the list of keys ends with KEY_NONE. */
static void assert_keys(decode *from, const char *bytes, size_t size, const int *wanted)
{
    struct key_decoder decoder = {0};
    int got[MAX_KEYS] = {KEY_NONE};
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        int key = from(&decoder, (uint8_t)bytes[i]);
        if (key != KEY_NONE && n < MAX_KEYS - 1)
            got[n++] = key;
    }
    for (size_t i = 0; i == 0 || wanted[i - 1] != KEY_NONE; i++)
        assert_int_equal(got[i], wanted[i]);
}
#define KEYS(from, bytes, ...)                                                                     \
    assert_keys(from, bytes, sizeof(bytes) - 1, (const int[]){__VA_ARGS__ __VA_OPT__(, ) KEY_NONE})

static void scan_codes(void **state)
{
    (void)state;
    KEYS(key_from_scan_code, "\x02\x82\x06\x86\x0c\x8c\x0b\x8b\x1c\x9c", '1', '5', '-', '0', '\n');
    KEYS(key_from_scan_code, "\x10\x11\x12\x13\x20\x26\x32\x35\x37\x0e", 'q', 'w', 'e', 'r', 'd',
         'l', 'm', '/', '*', '\b');
    KEYS(key_from_scan_code, "\x47\x48\x49\x4a\x4f\x50\x52\x53", '7', '8', '9', '-', '1', '2', '0',
         '.');
    KEYS(key_from_scan_code, "\xe0\x48\xe0\xc8\xe0\x50\xe0\x49\xe0\x51\xe0\x47\xe0\x4f\xe0\x1c",
         KEY_UP, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END, KEY_ENTER);
    KEYS(key_from_scan_code, "\xe0\x4b\xe0\xcb\xe0\x4d\xe0\xcd", KEY_LEFT, KEY_RIGHT);
    /* The shifts that a keyboard invents around an arrow when NumLock is on. */
    KEYS(key_from_scan_code, "\xe0\x2a\xe0\x48\xe0\xc8\xe0\xaa", KEY_UP);
    /* Pause has no key of ours in its six bytes, and what follows is read as ever. */
    KEYS(key_from_scan_code, "\xe1\x1d\x45\xe1\x9d\xc5\x02", '1');
    /* Shift, control, alt, F1, a code beyond the table, an empty port. */
    KEYS(key_from_scan_code, "\x2a\x1d\x38\x3b\x7f\x01\xff\x00", KEY_NONE);
}

static void terminal(void **state)
{
    (void)state;
    KEYS(key_from_terminal, "15-3\r", '1', '5', '-', '3', '\n');
    KEYS(key_from_terminal, "Q\r\nr\nd\n\n", 'q', '\n', 'r', '\n', 'd', '\n', '\n');
    KEYS(key_from_terminal, "\x7f\b", '\b', '\b');
    KEYS(key_from_terminal, "\x1b[A\x1b[B\x1bOA\x1bOB\x1b[5~\x1b[6~", KEY_UP, KEY_DOWN, KEY_UP,
         KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN);
    KEYS(key_from_terminal, "\x1b[D\x1b[C\x1bOD\x1bOC", KEY_LEFT, KEY_RIGHT, KEY_LEFT, KEY_RIGHT);
    KEYS(key_from_terminal, "\x1b[H\x1b[F\x1b[1~\x1b[4~", KEY_HOME, KEY_END, KEY_HOME, KEY_END);
    /* With modifiers, unknown, or broken off: nothing of it is taken for a letter. */
    KEYS(key_from_terminal, "\x1b[1;5Aq", KEY_UP, 'q');
    KEYS(key_from_terminal, "\x1b[200~q\x1b[Zr\x1b[99999999~d", 'q', 'r', 'd');
    KEYS(key_from_terminal, "\x1b\x1b[Aq", KEY_UP, 'q');
    KEYS(key_from_terminal, "\x01\x80\xff\0q", 'q');
}

/* No byte, behind any other two, leaves what cannot be decoded or crashes. */
static void anything(void **state)
{
    (void)state;
    decode *const decoders[] = {key_from_scan_code, key_from_terminal};
    for (size_t d = 0; d < 2; d++) {
        for (unsigned n = 0; n < 1u << 24; n += 7) {
            struct key_decoder decoder = {0};
            for (unsigned i = 0; i < 3; i++) {
                int key = decoders[d](&decoder, (uint8_t)(n >> 8 * i));
                assert_true((key >= 0 && key < 0x7f) || (key >= KEY_UP && key <= KEY_END));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_codes),
        cmocka_unit_test(terminal),
        cmocka_unit_test(anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
