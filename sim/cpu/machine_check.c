/*
 * The registers of the machine-check architecture. There are never errors to report: the model's
 * hardware does not fail. SDM vol. 3 "Machine-Check Architecture", "Machine-Check MSRs".
 */
#include "sim/cpu/system.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

enum { BANK_CTL, BANK_STATUS, BANK_ADDR, BANK_MISC, BANK_REGISTERS };

static uint32_t capabilities(const struct cpu *cpu)
{
    return cpu->profile->mcg_cap;
}

static bool of_bank(const struct cpu *cpu, uint32_t msr)
{
    return msr - MSR_IA32_MC0_CTL < BANK_REGISTERS * (capabilities(cpu) & MCG_CAP_COUNT);
}

bool machine_check_owns(const struct cpu *cpu, uint32_t msr)
{
    if (!cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_MCA))
        return false;
    return msr == MSR_IA32_MCG_CAP || msr == MSR_IA32_MCG_STATUS ||
           (msr == MSR_IA32_MCG_CTL && (capabilities(cpu) & MCG_CAP_CTL_P)) || of_bank(cpu, msr);
}

bool machine_check_read(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    uint32_t i = msr - MSR_IA32_MC0_CTL;
    *value = 0;
    if (msr == MSR_IA32_MCG_CAP)
        *value = capabilities(cpu);
    else if (msr == MSR_IA32_MCG_CTL)
        *value = cpu->system->mcg_ctl;
    else if (of_bank(cpu, msr) && i % BANK_REGISTERS == BANK_CTL)
        *value = cpu->system->mc_ctl[i / BANK_REGISTERS];
    return true;
}

/* IA32_MCG_CAP is read-only. The status registers, of all and of a bank, and a bank's address and
 * further information take 0 alone; anything else is #GP. */
bool machine_check_write(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    uint32_t i = msr - MSR_IA32_MC0_CTL;
    if (msr == MSR_IA32_MCG_CAP)
        return false;
    if (msr == MSR_IA32_MCG_CTL)
        cpu->system->mcg_ctl = value;
    else if (of_bank(cpu, msr) && i % BANK_REGISTERS == BANK_CTL)
        cpu->system->mc_ctl[i / BANK_REGISTERS] = value;
    else
        return value == 0;
    return true;
}
