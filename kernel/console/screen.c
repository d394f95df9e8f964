/* The text screen. */
#include "kernel/console/screen.h"

#include <stddef.h>

#include "kernel/console/cp437.h"

#define KEPT  4096 /* lines of the log */
#define QUIET 4    /* white squares around the picture: ISO/IEC 18004, "Quiet zone" */

static struct screen screen;
static uint16_t shown[SCREEN_MAX_ROWS][SCREEN_MAX_COLUMNS];
static bool covered;
static unsigned reserved;

static struct {
    uint16_t lines[KEPT][SCREEN_MAX_COLUMNS];
    uint64_t oldest, newest; /* the one that is being written */
    uint64_t top;            /* the first one that is on the screen while nobody looks back */
    uint64_t look;           /* the first one that somebody looks at, else SCREEN_NEWEST */
    unsigned column;
} roll;

static struct {
    const uint8_t *bits;
    unsigned size, module, x, y; /* of its quiet zone's corner, in dots */
    bool drawn, on_cover;
} picture;

/* ---- Cells ---- */

/* An interrupt handler may print in the middle of the work below and find a row or a column one too
 * far: such a character is lost, nothing worse. */
static void show(unsigned x, unsigned y, uint16_t cell)
{
    if (x >= screen.columns || y >= screen.rows || shown[y][x] == cell)
        return;
    uint16_t before = shown[y][x];
    shown[y][x] = cell;
    screen.draw(x, y, cell, before);
}

static uint16_t *line_cells(uint64_t line)
{
    return roll.lines[line % KEPT];
}

static void blank_line(uint64_t line)
{
    for (unsigned x = 0; x < SCREEN_MAX_COLUMNS; x++)
        line_cells(line)[x] = SCREEN_BLANK;
}

uint64_t screen_top(void)
{
    return roll.look != SCREEN_NEWEST ? roll.look : roll.top;
}

static void show_row(unsigned y)
{
    uint64_t line = screen_top() + y;
    for (unsigned x = 0; x < screen.columns; x++)
        show(x, y, line <= roll.newest ? line_cells(line)[x] : SCREEN_BLANK);
}

/* ---- The picture ---- */

/* The cells that it touches. */
static bool picture_has(unsigned x, unsigned y)
{
    unsigned side = (picture.size + 2 * QUIET) * picture.module;
    return (x + 1) * screen.cell_width > picture.x && x * screen.cell_width < picture.x + side &&
           (y + 1) * screen.cell_height > picture.y && y * screen.cell_height < picture.y + side;
}

static bool is_black(unsigned x, unsigned y)
{
    unsigned n = (y - QUIET) * picture.size + (x - QUIET);
    return x >= QUIET && y >= QUIET && x < QUIET + picture.size && y < QUIET + picture.size &&
           (picture.bits[n / 8] >> n % 8 & 1);
}

/* Whether it hides text, where it would be now. */
static bool hides_text(void)
{
    for (unsigned y = 0; y < screen.rows; y++)
        for (unsigned x = 0; x < screen.columns; x++)
            if (picture_has(x, y) && (shown[y][x] & 0xff) != ' ')
                return true;
    return false;
}

static void draw_picture(void)
{
    unsigned side = picture.size + 2 * QUIET;
    for (unsigned y = 0; y < screen.rows; y++)
        for (unsigned x = 0; x < screen.columns; x++)
            if (picture_has(x, y))
                shown[y][x] = SCREEN_UNKNOWN;
    for (unsigned y = 0; y < side; y++)
        for (unsigned x = 0; x < side; x++)
            screen.square(picture.x + x * picture.module, picture.y + y * picture.module,
                          picture.module, is_black(x, y));
    picture.drawn = true;
}

static bool place_picture(void)
{
    unsigned width = screen.columns * screen.cell_width,
             height = (screen.rows - reserved) * screen.cell_height,
             across = picture.size + 2 * QUIET;
    for (picture.module = (width < height ? width : height) / across;
         picture.module >= screen.least_square; picture.module--) {
        picture.x = width - across * picture.module;
        picture.y = height - across * picture.module;
        if (!hides_text())
            return true;
        picture.y = 0;
        if (!hides_text())
            return true;
    }
    return false;
}

/* ---- The log on the screen ---- */

static void refresh(void)
{
    picture.drawn = false;
    if (covered)
        return;
    for (unsigned y = 0; y < screen_log_rows(); y++)
        show_row(y);
    if (picture.bits != NULL && roll.look == SCREEN_NEWEST)
        draw_picture();
}

bool screen_bitmap(const uint8_t *bits, unsigned size)
{
    picture.bits = NULL;
    refresh();
    if (bits == NULL || screen.columns == 0)
        return false;
    picture.size = size;
    picture.on_cover = covered;
    if (!place_picture())
        return false;
    picture.bits = bits;
    draw_picture();
    return true;
}

static bool is_seen(void)
{
    return !covered && roll.look == SCREEN_NEWEST;
}

void screen_newline(void)
{
    unsigned rows = screen_log_rows();
    roll.column = 0;
    blank_line(++roll.newest);
    if (roll.newest - roll.oldest >= KEPT)
        roll.oldest = roll.newest - KEPT + 1;
    if (rows == 0 || roll.newest < roll.top + rows)
        return;
    roll.top = roll.newest - rows + (screen.scroll_lines < rows ? screen.scroll_lines : rows);
    picture.bits = NULL;
    if (is_seen())
        refresh();
}

void screen_putc(uint8_t cp437, uint8_t attribute)
{
    if (screen.columns == 0)
        return;
    if (roll.column >= screen.columns)
        screen_newline();
    unsigned column = roll.column++;
    if (column >= screen.columns)
        return;
    uint16_t cell = (uint16_t)(attribute << 8 | cp437);
    line_cells(roll.newest)[column] = cell;
    uint64_t row = roll.newest - roll.top;
    if (is_seen() && row < screen_log_rows() &&
        !(picture.drawn && picture_has(column, (unsigned)row)))
        show(column, (unsigned)row, cell);
}

unsigned screen_column(void)
{
    return roll.column;
}

uint64_t screen_line(void)
{
    return roll.newest;
}

void screen_rewind(uint64_t line)
{
    uint64_t from = line < roll.oldest ? roll.oldest : line;
    for (uint64_t at = from; at <= roll.newest; at++)
        blank_line(at);
    uint64_t below = roll.newest + 1;
    if (from < roll.newest)
        roll.newest = from;
    roll.column = 0;
    if (roll.top > roll.newest) {
        roll.top = roll.newest;
        below = roll.top + screen_log_rows();
    }
    if (is_seen())
        for (uint64_t at = from; at < below; at++)
            show_row((unsigned)(at - roll.top));
}

void screen_new_page(void)
{
    if (roll.column > 0)
        screen_newline();
    roll.top = roll.newest;
    picture.bits = NULL;
    if (is_seen())
        refresh();
}

unsigned screen_log_rows(void)
{
    return screen.rows - reserved;
}

uint64_t screen_oldest(void)
{
    return roll.oldest;
}

void screen_look(uint64_t line)
{
    roll.look = line == SCREEN_NEWEST || line >= roll.oldest ? line : roll.oldest;
    refresh();
}

/* ---- What does not scroll ---- */

static void blank_rows(unsigned from, unsigned to)
{
    for (unsigned y = from; y < to; y++)
        for (unsigned x = 0; x < screen.columns; x++)
            show(x, y, SCREEN_BLANK);
}

void screen_reserve(unsigned rows)
{
    reserved = rows < screen.rows ? rows : 0;
    if (roll.newest >= roll.top + screen_log_rows())
        roll.top = roll.newest - screen_log_rows() + 1;
    if (covered)
        return;
    blank_rows(screen_log_rows(), screen.rows);
    refresh();
}

void screen_cover(bool on)
{
    covered = on;
    if (picture.on_cover)
        picture.bits = NULL;
    blank_rows(on ? 0 : screen_log_rows(), screen.rows);
    refresh();
}

unsigned screen_text(unsigned column, unsigned row, uint8_t attribute, const char *text)
{
    while (*text != '\0') {
        uint8_t cp437;
        text = cp437_next(text, &cp437);
        show(column++, row, (uint16_t)(attribute << 8 | cp437));
    }
    return column < screen.columns ? column : screen.columns;
}

/* ---- ---- */

void screen_init(const struct screen *with)
{
    screen = *with;
    covered = false;
    reserved = 0;
    picture.bits = NULL;
    picture.drawn = false;
    roll.oldest = roll.newest = roll.top = 0;
    roll.look = SCREEN_NEWEST;
    roll.column = 0;
    blank_line(0);
    for (unsigned y = 0; y < screen.rows; y++)
        for (unsigned x = 0; x < screen.columns; x++)
            shown[y][x] = SCREEN_BLANK;
}

unsigned screen_columns(void)
{
    return screen.columns;
}

unsigned screen_rows(void)
{
    return screen.rows;
}
