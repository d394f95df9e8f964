/* Data movement other than MOV, the stack, flags as data, conversions. */
#include "sim/cpu/ops.h"

HANDLER(op_lea16)
{
    put_u16(cpu, op->d, (u16)ea_offset(cpu, op));
    NEXT;
}
HANDLER(op_lea32)
{
    put_u32(cpu, op->d, (u32)ea_offset(cpu, op));
    NEXT;
}
HANDLER(op_lea64)
{
    put_u64(cpu, op->d, ea_offset(cpu, op));
    NEXT;
}

#define EXTEND(name, D, F, convert)                                                                \
    static HANDLER(name##_rr_##D##_##F)                                                            \
    {                                                                                              \
        put_##D(cpu, op->d, (D)(convert)get_##F(cpu, op->s));                                      \
        NEXT;                                                                                      \
    }                                                                                              \
    static HANDLER(name##_rm_##D##_##F)                                                            \
    {                                                                                              \
        put_##D(cpu, op->d, (D)(convert)load_operand(cpu, op, sizeof(F)));                         \
        NEXT;                                                                                      \
    }
EXTEND(movzx, u32, u8, u8)
EXTEND(movzx, u32, u16, u16)
EXTEND(movsx, u32, u8, s8)
EXTEND(movsx, u32, u16, s16)
EXTEND(movsx, u64, u8, s8)
EXTEND(movsx, u64, u16, s16)
EXTEND(movsx, u64, u32, s32)
/* By the source's size; [destination of 64 bits] for MOVSX, to MOVZX it is the same. */
#define EXTENSIONS(form)                                                                           \
    {                                                                                              \
        {movsx_##form##_u32_u8, movsx_##form##_u32_u16, NULL},                                     \
            {movsx_##form##_u64_u8, movsx_##form##_u64_u16, movsx_##form##_u64_u32},               \
            {movzx_##form##_u32_u8, movzx_##form##_u32_u16, NULL},                                 \
    }
op_fn extension(const struct op *op, bool sign)
{
    static const op_fn from_register[3][3] = EXTENSIONS(rr), from_memory[3][3] = EXTENSIONS(rm);
    op_fn fn = NULL;
    if (op->size >= 2 && op->from <= 2)
        fn = (op->form == FORM_RM ? from_memory : from_register)[sign ? op->size - 2 : 2][op->from];
    return fn ? fn : sign ? op_movsx : op_movzx;
}
HANDLER(op_movzx)
{
    reg_put(cpu, op->d, op->size, source(cpu, op, op->from));
    NEXT;
}
HANDLER(op_movsx)
{
    reg_put(cpu, op->d, op->size,
            sign_extend(source(cpu, op, op->from), op->from) & size_mask(op->size));
    NEXT;
}

HANDLER(op_xchg)
{
    struct target t;
    u64 a = target_open(cpu, op, op->size, &t), b = reg_get(cpu, op->s, op->size);
    target_put(cpu, op, op->size, &t, b);
    reg_put(cpu, op->s, op->size, a);
    NEXT;
}

static u64 swap(u64 v, unsigned size)
{
    return __builtin_bswap64(v) >> (64 - (8u << size));
}
/* BSWAP of a 16-bit register is undefined; processors clear it. */
HANDLER(op_bswap)
{
    u64 v = reg_get(cpu, op->d, op->size);
    reg_put(cpu, op->d, op->size, op->size == 1 ? 0 : swap(v, op->size));
    NEXT;
}
HANDLER(op_movbe)
{
    if (op->form == FORM_RM)
        reg_put(cpu, op->d, op->size, swap(source(cpu, op, op->size), op->size));
    else
        store_operand(cpu, op, 1u << op->size, swap(reg_get(cpu, op->s, op->size), op->size));
    NEXT;
}

/* The source is read, and a 32-bit destination's upper half cleared, whatever the condition. */
HANDLER(op_cmov)
{
    u64 v = source(cpu, op, op->size);
    if (!flags_condition(cpu, op->cc))
        v = reg_get(cpu, op->d, op->size);
    reg_put(cpu, op->d, op->size, v);
    NEXT;
}
HANDLER(op_setcc)
{
    bool v = flags_condition(cpu, op->cc);
    if (op->form == FORM_MR)
        store_operand(cpu, op, 1, v);
    else
        put_u8(cpu, op->d, v);
    NEXT;
}

/* ---- stack ---- */

u64 stack_mask(const struct cpu *cpu)
{
    uint32_t mode = ((struct exec *)cpu->exec)->mode;
    return (mode & MODE_CODE) == MODE_64 ? ~0ULL : mode & MODE_STACK32 ? 0xffffffff : 0xffff;
}
void stack_set(struct cpu *cpu, u64 sp)
{
    u64 mask = stack_mask(cpu);
    cpu->r[RSP] = mask == 0xffff ? (cpu->r[RSP] & ~mask) | (sp & mask) : sp & mask;
}
u64 stack_linear(struct cpu *cpu, u64 sp, unsigned n, enum access access)
{
    struct exec *x = exec_of(cpu);
    sp &= stack_mask(cpu);
    if ((x->mode & MODE_CODE) == MODE_64 ? !(x->mode & MODE_ALIGN)
                                         : (x->mode & MODE_FLAT_DATA) && !(x->mode & MODE_ALIGN))
        return sp;
    return segment_linear(cpu, SEG_SS, sp, n, access);
}
void exec_push(struct cpu *cpu, const struct op *op, unsigned n, u64 v)
{
    cpu->op = op;
    u64 sp = cpu->r[RSP] - n;
    store(cpu, op, stack_linear(cpu, sp, n, ACCESS_WRITE), n, v);
    stack_set(cpu, sp);
}

/* PUSH of a 64-bit register in 64-bit mode. */
HANDLER(op_push64)
{
    u64 sp = cpu->r[RSP] - 8;
    store(cpu, op, sp, 8, get_u64(cpu, op->s));
    cpu->r[RSP] = sp;
    NEXT;
}
HANDLER(op_pop64)
{
    u64 v = load(cpu, op, cpu->r[RSP], 8);
    cpu->r[RSP] += 8;
    put_u64(cpu, op->d, v);
    NEXT;
}
HANDLER(op_push)
{
    exec_push(cpu, op, 1u << op->size, source(cpu, op, op->size));
    NEXT;
}
/* The address of POP's memory operand is computed with RSP already incremented (SDM vol. 2 "POP").
 */
HANDLER(op_pop)
{
    unsigned n = 1u << op->size;
    u64 old = cpu->r[RSP];
    cpu->op = op;
    u64 v = load(cpu, op, stack_linear(cpu, old, n, ACCESS_READ), n);
    stack_set(cpu, old + n);
    if (op->form == FORM_MR) {
        /* The store may fault: RSP must then be the old one. */
        u64 popped = cpu->r[RSP];
        u64 offset = ea_offset(cpu, op);
        cpu->r[RSP] = old;
        u64 a = op->complex ? segment_linear(cpu, op->seg, offset, n, ACCESS_WRITE) : offset;
        store(cpu, op, a, n, v);
        cpu->r[RSP] = popped;
    } else {
        reg_put(cpu, op->d, op->size, v);
    }
    NEXT;
}

/* RF and VM are pushed as 0 (SDM vol. 2 "PUSHF"). */
HANDLER(op_pushf)
{
    exec_push(cpu, op, 1u << op->size,
              cpu_rflags(cpu) & ~(uint64_t)(RFLAGS_RF | RFLAGS_VM) & size_mask(op->size));
    NEXT;
}

enum { PUSHA_REGISTERS = 8 };
HANDLER(op_pusha)
{
    unsigned n = 1u << op->size;
    u64 sp = cpu->r[RSP];
    struct span all[PUSHA_REGISTERS];
    cpu->op = op;
    for (unsigned i = 0; i < PUSHA_REGISTERS; i++)
        span_open(cpu, &all[i], op, stack_linear(cpu, sp - n * (i + 1), n, ACCESS_WRITE), n,
                  ACCESS_WRITE, cpu->cpl == 3);
    for (unsigned i = 0; i < PUSHA_REGISTERS; i++)
        span_write(cpu, &all[i], reg_get(cpu, OFF(i), op->size));
    stack_set(cpu, sp - n * PUSHA_REGISTERS);
    NEXT;
}
HANDLER(op_popa)
{
    unsigned n = 1u << op->size;
    u64 sp = cpu->r[RSP], v[PUSHA_REGISTERS];
    cpu->op = op;
    for (unsigned i = 0; i < PUSHA_REGISTERS; i++)
        v[i] = load(cpu, op, stack_linear(cpu, sp + n * i, n, ACCESS_READ), n);
    for (unsigned i = 0; i < PUSHA_REGISTERS; i++)
        if (PUSHA_REGISTERS - 1 - i != RSP)
            reg_put(cpu, OFF(PUSHA_REGISTERS - 1 - i), op->size, v[i]);
    stack_set(cpu, sp + n * PUSHA_REGISTERS);
    NEXT;
}

/* SDM vol. 2 "ENTER". imm: size of the frame; t: nesting level. */
HANDLER(op_enter)
{
    unsigned n = 1u << op->size;
    u64 mask = stack_mask(cpu), sp = cpu->r[RSP], bp = cpu->r[RBP];
    cpu->op = op;
    sp -= n;
    store(cpu, op, stack_linear(cpu, sp, n, ACCESS_WRITE), n, reg_get(cpu, OFF(RBP), op->size));
    u64 frame = sp;
    for (unsigned level = 1; level < op->t; level++) {
        bp -= n;
        u64 v = load(cpu, op, stack_linear(cpu, bp & mask, n, ACCESS_READ), n);
        sp -= n;
        store(cpu, op, stack_linear(cpu, sp, n, ACCESS_WRITE), n, v);
    }
    if (op->t > 0) {
        sp -= n;
        store(cpu, op, stack_linear(cpu, sp, n, ACCESS_WRITE), n, frame & size_mask(op->size));
    }
    sp -= op->imm;
    /* The new top must be writable (same section, "#PF/#SS"): nothing has moved yet. */
    struct span top;
    span_open(cpu, &top, op, stack_linear(cpu, sp, n, ACCESS_WRITE), n, ACCESS_WRITE,
              cpu->cpl == 3);
    if (mask == ~0ULL || mask == 0xffffffff)
        cpu->r[RBP] = op->size == 1 ? (cpu->r[RBP] & ~0xffffULL) | (frame & 0xffff) : frame & mask;
    else
        reg_put(cpu, OFF(RBP), op->size, frame & mask);
    stack_set(cpu, sp);
    NEXT;
}
HANDLER(op_leave_frame)
{
    unsigned n = 1u << op->size;
    cpu->op = op;
    u64 v = load(cpu, op, stack_linear(cpu, cpu->r[RBP], n, ACCESS_READ), n);
    stack_set(cpu, cpu->r[RBP] + n);
    reg_put(cpu, OFF(RBP), op->size, v);
    NEXT;
}

/* base is RBX (EBX, BX); AL is added zero-extended. */
HANDLER(op_xlat)
{
    u64 a = (cpu->r[RBX] + get_u8(cpu, OFF(RAX))) & op->mask;
    cpu->op = op;
    if (op->complex)
        a = segment_linear(cpu, op->seg, a, 1, ACCESS_READ);
    put_u8(cpu, OFF(RAX), (u8)load(cpu, op, a, 1));
    NEXT;
}

/* CBW, CWDE, CDQE: size is that of the result. */
HANDLER(op_widen)
{
    u64 v = sign_extend(reg_get(cpu, OFF(RAX), op->size - 1), op->size - 1);
    reg_put(cpu, OFF(RAX), op->size, v & size_mask(op->size));
    NEXT;
}
/* CWD, CDQ, CQO. */
HANDLER(op_sign)
{
    u64 v = sign_extend(reg_get(cpu, OFF(RAX), op->size), op->size);
    reg_put(cpu, OFF(RDX), op->size, (s64)v < 0 ? size_mask(op->size) : 0);
    NEXT;
}

HANDLER(op_lahf)
{
    put_u8(cpu, OFF(RAX) + 1, (u8)(flags_get_all(cpu) | RFLAGS_FIXED1));
    NEXT;
}
HANDLER(op_sahf)
{
    u64 keep = flag_of(cpu) ? RFLAGS_OF : 0;
    flags_set_all(cpu, (get_u8(cpu, OFF(RAX) + 1) & FLAGS_ARITH) | keep);
    NEXT;
}
HANDLER(op_flag)
{
    switch (op->cc) {
    case FLAG_CLC:
        flags_set_cf(cpu, false);
        break;
    case FLAG_STC:
        flags_set_cf(cpu, true);
        break;
    case FLAG_CMC:
        flags_set_cf(cpu, !flag_cf(cpu));
        break;
    case FLAG_CLD:
        cpu->rflags &= ~(uint64_t)RFLAGS_DF;
        break;
    default:
        cpu->rflags |= RFLAGS_DF;
        break;
    }
    NEXT;
}
HANDLER(op_nop)
{
    NEXT;
}
/* CLFLUSH, CLFLUSHOPT: "subject to all permission checking and faults associated with a byte load"
 * (SDM vol. 2). The model's caches have nothing to write back. */
HANDLER(op_flush)
{
    struct span sp;
    cpu->op = op;
    span_open(cpu, &sp, op, ea(cpu, op, 1, ACCESS_READ), 1, ACCESS_READ, cpu->cpl == 3);
    uarch_flush(cpu, sp.page[0].physical + (sp.linear & (PAGE_BYTES - 1)));
    NEXT;
}
HANDLER(op_salc)
{
    put_u8(cpu, OFF(RAX), flag_cf(cpu) ? 0xff : 0);
    NEXT;
}
