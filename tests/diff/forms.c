/* The instruction forms under test, from SDM vol. 2: opcode, operands, and what each does to the
 * status flags. A flag the manual calls undefined is never compared and never read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/diff/diff.h"

// clang-format off
/*
 * A line a form, as the manual writes it; forms_init() makes a struct form of each.
 *
 *   encoding   mandatory or repeat prefix, escape bytes, opcode (A_BW: the one of 8-bit operands;
 *              K_O: the one of register 0), /r or the opcode's extension; for K_VEX_* what the VEX
 *              prefix stands for
 *   writes     which of the operands
 *   registers  those used without being named
 *   flags      OF SF ZF AF PF CF, as in SDM vol. 1 "EFLAGS Cross-Reference": M modified, T tested,
 *              B both, U undefined. Those of shifts depend on the count, and are not here
 *   codes      of x87's condition codes C3 C2 C1 C0 the same
 *   rm_size    bytes of the r/m operand where it has not the operand size
 */
struct row {
    enum family family;
    const char *name, *encoding;
    enum kind kind;
    uint8_t sizes;
    enum imm immediate;
    const char *writes, *registers, *flags;
    uint32_t attributes;
    uint8_t rm_size;
    enum feature feature;
    const char *codes;
};

/* What a line leaves out is 0. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
static const struct row rows[] = {
    /*family     name              encoding          kind        sizes      immediate  writes      registers      flags     attributes */
    {FAM_ARITH,  "add rm,r",       "00 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMMMM", A_BW | A_LOCK},
    {FAM_ARITH,  "add r,rm",       "02 /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMMMM", A_BW},
    {FAM_ARITH,  "add acc,imm",    "04",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMMMM", A_BW},
    {FAM_ARITH,  "add rm,imm",     "80 /0",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMMMM", A_BW | A_LOCK},
    {FAM_ARITH,  "add rm,imm8",    "83 /0",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMMMM", A_LOCK},
    {FAM_ARITH,  "or rm,r",        "08 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMUMM", A_BW | A_LOCK},
    {FAM_ARITH,  "or r,rm",        "0a /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMUMM", A_BW},
    {FAM_ARITH,  "or acc,imm",     "0c",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMUMM", A_BW},
    {FAM_ARITH,  "or rm,imm",      "80 /1",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMUMM", A_BW | A_LOCK},
    {FAM_ARITH,  "or rm,imm8",     "83 /1",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMUMM", A_LOCK},
    {FAM_ARITH,  "adc rm,r",       "10 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMMMB", A_BW | A_LOCK},
    {FAM_ARITH,  "adc r,rm",       "12 /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMMMB", A_BW},
    {FAM_ARITH,  "adc acc,imm",    "14",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMMMB", A_BW},
    {FAM_ARITH,  "adc rm,imm",     "80 /2",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMMMB", A_BW | A_LOCK},
    {FAM_ARITH,  "adc rm,imm8",    "83 /2",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMMMB", A_LOCK},
    {FAM_ARITH,  "sbb rm,r",       "18 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMMMB", A_BW | A_LOCK},
    {FAM_ARITH,  "sbb r,rm",       "1a /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMMMB", A_BW},
    {FAM_ARITH,  "sbb acc,imm",    "1c",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMMMB", A_BW},
    {FAM_ARITH,  "sbb rm,imm",     "80 /3",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMMMB", A_BW | A_LOCK},
    {FAM_ARITH,  "sbb rm,imm8",    "83 /3",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMMMB", A_LOCK},
    {FAM_ARITH,  "and rm,r",       "20 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMUMM", A_BW | A_LOCK},
    {FAM_ARITH,  "and r,rm",       "22 /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMUMM", A_BW},
    {FAM_ARITH,  "and acc,imm",    "24",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMUMM", A_BW},
    {FAM_ARITH,  "and rm,imm",     "80 /4",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMUMM", A_BW | A_LOCK},
    {FAM_ARITH,  "and rm,imm8",    "83 /4",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMUMM", A_LOCK},
    {FAM_ARITH,  "sub rm,r",       "28 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMMMM", A_BW | A_LOCK},
    {FAM_ARITH,  "sub r,rm",       "2a /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMMMM", A_BW},
    {FAM_ARITH,  "sub acc,imm",    "2c",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMMMM", A_BW},
    {FAM_ARITH,  "sub rm,imm",     "80 /5",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMMMM", A_BW | A_LOCK},
    {FAM_ARITH,  "sub rm,imm8",    "83 /5",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMMMM", A_LOCK},
    {FAM_ARITH,  "xor rm,r",       "30 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "MMMUMM", A_BW | A_LOCK},
    {FAM_ARITH,  "xor r,rm",       "32 /r",          K_RM_R,     SALL,      0,         "reg",      "",            "MMMUMM", A_BW},
    {FAM_ARITH,  "xor acc,imm",    "34",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMUMM", A_BW},
    {FAM_ARITH,  "xor rm,imm",     "80 /6",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "MMMUMM", A_BW | A_LOCK},
    {FAM_ARITH,  "xor rm,imm8",    "83 /6",          K_RM,       SW,        IMM_B,     "rm",       "",            "MMMUMM", A_LOCK},
    {FAM_ARITH,  "cmp rm,r",       "38 /r",          K_RM_R,     SALL,      0,         "",         "",            "MMMMMM", A_BW},
    {FAM_ARITH,  "cmp r,rm",       "3a /r",          K_RM_R,     SALL,      0,         "",         "",            "MMMMMM", A_BW},
    {FAM_ARITH,  "cmp acc,imm",    "3c",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMMMM", A_BW},
    {FAM_ARITH,  "cmp rm,imm",     "80 /7",          K_RM,       SALL,      IMM_Z,     "",         "",            "MMMMMM", A_BW},
    {FAM_ARITH,  "cmp rm,imm8",    "83 /7",          K_RM,       SW,        IMM_B,     "",         "",            "MMMMMM"},
    {FAM_ARITH,  "test rm,r",      "84 /r",          K_RM_R,     SALL,      0,         "",         "",            "MMMUMM", A_BW},
    {FAM_ARITH,  "test acc,imm",   "a8",             K_ACC,      SALL,      IMM_Z,     "",         "ax",          "MMMUMM", A_BW},
    {FAM_ARITH,  "test rm,imm",    "f6 /0",          K_RM,       SALL,      IMM_Z,     "",         "",            "MMMUMM", A_BW},
    {FAM_ARITH,  "inc rm",         "fe /0",          K_RM,       SALL,      0,         "rm",       "",            "MMMMM.", A_BW | A_LOCK},
    {FAM_ARITH,  "dec rm",         "fe /1",          K_RM,       SALL,      0,         "rm",       "",            "MMMMM.", A_BW | A_LOCK},
    {FAM_ARITH,  "not rm",         "f6 /2",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_LOCK},
    {FAM_ARITH,  "neg rm",         "f6 /3",          K_RM,       SALL,      0,         "rm",       "",            "MMMMMM", A_BW | A_LOCK},

    {FAM_MOVE,   "mov rm,r",       "88 /r",          K_RM_R,     SALL,      0,         "rm",       "",            "",       A_BW},
    {FAM_MOVE,   "mov r,rm",       "8a /r",          K_RM_R,     SALL,      0,         "reg",      "",            "",       A_BW},
    {FAM_MOVE,   "mov rm,imm",     "c6 /0",          K_RM,       SALL,      IMM_Z,     "rm",       "",            "",       A_BW},
    {FAM_MOVE,   "mov r,imm",      "b8",             K_O,        SW,        IMM_V,     "reg",      "",            ""},
    {FAM_MOVE,   "mov r8,imm8",    "b0",             K_O,        S8,        IMM_V,     "reg",      "",            ""},
    {FAM_MOVE,   "mov acc,moffs",  "a0",             K_MOFFS,    SALL,      0,         "",         "ax",          "",       A_BW},
    {FAM_MOVE,   "mov moffs,acc",  "a2",             K_MOFFS,    SALL,      0,         "",         "ax",          "",       A_BW},
    {FAM_MOVE,   "movzx r,rm8",    "0f b6 /r",       K_RM_R,     SW,        0,         "reg",      "",            "",       .rm_size = 1},
    {FAM_MOVE,   "movzx r,rm16",   "0f b7 /r",       K_RM_R,     SW,        0,         "reg",      "",            "",       .rm_size = 2},
    {FAM_MOVE,   "movsx r,rm8",    "0f be /r",       K_RM_R,     SW,        0,         "reg",      "",            "",       .rm_size = 1},
    {FAM_MOVE,   "movsx r,rm16",   "0f bf /r",       K_RM_R,     SW,        0,         "reg",      "",            "",       .rm_size = 2},
    {FAM_MOVE,   "movsxd r,rm32",  "63 /r",          K_RM_R,     S32 | S64, 0,         "reg",      "",            "",       .rm_size = 4},
    {FAM_MOVE,   "lea",            "8d /r",          K_RM_R,     SW,        0,         "reg",      "",            "",       A_MEM | A_NOACCESS},
    {FAM_MOVE,   "xchg rm,r",      "86 /r",          K_RM_R,     SALL,      0,         "rm reg",   "",            "",       A_BW | A_LOCK | A_ATOMIC},
    {FAM_MOVE,   "xchg r,acc",     "90",             K_O,        SW,        0,         "reg",      "ax",          ""},
    {FAM_MOVE,   "bswap",          "0f c8",          K_O,        S32 | S64, 0,         "reg",      "",            ""},
    {FAM_MOVE,   "movbe r,m",      "0f 38 f0 /r",    K_RM_R,     SW,        0,         "reg",      "",            "",       A_MEM, .feature = F_MOVBE},
    {FAM_MOVE,   "movbe m,r",      "0f 38 f1 /r",    K_RM_R,     SW,        0,         "rm",       "",            "",       A_MEM, .feature = F_MOVBE},
    {FAM_MOVE,   "cbw",            "98",             K_NONE,     SW,        0,         "",         "ax",          ""},
    {FAM_MOVE,   "cwd",            "99",             K_NONE,     SW,        0,         "",         "ax dx",       ""},
    {FAM_MOVE,   "xlat",           "d7",             K_NONE,     S8,        0,         "",         "ax bx",       "",       A_XLAT},
    {FAM_MOVE,   "cmov",           "0f 40 /r",       K_RM_R,     SW,        0,         "reg",      "",            "",       A_CC},
    {FAM_MOVE,   "set",            "0f 90 /0",       K_RM,       S8,        0,         "rm",       "",            "",       A_CC},

    {FAM_SHIFT,  "rol rm,imm8",    "c0 /0",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            "",       A_BW | A_SHIFT},
    {FAM_SHIFT,  "rol rm,1",       "d0 /0",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "rol rm,cl",      "d2 /0",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "ror rm,imm8",    "c0 /1",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            "",       A_BW | A_SHIFT},
    {FAM_SHIFT,  "ror rm,1",       "d0 /1",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "ror rm,cl",      "d2 /1",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "rcl rm,imm8",    "c0 /2",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            ".....T", A_BW | A_SHIFT},
    {FAM_SHIFT,  "rcl rm,1",       "d0 /2",          K_RM,       SALL,      0,         "rm",       "",            ".....T", A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "rcl rm,cl",      "d2 /2",          K_RM,       SALL,      0,         "rm",       "",            ".....T", A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "rcr rm,imm8",    "c0 /3",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            ".....T", A_BW | A_SHIFT},
    {FAM_SHIFT,  "rcr rm,1",       "d0 /3",          K_RM,       SALL,      0,         "rm",       "",            ".....T", A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "rcr rm,cl",      "d2 /3",          K_RM,       SALL,      0,         "rm",       "",            ".....T", A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "shl rm,imm8",    "c0 /4",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            "",       A_BW | A_SHIFT},
    {FAM_SHIFT,  "shl rm,1",       "d0 /4",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "shl rm,cl",      "d2 /4",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "shr rm,imm8",    "c0 /5",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            "",       A_BW | A_SHIFT},
    {FAM_SHIFT,  "shr rm,1",       "d0 /5",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "shr rm,cl",      "d2 /5",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "sar rm,imm8",    "c0 /7",          K_RM,       SALL,      IMM_COUNT, "rm",       "",            "",       A_BW | A_SHIFT},
    {FAM_SHIFT,  "sar rm,1",       "d0 /7",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_ONE},
    {FAM_SHIFT,  "sar rm,cl",      "d2 /7",          K_RM,       SALL,      0,         "rm",       "",            "",       A_BW | A_SHIFT | A_CL},
    {FAM_SHIFT,  "shld rm,r,imm8", "0f a4 /r",       K_RM_R,     SW,        IMM_COUNT, "rm",       "",            "",       A_SHIFT | A_DOUBLE},
    {FAM_SHIFT,  "shld rm,r,cl",   "0f a5 /r",       K_RM_R,     SW,        0,         "rm",       "",            "",       A_SHIFT | A_CL | A_DOUBLE},
    {FAM_SHIFT,  "shrd rm,r,imm8", "0f ac /r",       K_RM_R,     SW,        IMM_COUNT, "rm",       "",            "",       A_SHIFT | A_DOUBLE},
    {FAM_SHIFT,  "shrd rm,r,cl",   "0f ad /r",       K_RM_R,     SW,        0,         "rm",       "",            "",       A_SHIFT | A_CL | A_DOUBLE},

    {FAM_BIT,    "bt rm,r",        "0f a3 /r",       K_RM_R,     SW,        0,         "",         "",            "UU.UUM", A_BITREG},
    {FAM_BIT,    "bt rm,imm8",     "0f ba /4",       K_RM,       SW,        IMM_B,     "",         "",            "UU.UUM"},
    {FAM_BIT,    "bts rm,r",       "0f ab /r",       K_RM_R,     SW,        0,         "rm",       "",            "UU.UUM", A_LOCK | A_BITREG},
    {FAM_BIT,    "bts rm,imm8",    "0f ba /5",       K_RM,       SW,        IMM_B,     "rm",       "",            "UU.UUM", A_LOCK},
    {FAM_BIT,    "btr rm,r",       "0f b3 /r",       K_RM_R,     SW,        0,         "rm",       "",            "UU.UUM", A_LOCK | A_BITREG},
    {FAM_BIT,    "btr rm,imm8",    "0f ba /6",       K_RM,       SW,        IMM_B,     "rm",       "",            "UU.UUM", A_LOCK},
    {FAM_BIT,    "btc rm,r",       "0f bb /r",       K_RM_R,     SW,        0,         "rm",       "",            "UU.UUM", A_LOCK | A_BITREG},
    {FAM_BIT,    "btc rm,imm8",    "0f ba /7",       K_RM,       SW,        IMM_B,     "rm",       "",            "UU.UUM", A_LOCK},
    {FAM_BIT,    "bsf",            "0f bc /r",       K_RM_R,     SW,        0,         "reg",      "",            "UUMUUU", A_SCAN},
    {FAM_BIT,    "bsr",            "0f bd /r",       K_RM_R,     SW,        0,         "reg",      "",            "UUMUUU", A_SCAN},
    {FAM_BIT,    "popcnt",         "f3 0f b8 /r",    K_RM_R,     SW,        0,         "reg",      "",            "MMMMMM", .feature = F_POPCNT},
    {FAM_BIT,    "lzcnt",          "f3 0f bd /r",    K_RM_R,     SW,        0,         "reg",      "",            "UUMUUM", .feature = F_LZCNT},
    {FAM_BIT,    "tzcnt",          "f3 0f bc /r",    K_RM_R,     SW,        0,         "reg",      "",            "UUMUUM", .feature = F_BMI1},

    {FAM_MULDIV, "mul rm",         "f6 /4",          K_RM,       SALL,      0,         "",         "ax dx",       "MUUUUM", A_BW},
    {FAM_MULDIV, "imul rm",        "f6 /5",          K_RM,       SALL,      0,         "",         "ax dx",       "MUUUUM", A_BW},
    {FAM_MULDIV, "div rm",         "f6 /6",          K_RM,       SALL,      0,         "",         "ax dx",       "UUUUUU", A_BW | A_DIV},
    {FAM_MULDIV, "idiv rm",        "f6 /7",          K_RM,       SALL,      0,         "",         "ax dx",       "UUUUUU", A_BW | A_DIV},
    {FAM_MULDIV, "imul r,rm",      "0f af /r",       K_RM_R,     SW,        0,         "reg",      "",            "MUUUUM"},
    {FAM_MULDIV, "imul r,rm,imm",  "69 /r",          K_RM_R,     SW,        IMM_Z,     "reg",      "",            "MUUUUM"},
    {FAM_MULDIV, "imul r,rm,imm8", "6b /r",          K_RM_R,     SW,        IMM_B,     "reg",      "",            "MUUUUM"},

    {FAM_STACK,  "push r",         "50",             K_O,        S16 | S64, 0,         "",         "",            "",       A_D64 | A_STACK},
    {FAM_STACK,  "pop r",          "58",             K_O,        S16 | S64, 0,         "reg",      "",            "",       A_D64 | A_STACK},
    {FAM_STACK,  "push rm",        "ff /6",          K_RM,       S16 | S64, 0,         "",         "",            "",       A_D64 | A_STACK},
    {FAM_STACK,  "pop rm",         "8f /0",          K_RM,       S16 | S64, 0,         "rm",       "",            "",       A_D64 | A_STACK},
    {FAM_STACK,  "push imm",       "68",             K_NONE,     S16 | S64, IMM_Z,     "",         "",            "",       A_D64 | A_STACK},
    {FAM_STACK,  "push imm8",      "6a",             K_NONE,     S16 | S64, IMM_B,     "",         "",            "",       A_D64 | A_STACK},
    {FAM_STACK,  "pushf",          "9c",             K_NONE,     S16 | S64, 0,         "",         "",            "TTTTTT", A_D64 | A_STACK},
    {FAM_STACK,  "popf",           "9d",             K_POPF,     S16 | S64, 0,         "",         "",            "MMMMMM", A_D64 | A_STACK},
    {FAM_STACK,  "enter",          "c8",             K_ENTER,    S64,       0,         "",         "bp",          "",       A_D64 | A_STACK},
    {FAM_STACK,  "leave",          "c9",             K_LEAVE,    S64,       0,         "",         "bp",          "",       A_D64},

    {FAM_BRANCH, "jmp rel8",       "eb",             K_JUMP,     S64,       IMM_B,     "",         "",            "",       A_D64},
    {FAM_BRANCH, "jmp rel32",      "e9",             K_JUMP,     S64,       IMM_Z,     "",         "",            "",       A_D64},
    {FAM_BRANCH, "j",              "70",             K_JUMP,     S64,       IMM_B,     "",         "",            "",       A_CC | A_D64},
    {FAM_BRANCH, "jnear",          "0f 80",          K_JUMP,     S64,       IMM_Z,     "",         "",            "",       A_CC | A_D64},
    {FAM_BRANCH, "loopne",         "e0",             K_LOOP,     S64,       0,         "",         "cx",          "..T...", A_D64},
    {FAM_BRANCH, "loope",          "e1",             K_LOOP,     S64,       0,         "",         "cx",          "..T...", A_D64},
    {FAM_BRANCH, "loop",           "e2",             K_LOOP,     S64,       0,         "",         "cx",          "",       A_D64},
    {FAM_BRANCH, "jrcxz",          "e3",             K_LOOP,     S64,       0,         "",         "cx",          "",       A_D64},
    {FAM_BRANCH, "call rel32",     "e8",             K_CALL,     S64,       0,         "",         "",            "",       A_D64 | A_STACK},
    {FAM_BRANCH, "call rm",        "ff /2",          K_CALL,     S64,       0,         "",         "",            "",       A_D64 | A_STACK},
    {FAM_BRANCH, "jmp rm",         "ff /4",          K_JUMP_IND, S64,       0,         "",         "",            "",       A_D64},
    {FAM_BRANCH, "ret",            "c3",             K_RET,      S64,       0,         "",         "",            "",       A_D64},
    {FAM_BRANCH, "ret imm16",      "c2",             K_RET,      S64,       0,         "",         "",            "",       A_D64},

    {FAM_STRING, "movs",           "a4",             K_STRING,   SALL,      0,         "",         "si di",       "",       A_BW},
    {FAM_STRING, "rep movs",       "f3 a4",          K_STRING,   SALL,      0,         "",         "cx si di",    "",       A_BW},
    {FAM_STRING, "cmps",           "a6",             K_STRING,   SALL,      0,         "",         "si di",       "MMMMMM", A_BW},
    {FAM_STRING, "repe cmps",      "f3 a6",          K_STRING,   SALL,      0,         "",         "cx si di",    "MMMMMM", A_BW},
    {FAM_STRING, "repne cmps",     "f2 a6",          K_STRING,   SALL,      0,         "",         "cx si di",    "MMMMMM", A_BW},
    {FAM_STRING, "stos",           "aa",             K_STRING,   SALL,      0,         "",         "ax di",       "",       A_BW},
    {FAM_STRING, "rep stos",       "f3 aa",          K_STRING,   SALL,      0,         "",         "ax cx di",    "",       A_BW},
    {FAM_STRING, "lods",           "ac",             K_STRING,   SALL,      0,         "",         "ax si",       "",       A_BW},
    {FAM_STRING, "rep lods",       "f3 ac",          K_STRING,   SALL,      0,         "",         "ax cx si",    "",       A_BW},
    {FAM_STRING, "scas",           "ae",             K_STRING,   SALL,      0,         "",         "ax di",       "MMMMMM", A_BW},
    {FAM_STRING, "repe scas",      "f3 ae",          K_STRING,   SALL,      0,         "",         "ax cx di",    "MMMMMM", A_BW},
    {FAM_STRING, "repne scas",     "f2 ae",          K_STRING,   SALL,      0,         "",         "ax cx di",    "MMMMMM", A_BW},

    {FAM_ATOMIC, "xadd",           "0f c0 /r",       K_RM_R,     SALL,      0,         "rm reg",   "",            "MMMMMM", A_BW | A_LOCK},
    {FAM_ATOMIC, "cmpxchg",        "0f b0 /r",       K_RM_R,     SALL,      0,         "rm",       "ax",          "MMMMMM", A_BW | A_LOCK | A_CMPXCHG},
    {FAM_ATOMIC, "cmpxchg8b",      "0f c7 /1",       K_RM,       S32,       0,         "rm",       "ax cx dx bx", "..M...", A_LOCK | A_MEM | A_CMPXCHG | A_TWICE},
    {FAM_ATOMIC, "cmpxchg16b",     "0f c7 /1",       K_RM,       S64,       0,         "rm",       "ax cx dx bx", "..M...", A_LOCK | A_MEM | A_CMPXCHG | A_TWICE, .feature = F_CX16},

    {FAM_FLAG,   "clc",            "f8",             K_NONE,     S32,       0,         "",         "",            ".....M"},
    {FAM_FLAG,   "stc",            "f9",             K_NONE,     S32,       0,         "",         "",            ".....M"},
    {FAM_FLAG,   "cmc",            "f5",             K_NONE,     S32,       0,         "",         "",            ".....B"},
    {FAM_FLAG,   "cld",            "fc",             K_NONE,     S32,       0,         "",         "",            ""},
    {FAM_FLAG,   "std",            "fd",             K_NONE,     S32,       0,         "",         "",            ""},
    {FAM_FLAG,   "lahf",           "9f",             K_NONE,     S32,       0,         "",         "ax",          ".TTTTT", .feature = F_LAHF},
    {FAM_FLAG,   "sahf",           "9e",             K_NONE,     S32,       0,         "",         "ax",          ".MMMMM", .feature = F_LAHF},

    {FAM_BMI,    "andn",           "0f 38 f2 /r",    K_VEX_RVM,  S32 | S64, 0,         "reg",      "",            "MMMUUM", .feature = F_BMI1},
    {FAM_BMI,    "bextr",          "0f 38 f7 /r",    K_VEX_RMV,  S32 | S64, 0,         "reg",      "",            "MUMUUM", .feature = F_BMI1},
    {FAM_BMI,    "blsr",           "0f 38 f3 /1",    K_VEX_VM,   S32 | S64, 0,         "vvvv",     "",            "MMMUUM", .feature = F_BMI1},
    {FAM_BMI,    "blsmsk",         "0f 38 f3 /2",    K_VEX_VM,   S32 | S64, 0,         "vvvv",     "",            "MMMUUM", .feature = F_BMI1},
    {FAM_BMI,    "blsi",           "0f 38 f3 /3",    K_VEX_VM,   S32 | S64, 0,         "vvvv",     "",            "MMMUUM", .feature = F_BMI1},
    {FAM_BMI,    "bzhi",           "0f 38 f5 /r",    K_VEX_RMV,  S32 | S64, 0,         "reg",      "",            "MMMUUM", .feature = F_BMI2},
    {FAM_BMI,    "mulx",           "f2 0f 38 f6 /r", K_VEX_RVM,  S32 | S64, 0,         "reg vvvv", "dx",          "",       .feature = F_BMI2},
    {FAM_BMI,    "pdep",           "f2 0f 38 f5 /r", K_VEX_RVM,  S32 | S64, 0,         "reg",      "",            "",       .feature = F_BMI2},
    {FAM_BMI,    "pext",           "f3 0f 38 f5 /r", K_VEX_RVM,  S32 | S64, 0,         "reg",      "",            "",       .feature = F_BMI2},
    {FAM_BMI,    "rorx",           "f2 0f 3a f0 /r", K_VEX_RMI,  S32 | S64, IMM_B,     "reg",      "",            "",       .feature = F_BMI2},
    {FAM_BMI,    "sarx",           "f3 0f 38 f7 /r", K_VEX_RMV,  S32 | S64, 0,         "reg",      "",            "",       .feature = F_BMI2},
    {FAM_BMI,    "shlx",           "66 0f 38 f7 /r", K_VEX_RMV,  S32 | S64, 0,         "reg",      "",            "",       .feature = F_BMI2},
    {FAM_BMI,    "shrx",           "f2 0f 38 f7 /r", K_VEX_RMV,  S32 | S64, 0,         "reg",      "",            "",       .feature = F_BMI2},
    {FAM_BMI,    "adcx",           "66 0f 38 f6 /r", K_RM_R,     S32 | S64, 0,         "reg",      "",            ".....B", .feature = F_ADX},
    {FAM_BMI,    "adox",           "f3 0f 38 f6 /r", K_RM_R,     S32 | S64, 0,         "reg",      "",            "B.....", .feature = F_ADX},

    {FAM_MISC,   "nop",            "90",             K_NONE,     S16 | S32, 0,         "",         "",            ""},
    {FAM_MISC,   "pause",          "f3 90",          K_NONE,     S32,       0,         "",         "",            ""},
    {FAM_MISC,   "nop rm",         "0f 1f /0",       K_RM,       SW,        0,         "",         "",            "",       A_NOACCESS},
    {FAM_MISC,   "prefetcht0",     "0f 18 /1",       K_RM,       S32,       0,         "",         "",            "",       A_MEM | A_NOACCESS},
    {FAM_MISC,   "lfence",         "0f ae /5",       K_RM,       S32,       0,         "",         "",            "",       A_REG},
    {FAM_MISC,   "mfence",         "0f ae /6",       K_RM,       S32,       0,         "",         "",            "",       A_REG},
    {FAM_MISC,   "sfence",         "0f ae /7",       K_RM,       S32,       0,         "",         "",            "",       A_REG},
    {FAM_MISC,   "clflush",        "0f ae /7",       K_RM,       S32,       0,         "",         "",            "",       A_MEM, .rm_size = 1, .feature = F_CLFSH},
    {FAM_MISC,   "clflushopt",     "66 0f ae /7",    K_RM,       S32,       0,         "",         "",            "",       A_MEM, .rm_size = 1, .feature = F_CLFLUSHOPT},
    {FAM_MISC,   "crc32 r,rm8",    "f2 0f 38 f0 /r", K_RM_R,     S32 | S64, 0,         "reg",      "",            "",       .rm_size = 1, .feature = F_CRC32},
    {FAM_MISC,   "crc32 r,rm",     "f2 0f 38 f1 /r", K_RM_R,     SW,        0,         "reg",      "",            "",       .feature = F_CRC32},

    /* FCMOVcc and FCOMI leave C1 here; the manual has the one clear it for a stack underflow alone, the other always. */
    {FAM_X87,    "fadd m32",            "d8 /0",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fmul m32",            "d8 /1",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fcom m32",            "d8 /2",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "MMMM"},
    {FAM_X87,    "fcomp m32",           "d8 /3",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "MMMM"},
    {FAM_X87,    "fsub m32",            "d8 /4",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fsubr m32",           "d8 /5",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fdiv m32",            "d8 /6",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fdivr m32",           "d8 /7",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fadd m64",            "dc /0",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fmul m64",            "dc /1",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fcom m64",            "dc /2",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "MMMM"},
    {FAM_X87,    "fcomp m64",           "dc /3",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "MMMM"},
    {FAM_X87,    "fsub m64",            "dc /4",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fsubr m64",           "dc /5",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fdiv m64",            "dc /6",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fdivr m64",           "dc /7",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fiadd m32",           "da /0",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fimul m32",           "da /1",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "ficom m32",           "da /2",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "MMMM"},
    {FAM_X87,    "ficomp m32",          "da /3",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "MMMM"},
    {FAM_X87,    "fisub m32",           "da /4",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fisubr m32",          "da /5",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fidiv m32",           "da /6",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fidivr m32",          "da /7",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fiadd m16",           "de /0",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fimul m16",           "de /1",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "ficom m16",           "de /2",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "MMMM"},
    {FAM_X87,    "ficomp m16",          "de /3",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "MMMM"},
    {FAM_X87,    "fisub m16",           "de /4",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fisubr m16",          "de /5",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fidiv m16",           "de /6",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fidivr m16",          "de /7",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fld m32",             "d9 /0",      K_X87, S32, .attributes = A_MEM, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fst m32",             "d9 /2",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fstp m32",            "d9 /3",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fld m64",             "dd /0",      K_X87, S32, .attributes = A_MEM, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fst m64",             "dd /2",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fstp m64",            "dd /3",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fld m80",             "db /5",      K_X87, S32, .attributes = A_MEM, .rm_size = 10, .codes = "UUMU"},
    {FAM_X87,    "fstp m80",            "db /7",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 10, .codes = "UUMU"},
    {FAM_X87,    "fild m32",            "db /0",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fist m32",            "db /2",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fistp m32",           "db /3",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 4, .codes = "UUMU"},
    {FAM_X87,    "fisttp m32",          "db /1",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 4, .codes = "UUMU", .feature = F_SSE3},
    {FAM_X87,    "fild m16",            "df /0",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fist m16",            "df /2",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fistp m16",           "df /3",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 2, .codes = "UUMU"},
    {FAM_X87,    "fisttp m16",          "df /1",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 2, .codes = "UUMU", .feature = F_SSE3},
    {FAM_X87,    "fisttp m64",          "dd /1",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 8, .codes = "UUMU", .feature = F_SSE3},
    {FAM_X87,    "fild m64",            "df /5",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fistp m64",           "df /7",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 8, .codes = "UUMU"},
    {FAM_X87,    "fbld",                "df /4",      K_X87, S32, .attributes = A_MEM | A_INTEGER, .rm_size = 10, .codes = "UUMU"},
    {FAM_X87,    "fbstp",               "df /6",      K_X87, S32, .attributes = A_MEM | A_INTEGER | A_STORES, .rm_size = 10, .codes = "UUMU"},
    {FAM_X87,    "fldcw",               "d9 /5",      K_X87, S32, .attributes = A_MEM, .rm_size = 2, .codes = "UUUU"},
    {FAM_X87,    "fnstcw",              "d9 /7",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 2, .codes = "UUUU"},
    {FAM_X87,    "fnstsw m16",          "dd /7",      K_X87, S32, .attributes = A_MEM | A_STORES, .rm_size = 2, .codes = "BBBB"},
    {FAM_X87,    "fldenv",              "d9 /4",      K_X87, S16 | S32, .attributes = A_MEM | A_ENVIRONMENT, .rm_size = 28, .codes = "MMMM"},
    {FAM_X87,    "fnstenv",             "d9 /6",      K_X87, S16 | S32, .attributes = A_MEM | A_ENVIRONMENT | A_STORES, .rm_size = 28, .codes = "BBBB"},
    {FAM_X87,    "frstor",              "dd /4",      K_X87, S16 | S32, .attributes = A_MEM | A_ENVIRONMENT | A_STATE, .rm_size = 108, .codes = "MMMM"},
    {FAM_X87,    "fnsave",              "dd /6",      K_X87, S16 | S32, .attributes = A_MEM | A_ENVIRONMENT | A_STATE | A_STORES, .rm_size = 108, .codes = "BBBB"},
    {FAM_X87,    "fadd st,sti",         "d8 c0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fmul st,sti",         "d8 c8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fcom st,sti",         "d8 d0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "MMMM"},
    {FAM_X87,    "fcomp st,sti",        "d8 d8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "MMMM"},
    {FAM_X87,    "fsub st,sti",         "d8 e0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fsubr st,sti",        "d8 e8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fdiv st,sti",         "d8 f0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fdivr st,sti",        "d8 f8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fadd sti,st",         "dc c0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "faddp",               "de c0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fmul sti,st",         "dc c8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fmulp",               "de c8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fsubr sti,st",        "dc e0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fsubrp",              "de e0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fsub sti,st",         "dc e8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fsubp",               "de e8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fdivr sti,st",        "dc f0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fdivrp",              "de f0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fdiv sti,st",         "dc f8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fdivp",               "de f8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fcompp",              "de d9",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fucompp",             "da e9",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fucom",               "dd e0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "MMMM"},
    {FAM_X87,    "fucomp",              "dd e8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "MMMM"},
    {FAM_X87,    "fucomi",              "db e8",      K_X87, S32, .registers = "", .flags = "MMMMMM", .attributes = A_STI, .codes = "..U."},
    {FAM_X87,    "fcomi",               "db f0",      K_X87, S32, .registers = "", .flags = "MMMMMM", .attributes = A_STI, .codes = "..U."},
    {FAM_X87,    "fucomip",             "df e8",      K_X87, S32, .registers = "", .flags = "MMMMMM", .attributes = A_STI, .codes = "..U."},
    {FAM_X87,    "fcomip",              "df f0",      K_X87, S32, .registers = "", .flags = "MMMMMM", .attributes = A_STI, .codes = "..U."},
    {FAM_X87,    "fcmovb",              "da c0",      K_X87, S32, .registers = "", .flags = ".....T", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmovnb",             "db c0",      K_X87, S32, .registers = "", .flags = ".....T", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmove",              "da c8",      K_X87, S32, .registers = "", .flags = "..T...", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmovne",             "db c8",      K_X87, S32, .registers = "", .flags = "..T...", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmovbe",             "da d0",      K_X87, S32, .registers = "", .flags = "..T..T", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmovnbe",            "db d0",      K_X87, S32, .registers = "", .flags = "..T..T", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmovu",              "da d8",      K_X87, S32, .registers = "", .flags = "....T.", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fcmovnu",             "db d8",      K_X87, S32, .registers = "", .flags = "....T.", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fld sti",             "d9 c0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fxch",                "d9 c8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fst sti",             "dd d0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "fstp sti",            "dd d8",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUMU"},
    {FAM_X87,    "ffree",               "dd c0",      K_X87, S32, .registers = "", .flags = "", .attributes = A_STI, .codes = "UUUU"},
    {FAM_X87,    "fnop",                "d9 d0",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUUU"},
    {FAM_X87,    "fwait",               "9b",         K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUUU"},
    {FAM_X87,    "fnclex",              "db e2",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUUU"},
    {FAM_X87,    "fninit",              "db e3",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fnstsw ax",           "df e0",      K_X87, S32, .registers = "ax", .flags = "", .attributes = 0, .codes = "BBBB"},
    {FAM_X87,    "fchs",                "d9 e0",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fabs",                "d9 e1",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "ftst",                "d9 e4",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fxam",                "d9 e5",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fld1",                "d9 e8",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fldl2t",              "d9 e9",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fldl2e",              "d9 ea",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fldpi",               "d9 eb",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fldlg2",              "d9 ec",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fldln2",              "d9 ed",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fldz",                "d9 ee",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "f2xm1",               "d9 f0",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fyl2x",               "d9 f1",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fptan",               "d9 f2",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UMMU"},
    {FAM_X87,    "fpatan",              "d9 f3",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fxtract",             "d9 f4",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fprem1",              "d9 f5",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fdecstp",             "d9 f6",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fincstp",             "d9 f7",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fprem",               "d9 f8",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "MMMM"},
    {FAM_X87,    "fyl2xp1",             "d9 f9",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fsqrt",               "d9 fa",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fsincos",             "d9 fb",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UMMU"},
    {FAM_X87,    "frndint",             "d9 fc",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fscale",              "d9 fd",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UUMU"},
    {FAM_X87,    "fsin",                "d9 fe",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UMMU"},
    {FAM_X87,    "fcos",                "d9 ff",      K_X87, S32, .registers = "", .flags = "", .attributes = 0, .codes = "UMMU"},

    {FAM_FAULT,  "ud2",            "0f 0b",          K_NONE,     S32,       0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "ud1",            "0f b9 /r",       K_RM_R,     S32,       0,         "",         "",            "",       A_REG | A_FAULTS},
    {FAM_FAULT,  "int3",           "cc",             K_NONE,     S32,       0,         "",         "",            "",       A_FAULTS},
    /* Valid opcodes elsewhere, #UD in 64-bit mode (SDM vol. 2, "64-Bit Mode" of each). */
    {FAM_FAULT,  "push es",        "06",             K_NONE,     S32,       0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "daa",            "27",             K_NONE,     S32,       0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "pusha",          "60",             K_NONE,     S32,       0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "aam",            "d4",             K_ACC,      S8,        IMM_Z,     "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "into",           "ce",             K_NONE,     S32,       0,         "",         "",            "",       A_FAULTS},
    /* Holes in the map, and operands that an instruction does not take. */
    {FAM_FAULT,  "group 4 /7",     "fe /7",          K_RM,       S8,        0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "group 5 /7",     "ff /7",          K_RM,       SW,        0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "lea r,r",        "8d /r",          K_RM_R,     SW,        0,         "",         "",            "",       A_REG | A_FAULTS},
    /* The VEX prefix makes other opcodes of these. */
    {FAM_FAULT,  "vex popcnt",     "f3 0f b8 /r",    K_VEX_RMI,  S32 | S64, 0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "vex tzcnt",      "f3 0f bc /r",    K_VEX_RMI,  S32 | S64, 0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "vex lzcnt",      "f3 0f bd /r",    K_VEX_RMI,  S32 | S64, 0,         "",         "",            "",       A_FAULTS},
    {FAM_FAULT,  "cmpxchg8b r",    "0f c7 /1",       K_RM,       S32,       0,         "",         "",            "",       A_REG | A_FAULTS},
};
// clang-format on

struct form forms[MAX_FORMS];
unsigned n_forms;

const char *const family_names[FAM_COUNT] = {
    [FAM_ARITH] = "arithmetic and logic",
    [FAM_MOVE] = "moves",
    [FAM_SHIFT] = "shifts and rotates",
    [FAM_BIT] = "bit tests and scans",
    [FAM_MULDIV] = "multiply and divide",
    [FAM_STACK] = "stack",
    [FAM_BRANCH] = "near branches",
    [FAM_STRING] = "strings",
    [FAM_ATOMIC] = "exchange and compare",
    [FAM_FLAG] = "flag control",
    [FAM_BMI] = "BMI1, BMI2, ADX",
    [FAM_MISC] = "no-operations, fences, CRC32",
    [FAM_X87] = "x87",
    [FAM_FAULT] = "invalid and trapping opcodes",
    [FAM_VMOVE] = "vector moves",
    [FAM_VINTEGER] = "vector integers",
    [FAM_VSHUFFLE] = "vector shuffles",
    [FAM_VFLOAT] = "vector floating point",
};

/* SDM vol. 2 CPUID: where each feature is announced. */
const struct feature_bit feature_bits[F_COUNT] = {
    [F_BMI1] = {"BMI1", 7, 0, 1, 3},
    [F_BMI2] = {"BMI2", 7, 0, 1, 8},
    [F_ADX] = {"ADX", 7, 0, 1, 19},
    [F_POPCNT] = {"POPCNT", 1, 0, 2, 23},
    [F_LZCNT] = {"LZCNT", 0x80000001, 0, 2, 5},
    [F_MOVBE] = {"MOVBE", 1, 0, 2, 22},
    [F_CX16] = {"CMPXCHG16B", 1, 0, 2, 13},
    [F_CRC32] = {"SSE4.2", 1, 0, 2, 20},
    [F_LAHF] = {"LAHF-SAHF", 0x80000001, 0, 2, 0},
    [F_CLFSH] = {"CLFLUSH", 1, 0, 3, 19},
    [F_CLFLUSHOPT] = {"CLFLUSHOPT", 7, 0, 1, 23},
    [F_MMX] = {"MMX", 1, 0, 3, 23},
    [F_SSE] = {"SSE", 1, 0, 3, 25},
    [F_SSE2] = {"SSE2", 1, 0, 3, 26},
    [F_PCLMUL] = {"PCLMULQDQ", 1, 0, 2, 1},
    [F_SSSE3] = {"SSSE3", 1, 0, 2, 9},
    [F_SSE41] = {"SSE4.1", 1, 0, 2, 19},
    [F_SSE42] = {"SSE4.2", 1, 0, 2, 20},
    [F_AVX] = {"AVX", 1, 0, 2, 28},
    [F_AVX2] = {"AVX2", 7, 0, 1, 5},
    [F_SSE3] = {"SSE3", 1, 0, 2, 0},
};

uint32_t features_of(cpuid_fn *cpuid)
{
    uint32_t have = 1 << F_ALWAYS;
    for (int f = F_ALWAYS + 1; f < F_COUNT; f++) {
        uint32_t out[4];
        cpuid(feature_bits[f].leaf, feature_bits[f].subleaf, out);
        if (out[feature_bits[f].word] >> feature_bits[f].bit & 1)
            have |= 1u << f;
    }
    return have;
}

/* The place of word among the words of list, -1: none. */
static int place(const char *word, size_t length, const char *const list[], int n)
{
    for (int i = 0; i < n; i++)
        if (strlen(list[i]) == length && !memcmp(list[i], word, length))
            return i;
    return -1;
}

/* A bitmap of the words in text; one that is not in the list is a mistake of the table. */
static unsigned bits_of(const struct row *row, const char *text, const char *const list[], int n)
{
    unsigned bits = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        int bit = place(text, length, list, n);
        if (bit < 0) {
            fprintf(stderr, "diff: the form \"%s\" has no \"%s\"\n", row->name, text);
            exit(2);
        }
        bits |= 1u << bit;
        text += length + strspn(text + length, " ");
    }
    return bits;
}

void form_encoding(struct form *f, const char *text)
{
    uint8_t bytes[4];
    unsigned n = 0;
    for (; *text && *text != '/'; text += 2 + strspn(text + 2, " "))
        bytes[n++] = strtoul(text, NULL, 16);
    if (*text)
        f->ext = text[1] == 'r' ? -1 : text[1] - '0';
    f->opcode = bytes[n - 1];
    unsigned first = 0;
    if (n > 1 && bytes[0] != 0x0f)
        f->prefix = bytes[first++];
    if (first < n - 1)
        f->map = first == n - 2 ? 1 : bytes[first + 1] == 0x38 ? 2 : 3;
}

static void read_flags(struct form *f, const char *text, const uint16_t *order)
{
    for (unsigned i = 0; text[i]; i++) {
        if (text[i] == 'T' || text[i] == 'B')
            f->reads |= order[i];
        if (text[i] == 'M' || text[i] == 'B')
            f->writes |= order[i];
        if (text[i] == 'U')
            f->undef |= order[i];
    }
}

static const uint16_t status_flags[] = {FL_OF, FL_SF, FL_ZF, FL_AF, FL_PF, FL_CF};
static const uint16_t condition_codes[] = {FL_C3, FL_C2, FL_C1, FL_C0};

static struct form form_of(const struct row *row)
{
    static const char *const operands[] = {"rm", "reg", "vvvv"}; /* D_RM, D_REG, D_VVVV */
    static const char *const registers[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
    struct form f = {.family = row->family,
                     .kind = row->kind,
                     .sizes = row->sizes,
                     .imm = row->immediate,
                     .dst = bits_of(row, row->writes ? row->writes : "", operands, 3),
                     .implicit = bits_of(row, row->registers ? row->registers : "", registers, 8),
                     .attr = row->attributes,
                     .rm_size = row->rm_size,
                     .feature = row->feature};
    snprintf(f.name, sizeof(f.name), "%s", row->name);
    form_encoding(&f, row->encoding);
    read_flags(&f, row->flags ? row->flags : "", status_flags);
    read_flags(&f, row->codes ? row->codes : "", condition_codes);
    return f;
}

// clang-format off
static const struct {
    const char *name, *flags;
} conditions[16] = {
    {"o",  "T....."}, {"no", "T....."}, {"b", ".....T"}, {"ae", ".....T"},
    {"e",  "..T..."}, {"ne", "..T..."}, {"be", "..T..T"}, {"a", "..T..T"},
    {"s",  ".T...."}, {"ns", ".T...."}, {"p", "....T."}, {"np", "....T."},
    {"l",  "TT...."}, {"ge", "TT...."}, {"le", "TTT..."}, {"g", "TTT..."},
};
// clang-format on

void forms_init(void)
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct form f = form_of(&rows[i]);
        if (!(f.attr & A_CC)) {
            forms[n_forms++] = f;
            continue;
        }
        for (int cc = 0; cc < 16; cc++) {
            struct form *one = &forms[n_forms++];
            *one = f;
            snprintf(one->name, sizeof(one->name), "%.8s%s", f.name, conditions[cc].name);
            one->opcode += cc;
            read_flags(one, conditions[cc].flags, status_flags);
        }
    }
    vector_forms_init();
}

int form_find(const char *name)
{
    for (unsigned i = 0; i < n_forms; i++)
        if (!strcmp(forms[i].name, name))
            return i;
    return -1;
}
