/* The VGA text screen: 80 x 25 cells of a CP437 character and an attribute, at B8000H. */
#include "kernel/console/console.h"
#include "kernel/console/report.h"
#include "kernel/console/screen.h"
#include "kernel/io.h"

#define VGA_TEXT          0xb8000
#define COLUMNS           80
#define ROWS              25
#define CRTC_INDEX        0x3d4
#define CRTC_DATA         0x3d5
#define CRTC_CURSOR_START 0x0a
#define CURSOR_OFF        0x20
#define HALVES            2

static volatile uint16_t *cell_at(unsigned column, unsigned row)
{
    return (volatile uint16_t *)VGA_TEXT + row * COLUMNS + column;
}

static void draw(unsigned column, unsigned row, uint16_t cell, uint16_t before)
{
    (void)before;
    *cell_at(column, row) = cell;
}

/* CP437's characters by their lit halves: none, the upper, the lower, both. The ink can be white; a
 * paper cannot, its fourth bit makes the character blink. */
static const uint8_t by_halves[1 << HALVES] = {' ', 0xdf, 0xdc, 0xdb};

static void square(unsigned x, unsigned y, unsigned size, bool black)
{
    for (unsigned row = y; row < y + size; row++) {
        for (unsigned column = x; column < x + size; column++) {
            volatile uint16_t *cell = cell_at(column, row / HALVES);
            unsigned lit = (1 << HALVES) - 1, half = 1U << row % HALVES;
            while (lit > 0 && by_halves[lit] != (*cell & 0xff))
                lit--;
            lit = black ? lit & ~half : lit | half;
            *cell = (uint16_t)(ON(BLACK, WHITE) << 8 | by_halves[lit]);
        }
    }
}

struct console_sink *vga_init(void)
{
    static const struct screen vga = {COLUMNS, ROWS, 1, draw, 1, HALVES, 1, square};

    outb(CRTC_INDEX, CRTC_CURSOR_START);
    outb(CRTC_DATA, CURSOR_OFF);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned column = 0; column < COLUMNS; column++)
            *cell_at(column, row) = SCREEN_BLANK;
    screen_init(&vga);
    return report_sink();
}
