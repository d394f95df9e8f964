/* The console: a list of sinks (COM1, VGA text or framebuffer, debug console), each fed every character. */
#ifndef PMULAB_CONSOLE_H
#define PMULAB_CONSOLE_H

struct console_sink {
    const char *name;       /* the word in console=, for example "serial" */
    void (*putc)(char byte); /* one byte of UTF-8 text; '\n' alone ends a line */
    struct console_sink *next;
};

void console_add(struct console_sink *sink);
void console_putc(char byte);

#endif
