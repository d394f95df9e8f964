/*
 * The text screen: lines, wrapping, scrolling and the way from UTF-8 to CP437, for whatever can
 * draw a character cell (VGA text, framebuffer). It remembers what it drew, because reading video
 * memory is slow.
 */
#ifndef PMULAB_SCREEN_H
#define PMULAB_SCREEN_H

#include <stdint.h>

#define SCREEN_MAX_COLUMNS 160
#define SCREEN_MAX_ROWS    100

struct screen {
    unsigned columns, rows; /* at most SCREEN_MAX_* */
    unsigned scroll_lines;  /* by how many lines at a time, 1 to rows */
    void (*draw)(unsigned column, unsigned row, uint8_t cp437);
};

/* Takes this screen for screen_putc() and clears it. A machine has one. */
void screen_init(const struct screen *screen);

/* One byte of UTF-8 text, for a console sink. */
void screen_putc(char byte);

/* 0 when there is no screen. */
unsigned screen_columns(void);
unsigned screen_rows(void);

/* For who wants to show something else for a while: keeps what is on the screen, and brings it
 * back. No nesting. */
void screen_save(void);
void screen_restore(void);
/* An empty screen, written from its first line on. */
void screen_clear(void);

#endif
