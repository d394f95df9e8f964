/*
 * RDMSR and WRMSR by number. The PMU, the local APIC, the MTRRs and the machine-check banks are
 * asked first for what is theirs; the rest stands in a table; everything else is #GP. SDM vol. 4
 * "Architectural MSRs".
 */
#include <stddef.h>

#include "sim/cpu/system.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

#define FEATURE_CONTROL_LOCK 1

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
static bool is_intel(const struct cpu *cpu)
{
    return !cpu->profile->amd;
}
static bool has_rdtscp(const struct cpu *cpu)
{
    return cpuid_has(cpu, 0x80000001, 0, CPUID_EDX, CPUID_80000001_EDX_RDTSCP);
}
static bool has_sep(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_SEP);
}
static bool has_pat(const struct cpu *cpu)
{
    return cpuid_has(cpu, 1, 0, CPUID_EDX, CPUID_1_EDX_PAT);
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
static bool has_test_ctrl(const struct cpu *cpu)
{
    return cpu->profile->split_lock;
}
static bool has_platform_info(const struct cpu *cpu)
{
    return cpu->profile->platform_info;
}
static bool has_turbo_ratio(const struct cpu *cpu)
{
    return cpu->profile->turbo_ratio_limit;
}
static bool has_cpuid_faulting(const struct cpu *cpu)
{
    return cpu->profile->platform_info & PLATFORM_INFO_CPUID_FAULTING;
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

/* SDM vol. 3 "Page Attribute Table": each byte a memory type, UC- too. */
static bool pat_write(struct cpu *cpu, uint64_t value)
{
    for (unsigned i = 0; i < 64; i += 8) {
        unsigned type = value >> i & 0xff;
        if (type != MEMORY_UC_MINUS && !memory_type_valid(type))
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

static bool test_ctrl_write(struct cpu *cpu, uint64_t value)
{
    if (value & ~(uint64_t)TEST_CTRL_SPLIT_LOCK)
        return false;
    cpu->system->test_ctrl = value;
    return true;
}

/* SDM vol. 4, 140H: the one feature is CPUID faulting. */
static bool misc_features_write(struct cpu *cpu, uint64_t value)
{
    if (value & ~(uint64_t)MISC_FEATURES_CPUID_FAULTING)
        return false;
    cpu->system->misc_features = value;
    return true;
}

/* The model's core has one frequency: what is asked for is kept, and comes to nothing. */
static bool perf_ctl_write(struct cpu *cpu, uint64_t value)
{
    cpu->system->perf_ctl = value;
    return true;
}

/* ---- readers with rules of their own ---- */

static uint64_t fs_base_read(const struct cpu *cpu)
{
    return cpu->seg[SEG_FS].base;
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
FIELD_READER(platform_id_read, (uint64_t)cpu->profile->platform_id << PLATFORM_ID_SHIFT)
FIELD_READER(platform_info_read, cpu->profile->platform_info)
FIELD_READER(turbo_ratio_read, cpu->profile->turbo_ratio_limit)
FIELD_READER(misc_features_read, cpu->system->misc_features)
FIELD_READER(test_ctrl_read, cpu->system->test_ctrl)
FIELD_READER(xss_read, cpu->system->xss)
FIELD_READER(perf_ctl_read, cpu->system->perf_ctl)
/* The highest ratio of one core: the model's own frequency. */
FIELD_READER(perf_status_read, (cpu->profile->turbo_ratio_limit & 0xff) << PERF_RATIO_SHIFT)

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
    {MSR_IA32_PLATFORM_ID, READ_ONLY, is_intel, 0, platform_id_read, NULL},
    {MSR_TEST_CTRL, ANY, has_test_ctrl, 0, test_ctrl_read, test_ctrl_write},
    {MSR_SMI_COUNT, READ_ONLY, has_smi_count, 0, smi_count_read, NULL},
    {MSR_IA32_FEATURE_CONTROL, ANY, has_feature_control, 0, feature_control_read,
     feature_control_write},
    {MSR_IA32_TSC_ADJUST, ANY, has_tsc_adjust, 0, tsc_adjust_read, tsc_adjust_write},
    {MSR_IA32_BIOS_SIGN_ID, ANY, is_intel, 0, bios_sign_id_read, bios_sign_id_write},
    {MSR_IA32_MPERF, ANY, has_perf_clocks, 0, mperf_read, mperf_write},
    {MSR_IA32_APERF, ANY, has_perf_clocks, 0, aperf_read, aperf_write},
    {MSR_PLATFORM_INFO, READ_ONLY, has_platform_info, 0, platform_info_read, NULL},
    {MSR_MISC_FEATURES_ENABLES, ANY, has_cpuid_faulting, 0, misc_features_read,
     misc_features_write},
    {MSR_IA32_SYSENTER_CS, ANY, has_sep, FIELD(sysenter_cs), NULL, NULL},
    {MSR_IA32_SYSENTER_ESP, CANONICAL, has_sep, FIELD(sysenter_esp), NULL, NULL},
    {MSR_IA32_SYSENTER_EIP, CANONICAL, has_sep, FIELD(sysenter_eip), NULL, NULL},
    {MSR_IA32_PERF_STATUS, READ_ONLY, has_turbo_ratio, 0, perf_status_read, NULL},
    {MSR_IA32_PERF_CTL, ANY, has_turbo_ratio, 0, perf_ctl_read, perf_ctl_write},
    {MSR_TURBO_RATIO_LIMIT, READ_ONLY, has_turbo_ratio, 0, turbo_ratio_read, NULL},
    {MSR_IA32_PAT, ANY, has_pat, FIELD(pat), NULL, pat_write},
    {MSR_IA32_XSS, ANY, has_xss, 0, xss_read, xss_write},
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

static bool pmu_part_owns(const struct cpu *cpu, uint32_t msr)
{
    return pmu_owns_msr(cpu->pmu, msr);
}
static bool pmu_part_read(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    return pmu_rdmsr(cpu->pmu, msr, value);
}
static bool pmu_part_write(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    return pmu_wrmsr(cpu->pmu, msr, value);
}
static bool lapic_part_owns(const struct cpu *cpu, uint32_t msr)
{
    (void)cpu;
    return msr == MSR_IA32_APIC_BASE || msr == MSR_IA32_TSC_DEADLINE ||
           (msr >= MSR_X2APIC_BASE && msr <= MSR_X2APIC_LAST);
}
static bool lapic_part_read(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    return lapic_rdmsr(cpu->lapic, msr, value);
}
static bool lapic_part_write(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    return lapic_wrmsr(cpu->lapic, msr, value);
}

/* Parts with registers of their own. */
static const struct {
    bool (*owns)(const struct cpu *cpu, uint32_t msr);
    bool (*read)(struct cpu *cpu, uint32_t msr, uint64_t *value);
    bool (*write)(struct cpu *cpu, uint32_t msr, uint64_t value);
} parts[] = {
    {pmu_part_owns, pmu_part_read, pmu_part_write},
    {lapic_part_owns, lapic_part_read, lapic_part_write},
    {mtrr_owns, mtrr_read, mtrr_write},
    {machine_check_owns, machine_check_read, machine_check_write},
    {amd_owns, amd_read, amd_write},
};
#define PARTS (sizeof parts / sizeof *parts)

bool cpu_rdmsr(struct cpu *cpu, uint32_t msr, uint64_t *value)
{
    for (unsigned i = 0; i < PARTS; i++)
        if (parts[i].owns(cpu, msr))
            return parts[i].read(cpu, msr, value);
    const struct msr *m = lookup(cpu, msr);
    if (!m)
        return false;
    *value = m->read ? m->read(cpu) : *(const uint64_t *)((const char *)cpu + m->offset);
    return true;
}

bool cpu_wrmsr(struct cpu *cpu, uint32_t msr, uint64_t value)
{
    for (unsigned i = 0; i < PARTS; i++)
        if (parts[i].owns(cpu, msr))
            return parts[i].write(cpu, msr, value);
    const struct msr *m = lookup(cpu, msr);
    if (!m || m->check == READ_ONLY || (m->check == CANONICAL && !canonical(value)) ||
        (m->check == LOW32 && value >> 32))
        return false;
    if (m->write)
        return m->write(cpu, value);
    *(uint64_t *)((char *)cpu + m->offset) = value;
    return true;
}
