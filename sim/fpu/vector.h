/*
 * What a vector instruction computes: a pure function of its operands, the same one for MMX (8
 * bytes), SSE (16) and AVX (32), for legacy and VEX forms. Which mnemonic is which function says a
 * table (sim/cpu/vector_table.c); operands are fetched and put away by sim/cpu/vector.c.
 *
 * d is all zeros when the function begins, never one of the sources, and only stored when the
 * function has returned without an unmasked exception. a is the first source (the destination's old
 * value in two-operand forms), b the second: register, memory (zeros beyond what the manual says is
 * read), general-purpose register (in u64[0], zero-extended), or the immediate where that is a
 * count. A function writes how->bytes of d, or 16 of a scalar form; what the destination is larger
 * than that is the frame's.
 */
#ifndef PMUSIM_FPU_VECTOR_H
#define PMUSIM_FPU_VECTOR_H

#include <stdbool.h>

#include "sim/fpu/state.h"

struct vector_how {
    unsigned bytes;        /* of the operation: 8, 16, 32 */
    unsigned width;        /* bytes of the general-purpose operand, or of the one in memory */
    unsigned imm;          /* the immediate byte */
    const union vector *c; /* the third source: the mask of a variable blend, FMA's old destination
                            */
    uint32_t mxcsr;        /* as it was before the instruction */
    uint32_t raised; /* out: the flags that MXCSR gets. Where one is not masked the destination
                        stays as it was, and #XM follows */
    bool sets_flags; /* out: the six status flags become rflags */
    uint32_t rflags;
};

typedef void vector_fn(union vector *d, const union vector *a, const union vector *b,
                       struct vector_how *how);

// clang-format off
/* integer.c: one lane at a time. */
#define VECTOR_LANES(X)                                                                            \
    X(add8)                                                                                        \
    X(add16) X(add32) X(add64) X(sub8) X(sub16) X(sub32) X(sub64) X(adds8) X(adds16) X(addus8)     \
        X(addus16) X(subs8) X(subs16) X(subus8) X(subus16) X(mullo16) X(mullo32) X(mulhi16)        \
            X(mulhiu16) X(muludq) X(muldq) X(mulhrs16) X(avg8) X(avg16) X(maxs8) X(maxs16)         \
                X(maxs32) X(maxu8) X(maxu16) X(maxu32) X(mins8) X(mins16) X(mins32) X(minu8)       \
                    X(minu16) X(minu32) X(eq8) X(eq16) X(eq32) X(eq64) X(gt8) X(gt16) X(gt32)      \
                        X(gt64) X(and) X(andn) X(or) X(xor) X(abs8) X(abs16) X(abs32) X(sign8)     \
                            X(sign16) X(sign32) X(sll16) X(sll32) X(sll64) X(srl16) X(srl32)       \
                                X(srl64) X(sra16) X(sra32) X(sllv32) X(sllv64) X(srlv32) X(srlv64) \
                                    X(srav32)
/* integer.c: neighbours together. */
#define VECTOR_SUMS(X)                                                                             \
    X(madd16)                                                                                      \
    X(maddus8) X(sad8) X(clmul) X(mpsad) X(minpos) X(hadd16) X(hadd32) X(hadds16) X(hsub16) X(hsub32)       \
        X(hsubs16) X(test) X(testps) X(testpd)
/* move.c */
#define VECTOR_MOVES(X)                                                                            \
    X(move)                                                                                        \
    X(move32) X(move64) X(move_low32) X(move_low64) X(store_high64)   \
        X(high_to_low) X(low_to_high) X(dup_low64) X(dup_even32) X(dup_odd32) X(packss16)          \
            X(packss32) X(packus16) X(packus32) X(unpackl8) X(unpackl16) X(unpackl32) X(unpackl64) \
                X(unpackh8) X(unpackh16) X(unpackh32) X(unpackh64) X(shuffle8) X(shuffle16)        \
                    X(shuffle32) X(shuffle_low16) X(shuffle_high16) X(shufps) X(shufpd) X(slldq)   \
                        X(srldq) X(align) X(blend16) X(blend32) X(blend64) X(blendv8) X(blendv32)  \
                            X(blendv64) X(insert8) X(insert16) X(insert32) X(insert64) X(insertps) \
                                X(extract8) X(extract16) X(extract32) X(extract64) X(mask8)        \
                                    X(mask32) X(mask64) X(sx8_16) X(sx8_32) X(sx8_64) X(sx16_32)   \
                                        X(sx16_64) X(sx32_64) X(zx8_16) X(zx8_32) X(zx8_64)        \
                                            X(zx16_32) X(zx16_64) X(zx32_64) X(broadcast8)         \
                                                X(broadcast16) X(broadcast32) X(broadcast64)       \
                                                    X(broadcast128) X(permil32) X(permil64)        \
                                                        X(permilv32) X(permilv64) X(perm128)       \
                                                            X(perm64) X(permv32) X(insert128)      \
                                                                X(extract128)

// clang-format on
#define VECTOR_DECLARE(name) vector_fn vector_##name;
VECTOR_LANES(VECTOR_DECLARE)
VECTOR_SUMS(VECTOR_DECLARE)
VECTOR_MOVES(VECTOR_DECLARE)

#endif
