/* Appending to a text. No libc and no printf: the kernel, the simulator and tools compile it. */
#include "x86/text.h"

struct text text_in(char *buf, size_t size)
{
    if (size > 0)
        buf[0] = '\0';
    return (struct text){buf, size, 0};
}

static void add_char(struct text *t, char c)
{
    if (t->length + 1 >= t->size)
        return;
    t->buf[t->length++] = c;
    t->buf[t->length] = '\0';
}

void text_add(struct text *t, const char *string)
{
    while (*string != '\0')
        add_char(t, *string++);
}

static void add_digits(struct text *t, uint64_t value, unsigned base, unsigned digits,
                       const char *letters)
{
    char reversed[64];
    unsigned n = 0;
    for (; value != 0 || n == 0 || (n < digits && n < sizeof(reversed)); value /= base)
        reversed[n++] = letters[value % base];
    while (n > 0)
        add_char(t, reversed[--n]);
}

void text_add_number(struct text *t, uint64_t value, unsigned base, unsigned digits)
{
    add_digits(t, value, base, digits, "0123456789ABCDEF");
}

void text_add_hex(struct text *t, uint64_t value, unsigned digits)
{
    text_add(t, "0x");
    add_digits(t, value, 16, digits, "0123456789abcdef");
}

void text_add_name(struct text *t, const char *name, unsigned number)
{
    for (; *name != '\0'; name++) {
        if (name[0] == '%' && name[1] == 'u') {
            text_add_number(t, number, 10, 1);
            name++;
        } else {
            add_char(t, *name);
        }
    }
}

void text_add_space(struct text *t)
{
    if (t->length > 0)
        add_char(t, ' ');
}
