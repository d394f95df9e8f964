/* The VGA text screen: 80 x 25 cells of a CP437 character and an attribute, at B8000H. */
#include "kernel/console.h"
#include "kernel/io.h"

#define VGA_TEXT          0xb8000
#define COLUMNS           80
#define ROWS              25
#define ATTRIBUTE         0x07 /* light grey on black */
#define TAB               8
#define CRTC_INDEX        0x3d4
#define CRTC_DATA         0x3d5
#define CRTC_CURSOR_START 0x0a
#define CURSOR_OFF        0x20

/* The console's text is UTF-8; the screen's font is CP437. What it lacks gets its nearest kin. */
static const struct {
    uint16_t unicode;
    uint8_t cp437;
} font[] = {
    {0x00b0, 0xf8}, {0x00b1, 0xf1}, {0x00b2, 0xfd}, {0x00b5, 0xe6}, {0x00b7, 0xfa}, {0x00bd, 0xab},
    {0x00d7, 'x'},  {0x00e4, 0x84}, {0x00f6, 0x94}, {0x00fc, 0x81}, {0x00df, 0xe1}, {0x2013, '-'},
    {0x2014, '-'},  {0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'},  {0x201d, '"'},  {0x2026, '.'},
    {0x2190, 0x1b}, {0x2192, 0x1a}, {0x2248, 0xf7}, {0x2264, 0xf3}, {0x2265, 0xf2},
};

static volatile uint16_t *const screen = (volatile uint16_t *)VGA_TEXT;
static unsigned column, row;
static uint32_t code_point; /* of a UTF-8 sequence that is not complete */
static unsigned missing;    /* bytes that it still lacks */

static void clear_row(unsigned which)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        screen[which * COLUMNS + i] = ATTRIBUTE << 8 | ' ';
}

static void new_line(void)
{
    column = 0;
    if (++row < ROWS)
        return;
    row = ROWS - 1;
    for (unsigned i = 0; i < (ROWS - 1) * COLUMNS; i++)
        screen[i] = screen[i + COLUMNS];
    clear_row(row);
}

static void put_cell(uint8_t cp437)
{
    if (column == COLUMNS)
        new_line();
    screen[row * COLUMNS + column++] = (uint16_t)(ATTRIBUTE << 8 | cp437);
}

static uint8_t to_cp437(uint32_t unicode)
{
    for (unsigned i = 0; i < sizeof(font) / sizeof(font[0]); i++)
        if (font[i].unicode == unicode)
            return font[i].cp437;
    return '?';
}

static void put_ascii(char byte)
{
    if (byte == '\n')
        new_line();
    else if (byte == '\r')
        column = 0;
    else if (byte == '\t')
        do
            put_cell(' ');
        while (column % TAB != 0);
    else
        put_cell(byte < ' ' ? '?' : (uint8_t)byte);
}

/* The Unicode Standard, "UTF-8": the leading byte's upper bits say how many bytes follow, 10xxxxxx
 * each. */
static void vga_putc(char c)
{
    uint8_t byte = (uint8_t)c;
    if ((byte & 0xc0) == 0x80) {
        if (missing == 0)
            return;
        code_point = code_point << 6 | (byte & 0x3f);
        if (--missing == 0)
            put_cell(to_cp437(code_point));
        return;
    }
    if (missing != 0)
        put_cell('?'); /* the sequence before broke off */
    missing = byte < 0x80 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
    code_point = byte & (0x3f >> missing);
    if (missing == 0)
        put_ascii(c);
}

static struct console_sink sink = {.name = "vga", .putc = vga_putc};

struct console_sink *vga_init(void)
{
    column = row = missing = 0;
    for (unsigned i = 0; i < ROWS; i++)
        clear_row(i);
    outb(CRTC_INDEX, CRTC_CURSOR_START);
    outb(CRTC_DATA, CURSOR_OFF);
    return &sink;
}
