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

/* What is rare of a conditional branch. */
static __attribute__((noinline)) void conditional_slow(struct cpu *cpu, const struct op *op,
                                                       bool taken)
{
    if (taken && op->complex)
        checked_target(cpu, op, op->imm);
    exec_branch(cpu, op, BR_JCC, op->imm, taken);
}
/* exec_branch for a conditional one: the branch that there is most of. Whether it is taken, which
 * the host can predict no better than the guest's processor, decides no branch here but whether the
 * latter was right. */
static inline void conditional(struct cpu *cpu, const struct op *op, bool taken)
{
    if (unlikely(op->complex | cpu->want_branches | cpu->trace)) {
        conditional_slow(cpu, op, taken);
        return;
    }
    uint64_t *total = cpu->here;
    total[EV_BRANCH]++;
    total[EV_BRANCH_COND]++;
    total[EV_BRANCH_TAKEN] += taken;
    cpu->rip = taken ? op->imm : op[1].rip;
    uarch_branch_conditional(cpu, op->rip, taken);
}
/* A handler for each condition, so that its flags are known when this is compiled. */
#define JCC(n)                                                                                     \
    HANDLER(op_jcc_##n)                                                                            \
    {                                                                                              \
        conditional(cpu, op, flags_condition(cpu, n));                                             \
    }
JCC(0)
JCC(1)
JCC(2)
JCC(3)
JCC(4)
JCC(5) JCC(6) JCC(7) JCC(8) JCC(9) JCC(10) JCC(11) JCC(12) JCC(13) JCC(14) JCC(15) HANDLER(op_jmp)
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
    struct exec *x = exec_of(cpu);
    exec_push(cpu, op, 1u << op->size, op[1].rip);
    x->caller[x->depth++ % CALLERS] = x->running;
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
/* Near calls and returns in 64-bit mode: exec_branch, but for those who record branches. */
static inline void branched(struct cpu *cpu, const struct op *op, enum branch_kind kind,
                            enum cpu_event event, u64 target, bool mispredicted)
{
    uint64_t *total = cpu->here;
    total[EV_BRANCH]++;
    total[event]++;
    cpu->rip = target;
    if (unlikely(mispredicted))
        uarch_mispredicted(cpu);
    exec_taken(cpu, kind, op->rip, target, mispredicted);
}
HANDLER(op_call64)
{
    struct exec *x = exec_of(cpu);
    u64 sp = cpu->r[RSP] - 8;
    store(cpu, op, sp, 8, op[1].rip);
    cpu->r[RSP] = sp;
    uarch_call(cpu->uarch, op->rip);
    x->caller[x->depth++ % CALLERS] = x->running;
    branched(cpu, op, BR_CALL_REL, EV_BRANCH_CALL, op->imm, false);
}
/* What ran behind the call when it returned before will probably run again. */
HANDLER(op_ret64)
{
    struct exec *x = exec_of(cpu);
    u64 target = load(cpu, op, cpu->r[RSP], 8);
    if (unlikely(!canonical(target)))
        cpu_gp0(cpu);
    cpu->r[RSP] += 8 + op->imm;
    x->returned = x->caller[--x->depth % CALLERS];
    if (likely(x->returned && x->returned->end == target))
        x->running->successor[1] = x->returned->successor[0];
    branched(cpu, op, BR_RET, EV_BRANCH_RET, target, !uarch_predicts_return(cpu->uarch, target));
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
