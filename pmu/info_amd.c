/*
 * What the PMU of an AMD processor is. APM vol. 3 appendix E "Obtaining Processor Information via
 * the CPUID Instruction": 8000_0001H:ECX[23] (PerfCtrExtCore) and 8000_0022H; vol. 2 "Performance
 * Monitoring Counters". There is no leaf for the four counters of old, which begin with family 6
 * (K7): where nothing newer is announced the registers themselves decide. Emulators and hypervisors
 * have such processors without counters.
 *
 * No register of Intel's is touched: IA32_MISC_ENABLE, IA32_PERF_CAPABILITIES, the fixed counters.
 */
#include "pmu/info_amd.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/print.h"
#include "pmu/info.h"
#include "pmu/kind.h"
#include "x86/amd.h"
#include "x86/cpuid.h"
#include "x86/maker.h"

#define LEAF_FEATURES   0x80000001
#define LEAF_PERFMON    0x80000022
#define LEAF_EXTENDED   0x80000000
#define FIRST_FAMILY    6 /* K7 */
#define NOT_ON_AMD      "AMD's processors have none"
#define TRIED_ON_LEGACY (AMD_EVENT_RETIRED_INSTRUCTIONS | PERFEVTSEL_OS)

bool info_amd_here(void)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    return maker_of(cpu.vendor) == MAKER_AMD;
}

/* The register is left as it was. */
static bool legacy_select_takes_an_event(void)
{
    uint64_t was;
    if (!rdmsr_safe(MSR_AMD_PERF_EVT_SEL0, &was))
        return false;
    bool takes = msr_holds(MSR_AMD_PERF_EVT_SEL0, TRIED_ON_LEGACY);
    wrmsr_safe(MSR_AMD_PERF_EVT_SEL0, was);
    return takes;
}

static enum pmu_amd_kind find_kind(void)
{
    bool core = cpuid(LEAF_FEATURES, 0).ecx & CPUID_80000001_ECX_PERFCTR_CORE;
    struct cpuid_regs leaf = cpuid(LEAF_PERFMON, 0);
    bool v2 = leaf.eax & CPUID_80000022_EAX_PERFMON_V2;
    bool counters = leaf.ebx & CPUID_80000022_EBX_CORE;
    if (v2 && !core)
        info_note("CPUID.80000022H:EAX[0] = 1 (PerfMonV2), but CPUID.80000001H:ECX[23] = 0");
    else if (v2 && !counters)
        info_note("CPUID.80000022H:EAX[0] = 1 (PerfMonV2), but EBX[3:0] = 0 counters");
    return !core ? PMU_AMD_LEGACY : v2 && counters ? PMU_AMD_PERFMON_V2 : PMU_AMD_EXTENDED;
}

static bool find_general(struct pmu_info *info, enum pmu_amd_kind kind)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    info->general_width = AMD_COUNTER_WIDTH;
    switch (kind) {
    case PMU_AMD_PERFMON_V2:
        info->n_general = cpuid(LEAF_PERFMON, 0).ebx & CPUID_80000022_EBX_CORE;
        info_why(info->general_by, "CPUID.80000022H:EBX[3:0] = %u", info->n_general);
        break;
    case PMU_AMD_EXTENDED:
        info->n_general = AMD_CORE_COUNTERS;
        info_why(info->general_by, "CPUID.80000001H:ECX[23] = 1 announces %u", info->n_general);
        break;
    default:
        info->n_general = AMD_LEGACY_COUNTERS;
        info_why(info->general_by, "CPUID.80000001H:ECX[23] = 0");
        if (cpu.family < FIRST_FAMILY)
            info_why(info->no_pmu, "no PMU: AMD's family %u has none (CPUID.1:EAX[11:8])",
                     (unsigned)cpu.family);
        else if (!legacy_select_takes_an_event())
            info_why(info->no_pmu,
                     "no PMU: CPUID.80000001H:ECX[23] = 0, and no PerfEvtSel0 (C0010000H)");
    }
    info->general_end = info->n_general;
    return info->no_pmu[0] == '\0';
}

/* What is absent on every AMD processor, and the CPUID bit that says so. */
static void find_nothing_of_intels(struct pmu_info *info)
{
    info_why(info->no_fixed, "no fixed counters: " NOT_ON_AMD " (CPUID.0AH:EAX[7:0] = 0)");
    info_why(info->no_pebs, "no PEBS: " NOT_ON_AMD " (CPUID.1:EDX[21] (DS) = 0)");
    info_why(info->no_bts, "no BTS: " NOT_ON_AMD " (CPUID.1:EDX[21] (DS) = 0)");
}

static void find_global(struct pmu_info *info)
{
    uint32_t highest = cpuid(LEAF_EXTENDED, 0).eax, eax = cpuid(LEAF_PERFMON, 0).eax;
    info->global_ctrl = info->kind->enable != 0;
    info->freeze = info->global_ctrl && (eax & CPUID_80000022_EAX_LBR_PMC_FREEZE);
    info->freeze_in_status = info->freeze;
    if (!info->global_ctrl && highest < LEAF_PERFMON)
        info_why(info->no_global_ctrl,
                 "no PerfMonV2: CPUID maximum extended leaf is %08XH < 80000022H",
                 (unsigned)highest);
    else if (!info->global_ctrl)
        info_why(info->no_global_ctrl, "no PerfMonV2: CPUID.80000022H:EAX[0] = %u",
                 (unsigned)(eax & CPUID_80000022_EAX_PERFMON_V2));
    if (!info->global_ctrl)
        info_why(info->no_freeze, "%s", info->no_global_ctrl);
    else if (!info->freeze)
        info_why(info->no_freeze, "no freeze on a PMI (FPMCI): CPUID.80000022H:EAX[2] = 0");
}

static void find_events(struct pmu_info *info, enum pmu_amd_kind kind)
{
    unsigned version = kind == PMU_AMD_PERFMON_V2 ? 2 : 0;
    for (unsigned event = 0; event < PMU_N_EVENTS; event++)
        if (info->kind->events[event].name != NULL && info->kind->events[event].version <= version)
            info->events |= 1u << event;
}

void info_amd_read(struct pmu_info *info)
{
    enum pmu_amd_kind kind = find_kind();
    info->kind = pmu_kind_of_amd(kind);
    ksnprintf(info->title, sizeof(info->title), "%s", info->kind->name);
    ksnprintf(info->code, sizeof(info->code), "%s", info->kind->code);
    find_nothing_of_intels(info);
    info->present = find_general(info, kind);
    find_global(info);
    find_events(info, kind);
}
