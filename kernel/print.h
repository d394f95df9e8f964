/* Formatted output: a small printf for the kernel, also compiled for the host's unit tests. */
#ifndef PMULAB_PRINT_H
#define PMULAB_PRINT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * Formats into buf, never writing past size, always NUL-terminated when size > 0.
 * Conversions: %d %i %u %x %X %p %s %c %% with flags '-', '0', '#', '+', ' ', a width and a
 * precision (either may be '*'), lengths hh, h, l, ll, z. An unknown conversion is printed as it
 * stands. Returns the length that the whole text has (as C's vsnprintf).
 */
int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int ksnprintf(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Prints to every console sink. Lines of any length: nothing is cut. */
void kvprintf(const char *fmt, va_list ap);
void kprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
