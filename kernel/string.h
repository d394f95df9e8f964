/* The four memory functions that the compiler may call by itself (GCC manual, "Standards": a
 * freestanding environment must provide them) and the few of C's string functions that the kernel
 * needs. */
#ifndef PMULAB_STRING_H
#define PMULAB_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
void *memchr(const void *in, int byte, size_t size);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t size);

#endif
