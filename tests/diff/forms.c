/* The instruction forms under test, from SDM vol. 2: opcode, operands, and what each does to the
 * status flags. A flag the manual calls undefined is never compared and never read. */
#include <stdio.h>
#include <string.h>

#include "tests/diff/diff.h"

#define C_    FL_CF
#define P_    FL_PF
#define A_    FL_AF
#define Z_    FL_ZF
#define S_    FL_SF
#define O_    FL_OF
#define ALL   FL_STATUS
#define NOT_C (FL_STATUS & ~FL_CF)

#define REG_AX (1 << 0)
#define REG_CX (1 << 1)
#define REG_DX (1 << 2)
#define REG_BX (1 << 3)
#define REG_SP (1 << 4)
#define REG_BP (1 << 5)
#define REG_SI (1 << 6)
#define REG_DI (1 << 7)

/* The eight operations of opcodes 00H-3FH: five forms each. */
#define ARITH(mnemonic, n, dst_bits, lock, rd, un)                                                 \
    {.name = mnemonic " rm,r", .family = FAM_ARITH, .opcode = 8 * n, .ext = -1, .kind = K_RM_R,    \
     .sizes = SALL, .dst = (dst_bits)&D_RM, .reads = rd, .writes = ALL & ~(un), .undef = un,       \
     .attr = A_BW | (lock)},                                                                       \
        {.name = mnemonic " r,rm", .family = FAM_ARITH, .opcode = 8 * n + 2, .ext = -1,            \
         .kind = K_RM_R, .sizes = SALL, .dst = (dst_bits)&D_REG, .reads = rd,                      \
         .writes = ALL & ~(un), .undef = un, .attr = A_BW},                                        \
        {.name = mnemonic " acc,imm", .family = FAM_ARITH, .opcode = 8 * n + 4, .kind = K_ACC,     \
         .sizes = SALL, .imm = IMM_Z, .implicit = REG_AX, .reads = rd, .writes = ALL & ~(un),      \
         .undef = un, .attr = A_BW},                                                               \
        {.name = mnemonic " rm,imm", .family = FAM_ARITH, .opcode = 0x80, .ext = n, .kind = K_RM,  \
         .sizes = SALL, .imm = IMM_Z, .dst = (dst_bits)&D_RM, .reads = rd,                         \
         .writes = ALL & ~(un), .undef = un, .attr = A_BW | (lock)},                               \
    {                                                                                              \
        .name = mnemonic " rm,imm8", .family = FAM_ARITH, .opcode = 0x83, .ext = n, .kind = K_RM,  \
        .sizes = SW, .imm = IMM_B, .dst = (dst_bits)&D_RM, .reads = rd, .writes = ALL & ~(un),     \
        .undef = un, .attr = (lock)                                                                \
    }

/* Shifts and rotates: by an immediate, by 1, by CL. The flags depend on the count, generate.c. */
#define SHIFT(mnemonic, n, rd)                                                                     \
    {.name = mnemonic " rm,imm8", .family = FAM_SHIFT, .opcode = 0xc0, .ext = n, .kind = K_RM,     \
     .sizes = SALL, .imm = IMM_COUNT, .dst = D_RM, .reads = rd, .attr = A_BW | A_SHIFT},           \
        {.name = mnemonic " rm,1", .family = FAM_SHIFT, .opcode = 0xd0, .ext = n, .kind = K_RM,    \
         .sizes = SALL, .dst = D_RM, .reads = rd, .attr = A_BW | A_SHIFT | A_ONE},                 \
    {                                                                                              \
        .name = mnemonic " rm,cl", .family = FAM_SHIFT, .opcode = 0xd2, .ext = n, .kind = K_RM,    \
        .sizes = SALL, .dst = D_RM, .reads = rd, .attr = A_BW | A_SHIFT | A_CL                     \
    }
#define SHIFT_DOUBLE(mnemonic, op)                                                                 \
    {.name = mnemonic " rm,r,imm8", .family = FAM_SHIFT, .map = 1, .opcode = op, .ext = -1,        \
     .kind = K_RM_R, .sizes = SW, .imm = IMM_COUNT, .dst = D_RM, .attr = A_SHIFT | A_DOUBLE},      \
    {                                                                                              \
        .name = mnemonic " rm,r,cl", .family = FAM_SHIFT, .map = 1, .opcode = op + 1, .ext = -1,   \
        .kind = K_RM_R, .sizes = SW, .dst = D_RM, .attr = A_SHIFT | A_DOUBLE | A_CL                \
    }

#define BIT_TEST(mnemonic, op, n, dst_bits, lock)                                                  \
    {.name = mnemonic " rm,r", .family = FAM_BIT, .map = 1, .opcode = op, .ext = -1,               \
     .kind = K_RM_R, .sizes = SW, .dst = dst_bits, .writes = C_, .undef = O_ | S_ | A_ | P_,       \
     .attr = A_BITREG | (lock)},                                                                   \
    {                                                                                              \
        .name = mnemonic " rm,imm8", .family = FAM_BIT, .map = 1, .opcode = 0xba, .ext = n,        \
        .kind = K_RM, .sizes = SW, .imm = IMM_B, .dst = dst_bits, .writes = C_,                    \
        .undef = O_ | S_ | A_ | P_, .attr = (lock)                                                 \
    }

#define STRING(mnemonic, op, rep, regs, fl)                                                        \
    {                                                                                              \
        .name = mnemonic, .family = FAM_STRING, .opcode = op, .kind = K_STRING, .sizes = SALL,     \
        .prefix = rep, .implicit = (regs) | ((rep) ? REG_CX : 0), .writes = fl, .attr = A_BW       \
    }

struct form forms[400] = {
    ARITH("add", 0, D_RM | D_REG, A_LOCK, 0, 0),
    ARITH("or", 1, D_RM | D_REG, A_LOCK, 0, A_),
    ARITH("adc", 2, D_RM | D_REG, A_LOCK, C_, 0),
    ARITH("sbb", 3, D_RM | D_REG, A_LOCK, C_, 0),
    ARITH("and", 4, D_RM | D_REG, A_LOCK, 0, A_),
    ARITH("sub", 5, D_RM | D_REG, A_LOCK, 0, 0),
    ARITH("xor", 6, D_RM | D_REG, A_LOCK, 0, A_),
    ARITH("cmp", 7, 0, 0, 0, 0),
    {.name = "test rm,r", .family = FAM_ARITH, .opcode = 0x84, .ext = -1, .kind = K_RM_R,
     .sizes = SALL, .writes = ALL & ~A_, .undef = A_, .attr = A_BW},
    {.name = "test acc,imm", .family = FAM_ARITH, .opcode = 0xa8, .kind = K_ACC, .sizes = SALL,
     .imm = IMM_Z, .implicit = REG_AX, .writes = ALL & ~A_, .undef = A_, .attr = A_BW},
    {.name = "test rm,imm", .family = FAM_ARITH, .opcode = 0xf6, .ext = 0, .kind = K_RM,
     .sizes = SALL, .imm = IMM_Z, .writes = ALL & ~A_, .undef = A_, .attr = A_BW},
    {.name = "inc rm", .family = FAM_ARITH, .opcode = 0xfe, .ext = 0, .kind = K_RM, .sizes = SALL,
     .dst = D_RM, .writes = NOT_C, .attr = A_BW | A_LOCK},
    {.name = "dec rm", .family = FAM_ARITH, .opcode = 0xfe, .ext = 1, .kind = K_RM, .sizes = SALL,
     .dst = D_RM, .writes = NOT_C, .attr = A_BW | A_LOCK},
    {.name = "not rm", .family = FAM_ARITH, .opcode = 0xf6, .ext = 2, .kind = K_RM, .sizes = SALL,
     .dst = D_RM, .attr = A_BW | A_LOCK},
    {.name = "neg rm", .family = FAM_ARITH, .opcode = 0xf6, .ext = 3, .kind = K_RM, .sizes = SALL,
     .dst = D_RM, .writes = ALL, .attr = A_BW | A_LOCK},

    {.name = "mov rm,r", .family = FAM_MOVE, .opcode = 0x88, .ext = -1, .kind = K_RM_R,
     .sizes = SALL, .dst = D_RM, .attr = A_BW},
    {.name = "mov r,rm", .family = FAM_MOVE, .opcode = 0x8a, .ext = -1, .kind = K_RM_R,
     .sizes = SALL, .dst = D_REG, .attr = A_BW},
    {.name = "mov rm,imm", .family = FAM_MOVE, .opcode = 0xc6, .ext = 0, .kind = K_RM,
     .sizes = SALL, .imm = IMM_Z, .dst = D_RM, .attr = A_BW},
    {.name = "mov r,imm", .family = FAM_MOVE, .opcode = 0xb8, .kind = K_O, .sizes = SW,
     .imm = IMM_V, .dst = D_REG},
    {.name = "mov r8,imm8", .family = FAM_MOVE, .opcode = 0xb0, .kind = K_O, .sizes = S8,
     .imm = IMM_V, .dst = D_REG},
    {.name = "mov acc,moffs", .family = FAM_MOVE, .opcode = 0xa0, .kind = K_MOFFS, .sizes = SALL,
     .implicit = REG_AX, .attr = A_BW},
    {.name = "mov moffs,acc", .family = FAM_MOVE, .opcode = 0xa2, .kind = K_MOFFS, .sizes = SALL,
     .implicit = REG_AX, .attr = A_BW},
    {.name = "movzx r,rm8", .family = FAM_MOVE, .map = 1, .opcode = 0xb6, .ext = -1,
     .kind = K_RM_R, .sizes = SW, .dst = D_REG, .rm_size = 1},
    {.name = "movzx r,rm16", .family = FAM_MOVE, .map = 1, .opcode = 0xb7, .ext = -1,
     .kind = K_RM_R, .sizes = SW, .dst = D_REG, .rm_size = 2},
    {.name = "movsx r,rm8", .family = FAM_MOVE, .map = 1, .opcode = 0xbe, .ext = -1,
     .kind = K_RM_R, .sizes = SW, .dst = D_REG, .rm_size = 1},
    {.name = "movsx r,rm16", .family = FAM_MOVE, .map = 1, .opcode = 0xbf, .ext = -1,
     .kind = K_RM_R, .sizes = SW, .dst = D_REG, .rm_size = 2},
    {.name = "movsxd r,rm32", .family = FAM_MOVE, .opcode = 0x63, .ext = -1, .kind = K_RM_R,
     .sizes = S32 | S64, .dst = D_REG, .rm_size = 4},
    {.name = "lea", .family = FAM_MOVE, .opcode = 0x8d, .ext = -1, .kind = K_RM_R, .sizes = SW,
     .dst = D_REG, .attr = A_MEM | A_NOACCESS},
    {.name = "xchg rm,r", .family = FAM_MOVE, .opcode = 0x86, .ext = -1, .kind = K_RM_R,
     .sizes = SALL, .dst = D_RM | D_REG, .attr = A_BW | A_LOCK | A_ATOMIC},
    {.name = "xchg r,acc", .family = FAM_MOVE, .opcode = 0x90, .kind = K_O, .sizes = SW,
     .dst = D_REG, .implicit = REG_AX},
    {.name = "bswap", .family = FAM_MOVE, .map = 1, .opcode = 0xc8, .kind = K_O,
     .sizes = S32 | S64, .dst = D_REG},
    {.name = "movbe r,m", .family = FAM_MOVE, .map = 2, .opcode = 0xf0, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .dst = D_REG, .attr = A_MEM, .feature = F_MOVBE},
    {.name = "movbe m,r", .family = FAM_MOVE, .map = 2, .opcode = 0xf1, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .dst = D_RM, .attr = A_MEM, .feature = F_MOVBE},
    {.name = "cbw", .family = FAM_MOVE, .opcode = 0x98, .kind = K_NONE, .sizes = SW,
     .implicit = REG_AX},
    {.name = "cwd", .family = FAM_MOVE, .opcode = 0x99, .kind = K_NONE, .sizes = SW,
     .implicit = REG_AX | REG_DX},
    {.name = "xlat", .family = FAM_MOVE, .opcode = 0xd7, .kind = K_NONE, .sizes = S8,
     .implicit = REG_AX | REG_BX, .attr = A_XLAT},
    {.name = "cmov", .family = FAM_MOVE, .map = 1, .opcode = 0x40, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .dst = D_REG, .attr = A_CC},
    {.name = "set", .family = FAM_MOVE, .map = 1, .opcode = 0x90, .ext = 0, .kind = K_RM,
     .sizes = S8, .dst = D_RM, .attr = A_CC},

    SHIFT("rol", 0, 0),
    SHIFT("ror", 1, 0),
    SHIFT("rcl", 2, C_),
    SHIFT("rcr", 3, C_),
    SHIFT("shl", 4, 0),
    SHIFT("shr", 5, 0),
    SHIFT("sar", 7, 0),
    SHIFT_DOUBLE("shld", 0xa4),
    SHIFT_DOUBLE("shrd", 0xac),

    BIT_TEST("bt", 0xa3, 4, 0, 0),
    BIT_TEST("bts", 0xab, 5, D_RM, A_LOCK),
    BIT_TEST("btr", 0xb3, 6, D_RM, A_LOCK),
    BIT_TEST("btc", 0xbb, 7, D_RM, A_LOCK),
    {.name = "bsf", .family = FAM_BIT, .map = 1, .opcode = 0xbc, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .dst = D_REG, .writes = Z_, .undef = ALL & ~Z_, .attr = A_SCAN},
    {.name = "bsr", .family = FAM_BIT, .map = 1, .opcode = 0xbd, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .dst = D_REG, .writes = Z_, .undef = ALL & ~Z_, .attr = A_SCAN},
    {.name = "popcnt", .family = FAM_BIT, .map = 1, .opcode = 0xb8, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .prefix = 0xf3, .dst = D_REG, .writes = ALL, .feature = F_POPCNT},
    {.name = "lzcnt", .family = FAM_BIT, .map = 1, .opcode = 0xbd, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .prefix = 0xf3, .dst = D_REG, .writes = C_ | Z_, .undef = O_ | S_ | P_ | A_,
     .feature = F_LZCNT},
    {.name = "tzcnt", .family = FAM_BIT, .map = 1, .opcode = 0xbc, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .prefix = 0xf3, .dst = D_REG, .writes = C_ | Z_, .undef = O_ | S_ | P_ | A_,
     .feature = F_BMI1},

    {.name = "mul rm", .family = FAM_MULDIV, .opcode = 0xf6, .ext = 4, .kind = K_RM,
     .sizes = SALL, .implicit = REG_AX | REG_DX, .writes = C_ | O_, .undef = S_ | Z_ | A_ | P_,
     .attr = A_BW},
    {.name = "imul rm", .family = FAM_MULDIV, .opcode = 0xf6, .ext = 5, .kind = K_RM,
     .sizes = SALL, .implicit = REG_AX | REG_DX, .writes = C_ | O_, .undef = S_ | Z_ | A_ | P_,
     .attr = A_BW},
    {.name = "div rm", .family = FAM_MULDIV, .opcode = 0xf6, .ext = 6, .kind = K_RM,
     .sizes = SALL, .implicit = REG_AX | REG_DX, .undef = ALL, .attr = A_BW | A_DIV},
    {.name = "idiv rm", .family = FAM_MULDIV, .opcode = 0xf6, .ext = 7, .kind = K_RM,
     .sizes = SALL, .implicit = REG_AX | REG_DX, .undef = ALL, .attr = A_BW | A_DIV},
    {.name = "imul r,rm", .family = FAM_MULDIV, .map = 1, .opcode = 0xaf, .ext = -1,
     .kind = K_RM_R, .sizes = SW, .dst = D_REG, .writes = C_ | O_, .undef = S_ | Z_ | A_ | P_},
    {.name = "imul r,rm,imm", .family = FAM_MULDIV, .opcode = 0x69, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .imm = IMM_Z, .dst = D_REG, .writes = C_ | O_, .undef = S_ | Z_ | A_ | P_},
    {.name = "imul r,rm,imm8", .family = FAM_MULDIV, .opcode = 0x6b, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .imm = IMM_B, .dst = D_REG, .writes = C_ | O_, .undef = S_ | Z_ | A_ | P_},

    {.name = "push r", .family = FAM_STACK, .opcode = 0x50, .kind = K_O, .sizes = S16 | S64,
     .attr = A_D64 | A_STACK},
    {.name = "pop r", .family = FAM_STACK, .opcode = 0x58, .kind = K_O, .sizes = S16 | S64,
     .dst = D_REG, .attr = A_D64 | A_STACK},
    {.name = "push rm", .family = FAM_STACK, .opcode = 0xff, .ext = 6, .kind = K_RM,
     .sizes = S16 | S64, .attr = A_D64 | A_STACK},
    {.name = "pop rm", .family = FAM_STACK, .opcode = 0x8f, .ext = 0, .kind = K_RM,
     .sizes = S16 | S64, .dst = D_RM, .attr = A_D64 | A_STACK},
    {.name = "push imm", .family = FAM_STACK, .opcode = 0x68, .kind = K_NONE, .sizes = S16 | S64,
     .imm = IMM_Z, .attr = A_D64 | A_STACK},
    {.name = "push imm8", .family = FAM_STACK, .opcode = 0x6a, .kind = K_NONE,
     .sizes = S16 | S64, .imm = IMM_B, .attr = A_D64 | A_STACK},
    {.name = "pushf", .family = FAM_STACK, .opcode = 0x9c, .kind = K_NONE, .sizes = S16 | S64,
     .reads = ALL, .attr = A_D64 | A_STACK},
    {.name = "popf", .family = FAM_STACK, .opcode = 0x9d, .kind = K_POPF, .sizes = S16 | S64,
     .writes = ALL, .attr = A_D64 | A_STACK},
    {.name = "enter", .family = FAM_STACK, .opcode = 0xc8, .kind = K_ENTER, .sizes = S64,
     .implicit = REG_BP, .attr = A_D64 | A_STACK},
    {.name = "leave", .family = FAM_STACK, .opcode = 0xc9, .kind = K_LEAVE, .sizes = S64,
     .implicit = REG_BP, .attr = A_D64},

    {.name = "jmp rel8", .family = FAM_BRANCH, .opcode = 0xeb, .kind = K_JUMP, .sizes = S64,
     .imm = IMM_B, .attr = A_D64},
    {.name = "jmp rel32", .family = FAM_BRANCH, .opcode = 0xe9, .kind = K_JUMP, .sizes = S64,
     .imm = IMM_Z, .attr = A_D64},
    {.name = "j", .family = FAM_BRANCH, .opcode = 0x70, .kind = K_JUMP, .sizes = S64,
     .imm = IMM_B, .attr = A_D64 | A_CC},
    {.name = "jnear", .family = FAM_BRANCH, .map = 1, .opcode = 0x80, .kind = K_JUMP,
     .sizes = S64, .imm = IMM_Z, .attr = A_D64 | A_CC},
    {.name = "loopne", .family = FAM_BRANCH, .opcode = 0xe0, .kind = K_LOOP, .sizes = S64,
     .implicit = REG_CX, .reads = Z_, .attr = A_D64},
    {.name = "loope", .family = FAM_BRANCH, .opcode = 0xe1, .kind = K_LOOP, .sizes = S64,
     .implicit = REG_CX, .reads = Z_, .attr = A_D64},
    {.name = "loop", .family = FAM_BRANCH, .opcode = 0xe2, .kind = K_LOOP, .sizes = S64,
     .implicit = REG_CX, .attr = A_D64},
    {.name = "jrcxz", .family = FAM_BRANCH, .opcode = 0xe3, .kind = K_LOOP, .sizes = S64,
     .implicit = REG_CX, .attr = A_D64},
    {.name = "call rel32", .family = FAM_BRANCH, .opcode = 0xe8, .kind = K_CALL, .sizes = S64,
     .attr = A_D64 | A_STACK},
    {.name = "call rm", .family = FAM_BRANCH, .opcode = 0xff, .ext = 2, .kind = K_CALL,
     .sizes = S64, .attr = A_D64 | A_STACK},
    {.name = "jmp rm", .family = FAM_BRANCH, .opcode = 0xff, .ext = 4, .kind = K_JUMP_IND,
     .sizes = S64, .attr = A_D64},
    {.name = "ret", .family = FAM_BRANCH, .opcode = 0xc3, .kind = K_RET, .sizes = S64,
     .attr = A_D64},
    {.name = "ret imm16", .family = FAM_BRANCH, .opcode = 0xc2, .kind = K_RET, .sizes = S64,
     .attr = A_D64},

    STRING("movs", 0xa4, 0, REG_SI | REG_DI, 0),
    STRING("rep movs", 0xa4, 0xf3, REG_SI | REG_DI, 0),
    STRING("cmps", 0xa6, 0, REG_SI | REG_DI, ALL),
    STRING("repe cmps", 0xa6, 0xf3, REG_SI | REG_DI, ALL),
    STRING("repne cmps", 0xa6, 0xf2, REG_SI | REG_DI, ALL),
    STRING("stos", 0xaa, 0, REG_AX | REG_DI, 0),
    STRING("rep stos", 0xaa, 0xf3, REG_AX | REG_DI, 0),
    STRING("lods", 0xac, 0, REG_AX | REG_SI, 0),
    STRING("rep lods", 0xac, 0xf3, REG_AX | REG_SI, 0),
    STRING("scas", 0xae, 0, REG_AX | REG_DI, ALL),
    STRING("repe scas", 0xae, 0xf3, REG_AX | REG_DI, ALL),
    STRING("repne scas", 0xae, 0xf2, REG_AX | REG_DI, ALL),

    {.name = "xadd", .family = FAM_ATOMIC, .map = 1, .opcode = 0xc0, .ext = -1, .kind = K_RM_R,
     .sizes = SALL, .dst = D_RM | D_REG, .writes = ALL, .attr = A_BW | A_LOCK},
    {.name = "cmpxchg", .family = FAM_ATOMIC, .map = 1, .opcode = 0xb0, .ext = -1,
     .kind = K_RM_R, .sizes = SALL, .dst = D_RM, .implicit = REG_AX, .writes = ALL,
     .attr = A_BW | A_LOCK | A_CMPXCHG},
    {.name = "cmpxchg8b", .family = FAM_ATOMIC, .map = 1, .opcode = 0xc7, .ext = 1, .kind = K_RM,
     .sizes = S32, .dst = D_RM, .implicit = REG_AX | REG_BX | REG_CX | REG_DX, .writes = Z_,
     .attr = A_MEM | A_LOCK | A_CMPXCHG | A_TWICE},
    {.name = "cmpxchg16b", .family = FAM_ATOMIC, .map = 1, .opcode = 0xc7, .ext = 1,
     .kind = K_RM, .sizes = S64, .dst = D_RM, .implicit = REG_AX | REG_BX | REG_CX | REG_DX,
     .writes = Z_, .attr = A_MEM | A_LOCK | A_CMPXCHG | A_TWICE, .feature = F_CX16},

    {.name = "clc", .family = FAM_FLAG, .opcode = 0xf8, .kind = K_NONE, .sizes = S32,
     .writes = C_},
    {.name = "stc", .family = FAM_FLAG, .opcode = 0xf9, .kind = K_NONE, .sizes = S32,
     .writes = C_},
    {.name = "cmc", .family = FAM_FLAG, .opcode = 0xf5, .kind = K_NONE, .sizes = S32, .reads = C_,
     .writes = C_},
    {.name = "cld", .family = FAM_FLAG, .opcode = 0xfc, .kind = K_NONE, .sizes = S32},
    {.name = "std", .family = FAM_FLAG, .opcode = 0xfd, .kind = K_NONE, .sizes = S32},
    {.name = "lahf", .family = FAM_FLAG, .opcode = 0x9f, .kind = K_NONE, .sizes = S32,
     .implicit = REG_AX, .reads = ALL & ~O_, .feature = F_LAHF},
    {.name = "sahf", .family = FAM_FLAG, .opcode = 0x9e, .kind = K_NONE, .sizes = S32,
     .implicit = REG_AX, .writes = ALL & ~O_, .feature = F_LAHF},

    {.name = "andn", .family = FAM_BMI, .map = 2, .opcode = 0xf2, .ext = -1, .kind = K_VEX_RVM,
     .sizes = S32 | S64, .dst = D_REG, .writes = S_ | Z_ | O_ | C_, .undef = A_ | P_,
     .feature = F_BMI1},
    {.name = "bextr", .family = FAM_BMI, .map = 2, .opcode = 0xf7, .ext = -1, .kind = K_VEX_RMV,
     .sizes = S32 | S64, .dst = D_REG, .writes = Z_ | O_ | C_, .undef = A_ | P_ | S_,
     .feature = F_BMI1},
    {.name = "blsr", .family = FAM_BMI, .map = 2, .opcode = 0xf3, .ext = 1, .kind = K_VEX_VM,
     .sizes = S32 | S64, .dst = D_VVVV, .writes = S_ | Z_ | O_ | C_, .undef = A_ | P_,
     .feature = F_BMI1},
    {.name = "blsmsk", .family = FAM_BMI, .map = 2, .opcode = 0xf3, .ext = 2, .kind = K_VEX_VM,
     .sizes = S32 | S64, .dst = D_VVVV, .writes = S_ | Z_ | O_ | C_, .undef = A_ | P_,
     .feature = F_BMI1},
    {.name = "blsi", .family = FAM_BMI, .map = 2, .opcode = 0xf3, .ext = 3, .kind = K_VEX_VM,
     .sizes = S32 | S64, .dst = D_VVVV, .writes = S_ | Z_ | O_ | C_, .undef = A_ | P_,
     .feature = F_BMI1},
    {.name = "bzhi", .family = FAM_BMI, .map = 2, .opcode = 0xf5, .ext = -1, .kind = K_VEX_RMV,
     .sizes = S32 | S64, .dst = D_REG, .writes = S_ | Z_ | O_ | C_, .undef = A_ | P_,
     .feature = F_BMI2},
    {.name = "mulx", .family = FAM_BMI, .map = 2, .opcode = 0xf6, .ext = -1, .kind = K_VEX_RVM,
     .sizes = S32 | S64, .prefix = 0xf2, .dst = D_REG | D_VVVV, .implicit = REG_DX,
     .feature = F_BMI2},
    {.name = "pdep", .family = FAM_BMI, .map = 2, .opcode = 0xf5, .ext = -1, .kind = K_VEX_RVM,
     .sizes = S32 | S64, .prefix = 0xf2, .dst = D_REG, .feature = F_BMI2},
    {.name = "pext", .family = FAM_BMI, .map = 2, .opcode = 0xf5, .ext = -1, .kind = K_VEX_RVM,
     .sizes = S32 | S64, .prefix = 0xf3, .dst = D_REG, .feature = F_BMI2},
    {.name = "rorx", .family = FAM_BMI, .map = 3, .opcode = 0xf0, .ext = -1, .kind = K_VEX_RMI,
     .sizes = S32 | S64, .imm = IMM_B, .prefix = 0xf2, .dst = D_REG, .feature = F_BMI2},
    {.name = "sarx", .family = FAM_BMI, .map = 2, .opcode = 0xf7, .ext = -1, .kind = K_VEX_RMV,
     .sizes = S32 | S64, .prefix = 0xf3, .dst = D_REG, .feature = F_BMI2},
    {.name = "shlx", .family = FAM_BMI, .map = 2, .opcode = 0xf7, .ext = -1, .kind = K_VEX_RMV,
     .sizes = S32 | S64, .prefix = 0x66, .dst = D_REG, .feature = F_BMI2},
    {.name = "shrx", .family = FAM_BMI, .map = 2, .opcode = 0xf7, .ext = -1, .kind = K_VEX_RMV,
     .sizes = S32 | S64, .prefix = 0xf2, .dst = D_REG, .feature = F_BMI2},
    {.name = "adcx", .family = FAM_BMI, .map = 2, .opcode = 0xf6, .ext = -1, .kind = K_RM_R,
     .sizes = S32 | S64, .prefix = 0x66, .dst = D_REG, .reads = C_, .writes = C_,
     .feature = F_ADX},
    {.name = "adox", .family = FAM_BMI, .map = 2, .opcode = 0xf6, .ext = -1, .kind = K_RM_R,
     .sizes = S32 | S64, .prefix = 0xf3, .dst = D_REG, .reads = O_, .writes = O_,
     .feature = F_ADX},

    {.name = "nop", .family = FAM_MISC, .opcode = 0x90, .kind = K_NONE, .sizes = S16 | S32},
    {.name = "pause", .family = FAM_MISC, .opcode = 0x90, .kind = K_NONE, .sizes = S32,
     .prefix = 0xf3},
    {.name = "nop rm", .family = FAM_MISC, .map = 1, .opcode = 0x1f, .ext = 0, .kind = K_RM,
     .sizes = SW, .attr = A_NOACCESS},
    {.name = "prefetcht0", .family = FAM_MISC, .map = 1, .opcode = 0x18, .ext = 1, .kind = K_RM,
     .sizes = S32, .attr = A_MEM | A_NOACCESS, .feature = F_SSE2},
    {.name = "lfence", .family = FAM_MISC, .map = 1, .opcode = 0xae, .ext = 5, .kind = K_RM,
     .sizes = S32, .attr = A_REG, .feature = F_SSE2},
    {.name = "mfence", .family = FAM_MISC, .map = 1, .opcode = 0xae, .ext = 6, .kind = K_RM,
     .sizes = S32, .attr = A_REG, .feature = F_SSE2},
    {.name = "sfence", .family = FAM_MISC, .map = 1, .opcode = 0xae, .ext = 7, .kind = K_RM,
     .sizes = S32, .attr = A_REG, .feature = F_SSE2},
    {.name = "movnti", .family = FAM_MISC, .map = 1, .opcode = 0xc3, .ext = -1, .kind = K_RM_R,
     .sizes = S32 | S64, .dst = D_RM, .attr = A_MEM, .feature = F_SSE2},
    {.name = "crc32 r,rm8", .family = FAM_MISC, .map = 2, .opcode = 0xf0, .ext = -1,
     .kind = K_RM_R, .sizes = S32 | S64, .prefix = 0xf2, .dst = D_REG, .rm_size = 1,
     .feature = F_CRC32},
    {.name = "crc32 r,rm", .family = FAM_MISC, .map = 2, .opcode = 0xf1, .ext = -1,
     .kind = K_RM_R, .sizes = SW, .prefix = 0xf2, .dst = D_REG, .feature = F_CRC32},

    {.name = "ud2", .family = FAM_FAULT, .map = 1, .opcode = 0x0b, .kind = K_NONE, .sizes = S32,
     .attr = A_FAULTS},
    {.name = "ud1", .family = FAM_FAULT, .map = 1, .opcode = 0xb9, .ext = -1, .kind = K_RM_R,
     .sizes = S32, .attr = A_FAULTS | A_REG},
    {.name = "int3", .family = FAM_FAULT, .opcode = 0xcc, .kind = K_NONE, .sizes = S32,
     .attr = A_FAULTS},
    /* Valid opcodes elsewhere, #UD in 64-bit mode (SDM vol. 2, "64-Bit Mode" of each). */
    {.name = "push es", .family = FAM_FAULT, .opcode = 0x06, .kind = K_NONE, .sizes = S32,
     .attr = A_FAULTS},
    {.name = "daa", .family = FAM_FAULT, .opcode = 0x27, .kind = K_NONE, .sizes = S32,
     .attr = A_FAULTS},
    {.name = "pusha", .family = FAM_FAULT, .opcode = 0x60, .kind = K_NONE, .sizes = S32,
     .attr = A_FAULTS},
    {.name = "aam", .family = FAM_FAULT, .opcode = 0xd4, .kind = K_ACC, .sizes = S8, .imm = IMM_Z,
     .attr = A_FAULTS},
    {.name = "into", .family = FAM_FAULT, .opcode = 0xce, .kind = K_NONE, .sizes = S32,
     .attr = A_FAULTS},
    {.name = "group 4 /7", .family = FAM_FAULT, .opcode = 0xfe, .ext = 7, .kind = K_RM,
     .sizes = S8, .attr = A_FAULTS},
    {.name = "group 5 /7", .family = FAM_FAULT, .opcode = 0xff, .ext = 7, .kind = K_RM,
     .sizes = SW, .attr = A_FAULTS},
    {.name = "lea r,r", .family = FAM_FAULT, .opcode = 0x8d, .ext = -1, .kind = K_RM_R,
     .sizes = SW, .attr = A_FAULTS | A_REG},
    {.name = "cmpxchg8b r", .family = FAM_FAULT, .map = 1, .opcode = 0xc7, .ext = 1, .kind = K_RM,
     .sizes = S32, .attr = A_FAULTS | A_REG},
};
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
    [FAM_FAULT] = "invalid and trapping opcodes",
};

/* SDM vol. 2 CPUID: where each feature is announced. */
static const struct {
    const char *name;
    uint32_t leaf, subleaf;
    unsigned word, bit; /* word: 0 EAX to 3 EDX */
} feature_bits[F_COUNT] = {
    [F_BMI1] = {"BMI1", 7, 0, 1, 3},
    [F_BMI2] = {"BMI2", 7, 0, 1, 8},
    [F_ADX] = {"ADX", 7, 0, 1, 19},
    [F_POPCNT] = {"POPCNT", 1, 0, 2, 23},
    [F_LZCNT] = {"LZCNT", 0x80000001, 0, 2, 5},
    [F_MOVBE] = {"MOVBE", 1, 0, 2, 22},
    [F_CX16] = {"CMPXCHG16B", 1, 0, 2, 13},
    [F_CRC32] = {"SSE4.2", 1, 0, 2, 20},
    [F_LAHF] = {"LAHF-SAHF", 0x80000001, 0, 2, 0},
    [F_SSE2] = {"SSE2", 1, 0, 3, 26},
};

const char *feature_name(enum feature f)
{
    return feature_bits[f].name;
}

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

static const struct {
    const char *name;
    uint16_t reads;
} conditions[16] = {
    {"o", O_},       {"no", O_},      {"b", C_}, {"ae", C_}, {"e", Z_},      {"ne", Z_},
    {"be", C_ | Z_}, {"a", C_ | Z_},  {"s", S_}, {"ns", S_}, {"p", P_},      {"np", P_},
    {"l", S_ | O_},  {"ge", S_ | O_}, {"le", S_ | O_ | Z_},  {"g", S_ | O_ | Z_},
};

void forms_init(void)
{
    static struct form written[sizeof(forms) / sizeof(forms[0])];
    memcpy(written, forms, sizeof(forms));
    n_forms = 0;
    for (const struct form *f = written; f->name[0]; f++) {
        if (!(f->attr & A_CC)) {
            forms[n_forms++] = *f;
            continue;
        }
        for (int cc = 0; cc < 16; cc++) {
            struct form *one = &forms[n_forms++];
            *one = *f;
            snprintf(one->name, sizeof(one->name), "%.8s%s", f->name, conditions[cc].name);
            one->opcode += cc;
            one->reads = conditions[cc].reads;
        }
    }
}

int form_find(const char *name)
{
    for (unsigned i = 0; i < n_forms; i++)
        if (!strcmp(forms[i].name, name))
            return i;
    return -1;
}
