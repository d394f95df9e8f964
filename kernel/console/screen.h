/*
 * The text screen, for whatever can draw a character cell (VGA text, framebuffer): a log that
 * scrolls and can be looked back at, lines at the bottom that stay, pages drawn over all of it, and
 * a picture of black and white squares. It remembers what it drew, because reading video memory is
 * slow.
 */
#ifndef PMULAB_SCREEN_H
#define PMULAB_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

#define SCREEN_MAX_COLUMNS 160
#define SCREEN_MAX_ROWS    100

/* The colours of VGA text ("attribute": paper * 16 + ink); as paper the first 8. */
enum screen_colour {
    BLACK,
    BLUE,
    GREEN,
    CYAN,
    RED,
    MAGENTA,
    BROWN,
    GREY,
    DARK_GREY,
    LIGHT_BLUE,
    LIGHT_GREEN,
    LIGHT_CYAN,
    LIGHT_RED,
    LIGHT_MAGENTA,
    YELLOW,
    WHITE,
};
#define ON(paper, ink) ((uint8_t)((paper) << 4 | (ink)))

/* A cell: attribute * 256 + CP437 character. */
#define SCREEN_BLANK   ((uint16_t)(ON(BLACK, GREY) << 8 | ' '))
#define SCREEN_UNKNOWN 0xffff /* what stands there is not known: it has to be drawn as a whole */

struct screen {
    unsigned columns, rows; /* at most SCREEN_MAX_* */
    unsigned scroll_lines;  /* by how many lines at a time */
    void (*draw)(unsigned column, unsigned row, uint16_t cell, uint16_t before);
    /* The picture's smallest dots: how many a cell has across and down, and how a square of them
     * is drawn. */
    unsigned cell_width, cell_height;
    unsigned least_square; /* what a telephone can still tell apart */
    void (*square)(unsigned x, unsigned y, unsigned size, bool black);
};

/* Takes this screen, which has been cleared. A machine has one. */
void screen_init(const struct screen *screen);

/* 0 when there is no screen. */
unsigned screen_columns(void);
unsigned screen_rows(void);

/* ---- The log ---- */

/* A CP437 character where the log ends. What does not fit on its line begins the next. */
void screen_putc(uint8_t cp437, uint8_t attribute);
void screen_newline(void);
/* Where the next character goes: in which column, and on which line since the beginning. */
unsigned screen_column(void);
uint64_t screen_line(void);
/* Takes away what was written from the beginning of that line on; it must still be on the screen.
 */
void screen_rewind(uint64_t line);
/* What follows begins at the top of an empty screen. */
void screen_new_page(void);

/* How many rows show the log: all but the reserved ones. */
unsigned screen_log_rows(void);
/* The oldest line that is kept. */
uint64_t screen_oldest(void);
/* Shows the log from this line on (not before the oldest), and whatever is printed changes nothing
 * that is seen; SCREEN_NEWEST: the end again. */
#define SCREEN_NEWEST UINT64_MAX
void screen_look(uint64_t line);
/* The first line that is shown. */
uint64_t screen_top(void);

/* ---- What does not scroll ---- */

/* That many rows at the bottom, 0 or 1, leave the log and are empty. */
void screen_reserve(unsigned rows);
/* Hides the log under an empty page, and brings it back. */
void screen_cover(bool on);
/* UTF-8 text anywhere on the page or in the reserved row, cut at the screen's edge. Returns the
 * column behind it. */
unsigned screen_text(unsigned column, unsigned row, uint8_t attribute, const char *text);

/*
 * A picture of size x size squares, for a QR code: black where the bit is set, on white, with four
 * white squares around. Square n, row by row, is bit n % 8 of byte n / 8. It is as large as fits
 * at the right edge, at the bottom or the top, without hiding text; in text mode a square is half a
 * character. It stays until the log scrolls, is looked back at or covered; the bits are the
 * caller's and must stay until then. NULL takes it away. False: there is no room for squares that
 * can be read, or no screen.
 */
bool screen_bitmap(const uint8_t *bits, unsigned size);

#endif
