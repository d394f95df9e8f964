/* Makes one sequence of instructions from a seed: which forms, and what each kind of form needs. */
#include <string.h>

#include "tests/diff/generate.h"

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

struct insn_record *finish_insn(struct gen *g, struct enc *e, int form, unsigned size,
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

void insn(struct gen *g, int form)
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
    case K_VECTOR:
        vector_insn(g, form);
        return;
    case K_X87:
        x87_insn(g, form);
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

    x87_begin(&g);
    vector_begin(&g);

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
