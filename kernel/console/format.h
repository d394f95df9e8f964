/* The formatter itself, character by character, for those who print to something else than a
 * buffer. */
#ifndef PMULAB_FORMAT_H
#define PMULAB_FORMAT_H

#include <stdarg.h>

typedef void (*format_emit)(void *context, char c);

/* Formats as kvsnprintf() does, giving every character to emit. Returns how many there were. */
int kformat(format_emit emit, void *context, const char *fmt, va_list ap);

#endif
