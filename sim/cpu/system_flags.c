/*
 * Interrupt flag, POPF, and instructions that wait: HLT, MONITOR, MWAIT. SDM vol. 2; vol. 3
 * "Enabling and Disabling Interrupts".
 */
#include "sim/cpu/system.h"
#include "x86/cpuid.h"

/* CLI and STI below IOPL are #GP: virtual interrupts (CR4.PVI at CPL 3) are not modelled. */
void op_cli_sti(struct cpu *cpu, const struct insn *in)
{
    uint64_t flags = cpu_rflags(cpu);
    if (protected_mode(cpu) && cpu->cpl > iopl(cpu)) {
        if (cpu->cpl == 3 && (cpu->cr4 & CR4_PVI))
            cpu_unsupported(cpu, "protected-mode virtual interrupts (CR4.PVI)");
        cpu_gp0(cpu);
    }
    if (in->z.mnemonic == ZYDIS_MNEMONIC_CLI) {
        flags_write(cpu, flags & ~(uint64_t)RFLAGS_IF);
        return;
    }
    flags_write(cpu, flags | RFLAGS_IF);
    if (!(flags & RFLAGS_IF))
        interrupt_shadow(cpu, false);
}

void op_popf(struct cpu *cpu, const struct insn *in)
{
    unsigned n = in->z.operand_width / 8;
    struct stack st;
    struct fault f;
    uint64_t value;
    stack_current(cpu, &st);
    if (!stack_pop(cpu, &st, n, &value, &f))
        fault_raise(cpu, &f);
    stack_commit(cpu, &st);
    uint64_t mask = flags_writable(cpu, n);
    /* RF is cleared, whatever the image says. SDM vol. 2 "POPF". */
    flags_write(cpu, (cpu_rflags(cpu) & ~mask & ~(uint64_t)RFLAGS_RF) |
                         (value & mask & ~(uint64_t)RFLAGS_RF));
}

static void halt(struct cpu *cpu)
{
    cpu->state = CPU_HALTED;
    cpu_reschedule(cpu);
}

void op_hlt(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_cpl0(cpu);
    halt(cpu);
}

static void require_monitor(struct cpu *cpu)
{
    if (!cpuid_has(cpu, 1, 0, CPUID_ECX, CPUID_1_ECX_MONITOR) || cpu->cpl != 0)
        cpu_fault(cpu, VEC_UD, 0);
}

/* The monitored store is not watched: MWAIT may end at any time for implementation-dependent
 * reasons (SDM vol. 2 "MWAIT"), and here ends at an interrupt. */
void op_monitor(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_monitor(cpu);
    if ((uint32_t)cpu->r[RCX])
        cpu_gp0(cpu);
}

void op_mwait(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_monitor(cpu);
    if ((uint32_t)cpu->r[RCX] & ~1u)
        cpu_gp0(cpu);
    halt(cpu);
}

/* CLAC, STAC: SDM vol. 2. */
void op_stac(struct cpu *cpu, const struct insn *in)
{
    if (cpu->cpl != 0 || !cpuid_has(cpu, 7, 0, CPUID_EBX, CPUID_7_EBX_SMAP))
        cpu_fault(cpu, VEC_UD, 0);
    uint64_t flags = cpu_rflags(cpu) & ~(uint64_t)RFLAGS_AC;
    flags_write(cpu, flags | (in->z.mnemonic == ZYDIS_MNEMONIC_STAC ? RFLAGS_AC : 0));
}
