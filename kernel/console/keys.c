/* Keys from scan codes and from terminals. */
#include "kernel/console/keys.h"

#include <stddef.h>

static int lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* ---- Scan code set 1 ---- */

#define RELEASED       0x80
#define PREFIX_E0      0xe0
#define PREFIX_PAUSE   0xe1
#define PAUSE_FOLLOWS  2 /* pressed: E1 1D 45, released: E1 9D C5 */
#define SCAN_FIRST_KEY 0x02

enum { SCAN_PLAIN, SCAN_E0, SCAN_PAUSE };

/* The characters of the codes from 02H on; a space is also no key of ours. The keypad gives its
 * digits. */
static const char plain_keys[] = "1234567890-=\b\t"
                                 "qwertyuiop[]\n\0"
                                 "asdfghjkl;'`\0\\"
                                 "zxcvbnm,./\0*\0 "
                                 "\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                 "789-456+1230.";

/* Behind E0: the grey keys. What is not here, above all the E0 2AH and E0 AAH that a keyboard puts
 * around the arrows when NumLock is on, is no key. */
static const struct {
    uint8_t code;
    int key;
} grey_keys[] = {
    {0x1c, KEY_ENTER}, {0x35, '/'},       {0x47, KEY_HOME}, {0x48, KEY_UP},   {0x49, KEY_PAGE_UP},
    {0x4b, KEY_LEFT},  {0x4d, KEY_RIGHT}, {0x4f, KEY_END},  {0x50, KEY_DOWN}, {0x51, KEY_PAGE_DOWN},
};

static int grey_key(uint8_t code)
{
    for (size_t i = 0; i < sizeof(grey_keys) / sizeof(grey_keys[0]); i++)
        if (grey_keys[i].code == code)
            return grey_keys[i].key;
    return KEY_NONE;
}

int key_from_scan_code(struct key_decoder *decoder, uint8_t byte)
{
    uint8_t state = decoder->state;
    decoder->state = SCAN_PLAIN;
    if (state == SCAN_PAUSE) {
        if (--decoder->number > 0)
            decoder->state = SCAN_PAUSE;
        return KEY_NONE;
    }
    if (byte == PREFIX_PAUSE) {
        decoder->number = PAUSE_FOLLOWS;
        decoder->state = SCAN_PAUSE;
        return KEY_NONE;
    }
    if (byte == PREFIX_E0) {
        decoder->state = SCAN_E0;
        return KEY_NONE;
    }
    if (byte & RELEASED)
        return KEY_NONE;
    if (state == SCAN_E0)
        return grey_key(byte);
    size_t index = (size_t)byte - SCAN_FIRST_KEY;
    return byte >= SCAN_FIRST_KEY && index < sizeof(plain_keys) - 1 ? plain_keys[index] : KEY_NONE;
}

/* ---- Terminals ---- */

#define ESC 0x1b
#define DEL 0x7f

enum { TERM_PLAIN, TERM_CR, TERM_ESC, TERM_CSI, TERM_SS3 };

/* ESC [ letter, or ESC O letter in a terminal's application mode. */
static int final_letter(uint8_t letter)
{
    switch (letter) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return KEY_RIGHT;
    case 'D':
        return KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    default:
        return KEY_NONE;
    }
}

/* ESC [ number ~ */
static int numbered(uint8_t number)
{
    static const int keys[] = {
        [1] = KEY_HOME,      [4] = KEY_END,  [5] = KEY_PAGE_UP,
        [6] = KEY_PAGE_DOWN, [7] = KEY_HOME, [8] = KEY_END,
    };
    return number < sizeof(keys) / sizeof(keys[0]) ? keys[number] : KEY_NONE;
}

/* The middle of ESC [ ...: parameters are 30H to 3FH, the final byte 40H to 7EH. */
static int control_sequence(struct key_decoder *decoder, uint8_t byte)
{
    if (byte >= 0x20 && byte <= 0x3f) {
        if (byte >= '0' && byte <= '9')
            decoder->number = (uint8_t)(decoder->number * 10 + (byte - '0'));
        decoder->state = TERM_CSI;
        return KEY_NONE;
    }
    return byte == '~' ? numbered(decoder->number) : final_letter(byte);
}

int key_from_terminal(struct key_decoder *decoder, uint8_t byte)
{
    uint8_t state = decoder->state;
    decoder->state = TERM_PLAIN;
    if (byte == ESC) {
        decoder->state = TERM_ESC;
        return KEY_NONE;
    }
    switch (state) {
    case TERM_ESC:
        if (byte == '[' || byte == 'O') {
            decoder->number = 0;
            decoder->state = byte == '[' ? TERM_CSI : TERM_SS3;
            return KEY_NONE;
        }
        break;
    case TERM_CSI:
        return control_sequence(decoder, byte);
    case TERM_SS3:
        return final_letter(byte);
    case TERM_CR:
        if (byte == '\n')
            return KEY_NONE;
        break;
    default:
        break;
    }
    if (byte == '\r') {
        decoder->state = TERM_CR;
        return KEY_ENTER;
    }
    if (byte == DEL)
        return KEY_BACKSPACE;
    return byte == '\n' || byte == KEY_BACKSPACE || (byte >= ' ' && byte < DEL) ? lower(byte)
                                                                                : KEY_NONE;
}
