/* The lines printed so far, in a ring. */
#include "kernel/console/history.h"

#include "kernel/console/console.h"

#define TEXT  (512 * 1024)
#define LINES 8192

static char text[TEXT];
static uint64_t starts[LINES]; /* where a line starts, counted in bytes since the beginning */
static uint64_t written, last;

static void history_putc(char c)
{
    if (c == '\r') { /* written anew, as a terminal shows it */
        written = starts[last % LINES];
        return;
    }
    text[written++ % TEXT] = c;
    if (c == '\n')
        starts[++last % LINES] = written;
}

uint64_t history_last(void)
{
    return last;
}

uint64_t history_first(void)
{
    uint64_t first = last < LINES ? 0 : last - LINES + 1;
    while (written - starts[first % LINES] > TEXT)
        first++;
    return first;
}

int history_byte(uint64_t line, size_t i)
{
    uint64_t at = starts[line % LINES] + i;
    if (at >= written || text[at % TEXT] == '\n')
        return -1;
    return (uint8_t)text[at % TEXT];
}

struct console_sink *history_init(void)
{
    static struct console_sink sink = {.name = "history", .putc = history_putc};
    return &sink;
}
