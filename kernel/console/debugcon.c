/* The debug console of QEMU and Bochs: a port that takes bytes and, read, gives its own number. */
#include <stddef.h>

#include "kernel/console/console.h"
#include "kernel/io.h"

#define DEBUGCON_PORT 0xe9

static void debugcon_putc(char byte)
{
    outb(DEBUGCON_PORT, (uint8_t)byte);
}

static struct console_sink sink = {.name = "debug", .putc = debugcon_putc};

struct console_sink *debugcon_init(void)
{
    return inb(DEBUGCON_PORT) == DEBUGCON_PORT ? &sink : NULL;
}
