/* What an instruction works on: values, registers, memory, shift counts. */
#include "tests/diff/generate.h"

/* ---- Values ---- */

uint64_t value(struct gen *g)
{
    static const uint64_t edges[] = {
        0,      1,          ~0ull,     0x80,    0x8000,     0x80000000, 1ull << 63, 0x7f,
        0x7fff, 0x7fffffff, ~0ull / 2, 0xff,    0xffff,     0xffffffff, ~0ull / 3,  ~0ull / 15,
        2,      ~1ull,      0x100,     0x10000, 1ull << 32, ~0ull << 7, ~0ull << 31};
    uint64_t r = random_next(&g->random);
    switch (below(g, 5)) {
    case 0:
    case 1:
        return edges[r % (sizeof(edges) / sizeof(edges[0]))];
    case 2:
        return (1ull << (r & 63)) - (r >> 6 & 1);
    case 3:
        return (int64_t)(int8_t)r;
    default:
        return r;
    }
}

/* ---- Registers ---- */

void load_constant(struct gen *g, unsigned r, uint64_t v)
{
    unsigned start = g->s->len;
    struct enc e = {.opcode = 0xb8 | (r & 7), .rm = r, .imm = v, .imm_bytes = 4};
    if (v >> 32) {
        e.w = true;
        if ((uint64_t)(int64_t)(int32_t)v == v) {
            e.opcode = 0xc7;
            e.modrm = true;
            e.mod = 3;
        } else {
            e.imm_bytes = 8;
        }
    }
    emit(g, &e);
    record(g, start, -1, 0, 0, 0);
    g->known &= ~(1 << r);
}

void need(struct gen *g, unsigned r, uint64_t v)
{
    uint16_t bit = 1 << r;
    if (!(g->used & bit))
        g->s->in.r[r] = v;
    else if (!(g->known & bit) || g->s->in.r[r] != v)
        load_constant(g, r, v);
    g->used |= bit;
    g->hold |= bit;
    g->s->pinned |= bit;
}

void written(struct gen *g, unsigned r)
{
    g->used |= 1 << r;
    g->known &= ~(1 << r);
    if (r == RSP)
        g->rsp_ok = false;
}

void stack_ready(struct gen *g)
{
    if (!g->rsp_ok) {
        load_constant(g, RSP, STACK_MID + below(g, STACK_RANGE));
        g->rsp_ok = true;
    }
}

void clean_flags(struct gen *g, uint16_t reads)
{
    if (reads & g->undef & FL_CODES)
        x87_clean(g);
    if (!(reads & g->undef & FL_STATUS))
        return;
    unsigned start = g->s->len, a = below(g, 16), b = below(g, 16);
    struct enc e = {.opcode = 0x39, .modrm = true, .mod = 3, .w = true, .reg = a, .rm = b};
    emit(g, &e);
    g->used |= 1 << a | 1 << b;
    record(g, start, -1, 0, FL_STATUS, 0);
}

unsigned pick(struct gen *g, struct enc *e, bool byte_reg, bool write)
{
    for (;;) {
        unsigned n = below(g, e->norex ? 8 : 16), r = n;
        if (byte_reg && n >= 4 && n < 8) {
            if (e->norex)
                r = n - 4;
            else
                e->rex = true;
        }
        if (r == RSP && (g->routine || !percent(g, 15)))
            continue;
        g->used |= 1 << r;
        if (write)
            written(g, r);
        return n;
    }
}

/* ---- Memory ---- */

void patch(struct gen *g, uint64_t address, uint64_t v)
{
    struct sequence *s = g->s;
    for (unsigned i = 0; i < s->n_patches; i++)
        if (s->patch[i].address + 8 > address && s->patch[i].address < address + 8)
            return;
    if (s->n_patches < MAX_PATCHES) {
        s->patch[s->n_patches].address = address;
        s->patch[s->n_patches++].value = v;
    }
}

uint64_t pick_target(struct gen *g, unsigned width, bool aligned, bool safe)
{
    static const uint64_t ends[] = {DATA_BASE + 2 * PAGE_BYTES, DATA_BASE + 3 * PAGE_BYTES,
                                    HIGH_BASE + PAGE_BYTES, STACK_BASE + 2 * PAGE_BYTES};
    static const uint64_t nowhere[] = {DATA_BASE - 0x100, DATA_BASE + 3 * PAGE_BYTES + 0x10,
                                       HIGH_BASE - 0x800, HIGH_BASE + PAGE_BYTES + 8,
                                       STACK_BASE - 8,    0x40};
    unsigned kind = below(g, 200);
    uint64_t t;
    if (safe || kind < 80)
        t = DATA_BASE + below(g, 2 * PAGE_BYTES - width);
    else if (kind < 95)
        t = DATA_BASE + PAGE_BYTES - below(g, width + 8);
    else if (kind < 135)
        t = (g->routine ? DATA_BASE : STACK_BASE) + below(g, 2 * PAGE_BYTES - width);
    else if (kind < 175)
        t = HIGH_BASE + below(g, PAGE_BYTES - width);
    else if (kind < 188)
        t = ends[below(g, g->routine ? 3 : 4)] - width;
    else if (kind < 193)
        t = DATA_BASE + 2 * PAGE_BYTES + below(g, PAGE_BYTES - width);
    else if (kind < 196)
        t = ends[below(g, g->routine ? 3 : 4)] - below(g, width);
    else if (kind < 199)
        t = nowhere[below(g, sizeof(nowhere) / sizeof(nowhere[0]))];
    else
        t = 0x5a00000000000000 | below(g, 1 << 30); /* with 48 and with 57 bits non-canonical */
    return aligned ? t & ~(uint64_t)(width - 1) : t;
}

/* The number 101b in ModRM.r/m or SIB.base with mod 00: a displacement and no base, whatever REX.B
 * says. */
static unsigned no_base(struct gen *g, const struct enc *e)
{
    return !e->norex && percent(g, 30) ? 13 : 5;
}

static bool fits(int64_t v, unsigned n)
{
    return n == 1 ? v == (int8_t)v : v == (int32_t)v;
}

static void set_disp(struct gen *g, struct enc *e, unsigned base, int64_t disp)
{
    e->disp = disp;
    if (disp == 0 && (base & 7) != 5 && percent(g, 80)) {
        e->mod = 0;
        e->disp_bytes = 0;
    } else if (fits(disp, 1) && percent(g, 85)) {
        e->mod = 1;
        e->disp_bytes = 1;
    } else {
        e->mod = 2;
        e->disp_bytes = 4;
    }
}

bool address(struct gen *g, struct enc *e, uint64_t target)
{
    enum { RIP, ABSOLUTE, BASE, BASE_INDEX, INDEX };
    static const uint8_t forms_of[] = {RIP,  RIP,        ABSOLUTE,   BASE,       BASE,  BASE,
                                       BASE, BASE_INDEX, BASE_INDEX, BASE_INDEX, INDEX, INDEX};
    struct state *in = &g->s->in;
    unsigned form = forms_of[below(g, sizeof(forms_of))];
    bool addr32 = target < 1ull << 31 && percent(g, 12);
    uint64_t mask = addr32 ? UINT32_MAX : UINT64_MAX;

    e->memory = true;
    e->addr32 = addr32;
    e->sib = e->rip_relative = false;
    if (form == RIP || form == ABSOLUTE) {
        if (target >= 1ull << 31)
            return false;
        e->mod = 0;
        e->disp_bytes = 4;
        e->disp = e->target = target;
        e->rm = no_base(g, e);
        e->rip_relative = form == RIP;
        if (form == ABSOLUTE) {
            e->sib = true;
            e->index = 4;
            e->base = no_base(g, e);
            e->scale = below(g, 4);
        }
        return true;
    }

    unsigned b = below(g, e->norex ? 8 : 16), x = below(g, e->norex ? 8 : 16);
    unsigned scale = below(g, 4);
    uint16_t bit_b = 1 << b, bit_x = 1 << x;
    uint64_t offset = 0;
    if (form != BASE) {
        if (x == RSP || ((g->used & bit_x) && !(g->known & bit_x)))
            return false;
        if (!(g->used & bit_x)) {
            in->r[x] = form == INDEX    ? target >> scale
                       : percent(g, 60) ? (uint64_t)(int64_t)(int8_t)below(g, 256)
                                        : value(g);
            if (addr32)
                in->r[x] = (uint32_t)in->r[x] | value(g) << 32;
            if (scale && percent(g, 10) && form == INDEX)
                in->r[x] |= 1ull << 63; /* is shifted out */
            g->used |= bit_x;
        }
        offset = in->r[x] << scale;
    }
    if (form == INDEX) {
        int64_t disp = addr32 ? (int32_t)(target - offset) : (int64_t)(target - offset);
        if (!fits(disp, 4))
            return false;
        e->sib = true;
        e->mod = 0;
        e->base = no_base(g, e);
        e->index = x;
        e->scale = scale;
        e->disp_bytes = 4;
        e->disp = disp;
        g->s->pinned |= bit_x;
        return true;
    }
    if ((g->used & bit_b) && !(g->known & bit_b))
        return false;
    if (!(g->used & bit_b)) {
        static const int64_t disps[] = {0, 0, 1, -1, 127, -128, 128, -129, 0x1234567, -0x7654321};
        uint64_t v = target - offset - disps[below(g, sizeof(disps) / sizeof(disps[0]))];
        in->r[b] = addr32 ? (uint32_t)v | value(g) << 32 : v;
        g->used |= bit_b;
    }
    uint64_t rest = (target - offset - in->r[b]) & mask;
    int64_t disp = addr32 ? (int32_t)rest : (int64_t)rest;
    if (!fits(disp, 4))
        return false;
    g->s->pinned |= bit_b;
    e->rm = e->base = b;
    set_disp(g, e, b, disp);
    if (form == BASE_INDEX) {
        e->sib = true;
        e->index = x;
        e->scale = scale;
        g->s->pinned |= bit_x;
    } else if ((b & 7) == 4 || percent(g, 15)) {
        e->sib = true;
        e->index = 4;
        e->scale = below(g, 4); /* means nothing without an index */
    }
    return true;
}

void memory_at(struct gen *g, struct enc *e, uint64_t target)
{
    e->modrm = true;
    for (int tries = 0; tries < 6; tries++)
        if (address(g, e, target))
            return;
    unsigned b;
    do
        b = below(g, e->norex ? 8 : 16);
    while (b == RSP || (g->hold & 1 << b));
    need(g, b, target);
    e->memory = true;
    e->addr32 = e->rip_relative = false;
    e->rm = e->base = b;
    e->sib = (b & 7) == 4;
    e->index = 4;
    set_disp(g, e, b, 0);
}

/* ---- Sizes and counts ---- */

unsigned pick_size(struct gen *g, const struct form *f)
{
    unsigned size;
    do
        size = 1 << below(g, 4);
    while (!(f->sizes & size));
    return size;
}

/* SDM vol. 2, "Flags Affected" of RCL/RCR/ROL/ROR, SAL/SAR/SHL/SHR, SHLD. */
void shift_flags(const struct form *f, unsigned size, unsigned count, uint16_t *writes,
                 uint16_t *undef)
{
    unsigned n = count & (size == 8 ? 63 : 31);
    *writes = *undef = 0;
    if (!n)
        return;
    bool rotate = !(f->attr & A_DOUBLE) && f->ext < 4;
    *writes = rotate ? FL_CF : FL_STATUS & ~(FL_AF | FL_OF);
    *undef = rotate ? 0 : FL_AF;
    if (n == 1)
        *writes |= FL_OF;
    else
        *undef |= FL_OF;
    if (!rotate && !(f->attr & A_DOUBLE) && f->ext != 7 && n >= 8 * size) {
        *undef |= FL_CF;
        *writes &= ~FL_CF;
    }
}

unsigned pick_count(struct gen *g, const struct form *f, unsigned size)
{
    const unsigned bits = 8 * size;
    const unsigned edges[] = {0, 1, 2, bits - 1, bits, bits + 1, 2 * bits, 31, 32, 63, 64, 255};
    unsigned count =
        percent(g, 60) ? edges[below(g, sizeof(edges) / sizeof(edges[0]))] : below(g, 256);
    /* Undefined result: not generated. */
    while ((f->attr & A_DOUBLE) && size == 2 && (count & 31) > 16)
        count = below(g, 256);
    return count;
}
