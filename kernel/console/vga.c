/* The VGA text screen: 80 x 25 cells of a CP437 character and an attribute, at B8000H. */
#include "kernel/console/console.h"
#include "kernel/io.h"
#include "kernel/console/screen.h"

#define VGA_TEXT          0xb8000
#define COLUMNS           80
#define ROWS              25
#define ATTRIBUTE         0x07 /* light grey on black */
#define CRTC_INDEX        0x3d4
#define CRTC_DATA         0x3d5
#define CRTC_CURSOR_START 0x0a
#define CURSOR_OFF        0x20

static void draw(unsigned column, unsigned row, uint8_t cp437)
{
    volatile uint16_t *text = (volatile uint16_t *)VGA_TEXT;
    text[row * COLUMNS + column] = (uint16_t)(ATTRIBUTE << 8 | cp437);
}

static struct console_sink sink = {.name = "vga", .putc = screen_putc};

struct console_sink *vga_init(void)
{
    static const struct screen vga = {COLUMNS, ROWS, 1, draw};

    outb(CRTC_INDEX, CRTC_CURSOR_START);
    outb(CRTC_DATA, CURSOR_OFF);
    screen_init(&vga);
    return &sink;
}
