/*
 * The memory image of x87, MMX and SSE that FXSAVE writes, and which is the legacy region of an
 * XSAVE area. SDM vol. 1 "x87 State", "SSE State"; vol. 2 "FXSAVE", tables "Non-64-Bit-Mode Layout
 * of FXSAVE and FXRSTOR Memory Region" and those behind it.
 */
#ifndef PMUSIM_FPU_IMAGE_H
#define PMUSIM_FPU_IMAGE_H

#include <stdbool.h>

#include "sim/fpu/state.h"

#define IMAGE_BYTES      512
#define IMAGE_MXCSR      24
#define IMAGE_MXCSR_MASK 28
#define IMAGE_ST         32
#define IMAGE_XMM        160

/* wide: REX.W, 64-bit pointers without selectors. */
void image_put_x87(const struct fpu *f, uint8_t *image, bool wide);
void image_get_x87(struct fpu *f, const uint8_t *image, bool wide);
/* registers: 8, or 16 in 64-bit mode. */
void image_put_sse(const struct fpu *f, uint8_t *image, unsigned registers);
void image_get_sse(struct fpu *f, const uint8_t *image, unsigned registers);
void image_put_mxcsr(const struct fpu *f, uint8_t *image);
uint32_t image_mxcsr(const uint8_t *image);

#endif
