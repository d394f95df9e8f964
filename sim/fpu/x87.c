/*
 * What an x87 instruction does to stack, tags, status word and registers, with the responses to
 * masked and unmasked exceptions. SDM vol. 1 "x87 FPU Floating-Point Exception Handling", "x87 FPU
 * Floating-Point Exception Conditions".
 *
 * Condition codes that the manual calls undefined stay as they are.
 */
#include <string.h>

#include "sim/fpu/x87.h"

#define SIGN         0x8000
#define EXPONENT     0x7fff
#define INTEGER_BIT  (1ULL << 63)
#define BEFORE       (X87_IE | X87_DE | X87_ZE) /* found before anything is computed */
#define CODES        (X87_C0 | X87_C1 | X87_C2 | X87_C3)
#define COMPARISON   (X87_C0 | X87_C2 | X87_C3) /* unordered */
#define CONTROL_BITS 0x1f3f
#define CONTROL_ONE  0x0040 /* reserved, reads as 1 */
#define CONTROL_INIT 0x037f
#define ROUND_CHOP   0x0c00
#define PRECISION    0x0300
/* How far the exponent of an unmasked overflow's or underflow's result is moved: 3 * 2^13. */
#define BIAS_ADJUST 24576
#define BIAS        0x3fff
#define SMALL       (BIAS - 100)

/* The real indefinite QNaN. */
static const struct x87_register indefinite = {.mantissa = 3ULL << 62,
                                               .sign_exponent = SIGN | EXPONENT};

/* ---- tags and words ---- */

static bool empty(const struct fpu *f, unsigned i)
{
    return !(f->valid >> ((f->top + i) & 7) & 1);
}
static struct x87_register get(const struct fpu *f, unsigned i)
{
    return f->r[(f->top + i) & 7];
}
static void put(struct fpu *f, unsigned i, struct x87_register v)
{
    unsigned n = (f->top + i) & 7;
    f->r[n] = v;
    f->valid |= 1u << n;
}
static void pop(struct fpu *f)
{
    f->valid &= ~(1u << f->top);
    f->top = (f->top + 1) & 7;
}
static void push(struct fpu *f, struct x87_register v)
{
    f->top = (f->top - 1) & 7;
    put(f, 0, v);
}

/* ES is the summary of the unmasked exceptions, B its copy. */
static uint16_t summary(uint16_t status, uint16_t control)
{
    bool pending = status & ~control & X87_EXCEPTIONS;
    return (status & ~(X87_ES | X87_B)) | (pending ? X87_ES | X87_B : 0);
}

void x87_init(struct fpu *f)
{
    f->control = CONTROL_INIT;
    f->status = 0;
    f->top = 0;
    f->valid = 0;
    f->opcode = f->code_segment = f->data_segment = 0;
    f->instruction_pointer = f->data_pointer = 0;
}
void x87_clear_exceptions(struct fpu *f)
{
    f->status &= CODES;
}
void x87_set_control(struct fpu *f, uint16_t control)
{
    f->control = (control & CONTROL_BITS) | CONTROL_ONE;
    f->status = summary(f->status, f->control);
}
void x87_set_status(struct fpu *f, uint16_t status)
{
    f->top = status >> X87_TOP_SHIFT & 7;
    f->status = summary(status & (CODES | X87_SF | X87_EXCEPTIONS), f->control);
}
uint16_t x87_status(const struct fpu *f)
{
    return f->status | f->top << X87_TOP_SHIFT;
}

/* SDM vol. 1 "x87 FPU Tag Word". */
enum { TAG_VALID, TAG_ZERO, TAG_SPECIAL, TAG_EMPTY };
static unsigned tag(struct x87_register r)
{
    unsigned exponent = r.sign_exponent & EXPONENT;
    if (exponent == 0 && r.mantissa == 0)
        return TAG_ZERO;
    if (exponent == 0 || exponent == EXPONENT || !(r.mantissa & INTEGER_BIT))
        return TAG_SPECIAL;
    return TAG_VALID;
}
uint16_t x87_tags(const struct fpu *f)
{
    uint16_t tags = 0;
    for (unsigned n = 0; n < 8; n++)
        tags |= (f->valid >> n & 1 ? tag(f->r[n]) : TAG_EMPTY) << (2 * n);
    return tags;
}
void x87_set_tags(struct fpu *f, uint16_t tags)
{
    f->valid = 0;
    for (unsigned n = 0; n < 8; n++)
        f->valid |= ((tags >> (2 * n) & 3) != TAG_EMPTY) << n;
}

/* ---- exceptions ---- */

/* Notes exceptions; codes replace those condition codes that are in which. True: one of them is
 * unmasked, and what was found before the computation then forbids it. */
static bool note(struct fpu *f, uint16_t status, uint16_t which)
{
    uint16_t flags = status & (X87_EXCEPTIONS | X87_SF);
    bool stops = flags & BEFORE & ~f->control;
    if (stops) {
        flags &= BEFORE | X87_SF;
        /* The codes are those of a result, which there is not; C1 is not, of a stack fault. */
        which &= X87_C1;
        status &= flags & X87_SF ? UINT16_MAX : ~X87_C1;
    }
    f->status = summary((f->status & ~which) | (status & which) | flags, f->control);
    return stops;
}

/* Stack underflow, C1 = 0, and overflow, C1 = 1. */
static bool stack_fault(struct fpu *f, bool overflow)
{
    return note(f, X87_IE | X87_SF | (overflow ? X87_C1 : 0), X87_C1);
}

/* The value with its exponent moved. A zero remains one; what would be too small becomes the
 * smallest normal number, which in a sum with a big one is as good as itself; what would be too
 * big, an infinity. */
static struct x87_register moved(struct x87_register v, int by)
{
    int exponent = v.sign_exponent & EXPONENT;
    uint16_t sign = v.sign_exponent & SIGN;
    if (v.mantissa == 0 || by == 0)
        return v;
    if (exponent == 0)
        exponent = 1;
    int shift = __builtin_clzll(v.mantissa);
    v.mantissa <<= shift;
    exponent += by - shift;
    if (exponent < 1)
        return (struct x87_register){INTEGER_BIT, sign | 1};
    if (exponent >= EXPONENT)
        return (struct x87_register){INTEGER_BIT, sign | EXPONENT};
    v.sign_exponent = sign | exponent;
    return v;
}

/* What a computation gives once more, with its operands moved so that the result is moved by `by`:
 * how to do that is the caller's. */
struct again {
    bool function;
    unsigned what;
    struct x87_register a, b;
};
/* FSCALE: the exponent added is B, chopped. "Massive" overflow and underflow, which the adjusted
 * exponent does not hold either, give infinity and zero (SDM vol. 2 "FSCALE"). */
static struct x87_outcome scale_moved(const struct again *g, int by)
{
    int magnitude = 0, exponent = (g->b.sign_exponent & EXPONENT) - BIAS;
    if (exponent > 16)
        magnitude = 1 << 17;
    else if (exponent >= 0)
        magnitude = g->b.mantissa >> (63 - exponent);
    if (g->b.sign_exponent & SIGN)
        magnitude = -magnitude;
    struct x87_outcome o = {.r = moved(g->a, magnitude + by)};
    if ((o.r.sign_exponent & EXPONENT) == EXPONENT)
        o.status = X87_PE | X87_C1;
    if (magnitude < 0 && o.r.mantissa == INTEGER_BIT && (o.r.sign_exponent & EXPONENT) == 1)
        o = (struct x87_outcome){.r = {0, g->a.sign_exponent & SIGN}, .status = X87_PE};
    return o;
}

/* By how much to move it for this exponent. */
static int way_to(struct x87_register v, int exponent)
{
    int now = v.sign_exponent & EXPONENT;
    return exponent - (now ? now : 1) + (v.mantissa ? __builtin_clzll(v.mantissa) : 0);
}
/* Functions that give a tiny or huge result are linear there in the operand that makes it so: they
 * are computed where it is neither, and the result is moved the rest of the way. */
static struct x87_outcome function_moved(const struct again *g, int by, uint16_t control)
{
    int a = 0, b = 0, result = 0;
    switch (g->what) {
    case X87_PREM: /* a is the result, which is exact */
    case X87_PREM1:
        return (struct x87_outcome){.r = moved(g->a, by)};
    case X87_SCALE:
        return scale_moved(g, by);
    case X87_YL2X:
        result = b = way_to(g->b, BIAS);
        break;
    case X87_YL2XP1:
        if ((g->a.sign_exponent & EXPONENT) < SMALL)
            a = way_to(g->a, SMALL);
        b = way_to(g->b, BIAS);
        result = a + b;
        break;
    case X87_PATAN:
        a = way_to(g->a, BIAS);
        b = way_to(g->b, SMALL);
        result = b - a;
        break;
    default:
        result = a = way_to(g->a, SMALL);
        break;
    }
    struct x87_outcome o = x87_host_function(g->what, moved(g->a, a), moved(g->b, b), control);
    o.r = moved(o.r, by - result);
    return o;
}
static struct x87_outcome compute_moved(const struct again *g, int by, uint16_t control)
{
    struct x87_register a = g->a, b = g->b;
    int half = by / 2;
    if (g->function)
        return function_moved(g, by, control);
    switch (g->what) {
    case X87_ADD:
    case X87_SUB:
    case X87_SUBR:
        return x87_host_arith(g->what, moved(a, by), moved(b, by), control);
    case X87_MUL:
        return x87_host_arith(g->what, moved(a, half), moved(b, half), control);
    case X87_DIV:
        return x87_host_arith(g->what, moved(a, half), moved(b, -half), control);
    default:
        return x87_host_arith(g->what, moved(a, -half), moved(b, half), control);
    }
}

/* SDM vol. 1 "Numeric Overflow Exception (#O)", "Numeric Underflow Exception (#U)": the response to
 * an unmasked one, with a register as destination, is the result with its exponent adjusted. An
 * unmasked underflow is every tiny result, exact or not. */
static void adjust(const struct fpu *f, const struct again *g, struct x87_outcome *o)
{
    unsigned exponent = o->r.sign_exponent & EXPONENT;
    if (o->status & X87_OE & ~f->control) {
        struct x87_outcome m = compute_moved(g, -BIAS_ADJUST, f->control);
        o->r = m.r;
        o->status = (o->status & ~(X87_PE | X87_C1)) | (m.status & (X87_PE | X87_C1));
    } else if (!(f->control & X87_UE) && !(o->status & (X87_IE | X87_ZE)) && exponent <= 1 &&
               (o->r.mantissa || (o->status & X87_UE))) {
        struct x87_outcome m = compute_moved(g, BIAS_ADJUST, f->control);
        if ((m.r.sign_exponent & EXPONENT) > BIAS_ADJUST)
            return; /* not tiny */
        o->r = m.r;
        o->status = (o->status & ~(X87_PE | X87_C1)) | (m.status & (X87_PE | X87_C1)) | X87_UE;
    }
}

/* ---- arithmetic ---- */

static void deliver(struct fpu *f, const struct again *g, struct x87_outcome o, unsigned to,
                    bool pops)
{
    adjust(f, g, &o);
    if (note(f, o.status, X87_C1))
        return;
    put(f, to, o.r);
    if (pops)
        pop(f);
}

/* A comparison's codes; an operand is missing. */
static void compare_empty(struct fpu *f, unsigned pops)
{
    if (stack_fault(f, false))
        return;
    f->status |= COMPARISON;
    while (pops--)
        pop(f);
}
static void compared(struct fpu *f, uint16_t status, unsigned pops)
{
    if (note(f, status, CODES))
        return;
    while (pops--)
        pop(f);
}

void x87_arith_memory(struct fpu *f, enum x87_arith what, enum x87_format format, const void *from)
{
    bool compares = what == X87_COM || what == X87_COMP;
    if (empty(f, 0)) {
        if (compares)
            compare_empty(f, what == X87_COMP);
        else if (!stack_fault(f, false))
            put(f, 0, indefinite);
        return;
    }
    struct x87_register a = get(f, 0);
    struct x87_outcome o = x87_host_arith_memory(what, a, format, from, f->control);
    if (compares) {
        compared(f, o.status, what == X87_COMP);
        return;
    }
    /* Where the exponent is to be adjusted, the operand from memory is no NaN. */
    struct again g = {.what = what, .a = a, .b = x87_host_load(format, from).r};
    deliver(f, &g, o, 0, false);
}

void x87_arith_register(struct fpu *f, enum x87_arith what, unsigned i, bool to_i, bool pops)
{
    unsigned to = to_i ? i : 0;
    if (empty(f, 0) || empty(f, i)) {
        if (stack_fault(f, false))
            return;
        put(f, to, indefinite);
        if (pops)
            pop(f);
        return;
    }
    struct again g = {.what = what, .a = get(f, 0), .b = get(f, i)};
    deliver(f, &g, x87_host_arith(what, g.a, g.b, f->control), to, pops);
}

static struct x87_outcome compare(const struct fpu *f, unsigned i, bool unordered)
{
    struct x87_register a = get(f, 0), b = get(f, i);
    return unordered ? x87_host_unordered(a, b, f->control)
                     : x87_host_arith(X87_COM, a, b, f->control);
}

void x87_compare(struct fpu *f, unsigned i, bool unordered, unsigned pops)
{
    if (empty(f, 0) || empty(f, i))
        compare_empty(f, pops);
    else
        compared(f, compare(f, i, unordered).status, pops);
}

bool x87_compare_flags(struct fpu *f, unsigned i, bool unordered, bool pops, uint16_t *codes)
{
    if (empty(f, 0) || empty(f, i)) {
        *codes = COMPARISON;
        if (stack_fault(f, false))
            return false;
    } else {
        uint16_t status = compare(f, i, unordered).status;
        *codes = status & COMPARISON;
        if (note(f, status, X87_C1))
            return false;
    }
    if (pops)
        pop(f);
    return true;
}

/* ---- functions ---- */

static bool is_nan(struct x87_register v)
{
    return (v.sign_exponent & EXPONENT) == EXPONENT && v.mantissa << 1;
}

static bool has_two_operands(enum x87_function what)
{
    return what == X87_YL2X || what == X87_PATAN || what == X87_YL2XP1 || what == X87_PREM ||
           what == X87_PREM1 || what == X87_SCALE;
}
static bool pops_one(enum x87_function what)
{
    return what == X87_YL2X || what == X87_PATAN || what == X87_YL2XP1;
}
static bool pushes_one(enum x87_function what)
{
    return what == X87_PTAN || what == X87_SINCOS || what == X87_XTRACT;
}
/* The condition codes that it defines. */
static uint16_t codes_of(enum x87_function what)
{
    switch (what) {
    case X87_TST:
    case X87_PREM:
    case X87_PREM1:
        return CODES;
    case X87_PTAN:
    case X87_SIN:
    case X87_COS:
    case X87_SINCOS:
        return X87_C1 | X87_C2;
    default:
        return X87_C1;
    }
}

static void function_without_stack(struct fpu *f, enum x87_function what, bool overflow)
{
    if (what == X87_TST) {
        compare_empty(f, 0);
        return;
    }
    if (stack_fault(f, overflow))
        return;
    if (pops_one(what))
        pop(f);
    put(f, 0, indefinite);
    if (pushes_one(what))
        push(f, indefinite);
    f->status &= ~(codes_of(what) & X87_C2);
}

void x87_function(struct fpu *f, enum x87_function what)
{
    bool underflow = empty(f, 0) || (has_two_operands(what) && empty(f, 1));
    bool overflow = pushes_one(what) && !empty(f, 7);
    if (underflow || overflow) {
        function_without_stack(f, what, !underflow);
        return;
    }
    struct again g = {.function = true, .what = what, .a = get(f, 0), .b = get(f, 1)};
    struct x87_outcome o = x87_host_function(what, g.a, g.b, f->control);
    bool remainder = what == X87_PREM || what == X87_PREM1;
    uint16_t codes = codes_of(what), quotient = remainder ? o.status & X87_C1 : 0;
    if (remainder)
        g.a = o.r; /* exact: moving the result is enough */
    if (what != X87_TST && what != X87_RNDINT && what != X87_XTRACT)
        adjust(f, &g, &o);
    o.status |= quotient;         /* C1 is a bit of it, and not of a rounding */
    if (remainder && is_nan(o.r)) /* there is no quotient */
        codes = X87_C1 | X87_C2;
    if (note(f, o.status, codes) || what == X87_TST)
        return;
    bool incomplete = (codes & X87_C2) && (o.status & X87_C2);
    if (pops_one(what))
        pop(f);
    put(f, 0, o.r);
    if (pushes_one(what) && !incomplete)
        push(f, o.push);
}

/* SDM vol. 2 "FXAM". */
void x87_examine(struct fpu *f)
{
    struct x87_register v = get(f, 0);
    unsigned exponent = v.sign_exponent & EXPONENT;
    uint16_t codes;
    if (empty(f, 0))
        codes = X87_C3 | X87_C0;
    else if (exponent == 0)
        codes = v.mantissa ? X87_C3 | X87_C2 : X87_C3;
    else if (!(v.mantissa & INTEGER_BIT))
        codes = 0; /* unsupported */
    else if (exponent == EXPONENT)
        codes = v.mantissa << 1 ? X87_C0 : X87_C2 | X87_C0;
    else
        codes = X87_C2;
    f->status = (f->status & ~CODES) | codes | (v.sign_exponent & SIGN ? X87_C1 : 0);
}

void x87_sign(struct fpu *f, bool absolute)
{
    if (empty(f, 0)) {
        if (!stack_fault(f, false))
            put(f, 0, indefinite);
        return;
    }
    f->status &= ~X87_C1;
    x87_st(f, 0)->sign_exponent =
        absolute ? get(f, 0).sign_exponent & ~SIGN : get(f, 0).sign_exponent ^ SIGN;
}

/* ---- loads and stores ---- */

static void load(struct fpu *f, struct x87_register v, uint16_t status)
{
    if (!empty(f, 7)) {
        if (!stack_fault(f, true))
            push(f, indefinite);
        return;
    }
    /* A denormal is loaded even when that raises an exception which is not masked (SDM vol. 2
     * "FLD", the note there). */
    note(f, status & ~X87_C1, X87_C1);
    if (!(status & ~f->control & X87_IE))
        push(f, v);
}

void x87_constant(struct fpu *f, unsigned which)
{
    load(f, x87_host_constant(which, f->control), 0);
}
void x87_load(struct fpu *f, enum x87_format format, const void *from)
{
    struct x87_outcome o = x87_host_load(format, from);
    load(f, o.r, o.status & X87_EXCEPTIONS);
}
void x87_load_register(struct fpu *f, unsigned i)
{
    struct x87_register v = get(f, i);
    if (empty(f, i)) {
        if (stack_fault(f, false))
            return;
        push(f, indefinite);
        return;
    }
    load(f, v, 0);
}

void x87_store_register(struct fpu *f, unsigned i, bool pops)
{
    struct x87_register v = get(f, 0);
    if (empty(f, 0)) {
        if (stack_fault(f, false))
            return;
        v = indefinite;
    } else {
        f->status &= ~X87_C1;
    }
    put(f, i, v);
    if (pops)
        pop(f);
}

void x87_exchange(struct fpu *f, unsigned i)
{
    if (empty(f, 0) || empty(f, i)) {
        if (stack_fault(f, false))
            return;
        if (empty(f, 0))
            put(f, 0, indefinite);
        if (empty(f, i))
            put(f, i, indefinite);
    } else {
        f->status &= ~X87_C1;
    }
    struct x87_register v = get(f, 0);
    put(f, 0, get(f, i));
    put(f, i, v);
}

void x87_move_if(struct fpu *f, unsigned i, bool condition)
{
    if (empty(f, 0) || empty(f, i)) {
        if (!stack_fault(f, false))
            put(f, 0, indefinite);
        return;
    }
    if (condition)
        put(f, 0, get(f, i));
}

void x87_free(struct fpu *f, unsigned i, bool pops)
{
    f->valid &= ~(1u << ((f->top + i) & 7));
    if (pops)
        pop(f);
}
void x87_rotate(struct fpu *f, int by)
{
    f->status &= ~X87_C1;
    f->top = (f->top + by) & 7;
}

/* What a masked stack underflow or invalid operation stores: the real indefinite in the format, the
 * integer indefinite, or the packed BCD indefinite. */
static void store_indefinite(enum x87_format format, void *to)
{
    static const uint8_t bcd[10] = {0, 0, 0, 0, 0, 0, 0, 0xc0, 0xff, 0xff};
    if (format == X87_BCD)
        memcpy(to, bcd, sizeof(bcd));
    else if (format == X87_M80)
        memcpy(to, &indefinite, sizeof(bcd));
    else
        x87_host_store(format, indefinite, to, CONTROL_INIT);
}

/* Is the value, rounded to the format's precision, below its smallest normal number? */
static bool tiny_in(enum x87_format format, struct x87_register v, uint16_t control)
{
    static const struct x87_register one = {INTEGER_BIT, BIAS};
    unsigned precision = format == X87_M32 ? 0 : 0x200, least = format == X87_M32 ? -126 : -1022;
    if (v.mantissa == 0 || (v.sign_exponent & EXPONENT) == EXPONENT)
        return false;
    struct x87_register r = x87_host_arith(X87_MUL, v, one, (control & ~PRECISION) | precision).r;
    return (r.sign_exponent & EXPONENT) < BIAS + least;
}

struct x87_store x87_store(const struct fpu *f, enum x87_format format, bool truncate, bool pops)
{
    struct x87_store s = {.write = true, .pop = pops};
    uint16_t status = 0;
    if (empty(f, 0)) {
        status = X87_IE | X87_SF;
        store_indefinite(format, s.bytes);
    } else if (format == X87_M80) {
        struct x87_register v = get(f, 0);
        memcpy(s.bytes, &v.mantissa, 8);
        memcpy(s.bytes + 8, &v.sign_exponent, 2);
    } else {
        uint16_t control = truncate ? f->control | ROUND_CHOP : f->control;
        status = x87_host_store(format, get(f, 0), s.bytes, control);
        if ((format == X87_M32 || format == X87_M64) && !(control & X87_UE) && !(status & X87_IE) &&
            tiny_in(format, get(f, 0), control))
            status |= X87_UE;
    }
    /* SDM vol. 1, "Numeric Overflow Exception (#O)": to memory, nothing is stored. */
    if (status & (BEFORE | X87_OE | X87_UE) & ~f->control) {
        s.write = s.pop = false;
        status &= ~(X87_PE | X87_C1);
    }
    struct fpu after = *f;
    note(&after, status, X87_C1);
    s.status = after.status;
    return s;
}
void x87_stored(struct fpu *f, const struct x87_store *s)
{
    f->status = s->status;
    if (s->pop)
        pop(f);
}
