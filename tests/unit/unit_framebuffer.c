/* The framebuffer screen: every pixel format, any pitch, any place of the colours' fields. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "boot/bootinfo.h"
#include "boot/multiboot2.h"
#include "kernel/console/console.h"
#include "kernel/console/font.h"
#include "kernel/paging.h"
#include "kernel/console/screen.h"

#define CELL_WIDTH  8
#define CELL_HEIGHT 16

static bool paging_gives = true;
static uint64_t mapped;

bool paging_map(uint64_t virt, uint64_t phys, uint64_t flags)
{
    (void)flags;
    assert_int_equal(virt, phys);
    mapped++;
    return paging_gives;
}

struct format {
    uint32_t width, height, pitch;
    uint8_t bits, red, red_size, green, green_size, blue, blue_size;
};

static struct boot_framebuffer describe(const struct format *f, void *pixels)
{
    struct boot_framebuffer fb = {
        .present = true,
        .type = MB2_FRAMEBUFFER_RGB,
        .bits_per_pixel = f->bits,
        .address = (uint64_t)pixels,
        .pitch = f->pitch,
        .width = f->width,
        .height = f->height,
        .red = {f->red, f->red_size},
        .green = {f->green, f->green_size},
        .blue = {f->blue, f->blue_size},
    };
    return fb;
}

static uint32_t pixel(const struct format *f, const uint8_t *pixels, unsigned x, unsigned y)
{
    uint32_t value = 0;
    unsigned bytes = (f->bits + 7) / 8;
    memcpy(&value, pixels + (size_t)y * f->pitch + (size_t)x * bytes, bytes);
    return value;
}

/* The largest scale with 100 columns and 27 rows, at most 160 x 100 of them, in the middle. */
struct cells {
    unsigned scale, columns, rows, left, top;
};

static struct cells cells_of(const struct format *f)
{
    struct cells c = {.scale = 1};
    while (f->width >= 100 * CELL_WIDTH * (c.scale + 1) &&
           f->height >= 27 * CELL_HEIGHT * (c.scale + 1))
        c.scale++;
    c.columns = f->width / CELL_WIDTH / c.scale;
    c.rows = f->height / CELL_HEIGHT / c.scale;
    c.columns = c.columns < 160 ? c.columns : 160;
    c.rows = c.rows < 100 ? c.rows : 100;
    c.left = (f->width - c.columns * CELL_WIDTH * c.scale) / 2;
    c.top = (f->height - c.rows * CELL_HEIGHT * c.scale) / 2;
    return c;
}

static uint32_t all_colours(const struct format *f)
{
    return ((1u << f->red_size) - 1) << f->red | ((1u << f->green_size) - 1) << f->green |
           ((1u << f->blue_size) - 1) << f->blue;
}

/* Is this character there? Lit dots have something of each colour, the others are black. */
static void assert_cell(const struct format *f, const uint8_t *pixels, unsigned column,
                        unsigned row, uint8_t wanted)
{
    struct cells c = cells_of(f);
    for (unsigned y = 0; y < CELL_HEIGHT * c.scale; y++) {
        for (unsigned x = 0; x < CELL_WIDTH * c.scale; x++) {
            uint32_t value = pixel(f, pixels, c.left + column * CELL_WIDTH * c.scale + x,
                                   c.top + row * CELL_HEIGHT * c.scale + y);
            bool lit = font_row(wanted, y / c.scale) >> (FONT_WIDTH - 1 - x / c.scale) & 1;
            assert_int_equal(value & ~all_colours(f), 0);
            assert_int_equal((value >> f->red & ((1u << f->red_size) - 1)) != 0, lit);
            assert_int_equal((value >> f->green & ((1u << f->green_size) - 1)) != 0, lit);
            assert_int_equal((value >> f->blue & ((1u << f->blue_size) - 1)) != 0, lit);
        }
    }
}

/* The text that starts this row, and a blank behind it. */
static void assert_row(const struct format *f, const uint8_t *pixels, unsigned row,
                       const char *cp437)
{
    unsigned column = 0;
    for (; cp437[column]; column++)
        assert_cell(f, pixels, column, row, (uint8_t)cp437[column]);
    if (column < cells_of(f).columns)
        assert_cell(f, pixels, column, row, ' ');
}

static void print(struct console_sink *sink, const char *text)
{
    while (*text)
        sink->putc(*text++);
}

static void formats(void **state)
{
    (void)state;
    const struct format all[] = {
        {640, 480, 640 * 4, 32, 16, 8, 8, 8, 0, 8},
        {640, 480, 640 * 4, 32, 0, 8, 8, 8, 16, 8},
        {640, 480, 640 * 4, 32, 8, 8, 16, 8, 24, 8},
        {640, 480, 640 * 4, 32, 20, 10, 10, 10, 0, 10},
        {640, 480, 640 * 3, 24, 16, 8, 8, 8, 0, 8},
        {640, 480, 2048, 24, 0, 8, 8, 8, 16, 8},
        {641, 481, 641 * 3 + 7, 24, 16, 8, 8, 8, 0, 8},
        {800, 600, 1664, 16, 11, 5, 5, 6, 0, 5},
        {800, 600, 1600, 15, 10, 5, 5, 5, 0, 5},
        {1920, 1080, 8192, 32, 16, 8, 8, 8, 0, 8},
        {8, 16, 32, 32, 16, 8, 8, 8, 0, 8},
        {320, 200, 1283, 32, 16, 8, 8, 8, 0, 8},
        {1366, 768, 1366 * 4, 32, 16, 8, 8, 8, 0, 8},
        {3840, 2160, 15360, 32, 16, 8, 8, 8, 0, 8},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct format *f = &all[i];
        size_t size = (size_t)f->pitch * f->height; /* AddressSanitizer watches its ends */
        uint8_t *pixels = malloc(size);
        memset(pixels, 0x5a, size);
        struct boot_framebuffer fb = describe(f, pixels);
        struct console_sink *sink = framebuffer_init(&fb);
        assert_non_null(sink);
        print(sink, "# A\xc2\xb7g\n#  x\n");
        if (f->width > 100) {
            assert_row(f, pixels, 0, "A\xfag");
            assert_row(f, pixels, 1, " x");
        }
        /* Beyond the visible part of a line nothing is drawn. */
        for (size_t at = (size_t)f->width * ((f->bits + 7) / 8); at < f->pitch; at++)
            assert_int_equal(pixels[at], 0x5a);
        for (unsigned line = 0; line < 300; line++) {
            print(sink, line % 2 ? "# x\n" : "# yyyyyyyyyyyyyyyy\n");
        }
        free(pixels);
    }
}

static void refused(void **state)
{
    (void)state;
    uint8_t pixels[64];
    const struct format good = {640, 480, 640 * 4, 32, 16, 8, 8, 8, 0, 8};
    struct format bad[] = {good, good, good, good, good, good};
    bad[0].bits = 8;
    bad[1].bits = 31;
    bad[2].red = 30;    /* its field runs out of the pixel */
    bad[3].pitch = 640; /* a line shorter than its pixels */
    bad[4].width = 3;   /* no room for a character */
    bad[5].green_size = 32;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct boot_framebuffer fb = describe(&bad[i], pixels);
        assert_null(framebuffer_init(&fb));
    }
    struct boot_framebuffer fb = describe(&good, pixels);
    fb.present = false;
    assert_null(framebuffer_init(&fb));
    fb.present = true;
    fb.type = MB2_FRAMEBUFFER_EGA_TEXT;
    assert_null(framebuffer_init(&fb));
    fb.type = MB2_FRAMEBUFFER_RGB;
    fb.address = UINT64_MAX - 100; /* its end wraps */
    assert_null(framebuffer_init(&fb));
}

/* Above 4 GiB every page of it is mapped first, and without pages there is no screen. */
static void high(void **state)
{
    (void)state;
    uint8_t pixels[64];
    const struct format f = {640, 480, 640 * 4, 32, 16, 8, 8, 8, 0, 8};
    struct boot_framebuffer fb = describe(&f, pixels);
    fb.address = 0x4000000000;
    paging_gives = false;
    assert_null(framebuffer_init(&fb));

    fb.address = 0x800000000000 - 640 * 4 * 480; /* up to the last canonical byte, and past it */
    mapped = 0;
    assert_null(framebuffer_init(&fb));
    assert_int_equal(mapped, 1);
    fb.address++;
    assert_null(framebuffer_init(&fb));
    assert_int_equal(mapped, 1);
    paging_gives = true;
}

/* At the lower right corner below so many rows of text, each square of so many pixels (0: there is
 * no room), white around it; where it has been the text's cells come back. */
static void assert_picture(unsigned rows, unsigned square)
{
    enum { SIZE = 41, QUIET = 4 };
    const struct format f = {640, 480, 640 * 4, 32, 16, 8, 8, 8, 0, 8};
    uint8_t *pixels = calloc(f.height, f.pitch), bits[SIZE * SIZE / 8 + 1];
    struct boot_framebuffer fb = describe(&f, pixels);
    struct console_sink *sink = framebuffer_init(&fb);
    for (unsigned i = 0; i < rows; i++)
        print(sink, "# ........................................................................\n");
    for (size_t i = 0; i < sizeof bits; i++)
        bits[i] = (uint8_t)(i * 151 + (i >> 3));
    assert_int_equal(screen_bitmap(bits, SIZE), square != 0);
    unsigned side = (SIZE + 2 * QUIET) * square, left = f.width - side, top = f.height - side;
    for (unsigned y = top; y < f.height; y++) {
        for (unsigned x = left; x < f.width; x++) {
            unsigned i = (y - top) / square - QUIET, j = (x - left) / square - QUIET;
            unsigned n = i * SIZE + j; /* outside it i or j is huge */
            bool black = i < SIZE && j < SIZE && (bits[n / 8] >> n % 8 & 1);
            assert_int_equal(pixel(&f, pixels, x, y), black ? 0 : 0xffffff);
        }
    }
    assert_row(&f, pixels, rows - 1,
               "........................................................................");
    assert_false(screen_bitmap(NULL, 0));
    for (unsigned row = rows; row < 30; row++)
        assert_cell(&f, pixels, 79, row, ' ');
    free(pixels);
}

static void a_picture(void **state)
{
    (void)state;
    assert_picture(1, 9); /* 464 pixels below the text, for 49 squares */
    assert_picture(10, 6);
    assert_picture(20, 3);
    assert_picture(21, 0); /* 2 pixels each could not be read */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(refused),
        cmocka_unit_test(high),
        cmocka_unit_test(a_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
