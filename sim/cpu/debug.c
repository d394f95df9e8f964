/*
 * Debug registers: breakpoints on execution, data and I/O, general detect, single step. SDM vol. 3
 * "Debug Registers" and "Debug Exceptions".
 */
#include "sim/cpu/system.h"
#include "sim/pmu/pmu.h"

#define DR7_ENABLES     0xff
#define DR7_ZERO        0xdc00u /* 15:14, 12:11 and, set again below, 10 */
#define DR6_WRITABLE    (0xfu | DR6_BD | DR6_BS | DR6_BT)
#define DR6_BREAKPOINTS 0xfu

/* DR7.R/Wn. */
enum condition { ON_EXECUTION, ON_WRITE, ON_IO, ON_ACCESS };

static bool enabled(const struct cpu *cpu, unsigned i)
{
    return cpu->dr[7] >> (2 * i) & 3;
}
static enum condition condition(const struct cpu *cpu, unsigned i)
{
    return cpu->dr[7] >> (16 + 4 * i) & 3;
}
/* LENn: 1, 2, 8 or 4 bytes. The range is aligned to its length. */
static unsigned length(const struct cpu *cpu, unsigned i)
{
    static const unsigned bytes[] = {1, 2, 8, 4};
    return bytes[cpu->dr[7] >> (18 + 4 * i) & 3];
}

static bool overlaps(const struct cpu *cpu, unsigned i, uint64_t address, unsigned n)
{
    uint64_t len = length(cpu, i), start = cpu->dr[i] & ~(len - 1);
    return address < start + len && start < address + n;
}

/* After a write to DR0-DR3 or DR7: what the TLB and the interpreter must watch. */
void debug_update(struct cpu *cpu)
{
    struct system_state *s = cpu->system;
    s->watch_data = false;
    for (unsigned i = 0; i < DEBUG_REGS; i++) {
        bool data =
            enabled(cpu, i) && (condition(cpu, i) == ON_WRITE || condition(cpu, i) == ON_ACCESS);
        s->watch[i] = data ? cpu->dr[i] : UINT64_MAX;
        s->watch_data |= data;
    }
    tlb_flush(cpu, true);
    step_attention(cpu);
}

/* SDM vol. 3 "Data Breakpoint...": breakpoints that match set their B bit, enabled or not is for
 * the exception; here only the enabled are reported. */
void debug_data_access(struct cpu *cpu, uint64_t linear, unsigned n, bool write)
{
    if (!cpu->system->watch_data)
        return;
    for (unsigned i = 0; i < DEBUG_REGS; i++) {
        if (!enabled(cpu, i) || !overlaps(cpu, i, linear, n))
            continue;
        enum condition c = condition(cpu, i);
        if (c == ON_ACCESS || (c == ON_WRITE && write)) {
            cpu->system->debug_hits |= DR6_B0 << i;
            cpu_attend(cpu, ATTN_STEP);
        }
    }
}

void debug_io_access(struct cpu *cpu, uint16_t port, unsigned n)
{
    if (!(cpu->cr4 & CR4_DE) || !(cpu->dr[7] & DR7_ENABLES))
        return;
    for (unsigned i = 0; i < DEBUG_REGS; i++)
        if (enabled(cpu, i) && condition(cpu, i) == ON_IO && overlaps(cpu, i, port, n))
            cpu->system->debug_hits |= DR6_B0 << i;
}

static void report_hits(struct cpu *cpu, uint32_t hits)
{
    if (hits)
        cpu->dr[6] = (cpu->dr[6] & ~(uint64_t)DR6_BREAKPOINTS) | hits;
}

/* A debug exception's handler is entered. SDM vol. 3 "Debug Control Register (DR7)": GD is cleared,
 * so that the handler may use the debug registers. Hits that the shadow of MOV SS held back until
 * an INT1 come with its exception, not as one more. */
void debug_exception_entered(struct cpu *cpu)
{
    cpu->dr[7] &= ~(uint64_t)DR7_GD;
    report_hits(cpu, cpu->system->debug_hits);
    cpu->system->debug_hits = 0;
}

/* Before an instruction, when ATTN_STEP is set: execution breakpoints are faults, held off by RF
 * and by the shadow of MOV SS. */
void system_before_insn(struct cpu *cpu)
{
    struct system_state *s = cpu->system;
    uint64_t flags = cpu_rflags(cpu);
    s->took_far = false;
    s->step_armed = flags & RFLAGS_TF;
    s->rf_armed = flags & RFLAGS_RF;
    s->shadow_ends = cpu->shadow;
    if (!(cpu->dr[7] & DR7_ENABLES) || s->rf_armed || (cpu->shadow && s->shadow_ss))
        return;
    uint64_t linear = cpu_64bit(cpu) ? cpu->rip : (uint32_t)(cpu->seg[SEG_CS].base + cpu->rip);
    uint32_t hits = 0;
    for (unsigned i = 0; i < DEBUG_REGS; i++)
        if (enabled(cpu, i) && condition(cpu, i) == ON_EXECUTION && cpu->dr[i] == linear)
            hits |= DR6_B0 << i;
    if (!hits)
        return;
    report_hits(cpu, hits);
    cpu_fault(cpu, VEC_DB, 0);
}

/* After an instruction: the shadow ends, RF ends, traps are taken (held off after MOV SS until the
 * next instruction is done; SDM vol. 3 "Masking Exceptions and Interrupts When Switching Stacks").
 */
void system_after_insn(struct cpu *cpu, bool took_branch)
{
    struct system_state *s = cpu->system;
    bool step = s->step_armed && (!pmu_btf(cpu->pmu) || took_branch || s->took_far);
    s->step_armed = false;
    if (s->rf_armed) {
        cpu_set_rflags(cpu, cpu_rflags(cpu) & ~(uint64_t)RFLAGS_RF);
        s->rf_armed = false;
    }
    if (s->shadow_ends) {
        cpu->shadow = s->shadow_ss = s->shadow_ends = false;
        cpu_reschedule(cpu);
    }
    if (cpu->shadow && s->shadow_ss)
        return; /* data hits stay pending; a single step on MOV SS is lost */
    uint32_t hits = s->debug_hits;
    s->debug_hits = 0;
    step_attention(cpu);
    if (!step && !hits)
        return;
    report_hits(cpu, hits);
    if (step)
        cpu->dr[6] |= DR6_BS;
    /* SDM vol. 2 "HLT": a debug exception resumes execution. */
    if (cpu->state == CPU_HALTED)
        cpu->state = CPU_RUNNING;
    deliver(cpu, EVENT_EXCEPTION, VEC_DB, false, 0, cpu->rip);
}

/* SDM vol. 2 "MOV—Move to/from Debug Registers". */
void op_mov_dr(struct cpu *cpu, const struct insn *in)
{
    bool write = ZydisRegisterGetClass(in->op[0].reg.value) == ZYDIS_REGCLASS_DEBUG;
    unsigned n = in->op[!write].reg.value - ZYDIS_REGISTER_DR0;
    ZydisRegister gpr = in->op[write].reg.value;
    if (n > 7 || ((n == 4 || n == 5) && (cpu->cr4 & CR4_DE)))
        cpu_fault(cpu, VEC_UD, 0);
    require_cpl0(cpu);
    if (cpu->dr[7] & DR7_GD) {
        cpu->dr[6] |= DR6_BD;
        cpu_fault(cpu, VEC_DB, 0);
    }
    if (n == 4 || n == 5)
        n += 2;
    if (!write) {
        insn_set_register(cpu, gpr, cpu->dr[n]);
        return;
    }
    uint64_t value = insn_register(cpu, gpr);
    if (n >= 6 && value >> 32)
        cpu_gp0(cpu);
    if (n == 6)
        value = (value & DR6_WRITABLE) | DR6_FIXED1;
    else if (n == 7)
        value = (value & ~(uint64_t)DR7_ZERO) | DR7_FIXED1;
    cpu->dr[n] = value;
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
    if (n != 6)
        debug_update(cpu);
}
