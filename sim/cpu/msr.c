/*
 * RDMSR and WRMSR by number. The PMU and the local APIC are asked first for what is theirs; the
 * rest stands in a table; everything else is #GP. SDM vol. 4 "Architectural MSRs".
 */
#include <stddef.h>

#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

#define FEATURE_CONTROL_LOCK 1
#define MTRRCAP_FIX          (1 << 8)
#define MTRRCAP_WC           (1 << 10)
#define MTRR_DEF_TYPE_FIELDS 0xcffull

static const uint16_t mtrr_fixed_msr[MTRR_FIXED] = {
    MSR_IA32_MTRR_FIX64K_00000,    MSR_IA32_MTRR_FIX16K_80000,    MSR_IA32_MTRR_FIX16K_A0000,
    MSR_IA32_MTRR_FIX4K_C0000,     MSR_IA32_MTRR_FIX4K_C0000 + 1, MSR_IA32_MTRR_FIX4K_C0000 + 2,
    MSR_IA32_MTRR_FIX4K_C0000 + 3, MSR_IA32_MTRR_FIX4K_C0000 + 4, MSR_IA32_MTRR_FIX4K_C0000 + 5,
    MSR_IA32_MTRR_FIX4K_C0000 + 6, MSR_IA32_MTRR_FIX4K_C0000 + 7};

/* ---- features that an MSR needs ---- */

typedef bool feature(const struct cpu *cpu);
static bool has_long_mode(const struct cpu *cpu)
{
    return cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_LM);
}
static bool has_efer(const struct cpu *cpu)
{
    return has_long_mode(cpu) || cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_NX);
}
static bool has_rdtscp(const struct cpu *cpu)
{
    return cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_RDTSCP);
}
static bool has_sep(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_SEP);
}
static bool has_mtrr(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_MTRR);
}
static bool has_pat(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_PAT);
}
static bool has_mca(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_MCA);
}
static bool has_tsc_adjust(const struct cpu *cpu)
{
    return cpuid_has(cpu, 7, 0, CPUID_EBX, CPUID_7_EBX_TSC_ADJUST);
}
static bool has_perf_clocks(const struct cpu *cpu)
{
    return cpuid_has(cpu, 6, 0, CPUID_ECX, CPUID_6_ECX_HW_COORD_FEEDBACK);
}
static bool has_smi_count(const struct cpu *cpu)
{
    return cpu->profile->smi_count;
}
static bool has_feature_control(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_ECX, CPUID_1_ECX_VMX) ||
           cpuid_has(cpu, 1, 0, CPUID_ECX, CPUID_1_ECX_SMX);
}

/* ---- writers with rules of their own ---- */

/* SDM vol. 3 "Time-Stamp Counter Adjustment": a write to the TSC moves TSC_ADJUST by as much, and
 * the other way round. */
bool tsc_write(struct cpu *cpu, uint64_t value)
{
    uint64_t delta = value - cpu_tsc(cpu);
    cpu->tsc_offset += delta;
    cpu->system->tsc_adjust += delta;
    cpu_reschedule(cpu); /* a TSC deadline may be due */
    return true;
}

static bool tsc_adjust_write(struct cpu *cpu, uint64_t value)
{
    cpu->tsc_offset += value - cpu->system->tsc_adjust;
    cpu->system->tsc_adjust = value;
    cpu_reschedule(cpu);
    return true;
}

static bool memory_type_valid(unsigned type)
{
    return type == 0 || type == 1 || (type >= 4 && type <= 6);
}

/* SDM vol. 3 "Page Attribute Table": each byte a memory type, UC- (7) too. */
static bool pat_write(struct cpu *cpu, uint64_t value)
{
    for (unsigned i = 0; i < 64; i += 8) {
        unsigned type = value >> i & 0xff;
        if (type != 7 && !memory_type_valid(type))
            return false;
    }
    cpu->pat = value;
    return true;
}

static bool fs_base_write(struct cpu *cpu, uint64_t value)
{
    cpu->seg[SEG_FS].base = value;
    return true;
}

static bool feature_control_write(struct cpu *cpu, uint64_t value)
{
    if (cpu->system->feature_control & FEATURE_CONTROL_LOCK)
        return false;
    cpu->system->feature_control = value;
    return true;
}

/* Bits 31:0 are reserved; that they can be written and read back is not said. */
static bool bios_sign_id_write(struct cpu *cpu, uint64_t value)
{
    cpu->system->bios_sign_id = value;
    return true;
}

static bool mtrr_def_type_write(struct cpu *cpu, uint64_t value)
{
    if ((value & ~MTRR_DEF_TYPE_FIELDS) || !memory_type_valid(value & 0xff))
        return false;
    cpu->system->mtrr_def_type = value;
    return true;
}

static bool write_zero_only(struct cpu *cpu, uint64_t value)
{
    (void)cpu;
    return value == 0;
}

static bool ignore_write(struct cpu *cpu, uint64_t value)
{
    (void)cpu;
    (void)value;
    return true;
}

/* ---- readers with rules of their own ---- */

static uint64_t zero_read(const struct cpu *cpu)
{
    (void)cpu;
    return 0;
}
static uint64_t fs_base_read(const struct cpu *cpu)
{
    return cpu->seg[SEG_FS].base;
}
static uint64_t mtrrcap_read(const struct cpu *cpu)
{
    (void)cpu;
    return MTRR_VARIABLE | MTRRCAP_FIX | MTRRCAP_WC;
}
static uint64_t gs_base_read(const struct cpu *cpu)
{
    return cpu->seg[SEG_GS].base;
}
static bool gs_base_write(struct cpu *cpu, uint64_t value)
{
    cpu->seg[SEG_GS].base = value;
    return true;
}
#define FIELD_READER(name, field)                                                                  \
    static uint64_t name(const struct cpu *cpu)                                                    \
    {                                                                                              \
        return field;                                                                              \
    }
/* SDM vol. 4 "MSRs in Processors Based on Nehalem Microarchitecture", 34H: bits 31:0. */
FIELD_READER(smi_count_read, (uint32_t)cpu->smi_count)
FIELD_READER(tsc_adjust_read, cpu->system->tsc_adjust)
FIELD_READER(feature_control_read, cpu->system->feature_control)
FIELD_READER(bios_sign_id_read, cpu->system->bios_sign_id)
FIELD_READER(mtrr_def_type_read, cpu->system->mtrr_def_type)

/* ---- the table ---- */

enum msr_check { ANY, CANONICAL, LOW32, READ_ONLY };
struct msr {
    uint32_t number;
    enum msr_check check;
    feature *needs;                          /* NULL: always there */
    size_t offset;                           /* of the field in struct cpu, where read is NULL */
    uint64_t (*read)(const struct cpu *cpu); /* NULL: the field */
    bool (*write)(struct cpu *, uint64_t);   /* NULL: the field, after the check */
};
#define FIELD(f) offsetof(struct cpu, f)

static const struct msr table[] = {
    {MSR_IA32_TIME_STAMP_COUNTER, ANY, NULL, 0, cpu_tsc, tsc_write},
    {MSR_IA32_PLATFORM_ID, READ_ONLY, NULL, 0, zero_read, NULL},
    {MSR_SMI_COUNT, READ_ONLY, has_smi_count, 0, smi_count_read, NULL},
    {MSR_IA32_FEATURE_CONTROL, ANY, has_feature_control, 0, feature_control_read,
     feature_control_write},
    {MSR_IA32_TSC_ADJUST, ANY, has_tsc_adjust, 0, tsc_adjust_read, tsc_adjust_write},
    {MSR_IA32_BIOS_SIGN_ID, ANY, NULL, 0, bios_sign_id_read, bios_sign_id_write},
    {MSR_IA32_MPERF, ANY, has_perf_clocks, 0, mperf_read, mperf_write},
    {MSR_IA32_APERF, ANY, has_perf_clocks, 0, aperf_read, aperf_write},
    {MSR_IA32_MTRRCAP, READ_ONLY, has_mtrr, 0, mtrrcap_read, NULL},
    {MSR_IA32_SYSENTER_CS, ANY, has_sep, FIELD(sysenter_cs), NULL, NULL},
    {MSR_IA32_SYSENTER_ESP, CANONICAL, has_sep, FIELD(sysenter_esp), NULL, NULL},
    {MSR_IA32_SYSENTER_EIP, CANONICAL, has_sep, FIELD(sysenter_eip), NULL, NULL},
    {MSR_IA32_MCG_CAP, ANY, has_mca, 0, zero_read, ignore_write},
    {MSR_IA32_MCG_STATUS, ANY, has_mca, 0, zero_read, write_zero_only},
    {MSR_IA32_PAT, ANY, has_pat, FIELD(pat), NULL, pat_write},
    {MSR_IA32_MTRR_DEF_TYPE, ANY, has_mtrr, 0, mtrr_def_type_read, mtrr_def_type_write},
    {MSR_IA32_EFER, ANY, has_efer, FIELD(efer), NULL, efer_write},
    {MSR_IA32_STAR, ANY, has_long_mode, FIELD(star), NULL, NULL},
    {MSR_IA32_LSTAR, CANONICAL, has_long_mode, FIELD(lstar), NULL, NULL},
    {MSR_IA32_CSTAR, CANONICAL, has_long_mode, FIELD(cstar), NULL, NULL},
    {MSR_IA32_FMASK, LOW32, has_long_mode, FIELD(fmask), NULL, NULL},
    {MSR_IA32_FS_BASE, CANONICAL, has_long_mode, 0, fs_base_read, fs_base_write},
    {MSR_IA32_GS_BASE, CANONICAL, has_long_mode, 0, gs_base_read, gs_base_write},
    {MSR_IA32_KERNEL_GS_BASE, CANONICAL, has_long_mode, FIELD(kernel_gs_base), NULL, NULL},
    {MSR_IA32_TSC_AUX, LOW32, has_rdtscp, FIELD(tsc_aux), NULL, NULL},
};

static const struct msr *lookup(const struct cpu *cpu, uint32_t msr)
{
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].number == msr)
            return !table[i].needs || table[i].needs(cpu) ? &table[i] : NULL;
    return NULL;
}

static bool lapic_owns(uint32_t msr)
{
    return msr == MSR_IA32_APIC_BASE || msr == MSR_IA32_TSC_DEADLINE ||
           (msr >= MSR_X2APIC_BASE && msr <= MSR_X2APIC_LAST);
}

/* The MTRRs hold what is written; the model's memory has no types. SDM vol. 3 "Memory Type Range
 * Registers (MTRRs)". NULL: not an MTRR. */
static uint64_t *mtrr(struct cpu *cpu, uint32_t msr, uint64_t *reserved)
{
    struct system_state *s = cpu->system;
    uint32_t i = msr - MSR_IA32_MTRR_PHYSBASE0;
    *reserved = 0;
    if (!has_mtrr(cpu))
        return NULL;
    if (i < 2 * MTRR_VARIABLE) {
        uint64_t above = ~(ARCH_BIT(max_physical_bits(cpu)) - 1);
        *reserved = above | (i & 1 ? 0x7ff : 0xf00);
        return &s->mtrr_var[i / 2][i % 2];
    }
    for (i = 0; i < MTRR_FIXED; i++)
        if (mtrr_fixed_msr[i] == msr)
            return &s->mtrr_fixed[i];
    return NULL;
}

static bool mtrr_value_ok(uint32_t msr, uint64_t value, uint64_t reserved)
{
    if (value & reserved)
        return false;
    uint32_t i = msr - MSR_IA32_MTRR_PHYSBASE0;
    if (i < 2 * MTRR_VARIABLE)
        return (i & 1) || memory_type_valid(value & 0xff);
    for (unsigned b = 0; b < 64; b += 8)
        if (!memory_type_valid(value >> b & 0xff))
            return false;
    return true;
}

bool cpu_rdmsr(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    uint64_t reserved, *range;
    if (pmu_owns_msr(cpu->pmu, msr))
        return pmu_rdmsr(cpu->pmu, msr, value);
    if (lapic_owns(msr))
        return lapic_rdmsr(cpu->lapic, msr, value);
    if ((range = mtrr(cpu, msr, &reserved))) {
        *value = *range;
        return true;
    }
    const struct msr *m = lookup(cpu, msr);
    if (!m)
        return false;
    *value = m->read ? m->read(cpu) : *(const uint64_t *)((const char *)cpu + m->offset);
    return true;
}

bool cpu_wrmsr(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    uint64_t reserved, *range;
    if (pmu_owns_msr(cpu->pmu, msr))
        return pmu_wrmsr(cpu->pmu, msr, value);
    if (lapic_owns(msr))
        return lapic_wrmsr(cpu->lapic, msr, value);
    if ((range = mtrr(cpu, msr, &reserved))) {
        if (!mtrr_value_ok(msr, value, reserved))
            return false;
        *range = value;
        return true;
    }
    const struct msr *m = lookup(cpu, msr);
    if (!m || m->check == READ_ONLY || (m->check == CANONICAL && !canonical(value)) ||
        (m->check == LOW32 && value >> 32))
        return false;
    if (m->write)
        return m->write(cpu, value);
    *(uint64_t *)((char *)cpu + m->offset) = value;
    return true;
}
