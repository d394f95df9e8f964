/* The text screen. */
#include "kernel/console/screen.h"

#include <stdbool.h>

#include "kernel/string.h"

#define TAB 8

/* The console's text is UTF-8; the VGA's font is CP437. What it lacks gets its nearest kin. */
static const struct {
    uint16_t unicode;
    uint8_t cp437;
} characters[] = {
    {0x00b0, 0xf8}, {0x00b1, 0xf1}, {0x00b2, 0xfd}, {0x00b5, 0xe6}, {0x00b7, 0xfa}, {0x00bd, 0xab},
    {0x00d7, 'x'},  {0x00e4, 0x84}, {0x00f6, 0x94}, {0x00fc, 0x81}, {0x00df, 0xe1}, {0x2013, '-'},
    {0x2014, '-'},  {0x2018, '\''}, {0x2019, '\''}, {0x201c, '"'},  {0x201d, '"'},  {0x2026, '.'},
    {0x2190, 0x1b}, {0x2192, 0x1a}, {0x2248, 0xf7}, {0x2264, 0xf3}, {0x2265, 0xf2},
};

static struct screen screen;
static uint8_t cells[SCREEN_MAX_ROWS][SCREEN_MAX_COLUMNS];
static unsigned column, row;
static struct {
    uint8_t cells[SCREEN_MAX_ROWS][SCREEN_MAX_COLUMNS];
    unsigned column, row;
} saved;
static uint32_t code_point; /* of a UTF-8 sequence that is not complete */
static unsigned missing;    /* bytes that it still lacks */

/* An interrupt handler may print in the middle of the work below and find row or column one too
 * far: such a character is lost, nothing worse. */
static void set_cell(unsigned x, unsigned y, uint8_t cp437)
{
    if (x >= screen.columns || y >= screen.rows || cells[y][x] == cp437)
        return;
    cells[y][x] = cp437;
    screen.draw(x, y, cp437);
}

static void scroll(void)
{
    for (unsigned y = 0; y < screen.rows; y++) {
        unsigned from = y + screen.scroll_lines;
        for (unsigned x = 0; x < screen.columns; x++)
            set_cell(x, y, from < screen.rows ? cells[from][x] : ' ');
    }
    row = screen.rows - screen.scroll_lines;
}

static void new_line(void)
{
    column = 0;
    if (++row >= screen.rows)
        scroll();
}

static void put_cell(uint8_t cp437)
{
    if (column >= screen.columns)
        new_line();
    set_cell(column++, row, cp437);
}

static uint8_t to_cp437(uint32_t unicode)
{
    for (unsigned i = 0; i < sizeof(characters) / sizeof(characters[0]); i++)
        if (characters[i].unicode == unicode)
            return characters[i].cp437;
    return '?';
}

static void put_ascii(char byte)
{
    if (byte == '\n') {
        new_line();
    } else if (byte == '\r') {
        column = 0;
    } else if (byte == '\t') {
        do
            put_cell(' ');
        while (column % TAB != 0);
    } else {
        put_cell(byte < ' ' ? '?' : (uint8_t)byte);
    }
}

/* The Unicode Standard, "UTF-8": the leading byte's upper bits say how many bytes follow, 10xxxxxx
 * each. */
void screen_putc(char c)
{
    uint8_t byte = (uint8_t)c;
    bool continues = (byte & 0xc0) == 0x80;

    if (continues && missing > 0) {
        code_point = code_point << 6 | (byte & 0x3f);
        if (--missing == 0)
            put_cell(to_cp437(code_point));
        return;
    }
    if (continues || missing > 0)
        put_cell('?'); /* a sequence without a beginning, or one that broke off */
    missing = 0;
    if (byte < 0x80) {
        put_ascii(c);
    } else if (!continues) {
        missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        code_point = byte & (0x3f >> missing);
    }
}

void screen_init(const struct screen *with)
{
    screen = *with;
    column = row = missing = 0;
    for (unsigned y = 0; y < screen.rows; y++) {
        for (unsigned x = 0; x < screen.columns; x++) {
            cells[y][x] = ' ';
            screen.draw(x, y, ' '); /* whatever the firmware left there */
        }
    }
}

unsigned screen_columns(void)
{
    return screen.columns;
}

unsigned screen_rows(void)
{
    return screen.rows;
}

void screen_save(void)
{
    memcpy(saved.cells, cells, sizeof(cells));
    saved.column = column;
    saved.row = row;
}

void screen_restore(void)
{
    for (unsigned y = 0; y < screen.rows; y++)
        for (unsigned x = 0; x < screen.columns; x++)
            set_cell(x, y, saved.cells[y][x]);
    column = saved.column;
    row = saved.row;
}

void screen_clear(void)
{
    for (unsigned y = 0; y < screen.rows; y++)
        for (unsigned x = 0; x < screen.columns; x++)
            set_cell(x, y, ' ');
    column = row = missing = 0;
}
