/* Formatted output: a small printf for the kernel, also compiled for the host's unit tests. Who
 * prints includes this; kernel/console/ does it. */
#ifndef PMULAB_PRINT_H
#define PMULAB_PRINT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

/* Waits, not for ever, until what was printed has left the machine: before its power goes. */
void print_flush(void);

/* Calls before() in front of each text and after() behind it, on the processor that prints; they
 * nest when an interrupt prints. after() is missing when trap_abort() ends what prints. */
void print_around(void (*before)(void), void (*after)(void));

/*
 * One text after the other when several processors print. Each kprintf() takes the lock; who has
 * several lines that belong together takes it around them (it nests). It is there from
 * print_share() on; me() gives the processor's number, now() a clock: a processor that waits for
 * the lock for `patience` ticks takes it, so that one that died with it silences nobody.
 */
void print_share(unsigned (*me)(void), uint64_t (*now)(void), uint64_t patience);
void print_lock(void);
void print_unlock(void);
/* Gives up the lock, however often this processor has it. */
void print_release(void);

#endif
