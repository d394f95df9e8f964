/* UTF-8 and CP437. */
#include "kernel/console/cp437.h"

#include <stddef.h>

static const struct {
    uint16_t unicode;
    uint8_t cp437;
} characters[] = {
    {0x00b0, 0xf8}, {0x00b1, 0xf1}, {0x00b2, 0xfd}, {0x00b5, 0xe6}, {0x00b7, 0xfa}, {0x00bd, 0xab},
    {0x00d7, 'x'},  {0x00e4, 0x84}, {0x00f6, 0x94}, {0x00fc, 0x81}, {0x00df, 0xe1}, {0x2013, '-'},
    {0x2014, '-'},  {0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'},  {0x201d, '"'},  {0x2026, '.'},
    {0x2190, 0x1b}, {0x2191, 0x18}, {0x2192, 0x1a}, {0x2193, 0x19}, {0x2248, 0xf7}, {0x2264, 0xf3},
    {0x2265, 0xf2}, {0x2500, 0xc4}, {0x2502, 0xb3}, {0x2580, 0xdf}, {0x2584, 0xdc}, {0x2588, 0xdb},
    {0x2591, 0xb0}, {0x25ba, 0x10},
};

static uint8_t to_cp437(uint32_t unicode)
{
    for (size_t i = 0; i < sizeof(characters) / sizeof(characters[0]); i++)
        if (characters[i].unicode == unicode)
            return characters[i].cp437;
    return '?';
}

/* The Unicode Standard, "UTF-8": the leading byte's upper bits say how many bytes follow, 10xxxxxx
 * each. */
const char *cp437_next(const char *text, uint8_t *cp437)
{
    uint8_t lead = (uint8_t)*text++;
    unsigned follow = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (follow == 0) { /* ASCII, or a byte that continues nothing */
        *cp437 = lead < ' ' || lead >= 0x80 ? '?' : lead;
        return text;
    }
    uint32_t unicode = lead & (0x3f >> follow);
    for (; follow > 0 && ((uint8_t)*text & 0xc0) == 0x80; follow--)
        unicode = unicode << 6 | ((uint8_t)*text++ & 0x3f);
    *cp437 = follow > 0 ? '?' : to_cp437(unicode); /* it broke off, or it is whole */
    return text;
}
