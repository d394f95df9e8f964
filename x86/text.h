/* A text that grows in a buffer of fixed size: what x86/ has instead of a printf. */
#ifndef PMULAB_X86_TEXT_H
#define PMULAB_X86_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *buf;
    size_t size, length; /* without the NUL */
};

/* An empty text in buf. Whatever does not fit in size is dropped; while size > 0 a NUL ends it. */
struct text text_in(char *buf, size_t size);
void text_add(struct text *t, const char *string);
/* In digits of that base (2 to 16, capital letters), at least so many of them. */
void text_add_number(struct text *t, uint64_t value, unsigned base, unsigned digits);
/* "0x3f": in small letters, at least so many digits. */
void text_add_hex(struct text *t, uint64_t value, unsigned digits);
/* A name in which "%u" stands for the number. */
void text_add_name(struct text *t, const char *name, unsigned number);
/* A blank, but at the beginning. */
void text_add_space(struct text *t);

#endif
