/* Near branches. Each ends its block. */
#include "sim/cpu/ops.h"

/* Branch targets are masked by operand size and checked before anything changes (SDM vol. 2 "JMP",
 * "CALL", "RET"; vol. 3 "Canonical"). The instruction's end is op[1].rip. */
static u64 checked_target(struct cpu *cpu, const struct op *op, u64 target)
{
    cpu->op = op;
    if ((exec_of(cpu)->mode & MODE_CODE) == MODE_64) {
        if (!canonical(target))
            cpu_gp0(cpu);
        return target;
    }
    target &= size_mask(op->size);
    if (target > cpu->seg[SEG_CS].limit)
        cpu_gp0(cpu);
    return target;
}

HANDLER(op_jcc)
{
    bool taken = flags_condition(cpu, op->cc);
    u64 target = op->imm;
    if (taken && unlikely(op->complex))
        checked_target(cpu, op, target);
    exec_branch(cpu, op, BR_JCC, target, taken);
}
HANDLER(op_jmp)
{
    if (unlikely(op->complex))
        checked_target(cpu, op, op->imm);
    exec_branch(cpu, op, BR_JMP_REL, op->imm, true);
}
HANDLER(op_jmp_ind)
{
    u64 target = checked_target(cpu, op, source(cpu, op, op->size));
    exec_branch(cpu, op, BR_JMP_IND, target, true);
}
HANDLER(op_call)
{
    if (unlikely(op->complex))
        checked_target(cpu, op, op->imm);
    exec_push(cpu, op, 1u << op->size, op[1].rip);
    exec_branch(cpu, op, BR_CALL_REL, op->imm, true);
}
HANDLER(op_call_ind)
{
    u64 target = checked_target(cpu, op, source(cpu, op, op->size));
    exec_push(cpu, op, 1u << op->size, op[1].rip);
    exec_branch(cpu, op, BR_CALL_IND, target, true);
}
HANDLER(op_ret)
{
    unsigned n = 1u << op->size;
    u64 sp = cpu->r[RSP];
    cpu->op = op;
    u64 target = load(cpu, op, stack_linear(cpu, sp, n, ACCESS_READ), n);
    target = checked_target(cpu, op, target);
    stack_set(cpu, sp + n + op->imm);
    exec_branch(cpu, op, BR_RET, target, true);
}
/* LOOP and JRCXZ count in RCX, ECX or CX by address size (op->from). */
HANDLER(op_loop)
{
    u64 count = (reg_get(cpu, OFF(RCX), op->from) - 1) & size_mask(op->from);
    bool taken = count != 0 && (op->cc == LOOP_ALWAYS || flag_zf(cpu) == (op->cc == LOOP_E));
    if (taken && unlikely(op->complex))
        checked_target(cpu, op, op->imm);
    reg_put(cpu, OFF(RCX), op->from, count);
    exec_branch(cpu, op, BR_JCC, op->imm, taken);
}
HANDLER(op_jrcxz)
{
    bool taken = reg_get(cpu, OFF(RCX), op->from) == 0;
    if (taken && unlikely(op->complex))
        checked_target(cpu, op, op->imm);
    exec_branch(cpu, op, BR_JCC, op->imm, taken);
}
HANDLER(op_undefined)
{
    cpu->op = op;
    cpu_fault(cpu, VEC_UD, 0);
}
/* Longer than 15 bytes. */
HANDLER(op_limit)
{
    cpu->op = op;
    cpu_gp0(cpu);
}
