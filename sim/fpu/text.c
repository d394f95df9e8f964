/* PCMPESTRI and its kin. SDM vol. 1 "Comparison and Control of Strings": "Imm8 Control Byte
 * Operation for PCMPESTRI / PCMPESTRM / PCMPISTRI / PCMPISTRM". */
#include "sim/fpu/text.h"
#include "x86/regs.h"

enum { EQUAL_ANY, RANGES, EQUAL_EACH, EQUAL_ORDERED };
enum { IMM_WORDS = 1 << 0, IMM_SIGNED = 1 << 1, IMM_NEGATE = 1 << 4, IMM_VALID_ONLY = 1 << 5 };

static int32_t element(const union vector *v, unsigned imm, unsigned i)
{
    if (imm & IMM_WORDS)
        return imm & IMM_SIGNED ? (int16_t)v->u16[i] : v->u16[i];
    return imm & IMM_SIGNED ? (int8_t)v->u8[i] : v->u8[i];
}

unsigned text_elements(unsigned imm)
{
    return imm & IMM_WORDS ? 8 : 16;
}

unsigned text_length(const union vector *v, unsigned imm)
{
    unsigned i = 0;
    while (i < text_elements(imm) && element(v, imm, i) != 0)
        i++;
    return i;
}

uint32_t text_compare(const struct text *a, const struct text *b, unsigned imm, uint32_t *rflags)
{
    unsigned n = text_elements(imm), how = imm >> 2 & 3;
    uint32_t found = 0;
    for (unsigned j = 0; j < n; j++) {
        bool any = false, all = true;
        for (unsigned i = 0; i < n; i++) {
            int32_t x = element(a->v, imm, i);
            bool x_valid = i < a->length;
            switch (how) {
            case EQUAL_ANY:
                any |= x_valid && j < b->length && x == element(b->v, imm, j);
                break;
            case RANGES:
                /* Pairs: from, to. */
                any |= !(i & 1) && i + 1 < a->length && j < b->length &&
                       element(b->v, imm, j) >= x &&
                       element(b->v, imm, j) <= element(a->v, imm, i + 1);
                break;
            case EQUAL_EACH:
                if (i == j)
                    any = x_valid == (j < b->length) && (!x_valid || x == element(b->v, imm, j));
                break;
            default:
                /* Past the first text's end everything matches; past the register's nothing is
                 * looked at. */
                if (j + i < n && x_valid)
                    all &= j + i < b->length && x == element(b->v, imm, j + i);
                break;
            }
        }
        found |= (uint32_t)(how == EQUAL_ORDERED ? all : any) << j;
    }
    uint32_t every = (1u << n) - 1;
    if (imm & IMM_NEGATE)
        found ^= imm & IMM_VALID_ONLY ? (1u << b->length) - 1 : every;
    *rflags = (found ? RFLAGS_CF : 0) | (b->length < n ? RFLAGS_ZF : 0) |
              (a->length < n ? RFLAGS_SF : 0) | (found & 1 ? RFLAGS_OF : 0);
    return found;
}
