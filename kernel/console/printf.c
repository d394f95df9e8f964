/* The formatter behind kprintf and ksnprintf. Pure: no hardware, so the host tests compile it. */
#include "kernel/print.h"

#include <stdbool.h>
#include <stdint.h>

#include "kernel/console/format.h"

/* Far above any width in use; its negative can be negated. */
#define MAX_WIDTH 100000

/* The longest number: 64 bits in decimal have 20 digits. */
#define MAX_DIGITS 20

struct spec {
    bool left, zero, alternate, plus, blank;
    int width, precision; /* precision -1: not given */
    int length;           /* in bytes: 1 hh, 2 h, 4 none, 8 l ll z */
};

struct writer {
    format_emit emit;
    void *context;
    int count;
};

static void put(struct writer *w, char c)
{
    w->emit(w->context, c);
    w->count++;
}

static void pad(struct writer *w, char c, int n)
{
    while (n-- > 0)
        put(w, c);
}

static void put_text(struct writer *w, const struct spec *spec, const char *text, int length)
{
    int blanks = spec->width - length;
    if (!spec->left)
        pad(w, ' ', blanks);
    for (int i = 0; i < length; i++)
        put(w, text[i]);
    if (spec->left)
        pad(w, ' ', blanks);
}

static void put_string(struct writer *w, const struct spec *spec, const char *text)
{
    int length = 0;
    if (!text)
        text = "(null)";
    while ((spec->precision < 0 || length < spec->precision) && text[length])
        length++;
    put_text(w, spec, text, length);
}

/* A number: blanks, sign or 0x, zeros, digits; blanks at the end with '-'. */
static void put_number(struct writer *w, const struct spec *spec, uint64_t value, unsigned base,
                       bool capital, const char *prefix)
{
    const char *digit = capital ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[MAX_DIGITS];
    int n = 0, n_prefix = 0, zeros;

    for (; value != 0; value /= base)
        text[n++] = digit[value % base];
    if (n == 0 && spec->precision != 0)
        text[n++] = '0';
    while (prefix[n_prefix])
        n_prefix++;
    if (spec->precision >= 0)
        zeros = spec->precision - n;
    else if (spec->zero && !spec->left)
        zeros = spec->width - n_prefix - n;
    else
        zeros = 0;
    if (zeros < 0)
        zeros = 0;
    int blanks = spec->width - n_prefix - zeros - n;
    if (!spec->left)
        pad(w, ' ', blanks);
    for (int i = 0; i < n_prefix; i++)
        put(w, prefix[i]);
    pad(w, '0', zeros);
    while (n > 0)
        put(w, text[--n]);
    if (spec->left)
        pad(w, ' ', blanks);
}

/* Both take an argument that the promotions of C widened to int at least, and cut it back. */
static int64_t take_signed(int64_t value, int length)
{
    int shift = 64 - 8 * length;
    return (int64_t)((uint64_t)value << shift) >> shift;
}

static uint64_t take_unsigned(uint64_t value, int length)
{
    int shift = 64 - 8 * length;
    return value << shift >> shift;
}

static int clamp(int value)
{
    return value > MAX_WIDTH ? MAX_WIDTH : value < -MAX_WIDTH ? -MAX_WIDTH : value;
}

static const char *read_number(const char *p, int *value, va_list *ap)
{
    if (*p == '*') {
        *value = clamp(va_arg(*ap, int));
        return p + 1;
    }
    for (*value = 0; *p >= '0' && *p <= '9'; p++)
        *value = clamp(*value * 10 + (*p - '0'));
    return p;
}

static const char *read_spec(const char *p, struct spec *spec, va_list *ap)
{
    *spec = (struct spec){.precision = -1, .length = sizeof(int)};
    for (;; p++) {
        if (*p == '-')
            spec->left = true;
        else if (*p == '0')
            spec->zero = true;
        else if (*p == '#')
            spec->alternate = true;
        else if (*p == '+')
            spec->plus = true;
        else if (*p == ' ')
            spec->blank = true;
        else
            break;
    }
    p = read_number(p, &spec->width, ap);
    if (spec->width < 0) {
        spec->left = true;
        spec->width = -spec->width;
    }
    if (*p == '.')
        p = read_number(p + 1, &spec->precision, ap);
    if (p[0] == 'h') {
        spec->length = p[1] == 'h' ? sizeof(char) : sizeof(short);
        p += p[1] == 'h' ? 2 : 1;
    } else if (p[0] == 'l') {
        spec->length = p[1] == 'l' ? sizeof(long long) : sizeof(long);
        p += p[1] == 'l' ? 2 : 1;
    } else if (p[0] == 'z') {
        spec->length = sizeof(size_t);
        p++;
    }
    return p;
}

static int64_t signed_argument(const struct spec *spec, va_list *ap)
{
    return take_signed(spec->length == 8 ? va_arg(*ap, int64_t) : va_arg(*ap, int), spec->length);
}

static uint64_t unsigned_argument(const struct spec *spec, va_list *ap)
{
    return take_unsigned(spec->length == 8 ? va_arg(*ap, uint64_t) : va_arg(*ap, unsigned),
                         spec->length);
}

/* Formats one conversion. False when the character is none. */
static bool convert(struct writer *w, struct spec *spec, char conversion, va_list *ap)
{
    int64_t value;
    uint64_t bits;
    char c;

    switch (conversion) {
    case 'd':
    case 'i':
        value = signed_argument(spec, ap);
        put_number(w, spec, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, false,
                   value < 0     ? "-"
                   : spec->plus  ? "+"
                   : spec->blank ? " "
                                 : "");
        return true;
    case 'u':
        put_number(w, spec, unsigned_argument(spec, ap), 10, false, "");
        return true;
    case 'x':
    case 'X':
        bits = unsigned_argument(spec, ap);
        put_number(w, spec, bits, 16, conversion == 'X',
                   !spec->alternate || bits == 0 ? ""
                   : conversion == 'X'           ? "0X"
                                                 : "0x");
        return true;
    case 'p':
        put_number(w, spec, (uintptr_t)va_arg(*ap, void *), 16, false, "0x");
        return true;
    case 's':
        put_string(w, spec, va_arg(*ap, const char *));
        return true;
    case 'c':
        c = (char)va_arg(*ap, int);
        put_text(w, spec, &c, 1);
        return true;
    case '%':
        put(w, '%');
        return true;
    default:
        return false;
    }
}

int kformat(format_emit emit, void *context, const char *fmt, va_list ap)
{
    struct writer w = {emit, context, 0};
    va_list args;

    va_copy(args, ap);
    for (const char *p = fmt; *p; p++) {
        struct spec spec;
        if (*p != '%') {
            put(&w, *p);
            continue;
        }
        const char *start = p;
        p = read_spec(p + 1, &spec, &args);
        if (*p && convert(&w, &spec, *p, &args))
            continue;
        /* An unknown conversion, or an end in the middle of one: as it stands. */
        while (start < p)
            put(&w, *start++);
        if (!*p)
            break;
        put(&w, *p);
    }
    va_end(args);
    return w.count;
}

struct buffer {
    char *text;
    size_t size, used;
};

static void to_buffer(void *context, char c)
{
    struct buffer *b = context;
    if (b->used + 1 < b->size)
        b->text[b->used++] = c;
}

int kvsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
    struct buffer b = {buf, size, 0};
    int count = kformat(to_buffer, &b, fmt, ap);
    if (size > 0)
        buf[b.used] = '\0';
    return count;
}

int ksnprintf(char *buf, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int count = kvsnprintf(buf, size, fmt, ap);
    va_end(ap);
    return count;
}
