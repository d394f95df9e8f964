/*
 * The memory type range registers. They hold what is written; the model's memory has no types. SDM
 * vol. 3 "Memory Type Range Registers (MTRRs)".
 */
#include "sim/cpu/system.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

#define MTRRCAP_FIX          (1 << 8)
#define MTRRCAP_WC           (1 << 10)
#define MTRR_DEF_TYPE_FIELDS 0xcffull
#define MTRR_DEF_TYPE_FE     (1 << 10)
#define MTRR_DEF_TYPE_E      (1 << 11)
#define PHYSBASE_RESERVED    0xf00
#define PHYSMASK_RESERVED    0x7ff
#define PHYSMASK_VALID       (1 << 11)

static const uint16_t fixed_msr[MTRR_FIXED] = {
    MSR_IA32_MTRR_FIX64K_00000,    MSR_IA32_MTRR_FIX16K_80000,    MSR_IA32_MTRR_FIX16K_A0000,
    MSR_IA32_MTRR_FIX4K_C0000,     MSR_IA32_MTRR_FIX4K_C0000 + 1, MSR_IA32_MTRR_FIX4K_C0000 + 2,
    MSR_IA32_MTRR_FIX4K_C0000 + 3, MSR_IA32_MTRR_FIX4K_C0000 + 4, MSR_IA32_MTRR_FIX4K_C0000 + 5,
    MSR_IA32_MTRR_FIX4K_C0000 + 6, MSR_IA32_MTRR_FIX4K_C0000 + 7};

/* "Memory Types": the rest are reserved. */
bool memory_type_valid(unsigned type)
{
    return type == MEMORY_UC || type == MEMORY_WC || (type >= MEMORY_WT && type <= MEMORY_WB);
}

static uint64_t *fixed(struct cpu *cpu, uint32_t msr)
{
    for (unsigned i = 0; i < MTRR_FIXED; i++)
        if (fixed_msr[i] == msr)
            return &cpu->system->mtrr_fixed[i];
    return NULL;
}

/* NULL: not of a variable range that the processor has. */
static uint64_t *variable(struct cpu *cpu, uint32_t msr)
{
    uint32_t i = msr - MSR_IA32_MTRR_PHYSBASE0;
    return i < 2 * cpu->profile->mtrr_variable ? &cpu->system->mtrr_var[i / 2][i % 2] : NULL;
}

bool mtrr_owns(const struct cpu *cpu, uint32_t msr)
{
    if (!cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_MTRR))
        return false;
    return msr == MSR_IA32_MTRRCAP || msr == MSR_IA32_MTRR_DEF_TYPE ||
           variable((struct cpu *)cpu, msr) || fixed((struct cpu *)cpu, msr);
}

bool mtrr_read(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    if (msr == MSR_IA32_MTRRCAP)
        *value = cpu->profile->mtrr_variable | MTRRCAP_FIX | MTRRCAP_WC;
    else if (msr == MSR_IA32_MTRR_DEF_TYPE)
        *value = cpu->system->mtrr_def_type;
    else
        *value = variable(cpu, msr) ? *variable(cpu, msr) : *fixed(cpu, msr);
    return true;
}

/* "Variable Range MTRRs": the bits above MAXPHYADDR are reserved. */
static bool variable_value_ok(const struct cpu *cpu, bool mask, uint64_t value)
{
    uint64_t above = ~(ARCH_BIT(max_physical_bits(cpu)) - 1);
    if (value & (above | (mask ? PHYSMASK_RESERVED : PHYSBASE_RESERVED)))
        return false;
    return mask || memory_type_valid(value & 0xff);
}

/* "IA32_MTRR_DEF_TYPE MSR", "Fixed Range MTRRs": eight types of a byte each. */
bool mtrr_write(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    uint64_t *range = variable(cpu, msr);
    if (msr == MSR_IA32_MTRRCAP)
        return false;
    if (msr == MSR_IA32_MTRR_DEF_TYPE) {
        if ((value & ~MTRR_DEF_TYPE_FIELDS) || !memory_type_valid(value & 0xff))
            return false;
        cpu->system->mtrr_def_type = value;
        return true;
    }
    if (range) {
        if (!variable_value_ok(cpu, (msr - MSR_IA32_MTRR_PHYSBASE0) & 1, value))
            return false;
        *range = value;
        return true;
    }
    for (unsigned b = 0; b < 64; b += 8)
        if (!memory_type_valid(value >> b & 0xff))
            return false;
    *fixed(cpu, msr) = value;
    return true;
}

/* As a firmware leaves them on each processor: memory is WB, the hole below 1 MiB UC and write
 * protected ROM, and of the fourth GiB, where no memory can be, all is UC. */
void mtrr_firmware(struct cpu *cpu)
{
    struct system_state *s = cpu->system;
    const uint64_t all = 0x0101010101010101ull, hole = 0xc0000000;
    for (unsigned i = 0; i < MTRR_FIXED; i++)
        s->mtrr_fixed[i] = all * (fixed_msr[i] < MSR_IA32_MTRR_FIX16K_A0000    ? MEMORY_WB
                                  : fixed_msr[i] == MSR_IA32_MTRR_FIX16K_A0000 ? MEMORY_UC
                                                                               : MEMORY_WP);
    s->mtrr_var[0][0] = hole | MEMORY_UC;
    s->mtrr_var[0][1] =
        ((ARCH_BIT(max_physical_bits(cpu)) - 1) & ~(uint64_t)0x3fffffff) | PHYSMASK_VALID;
    s->mtrr_def_type = MTRR_DEF_TYPE_E | MTRR_DEF_TYPE_FE | MEMORY_WB;
}
