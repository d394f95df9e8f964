/*
 * Moves to and from segment registers, far pointers, FS and GS bases. SDM vol. 2 "MOV", "PUSH",
 * "POP", "LDS/LES/LFS/LGS/LSS", "RDFSBASE/RDGSBASE", "SWAPGS".
 */
#include "sim/cpu/system.h"

static enum seg seg_of(ZydisRegister r)
{
    return (enum seg)(r - ZYDIS_REGISTER_ES);
}

static void load_or_raise(struct cpu *cpu, enum seg s, uint16_t selector)
{
    struct fault f;
    if (!segment_load(cpu, s, selector, &f))
        fault_raise(cpu, &f);
    exec_mode_changed(cpu); /* SS decides the stack's width */
}

void op_mov_sreg(struct cpu *cpu, const struct insn *in)
{
    const ZydisDecodedOperand *dst = &in->op[0], *src = &in->op[1];
    bool user = cpu->cpl == 3;
    if (dst->type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ZydisRegisterGetClass(dst->reg.value) == ZYDIS_REGCLASS_SEGMENT) {
        enum seg s = seg_of(dst->reg.value);
        if (s == SEG_CS)
            cpu_fault(cpu, VEC_UD, 0);
        uint16_t selector = src->type == ZYDIS_OPERAND_TYPE_REGISTER
                                ? insn_register(cpu, src->reg.value)
                                : mem_read(cpu, insn_linear(cpu, in, src, 2, ACCESS_READ), 2, user);
        load_or_raise(cpu, s, selector);
        if (s == SEG_SS)
            interrupt_shadow(cpu, true);
        return;
    }
    uint16_t selector = cpu->seg[seg_of(src->reg.value)].selector;
    if (dst->type == ZYDIS_OPERAND_TYPE_REGISTER)
        insn_set_register(cpu, dst->reg.value, selector);
    else
        mem_write(cpu, insn_linear(cpu, in, dst, 2, ACCESS_WRITE), 2, selector, user);
}

void op_push_sreg(struct cpu *cpu, const struct insn *in)
{
    struct stack st;
    struct fault f;
    stack_current(cpu, &st);
    if (!stack_push(cpu, &st, in->z.operand_width / 8,
                    cpu->seg[seg_of(in->op[0].reg.value)].selector, &f))
        fault_raise(cpu, &f);
    stack_commit(cpu, &st);
}

void op_pop_sreg(struct cpu *cpu, const struct insn *in)
{
    struct stack st;
    struct fault f;
    uint64_t selector;
    enum seg s = seg_of(in->op[0].reg.value);
    stack_current(cpu, &st);
    if (!stack_pop(cpu, &st, in->z.operand_width / 8, &selector, &f))
        fault_raise(cpu, &f);
    load_or_raise(cpu, s, selector);
    stack_commit(cpu, &st);
    if (s == SEG_SS)
        interrupt_shadow(cpu, true);
}

void op_load_far_pointer(struct cpu *cpu, const struct insn *in)
{
    enum seg s;
    switch (in->z.mnemonic) {
    case ZYDIS_MNEMONIC_LDS:
        s = SEG_DS;
        break;
    case ZYDIS_MNEMONIC_LES:
        s = SEG_ES;
        break;
    case ZYDIS_MNEMONIC_LFS:
        s = SEG_FS;
        break;
    case ZYDIS_MNEMONIC_LGS:
        s = SEG_GS;
        break;
    default:
        s = SEG_SS;
    }
    bool user = cpu->cpl == 3;
    unsigned n = in->z.operand_width / 8;
    uint64_t linear = insn_linear(cpu, in, &in->op[1], n + 2, ACCESS_READ);
    uint64_t offset = mem_read(cpu, linear, n, user);
    load_or_raise(cpu, s, mem_read(cpu, linear + n, 2, user));
    insn_set_register(cpu, in->op[0].reg.value, offset);
}

void op_fsgsbase(struct cpu *cpu, const struct insn *in)
{
    if (!cpu_64bit(cpu) || !(cpu->cr4 & CR4_FSGSBASE))
        cpu_fault(cpu, VEC_UD, 0);
    enum ZydisMnemonic_ m = in->z.mnemonic;
    bool fs = m == ZYDIS_MNEMONIC_RDFSBASE || m == ZYDIS_MNEMONIC_WRFSBASE;
    uint64_t *base = &cpu->seg[fs ? SEG_FS : SEG_GS].base;
    if (m == ZYDIS_MNEMONIC_RDFSBASE || m == ZYDIS_MNEMONIC_RDGSBASE) {
        insn_set_register(cpu, in->op[0].reg.value, *base);
        return;
    }
    uint64_t value = insn_register(cpu, in->op[0].reg.value);
    if (!canonical(value))
        cpu_gp0(cpu);
    *base = value;
}

void op_swapgs(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    if (!cpu_64bit(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    require_cpl0(cpu);
    uint64_t base = cpu->seg[SEG_GS].base;
    cpu->seg[SEG_GS].base = cpu->kernel_gs_base;
    cpu->kernel_gs_base = base;
}
