/* The console: a list of sinks (COM1, VGA text or framebuffer, debug console), each fed every
 * character. */
#ifndef PMULAB_CONSOLE_H
#define PMULAB_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

struct console_sink {
    const char *name;        /* the word in console=, for example "serial" */
    void (*putc)(char byte); /* one byte of UTF-8 text; '\n' alone ends a line */
    void (*flush)(void);     /* waits until all is out, not for ever; NULL: it is out at once */
    struct console_sink *next;
};

void console_add(struct console_sink *sink); /* a second time: nothing happens */
void console_remove(struct console_sink *sink);
void console_putc(char byte);

/* A 16550 UART at an I/O port, 8N1. NULL when nothing answers there. baud: a divisor of 115200. */
struct console_sink *serial_init(uint16_t port, uint32_t baud);
/* To that port alone; nothing happens when there is none. */
void serial_putc(char byte);
/* A byte that came in there, or -1 when there is none. */
int serial_getc(void);

/* The VGA text screen, 80 x 25 at B8000H, cleared. Only where the boot information shows no other.
 */
struct console_sink *vga_init(void);

/* The framebuffer that the boot loader set up, cleared. Only after paging_init(): it may lie above
 * 4 GiB. NULL when it is not there, not of a kind that it can draw on, or too large to be mapped.
 */
struct boot_framebuffer;
struct console_sink *framebuffer_init(const struct boot_framebuffer *from);

/* QEMU's and Bochs's debug console, port E9H. NULL when reading the port does not give E9H. */
struct console_sink *debugcon_init(void);

#endif
