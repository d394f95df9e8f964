/* The screen as a linear framebuffer: what UEFI has instead of VGA text, and a BIOS in a graphics
 * mode. */
#include <stddef.h>

#include "boot/bootinfo.h"
#include "boot/multiboot2.h"
#include "x86/regs.h"
#include "kernel/console/console.h"
#include "kernel/console/font.h"
#include "kernel/paging.h"
#include "kernel/console/screen.h"

#define CELL_WIDTH     (FONT_WIDTH + 1)
#define CELL_HEIGHT    (FONT_HEIGHT + 2)
#define WISHED_COLUMNS 100 /* most lines of a report are shorter */
#define IDENTITY_END   (1ULL << 32)
#define LOWER_HALF_END (1ULL << 47) /* an address from there on is not canonical */

static struct {
    volatile uint8_t *pixels;
    uint32_t pitch, bytes; /* bytes a line, bytes a pixel */
    unsigned scale;        /* pixels a dot */
    uint32_t ink;
} fb;

static void set_pixel(unsigned x, unsigned y, uint32_t colour)
{
    volatile uint8_t *pixel = fb.pixels + (size_t)y * fb.pitch + (size_t)x * fb.bytes;
    if (fb.bytes == sizeof(uint32_t)) {
        *(volatile uint32_t *)pixel = colour;
        return;
    }
    for (unsigned i = 0; i < fb.bytes; i++)
        pixel[i] = (uint8_t)(colour >> 8 * i);
}

static void draw(unsigned column, unsigned row, uint8_t cp437)
{
    for (unsigned y = 0; y < CELL_HEIGHT * fb.scale; y++) {
        uint8_t dots = font_row(cp437, y / fb.scale);
        for (unsigned x = 0; x < CELL_WIDTH * fb.scale; x++) {
            unsigned dot = x / fb.scale;
            bool set = dot < FONT_WIDTH && (dots >> (FONT_WIDTH - 1 - dot) & 1);
            set_pixel(column * CELL_WIDTH * fb.scale + x, row * CELL_HEIGHT * fb.scale + y,
                      set ? fb.ink : 0);
        }
    }
}

/* Three quarters of full brightness in a colour's field. */
static uint32_t part(uint8_t position, uint8_t size)
{
    return (((1U << size) - 1) * 3 / 4) << position;
}

static bool usable(const struct boot_framebuffer *from)
{
    unsigned bits = from->bits_per_pixel;
    return from->present && from->type == MB2_FRAMEBUFFER_RGB &&
           (bits == 15 || bits == 16 || bits == 24 || bits == 32) &&
           from->red.position + from->red.size <= bits &&
           from->green.position + from->green.size <= bits &&
           from->blue.position + from->blue.size <= bits && from->red.size < 31 &&
           from->green.size < 31 && from->blue.size < 31 && from->width >= CELL_WIDTH &&
           from->height >= CELL_HEIGHT && from->pitch / ((bits + 7) / 8) >= from->width;
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

static struct console_sink sink = {.name = "vga", .putc = screen_putc};

struct console_sink *framebuffer_init(const struct boot_framebuffer *from)
{
    if (!usable(from) || !map(from->address, (uint64_t)from->pitch * from->height))
        return NULL;
    fb.pixels = (volatile uint8_t *)from->address;
    fb.pitch = from->pitch;
    fb.bytes = (from->bits_per_pixel + 7) / 8;
    fb.ink = part(from->red.position, from->red.size) |
             part(from->green.position, from->green.size) |
             part(from->blue.position, from->blue.size);
    fb.scale = from->width / (WISHED_COLUMNS * CELL_WIDTH);
    if (fb.scale == 0)
        fb.scale = 1;

    unsigned rows = at_most(from->height / (CELL_HEIGHT * fb.scale), SCREEN_MAX_ROWS);
    if (rows == 0)
        return NULL;
    /* Half a screen at a time: drawing millions of pixels for each line would take the most of a
     * run. */
    struct screen screen = {
        at_most(from->width / (CELL_WIDTH * fb.scale), SCREEN_MAX_COLUMNS),
        rows,
        (rows + 1) / 2,
        draw,
    };
    screen_init(&screen);
    return &sink;
}
