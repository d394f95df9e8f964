/* Near branches: forward over what may or may not run, small loops, routines inside the sequence.
 */
#include "tests/diff/generate.h"

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

void jump_insn(struct gen *g, int form)
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

void loop_insn(struct gen *g, int form)
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
void call_insn(struct gen *g, int form)
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
void jump_indirect_insn(struct gen *g, int form)
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
