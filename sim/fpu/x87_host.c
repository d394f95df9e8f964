/*
 * The host's x87 unit. Its stack is empty between any two of these statements, as the ABI wants it;
 * its control word, which is the program's, is put back.
 */
#include <string.h>

#include "sim/fpu/x87_host.h"

/* 80 bits as FLD and FSTP m80 have them. */
struct packed {
    uint8_t bytes[10];
};
static struct packed pack(struct x87_register r)
{
    struct packed p;
    memcpy(p.bytes, &r.mantissa, 8);
    memcpy(p.bytes + 8, &r.sign_exponent, 2);
    return p;
}
static struct x87_register unpack(struct packed p)
{
    struct x87_register r;
    memcpy(&r.mantissa, p.bytes, 8);
    memcpy(&r.sign_exponent, p.bytes + 8, 2);
    return r;
}

#define STACK     "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
#define MASKED(c) ((uint16_t)((c) | 0x3f))

/* Loads what load names under the guest's control word, runs insn, notes the status word, empties
 * the stack by store. */
#define RUN(load, insn, store)                                                                     \
    do {                                                                                           \
        uint16_t host;                                                                             \
        __asm__ volatile("fnstcw %[host]\n\tfnclex\n\tfldcw %[cw]\n\t" load insn                   \
                         "\n\tfnstsw %[sw]\n\t" store "fldcw %[host]"                              \
                         : [r] "+m"(r), [second] "+m"(second), [sw] "+m"(sw), [host] "=m"(host)    \
                         : [a] "m"(a), [b] "m"(b), [cw] "m"(cw)                                    \
                         : STACK, "cc");                                                           \
    } while (0)
#define LOAD_A  "fldt %[a]\n\t"
#define LOAD_BA "fldt %[b]\n\tfldt %[a]\n\t"
#define STORE   "fstpt %[r]\n\t"
#define STORE_1 STORE "fstp %%st(0)\n\t"

static struct x87_outcome outcome(struct packed r, struct packed second, uint16_t sw)
{
    return (struct x87_outcome){.r = unpack(r), .push = unpack(second), .status = sw};
}

struct x87_outcome x87_host_arith(enum x87_arith what, struct x87_register st0,
                                  struct x87_register other, uint16_t control)
{
    struct packed a = pack(st0), b = pack(other), r = a, second = a;
    uint16_t sw = 0, cw = MASKED(control);
    switch (what) {
#define BINARY(insn) RUN(LOAD_BA, insn " %%st(1), %%st", STORE_1)
    case X87_ADD:
        BINARY("fadd");
        break;
    case X87_MUL:
        BINARY("fmul");
        break;
    case X87_COM:
    case X87_COMP:
        RUN(LOAD_BA, "fcom %%st(1)", STORE_1);
        break;
    case X87_SUB:
        BINARY("fsub");
        break;
    case X87_SUBR:
        BINARY("fsubr");
        break;
    case X87_DIV:
        BINARY("fdiv");
        break;
    case X87_DIVR:
        BINARY("fdivr");
        break;
    }
    return outcome(r, second, sw);
}

struct x87_outcome x87_host_unordered(struct x87_register st0, struct x87_register other,
                                      uint16_t control)
{
    struct packed a = pack(st0), b = pack(other), r = a, second = a;
    uint16_t sw = 0, cw = MASKED(control);
    RUN(LOAD_BA, "fucom %%st(1)", STORE_1);
    return outcome(r, second, sw);
}

struct x87_outcome x87_host_arith_memory(enum x87_arith what, struct x87_register st0,
                                         enum x87_format format, const void *from, uint16_t control)
{
    struct packed a = pack(st0), r = a, second = a;
    uint64_t b = 0;
    uint16_t sw = 0, cw = MASKED(control);
    memcpy(&b, from, x87_bytes[format]);
    switch (format << 3 | what) {
#define FORM(format, what, insn)                                                                   \
    case (format) << 3 | (what):                                                                   \
        RUN(LOAD_A, insn " %[b]", STORE);                                                          \
        break;
#define FORMS(format, f, suffix)                                                                   \
    FORM(format, X87_ADD, f "add" suffix)                                                          \
    FORM(format, X87_MUL, f "mul" suffix)                                                          \
    case (format) << 3 | X87_COMP:                                                                 \
        FORM(format, X87_COM, f "com" suffix)                                                      \
        FORM(format, X87_SUB, f "sub" suffix)                                                      \
        FORM(format, X87_SUBR, f "subr" suffix)                                                    \
        FORM(format, X87_DIV, f "div" suffix)                                                      \
        FORM(format, X87_DIVR, f "divr" suffix)
        FORMS(X87_M32, "f", "s")
        FORMS(X87_M64, "f", "l")
        FORMS(X87_I16, "fi", "s")
        FORMS(X87_I32, "fi", "l")
    default:
        break;
    }
    return outcome(r, second, sw);
}

struct x87_outcome x87_host_function(enum x87_function what, struct x87_register st0,
                                     struct x87_register st1, uint16_t control)
{
    struct packed a = pack(st0), b = pack(st1), r = a, second = a;
    uint16_t sw = 0, cw = MASKED(control);
    switch (what) {
#define UNARY(code, insn)                                                                          \
    case code:                                                                                     \
        RUN(LOAD_A, insn, STORE);                                                                  \
        break;
#define KEEPING(code, insn)                                                                        \
    case code:                                                                                     \
        RUN(LOAD_BA, insn, STORE_1);                                                               \
        break;
#define POPPING(code, insn)                                                                        \
    case code:                                                                                     \
        RUN(LOAD_BA, insn, STORE);                                                                 \
        break;
/* Without the second result where the operand is out of range: C2. */
#define PUSHING(code, insn)                                                                        \
    case code:                                                                                     \
        RUN(LOAD_A, insn, "testb $4, 1+%[sw]\n\tjnz 1f\n\tfstpt %[second]\n1:\t" STORE);           \
        break;
        UNARY(X87_TST, "ftst")
        UNARY(X87_2XM1, "f2xm1")
        UNARY(X87_SQRT, "fsqrt")
        UNARY(X87_RNDINT, "frndint")
        UNARY(X87_SIN, "fsin")
        UNARY(X87_COS, "fcos")
        KEEPING(X87_PREM, "fprem")
        KEEPING(X87_PREM1, "fprem1")
        KEEPING(X87_SCALE, "fscale")
        POPPING(X87_YL2X, "fyl2x")
        POPPING(X87_YL2XP1, "fyl2xp1")
        POPPING(X87_PATAN, "fpatan")
        PUSHING(X87_PTAN, "fptan")
        PUSHING(X87_SINCOS, "fsincos")
    case X87_XTRACT:
        RUN(LOAD_A, "fxtract", "fstpt %[second]\n\t" STORE);
        break;
    }
    return outcome(r, second, sw);
}

struct x87_register x87_host_constant(unsigned which, uint16_t control)
{
    struct packed a = {{0}}, b = a, r = a, second = a;
    uint16_t sw = 0, cw = MASKED(control);
    switch (which) {
#define CONSTANT(n, insn)                                                                          \
    case n:                                                                                        \
        RUN("", insn, STORE);                                                                      \
        break;
        CONSTANT(0, "fld1")
        CONSTANT(1, "fldl2t")
        CONSTANT(2, "fldl2e")
        CONSTANT(3, "fldpi")
        CONSTANT(4, "fldlg2")
        CONSTANT(5, "fldln2")
        CONSTANT(6, "fldz")
    default:
        break;
    }
    return unpack(r);
}

struct x87_outcome x87_host_load(enum x87_format format, const void *from)
{
    struct packed a = {{0}}, b = a, r = a, second = a;
    uint16_t sw = 0, cw = MASKED(0x300);
    memcpy(a.bytes, from, x87_bytes[format]);
    switch (format) {
#define LOAD(format, insn)                                                                         \
    case format:                                                                                   \
        RUN("", insn " %[a]", STORE);                                                              \
        break;
        LOAD(X87_M32, "flds")
        LOAD(X87_M64, "fldl")
        LOAD(X87_I16, "filds")
        LOAD(X87_I32, "fildl")
        LOAD(X87_I64, "fildll")
        LOAD(X87_BCD, "fbld")
    case X87_M80: /* no conversion */
        r = a;
        break;
    }
    return outcome(r, second, sw);
}

uint16_t x87_host_store(enum x87_format format, struct x87_register st0, void *to, uint16_t control)
{
    struct packed a = pack(st0), b = a, r = a, second = a;
    uint16_t sw = 0, cw = MASKED(control);
    switch (format) {
#define TO(format, insn)                                                                           \
    case format:                                                                                   \
        RUN(LOAD_A, insn " %[r]", "");                                                             \
        break;
        TO(X87_M32, "fstps")
        TO(X87_M64, "fstpl")
        TO(X87_I16, "fistps")
        TO(X87_I32, "fistpl")
        TO(X87_I64, "fistpll")
        TO(X87_BCD, "fbstp")
    case X87_M80:
        break;
    }
    memcpy(to, r.bytes, x87_bytes[format]);
    return sw;
}
