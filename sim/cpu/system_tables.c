/*
 * Descriptor-table registers and the instructions that look at descriptors: LGDT to ARPL. SDM vol.
 * 2, vol. 3 "Memory-Management Registers" and "Pointer Validation".
 */
#include "sim/cpu/system.h"

static bool user(const struct cpu *cpu)
{
    return cpu->cpl == 3;
}

static uint16_t operand16(struct cpu *cpu, const struct insn *in, unsigned i)
{
    const ZydisDecodedOperand *op = &in->op[i];
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER
               ? insn_register(cpu, op->reg.value)
               : mem_read(cpu, insn_linear(cpu, in, op, 2, ACCESS_READ), 2, user(cpu));
}

/* SLDT, STR: a register gets the selector zero-extended, memory 16 bits. */
static void store_selector(struct cpu *cpu, const struct insn *in, uint16_t selector)
{
    if ((cpu->cr4 & CR4_UMIP) && cpu->cpl != 0)
        cpu_gp0(cpu);
    if (in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        insn_set_register(cpu, in->op[0].reg.value, selector);
    else
        mem_write(cpu, insn_linear(cpu, in, &in->op[0], 2, ACCESS_WRITE), 2, selector, user(cpu));
}

void op_lgdt(struct cpu *cpu, const struct insn *in)
{
    require_cpl0(cpu);
    bool wide = cpu_64bit(cpu);
    uint64_t linear = insn_linear(cpu, in, &in->op[0], wide ? 10 : 6, ACCESS_READ);
    uint16_t limit = mem_read(cpu, linear, 2, false);
    uint64_t base =
        wide ? mem_read(cpu, linear + 2, 8, false) : mem_read(cpu, linear + 2, 4, false);
    if (!wide && in->z.operand_width == 16)
        base &= 0xffffff; /* 24 bits with a 16-bit operand */
    if (wide && !canonical(base))
        cpu_gp0(cpu);
    if (in->z.mnemonic == ZYDIS_MNEMONIC_LGDT) {
        cpu->gdtr.limit = limit;
        cpu->gdtr.base = base;
    } else {
        cpu->idtr.limit = limit;
        cpu->idtr.base = base;
    }
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
}

void op_sgdt(struct cpu *cpu, const struct insn *in)
{
    if ((cpu->cr4 & CR4_UMIP) && cpu->cpl != 0)
        cpu_gp0(cpu);
    bool gdt = in->z.mnemonic == ZYDIS_MNEMONIC_SGDT, wide = cpu_64bit(cpu);
    uint16_t limit = gdt ? cpu->gdtr.limit : cpu->idtr.limit;
    uint64_t base = gdt ? cpu->gdtr.base : cpu->idtr.base;
    uint64_t linear = insn_linear(cpu, in, &in->op[0], wide ? 10 : 6, ACCESS_WRITE);
    mem_write(cpu, linear, 2, limit, user(cpu));
    mem_write(cpu, linear + 2, wide ? 8 : 4, base, user(cpu));
}

void op_sldt(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    store_selector(cpu, in, cpu->seg[SEG_LDTR].selector);
}

void op_str(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    store_selector(cpu, in, cpu->seg[SEG_TR].selector);
}

/* The descriptor for LLDT and LTR: in the GDT, of the type wanted, present. */
static void system_descriptor(struct cpu *cpu, uint16_t selector, struct descriptor *d,
                              uint32_t types)
{
    struct fault f;
    if (selector & 4)
        cpu_fault(cpu, VEC_GP, selector_error(selector));
    if (!descriptor_read(cpu, selector, d, VEC_GP, 0, &f))
        fault_raise(cpu, &f);
    if ((d->attr & DESC_S) || !(types >> desc_type(d->attr) & 1))
        cpu_fault(cpu, VEC_GP, selector_error(selector));
    if (!(d->attr & DESC_P))
        cpu_fault(cpu, VEC_NP, selector_error(selector));
    if (cpu_long_mode(cpu) && !canonical(d->seg.base))
        cpu_fault(cpu, VEC_GP, selector_error(selector));
}

void op_lldt(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    require_cpl0(cpu);
    uint16_t selector = operand16(cpu, in, 0);
    if (selector_null(selector)) {
        cpu->seg[SEG_LDTR] = (struct segment){.selector = selector};
        return;
    }
    struct descriptor d;
    system_descriptor(cpu, selector, &d, 1u << SYS_LDT);
    cpu->seg[SEG_LDTR] = d.seg;
}

void op_ltr(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    require_cpl0(cpu);
    uint16_t selector = operand16(cpu, in, 0);
    if (selector_null(selector))
        cpu_gp0(cpu);
    struct descriptor d;
    struct fault f;
    system_descriptor(cpu, selector, &d,
                      1u << SYS_TSS | (cpu_long_mode(cpu) ? 0 : 1u << SYS_TSS16));
    if (!descriptor_set_bits(cpu, &d, DESC_TSS_BUSY, &f))
        fault_raise(cpu, &f);
    cpu->seg[SEG_TR] = d.seg;
}

static void set_zf(struct cpu *cpu, bool zf)
{
    uint64_t flags = cpu_rflags(cpu) & ~(uint64_t)RFLAGS_ZF;
    cpu_set_rflags(cpu, flags | (zf ? RFLAGS_ZF : 0));
}

/* Reads the descriptor that LAR, LSL, VERR or VERW looks at; false where ZF is to be cleared. */
static bool visible_descriptor(struct cpu *cpu, uint16_t selector, struct descriptor *d)
{
    struct fault f;
    if (selector_null(selector))
        return false;
    if (!descriptor_read(cpu, selector, d, VEC_GP, 0, &f)) {
        if (f.vector == VEC_PF)
            fault_raise(cpu, &f);
        return false;
    }
    bool conforming = desc_is_code(d->attr) && (d->attr & DESC_CONFORM);
    unsigned dpl = desc_dpl(d->attr);
    return conforming || (cpu->cpl <= dpl && (selector & 3u) <= dpl);
}

/* System descriptor types that LAR and LSL accept. SDM vol. 2 "LAR", "LSL", their tables. */
#define LAR_LEGACY                                                                                 \
    (1u << SYS_TSS16 | 1u << SYS_LDT | 1u << SYS_TSS16_BUSY | 1u << SYS_CALL16 |                   \
     1u << SYS_TASK_GATE | 1u << SYS_TSS | 1u << SYS_TSS_BUSY | 1u << SYS_CALL)
#define LSL_LEGACY                                                                                 \
    (1u << SYS_TSS16 | 1u << SYS_LDT | 1u << SYS_TSS16_BUSY | 1u << SYS_TSS | 1u << SYS_TSS_BUSY)
#define LSL_LONG (1u << SYS_LDT | 1u << SYS_TSS | 1u << SYS_TSS_BUSY)
#define LAR_LONG (LSL_LONG | 1u << SYS_CALL)

void op_lar(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    bool lsl = in->z.mnemonic == ZYDIS_MNEMONIC_LSL, lm = cpu_long_mode(cpu);
    uint32_t types = lsl ? (lm ? LSL_LONG : LSL_LEGACY) : (lm ? LAR_LONG : LAR_LEGACY);
    struct descriptor d;
    bool ok = visible_descriptor(cpu, operand16(cpu, in, 1), &d) &&
              ((d.attr & DESC_S) || (types >> desc_type(d.attr) & 1));
    if (ok)
        insn_set_register(cpu, in->op[0].reg.value, lsl ? d.seg.limit : d.word[1] & 0xffff00);
    set_zf(cpu, ok);
}

void op_ver(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    bool write = in->z.mnemonic == ZYDIS_MNEMONIC_VERW;
    struct descriptor d;
    bool ok = visible_descriptor(cpu, operand16(cpu, in, 0), &d) && (d.attr & DESC_S);
    if (ok && write)
        ok = desc_is_writable_data(d.attr);
    else if (ok)
        ok = !desc_is_code(d.attr) || (d.attr & DESC_RW);
    set_zf(cpu, ok);
}

void op_arpl(struct cpu *cpu, const struct insn *in)
{
    if (!protected_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    bool reg = in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
    uint64_t linear = reg ? 0 : insn_linear(cpu, in, &in->op[0], 2, ACCESS_WRITE);
    uint16_t dst =
        reg ? insn_register(cpu, in->op[0].reg.value) : mem_read(cpu, linear, 2, user(cpu));
    unsigned rpl = insn_register(cpu, in->op[1].reg.value) & 3;
    bool raise = (dst & 3u) < rpl;
    if (raise) {
        dst = (dst & ~3) | rpl;
        if (reg)
            insn_set_register(cpu, in->op[0].reg.value, dst);
        else
            mem_write(cpu, linear, 2, dst, user(cpu));
    }
    set_zf(cpu, raise);
}
