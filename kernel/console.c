/* The console: kprintf and the list of sinks. Nothing is buffered, so it works in every interrupt
 * handler and what was printed before a crash is out. */
#include "kernel/console.h"

#include <stddef.h>

#include "kernel/format.h"
#include "kernel/printf.h"

static struct console_sink *sinks;

void console_add(struct console_sink *sink)
{
    struct console_sink **link = &sinks;
    for (; *link; link = &(*link)->next)
        if (*link == sink)
            return;
    sink->next = NULL;
    *link = sink;
}

void console_remove(struct console_sink *sink)
{
    for (struct console_sink **link = &sinks; *link; link = &(*link)->next) {
        if (*link == sink) {
            *link = sink->next;
            return;
        }
    }
}

void console_putc(char byte)
{
    for (struct console_sink *sink = sinks; sink; sink = sink->next)
        sink->putc(byte);
}

static void to_console(void *context, char c)
{
    (void)context;
    console_putc(c);
}

void kvprintf(const char *fmt, va_list ap)
{
    kformat(to_console, NULL, fmt, ap);
}

void kprintf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvprintf(fmt, ap);
    va_end(ap);
}
