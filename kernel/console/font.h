/* A font of 5 x 7 dots and one row below them for descenders, drawn for this project. */
#ifndef PMULAB_FONT_H
#define PMULAB_FONT_H

#include <stdint.h>

#define FONT_WIDTH  5
#define FONT_HEIGHT 8

/* The dots of one row (0 is the top) of a CP437 character, leftmost in bit FONT_WIDTH - 1; 0 below
 * the last row. A character that the font lacks looks like '?'. */
uint8_t font_row(uint8_t cp437, unsigned row);

#endif
