/*
 * The system instructions: which function does which mnemonic, and what they share.
 */
#include "sim/cpu/system.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"

/* By mnemonic; those that are system instructions by an operand only (MOV, PUSH, POP, JMP, CALL,
 * RET) are told apart below. */
static system_op *const by_mnemonic[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    [ZYDIS_MNEMONIC_ARPL] = op_arpl,
    [ZYDIS_MNEMONIC_CLAC] = op_stac,
    [ZYDIS_MNEMONIC_CLI] = op_cli_sti,
    [ZYDIS_MNEMONIC_CLTS] = op_clts,
    [ZYDIS_MNEMONIC_CPUID] = op_cpuid,
    [ZYDIS_MNEMONIC_FXRSTOR] = op_fxrstor,
    [ZYDIS_MNEMONIC_FXRSTOR64] = op_fxrstor,
    [ZYDIS_MNEMONIC_FXSAVE] = op_fxsave,
    [ZYDIS_MNEMONIC_FXSAVE64] = op_fxsave,
    [ZYDIS_MNEMONIC_HLT] = op_hlt,
    [ZYDIS_MNEMONIC_IN] = op_in_out,
    [ZYDIS_MNEMONIC_INSB] = op_ins,
    [ZYDIS_MNEMONIC_INSW] = op_ins,
    [ZYDIS_MNEMONIC_INSD] = op_ins,
    [ZYDIS_MNEMONIC_INT] = op_int,
    [ZYDIS_MNEMONIC_INT1] = op_int,
    [ZYDIS_MNEMONIC_INT3] = op_int,
    [ZYDIS_MNEMONIC_INTO] = op_int,
    [ZYDIS_MNEMONIC_INVD] = op_cache,
    [ZYDIS_MNEMONIC_INVLPG] = op_invlpg,
    [ZYDIS_MNEMONIC_INVPCID] = op_invpcid,
    [ZYDIS_MNEMONIC_IRET] = op_iret,
    [ZYDIS_MNEMONIC_IRETD] = op_iret,
    [ZYDIS_MNEMONIC_IRETQ] = op_iret,
    [ZYDIS_MNEMONIC_LAR] = op_lar,
    [ZYDIS_MNEMONIC_LDS] = op_load_far_pointer,
    [ZYDIS_MNEMONIC_LES] = op_load_far_pointer,
    [ZYDIS_MNEMONIC_LFS] = op_load_far_pointer,
    [ZYDIS_MNEMONIC_LGDT] = op_lgdt,
    [ZYDIS_MNEMONIC_LGS] = op_load_far_pointer,
    [ZYDIS_MNEMONIC_LIDT] = op_lgdt,
    [ZYDIS_MNEMONIC_LLDT] = op_lldt,
    [ZYDIS_MNEMONIC_LMSW] = op_lmsw,
    [ZYDIS_MNEMONIC_LSL] = op_lar,
    [ZYDIS_MNEMONIC_LSS] = op_load_far_pointer,
    [ZYDIS_MNEMONIC_LTR] = op_ltr,
    [ZYDIS_MNEMONIC_MONITOR] = op_monitor,
    [ZYDIS_MNEMONIC_MWAIT] = op_mwait,
    [ZYDIS_MNEMONIC_OUT] = op_in_out,
    [ZYDIS_MNEMONIC_OUTSB] = op_outs,
    [ZYDIS_MNEMONIC_OUTSW] = op_outs,
    [ZYDIS_MNEMONIC_OUTSD] = op_outs,
    [ZYDIS_MNEMONIC_POPF] = op_popf,
    [ZYDIS_MNEMONIC_POPFD] = op_popf,
    [ZYDIS_MNEMONIC_POPFQ] = op_popf,
    [ZYDIS_MNEMONIC_RDFSBASE] = op_fsgsbase,
    [ZYDIS_MNEMONIC_RDGSBASE] = op_fsgsbase,
    [ZYDIS_MNEMONIC_RDMSR] = op_rdmsr,
    [ZYDIS_MNEMONIC_RDPMC] = op_rdpmc,
    [ZYDIS_MNEMONIC_RDTSC] = op_rdtsc,
    [ZYDIS_MNEMONIC_RDTSCP] = op_rdtscp,
    [ZYDIS_MNEMONIC_RSM] = op_ud, /* outside SMM */
    [ZYDIS_MNEMONIC_SGDT] = op_sgdt,
    [ZYDIS_MNEMONIC_SIDT] = op_sgdt,
    [ZYDIS_MNEMONIC_SLDT] = op_sldt,
    [ZYDIS_MNEMONIC_SMSW] = op_smsw,
    [ZYDIS_MNEMONIC_STAC] = op_stac,
    [ZYDIS_MNEMONIC_STI] = op_cli_sti,
    [ZYDIS_MNEMONIC_STR] = op_str,
    [ZYDIS_MNEMONIC_SWAPGS] = op_swapgs,
    [ZYDIS_MNEMONIC_SYSCALL] = op_syscall,
    [ZYDIS_MNEMONIC_SYSENTER] = op_sysenter,
    [ZYDIS_MNEMONIC_SYSEXIT] = op_sysexit,
    [ZYDIS_MNEMONIC_SYSRET] = op_sysret,
    [ZYDIS_MNEMONIC_TDCALL] = op_tdcall,
    [ZYDIS_MNEMONIC_UD0] = op_ud,
    [ZYDIS_MNEMONIC_UD1] = op_ud,
    [ZYDIS_MNEMONIC_UD2] = op_ud,
    [ZYDIS_MNEMONIC_VERR] = op_ver,
    [ZYDIS_MNEMONIC_VERW] = op_ver,
    [ZYDIS_MNEMONIC_WBINVD] = op_cache,
    [ZYDIS_MNEMONIC_WRFSBASE] = op_fsgsbase,
    [ZYDIS_MNEMONIC_WRGSBASE] = op_fsgsbase,
    [ZYDIS_MNEMONIC_WRMSR] = op_wrmsr,
    [ZYDIS_MNEMONIC_XGETBV] = op_xgetbv,
    [ZYDIS_MNEMONIC_XRSTOR] = op_xrstor,
    [ZYDIS_MNEMONIC_XRSTOR64] = op_xrstor,
    [ZYDIS_MNEMONIC_XRSTORS] = op_xrstor,
    [ZYDIS_MNEMONIC_XRSTORS64] = op_xrstor,
    [ZYDIS_MNEMONIC_XSAVE] = op_xsave,
    [ZYDIS_MNEMONIC_XSAVE64] = op_xsave,
    [ZYDIS_MNEMONIC_XSAVEC] = op_xsavec,
    [ZYDIS_MNEMONIC_XSAVEC64] = op_xsavec,
    [ZYDIS_MNEMONIC_XSAVEOPT] = op_xsave,
    [ZYDIS_MNEMONIC_XSAVEOPT64] = op_xsave,
    [ZYDIS_MNEMONIC_XSAVES] = op_xsavec,
    [ZYDIS_MNEMONIC_XSAVES64] = op_xsavec,
    [ZYDIS_MNEMONIC_XSETBV] = op_xsetbv,
};

static ZydisRegisterClass operand_class(const struct insn *in, unsigned i)
{
    if (i >= in->z.operand_count_visible || in->op[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return ZYDIS_REGCLASS_INVALID;
    return ZydisRegisterGetClass(in->op[i].reg.value);
}

static system_op *by_operand(const struct insn *in)
{
    ZydisRegisterClass a = operand_class(in, 0), b = operand_class(in, 1);
    bool far = in->z.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;
    switch (in->z.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        if (a == ZYDIS_REGCLASS_CONTROL || b == ZYDIS_REGCLASS_CONTROL)
            return op_mov_cr;
        if (a == ZYDIS_REGCLASS_DEBUG || b == ZYDIS_REGCLASS_DEBUG)
            return op_mov_dr;
        if (a == ZYDIS_REGCLASS_SEGMENT || b == ZYDIS_REGCLASS_SEGMENT)
            return op_mov_sreg;
        return NULL;
    case ZYDIS_MNEMONIC_PUSH:
        return a == ZYDIS_REGCLASS_SEGMENT ? op_push_sreg : NULL;
    case ZYDIS_MNEMONIC_POP:
        return a == ZYDIS_REGCLASS_SEGMENT ? op_pop_sreg : NULL;
    case ZYDIS_MNEMONIC_JMP:
        return far ? op_jmp_far : NULL;
    case ZYDIS_MNEMONIC_CALL:
        return far ? op_call_far : NULL;
    case ZYDIS_MNEMONIC_RET:
        return far ? op_ret_far : NULL;
    default:
        return NULL;
    }
}

bool system_execute(struct cpu *cpu, const struct insn *in)
{
    system_op *op = by_mnemonic[in->z.mnemonic];
    if (!op)
        op = by_operand(in);
    if (!op)
        return false;
    op(cpu, in);
    return true;
}

/* SDM vol. 3 "Instructions That Cause VM Exits": CPUID always, the others when the hypervisor wants
 * it, as KVM does for the registers of the PMU, which are the guest's in appearance only. */
bool system_exits(const struct insn *in)
{
    switch (in->z.mnemonic) {
    case ZYDIS_MNEMONIC_CPUID:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_OUT:
    case ZYDIS_MNEMONIC_RDMSR:
    case ZYDIS_MNEMONIC_WRMSR:
    case ZYDIS_MNEMONIC_RDPMC:
        return true;
    default:
        return false;
    }
}

void op_ud(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    cpu_fault(cpu, VEC_UD, 0);
}

/* A far transfer is one taken branch instruction; it is never predicted and waits for all before
 * it. */
void far_branch_events(struct cpu *cpu)
{
    cpu->system->took_far = true;
    cpu_event(cpu, EV_BRANCH, 1);
    cpu_event(cpu, EV_BRANCH_TAKEN, 1);
    cpu_event(cpu, EV_BRANCH_FAR, 1);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
}

void cpu_branch_taken(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to,
                      unsigned cpl_from, bool mispredicted)
{
    if (cpu->want_branches) {
        pmu_branch(cpu->pmu, kind, from, to, cpl_from, mispredicted);
        cpu->branched = true;
    }
    if (cpu->trace & TRACE_BRANCH)
        trace_branch(cpu, kind, from, to);
}

/* ---- RFLAGS ---- */

void step_attention(struct cpu *cpu)
{
    struct system_state *s = cpu->system;
    bool step = (cpu_rflags(cpu) & (RFLAGS_TF | RFLAGS_RF)) || cpu->shadow || (cpu->dr[7] & 0xff) ||
                s->debug_hits;
    if (step)
        cpu_attend(cpu, ATTN_STEP);
    else
        cpu->attention &= ~ATTN_STEP;
}

void flags_write(struct cpu *cpu, uint64_t value)
{
    cpu_set_rflags(cpu, value | RFLAGS_FIXED1);
    step_attention(cpu);
    cpu_reschedule(cpu); /* IF may have been set */
}

/* SDM vol. 2 "POPF/POPFD/POPFQ" and "IRET": IOPL at CPL 0 only, IF at CPL <= IOPL; VM, VIF and VIP
 * never here; a 16-bit image leaves the upper half. */
uint64_t flags_writable(struct cpu *cpu, unsigned bytes)
{
    uint64_t mask = RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_TF |
                    RFLAGS_DF | RFLAGS_OF | RFLAGS_NT;
    if (bytes > 2)
        mask |= RFLAGS_RF | RFLAGS_AC | RFLAGS_ID;
    if (cpu->cpl == 0)
        mask |= RFLAGS_IOPL;
    if (!protected_mode(cpu) || cpu->cpl <= iopl(cpu))
        mask |= RFLAGS_IF;
    return mask;
}

/* SDM vol. 3 "Masking Maskable Hardware Interrupts" (STI) and "Masking Exceptions and Interrupts
 * When Switching Stacks" (MOV SS, POP SS). */
void interrupt_shadow(struct cpu *cpu, bool stack_segment)
{
    cpu->shadow = true;
    cpu->system->shadow_ss = stack_segment;
    cpu->system->shadow_ends = false;
    step_attention(cpu);
}

/* ---- code segments ---- */

bool code_target_ok(struct cpu *cpu, const struct segment *cs, uint64_t rip)
{
    if (cpu_long_mode(cpu) && (cs->attr & SEG_ATTR_L))
        return canonical(rip);
    return rip <= cs->limit;
}

void code_load(struct cpu *cpu, uint16_t selector, const struct segment *cs, unsigned cpl)
{
    cpu->seg[SEG_CS] = *cs;
    cpu->seg[SEG_CS].selector = (selector & ~3) | cpl;
    cpu->cpl = cpl;
}
