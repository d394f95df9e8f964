/*
 * Memory and string functions. The copying ones are string instructions: a loop in C may be
 * compiled into a call of the very function that it is in.
 */
#include "kernel/string.h"

void *memcpy(void *to, const void *from, size_t size)
{
    void *d = to;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(from), "+c"(size)::"memory");
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((unsigned char *)to <= (const unsigned char *)from ||
        (unsigned char *)to >= (const unsigned char *)from + size)
        return memcpy(to, from, size);
    void *d = (unsigned char *)to + size - 1;
    const void *s = (const unsigned char *)from + size - 1;
    __asm__ volatile("std; rep movsb; cld" : "+D"(d), "+S"(s), "+c"(size)::"memory");
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    void *d = to;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(size) : "a"(byte) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (; size > 0; size--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

void *memchr(const void *in, int byte, size_t size)
{
    const unsigned char *p = in;
    for (; size > 0; size--, p++)
        if (*p == (unsigned char)byte)
            return (void *)p;
    return NULL;
}

size_t strlen(const char *s)
{
    const char *end = s;
    while (*end)
        end++;
    return (size_t)(end - s);
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}

int strncmp(const char *a, const char *b, size_t size)
{
    for (; size > 0; size--, a++, b++) {
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        if (!*a)
            break;
    }
    return 0;
}
