/*
 * RDMSR, WRMSR, RDPMC, RDTSC, RDTSCP, CPUID. SDM vol. 2.
 */
#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "sim/fault.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"
#include "x86/cpuid.h"

static void result(struct cpu *cpu, uint64_t value)
{
    cpu->r[RAX] = (uint32_t)value;
    cpu->r[RDX] = value >> 32;
}

/* Basic exit reasons, SDM vol. 3, appendix "VMX Basic Exit Reasons". */
#define EXIT_CPUID  10
#define EXIT_RDMSR  31
#define EXIT_WRMSR  32
#define INSN_LENGTH 2 /* of the three */

/* Linux, Documentation/arch/x86/tdx.rst: a trust domain gets #VE where its host would have to act.
 * Until it has asked what the #VE was about "any #VE is elevated to a double fault (#DF)". */
static _Noreturn void virtualization_exception(struct cpu *cpu, unsigned reason)
{
    if (cpu->system->ve_reason)
        cpu_fault(cpu, VEC_DF, 0);
    cpu->system->ve_reason = reason;
    cpu_fault(cpu, VEC_VE, 0);
}

/* TDG.VP.VEINFO.GET in RAX, the one leaf that is played: RCX to R10 tell of the #VE as a VM exit
 * would, and it is over. RAX is 0, or TDCALL_INVALID_OPERAND (both Linux, arch/x86/coco/tdx). */
#define TDCALL_GET_VEINFO      3
#define TDCALL_INVALID_OPERAND (0xc0000100ULL << 32)

void op_tdcall(struct cpu *cpu, const struct insn *in)
{
    if (!fault_trust_domain(cpu))
        missing_instruction(cpu, in);
    require_cpl0(cpu);
    if (cpu->r[RAX] != TDCALL_GET_VEINFO || !cpu->system->ve_reason) {
        cpu->r[RAX] = TDCALL_INVALID_OPERAND;
        return;
    }
    cpu->r[RAX] = 0;
    cpu->r[RCX] = cpu->system->ve_reason;
    cpu->r[RDX] = cpu->r[R8] = cpu->r[R9] = 0;
    cpu->r[R10] = INSN_LENGTH;
    cpu->system->ve_reason = 0;
    cpu_reschedule(cpu); /* what was blocked meanwhile */
}

void op_rdmsr(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    require_cpl0(cpu);
    uint32_t msr = cpu->r[RCX];
    uint64_t value = 0;
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_msr);
    enum fault_access fault = fault_msr(cpu, msr, false);
    if (fault == FAULT_VE)
        virtualization_exception(cpu, EXIT_RDMSR);
    bool ok = fault != FAULT_GP && cpu_rdmsr(cpu, msr, &value);
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
    if (fault == FAULT_VE)
        virtualization_exception(cpu, EXIT_WRMSR);
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

/* False: not yet, it is executed again. */
static bool read_tsc(struct cpu *cpu)
{
    require_tsc(cpu);
    if (machine_lets_others_catch_up(cpu)) {
        cpu->unfinished = true;
        return false;
    }
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_tsc);
    result(cpu, cpu_tsc(cpu));
    return true;
}

void op_rdtsc(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    read_tsc(cpu);
}

void op_rdtscp(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    if (!cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_RDTSCP))
        cpu_fault(cpu, VEC_UD, 0);
    if (read_tsc(cpu))
        cpu->r[RCX] = (uint32_t)cpu->tsc_aux;
}

void op_cpuid(struct cpu *cpu, const struct insn *in)
{
    (void)in;
    uint32_t out[4];
    cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
    /* SDM vol. 2 "CPUID", CPUID faulting (vol. 4, 140H): #GP above ring 0. */
    if ((cpu->system->misc_features & MISC_FEATURES_CPUID_FAULTING) && cpu->cpl != 0)
        cpu_gp0(cpu);
    if (fault_cpuid(cpu, cpu->r[RAX]))
        virtualization_exception(cpu, EXIT_CPUID);
    cpu_cpuid(cpu, cpu->r[RAX], cpu->r[RCX], out);
    /* SDM vol. 3 "Update Signature and Verification": CPUID deposits the update's revision in
     * IA32_BIOS_SIGN_ID; "If no update is present in the processor, the value in the MSR remains
     * unmodified". The table of the signature names function 1. */
    if ((uint32_t)cpu->r[RAX] == 1 && cpu->profile->microcode != 0 && !cpu->profile->amd)
        cpu->system->bios_sign_id = (uint64_t)cpu->profile->microcode << 32;
    cpu->r[RAX] = out[0];
    cpu->r[RBX] = out[1];
    cpu->r[RCX] = out[2];
    cpu->r[RDX] = out[3];
}
