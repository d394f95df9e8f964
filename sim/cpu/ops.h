/* What every ops_*.c needs: register access by offset, effective addresses, the tail call. */
#ifndef PMUSIM_CPU_OPS_H
#define PMUSIM_CPU_OPS_H

#include "sim/cpu/flags.h"
#include "sim/cpu/memory.h"

typedef uint16_t __attribute__((may_alias)) alias16;
typedef uint32_t __attribute__((may_alias)) alias32;
typedef uint64_t __attribute__((may_alias)) alias64;

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define NEXT return op[1].fn(cpu, op + 1)

/* Offset of a 64-bit register in cpu->r. */
#define OFF(reg) ((uint8_t)((reg)*8))
#define OFF_NONE OFF(16) /* cpu->zero */

static inline u8 get_u8(const struct cpu *cpu, unsigned off)
{
    return *((const u8 *)cpu->r + off);
}
static inline u16 get_u16(const struct cpu *cpu, unsigned off)
{
    return *(const alias16 *)((const u8 *)cpu->r + off);
}
static inline u32 get_u32(const struct cpu *cpu, unsigned off)
{
    return *(const alias32 *)((const u8 *)cpu->r + off);
}
static inline u64 get_u64(const struct cpu *cpu, unsigned off)
{
    return *(const alias64 *)((const u8 *)cpu->r + off);
}
static inline void put_u8(struct cpu *cpu, unsigned off, u8 v)
{
    *((u8 *)cpu->r + off) = v;
}
static inline void put_u16(struct cpu *cpu, unsigned off, u16 v)
{
    *(alias16 *)((u8 *)cpu->r + off) = v;
}
/* A 32-bit result clears the upper half (SDM vol. 1 "General-Purpose Registers in 64-Bit Mode"). */
static inline void put_u32(struct cpu *cpu, unsigned off, u32 v)
{
    *(alias64 *)((u8 *)cpu->r + off) = v;
}
static inline void put_u64(struct cpu *cpu, unsigned off, u64 v)
{
    *(alias64 *)((u8 *)cpu->r + off) = v;
}

/* By log2 of the size (0 to 3), for the instructions that are not worth a handler for each size. */
static inline u64 size_mask(unsigned size)
{
    return ~0ULL >> (64 - (8u << (size & 3)));
}
static inline u64 sign_extend(u64 v, unsigned size)
{
    unsigned s = 64 - (8u << size);
    return (u64)((s64)(v << s) >> s);
}
static inline u64 reg_get(const struct cpu *cpu, unsigned off, unsigned size)
{
    return size == 3   ? get_u64(cpu, off)
           : size == 2 ? get_u32(cpu, off)
           : size == 1 ? get_u16(cpu, off)
                       : get_u8(cpu, off);
}
static inline void reg_put(struct cpu *cpu, unsigned off, unsigned size, u64 v)
{
    if (size == 3)
        put_u64(cpu, off, v);
    else if (size == 2)
        put_u32(cpu, off, (u32)v);
    else if (size == 1)
        put_u16(cpu, off, (u16)v);
    else
        put_u8(cpu, off, (u8)v);
}

static inline u64 ea_offset(const struct cpu *cpu, const struct op *op)
{
    return ((u64)op->disp + get_u64(cpu, op->base) + (get_u64(cpu, op->index) << op->shift)) &
           op->mask;
}
/* Linear address of the memory operand. */
static inline u64 ea(struct cpu *cpu, const struct op *op, unsigned n, enum access access)
{
    u64 a = ea_offset(cpu, op);
    if (unlikely(op->complex)) {
        cpu->op = op;
        return segment_linear(cpu, op->seg, a, n, access);
    }
    return a;
}
static always_inline u64 load_operand(struct cpu *cpu, const struct op *op, unsigned n)
{
    return load(cpu, op, ea(cpu, op, n, ACCESS_READ), n);
}
static always_inline void store_operand(struct cpu *cpu, const struct op *op, unsigned n, u64 v)
{
    store(cpu, op, ea(cpu, op, n, ACCESS_WRITE), n, v);
}

/* The source operand in whatever form; size is that of the operand. */
static inline u64 source(struct cpu *cpu, const struct op *op, unsigned size)
{
    switch (op->form) {
    case FORM_RI:
    case FORM_MI:
        return op->imm;
    case FORM_RM:
        return load_operand(cpu, op, 1u << size);
    default:
        return reg_get(cpu, op->s, size);
    }
}
/* The destination, to be read and perhaps written. */
struct target {
    bool memory;
    struct rmw m;
};
static inline u64 target_open(struct cpu *cpu, const struct op *op, unsigned size, struct target *t)
{
    t->memory = op->form == FORM_MR || op->form == FORM_MI;
    if (t->memory)
        return rmw_begin(cpu, op, ea(cpu, op, 1u << size, ACCESS_WRITE), 1u << size, &t->m);
    return reg_get(cpu, op->d, size);
}
static inline void target_put(struct cpu *cpu, const struct op *op, unsigned size, struct target *t,
                              u64 v)
{
    if (t->memory)
        rmw_end(cpu, &t->m, 1u << size, v);
    else
        reg_put(cpu, op->d, size, v);
}

static inline void flags_logic(struct cpu *cpu, u64 r, unsigned size)
{
    cpu->lazy.result = sign_extend(r, size);
    cpu->lazy.carry = 0;
    cpu->lazy.aux = 0;
}

/* Stack, by the current mode. push checks before it writes; RSP moves only then. */
void exec_push(struct cpu *cpu, const struct op *op, unsigned n, u64 v);
u64 stack_linear(struct cpu *cpu, u64 sp, unsigned n, enum access access);
u64 stack_mask(const struct cpu *cpu);
void stack_set(struct cpu *cpu, u64 sp);

/* Handlers by form and size; families as tables. */
typedef const op_fn op_table[FORM_N][4];
extern op_table ops_imul2, ops_imul3; /* destination, source; and an immediate */
extern op_table ops_add, ops_or, ops_adc, ops_sbb, ops_and, ops_sub, ops_xor, ops_cmp, ops_test,
    ops_mov;

#define HANDLER(name) void name(struct cpu *cpu, const struct op *op)
HANDLER(op_lea16);
HANDLER(op_lea32);
HANDLER(op_lea64);
HANDLER(op_nop);
HANDLER(op_flush);
HANDLER(op_undefined);
HANDLER(op_limit);
HANDLER(op_inc);
HANDLER(op_dec);
HANDLER(op_inc32);
HANDLER(op_inc64);
HANDLER(op_dec32);
HANDLER(op_dec64);
HANDLER(op_neg);
HANDLER(op_not);
HANDLER(op_movzx);
HANDLER(op_movsx);
HANDLER(op_xchg);
HANDLER(op_xadd);
HANDLER(op_cmpxchg);
HANDLER(op_cmpxchg8b);
HANDLER(op_cmpxchg16b);
HANDLER(op_bswap);
HANDLER(op_movbe);
HANDLER(op_cmov);
HANDLER(op_setcc);
HANDLER(op_push);
HANDLER(op_push64);
HANDLER(op_pop);
HANDLER(op_pop64);
HANDLER(op_pushf);
HANDLER(op_pusha);
HANDLER(op_popa);
HANDLER(op_enter);
HANDLER(op_leave_frame);
HANDLER(op_xlat);
HANDLER(op_widen);
HANDLER(op_sign);
HANDLER(op_lahf);
HANDLER(op_sahf);
HANDLER(op_flag);
/* Jcc, by condition. */
HANDLER(op_jcc_0);
HANDLER(op_jcc_1);
HANDLER(op_jcc_2);
HANDLER(op_jcc_3);
HANDLER(op_jcc_4);
HANDLER(op_jcc_5);
HANDLER(op_jcc_6);
HANDLER(op_jcc_7);
HANDLER(op_jcc_8);
HANDLER(op_jcc_9);
HANDLER(op_jcc_10);
HANDLER(op_jcc_11);
HANDLER(op_jcc_12);
HANDLER(op_jcc_13);
HANDLER(op_jcc_14);
HANDLER(op_jcc_15);
HANDLER(op_jmp);
HANDLER(op_jmp_ind);
HANDLER(op_call);
HANDLER(op_call_ind);
HANDLER(op_ret);
HANDLER(op_call64);
HANDLER(op_ret64);
HANDLER(op_loop);
HANDLER(op_jrcxz);
HANDLER(op_string);
HANDLER(op_rep);
HANDLER(op_mul);
HANDLER(op_imul1);
HANDLER(op_div);
HANDLER(op_idiv);
HANDLER(op_shift);
HANDLER(op_shift_double);
HANDLER(op_bit);
HANDLER(op_bsf);
HANDLER(op_bsr);
HANDLER(op_tzcnt);
HANDLER(op_lzcnt);
HANDLER(op_popcnt);
HANDLER(op_bcd);
HANDLER(op_bound);
HANDLER(op_salc);
HANDLER(op_andn);
HANDLER(op_bextr);
HANDLER(op_bls);
HANDLER(op_bzhi);
HANDLER(op_pdep);
HANDLER(op_pext);
HANDLER(op_rorx);
HANDLER(op_shiftx);
HANDLER(op_mulx);
HANDLER(op_adx);
HANDLER(op_crc32);
HANDLER(op_fwait);

/* #MF where x87 has an exception pending that is not masked. */
void x87_check_pending(struct cpu *cpu);
/* The handler of an x87 instruction, with op's fields but those of its memory operand filled in;
 * NULL: undefined. environment16: FNSTENV and the like in their 16-bit formats. */
op_fn x87_decode(struct cpu *cpu, struct op *op, uint8_t opcode, uint8_t modrm, bool environment16);

/* The handler of a shift, and of MOVZX or MOVSX, whose operands are known. */
op_fn shift_constant(const struct op *op);
op_fn extension(const struct op *op, bool sign);

/* Small data of families in op->cc. */
enum { SHIFT_ROL, SHIFT_ROR, SHIFT_RCL, SHIFT_RCR, SHIFT_SHL, SHIFT_SHR, SHIFT_SAR };
enum { BIT_TEST, BIT_SET, BIT_RESET, BIT_COMPLEMENT };
enum { FLAG_CLC, FLAG_STC, FLAG_CMC, FLAG_CLD, FLAG_STD };
enum { STRING_MOVS, STRING_STOS, STRING_LODS, STRING_SCAS, STRING_CMPS };
enum { BCD_AAA, BCD_AAS, BCD_DAA, BCD_DAS, BCD_AAM, BCD_AAD };
enum { BLS_R, BLS_MSK, BLS_I };
enum { LOOP_ALWAYS, LOOP_E, LOOP_NE };
/* String operations: op->t. */
enum { REP_NONE, REP_E, REP_NE };

#endif
