/* Instructions as bytes: an encoder of the generator's own, so that the simulator's decoder is
 * checked as well. */
#include <string.h>

#include "tests/diff/generate.h"

struct insn_record *record(struct gen *g, unsigned start, int form, uint16_t reads, uint16_t writes,
                           uint16_t undef)
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

void byte(struct gen *g, uint8_t b)
{
    g->s->code[g->s->len++] = b;
}

void bytes(struct gen *g, uint64_t v, unsigned n)
{
    while (n--) {
        byte(g, v);
        v >>= 8;
    }
}

void patch32(struct gen *g, unsigned at, uint32_t v, unsigned n)
{
    memcpy(g->s->code + at, &v, n);
}

uint64_t here(const struct gen *g)
{
    return CODE_BASE + g->s->start + g->s->len;
}

void emit(struct gen *g, const struct enc *e)
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
        bool two = e->map == 1 && !e->w && !x && !b && percent(g, 50);
        byte(g, two ? 0xc5 : 0xc4);
        if (!two)
            byte(g, (!r) << 7 | (!x) << 6 | (!b) << 5 | e->map);
        byte(g, (two ? !r : e->w) << 7 | (~e->vvvv & 15) << 3 | e->wide << 2 | pp);
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

unsigned imm_bytes(enum imm imm, unsigned size)
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
