/* Architectural last branch records on this processor. */
#include "pmu/lbr_arch.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/print.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

#define LEAF        0x1c
#define PROBE       0x1000 /* an address */
#define CONTROL_CPL (LBR_CTL_OS | LBR_CTL_USR)
#define CONTROL_KINDS                                                                              \
    (LBR_CTL_JCC | LBR_CTL_NEAR_REL_JMP | LBR_CTL_NEAR_IND_JMP | LBR_CTL_NEAR_REL_CALL |           \
     LBR_CTL_NEAR_IND_CALL | LBR_CTL_NEAR_RET | LBR_CTL_OTHER_BRANCH)

/* What may be set in IA32_LBR_CTL beside LBREn: "1: the processor supports setting it to a non-zero
 * value", bits of CPUID.1CH:EBX. */
static const struct {
    uint32_t ebx;
    uint64_t control;
} enumerated[] = {
    {CPUID_1C_EBX_CPL, CONTROL_CPL},
    {CPUID_1C_EBX_BRANCH, CONTROL_KINDS},
    {CPUID_1C_EBX_CALL_STACK, LBR_CTL_CALL_STACK},
};

static uint64_t settable(void)
{
    uint32_t ebx = cpuid(LEAF, 0).ebx;
    uint64_t bits = 0;
    for (unsigned i = 0; i < sizeof(enumerated) / sizeof(enumerated[0]); i++)
        bits |= ebx & enumerated[i].ebx ? enumerated[i].control : 0;
    return bits;
}

bool lbr_arch_announced(void)
{
    return cpuid(7, 0).edx & CPUID_7_EDX_ARCH_LBR;
}

static bool takes(uint32_t msr, uint64_t value)
{
    uint64_t held = 0;
    return wrmsr_safe(msr, value) && rdmsr_safe(msr, &held) && held == value;
}

unsigned lbr_arch_deepest(uint32_t depths)
{
    for (unsigned depth = LBR_MAX_DEPTH; depth > 0; depth -= LBR_DEPTH_STEP)
        if (depths >> (depth / LBR_DEPTH_STEP - 1) & 1)
            return depth;
    return 0;
}

bool lbr_arch_find(struct lbr_info *info)
{
    struct cpuid_regs leaf = cpuid(LEAF, 0);
    info->depths = leaf.eax & CPUID_1C_EAX_DEPTHS;
    info->depth = lbr_arch_deepest(info->depths);
    info->from = MSR_IA32_LBR_0_FROM_IP;
    info->to = MSR_IA32_LBR_0_TO_IP;
    info->info = MSR_IA32_LBR_0_INFO;
    info->info_fields = leaf.ecx;
    info->format = LBR_FMT_ARCHITECTURAL;
    info->linear = leaf.eax & CPUID_1C_EAX_LIP;
    info->control = info->filter = MSR_IA32_LBR_CTL;
    info->control_key = info->filter_key = "lbr_ctl";
    info->enable = LBR_CTL_LBREN;
    info->hides_from = true;
    uint64_t control = LBR_CTL_LBREN | lbr_arch_control(0);
    if (info->depth == 0)
        ksnprintf(info->why, sizeof(info->why),
                  "no LBR stack: CPUID.1CH:EAX[7:0] = 0x%02x names no depth up to %u",
                  (unsigned)info->depths, LBR_MAX_DEPTH);
    else if (!takes(MSR_IA32_LBR_DEPTH, info->depth))
        ksnprintf(info->why, sizeof(info->why),
                  "no LBR stack: IA32_LBR_DEPTH (14CFH) cannot be set to %u", info->depth);
    else if (!takes(MSR_IA32_LBR_CTL, control))
        ksnprintf(info->why, sizeof(info->why),
                  "no LBR stack: IA32_LBR_CTL (14CEH) cannot be set to 0x%llx",
                  (unsigned long long)control);
    else
        info->present = true;
    wrmsr_safe(MSR_IA32_LBR_CTL, 0);
    info->select =
        info->present && (leaf.ebx & CPUID_1C_EBX_CPL) && (leaf.ebx & CPUID_1C_EBX_BRANCH);
    if (!info->select)
        ksnprintf(info->no_select, sizeof(info->no_select),
                  "no LBR filter: CPUID.1CH:EBX[1:0] = %u", (unsigned)(leaf.ebx & 3));
    if (!(leaf.ebx & CPUID_1C_EBX_CALL_STACK))
        ksnprintf(info->no_call_stack, sizeof(info->no_call_stack),
                  "no call-stack mode: CPUID.1CH:EBX[2] = 0");
    return info->present;
}

bool lbr_arch_clears(struct lbr_info *info)
{
    uint64_t from = 0;
    if (takes(info->from, PROBE) && wrmsr_safe(MSR_IA32_LBR_DEPTH, info->depth) &&
        rdmsr_safe(info->from, &from) && from == 0)
        return true;
    wrmsr_safe(info->from, 0);
    ksnprintf(info->why, sizeof(info->why),
              "no LBR stack: IA32_LBR_DEPTH (14CFH) does not clear IA32_LBR_0_FROM_IP (1500H)");
    return false;
}

uint64_t lbr_arch_control(uint64_t select)
{
    return lbr_control_of(select) & settable();
}

unsigned lbr_arch_logged(uint32_t fields)
{
    return (fields & CPUID_1C_ECX_EVENT_LOGGING) /
           (CPUID_1C_ECX_EVENT_LOGGING & -CPUID_1C_ECX_EVENT_LOGGING);
}

void lbr_arch_limit(uint32_t fields, struct branch_record *record)
{
    record->has_prediction = fields & CPUID_1C_ECX_MISPRED;
    record->has_cycles = record->has_cycles && (fields & CPUID_1C_ECX_CYCLES);
    record->has_type = fields & CPUID_1C_ECX_BR_TYPE;
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        if (!(lbr_arch_logged(fields) >> n & 1))
            record->counts[n] = 0;
}
