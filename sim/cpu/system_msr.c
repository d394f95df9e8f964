/*
 * RDMSR, WRMSR, RDPMC, RDTSC, RDTSCP, CPUID. SDM vol. 2.
 */
#include "sim/cpu/system.h"
#include "sim/fault.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"
#include "x86/cpuid.h"

static void result(struct cpu *cpu, uint64_t value)
{
    cpu->r[RAX] = (uint32_t)value;
    cpu->r[RDX] = value >> 32;
}

void op_rdmsr(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_cpl0(cpu);
    uint32_t msr = cpu->r[RCX];
    uint64_t value = 0;
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_msr);
    bool ok = fault_msr(cpu, msr, false) != FAULT_GP && cpu_rdmsr(cpu, msr, &value);
    if (cpu->trace & TRACE_MSR)
        trace_msr(cpu, false, msr, value, !ok);
    if (!ok)
        cpu_gp0(cpu);
    result(cpu, value);
}

void op_wrmsr(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_cpl0(cpu);
    uint32_t msr = cpu->r[RCX];
    uint64_t value = cpu->r[RDX] << 32 | (uint32_t)cpu->r[RAX];
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_msr);
    enum fault_access fault = fault_msr(cpu, msr, true);
    bool ok = fault == FAULT_IGNORED || (fault != FAULT_GP && cpu_wrmsr(cpu, msr, value));
    if (cpu->trace & TRACE_MSR)
        trace_msr(cpu, true, msr, value, !ok);
    if (!ok)
        cpu_gp0(cpu);
    cpu_reschedule(cpu); /* a timer, a counter, the TPR may have moved */
}

void op_rdpmc(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    if (cpu->cpl != 0 && protected_mode(cpu) && !(cpu->cr4 & CR4_PCE))
        cpu_gp0(cpu);
    uint64_t value;
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_msr);
    if (fault_rdpmc(cpu, cpu->r[RCX]) == FAULT_GP || !pmu_rdpmc(cpu->pmu, cpu->r[RCX], &value))
        cpu_gp0(cpu);
    result(cpu, value);
}

static void require_tsc(struct cpu *cpu)
{
    if ((cpu->cr4 & CR4_TSD) && cpu->cpl != 0)
        cpu_gp0(cpu);
}

void op_rdtsc(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_tsc(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_tsc);
    result(cpu, cpu_tsc(cpu));
}

void op_rdtscp(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    if (!cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_RDTSCP))
        cpu_fault(cpu, VEC_UD, 0);
    require_tsc(cpu);
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_tsc);
    result(cpu, cpu_tsc(cpu));
    cpu->r[RCX] = (uint32_t)cpu->tsc_aux;
}

void op_cpuid(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    uint32_t out[4];
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
    cpu_cpuid(cpu, cpu->r[RAX], cpu->r[RCX], out);
    /* SDM vol. 3 "Update Signature and Verification": CPUID deposits the update's revision in
     * IA32_BIOS_SIGN_ID; "If no update is present in the processor, the value in the MSR remains
     * unmodified". The table of the signature names function 1. */
    if ((uint32_t)cpu->r[RAX] == 1 && cpu->profile->microcode != 0)
        cpu->system->bios_sign_id = (uint64_t)cpu->profile->microcode << 32;
    cpu->r[RAX] = out[0];
    cpu->r[RBX] = out[1];
    cpu->r[RCX] = out[2];
    cpu->r[RDX] = out[3];
}
