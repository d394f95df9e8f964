/* What was printed: a console sink that keeps the last half MiB, for who wants to page back. */
#ifndef PMULAB_HISTORY_H
#define PMULAB_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct console_sink *history_init(void);

/* Lines are numbered from 0 on, as they were printed; kept are history_first() to history_last(),
 * the one that is still being written. */
uint64_t history_first(void);
uint64_t history_last(void);
/* Byte i of a line that is kept, -1 at its end. */
int history_byte(uint64_t line, size_t i);

#endif
