/* Vector instructions, from SDM vol. 2: their forms, and one of them in a sequence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/diff/generate.h"

/* MXCSR's "misaligned exception mask", which is reserved on Intel's processors. */
#define AMD_MM (1ull << 17)

// clang-format off
/*
 * A line an opcode; vector_forms_init() makes the forms of it.
 *
 *   encoding   as in the manual, with the prefix of the SSE form; the MMX form has none, of a VEX
 *              form it says what pp and mmmmm stand for
 *   forms      M MMX, S SSE, V VEX with 128 bits, Y VEX with 256 bits
 *   reg, rm    v vector register of the form, x XMM in any form, m MMX, r general-purpose
 *   memory     bytes in memory of the forms with 128 bits; S: the operand size; -: none
 *   rules      d the destination is the register, D the r/m operand; n a VEX form has another
 *              source in vvvv, N it has its destination there; a the SSE form must be aligned,
 *              A the VEX forms too; i an immediate; 4 a register in the immediate;
 *              2 twice the bytes in memory with 256 bits, h half in the MMX form;
 *              M no register form, R no memory form; f writes the flags;
 *              w only VEX.W = 1; z a count of shifts; q quadwords in general-purpose registers;
 *              e the address is in rDI; E lengths in rAX and rDX, or a result in rCX; g a gather
 *   announced  the SSE form's CPUID bit; that of the 256-bit form, and of the others if it is AVX's
 */
struct row {
    enum family family;
    const char *name, *encoding, *forms, *reg, *rm, *memory, *rules;
    enum feature feature, wide;
};

#define MV FAM_VMOVE
#define IN FAM_VINTEGER
#define SH FAM_VSHUFFLE
#define FP FAM_VFLOAT
/* What a line leaves out is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct row rows[] = {
    {MV, "movaps x,rm",    "0f 28 /r",       "SVY",  "v", "v", "16", "d2aA",   F_SSE,  F_AVX},
    {MV, "movaps rm,x",    "0f 29 /r",       "SVY",  "v", "v", "16", "D2aA",   F_SSE,  F_AVX},
    {MV, "movapd x,rm",    "66 0f 28 /r",    "SVY",  "v", "v", "16", "d2aA",   F_SSE2, F_AVX},
    {MV, "movapd rm,x",    "66 0f 29 /r",    "SVY",  "v", "v", "16", "D2aA",   F_SSE2, F_AVX},
    {MV, "movups x,rm",    "0f 10 /r",       "SVY",  "v", "v", "16", "d2",     F_SSE,  F_AVX},
    {MV, "movups rm,x",    "0f 11 /r",       "SVY",  "v", "v", "16", "D2",     F_SSE,  F_AVX},
    {MV, "movupd x,rm",    "66 0f 10 /r",    "SVY",  "v", "v", "16", "d2",     F_SSE2, F_AVX},
    {MV, "movupd rm,x",    "66 0f 11 /r",    "SVY",  "v", "v", "16", "D2",     F_SSE2, F_AVX},
    {MV, "movdqa x,rm",    "66 0f 6f /r",    "SVY",  "v", "v", "16", "d2aA",   F_SSE2, F_AVX},
    {MV, "movdqa rm,x",    "66 0f 7f /r",    "SVY",  "v", "v", "16", "D2aA",   F_SSE2, F_AVX},
    {MV, "movdqu x,rm",    "f3 0f 6f /r",    "SVY",  "v", "v", "16", "d2",     F_SSE2, F_AVX},
    {MV, "movdqu rm,x",    "f3 0f 7f /r",    "SVY",  "v", "v", "16", "D2",     F_SSE2, F_AVX},
    {MV, "movq mm,rm",     "0f 6f /r",       "M",    "m", "m", "8",  "d",      F_MMX},
    {MV, "movq rm,mm",     "0f 7f /r",       "M",    "m", "m", "8",  "D",      F_MMX},
    {MV, "lddqu",          "f2 0f f0 /r",    "SVY",  "v", "v", "16", "d2M",    F_SSE3, F_AVX},
    {MV, "movntps",        "0f 2b /r",       "SVY",  "v", "v", "16", "D2aAM",  F_SSE,  F_AVX},
    {MV, "movntpd",        "66 0f 2b /r",    "SVY",  "v", "v", "16", "D2aAM",  F_SSE2, F_AVX},
    {MV, "movntdq",        "66 0f e7 /r",    "SVY",  "v", "v", "16", "D2aAM",  F_SSE2, F_AVX},
    {MV, "movntdqa",       "66 0f 38 2a /r", "SVY",  "v", "v", "16", "d2aAM",  F_SSE41, F_AVX2},
    {MV, "movntq",         "0f e7 /r",       "M",    "m", "m", "8",  "DM",     F_SSE},
    {MV, "movnti",         "0f c3 /r",       "S",    "r", "r", "S",  "DMq",    F_SSE2},
    {MV, "movd x,rm",      "66 0f 6e /r",    "MSV",  "v", "r", "S",  "dq",     F_SSE2},
    {MV, "movd rm,x",      "66 0f 7e /r",    "MSV",  "v", "r", "S",  "Dq",     F_SSE2},
    {MV, "movq x,rm",      "f3 0f 7e /r",    "SV",   "x", "x", "8",  "d",      F_SSE2},
    {MV, "movq rm,x",      "66 0f d6 /r",    "SV",   "x", "x", "8",  "D",      F_SSE2},
    {MV, "movq2dq",        "f3 0f d6 /r",    "S",    "x", "m", "-",  "d",      F_SSE2},
    {MV, "movdq2q",        "f2 0f d6 /r",    "S",    "m", "x", "-",  "d",      F_SSE2},
    {MV, "movss x,m",      "f3 0f 10 /r",    "SV",   "x", "x", "4",  "dM",     F_SSE},
    {MV, "movss x,x",      "f3 0f 10 /r",    "SV",   "x", "x", "-",  "dn",     F_SSE},
    {MV, "movss m,x",      "f3 0f 11 /r",    "SV",   "x", "x", "4",  "DM",     F_SSE},
    {MV, "movss 11H",      "f3 0f 11 /r",    "SV",   "x", "x", "-",  "Dn",     F_SSE},
    {MV, "movsd x,m",      "f2 0f 10 /r",    "SV",   "x", "x", "8",  "dM",     F_SSE2},
    {MV, "movsd x,x",      "f2 0f 10 /r",    "SV",   "x", "x", "-",  "dn",     F_SSE2},
    {MV, "movsd m,x",      "f2 0f 11 /r",    "SV",   "x", "x", "8",  "DM",     F_SSE2},
    {MV, "movsd 11H",      "f2 0f 11 /r",    "SV",   "x", "x", "-",  "Dn",     F_SSE2},
    {MV, "movlps, movhlps", "0f 12 /r",      "SV",   "x", "x", "8",  "dn",     F_SSE},
    {MV, "movlps m,x",     "0f 13 /r",       "SV",   "x", "x", "8",  "DM",     F_SSE},
    {MV, "movlpd x,m",     "66 0f 12 /r",    "SV",   "x", "x", "8",  "dnM",    F_SSE2},
    {MV, "movlpd m,x",     "66 0f 13 /r",    "SV",   "x", "x", "8",  "DM",     F_SSE2},
    {MV, "movhps, movlhps", "0f 16 /r",      "SV",   "x", "x", "8",  "dn",     F_SSE},
    {MV, "movhps m,x",     "0f 17 /r",       "SV",   "x", "x", "8",  "DM",     F_SSE},
    {MV, "movhpd x,m",     "66 0f 16 /r",    "SV",   "x", "x", "8",  "dnM",    F_SSE2},
    {MV, "movhpd m,x",     "66 0f 17 /r",    "SV",   "x", "x", "8",  "DM",     F_SSE2},
    {MV, "movddup",        "f2 0f 12 /r",    "SV",   "v", "v", "8",  "d",      F_SSE3},
    {MV, "movddup",        "f2 0f 12 /r",    "Y",    "v", "v", "16", "d2",     F_SSE3, F_AVX},
    {MV, "movsldup",       "f3 0f 12 /r",    "SVY",  "v", "v", "16", "d2a",    F_SSE3, F_AVX},
    {MV, "movshdup",       "f3 0f 16 /r",    "SVY",  "v", "v", "16", "d2a",    F_SSE3, F_AVX},
    {MV, "movmskps",       "0f 50 /r",       "SVY",  "r", "v", "-",  "d",      F_SSE,  F_AVX},
    {MV, "movmskpd",       "66 0f 50 /r",    "SVY",  "r", "v", "-",  "d",      F_SSE2, F_AVX},
    {MV, "pmovmskb",       "66 0f d7 /r",    "MSVY", "r", "v", "-",  "d",      F_SSE2, F_AVX2},
    {MV, "maskmovdqu",     "66 0f f7 /r",    "MSV",  "v", "v", "-",  "e",      F_SSE2},
    {MV, "vmaskmovps x,m", "66 0f 38 2c /r", "VY",   "v", "v", "16", "d2nM",   F_AVX,  F_AVX},
    {MV, "vmaskmovpd x,m", "66 0f 38 2d /r", "VY",   "v", "v", "16", "d2nM",   F_AVX,  F_AVX},
    {MV, "vmaskmovps m,x", "66 0f 38 2e /r", "VY",   "v", "v", "16", "D2nM",   F_AVX,  F_AVX},
    {MV, "vmaskmovpd m,x", "66 0f 38 2f /r", "VY",   "v", "v", "16", "D2nM",   F_AVX,  F_AVX},
    {MV, "vpmaskmovd x,m", "66 0f 38 8c /r", "VY",   "v", "v", "16", "d2nM",   F_AVX2, F_AVX2},
    {MV, "vpmaskmovq x,m", "66 0f 38 8c /r", "VY",   "v", "v", "16", "d2nMw",  F_AVX2, F_AVX2},
    {MV, "vpmaskmovd m,x", "66 0f 38 8e /r", "VY",   "v", "v", "16", "D2nM",   F_AVX2, F_AVX2},
    {MV, "vpmaskmovq m,x", "66 0f 38 8e /r", "VY",   "v", "v", "16", "D2nMw",  F_AVX2, F_AVX2},
    {MV, "emms",           "0f 77",          "M",    "-", "-", "-",  "",       F_MMX},
    {MV, "zeroupper",      "0f 77",          "V",    "-", "-", "-",  "",       F_AVX},
    {MV, "zeroall",        "0f 77",          "Y",    "-", "-", "-",  "",       F_AVX,  F_AVX},
    {MV, "ldmxcsr",        "0f ae /2",       "SV",   "-", "-", "4",  "dM",     F_SSE},
    {MV, "stmxcsr",        "0f ae /3",       "SV",   "-", "-", "4",  "DM",     F_SSE},

    {IN, "pcmpgtb",        "66 0f 64 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pcmpgtw",        "66 0f 65 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pcmpgtd",        "66 0f 66 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pcmpeqb",        "66 0f 74 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pcmpeqw",        "66 0f 75 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pcmpeqd",        "66 0f 76 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psrlw",          "66 0f d1 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psrld",          "66 0f d2 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psrlq",          "66 0f d3 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psraw",          "66 0f e1 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psrad",          "66 0f e2 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psllw",          "66 0f f1 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "pslld",          "66 0f f2 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psllq",          "66 0f f3 /r",    "MSVY", "v", "x", "16", "dna",    F_SSE2, F_AVX2},
    {IN, "psrlw imm",      "66 0f 71 /2",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psraw imm",      "66 0f 71 /4",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psllw imm",      "66 0f 71 /6",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psrld imm",      "66 0f 72 /2",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psrad imm",      "66 0f 72 /4",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "pslld imm",      "66 0f 72 /6",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psrlq imm",      "66 0f 73 /2",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psllq imm",      "66 0f 73 /6",    "MSVY", "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "psrldq",         "66 0f 73 /3",    "SVY",  "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "pslldq",         "66 0f 73 /7",    "SVY",  "v", "v", "-",  "DNiz",   F_SSE2, F_AVX2},
    {IN, "paddq",          "66 0f d4 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmullw",         "66 0f d5 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubusb",        "66 0f d8 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubusw",        "66 0f d9 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pminub",         "66 0f da /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pand",           "66 0f db /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddusb",        "66 0f dc /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddusw",        "66 0f dd /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmaxub",         "66 0f de /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pandn",          "66 0f df /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pavgb",          "66 0f e0 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pavgw",          "66 0f e3 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmulhuw",        "66 0f e4 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmulhw",         "66 0f e5 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubsb",         "66 0f e8 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubsw",         "66 0f e9 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pminsw",         "66 0f ea /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "por",            "66 0f eb /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddsb",         "66 0f ec /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddsw",         "66 0f ed /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmaxsw",         "66 0f ee /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pxor",           "66 0f ef /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmuludq",        "66 0f f4 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "pmaddwd",        "66 0f f5 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psadbw",         "66 0f f6 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubb",          "66 0f f8 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubw",          "66 0f f9 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubd",          "66 0f fa /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "psubq",          "66 0f fb /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddb",          "66 0f fc /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddw",          "66 0f fd /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "paddd",          "66 0f fe /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {IN, "andps",          "0f 54 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {IN, "andpd",          "66 0f 54 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {IN, "andnps",         "0f 55 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {IN, "andnpd",         "66 0f 55 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {IN, "orps",           "0f 56 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {IN, "orpd",           "66 0f 56 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {IN, "xorps",          "0f 57 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {IN, "xorpd",          "66 0f 57 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {IN, "phaddw",         "66 0f 38 01 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "phaddd",         "66 0f 38 02 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "phaddsw",        "66 0f 38 03 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "pmaddubsw",      "66 0f 38 04 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "phsubw",         "66 0f 38 05 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "phsubd",         "66 0f 38 06 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "phsubsw",        "66 0f 38 07 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "psignb",         "66 0f 38 08 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "psignw",         "66 0f 38 09 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "psignd",         "66 0f 38 0a /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "pmulhrsw",       "66 0f 38 0b /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {IN, "pabsb",          "66 0f 38 1c /r", "MSVY", "v", "v", "16", "d2a",    F_SSSE3, F_AVX2},
    {IN, "pabsw",          "66 0f 38 1d /r", "MSVY", "v", "v", "16", "d2a",    F_SSSE3, F_AVX2},
    {IN, "pabsd",          "66 0f 38 1e /r", "MSVY", "v", "v", "16", "d2a",    F_SSSE3, F_AVX2},
    {IN, "ptest",          "66 0f 38 17 /r", "SVY",  "v", "v", "16", "2af",    F_SSE41, F_AVX},
    {IN, "vtestps",        "66 0f 38 0e /r", "VY",   "v", "v", "16", "2f",     F_AVX,  F_AVX},
    {IN, "vtestpd",        "66 0f 38 0f /r", "VY",   "v", "v", "16", "2f",     F_AVX,  F_AVX},
    {IN, "pmuldq",         "66 0f 38 28 /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pcmpeqq",        "66 0f 38 29 /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pcmpgtq",        "66 0f 38 37 /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE42, F_AVX2},
    {IN, "pminsb",         "66 0f 38 38 /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pminsd",         "66 0f 38 39 /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pminuw",         "66 0f 38 3a /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pminud",         "66 0f 38 3b /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pmaxsb",         "66 0f 38 3c /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pmaxsd",         "66 0f 38 3d /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pmaxuw",         "66 0f 38 3e /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pmaxud",         "66 0f 38 3f /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "pmulld",         "66 0f 38 40 /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {IN, "phminposuw",     "66 0f 38 41 /r", "SV",   "v", "v", "16", "da",     F_SSE41},
    {IN, "pclmulqdq",      "66 0f 3a 44 /r", "SV",   "v", "v", "16", "dnai",   F_PCLMUL},
    {IN, "mpsadbw",        "66 0f 3a 42 /r", "SVY",  "v", "v", "16", "dn2ai",  F_SSE41, F_AVX2},
    {IN, "vpsrlvd",        "66 0f 38 45 /r", "VY",   "v", "v", "16", "dn2",    F_AVX2, F_AVX2},
    {IN, "vpsrlvq",        "66 0f 38 45 /r", "VY",   "v", "v", "16", "dn2w",   F_AVX2, F_AVX2},
    {IN, "vpsravd",        "66 0f 38 46 /r", "VY",   "v", "v", "16", "dn2",    F_AVX2, F_AVX2},
    {IN, "vpsllvd",        "66 0f 38 47 /r", "VY",   "v", "v", "16", "dn2",    F_AVX2, F_AVX2},
    {IN, "vpsllvq",        "66 0f 38 47 /r", "VY",   "v", "v", "16", "dn2w",   F_AVX2, F_AVX2},

    {SH, "punpcklbw",      "66 0f 60 /r",    "MSVY", "v", "v", "16", "dn2ah",  F_SSE2, F_AVX2},
    {SH, "punpcklwd",      "66 0f 61 /r",    "MSVY", "v", "v", "16", "dn2ah",  F_SSE2, F_AVX2},
    {SH, "punpckldq",      "66 0f 62 /r",    "MSVY", "v", "v", "16", "dn2ah",  F_SSE2, F_AVX2},
    {SH, "packsswb",       "66 0f 63 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "packuswb",       "66 0f 67 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "punpckhbw",      "66 0f 68 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "punpckhwd",      "66 0f 69 /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "punpckhdq",      "66 0f 6a /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "packssdw",       "66 0f 6b /r",    "MSVY", "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "punpcklqdq",     "66 0f 6c /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "punpckhqdq",     "66 0f 6d /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX2},
    {SH, "packusdw",       "66 0f 38 2b /r", "SVY",  "v", "v", "16", "dn2a",   F_SSE41, F_AVX2},
    {SH, "unpcklps",       "0f 14 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {SH, "unpckhps",       "0f 15 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {SH, "unpcklpd",       "66 0f 14 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {SH, "unpckhpd",       "66 0f 15 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {SH, "pshufb",         "66 0f 38 00 /r", "MSVY", "v", "v", "16", "dn2a",   F_SSSE3, F_AVX2},
    {SH, "pshufw",         "0f 70 /r",       "M",    "v", "v", "8",  "di",     F_SSE},
    {SH, "pshufd",         "66 0f 70 /r",    "SVY",  "v", "v", "16", "d2ai",   F_SSE2, F_AVX2},
    {SH, "pshufhw",        "f3 0f 70 /r",    "SVY",  "v", "v", "16", "d2ai",   F_SSE2, F_AVX2},
    {SH, "pshuflw",        "f2 0f 70 /r",    "SVY",  "v", "v", "16", "d2ai",   F_SSE2, F_AVX2},
    {SH, "shufps",         "0f c6 /r",       "SVY",  "v", "v", "16", "dn2ai",  F_SSE,  F_AVX},
    {SH, "shufpd",         "66 0f c6 /r",    "SVY",  "v", "v", "16", "dn2ai",  F_SSE2, F_AVX},
    {SH, "palignr",        "66 0f 3a 0f /r", "MSVY", "v", "v", "16", "dn2aiz", F_SSSE3, F_AVX2},
    {SH, "pblendw",        "66 0f 3a 0e /r", "SVY",  "v", "v", "16", "dn2ai",  F_SSE41, F_AVX2},
    {SH, "blendps",        "66 0f 3a 0c /r", "SVY",  "v", "v", "16", "dn2ai",  F_SSE41, F_AVX},
    {SH, "blendpd",        "66 0f 3a 0d /r", "SVY",  "v", "v", "16", "dn2ai",  F_SSE41, F_AVX},
    {SH, "pblendvb",       "66 0f 38 10 /r", "S",    "v", "v", "16", "da",     F_SSE41},
    {SH, "blendvps",       "66 0f 38 14 /r", "S",    "v", "v", "16", "da",     F_SSE41},
    {SH, "blendvpd",       "66 0f 38 15 /r", "S",    "v", "v", "16", "da",     F_SSE41},
    {SH, "pblendvb is4",   "66 0f 3a 4c /r", "VY",   "v", "v", "16", "dn24",   F_AVX,  F_AVX2},
    {SH, "blendvps is4",   "66 0f 3a 4a /r", "VY",   "v", "v", "16", "dn24",   F_AVX,  F_AVX},
    {SH, "blendvpd is4",   "66 0f 3a 4b /r", "VY",   "v", "v", "16", "dn24",   F_AVX,  F_AVX},
    {SH, "vpblendd",       "66 0f 3a 02 /r", "VY",   "v", "v", "16", "dn2i",   F_AVX2, F_AVX2},
    {SH, "pinsrw",         "66 0f c4 /r",    "MSV",  "v", "r", "2",  "dni",    F_SSE2},
    {SH, "pinsrb",         "66 0f 3a 20 /r", "SV",   "v", "r", "1",  "dni",    F_SSE41},
    {SH, "pinsrd",         "66 0f 3a 22 /r", "SV",   "v", "r", "S",  "dniq",   F_SSE41},
    {SH, "insertps",       "66 0f 3a 21 /r", "SV",   "v", "v", "4",  "dni",    F_SSE41},
    {SH, "pextrw r,x",     "66 0f c5 /r",    "MSV",  "r", "v", "-",  "di",     F_SSE2},
    {SH, "pextrb",         "66 0f 3a 14 /r", "SV",   "v", "r", "1",  "Di",     F_SSE41},
    {SH, "pextrw rm,x",    "66 0f 3a 15 /r", "SV",   "v", "r", "2",  "Di",     F_SSE41},
    {SH, "pextrd",         "66 0f 3a 16 /r", "SV",   "v", "r", "S",  "Diq",    F_SSE41},
    {SH, "extractps",      "66 0f 3a 17 /r", "SV",   "v", "r", "4",  "Di",     F_SSE41},
    {SH, "pmovsxbw",       "66 0f 38 20 /r", "SVY",  "v", "x", "8",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovsxbd",       "66 0f 38 21 /r", "SVY",  "v", "x", "4",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovsxbq",       "66 0f 38 22 /r", "SVY",  "v", "x", "2",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovsxwd",       "66 0f 38 23 /r", "SVY",  "v", "x", "8",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovsxwq",       "66 0f 38 24 /r", "SVY",  "v", "x", "4",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovsxdq",       "66 0f 38 25 /r", "SVY",  "v", "x", "8",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovzxbw",       "66 0f 38 30 /r", "SVY",  "v", "x", "8",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovzxbd",       "66 0f 38 31 /r", "SVY",  "v", "x", "4",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovzxbq",       "66 0f 38 32 /r", "SVY",  "v", "x", "2",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovzxwd",       "66 0f 38 33 /r", "SVY",  "v", "x", "8",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovzxwq",       "66 0f 38 34 /r", "SVY",  "v", "x", "4",  "d2",     F_SSE41, F_AVX2},
    {SH, "pmovzxdq",       "66 0f 38 35 /r", "SVY",  "v", "x", "8",  "d2",     F_SSE41, F_AVX2},
    {SH, "vbroadcastss m", "66 0f 38 18 /r", "VY",   "v", "x", "4",  "dM",     F_AVX,  F_AVX},
    {SH, "vbroadcastss x", "66 0f 38 18 /r", "VY",   "v", "x", "-",  "d",      F_AVX2, F_AVX2},
    {SH, "vbroadcastsd m", "66 0f 38 19 /r", "Y",    "v", "x", "8",  "dM",     F_AVX,  F_AVX},
    {SH, "vbroadcastsd x", "66 0f 38 19 /r", "Y",    "v", "x", "-",  "d",      F_AVX2, F_AVX2},
    {SH, "vbroadcastf128", "66 0f 38 1a /r", "Y",    "v", "x", "16", "dM",     F_AVX,  F_AVX},
    {SH, "vbroadcasti128", "66 0f 38 5a /r", "Y",    "v", "x", "16", "dM",     F_AVX2, F_AVX2},
    {SH, "vpbroadcastb",   "66 0f 38 78 /r", "VY",   "v", "x", "1",  "d",      F_AVX2, F_AVX2},
    {SH, "vpbroadcastw",   "66 0f 38 79 /r", "VY",   "v", "x", "2",  "d",      F_AVX2, F_AVX2},
    {SH, "vpbroadcastd",   "66 0f 38 58 /r", "VY",   "v", "x", "4",  "d",      F_AVX2, F_AVX2},
    {SH, "vpbroadcastq",   "66 0f 38 59 /r", "VY",   "v", "x", "8",  "d",      F_AVX2, F_AVX2},
    {SH, "vpermilps",      "66 0f 38 0c /r", "VY",   "v", "v", "16", "dn2",    F_AVX,  F_AVX},
    {SH, "vpermilpd",      "66 0f 38 0d /r", "VY",   "v", "v", "16", "dn2",    F_AVX,  F_AVX},
    {SH, "vpermilps imm",  "66 0f 3a 04 /r", "VY",   "v", "v", "16", "d2i",    F_AVX,  F_AVX},
    {SH, "vpermilpd imm",  "66 0f 3a 05 /r", "VY",   "v", "v", "16", "d2i",    F_AVX,  F_AVX},
    {SH, "vperm2f128",     "66 0f 3a 06 /r", "Y",    "v", "v", "16", "dn2i",   F_AVX,  F_AVX},
    {SH, "vperm2i128",     "66 0f 3a 46 /r", "Y",    "v", "v", "16", "dn2i",   F_AVX2, F_AVX2},
    {SH, "vpermps",        "66 0f 38 16 /r", "Y",    "v", "v", "16", "dn2",    F_AVX2, F_AVX2},
    {SH, "vpermd",         "66 0f 38 36 /r", "Y",    "v", "v", "16", "dn2",    F_AVX2, F_AVX2},
    {SH, "vpermq",         "66 0f 3a 00 /r", "Y",    "v", "v", "16", "d2iw",   F_AVX2, F_AVX2},
    {SH, "vpermpd",        "66 0f 3a 01 /r", "Y",    "v", "v", "16", "d2iw",   F_AVX2, F_AVX2},
    {SH, "vinsertf128",    "66 0f 3a 18 /r", "Y",    "v", "x", "16", "dni",    F_AVX,  F_AVX},
    {SH, "vinserti128",    "66 0f 3a 38 /r", "Y",    "v", "x", "16", "dni",    F_AVX2, F_AVX2},
    {SH, "vextractf128",   "66 0f 3a 19 /r", "Y",    "v", "x", "16", "Di",     F_AVX,  F_AVX},
    {SH, "vextracti128",   "66 0f 3a 39 /r", "Y",    "v", "x", "16", "Di",     F_AVX2, F_AVX2},
    {IN, "pcmpestrm",      "66 0f 3a 60 /r", "SV",   "v", "v", "16", "ifqE",   F_SSE42},
    {IN, "pcmpestri",      "66 0f 3a 61 /r", "SV",   "v", "v", "16", "ifqE",   F_SSE42},
    {IN, "pcmpistrm",      "66 0f 3a 62 /r", "SV",   "v", "v", "16", "if",     F_SSE42},
    {IN, "pcmpistri",      "66 0f 3a 63 /r", "SV",   "v", "v", "16", "ifE",    F_SSE42},

    {MV, "vpgatherdd",     "66 0f 38 90 /r", "VY",   "v", "v", "4",  "dnMg",   F_AVX2, F_AVX2},
    {MV, "vpgatherdq",     "66 0f 38 90 /r", "VY",   "v", "v", "8",  "dnMgw",  F_AVX2, F_AVX2},
    {MV, "vpgatherqd",     "66 0f 38 91 /r", "VY",   "v", "v", "4",  "dnMg",   F_AVX2, F_AVX2},
    {MV, "vpgatherqq",     "66 0f 38 91 /r", "VY",   "v", "v", "8",  "dnMgw",  F_AVX2, F_AVX2},
    {MV, "vgatherdps",     "66 0f 38 92 /r", "VY",   "v", "v", "4",  "dnMg",   F_AVX2, F_AVX2},
    {MV, "vgatherdpd",     "66 0f 38 92 /r", "VY",   "v", "v", "8",  "dnMgw",  F_AVX2, F_AVX2},
    {MV, "vgatherqps",     "66 0f 38 93 /r", "VY",   "v", "v", "4",  "dnMg",   F_AVX2, F_AVX2},
    {MV, "vgatherqpd",     "66 0f 38 93 /r", "VY",   "v", "v", "8",  "dnMgw",  F_AVX2, F_AVX2},

    {FP, "sqrtps",         "0f 51 /r",       "SVY",  "v", "v", "16", "d2a",    F_SSE,  F_AVX},
    {FP, "sqrtss",         "f3 0f 51 /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "sqrtpd",         "66 0f 51 /r",    "SVY",  "v", "v", "16", "d2a",    F_SSE2, F_AVX},
    {FP, "sqrtsd",         "f2 0f 51 /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "addps",          "0f 58 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {FP, "addss",          "f3 0f 58 /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "addpd",          "66 0f 58 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {FP, "addsd",          "f2 0f 58 /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "mulps",          "0f 59 /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {FP, "mulss",          "f3 0f 59 /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "mulpd",          "66 0f 59 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {FP, "mulsd",          "f2 0f 59 /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "subps",          "0f 5c /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {FP, "subss",          "f3 0f 5c /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "subpd",          "66 0f 5c /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {FP, "subsd",          "f2 0f 5c /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "minps",          "0f 5d /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {FP, "minss",          "f3 0f 5d /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "minpd",          "66 0f 5d /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {FP, "minsd",          "f2 0f 5d /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "divps",          "0f 5e /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {FP, "divss",          "f3 0f 5e /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "divpd",          "66 0f 5e /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {FP, "divsd",          "f2 0f 5e /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "maxps",          "0f 5f /r",       "SVY",  "v", "v", "16", "dn2a",   F_SSE,  F_AVX},
    {FP, "maxss",          "f3 0f 5f /r",    "SV",   "x", "x", "4",  "dn",     F_SSE},
    {FP, "maxpd",          "66 0f 5f /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE2, F_AVX},
    {FP, "maxsd",          "f2 0f 5f /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "haddpd",         "66 0f 7c /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE3, F_AVX},
    {FP, "haddps",         "f2 0f 7c /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE3, F_AVX},
    {FP, "hsubpd",         "66 0f 7d /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE3, F_AVX},
    {FP, "hsubps",         "f2 0f 7d /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE3, F_AVX},
    {FP, "addsubpd",       "66 0f d0 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE3, F_AVX},
    {FP, "addsubps",       "f2 0f d0 /r",    "SVY",  "v", "v", "16", "dn2a",   F_SSE3, F_AVX},
    {FP, "dpps",           "66 0f 3a 40 /r", "SVY",  "v", "v", "16", "dn2ai",  F_SSE41, F_AVX},
    {FP, "dppd",           "66 0f 3a 41 /r", "SV",   "v", "v", "16", "dnai",   F_SSE41},
    {FP, "roundps",        "66 0f 3a 08 /r", "SVY",  "v", "v", "16", "d2ai",   F_SSE41, F_AVX},
    {FP, "roundpd",        "66 0f 3a 09 /r", "SVY",  "v", "v", "16", "d2ai",   F_SSE41, F_AVX},
    {FP, "roundss",        "66 0f 3a 0a /r", "SV",   "x", "x", "4",  "dni",    F_SSE41},
    {FP, "roundsd",        "66 0f 3a 0b /r", "SV",   "x", "x", "8",  "dni",    F_SSE41},
    {FP, "cmpps",          "0f c2 /r",       "SVY",  "v", "v", "16", "dn2ai",  F_SSE,  F_AVX},
    {FP, "cmpss",          "f3 0f c2 /r",    "SV",   "x", "x", "4",  "dni",    F_SSE},
    {FP, "cmppd",          "66 0f c2 /r",    "SVY",  "v", "v", "16", "dn2ai",  F_SSE2, F_AVX},
    {FP, "cmpsd",          "f2 0f c2 /r",    "SV",   "x", "x", "8",  "dni",    F_SSE2},
    {FP, "ucomiss",        "0f 2e /r",       "SV",   "x", "x", "4",  "f",      F_SSE},
    {FP, "ucomisd",        "66 0f 2e /r",    "SV",   "x", "x", "8",  "f",      F_SSE2},
    {FP, "comiss",         "0f 2f /r",       "SV",   "x", "x", "4",  "f",      F_SSE},
    {FP, "comisd",         "66 0f 2f /r",    "SV",   "x", "x", "8",  "f",      F_SSE2},
    {FP, "cvtsi2ss",       "f3 0f 2a /r",    "SV",   "x", "r", "S",  "dnq",    F_SSE},
    {FP, "cvtsi2sd",       "f2 0f 2a /r",    "SV",   "x", "r", "S",  "dnq",    F_SSE2},
    {FP, "cvttss2si",      "f3 0f 2c /r",    "SV",   "r", "x", "4",  "dq",     F_SSE},
    {FP, "cvtss2si",       "f3 0f 2d /r",    "SV",   "r", "x", "4",  "dq",     F_SSE},
    {FP, "cvttsd2si",      "f2 0f 2c /r",    "SV",   "r", "x", "8",  "dq",     F_SSE2},
    {FP, "cvtsd2si",       "f2 0f 2d /r",    "SV",   "r", "x", "8",  "dq",     F_SSE2},
    {FP, "cvtpi2ps",       "0f 2a /r",       "S",    "x", "m", "8",  "d",      F_SSE},
    {FP, "cvtpi2pd",       "66 0f 2a /r",    "S",    "x", "m", "8",  "d",      F_SSE2},
    {FP, "cvttps2pi",      "0f 2c /r",       "S",    "m", "x", "8",  "d",      F_SSE},
    {FP, "cvtps2pi",       "0f 2d /r",       "S",    "m", "x", "8",  "d",      F_SSE},
    {FP, "cvttpd2pi",      "66 0f 2c /r",    "S",    "m", "x", "16", "da",     F_SSE2},
    {FP, "cvtpd2pi",       "66 0f 2d /r",    "S",    "m", "x", "16", "da",     F_SSE2},
    {FP, "cvtps2pd",       "0f 5a /r",       "SVY",  "v", "x", "8",  "d2",     F_SSE2, F_AVX},
    {FP, "cvtpd2ps",       "66 0f 5a /r",    "SVY",  "x", "v", "16", "d2a",    F_SSE2, F_AVX},
    {FP, "cvtss2sd",       "f3 0f 5a /r",    "SV",   "x", "x", "4",  "dn",     F_SSE2},
    {FP, "cvtsd2ss",       "f2 0f 5a /r",    "SV",   "x", "x", "8",  "dn",     F_SSE2},
    {FP, "cvtdq2ps",       "0f 5b /r",       "SVY",  "v", "v", "16", "d2a",    F_SSE2, F_AVX},
    {FP, "cvtps2dq",       "66 0f 5b /r",    "SVY",  "v", "v", "16", "d2a",    F_SSE2, F_AVX},
    {FP, "cvttps2dq",      "f3 0f 5b /r",    "SVY",  "v", "v", "16", "d2a",    F_SSE2, F_AVX},
    {FP, "cvttpd2dq",      "66 0f e6 /r",    "SVY",  "x", "v", "16", "d2a",    F_SSE2, F_AVX},
    {FP, "cvtdq2pd",       "f3 0f e6 /r",    "SVY",  "v", "x", "8",  "d2",     F_SSE2, F_AVX},
    {FP, "cvtpd2dq",       "f2 0f e6 /r",    "SVY",  "x", "v", "16", "d2a",    F_SSE2, F_AVX},
};
// clang-format on

static bool rule(const struct row *row, char which)
{
    return strchr(row->rules, which);
}

static enum vector_class class_of(char operand, char form)
{
    return operand == '-'                    ? V_NONE
           : operand == 'r'                  ? V_GENERAL
           : operand == 'm' || (form == 'M') ? V_MMX
                                             : V_XMM;
}

/* PADDQ and what came with SSE2 on MMX registers are not told apart: every x86-64 has both. */
static enum feature feature_of(const struct row *row, char form)
{
    if (form == 'Y')
        return row->wide;
    if (form == 'V')
        return row->feature == F_AVX2 ? F_AVX2 : F_AVX;
    return form == 'M' && row->feature == F_SSE2 ? F_MMX : row->feature;
}

static struct form form_of(const struct row *row, char form)
{
    struct form f = {.family = row->family,
                     .kind = K_VECTOR,
                     .ext = -1,
                     .sizes = rule(row, 'q') ? S32 | S64 : S32,
                     .imm = rule(row, 'i') || rule(row, '4') ? IMM_B : IMM_NONE,
                     .feature = feature_of(row, form),
                     .vector_form = form,
                     .vector_reg = class_of(row->reg[0], form),
                     .vector_rm = class_of(row->rm[0], form)};
    form_encoding(&f, row->encoding);
    if (form == 'M')
        f.prefix = 0;
    f.dst = (rule(row, 'd') ? D_REG : 0) | (rule(row, 'D') ? D_RM : 0);
    f.vector_vvvv = (form == 'V' || form == 'Y') && (rule(row, 'n') || rule(row, 'N'));
    if (row->memory[0] == 'S')
        f.attr |= A_SIZED;
    else if (row->memory[0] != '-')
        f.rm_size = atoi(row->memory);
    if (form == 'Y' && rule(row, '2'))
        f.rm_size *= 2;
    if (form == 'M' && f.rm_size > 8)
        f.rm_size = 8;
    if (form == 'M' && rule(row, 'h'))
        f.rm_size = 4;
    if (f.rm_size == 0 && !(f.attr & A_SIZED))
        f.attr |= A_REG;
    if (rule(row, 'M'))
        f.attr |= A_MEM;
    if (form == 'S' ? rule(row, 'a') : form != 'M' && rule(row, 'A'))
        f.attr |= A_ALIGNED;
    if (rule(row, 'f'))
        f.writes = FL_STATUS;
    f.attr |=
        (rule(row, 'w') ? A_W : 0) | (rule(row, 'z') ? A_SMALL : 0) | (rule(row, '4') ? A_IS4 : 0);
    if (rule(row, 'e')) {
        f.attr |= A_DI;
        f.implicit = 1 << RDI;
    }
    if (rule(row, 'E'))
        f.implicit = 1 << RAX | 1 << RCX | 1 << RDX;
    f.vector_gather = rule(row, 'g');
    static const char *const suffix[] = {
        ['M'] = " mmx", ['S'] = "", ['V'] = " vex", ['Y'] = " ymm"};
    snprintf(f.name, sizeof(f.name), "%s%s", row->name, suffix[(unsigned char)form]);
    return f;
}

void vector_forms_init(void)
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (const char *form = rows[i].forms; *form; form++)
            forms[n_forms++] = form_of(&rows[i], *form);
}

/* ---- one instruction ---- */

static unsigned pick_mask(struct gen *g, unsigned not1, unsigned not2)
{
    unsigned r;
    do
        r = below(g, 16);
    while ((r == not1 || r == not2) && !percent(g, 5)); /* equal ones are #UD */
    return r;
}

/* Indices below 1024, by a shift of whatever the register holds; then a base from which the most of
 * them stay in the data. */
static void gather_operands(struct gen *g, const struct form *f, struct enc *e)
{
    bool quad = f->opcode & 1;
    unsigned index = below(g, 16), start = g->s->len, base;
    struct enc shift = {.map = 1,
                        .opcode = quad ? 0x73 : 0x72,
                        .prefix = 0x66,
                        .vex = true,
                        .wide = true,
                        .modrm = true,
                        .mod = 3,
                        .reg = 2,
                        .rm = index,
                        .vvvv = index,
                        .imm_bytes = 1,
                        .imm = quad ? 54 : 22};
    emit(g, &shift);
    record(g, start, -1, 0, 0, 0);
    do
        base = below(g, 16);
    while (base == RSP);
    need(g, base, DATA_BASE + below(g, 2 * PAGE_BYTES));
    e->memory = e->sib = true;
    e->mod = 2;
    e->disp_bytes = 4;
    e->disp = (int64_t)below(g, 64) - 32;
    e->base = base;
    e->index = index;
    e->scale = below(g, 4);
    e->reg = pick_mask(g, index, index);
    e->vvvv = pick_mask(g, index, e->reg);
}

static unsigned pick_operand(struct gen *g, struct enc *e, enum vector_class class, bool write)
{
    switch (class) {
    case V_GENERAL:
        return pick(g, e, false, write);
    case V_MMX:
        return below(g, 8);
    case V_XMM:
        return below(g, 16);
    default:
        return 0;
    }
}

/* One double, or two singles; from a stock, for speed. */
static uint64_t reals(struct gen *g)
{
    static uint64_t stock[1 << 14];
    static bool stocked;
    if (!stocked) {
        struct gen own = {0};
        for (unsigned i = 0; i < sizeof(stock) / sizeof(stock[0]); i++)
            stock[i] = i % 2 ? real64(&own) : real32(&own) | (uint64_t)real32(&own) << 32;
        stocked = true;
    }
    return stock[random_next(&g->random) % (sizeof(stock) / sizeof(stock[0]))];
}

void vector_insn(struct gen *g, int form)
{
    const struct form *f = &forms[form];
    unsigned size = pick_size(g, f);
    struct enc e = {.map = f->map,
                    .opcode = f->opcode,
                    .prefix = f->prefix,
                    .w = size == 8 || (f->attr & A_W),
                    .vex = f->vector_form == 'V' || f->vector_form == 'Y',
                    .wide = f->vector_form == 'Y',
                    .modrm = f->vector_reg || f->vector_rm || f->ext >= 0 || f->rm_size,
                    .imm_bytes = imm_bytes(f->imm, size),
                    .imm = value(g)};
    if ((f->attr & A_SMALL) && percent(g, 80))
        e.imm = below(g, 70);
    if (f->attr & A_IS4)
        e.imm = below(g, 16) << 4;
    if (f->vector_gather) {
        gather_operands(g, f, &e);
        finish_insn(g, &e, form, size, 0, 0, 0);
        return;
    }
    if (f->implicit & 1 << RDX) { /* texts */
        if (percent(g, 70))
            need(g, RAX, (uint64_t)((int64_t)below(g, 40) - 20));
        if (percent(g, 70))
            need(g, RDX, (uint64_t)((int64_t)below(g, 40) - 20));
        g->used |= f->implicit;
    }
    bool memory = (f->attr & A_MEM) || (!(f->attr & A_REG) && percent(g, 50));
    if (memory) {
        unsigned width = f->attr & A_SIZED ? size : f->rm_size;
        uint64_t target = pick_target(g, width, (f->attr & A_ALIGNED) && percent(g, 90), false);
        if (f->map == 1 && f->opcode == 0xae)
            patch(g, target, value(g) & (percent(g, 90) ? 0xffff : ~AMD_MM));
        for (unsigned i = 0; i < width && percent(g, 70); i += 8)
            patch(g, target + i, f->family == FAM_VFLOAT ? reals(g) : value(g));
        memory_at(g, &e, target);
    }
    if (f->attr & A_DI)
        need(g, RDI, pick_target(g, f->vector_reg == V_MMX ? 8 : 16, false, true));
    e.reg = f->ext >= 0 ? (unsigned)f->ext : pick_operand(g, &e, f->vector_reg, f->dst & D_REG);
    if (f->vector_vvvv)
        e.vvvv = below(g, 16);
    if (!memory) {
        e.mod = 3;
        e.rm = pick_operand(g, &e, f->vector_rm, f->dst & D_RM);
    }
    finish_insn(g, &e, form, size, f->reads, f->writes, f->undef);
}

/* Any rounding, DAZ, FTZ and flags; all exceptions masked, all but one, or any. */
static uint32_t any_mxcsr(struct gen *g)
{
    uint32_t r = random_next(&g->random), masks = 0x1f80;
    if (percent(g, 30))
        masks &= ~(0x80u << below(g, 6));
    else if (percent(g, 15))
        masks &= r >> 16;
    return masks | (r & (percent(g, 50) ? 0xe07f : 0xe040));
}

/* Half of the time numbers; otherwise what is an edge of something. */
void vector_begin(struct gen *g)
{
    struct state *s = &g->s->in;
    bool numbers = percent(g, 50);
    for (unsigned i = 0; i < 32; i++) {
        uint64_t v = percent(g, 30) ? value(g) * 0x0001000100010001 : value(g);
        s->fx.xmm[i / 2][i % 2] = numbers ? reals(g) : v;
        s->upper[i / 2][i % 2] = numbers ? reals(g) : value(g);
    }
    if (percent(g, 60))
        s->fx.mxcsr = any_mxcsr(g);
}
