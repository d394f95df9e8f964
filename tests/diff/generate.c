/*
 * Makes one sequence of instructions from a seed, with an encoder of its own (so that the
 * simulator's decoder is checked as well).
 *
 * The generator keeps what it knows: a register nobody has touched yet is *free* and may still be
 * given the value an instruction needs (a pointer, a shift count); one that was only read is
 * *known*. So addresses always hit what they are meant to hit, and nothing ever reads or jumps
 * where the host program lives.
 */
#include <string.h>

#include "tests/diff/diff.h"

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };

#define STACK_MID   (STACK_BASE + 0xc00)
#define STACK_RANGE 0x800

struct gen {
    struct sequence *s;
    const struct choice *any;
    uint64_t random;
    uint16_t used, known; /* bitmaps of registers */
    uint16_t hold;        /* registers the current instruction needs as they are */
    uint16_t undef;       /* status flags undefined here */
    int df;               /* direction flag, -1 unknown */
    bool df_free;         /* nothing has used or changed DF yet */
    bool rsp_ok;          /* RSP points well into the stack */
    bool routine;         /* inside a routine: leave RSP and the stack alone */
    bool ended;           /* the last instruction faults */
    int join;             /* the next instruction is also reached from this one; -1: is not */
};

/* One instruction on its way to bytes. */
struct enc {
    uint8_t map, opcode, prefix;
    bool opsize, addr32, lock, w, norex, rex, vex;
    uint8_t segment;
    bool modrm, sib;
    uint8_t mod, reg, rm, scale, index, base; /* reg, rm, index, base: 0-15 */
    uint8_t vvvv, disp_bytes, imm_bytes;
    int64_t disp;
    bool rip_relative;
    uint64_t target, imm;
    bool memory;
};

uint64_t random_next(uint64_t *state)
{
    /* SplitMix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static unsigned below(struct gen *g, unsigned n)
{
    return random_next(&g->random) % n;
}

static bool percent(struct gen *g, unsigned n)
{
    return below(g, 100) < n;
}

static uint64_t value(struct gen *g)
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

/* ---- Code ---- */

static struct insn_record *record(struct gen *g, unsigned start, int form, uint16_t reads,
                                  uint16_t writes, uint16_t undef)
{
    struct sequence *s = g->s;
    struct insn_record *i = &s->insn[s->n_insns++];
    *i = (struct insn_record){.off = start,
                              .len = s->len - start,
                              .unit = s->n_units,
                              .form = form,
                              .join = g->join,
                              .reads = reads,
                              .writes = writes,
                              .undef = undef};
    g->join = -1;
    g->undef = (g->undef & ~writes) | undef;
    return i;
}

static void byte(struct gen *g, uint8_t b)
{
    g->s->code[g->s->len++] = b;
}

static void bytes(struct gen *g, uint64_t v, unsigned n)
{
    while (n--) {
        byte(g, v);
        v >>= 8;
    }
}

static void patch32(struct gen *g, unsigned at, uint32_t v, unsigned n)
{
    memcpy(g->s->code + at, &v, n);
}

static uint64_t here(const struct gen *g)
{
    return CODE_BASE + g->s->start + g->s->len;
}

static void emit(struct gen *g, const struct enc *e)
{
    static const uint8_t escape[4][3] = {{0}, {1, 0x0f}, {2, 0x0f, 0x38}, {2, 0x0f, 0x3a}};
    uint8_t legacy[5];
    unsigned n = 0;
    if (e->segment)
        legacy[n++] = e->segment;
    if (e->opsize)
        legacy[n++] = 0x66;
    if (e->addr32)
        legacy[n++] = 0x67;
    if (e->lock)
        legacy[n++] = 0xf0;
    if (e->prefix && !e->vex)
        legacy[n++] = e->prefix;
    /* Legacy prefixes may stand in any order. */
    unsigned first = n ? below(g, n) : 0;
    for (unsigned i = 0; i < n; i++)
        byte(g, legacy[(first + i) % n]);

    /* Without an SIB byte nothing looks at REX.X. */
    bool any_x = !e->sib && e->modrm && !e->norex && percent(g, 5);
    uint8_t r = e->reg >> 3, x = e->sib ? e->index >> 3 : any_x,
            b = e->sib ? e->base >> 3 : e->rm >> 3;
    if (e->vex) {
        uint8_t pp = e->prefix == 0x66 ? 1 : e->prefix == 0xf3 ? 2 : e->prefix == 0xf2 ? 3 : 0;
        byte(g, 0xc4);
        byte(g, (!r) << 7 | (!x) << 6 | (!b) << 5 | e->map);
        byte(g, e->w << 7 | (~e->vvvv & 15) << 3 | pp);
    } else {
        uint8_t rex = 0x40 | e->w << 3 | r << 2 | x << 1 | b;
        if (!e->norex && (rex != 0x40 || e->rex))
            byte(g, rex);
        for (unsigned i = 0; i < escape[e->map][0]; i++)
            byte(g, escape[e->map][1 + i]);
    }
    byte(g, e->opcode);
    if (e->modrm)
        byte(g, e->mod << 6 | (e->reg & 7) << 3 | (e->sib ? 4 : e->rm & 7));
    if (e->sib)
        byte(g, e->scale << 6 | (e->index & 7) << 3 | (e->base & 7));
    int64_t disp = e->disp;
    if (e->rip_relative)
        disp = e->target - (here(g) + 4 + e->imm_bytes);
    bytes(g, disp, e->disp_bytes);
    bytes(g, e->imm, e->imm_bytes);
}

/* ---- Registers ---- */

/* MOV of a constant, by one of its encodings. */
static void load_constant(struct gen *g, unsigned r, uint64_t v)
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

/* Sees to it that r holds v when the next instruction runs. */
static void need(struct gen *g, unsigned r, uint64_t v)
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

static void written(struct gen *g, unsigned r)
{
    g->used |= 1 << r;
    g->known &= ~(1 << r);
    if (r == RSP)
        g->rsp_ok = false;
}

static void stack_ready(struct gen *g)
{
    if (!g->rsp_ok) {
        load_constant(g, RSP, STACK_MID + below(g, STACK_RANGE));
        g->rsp_ok = true;
    }
}

/* Makes the flags an instruction reads defined. */
static void clean_flags(struct gen *g, uint16_t reads)
{
    if (!(reads & g->undef))
        return;
    unsigned start = g->s->len, a = below(g, 16), b = below(g, 16);
    struct enc e = {.opcode = 0x39, .modrm = true, .mod = 3, .w = true, .reg = a, .rm = b};
    emit(g, &e);
    g->used |= 1 << a | 1 << b;
    record(g, start, -1, 0, FL_STATUS, 0);
}

/* Chooses a register operand's number. byte_reg: an 8-bit one; then 4-7 are AH-BH without REX. */
static unsigned pick(struct gen *g, struct enc *e, bool byte_reg, bool write)
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

static void patch(struct gen *g, uint64_t address, uint64_t v)
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

/* Where a memory operand of so many bytes shall lie: mostly well inside, now and then over an edge,
 * read-only, unmapped or non-canonical. */
static uint64_t pick_target(struct gen *g, unsigned width, bool aligned, bool safe)
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

/* Tries one addressing form for target; false when it cannot reach it. */
static bool address(struct gen *g, struct enc *e, uint64_t target)
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

static void memory_at(struct gen *g, struct enc *e, uint64_t target)
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

/* ---- Flags that depend on the count (SDM vol. 2, RCL/RCR/ROL/ROR, SAL/SAR/SHL/SHR, SHLD) ---- */

static void shift_flags(const struct form *f, unsigned size, unsigned count, uint16_t *writes,
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

static unsigned pick_count(struct gen *g, const struct form *f, unsigned size)
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

/* ---- Instructions ---- */

static unsigned pick_size(struct gen *g, const struct form *f)
{
    unsigned size;
    do
        size = 1 << below(g, 4);
    while (!(f->sizes & size));
    return size;
}

static unsigned imm_bytes(enum imm imm, unsigned size)
{
    switch (imm) {
    case IMM_NONE:
        return 0;
    case IMM_Z:
        return size == 8 ? 4 : size;
    case IMM_V:
        return size;
    default:
        return 1;
    }
}

static struct enc start_insn(struct gen *g, const struct form *f, unsigned size)
{
    struct enc e = {.map = f->map,
                    .opcode = f->opcode | ((f->attr & A_BW) && size > 1),
                    .prefix = f->prefix,
                    .opsize = size == 2,
                    .w = size == 8 && !(f->attr & A_D64),
                    .imm_bytes = imm_bytes(f->imm, size),
                    .imm = value(g)};
    static const uint8_t ignored[4] = {0x26, 0x2e, 0x36, 0x3e};
    if (percent(g, 3) && f->family <= FAM_MULDIV)
        e.segment = ignored[below(g, 4)];
    /* REX.W takes precedence over 66H. */
    if (e.w && f->map < 2 && !f->prefix && f->family <= FAM_MULDIV && percent(g, 2))
        e.opsize = true;
    return e;
}

static struct insn_record *finish_insn(struct gen *g, struct enc *e, int form, unsigned size,
                                       uint16_t reads, uint16_t writes, uint16_t undef)
{
    unsigned start = g->s->len;
    emit(g, e);
    struct insn_record *i = record(g, start, form, reads, writes, undef);
    i->size = size;
    i->memory = e->memory;
    i->lock = e->lock;
    for (unsigned r = 0; r < 16; r++)
        if (forms[form].implicit >> r & 1)
            written(g, r);
    if (forms[form].attr & A_STACK)
        g->known &= ~(1 << RSP);
    return i;
}

/* CMOVZ over the undefined destination of BSF and BSR with a zero source. */
static void replace_undefined(struct gen *g, unsigned r)
{
    unsigned start = g->s->len, other = below(g, 16);
    struct enc e = {
        .map = 1, .opcode = 0x44, .modrm = true, .mod = 3, .w = true, .reg = r, .rm = other};
    g->used |= 1 << other;
    emit(g, &e);
    record(g, start, -1, FL_ZF, 0, 0);
}

static void prepare_division(struct gen *g, const struct form *f, unsigned size)
{
    if (percent(g, 25))
        return;
    if (size == 1) {
        need(g, RAX, below(g, 512));
    } else if (f->ext == 6) {
        need(g, RDX, below(g, 3));
    } else {
        unsigned start = g->s->len;
        struct enc e = {.opcode = 0x99, .w = size == 8, .opsize = size == 2};
        emit(g, &e);
        g->used |= 1 << RAX;
        written(g, RDX);
        record(g, start, -1, 0, 0, 0);
        g->hold |= 1 << RDX;
    }
}

/* Forms with a ModRM byte, VEX or not. */
static void modrm_insn(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned size = pick_size(g, f), rm_size = f->rm_size ? f->rm_size : size;
    struct enc e = start_insn(g, f, size);
    bool bytes_here = size == 1 || rm_size == 1;
    uint16_t writes = f->writes, undef = f->undef;

    e.modrm = true;
    e.vex = f->kind >= K_VEX_RVM && f->kind <= K_VEX_RMI;
    e.norex = bytes_here && size != 8 && percent(g, 40);
    bool memory = (f->attr & A_MEM) || (!(f->attr & A_REG) && percent(g, 50));
    if (memory && (f->attr & A_LOCK) && percent(g, 25))
        e.lock = true;
    if (f->family <= FAM_MULDIV && !(memory && (f->attr & A_LOCK)) && below(g, 300) == 0)
        e.lock = g->ended = true; /* #UD */
    if (f->attr & A_FAULTS)
        g->ended = true;

    if (f->attr & A_SHIFT) {
        unsigned count = f->attr & A_ONE ? 1 : pick_count(g, f, size);
        e.imm = count;
        if (f->attr & A_CL)
            need(g, RCX, (value(g) & ~0xffull) | count);
        shift_flags(f, size, count, &writes, &undef);
    }
    if (f->attr & A_DIV)
        prepare_division(g, f, size);

    unsigned width = f->attr & A_TWICE ? 2 * size : rm_size;
    uint64_t target = 0;
    if (memory) {
        bool aligned = e.lock || (f->attr & (A_ATOMIC | A_TWICE));
        target = pick_target(g, width, aligned, false);
        if (f->attr & A_BITREG)
            target = DATA_BASE + 2100 + (below(g, 3800) & ~7u);
        if (!(f->attr & A_CMPXCHG) && percent(g, 60))
            patch(g, target, value(g));
    }

    bool reg_operand = f->ext < 0;
    if (reg_operand && memory && (f->attr & A_BITREG)) {
        /* The offset reaches 2000 bytes to either side; of a narrow operand, the upper part of the
         * register is ignored. */
        int64_t bit = (int64_t)below(g, 32000) - 16000;
        uint64_t upper = size == 8 ? 0 : value(g) << (8 * size);
        unsigned r;
        do
            r = below(g, 16);
        while (r == RSP);
        need(g, r, size == 8 ? (uint64_t)bit : ((uint64_t)bit & ((1ull << 8 * size) - 1)) | upper);
        e.reg = r;
        reg_operand = false;
    }
    if ((f->attr & A_CMPXCHG) && memory && percent(g, 50)) {
        uint64_t low = value(g), high = value(g);
        if (f->attr & A_TWICE) {
            patch(g, target, size == 8 ? low : (low & UINT32_MAX) | high << 32);
            if (size == 8)
                patch(g, target + 8, high);
            need(g, RDX, high);
        } else {
            patch(g, target, low);
        }
        need(g, RAX, low);
    }
    if (memory)
        memory_at(g, &e, target);

    if (target >> 47)
        e.segment = 0; /* #SS or #GP by which segment: prefixes that mean nothing kept out of it */

    unsigned dst = RSP;
    if (reg_operand) {
        e.reg = pick(g, &e, size == 1, f->dst & D_REG);
        dst = e.reg;
    } else if (f->ext >= 0) {
        /* An opcode's extension: REX.R means nothing. */
        e.reg = f->ext + (!e.vex && !e.norex && percent(g, 5) ? 8 : 0);
    }
    if (e.vex && f->kind != K_VEX_RMI) {
        struct enc any = {0};
        e.vvvv = pick(g, &any, false, f->dst & D_VVVV);
    }
    if (!memory) {
        e.mod = 3;
        e.rm = pick(g, &e, rm_size == 1, f->dst & D_RM);
    }
    finish_insn(g, &e, form, size, f->reads, writes, undef);
    if ((f->attr & A_SCAN) && !g->ended) {
        replace_undefined(g, dst);
        if (dst == RSP)
            g->rsp_ok = false;
    }
}

static void string_insn(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned size = pick_size(g, f);
    struct enc e = start_insn(g, f, size);
    unsigned count = !f->prefix ? 1 : percent(g, 4) ? below(g, 300) : below(g, 9);

    if (g->df_free) {
        g->df = g->s->in.rflags & FL_DF ? 1 : 0;
    } else if (g->df < 0 || percent(g, 50)) {
        unsigned start = g->s->len;
        g->df = below(g, 2);
        byte(g, 0xfc | g->df);
        record(g, start, -1, 0, 0, 0);
    }
    g->df_free = false;

    /* Both operands within the data; sometimes the same, overlapping, or near an edge. */
    unsigned span = count * size, room = 2 * PAGE_BYTES - span - size;
    uint64_t a = DATA_BASE + below(g, room + 1), b = DATA_BASE + below(g, room + 1);
    if (percent(g, 30))
        b = a;
    else if (percent(g, 20) && a + 8 < DATA_BASE + room)
        b = a + below(g, 9);
    if (percent(g, 4))
        b = DATA_BASE + 2 * PAGE_BYTES - below(g, span + 1); /* into the read-only page */
    if (percent(g, 3))
        a = DATA_BASE + 3 * PAGE_BYTES - below(g, span + 1); /* into the unmapped one */
    if (percent(g, 15)) {
        a = HIGH_BASE + below(g, PAGE_BYTES - 8 * 9);
        if (span > 8 * 8)
            a = b;
    }
    if (g->df && count) {
        a += span - size;
        b += span - size;
    }
    uint64_t garbage = 0;
    if (a >> 32 == 0 && b >> 32 == 0 && percent(g, 12)) {
        e.addr32 = true;
        /* With no iteration at all the manual leaves open what becomes of the upper halves. */
        garbage = count ? value(g) << 32 : 0;
    }
    if (f->implicit & 1 << RSI)
        need(g, RSI, a | garbage);
    if (f->implicit & 1 << RDI)
        need(g, RDI, b | garbage);
    if (f->implicit & 1 << RCX)
        need(g, RCX, count | garbage);
    if (f->opcode == 0xae && percent(g, 60))
        need(g, RAX, percent(g, 50) ? 0 : 0x0101010101010101); /* the image has runs of these */
    g->used |= f->implicit;
    /* A comparison that is repeated zero times leaves the flags. */
    struct insn_record *i = finish_insn(g, &e, form, size, 0, count ? f->writes : 0, 0);
    i->memory = true;
}

/* ---- Branches ---- */

static void insn(struct gen *g, int form);

static bool straight(const struct form *f)
{
    return (f->kind < K_JUMP || f->kind > K_RET) && !(f->attr & A_FAULTS);
}

static void body(struct gen *g, unsigned n)
{
    while (n--) {
        const struct form *f;
        int form;
        do {
            form = g->any->form[below(g, g->any->n)];
            f = &forms[form];
        } while (!straight(f) || (g->routine && ((f->attr & A_STACK) || f->kind == K_LEAVE)));
        insn(g, form);
    }
}

static struct insn_record *control(struct gen *g, unsigned start, int form)
{
    const struct form *f = &forms[form];
    struct insn_record *i = record(g, start, form, f->reads, f->writes, f->undef);
    i->size = 8;
    i->control = true;
    return i;
}

/* What may or may not run between a branch and its target. */
static void skipped(struct gen *g, unsigned n)
{
    int branch = g->s->n_insns - 1;
    uint16_t undef = g->undef;
    bool rsp_ok = g->rsp_ok, ended = g->ended;
    int df = g->df;
    unsigned first = g->s->n_insns;
    body(g, n);
    for (unsigned i = first; i < g->s->n_insns; i++)
        g->s->insn[i].conditional = true;
    g->undef |= undef;
    g->rsp_ok = g->rsp_ok && rsp_ok;
    g->ended = ended;
    if (g->df != df)
        g->df = -1;
    g->df_free = false;
    g->join = branch;
}

static void jump_insn(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned start = g->s->len, n = imm_bytes(f->imm, 8);
    struct enc e = {.map = f->map, .opcode = f->opcode, .imm_bytes = n};
    emit(g, &e);
    unsigned end = g->s->len;
    control(g, start, form);
    skipped(g, below(g, 3));
    patch32(g, end - n, g->s->len - end, n);
}

static void loop_insn(struct gen *g, int form)
{
    static const char *const simple[] = {"add rm,r", "or rm,r",  "adc rm,r", "sbb rm,r",
                                         "and rm,r", "sub rm,r", "xor rm,r", "cmp rm,r"};
    const struct form *f = &forms[form];
    bool backward = f->opcode != 0xe3 && percent(g, 50);
    struct enc e = {.opcode = f->opcode, .imm_bytes = 1, .addr32 = percent(g, 12)};
    uint64_t garbage = e.addr32 ? value(g) << 32 : 0;
    unsigned top = 0;

    if (backward) {
        clean_flags(g, FL_STATUS);
        need(g, RCX, (1 + below(g, 5)) | garbage);
        top = g->s->len;
        for (unsigned n = 1 + below(g, 2); n--;) {
            unsigned op = below(g, 8), start = g->s->len, d;
            do
                d = below(g, 16);
            while (d == RCX || d == RSP);
            struct enc alu = {.opcode = 8 * op + 1,
                              .modrm = true,
                              .mod = 3,
                              .w = percent(g, 50),
                              .reg = below(g, 16),
                              .rm = d};
            g->used |= 1 << alu.reg;
            written(g, d);
            emit(g, &alu);
            int which = form_find(simple[op]);
            record(g, start, which, forms[which].reads, forms[which].writes, forms[which].undef)
                ->size = alu.w ? 8 : 4;
        }
    } else if (percent(g, 60)) {
        need(g, RCX, below(g, 3) | garbage);
    }
    g->used |= 1 << RCX;
    unsigned start = g->s->len;
    emit(g, &e);
    unsigned end = g->s->len;
    control(g, start, form);
    if (f->opcode != 0xe3)
        written(g, RCX);
    if (backward) {
        patch32(g, end - 1, top - end, 1);
        return;
    }
    skipped(g, 1 + below(g, 2));
    patch32(g, end - 1, g->s->len - end, 1);
}

/* JMP rel32 over what follows; the displacement is set by land(). */
static unsigned jump_over(struct gen *g)
{
    unsigned start = g->s->len;
    byte(g, 0xe9);
    bytes(g, 0, 4);
    control(g, start, form_find("jmp rel32"));
    return g->s->len;
}

static void land(struct gen *g, unsigned from)
{
    patch32(g, from - 4, g->s->len - from, 4);
}

/* How an indirect branch finds its destination. Chosen before the routine is generated: the routine
 * runs after the register has been loaded and must not count on it. */
struct way {
    bool by_register;
    unsigned r;
};

static struct way choose_way(struct gen *g)
{
    struct way way = {.by_register = percent(g, 50)};
    do
        way.r = below(g, 16);
    while (way.r == RSP);
    if (way.by_register)
        written(g, way.r);
    return way;
}

/* An indirect call or jump to destination, through a register or memory. */
static void indirect(struct gen *g, int form, struct way way, uint64_t destination)
{
    const struct form *f = &forms[form];
    struct enc e = {.opcode = f->opcode, .reg = f->ext, .modrm = true};
    if (way.by_register) {
        load_constant(g, way.r, destination);
        e.mod = 3;
        e.rm = way.r;
    } else {
        /* MOV QWORD PTR [slot], imm32 just before: nothing can have overwritten the pointer. */
        uint64_t slot = pick_target(g, 8, false, true);
        unsigned start = g->s->len;
        struct enc store = {.opcode = 0xc7,
                            .w = true,
                            .modrm = true,
                            .mod = 0,
                            .sib = true,
                            .index = 4,
                            .base = 5,
                            .disp_bytes = 4,
                            .disp = slot,
                            .imm_bytes = 4,
                            .imm = destination};
        emit(g, &store);
        record(g, start, -1, 0, 0, 0);
        /* Only forms that need no register loaded. */
        while (!address(g, &e, slot))
            ;
    }
    unsigned start = g->s->len;
    emit(g, &e);
    control(g, start, form)->memory = e.memory;
}

/* JMP over; routine: body, RET; over: CALL routine. */
static void call_insn(struct gen *g, int form)
{
    stack_ready(g);
    struct way way = choose_way(g);
    unsigned over = jump_over(g);
    uint64_t routine = here(g);
    unsigned routine_off = g->s->len;
    g->routine = true;
    body(g, 1 + below(g, 2));
    g->routine = false;
    unsigned start = g->s->len;
    if (percent(g, 50)) {
        byte(g, 0xc3);
        control(g, start, form_find("ret"));
    } else {
        byte(g, 0xc2);
        bytes(g, below(g, 40), 2);
        control(g, start, form_find("ret imm16"));
    }
    land(g, over);
    g->hold = 0;
    if (forms[form].ext) {
        indirect(g, form, way, routine);
    } else {
        start = g->s->len;
        byte(g, 0xe8);
        bytes(g, routine_off - (g->s->len + 4), 4);
        control(g, start, form);
    }
    g->known &= ~(1 << RSP);
}

/* JMP over; there: body, JMP end; over: JMP there; end: */
static void jump_indirect_insn(struct gen *g, int form)
{
    struct way way = choose_way(g);
    unsigned over = jump_over(g);
    uint64_t there = here(g);
    body(g, 1);
    unsigned end = jump_over(g);
    land(g, over);
    g->hold = 0;
    indirect(g, form, way, there);
    land(g, end);
}

/* ---- All kinds ---- */

static void insn(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned size = pick_size(g, f);
    g->hold = 0;
    clean_flags(g, f->reads);
    if (f->attr & A_STACK)
        stack_ready(g);
    switch (f->kind) {
    case K_RM_R:
    case K_RM:
    case K_VEX_RVM:
    case K_VEX_RMV:
    case K_VEX_VM:
    case K_VEX_RMI:
        modrm_insn(g, form);
        return;
    case K_STRING:
        string_insn(g, form);
        return;
    case K_JUMP:
        jump_insn(g, form);
        return;
    case K_LOOP:
        loop_insn(g, form);
        return;
    case K_CALL:
        call_insn(g, form);
        return;
    case K_JUMP_IND:
        jump_indirect_insn(g, form);
        return;
    default:
        break;
    }

    struct enc e = start_insn(g, f, size);
    switch (f->kind) {
    case K_O:
        e.norex = size == 1 && percent(g, 40);
        e.rm = pick(g, &e, size == 1, f->dst & D_REG);
        if (f->opcode == 0x90)
            while (e.rm == RAX) /* that would be NOP */
                e.rm = pick(g, &e, false, true);
        if (f->opcode == 0x90 && percent(g, 20))
            e.prefix = 0xf3; /* means nothing: PAUSE is that of RAX alone */
        e.opcode |= e.rm & 7;
        break;
    case K_MOFFS: {
        uint64_t target = pick_target(g, size, false, false);
        e.addr32 = target < 1ull << 31 && percent(g, 12);
        e.imm = target;
        e.imm_bytes = e.addr32 ? 4 : 8;
        e.memory = true;
        if (target >> 47)
            e.segment = 0;
        if (percent(g, 60))
            patch(g, target, value(g));
        break;
    }
    case K_ENTER: {
        unsigned level = percent(g, 70) ? below(g, 3) : below(g, 6);
        need(g, RBP, STACK_MID + below(g, STACK_RANGE));
        e.imm = below(g, 64) | level << 16;
        e.imm_bytes = 3;
        break;
    }
    case K_LEAVE:
        need(g, RBP, STACK_MID + below(g, STACK_RANGE));
        g->rsp_ok = true;
        g->known &= ~(1 << RSP);
        break;
    case K_POPF: {
        uint32_t flags = (value(g) & FL_STATUS) | FL_IF | FL_ALWAYS | (percent(g, 25) ? FL_DF : 0);
        unsigned start = g->s->len;
        struct enc push = {
            .opcode = 0x68, .opsize = size == 2, .imm = flags, .imm_bytes = size == 2 ? 2 : 4};
        emit(g, &push);
        record(g, start, -1, 0, 0, 0);
        g->df = flags & FL_DF ? 1 : 0;
        g->df_free = false;
        break;
    }
    default:
        if (f->attr & A_XLAT) {
            need(g, RBX, DATA_BASE + below(g, 2 * PAGE_BYTES - 256));
            e.memory = true;
        }
        if (f->family == FAM_FLAG && (f->opcode | 1) == 0xfd) { /* CLD, STD */
            g->df = f->opcode & 1;
            g->df_free = false;
        }
        break;
    }
    if (f->attr & A_FAULTS)
        g->ended = true;
    g->used |= f->implicit;
    finish_insn(g, &e, form, size, f->reads, f->writes, f->undef);
}

void generate(struct sequence *s, uint64_t seed, uint64_t index, const struct choice *mainly,
              const struct choice *any)
{
    struct gen g = {.s = s,
                    .any = any,
                    .random = seed ^ index * 0xd1342543de82ef95,
                    .known = 0xffff,
                    .used = 1 << RSP,
                    .rsp_ok = true,
                    .df_free = true,
                    .join = -1};
    s->seed = seed;
    s->index = index;
    s->pinned = 1 << RSP;
    s->len = s->n_insns = s->n_units = s->n_patches = 0;
    s->user = below(&g, 2);
    /* Now and then the code runs over the end of its first page. */
    s->start = percent(&g, 10) ? PAGE_BYTES - 1 - below(&g, 48) : below(&g, 64);
    for (unsigned r = 0; r < 16; r++)
        s->in.r[r] = value(&g);
    s->in.r[RSP] = STACK_MID + below(&g, STACK_RANGE);
    s->in.rflags =
        (random_next(&g.random) & FL_STATUS) | FL_IF | FL_ALWAYS | (percent(&g, 25) ? FL_DF : 0);

    unsigned units = 1 + below(&g, 6);
    for (unsigned u = 0; u < units && !g.ended; u++) {
        int form;
        do {
            const struct choice *c = percent(&g, 60) ? mainly : any;
            form = c->form[below(&g, c->n)];
        } while ((forms[form].attr & A_FAULTS) && u + 1 < units);
        insn(&g, forms[form].kind == K_RET ? form_find("call rel32") : form);
        s->n_units++;
    }
    s->insn[s->n_insns] = (struct insn_record){.off = s->len, .join = g.join, .form = -1};
    int32_t rel = EXIT_BASE - (CODE_BASE + s->start + s->len + EXIT_JUMP_BYTES);
    s->code[s->len] = 0xe9;
    memcpy(s->code + s->len + 1, &rel, 4);
}

uint16_t undefined_flags(const struct sequence *s, unsigned off, bool *valid)
{
    uint16_t undef = 0, after[MAX_INSNS];
    *valid = true;
    for (unsigned i = 0; i <= s->n_insns; i++) {
        const struct insn_record *n = &s->insn[i];
        if (n->join >= 0)
            undef |= after[n->join];
        if (n->off >= off || i == s->n_insns)
            return undef;
        if (!n->dropped) {
            if (n->reads & undef)
                *valid = false;
            undef = (undef & ~n->writes) | n->undef;
        }
        after[i] = undef;
    }
    return undef;
}

/* ---- Memory ---- */

const struct page pages[N_PAGES] = {
    {DATA_BASE, true},
    {DATA_BASE + PAGE_BYTES, true},
    {DATA_BASE + 2 * PAGE_BYTES, false},
    {HIGH_BASE, true},
    {STACK_BASE, true},
    {STACK_BASE + PAGE_BYTES, true},
};
uint8_t image[N_PAGES][PAGE_BYTES];

void image_init(uint64_t seed)
{
    for (int p = 0; p < N_PAGES; p++)
        for (unsigned i = 0; i < PAGE_BYTES; i++)
            image[p][i] = random_next(&seed);
    /* Runs of equal bytes for the repeated comparisons. */
    memset(image[0] + 0x400, 0, 0x200);
    memset(image[0] + 0xf00, 0x01, 0x100);
    memset(image[1], 0x01, 0x100);
    memset(image[1] + 0x800, 0, 0x200);
    memset(image[3] + 0x200, 0, 0x200);
}

void image_load(uint8_t *const page[N_PAGES], const struct sequence *s)
{
    for (int i = 0; i < N_PAGES; i++)
        if (pages[i].writable)
            memcpy(page[i], image[i], PAGE_BYTES);
    for (unsigned i = 0; i < s->n_patches; i++)
        for (unsigned b = 0; b < 8; b++)
            for (int p = 0; p < N_PAGES; p++) {
                uint64_t off = s->patch[i].address + b - pages[p].linear;
                if (off < PAGE_BYTES && pages[p].writable)
                    page[p][off] = s->patch[i].value >> 8 * b;
            }
}
