/*
 * Far jumps, calls and returns; IRET. SDM vol. 2, their pseudo-code; vol. 3 "Privilege Level
 * Checking When Transferring Program Control Between Code Segments".
 */
#include "sim/cpu/system.h"

struct far_target {
    uint16_t selector;
    uint64_t offset;
};

static uint64_t linear_ip(const struct cpu *cpu, uint64_t rip)
{
    return cpu_64bit(cpu) ? rip : (uint32_t)(cpu->seg[SEG_CS].base + rip);
}

/* A struct arrival ends every far transfer: what the PMU and the interpreter must hear. */
struct departure {
    uint64_t from;
    unsigned cpl;
};
static struct departure depart(struct cpu *cpu, const struct insn *in)
{
    far_branch_events(cpu);
    return (struct departure){linear_ip(cpu, in->rip), cpu->cpl};
}
static void arrive(struct cpu *cpu, const struct departure *d)
{
    exec_mode_changed(cpu);
    cpu_branch_taken(cpu, BR_FAR, d->from, linear_ip(cpu, cpu->rip), d->cpl, false);
}

static struct far_target far_operand(struct cpu *cpu, const struct insn *in)
{
    const ZydisDecodedOperand *op = &in->op[0];
    if (op->type == ZYDIS_OPERAND_TYPE_POINTER)
        return (struct far_target){op->ptr.segment, op->ptr.offset};
    unsigned n = in->z.operand_width / 8;
    bool user = cpu->cpl == 3;
    uint64_t linear = insn_linear(cpu, in, op, n + 2, ACCESS_READ);
    struct far_target t = {.offset = mem_read(cpu, linear, n, user)};
    t.selector = mem_read(cpu, linear + n, 2, user);
    return t;
}

static void push(struct cpu *cpu, struct stack *st, unsigned n, uint64_t value)
{
    struct fault f;
    if (!stack_push(cpu, st, n, value, &f))
        fault_raise(cpu, &f);
}
static uint64_t pop(struct cpu *cpu, struct stack *st, unsigned n)
{
    struct fault f;
    uint64_t value;
    if (!stack_pop(cpu, st, n, &value, &f))
        fault_raise(cpu, &f);
    return value;
}

static void read_or_raise(struct cpu *cpu, uint16_t selector, struct descriptor *d)
{
    struct fault f;
    if (!descriptor_read(cpu, selector, d, VEC_GP, 0, &f))
        fault_raise(cpu, &f);
}

static void mark_accessed(struct cpu *cpu, struct descriptor *d)
{
    struct fault f;
    if (!descriptor_set_bits(cpu, d, DESC_ACCESSED, &f))
        fault_raise(cpu, &f);
}

/* L and D both set is reserved in IA-32e mode. SDM vol. 3 "Code-Segment Descriptor in 64-bit Mode".
 */
static void check_code_mode(struct cpu *cpu, const struct descriptor *d, uint16_t selector)
{
    if (cpu_long_mode(cpu) && (d->attr & SEG_ATTR_L) && (d->attr & SEG_ATTR_DB))
        cpu_fault(cpu, VEC_GP, selector_error(selector));
}

/* The code segment of a direct far JMP or CALL: CPL does not change. */
static void check_direct_code(struct cpu *cpu, struct descriptor *d, uint16_t selector)
{
    unsigned dpl = desc_dpl(d->attr);
    bool ok =
        d->attr & DESC_CONFORM ? dpl <= cpu->cpl : dpl == cpu->cpl && (selector & 3u) <= cpu->cpl;
    if (!ok)
        cpu_fault(cpu, VEC_GP, selector_error(selector));
    check_code_mode(cpu, d, selector);
    if (!(d->attr & DESC_P))
        cpu_fault(cpu, VEC_NP, selector_error(selector));
    mark_accessed(cpu, d);
}

/* A call gate's target: selector, offset and code descriptor; checks of the gate itself. */
static struct far_target call_gate(struct cpu *cpu, const struct descriptor *gate,
                                   uint16_t selector, bool call, struct descriptor *cs,
                                   unsigned *cpl)
{
    unsigned dpl = desc_dpl(gate->attr), type = desc_type(gate->attr);
    bool lm = cpu_long_mode(cpu);
    if (type == SYS_TASK_GATE || type == SYS_TSS || type == SYS_TSS16) {
        if (lm)
            cpu_fault(cpu, VEC_GP, selector_error(selector));
        cpu_unsupported(cpu, "task switch by far JMP or CALL");
    }
    if (type != SYS_CALL && (lm || type != SYS_CALL16))
        cpu_fault(cpu, VEC_GP, selector_error(selector));
    if (dpl < cpu->cpl || dpl < (selector & 3u))
        cpu_fault(cpu, VEC_GP, selector_error(selector));
    if (!(gate->attr & DESC_P))
        cpu_fault(cpu, VEC_NP, selector_error(selector));
    struct far_target t = {.selector = gate->word[0] >> 16,
                           .offset = (gate->word[0] & 0xffff) | (gate->word[1] & 0xffff0000)};
    if (type == SYS_CALL16)
        t.offset &= 0xffff;
    if (lm)
        t.offset |= (uint64_t)gate->word[2] << 32;
    if (selector_null(t.selector))
        cpu_gp0(cpu);
    read_or_raise(cpu, t.selector, cs);
    unsigned code_dpl = desc_dpl(cs->attr);
    bool conforming = cs->attr & DESC_CONFORM;
    bool ok = desc_is_code(cs->attr) && code_dpl <= cpu->cpl &&
              (call || conforming || code_dpl == cpu->cpl);
    /* A 64-bit call gate leads to 64-bit code. SDM vol. 3 "IA-32e Mode Call Gates". */
    if (lm && (!(cs->attr & SEG_ATTR_L) || (cs->attr & SEG_ATTR_DB)))
        ok = false;
    if (!ok)
        cpu_fault(cpu, VEC_GP, selector_error(t.selector));
    if (!(cs->attr & DESC_P))
        cpu_fault(cpu, VEC_NP, selector_error(t.selector));
    mark_accessed(cpu, cs);
    *cpl = conforming ? cpu->cpl : code_dpl;
    return t;
}

static void check_offset(struct cpu *cpu, const struct segment *cs, uint64_t offset)
{
    if (!code_target_ok(cpu, cs, offset))
        cpu_gp0(cpu);
}

static void jump_real(struct cpu *cpu, const struct far_target *t)
{
    if (t->offset > cpu->seg[SEG_CS].limit)
        cpu_gp0(cpu);
    segment_load_real(cpu, SEG_CS, t->selector);
    cpu->rip = t->offset;
}

void op_jmp_far(struct cpu *cpu, const struct insn *in)
{
    struct far_target t = far_operand(cpu, in);
    struct departure from;
    if (!protected_mode(cpu)) {
        if (t.offset > cpu->seg[SEG_CS].limit)
            cpu_gp0(cpu);
        from = depart(cpu, in);
        jump_real(cpu, &t);
        arrive(cpu, &from);
        return;
    }
    if (selector_null(t.selector))
        cpu_gp0(cpu);
    struct descriptor d;
    unsigned cpl = cpu->cpl;
    read_or_raise(cpu, t.selector, &d);
    if (desc_is_code(d.attr)) {
        check_direct_code(cpu, &d, t.selector);
    } else if (d.attr & DESC_S) {
        cpu_fault(cpu, VEC_GP, selector_error(t.selector));
    } else {
        struct descriptor gate = d;
        t = call_gate(cpu, &gate, t.selector, false, &d, &cpl);
    }
    check_offset(cpu, &d.seg, t.offset);
    from = depart(cpu, in);
    code_load(cpu, t.selector, &d.seg, cpl);
    cpu->rip = t.offset;
    arrive(cpu, &from);
}

/* CALL through a call gate to an inner ring: new stack, parameters copied (not in long mode). SDM
 * vol. 3 "Stack Switching". */
static void call_inner(struct cpu *cpu, const struct descriptor *gate, struct stack *st, unsigned n,
                       unsigned cpl)
{
    struct fault f;
    struct stack old;
    uint64_t parameters[32];
    bool lm = cpu_long_mode(cpu);
    unsigned count = lm ? 0 : gate->word[1] & 31;
    if (!inner_stack(cpu, cpl, 0, 0, st, &f))
        fault_raise(cpu, &f);
    st->error = selector_error(st->ss.selector);
    stack_of(&old, &cpu->seg[SEG_SS], cpu->r[RSP], cpu->cpl, cpu_64bit(cpu));
    for (unsigned i = 0; i < count; i++)
        parameters[i] = pop(cpu, &old, n);
    push(cpu, st, n, cpu->seg[SEG_SS].selector);
    push(cpu, st, n, cpu->r[RSP]);
    while (count)
        push(cpu, st, n, parameters[--count]);
}

void op_call_far(struct cpu *cpu, const struct insn *in)
{
    struct far_target t = far_operand(cpu, in);
    struct departure from;
    struct stack st;
    unsigned n = in->z.operand_width / 8, cpl = cpu->cpl;
    stack_current(cpu, &st);
    if (!protected_mode(cpu)) {
        push(cpu, &st, n, cpu->seg[SEG_CS].selector);
        push(cpu, &st, n, cpu->rip);
        if (t.offset > cpu->seg[SEG_CS].limit)
            cpu_gp0(cpu);
        from = depart(cpu, in);
        stack_commit(cpu, &st);
        jump_real(cpu, &t);
        arrive(cpu, &from);
        return;
    }
    if (selector_null(t.selector))
        cpu_gp0(cpu);
    struct descriptor d;
    read_or_raise(cpu, t.selector, &d);
    if (desc_is_code(d.attr)) {
        check_direct_code(cpu, &d, t.selector);
    } else if (d.attr & DESC_S) {
        cpu_fault(cpu, VEC_GP, selector_error(t.selector));
    } else {
        struct descriptor gate = d;
        t = call_gate(cpu, &gate, t.selector, true, &d, &cpl);
        n = cpu_long_mode(cpu) ? 8 : desc_type(gate.attr) == SYS_CALL ? 4 : 2;
        if (cpu_long_mode(cpu))
            stack_of(&st, &cpu->seg[SEG_SS], cpu->r[RSP], cpu->cpl, true);
        if (cpl < cpu->cpl)
            call_inner(cpu, &gate, &st, n, cpl);
    }
    push(cpu, &st, n, cpu->seg[SEG_CS].selector);
    push(cpu, &st, n, cpu->rip);
    check_offset(cpu, &d.seg, t.offset);
    from = depart(cpu, in);
    if (cpl < cpu->cpl)
        cpu->seg[SEG_SS] = st.ss;
    code_load(cpu, t.selector, &d.seg, cpl);
    stack_commit(cpu, &st);
    cpu->rip = t.offset;
    arrive(cpu, &from);
}

/* The code segment that a far RET or IRET returns to. */
static void return_code(struct cpu *cpu, uint16_t selector, struct descriptor *d)
{
    unsigned rpl = selector & 3;
    if (selector_null(selector))
        cpu_gp0(cpu);
    read_or_raise(cpu, selector, d);
    bool ok = desc_is_code(d->attr) && rpl >= cpu->cpl &&
              (d->attr & DESC_CONFORM ? desc_dpl(d->attr) <= rpl : desc_dpl(d->attr) == rpl);
    if (!ok)
        cpu_fault(cpu, VEC_GP, selector_error(selector));
    check_code_mode(cpu, d, selector);
    if (!(d->attr & DESC_P))
        cpu_fault(cpu, VEC_NP, selector_error(selector));
}

/* SS of a return: null is allowed to 64-bit code of ring 0 to 2, with the RPL of the code. SDM vol.
 * 2 "RET"; "IRET", IA-32e-MODE-RETURN; vol. 3 "Interrupt 13—General Protection Exception (#GP)". */
static void return_ss(struct cpu *cpu, uint16_t selector, unsigned cpl, const struct descriptor *cs,
                      struct segment *ss)
{
    struct fault f;
    if (selector_null(selector)) {
        bool to_64 = cpu_long_mode(cpu) && (cs->attr & SEG_ATTR_L);
        if (!to_64 || cpl == 3 || (selector & 3u) != cpl)
            cpu_gp0(cpu);
        *ss = (struct segment){.selector = selector, .attr = cpl << DESC_DPL_SHIFT};
        return;
    }
    if (!segment_check_ss(cpu, selector, cpl, VEC_GP, 0, ss, &f))
        fault_raise(cpu, &f);
}

/* RSP after a return: only as wide as the returned-to stack. */
static uint64_t returned_sp(struct cpu *cpu, const struct descriptor *cs, const struct segment *ss,
                            uint64_t sp)
{
    if (cpu_long_mode(cpu) && (cs->attr & SEG_ATTR_L))
        return sp;
    if (ss->attr & SEG_ATTR_DB)
        return (uint32_t)sp;
    return (cpu->r[RSP] & ~0xffffull) | (sp & 0xffff);
}

void op_ret_far(struct cpu *cpu, const struct insn *in)
{
    unsigned n = in->z.operand_width / 8;
    uint16_t release = in->z.operand_count_visible && in->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE
                           ? in->op[0].imm.value.u
                           : 0;
    struct departure from;
    struct stack st;
    stack_current(cpu, &st);
    uint64_t rip = pop(cpu, &st, n);
    uint16_t selector = pop(cpu, &st, n);
    if (!protected_mode(cpu)) {
        if (rip > cpu->seg[SEG_CS].limit)
            cpu_gp0(cpu);
        from = depart(cpu, in);
        st.sp = (st.sp & ~st.mask) | ((st.sp + release) & st.mask);
        stack_commit(cpu, &st);
        jump_real(cpu, &(struct far_target){selector, rip});
        arrive(cpu, &from);
        return;
    }
    struct descriptor d;
    return_code(cpu, selector, &d);
    unsigned cpl = selector & 3;
    bool outer = cpl > cpu->cpl;
    struct segment ss = cpu->seg[SEG_SS];
    st.sp = (st.sp & ~st.mask) | ((st.sp + release) & st.mask);
    if (outer) {
        uint64_t sp = pop(cpu, &st, n);
        return_ss(cpu, pop(cpu, &st, n), cpl, &d, &ss);
        st.sp = returned_sp(cpu, &d, &ss, sp + release);
    }
    /* Only then: SDM vol. 2 "RET", RETURN-OUTER-PRIVILEGE-LEVEL. */
    check_offset(cpu, &d.seg, rip);
    mark_accessed(cpu, &d);
    from = depart(cpu, in);
    code_load(cpu, selector, &d.seg, cpl);
    cpu->seg[SEG_SS] = ss;
    stack_commit(cpu, &st);
    cpu->rip = rip;
    if (outer)
        segment_drop_privileged(cpu);
    arrive(cpu, &from);
}

/* NMIs are unblocked by IRET even if it faults. SDM vol. 3 "Handling Multiple NMIs". */
static void unblock_nmi(struct cpu *cpu)
{
    cpu->nmi_blocked = false;
    if (cpu->attention & ATTN_NMI)
        cpu_reschedule(cpu);
}

void op_iret(struct cpu *cpu, const struct insn *in)
{
    unsigned n = in->z.operand_width / 8;
    bool lm = cpu_long_mode(cpu);
    struct departure from;
    struct stack st;
    unblock_nmi(cpu);
    if (protected_mode(cpu) && (cpu_rflags(cpu) & RFLAGS_NT)) {
        if (lm)
            cpu_gp0(cpu); /* no task switches in IA-32e mode */
        cpu_unsupported(cpu, "IRET with NT set (return from a nested task)");
    }
    stack_current(cpu, &st);
    uint64_t rip = pop(cpu, &st, n);
    uint16_t selector = pop(cpu, &st, n);
    uint64_t flags = pop(cpu, &st, n);
    if (!protected_mode(cpu)) {
        if (rip > cpu->seg[SEG_CS].limit)
            cpu_gp0(cpu);
        uint64_t mask = flags_writable(cpu, n);
        from = depart(cpu, in);
        stack_commit(cpu, &st);
        jump_real(cpu, &(struct far_target){selector, rip});
        flags_write(cpu, (cpu_rflags(cpu) & ~mask) | (flags & mask));
        arrive(cpu, &from);
        return;
    }
    if (!lm && n == 4 && (flags & RFLAGS_VM) && cpu->cpl == 0)
        cpu_unsupported(cpu, "IRET to virtual-8086 mode");
    struct descriptor d;
    return_code(cpu, selector, &d);
    unsigned cpl = selector & 3;
    bool outer = cpl > cpu->cpl;
    struct segment ss = cpu->seg[SEG_SS];
    /* In 64-bit mode SS:RSP is popped always, elsewhere on a return to an outer ring. SDM vol. 3
     * "IRET in IA-32e Mode". */
    if (outer || cpu_64bit(cpu)) {
        uint64_t sp = pop(cpu, &st, n);
        return_ss(cpu, pop(cpu, &st, n), cpl, &d, &ss);
        st.sp = returned_sp(cpu, &d, &ss, sp);
    }
    check_offset(cpu, &d.seg, rip);
    mark_accessed(cpu, &d);
    uint64_t mask = flags_writable(cpu, n);
    from = depart(cpu, in);
    code_load(cpu, selector, &d.seg, cpl);
    cpu->seg[SEG_SS] = ss;
    stack_commit(cpu, &st);
    cpu->rip = rip;
    flags_write(cpu, (cpu_rflags(cpu) & ~mask) | (flags & mask));
    if (outer)
        segment_drop_privileged(cpu);
    arrive(cpu, &from);
}
