/* A font of 8 x 16 dots, drawn for this project: the gaps between letters and lines are in it. */
#ifndef PMULAB_FONT_H
#define PMULAB_FONT_H

#include <stdint.h>

#define FONT_WIDTH  8
#define FONT_HEIGHT 16

/* The dots of one row (0 is the top) of a CP437 character, leftmost in bit FONT_WIDTH - 1; 0 below
 * the last row. A character that the font lacks looks like '?'. */
uint8_t font_row(uint8_t cp437, unsigned row);

#endif
