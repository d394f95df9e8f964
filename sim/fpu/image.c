#include <string.h>

#include "sim/fpu/image.h"
#include "sim/fpu/x87.h"

#define FOP_MASK 0x7ff

enum { FCW = 0, FSW = 2, FTW = 4, FOP = 6, FIP = 8, FCS = 12, FDP = 16, FDS = 20 };

static void put(uint8_t *at, uint64_t v, unsigned n)
{
    memcpy(at, &v, n);
}
static uint64_t get(const uint8_t *at, unsigned n)
{
    uint64_t v = 0;
    memcpy(&v, at, n);
    return v;
}

/* The registers stand in the order of the stack, their tags in that of their numbers. */
void image_put_x87(const struct fpu *f, uint8_t *image, bool wide)
{
    put(image + FCW, f->control, 2);
    put(image + FSW, x87_status(f), 2);
    put(image + FTW, f->valid, 2);
    put(image + FOP, f->opcode & FOP_MASK, 2);
    put(image + FIP, f->instruction_pointer, 8);
    put(image + FDP, f->data_pointer, 8);
    if (!wide) {
        put(image + FCS, f->code_segment, 4);
        put(image + FDS, f->data_segment, 4);
    }
    for (unsigned i = 0; i < 8; i++) {
        const struct x87_register *r = &f->r[(f->top + i) & 7];
        put(image + IMAGE_ST + 16 * i, r->mantissa, 8);
        put(image + IMAGE_ST + 16 * i + 8, r->sign_exponent, 8);
    }
}

void image_get_x87(struct fpu *f, const uint8_t *image, bool wide)
{
    x87_set_control(f, (uint16_t)get(image + FCW, 2));
    x87_set_status(f, (uint16_t)get(image + FSW, 2));
    f->valid = image[FTW];
    f->opcode = get(image + FOP, 2) & FOP_MASK;
    f->instruction_pointer = get(image + FIP, wide ? 8 : 4);
    f->data_pointer = get(image + FDP, wide ? 8 : 4);
    f->code_segment = wide ? 0 : (uint16_t)get(image + FCS, 2);
    f->data_segment = wide ? 0 : (uint16_t)get(image + FDS, 2);
    for (unsigned i = 0; i < 8; i++) {
        struct x87_register *r = &f->r[(f->top + i) & 7];
        r->mantissa = get(image + IMAGE_ST + 16 * i, 8);
        r->sign_exponent = (uint16_t)get(image + IMAGE_ST + 16 * i + 8, 2);
    }
}

void image_put_sse(const struct fpu *f, uint8_t *image, unsigned registers)
{
    for (unsigned i = 0; i < registers; i++)
        memcpy(image + IMAGE_XMM + 16 * i, &f->ymm[i], 16);
}
void image_get_sse(struct fpu *f, const uint8_t *image, unsigned registers)
{
    for (unsigned i = 0; i < registers; i++)
        memcpy(&f->ymm[i], image + IMAGE_XMM + 16 * i, 16);
}

void image_put_mxcsr(const struct fpu *f, uint8_t *image)
{
    put(image + IMAGE_MXCSR, f->mxcsr, 4);
    put(image + IMAGE_MXCSR_MASK, MXCSR_MASK, 4);
}
uint32_t image_mxcsr(const uint8_t *image)
{
    return (uint32_t)get(image + IMAGE_MXCSR, 4);
}
