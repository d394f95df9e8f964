/* The screen as a linear framebuffer: what UEFI has instead of VGA text, and a BIOS in a graphics
 * mode. */
#include <stddef.h>

#include "boot/bootinfo.h"
#include "boot/multiboot2.h"
#include "x86/regs.h"
#include "kernel/console/console.h"
#include "kernel/console/font.h"
#include "kernel/console/report.h"
#include "kernel/console/screen.h"
#include "kernel/paging.h"

/* As large as leaves so many cells: more than 80 x 25, what text mode has. */
#define WISHED_COLUMNS 100
#define WISHED_ROWS    27
#define IDENTITY_END   (1ULL << 32)
#define LOWER_HALF_END (1ULL << 47) /* an address from there on is not canonical */
#define COLOURS        16
#define LEAST_SQUARE   3 /* pixels */

/* A line may begin anywhere. */
typedef uint64_t pixel_pair __attribute__((aligned(1), may_alias));
typedef uint32_t pixel_word __attribute__((aligned(1), may_alias));

static struct {
    volatile uint8_t *pixels; /* of the first cell: the cells are in the middle */
    uint32_t pitch, bytes;    /* bytes a line, bytes a pixel */
    unsigned scale;           /* pixels a dot */
    uint32_t palette[COLOURS];
} fb;

/* Red, green and blue, from 0 to 255. Darker papers and softer inks than the VGA's, for a panel. */
static const uint8_t colours[COLOURS][3] = {
    [BLACK] = {0, 0, 0},
    [BLUE] = {24, 56, 120},
    [GREEN] = {32, 144, 64},
    [CYAN] = {88, 160, 176},
    [RED] = {192, 32, 32},
    [MAGENTA] = {160, 64, 160},
    [BROWN] = {184, 136, 32},
    [GREY] = {200, 200, 200},
    [DARK_GREY] = {128, 128, 128},
    [LIGHT_BLUE] = {112, 160, 255},
    [LIGHT_GREEN] = {80, 224, 112},
    [LIGHT_CYAN] = {112, 224, 240},
    [LIGHT_RED] = {255, 96, 80},
    [LIGHT_MAGENTA] = {240, 128, 240},
    [YELLOW] = {248, 216, 80},
    [WHITE] = {255, 255, 255},
};

/* A row of equal pixels. Two of 32 bits at a time: without write-combining each store takes its way
 * over the bus alone. */
static void fill(unsigned x, unsigned y, unsigned width, uint32_t colour)
{
    volatile uint8_t *pixel = fb.pixels + (size_t)y * fb.pitch + (size_t)x * fb.bytes;
    if (fb.bytes == sizeof(uint32_t)) {
        for (; width >= 2; width -= 2, pixel += 2 * sizeof(uint32_t))
            *(volatile pixel_pair *)pixel = (uint64_t)colour << 32 | colour;
        if (width > 0)
            *(volatile pixel_word *)pixel = colour;
        return;
    }
    for (; width > 0; width--, pixel += fb.bytes)
        for (unsigned i = 0; i < fb.bytes; i++)
            pixel[i] = (uint8_t)(colour >> 8 * i);
}

static uint32_t dot(uint16_t cell, unsigned x, unsigned y)
{
    bool set = font_row((uint8_t)cell, y) >> (FONT_WIDTH - 1 - x) & 1;
    return fb.palette[set ? cell >> 8 & 0x0f : cell >> 12];
}

/* Only the dots that change: a screen that scrolls has most of them in common with what was there.
 */
static void draw(unsigned column, unsigned row, uint16_t cell, uint16_t before)
{
    for (unsigned y = 0; y < FONT_HEIGHT; y++) {
        unsigned x = 0, end;
        for (; x < FONT_WIDTH; x = end) {
            uint32_t colour = dot(cell, x, y);
            bool same = before != SCREEN_UNKNOWN && dot(before, x, y) == colour;
            for (end = x + 1; end < FONT_WIDTH && dot(cell, end, y) == colour; end++)
                if ((before != SCREEN_UNKNOWN && dot(before, end, y) == colour) != same)
                    break;
            for (unsigned i = 0; i < fb.scale && !same; i++)
                fill((column * FONT_WIDTH + x) * fb.scale, (row * FONT_HEIGHT + y) * fb.scale + i,
                     (end - x) * fb.scale, colour);
        }
    }
}

static void square(unsigned x, unsigned y, unsigned size, bool black)
{
    for (unsigned i = 0; i < size; i++)
        fill(x, y + i, size, fb.palette[black ? BLACK : WHITE]);
}

/* So much of 255 in a colour's field. */
static uint32_t part(unsigned value, uint8_t position, uint8_t size)
{
    return (uint32_t)((uint64_t)((1U << size) - 1) * value / 255) << position;
}

static bool usable(const struct boot_framebuffer *from)
{
    unsigned bits = from->bits_per_pixel;
    return from->present && from->type == MB2_FRAMEBUFFER_RGB &&
           (bits == 15 || bits == 16 || bits == 24 || bits == 32) &&
           from->red.position + from->red.size <= bits &&
           from->green.position + from->green.size <= bits &&
           from->blue.position + from->blue.size <= bits && from->red.size < 31 &&
           from->green.size < 31 && from->blue.size < 31 && from->width >= FONT_WIDTH &&
           from->height >= FONT_HEIGHT && from->pitch / ((bits + 7) / 8) >= from->width;
}

/* Up to 4 GiB it is mapped already, with the memory type that the firmware's MTRRs give it. */
static bool map(uint64_t address, uint64_t size)
{
    uint64_t end = address + size;
    if (end < address || end > LOWER_HALF_END)
        return false;
    uint64_t page = address & ~(uint64_t)(PAGE_SIZE - 1);
    for (page = page < IDENTITY_END ? IDENTITY_END : page; page < end; page += PAGE_SIZE)
        if (!paging_map(page, page, PTE_RW | PTE_XD))
            return false;
    return true;
}

static unsigned at_most(unsigned value, unsigned limit)
{
    return value < limit ? value : limit;
}

/* The largest scale that leaves enough columns and rows. */
static unsigned scale_for(uint32_t width, uint32_t height)
{
    unsigned x = width / (WISHED_COLUMNS * FONT_WIDTH), y = height / (WISHED_ROWS * FONT_HEIGHT);
    unsigned scale = x < y ? x : y;
    return scale > 0 ? scale : 1;
}

struct console_sink *framebuffer_init(const struct boot_framebuffer *from)
{
    if (!usable(from) || !map(from->address, (uint64_t)from->pitch * from->height))
        return NULL;
    fb.pixels = (volatile uint8_t *)from->address;
    fb.pitch = from->pitch;
    fb.bytes = (from->bits_per_pixel + 7) / 8;
    for (unsigned i = 0; i < COLOURS; i++)
        fb.palette[i] = part(colours[i][0], from->red.position, from->red.size) |
                        part(colours[i][1], from->green.position, from->green.size) |
                        part(colours[i][2], from->blue.position, from->blue.size);
    for (unsigned y = 0; y < from->height; y++) /* the cells leave a margin */
        fill(0, y, from->width, fb.palette[BLACK]);

    unsigned scale = fb.scale = scale_for(from->width, from->height);
    unsigned columns = at_most(from->width / (FONT_WIDTH * scale), SCREEN_MAX_COLUMNS);
    unsigned rows = at_most(from->height / (FONT_HEIGHT * scale), SCREEN_MAX_ROWS);
    unsigned left = (from->width - columns * FONT_WIDTH * scale) / 2;
    unsigned top = (from->height - rows * FONT_HEIGHT * scale) / 2;
    fb.pixels += (size_t)top * fb.pitch + (size_t)left * fb.bytes;
    /* Half a screen at a time: drawing millions of pixels for each line would take the most of a
     * run. */
    struct screen screen = {
        columns,      rows,   (rows + 1) / 2, draw, FONT_WIDTH * scale, FONT_HEIGHT * scale,
        LEAST_SQUARE, square,
    };
    screen_init(&screen);
    return report_sink();
}
