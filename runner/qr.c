/* QR codes. The clauses named are those of ISO/IEC 18004:2015. */
#include "runner/qr.h"

#include <stddef.h>

#include "kernel/string.h"

#define FINDER         7 /* modules a side */
#define TIMING         6 /* the row and the column of the timing patterns */
#define ALPHANUMERIC   2 /* the mode indicator, 4 bits */
#define MAX_CODEWORDS  700
#define MAX_CORRECTION 30
#define PAD_EVEN       0xec
#define PAD_ODD        0x11

/* Clause 7.5.1, table 9: codewords of error correction in each block, and how many blocks. */
static const struct {
    uint8_t correction, blocks;
} structure[QR_MAX_VERSION][QR_LEVELS] = {
    // clang-format off
    {{ 7, 1}, {10,  1}}, {{10, 1}, {16,  1}}, {{15, 1}, {26,  1}}, {{20, 1}, {18,  2}},
    {{26, 1}, {24,  2}}, {{18, 2}, {16,  4}}, {{20, 2}, {18,  4}}, {{24, 2}, {22,  4}},
    {{30, 2}, {22,  5}}, {{18, 4}, {26,  5}}, {{20, 4}, {30,  5}}, {{24, 4}, {22,  8}},
    {{26, 4}, {22,  9}}, {{30, 4}, {24,  9}}, {{22, 6}, {24, 10}},
    // clang-format on
};

/* ---- The text as bits: clause 7.4 ---- */

static const char characters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:";
#define N_CHARACTERS (sizeof(characters) - 1)

static unsigned value_of(char c)
{
    unsigned i = 0;
    while (i < N_CHARACTERS && characters[i] != c)
        i++;
    return i;
}

bool qr_takes(char c)
{
    return value_of(c) < N_CHARACTERS;
}

struct bits {
    uint8_t bytes[MAX_CODEWORDS];
    unsigned n;
};

static void put(struct bits *bits, unsigned value, unsigned length)
{
    while (length-- > 0) {
        if (value >> length & 1)
            bits->bytes[bits->n / 8] |= (uint8_t)(0x80 >> bits->n % 8);
        bits->n++;
    }
}

/* Table 3: bits of the character count. */
static unsigned count_bits(unsigned version)
{
    return version < 10 ? 9 : 11;
}

/* Two characters are 11 bits, the last one alone 6; then a terminator of up to four zeros, zeros up
 * to a whole codeword, and pad codewords. */
static void put_text(struct bits *bits, const char *text, unsigned version, unsigned codewords)
{
    size_t length = strlen(text);
    put(bits, ALPHANUMERIC, 4);
    put(bits, (unsigned)length, count_bits(version));
    for (size_t i = 0; i + 1 < length; i += 2)
        put(bits, value_of(text[i]) * N_CHARACTERS + value_of(text[i + 1]), 11);
    if (length % 2 != 0)
        put(bits, value_of(text[length - 1]), 6);
    for (unsigned i = 0; i < 4 && bits->n < codewords * 8; i++)
        bits->n++;
    bits->n = (bits->n + 7) / 8 * 8;
    for (unsigned pad = PAD_EVEN; bits->n < codewords * 8; pad ^= PAD_EVEN ^ PAD_ODD)
        put(bits, pad, 8);
}

/* ---- Error correction: clause 7.5.2, annex A ---- */

/* In GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1. */
static uint8_t times(uint8_t a, uint8_t b)
{
    unsigned product = 0;
    for (int bit = 7; bit >= 0; bit--) {
        product <<= 1;
        if (product & 0x100)
            product ^= 0x11d;
        if (b >> bit & 1)
            product ^= a;
    }
    return (uint8_t)product;
}

/* The product of x - 2^i for i from 0 to degree - 1, without its leading 1; [0] is the highest
 * power. */
static void generator(uint8_t *g, unsigned degree)
{
    uint8_t root = 1;
    for (unsigned i = 0; i < degree; i++)
        g[i] = 0;
    g[degree - 1] = 1;
    for (unsigned i = 0; i < degree; i++, root = times(root, 2))
        for (unsigned j = 0; j < degree; j++)
            g[j] = times(g[j], root) ^ (j + 1 < degree ? g[j + 1] : 0);
}

/* The remainder of data * x^degree divided by the generator. out: of MAX_CORRECTION bytes. */
static void correction(uint8_t *out, unsigned degree, const uint8_t *data, unsigned length)
{
    uint8_t g[MAX_CORRECTION];
    generator(g, degree);
    memset(out, 0, MAX_CORRECTION);
    for (unsigned i = 0; i < length; i++) {
        uint8_t factor = data[i] ^ out[0];
        for (unsigned j = 0; j < degree; j++)
            out[j] = (j + 1 < degree ? out[j + 1] : 0) ^ times(g[j], factor);
    }
}

/* Clause 7.6: block by block, the longer ones last; then the first codeword of each, the second of
 * each, and so on, and so the codewords of correction. */
static void interleave(uint8_t *out, const uint8_t *data, unsigned length, unsigned blocks,
                       unsigned degree)
{
    unsigned shorter = length / blocks, n_shorter = blocks - length % blocks, start = 0;
    for (unsigned b = 0; b < blocks; b++) {
        unsigned size = shorter + (b >= n_shorter);
        uint8_t extra[MAX_CORRECTION];
        correction(extra, degree, data + start, size);
        for (unsigned i = 0; i < size; i++)
            out[i < shorter ? i * blocks + b : i * blocks + b - n_shorter] = data[start + i];
        for (unsigned i = 0; i < degree; i++)
            out[length + i * blocks + b] = extra[i];
        start += size;
    }
}

/* ---- The symbol: clause 6.3 ---- */

static void set(struct qr *qr, unsigned row, unsigned column, bool dark)
{
    qr->modules[row][column] = QR_PATTERN | (dark ? QR_DARK : 0);
}

static unsigned distance(unsigned a, unsigned b)
{
    return a > b ? a - b : b - a;
}

/* Squares around a centre, alternately dark and light; one of `dark_rings` tells which. */
static void put_squares(struct qr *qr, unsigned row, unsigned column, unsigned radius,
                        unsigned dark_rings)
{
    for (unsigned y = 0; y < qr->size; y++)
        for (unsigned x = 0; x < qr->size; x++) {
            unsigned dy = distance(y, row), dx = distance(x, column), ring = dy > dx ? dy : dx;
            if (ring <= radius)
                set(qr, y, x, dark_rings >> ring & 1);
        }
}

/* Annex E: from the far end in equal, even steps; the first step takes up the rest. */
static void put_alignment(struct qr *qr)
{
    unsigned steps = qr->version / 7 + 1, last = qr->size - FINDER, at[8];
    unsigned step = ((last - TIMING + steps - 1) / steps + 1) / 2 * 2;
    if (qr->version == 1)
        return;
    at[0] = TIMING;
    for (unsigned i = steps; i > 0; i--)
        at[i] = last - (steps - i) * step;
    for (unsigned i = 0; i <= steps; i++)
        for (unsigned j = 0; j <= steps; j++)
            if (!(i == 0 && (j == 0 || j == steps)) && !(i == steps && j == 0))
                put_squares(qr, at[i], at[j], 2, 0x5);
}

/* The remainder of value * x^(degree) by a binary polynomial of that degree. */
static unsigned bch(unsigned value, unsigned polynomial, unsigned degree)
{
    unsigned remainder = value << degree;
    for (int bit = 31; bit >= (int)degree; bit--)
        if (remainder >> bit & 1)
            remainder ^= polynomial << (bit - (int)degree);
    return value << degree | remainder;
}

/* Clause 7.9, annex C: twice, around the upper left finder, and at the ends of the other two. */
static void put_format(struct qr *qr)
{
    static const uint8_t level_bits[QR_LEVELS] = {[QR_L] = 1, [QR_M] = 0};
    unsigned format = bch(level_bits[qr->level] << 3 | qr->mask, 0x537, 10) ^ 0x5412;
    for (unsigned i = 0; i < 15; i++) {
        bool dark = format >> i & 1;
        unsigned past = i < 6 ? i : i + 1; /* the timing pattern lies between */
        if (i < 8) {
            set(qr, past, 8, dark);
            set(qr, 8, qr->size - 1 - i, dark);
        } else {
            set(qr, 8, i == 8 ? 7 : 14 - i, dark);
            set(qr, qr->size - 15 + i, 8, dark);
        }
    }
    set(qr, qr->size - 8, 8, true);
}

/* Clause 7.10, annex D: from version 7 on, twice. */
static void put_version(struct qr *qr)
{
    unsigned info = bch(qr->version, 0x1f25, 12);
    for (unsigned i = 0; qr->version >= 7 && i < 18; i++) {
        set(qr, qr->size - 11 + i % 3, i / 3, info >> i & 1);
        set(qr, i / 3, qr->size - 11 + i % 3, info >> i & 1);
    }
}

static void put_patterns(struct qr *qr)
{
    unsigned last = qr->size - 1;
    for (unsigned i = 0; i < qr->size; i++) {
        set(qr, TIMING, i, i % 2 == 0);
        set(qr, i, TIMING, i % 2 == 0);
    }
    put_alignment(qr);
    put_squares(qr, 3, 3, 4, 0xb); /* the light ring of radius 4 separates */
    put_squares(qr, 3, last - 3, 4, 0xb);
    put_squares(qr, last - 3, 3, 4, 0xb);
    put_format(qr); /* of mask 0: what it covers is what counts here */
    put_version(qr);
}

/* Clause 7.7.3: columns in pairs from the right, up and down in turn, past the column of the timing
 * pattern. Calls for each module that is not a pattern's, in that order, with its number. */
static unsigned for_each(struct qr *qr, void (*call)(uint8_t *module, unsigned n, const uint8_t *),
                         const uint8_t *codewords)
{
    unsigned n = 0, last = qr->size - 1;
    bool up = true;
    for (unsigned right = last; right < qr->size; right -= 2, up = !up) {
        if (right == TIMING)
            right--;
        for (unsigned i = 0; i <= last; i++)
            for (unsigned side = 0; side < 2; side++) {
                uint8_t *module = &qr->modules[up ? last - i : i][right - side];
                if (!(*module & QR_PATTERN))
                    call(module, n++, codewords);
            }
    }
    return n;
}

static void count_only(uint8_t *module, unsigned n, const uint8_t *codewords)
{
    (void)module, (void)n, (void)codewords;
}

static void place(uint8_t *module, unsigned n, const uint8_t *codewords)
{
    if (codewords[n / 8] >> (7 - n % 8) & 1)
        *module |= QR_DARK;
}

/* Clause 7.8.2, table 10. */
static bool inverts(unsigned mask, unsigned i, unsigned j)
{
    switch (mask) {
    case 0:
        return (i + j) % 2 == 0;
    case 1:
        return i % 2 == 0;
    case 2:
        return j % 3 == 0;
    case 3:
        return (i + j) % 3 == 0;
    case 4:
        return (i / 2 + j / 3) % 2 == 0;
    case 5:
        return i * j % 2 + i * j % 3 == 0;
    case 6:
        return (i * j % 2 + i * j % 3) % 2 == 0;
    default:
        return ((i + j) % 2 + i * j % 3) % 2 == 0;
    }
}

/* Done twice it undoes itself. */
static void put_mask(struct qr *qr, unsigned mask)
{
    qr->mask = mask;
    for (unsigned i = 0; i < qr->size; i++)
        for (unsigned j = 0; j < qr->size; j++)
            if (!(qr->modules[i][j] & QR_PATTERN) && inverts(mask, i, j))
                qr->modules[i][j] ^= QR_DARK;
    put_format(qr);
}

/* ---- How hard it is to read: clause 7.8.3 ---- */

/* The module at this place of a row, or of a column. */
static bool dark(const struct qr *qr, bool by_column, unsigned line, unsigned at)
{
    return (by_column ? qr->modules[at][line] : qr->modules[line][at]) & QR_DARK;
}

/* Runs of five and more of one colour: 3, and 1 for each module more. A finder's 1:1:3:1:1 with
 * four light modules beside it: 40. */
static unsigned line_penalty(const struct qr *qr, bool by_column, unsigned line)
{
    unsigned penalty = 0, run = 0, window = 0;
    for (unsigned at = 0; at < qr->size; at++) {
        bool now = dark(qr, by_column, line, at);
        run = at > 0 && now == dark(qr, by_column, line, at - 1) ? run + 1 : 1;
        if (run == 5)
            penalty += 3;
        else if (run > 5)
            penalty++;
        window = (window << 1 | now) & 0x7ff;
        if (at >= 10 && (window == 0x5d0 || window == 0x05d))
            penalty += 40;
    }
    return penalty;
}

/* Squares of 2 x 2 of one colour: 3 each. Each 5 % of dark modules more or fewer than half: 10. */
static unsigned area_penalty(const struct qr *qr)
{
    unsigned penalty = 0, n_dark = 0, all = qr->size * qr->size;
    for (unsigned i = 0; i < qr->size; i++)
        for (unsigned j = 0; j < qr->size; j++) {
            bool here = dark(qr, false, i, j);
            n_dark += here;
            if (i > 0 && j > 0 && here == dark(qr, false, i - 1, j) &&
                here == dark(qr, false, i, j - 1) && here == dark(qr, false, i - 1, j - 1))
                penalty += 3;
        }
    for (unsigned off = distance(n_dark * 20, all * 10); off >= all; off -= all)
        penalty += 10;
    return penalty;
}

unsigned qr_penalty(const struct qr *qr)
{
    unsigned penalty = area_penalty(qr);
    for (unsigned line = 0; line < qr->size; line++)
        penalty += line_penalty(qr, false, line) + line_penalty(qr, true, line);
    return penalty;
}

/* ---- All of it ---- */

/* An empty symbol; returns how many codewords of data it has. */
static unsigned begin(struct qr *qr, unsigned version, enum qr_level level)
{
    memset(qr, 0, sizeof(*qr));
    qr->version = version;
    qr->size = QR_SIZE(version);
    qr->level = level;
    put_patterns(qr);
    unsigned codewords = for_each(qr, count_only, NULL) / 8;
    return codewords - structure[version - 1][level].correction *
                           (unsigned)structure[version - 1][level].blocks;
}

static unsigned room(unsigned codewords, unsigned version)
{
    unsigned bits = codewords * 8 - 4 - count_bits(version);
    return bits / 11 * 2 + (bits % 11 >= 6);
}

unsigned qr_capacity(unsigned version, enum qr_level level)
{
    static struct qr scratch;
    return room(begin(&scratch, version, level), version);
}

static bool fits(const char *text, unsigned capacity)
{
    size_t length = 0;
    while (qr_takes(text[length]))
        length++;
    return length <= capacity && text[length] == '\0';
}

bool qr_encode_as(struct qr *qr, const char *text, unsigned version, enum qr_level level,
                  unsigned mask)
{
    static struct bits bits;
    static uint8_t codewords[MAX_CODEWORDS];
    unsigned data = begin(qr, version, level);
    if (!fits(text, room(data, version)))
        return false;
    memset(&bits, 0, sizeof(bits));
    memset(codewords, 0, sizeof(codewords)); /* after the last codeword come up to 7 bits of 0 */
    put_text(&bits, text, version, data);
    interleave(codewords, bits.bytes, data, structure[version - 1][level].blocks,
               structure[version - 1][level].correction);
    for_each(qr, place, codewords);
    put_mask(qr, mask);
    return true;
}

bool qr_encode(struct qr *qr, const char *text, unsigned max_version)
{
    unsigned version = 1, best = 0, least = 0;
    while (version <= max_version && !qr_encode_as(qr, text, version, QR_L, 0))
        version++;
    if (version > max_version)
        return false;
    if (fits(text, qr_capacity(version, QR_M)))
        qr_encode_as(qr, text, version, QR_M, 0);
    for (unsigned mask = 0; mask < QR_MASKS; mask++) {
        if (mask > 0)
            put_mask(qr, mask);
        unsigned penalty = qr_penalty(qr);
        if (mask == 0 || penalty < least) {
            best = mask;
            least = penalty;
        }
        put_mask(qr, mask);
    }
    put_mask(qr, best);
    return true;
}
