/*
 * A QR code as ISO/IEC 18004 describes it: one segment in alphanumeric mode, versions 1 to 15,
 * error correction level L or M. Pure.
 */
#ifndef PMULAB_QR_H
#define PMULAB_QR_H

#include <stdbool.h>
#include <stdint.h>

#define QR_MAX_VERSION   15
#define QR_SIZE(version) (17 + 4 * (version)) /* modules a side */
#define QR_MAX_SIZE      QR_SIZE(QR_MAX_VERSION)
#define QR_QUIET         4 /* light modules that must surround it */
#define QR_MASKS         8

enum qr_level {
    QR_L, /* corrects about 7 % of the codewords */
    QR_M, /* 15 % */
    QR_LEVELS,
};

/* What a module is: data, or a pattern that the mask leaves alone. */
enum qr_module {
    QR_DARK = 1 << 0,
    QR_PATTERN = 1 << 1,
};

struct qr {
    unsigned version, size; /* size: modules a side */
    enum qr_level level;
    unsigned mask;
    uint8_t modules[QR_MAX_SIZE][QR_MAX_SIZE]; /* [row][column]: QR_* */
};

/* Is the byte one of the 45 characters of alphanumeric mode: 0-9 A-Z space $%*+-./: ? */
bool qr_takes(char c);

/* How many characters a symbol holds. */
unsigned qr_capacity(unsigned version, enum qr_level level);

/* The text as the smallest symbol of at most that version, with the higher level where the version
 * has room for it and the best mask. False: a character is not one of alphanumeric mode, or the
 * text is too long. */
bool qr_encode(struct qr *qr, const char *text, unsigned max_version);

/* The same as exactly this symbol. */
bool qr_encode_as(struct qr *qr, const char *text, unsigned version, enum qr_level level,
                  unsigned mask);

/* The standard's penalty for what makes a symbol hard to read ("Evaluation of data masking
 * results"): the best mask has the lowest. */
unsigned qr_penalty(const struct qr *qr);

#endif
