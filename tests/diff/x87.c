/* x87 instructions: the state in which a sequence begins, and operands that are edges of something.
 * SDM vol. 1 "Data Types and Addressing Modes", "x87 FPU Data Types". */
#include <string.h>

#include "tests/diff/generate.h"

#define EXPONENT    0x7fff
#define BIAS        0x3fff
#define INTEGER_BIT (1ull << 63)

struct real {
    uint64_t mantissa;
    uint16_t sign_exponent;
};

/* A significand: few bits, many, or a tie between two of 24 or 53 bits. */
static uint64_t fraction_bits(struct gen *g)
{
    uint64_t r = random_next(&g->random);
    switch (below(g, 6)) {
    case 0:
        return 0;
    case 1:
        return ~0ull;
    case 2:
        return (r & ~0ull << 40) | 1ull << 39;
    case 3:
        return (r & ~0ull << 11) | 1ull << 10;
    case 4:
        return r & ~0ull << below(g, 64);
    default:
        return r;
    }
}

static struct real real(struct gen *g)
{
    /* Beside the edges of the three formats' exponents. */
    static const uint16_t exponents[] = {1,           2,          BIAS - 1075, BIAS - 1022,
                                         BIAS - 150,  BIAS - 126, BIAS + 127,  BIAS + 1023,
                                         BIAS + 1024, 0x7ffe,     0x7ffd,      BIAS + 63};
    uint16_t exponent = BIAS;
    uint64_t m = fraction_bits(g) | INTEGER_BIT;
    switch (below(g, 16)) {
    case 0: /* zero */
        exponent = m = 0;
        break;
    case 1: /* denormal, pseudo-denormal */
        exponent = 0;
        m = fraction_bits(g) ^ (percent(g, 70) ? 0 : INTEGER_BIT);
        break;
    case 2: /* infinity */
        exponent = EXPONENT;
        m = INTEGER_BIT;
        break;
    case 3: /* NaN: of either kind */
        exponent = EXPONENT;
        break;
    case 4: /* unnormal, pseudo-NaN, pseudo-infinity */
        exponent = percent(g, 50) ? EXPONENT : 1 + below(g, EXPONENT - 1);
        m = fraction_bits(g) & ~INTEGER_BIT;
        break;
    case 5:
    case 6:
        exponent = exponents[below(g, sizeof(exponents) / sizeof(exponents[0]))] + below(g, 3) - 1;
        break;
    case 7: /* any */
        exponent = 1 + below(g, EXPONENT - 1);
        break;
    case 8: /* an integer */
        exponent = BIAS + below(g, 70);
        if (exponent < BIAS + 63)
            m &= ~0ull << (63 - (exponent - BIAS));
        break;
    case 9: /* half of an odd one */
        exponent = BIAS - 1 + below(g, 40);
        m = (m & ~0ull << (63 - (exponent - (BIAS - 1)))) | 1ull << (63 - (exponent - (BIAS - 1)));
        m |= INTEGER_BIT;
        break;
    default:
        exponent = BIAS - 20 + below(g, 41);
        break;
    }
    return (struct real){m, exponent | below(g, 2) << 15};
}

/* One of a stock, the same for all sequences: a sequence begins with eight of them. */
static struct real some_real(struct gen *g)
{
    static struct real stock[1 << 14];
    static bool stocked;
    if (!stocked) {
        struct gen own = {0};
        for (unsigned i = 0; i < sizeof(stock) / sizeof(stock[0]); i++)
            stock[i] = real(&own);
        stocked = true;
    }
    return stock[random_next(&g->random) % (sizeof(stock) / sizeof(stock[0]))];
}

uint64_t real64(struct gen *g)
{
    static const uint16_t exponents[] = {0, 0, 1, 0x7fe, 0x7ff, 0x7ff};
    uint64_t fraction = fraction_bits(g) >> 12;
    uint64_t exponent = percent(g, 50)   ? 1003 + below(g, 41)
                        : percent(g, 30) ? below(g, 0x800)
                                         : exponents[below(g, 6)];
    return fraction | exponent << 52 | (uint64_t)below(g, 2) << 63;
}
uint32_t real32(struct gen *g)
{
    static const uint8_t exponents[] = {0, 0, 1, 0xfe, 0xff, 0xff};
    uint32_t fraction = fraction_bits(g) >> 41;
    uint32_t exponent = percent(g, 50)   ? 107 + below(g, 41)
                        : percent(g, 30) ? below(g, 0x100)
                                         : exponents[below(g, 6)];
    return fraction | exponent << 23 | below(g, 2) << 31;
}

static uint16_t control(struct gen *g)
{
    static const uint16_t precisions[] = {0x000, 0x200, 0x300, 0x300};
    uint16_t masks = percent(g, 75) ? 0x3f : random_next(&g->random) & 0x3f;
    if (percent(g, 50))
        masks |= 0x30;
    return masks | 0x40 | precisions[below(g, 4)] | below(g, 4) << 10;
}
/* With ES and B as they follow from flags and masks. */
static uint16_t status(struct gen *g, uint16_t control)
{
    uint16_t flags = percent(g, 70) ? 0 : random_next(&g->random) & 0x7f;
    if (percent(g, 85))
        flags &= control | 0x40;
    uint16_t s = flags | (random_next(&g->random) & 0x7f00);
    return s | (flags & ~control & 0x3f ? 0x8080 : 0);
}

void x87_begin(struct gen *g)
{
    struct fx_image *fx = &g->s->in.fx;
    memset(fx, 0, sizeof(*fx));
    fx->control = control(g);
    fx->status = status(g, fx->control);
    static const uint8_t tags[] = {0, 0x7f, 0xff, 0xff};
    fx->valid = percent(g, 70) ? tags[below(g, 4)] : random_next(&g->random);
    if (percent(g, 60)) /* the upper half of the stack is in use */
        fx->valid = 0xff << (fx->status >> 11 & 7) >> below(g, 2);
    fx->mxcsr = 0x1f80;
    for (unsigned i = 0; i < 8; i++) {
        struct real v = some_real(g);
        fx->st[i].mantissa = v.mantissa;
        fx->st[i].sign_exponent = v.sign_exponent;
    }
}

void x87_clean(struct gen *g)
{
    unsigned start = g->s->len;
    byte(g, 0xd9); /* FXAM */
    byte(g, 0xe5);
    record(g, start, -1, 0, FL_CODES, 0);
}

/* ---- memory ---- */

static void put_bytes(struct gen *g, uint64_t target, const uint8_t *from, unsigned n)
{
    for (unsigned i = 0; i < n; i += 8) {
        uint64_t v = value(g);
        memcpy(&v, from + i, n - i < 8 ? n - i : 8);
        patch(g, target + i, v);
    }
}

static void put_environment(struct gen *g, const struct form *f, uint64_t target, unsigned word)
{
    uint8_t state[28 + 80] = {0};
    uint16_t c = control(g), s = status(g, c), tags = random_next(&g->random);
    if (percent(g, 50))
        tags = 0;
    if (percent(g, 20))
        s ^= 0x80; /* is not loaded: it follows from the others */
    memcpy(state, &c, 2);
    memcpy(state + word, &s, 2);
    memcpy(state + 2 * word, &tags, 2);
    unsigned n = 7 * word;
    for (unsigned i = 0; i < 8 && (f->attr & A_STATE); i++, n += 10) {
        struct real v = real(g);
        memcpy(state + n, &v.mantissa, 8);
        memcpy(state + n + 8, &v.sign_exponent, 2);
    }
    put_bytes(g, target, state, n);
}

static void put_operand(struct gen *g, const struct form *f, uint64_t target, unsigned width)
{
    uint8_t v[10];
    if (width == 2 && !(f->attr & A_INTEGER)) { /* FLDCW */
        uint16_t c = control(g) ^ (percent(g, 20) ? 0xe0c0 : 0);
        memcpy(v, &c, 2);
    } else if (width == 10 && (f->attr & A_INTEGER)) { /* BCD; no digit above 9: undefined */
        for (unsigned i = 0; i < 9; i++)
            v[i] = below(g, 10) | below(g, 10) << 4;
        v[9] = random_next(&g->random);
    } else if (f->attr & A_INTEGER) {
        uint64_t n = value(g);
        memcpy(v, &n, 8);
    } else if (width == 4) {
        uint32_t r = real32(g);
        memcpy(v, &r, 4);
    } else if (width == 8) {
        uint64_t r = real64(g);
        memcpy(v, &r, 8);
    } else {
        struct real r = real(g);
        memcpy(v, &r.mantissa, 8);
        memcpy(v + 8, &r.sign_exponent, 2);
    }
    put_bytes(g, target, v, width);
}

/* MOV DWORD PTR [address], 0. */
static void clear32(struct gen *g, uint64_t address)
{
    unsigned start = g->s->len;
    byte(g, 0xc7);
    byte(g, 0x04);
    byte(g, 0x25);
    bytes(g, address, 4);
    bytes(g, 0, 4);
    record(g, start, -1, 0, 0, 0);
}

static void memory_form(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned size = pick_size(g, f), width = f->rm_size, word = size == 2 ? 2 : 4;
    struct enc e = {.opcode = f->opcode, .modrm = true, .opsize = size == 2};
    e.reg = f->ext + (percent(g, 5) ? 8 : 0); /* REX.R and REX.W mean nothing */
    e.w = size != 2 && percent(g, 5);
    bool environment = f->attr & A_ENVIRONMENT, stores = f->attr & A_STORES;
    if (environment)
        width = 7 * word + (f->attr & A_STATE ? 80 : 0);
    /* What is stored of the last instruction is cleared, by an absolute address. */
    uint64_t target = pick_target(g, width, false, environment && stores);
    if (environment && !stores)
        put_environment(g, f, target, word);
    else if (!stores && percent(g, 85))
        put_operand(g, f, target, width);
    if (environment && stores && g->routine) { /* where RSP is not what it was */
        e.memory = e.sib = true;
        e.index = 4;
        e.base = 5;
        e.rm = 4;
        e.disp = target;
        e.disp_bytes = 4;
    } else {
        memory_at(g, &e, target);
    }
    unsigned start = g->s->len;
    emit(g, &e);
    struct insn_record *i = record(g, start, form, f->reads, f->writes, f->undef);
    i->size = size;
    i->memory = true;
    if (environment && stores)
        for (unsigned at = 3 * word; at < 7 * word; at += 4)
            clear32(g, target + at);
}

/* What an instruction whose unmasked exception waits makes of the codes (and EFLAGS) that it
 * defines depends on the processor, whatever the manual says (vol. 2 "FCOM", "FCOMI"): none of that
 * is compared until an FWAIT has been passed. */
static void wait_for_codes(struct gen *g)
{
    struct insn_record *i = &g->s->insn[g->s->n_insns - 1];
    uint16_t codes = i->writes & (FL_C0 | FL_C2 | FL_C3 | FL_STATUS);
    if (!codes)
        return;
    i->writes &= ~codes;
    i->undef |= codes;
    unsigned start = g->s->len;
    byte(g, 0x9b);
    record(g, start, -1, 0, codes, 0);
}

static void register_form(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned start = g->s->len;
    if (f->prefix)
        byte(g, f->prefix);
    byte(g, f->opcode | (f->attr & A_STI ? below(g, 8) : 0));
    for (unsigned r = 0; r < 16; r++)
        if (f->implicit >> r & 1)
            written(g, r);
    record(g, start, form, f->reads, f->writes, f->undef)->size = 4;
}

void x87_insn(struct gen *g, int form)
{
    if (forms[form].attr & A_MEM)
        memory_form(g, form);
    else
        register_form(g, form);
    if (!(forms[form].attr & A_ENVIRONMENT))
        wait_for_codes(g);
}
