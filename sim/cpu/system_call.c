/*
 * Software interrupts, SYSCALL/SYSRET and SYSENTER/SYSEXIT. SDM vol. 2, their pseudo-code; vol. 3
 * "Fast System Calls in 64-Bit Mode"; AMD's: APM vol. 3 "SYSCALL", "SYSRET", "SYSENTER", "SYSEXIT".
 */
#include "sim/cpu/system.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"
#include "x86/msr.h"

/* Flat segments that the fast calls load without a look at the descriptor table. */
#define FLAT_CODE (DESC_G | DESC_P | DESC_S | DESC_CODE | DESC_RW | DESC_ACCESSED)
#define FLAT_DATA (DESC_G | DESC_P | DESC_S | DESC_RW | DESC_ACCESSED | SEG_ATTR_DB)

static struct segment flat(uint16_t selector, uint32_t attr, unsigned dpl)
{
    return (struct segment){
        .selector = selector, .limit = 0xffffffff, .attr = attr | dpl << DESC_DPL_SHIFT};
}

void op_int(struct cpu *cpu, const struct insn *in)
{
    struct event e = {.kind = EVENT_SOFTWARE, .rip = cpu->rip, .source = in->rip};
    switch (in->z.mnemonic) {
    case ZYDIS_MNEMONIC_INT1:
        e.vector = VEC_DB;
        e.privileged = true; /* SDM vol. 2 "INT n": INT1 has no DPL check */
        break;
    case ZYDIS_MNEMONIC_INT3:
        e.vector = VEC_BP;
        break;
    case ZYDIS_MNEMONIC_INTO:
        if (!(cpu_rflags(cpu) & RFLAGS_OF))
            return;
        e.vector = VEC_OF;
        break;
    default:
        e.vector = in->op[0].imm.value.u & 0xff;
    }
    struct fault f;
    unsigned class = cpu->cpl != 0;
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
    if (cpu->trace & TRACE_EXC)
        trace_exc(cpu, e.vector, 0);
    if (e.privileged)
        pmu_debug_exception(cpu->pmu);
    if (!deliver_once(cpu, &e, &f))
        fault_raise(cpu, &f);
    if (e.privileged)
        debug_exception_entered(cpu);
    /* "The INT n and INTO instructions, however, do clear this flag" (TF) and are not stepped. SDM
     * vol. 3 "Single-Step Exception Condition". */
    cpu->system->step_armed = false;
    /* Unlike the delivery of an event, this is an instruction: one taken branch, counted where it
     * began. */
    cpu->total[class][EV_BRANCH]++;
    cpu->total[class][EV_BRANCH_TAKEN]++;
    cpu->total[class][EV_BRANCH_FAR]++;
}

static void arrive(struct cpu *cpu, const struct insn *in, unsigned cpl_from)
{
    exec_mode_changed(cpu);
    cpu_branch_taken(cpu, BR_FAR, in->rip, cpu->rip, cpl_from, false);
}

static void enter_ring(struct cpu *cpu, uint16_t cs, uint16_t ss, uint32_t code_attr, unsigned cpl)
{
    cpu->seg[SEG_CS] = flat((cs & ~3) | cpl, FLAT_CODE | code_attr, cpl);
    cpu->seg[SEG_SS] = flat((ss & ~3) | cpl, FLAT_DATA, cpl);
    cpu->cpl = cpl;
}

/* Intel's are of 64-bit mode alone; AMD's of all of protected mode. */
static bool syscall_is_there(const struct cpu *cpu)
{
    bool mode = cpu->profile->amd ? protected_mode(cpu) : cpu_64bit(cpu);
    return mode && (cpu->efer & EFER_SCE);
}

/* AMD's outside long mode: EIP from STAR[31:0], EFLAGS are not kept, IF is cleared. */
static void syscall_legacy(struct cpu *cpu, uint16_t cs, uint64_t flags)
{
    cpu->r[RCX] = (uint32_t)cpu->rip;
    enter_ring(cpu, cs, cs + 8, SEG_ATTR_DB, 0);
    cpu->rip = (uint32_t)cpu->star;
    flags_write(cpu, flags & ~(uint64_t)(RFLAGS_VM | RFLAGS_IF | RFLAGS_RF));
}

void op_syscall(struct cpu *cpu, const struct insn *in)
{
    if (!syscall_is_there(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    unsigned cpl = cpu->cpl;
    uint64_t flags = cpu_rflags(cpu);
    uint16_t cs = (cpu->star >> 32) & 0xfffc;
    far_branch_events(cpu);
    if (!cpu_long_mode(cpu)) {
        syscall_legacy(cpu, cs, flags);
    } else {
        uint64_t target = cpu_64bit(cpu) ? cpu->lstar : cpu->cstar;
        cpu->r[RCX] = cpu->rip;
        cpu->r[R11] = flags & ~(uint64_t)RFLAGS_RF;
        enter_ring(cpu, cs, cs + 8, SEG_ATTR_L, 0);
        cpu->rip = target;
        flags_write(cpu, flags & ~cpu->fmask & ~(uint64_t)RFLAGS_RF);
    }
    cpu->system->step_armed &= (cpu_rflags(cpu) & RFLAGS_TF) != 0; /* with FMASK.TF: no step */
    arrive(cpu, in, cpl);
}

/* A non-canonical RCX is #GP at CPL 0, before anything changes (Intel), or of the fetch at CPL 3
 * (AMD). AMD's sets SS's selector alone; and EFLAGS.IF where there is no R11 (not in long mode). */
void op_sysret(struct cpu *cpu, const struct insn *in)
{
    bool amd = cpu->profile->amd, legacy = !cpu_long_mode(cpu);
    if (!syscall_is_there(cpu))
        cpu_fault(cpu, VEC_UD, 0);
    bool to_64 = in->z.operand_width == 64;
    if (cpu->cpl != 0 || (!amd && to_64 && !canonical(cpu->r[RCX])))
        cpu_gp0(cpu);
    struct segment ss = cpu->seg[SEG_SS];
    far_branch_events(cpu);
    uint16_t base = cpu->star >> 48;
    const uint64_t keep = ~(uint64_t)(RFLAGS_RF | RFLAGS_VM);
    const uint64_t defined = RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_TF |
                             RFLAGS_IF | RFLAGS_DF | RFLAGS_OF | RFLAGS_IOPL | RFLAGS_NT |
                             RFLAGS_AC | RFLAGS_VIF | RFLAGS_VIP | RFLAGS_ID;
    enter_ring(cpu, to_64 ? base + 16 : base, base + 8, to_64 ? SEG_ATTR_L : SEG_ATTR_DB, 3);
    if (amd) {
        ss.selector = cpu->seg[SEG_SS].selector;
        cpu->seg[SEG_SS] = ss;
    }
    cpu->rip = to_64 ? cpu->r[RCX] : (uint32_t)cpu->r[RCX];
    if (legacy)
        flags_write(cpu, cpu_rflags(cpu) | RFLAGS_IF);
    else
        flags_write(cpu, cpu->r[R11] & keep & defined);
    arrive(cpu, in, 0);
}

/* AMD's SYSENTER and SYSEXIT are #UD in long mode. */
static void require_sysenter(struct cpu *cpu)
{
    if (cpu->profile->amd && cpu_long_mode(cpu))
        cpu_fault(cpu, VEC_UD, 0);
}

void op_sysenter(struct cpu *cpu, const struct insn *in)
{
    require_sysenter(cpu);
    if (!protected_mode(cpu) || (cpu->sysenter_cs & 0xfffc) == 0)
        cpu_gp0(cpu);
    bool lm = cpu_long_mode(cpu);
    unsigned cpl = cpu->cpl;
    far_branch_events(cpu);
    uint16_t cs = cpu->sysenter_cs & 0xfffc;
    uint64_t flags = cpu_rflags(cpu) & ~(uint64_t)(RFLAGS_VM | RFLAGS_IF | RFLAGS_RF);
    enter_ring(cpu, cs, cs + 8, lm ? SEG_ATTR_L : SEG_ATTR_DB, 0);
    cpu->r[RSP] = lm ? cpu->sysenter_esp : (uint32_t)cpu->sysenter_esp;
    cpu->rip = lm ? cpu->sysenter_eip : (uint32_t)cpu->sysenter_eip;
    flags_write(cpu, flags);
    arrive(cpu, in, cpl);
}

void op_sysexit(struct cpu *cpu, const struct insn *in)
{
    bool to_64 = in->z.operand_width == 64;
    require_sysenter(cpu);
    if (!protected_mode(cpu) || (cpu->sysenter_cs & 0xfffc) == 0 || cpu->cpl != 0)
        cpu_gp0(cpu);
    if (to_64 && (!canonical(cpu->r[RCX]) || !canonical(cpu->r[RDX])))
        cpu_gp0(cpu);
    far_branch_events(cpu);
    uint16_t cs = (cpu->sysenter_cs & 0xfffc) + (to_64 ? 32 : 16);
    enter_ring(cpu, cs, cs + 8, to_64 ? SEG_ATTR_L : SEG_ATTR_DB, 3);
    cpu->r[RSP] = to_64 ? cpu->r[RCX] : (uint32_t)cpu->r[RCX];
    cpu->rip = to_64 ? cpu->r[RDX] : (uint32_t)cpu->r[RDX];
    arrive(cpu, in, 0);
}
