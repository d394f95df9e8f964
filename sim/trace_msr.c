/* SDM vol. 4 "Model-Specific Registers (MSRs)". */
#include "sim/trace_msr.h"

#include <stdarg.h>
#include <string.h>

#include "x86/arch.h"

enum msr_kind { KIND_PLAIN, KIND_BITS, KIND_PERFEVTSEL, KIND_FIXED_CTRL, KIND_COUNTERS, KIND_LVT };

struct bit_name {
    uint64_t mask;
    const char *name;
};

#define END                                                                                        \
    {                                                                                              \
        0, NULL                                                                                    \
    }
static const struct bit_name efer[] = {
    {EFER_SCE, "SCE"}, {EFER_LME, "LME"}, {EFER_LMA, "LMA"}, {EFER_NXE, "NXE"}, END};
static const struct bit_name apic_base[] = {
    {APIC_BASE_BSP, "BSP"}, {APIC_BASE_EXTD, "EXTD"}, {APIC_BASE_EN, "EN"}, END};
static const struct bit_name misc_enable[] = {{MISC_ENABLE_FAST_STRINGS, "FAST_STRINGS"},
                                              {MISC_ENABLE_PMU_AVAILABLE, "PMU_AVAILABLE"},
                                              {MISC_ENABLE_BTS_UNAVAILABLE, "BTS_UNAVAILABLE"},
                                              {MISC_ENABLE_PEBS_UNAVAILABLE, "PEBS_UNAVAILABLE"},
                                              END};
static const struct bit_name debugctl[] = {
    {DEBUGCTL_LBR, "LBR"},
    {DEBUGCTL_BTF, "BTF"},
    {DEBUGCTL_TR, "TR"},
    {DEBUGCTL_BTS, "BTS"},
    {DEBUGCTL_BTINT, "BTINT"},
    {DEBUGCTL_BTS_OFF_OS, "BTS_OFF_OS"},
    {DEBUGCTL_BTS_OFF_USR, "BTS_OFF_USR"},
    {DEBUGCTL_FREEZE_LBRS_ON_PMI, "FREEZE_LBRS_ON_PMI"},
    {DEBUGCTL_FREEZE_PERFMON_ON_PMI, "FREEZE_PERFMON_ON_PMI"},
    {DEBUGCTL_UNCORE_PMI_EN, "UNCORE_PMI_EN"},
    {DEBUGCTL_FREEZE_WHILE_SMM, "FREEZE_WHILE_SMM"},
    END};
static const struct bit_name capabilities[] = {{PERF_CAP_PEBS_TRAP, "PEBS_TRAP"},
                                               {PERF_CAP_PEBS_ARCH_REG, "PEBS_ARCH_REG"},
                                               {PERF_CAP_FREEZE_WHILE_SMM, "FREEZE_WHILE_SMM"},
                                               {PERF_CAP_FW_WRITE, "FW_WRITE"},
                                               {PERF_CAP_PEBS_BASELINE, "PEBS_BASELINE"},
                                               {PERF_CAP_PERF_METRICS, "PERF_METRICS"},
                                               END};
static const struct bit_name lbr_select[] = {{LBR_SELECT_CPL_EQ_0, "CPL_EQ_0"},
                                             {LBR_SELECT_CPL_NEQ_0, "CPL_NEQ_0"},
                                             {LBR_SELECT_JCC, "JCC"},
                                             {LBR_SELECT_NEAR_REL_CALL, "NEAR_REL_CALL"},
                                             {LBR_SELECT_NEAR_IND_CALL, "NEAR_IND_CALL"},
                                             {LBR_SELECT_NEAR_RET, "NEAR_RET"},
                                             {LBR_SELECT_NEAR_IND_JMP, "NEAR_IND_JMP"},
                                             {LBR_SELECT_NEAR_REL_JMP, "NEAR_REL_JMP"},
                                             {LBR_SELECT_FAR_BRANCH, "FAR_BRANCH"},
                                             {LBR_SELECT_EN_CALLSTACK, "EN_CALLSTACK"},
                                             END};
static const struct bit_name status[] = {{GLOBAL_STATUS_PERF_METRICS_OVF, "PERF_METRICS_OVF"},
                                         {GLOBAL_STATUS_TRACE_TOPA_PMI, "TRACE_TOPA_PMI"},
                                         {GLOBAL_STATUS_LBR_FRZ, "LBR_FRZ"},
                                         {GLOBAL_STATUS_CTR_FRZ, "CTR_FRZ"},
                                         {GLOBAL_STATUS_ASCI, "ASCI"},
                                         {GLOBAL_STATUS_OVF_UNCORE, "OVF_UNCORE"},
                                         {GLOBAL_STATUS_OVF_BUF, "OVF_BUF"},
                                         {GLOBAL_STATUS_COND_CHGD, "COND_CHGD"},
                                         END};
static const struct bit_name inuse[] = {{GLOBAL_INUSE_PMI, "PMI"}, END};
static const struct bit_name global_ctrl[] = {{GLOBAL_STATUS_PERF_METRICS_OVF, "PERF_METRICS"},
                                              END};
static const struct bit_name svr[] = {{APIC_SVR_ENABLE, "ENABLE"}, END};

/* A row describes count MSRs from first on, numbered when there is more than one. */
static const struct {
    uint32_t first;
    unsigned count;
    const char *name;
    enum msr_kind kind;
    const struct bit_name *bits;
} msrs[] = {
    {MSR_IA32_TIME_STAMP_COUNTER, 1, "IA32_TIME_STAMP_COUNTER", KIND_PLAIN, NULL},
    {MSR_IA32_APIC_BASE, 1, "IA32_APIC_BASE", KIND_BITS, apic_base},
    {MSR_IA32_FEATURE_CONTROL, 1, "IA32_FEATURE_CONTROL", KIND_PLAIN, NULL},
    {MSR_IA32_TSC_ADJUST, 1, "IA32_TSC_ADJUST", KIND_PLAIN, NULL},
    {MSR_IA32_BIOS_SIGN_ID, 1, "IA32_BIOS_SIGN_ID", KIND_PLAIN, NULL},
    {MSR_IA32_PMC0, 8, "IA32_PMC", KIND_PLAIN, NULL},
    {MSR_IA32_MTRRCAP, 1, "IA32_MTRRCAP", KIND_PLAIN, NULL},
    {MSR_IA32_SYSENTER_CS, 1, "IA32_SYSENTER_CS", KIND_PLAIN, NULL},
    {MSR_IA32_SYSENTER_ESP, 1, "IA32_SYSENTER_ESP", KIND_PLAIN, NULL},
    {MSR_IA32_SYSENTER_EIP, 1, "IA32_SYSENTER_EIP", KIND_PLAIN, NULL},
    {MSR_IA32_MCG_CAP, 1, "IA32_MCG_CAP", KIND_PLAIN, NULL},
    {MSR_IA32_PERFEVTSEL0, 8, "IA32_PERFEVTSEL", KIND_PERFEVTSEL, NULL},
    {MSR_IA32_MISC_ENABLE, 1, "IA32_MISC_ENABLE", KIND_BITS, misc_enable},
    {MSR_OFFCORE_RSP_0, 2, "MSR_OFFCORE_RSP_", KIND_PLAIN, NULL},
    {MSR_LBR_SELECT, 1, "MSR_LBR_SELECT", KIND_BITS, lbr_select},
    {MSR_LASTBRANCH_TOS, 1, "MSR_LASTBRANCH_TOS", KIND_PLAIN, NULL},
    {MSR_IA32_DEBUGCTL, 1, "IA32_DEBUGCTL", KIND_BITS, debugctl},
    {MSR_LER_FROM_LIP, 1, "MSR_LER_FROM_LIP", KIND_PLAIN, NULL},
    {MSR_LER_TO_LIP, 1, "MSR_LER_TO_LIP", KIND_PLAIN, NULL},
    {MSR_IA32_PAT, 1, "IA32_PAT", KIND_PLAIN, NULL},
    {MSR_IA32_FIXED_CTR0, 16, "IA32_FIXED_CTR", KIND_PLAIN, NULL},
    {MSR_PERF_METRICS, 1, "MSR_PERF_METRICS", KIND_PLAIN, NULL},
    {MSR_IA32_PERF_CAPABILITIES, 1, "IA32_PERF_CAPABILITIES", KIND_BITS, capabilities},
    {MSR_IA32_FIXED_CTR_CTRL, 1, "IA32_FIXED_CTR_CTRL", KIND_FIXED_CTRL, NULL},
    {MSR_IA32_PERF_GLOBAL_STATUS, 1, "IA32_PERF_GLOBAL_STATUS", KIND_COUNTERS, status},
    {MSR_IA32_PERF_GLOBAL_CTRL, 1, "IA32_PERF_GLOBAL_CTRL", KIND_COUNTERS, global_ctrl},
    {MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1, "IA32_PERF_GLOBAL_STATUS_RESET", KIND_COUNTERS, status},
    {MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, "IA32_PERF_GLOBAL_STATUS_SET", KIND_COUNTERS, status},
    {MSR_IA32_PERF_GLOBAL_INUSE, 1, "IA32_PERF_GLOBAL_INUSE", KIND_COUNTERS, inuse},
    {MSR_IA32_PEBS_ENABLE, 1, "IA32_PEBS_ENABLE", KIND_COUNTERS, global_ctrl},
    {MSR_PEBS_DATA_CFG, 1, "MSR_PEBS_DATA_CFG", KIND_PLAIN, NULL},
    {MSR_PEBS_LD_LAT_THRESHOLD, 1, "MSR_PEBS_LD_LAT_THRESHOLD", KIND_PLAIN, NULL},
    {MSR_IA32_A_PMC0, 8, "IA32_A_PMC", KIND_PLAIN, NULL},
    {MSR_IA32_DS_AREA, 1, "IA32_DS_AREA", KIND_PLAIN, NULL},
    {MSR_LASTBRANCH_0_FROM_IP, 32, "MSR_LASTBRANCH_FROM_IP_", KIND_PLAIN, NULL},
    {MSR_LASTBRANCH_0_TO_IP, 32, "MSR_LASTBRANCH_TO_IP_", KIND_PLAIN, NULL},
    {MSR_LBR_INFO_0, 32, "MSR_LBR_INFO_", KIND_PLAIN, NULL},
    {MSR_IA32_TSC_DEADLINE, 1, "IA32_TSC_DEADLINE", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_ID >> 4), 1, "IA32_X2APIC_APICID", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_VERSION >> 4), 1, "IA32_X2APIC_VERSION", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_TPR >> 4), 1, "IA32_X2APIC_TPR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_PPR >> 4), 1, "IA32_X2APIC_PPR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_EOI >> 4), 1, "IA32_X2APIC_EOI", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_LDR >> 4), 1, "IA32_X2APIC_LDR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_SVR >> 4), 1, "IA32_X2APIC_SIVR", KIND_BITS, svr},
    {MSR_X2APIC_BASE + (APIC_ISR >> 4), 8, "IA32_X2APIC_ISR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_TMR >> 4), 8, "IA32_X2APIC_TMR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_IRR >> 4), 8, "IA32_X2APIC_IRR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_ESR >> 4), 1, "IA32_X2APIC_ESR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_LVT_CMCI >> 4), 1, "IA32_X2APIC_LVT_CMCI", KIND_LVT, NULL},
    {MSR_X2APIC_BASE + (APIC_ICR >> 4), 1, "IA32_X2APIC_ICR", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_LVT_TIMER >> 4), 1, "IA32_X2APIC_LVT_TIMER", KIND_LVT, NULL},
    {MSR_X2APIC_BASE + (APIC_LVT_THERMAL >> 4), 1, "IA32_X2APIC_LVT_THERMAL", KIND_LVT, NULL},
    {MSR_X2APIC_BASE + (APIC_LVT_PERFMON >> 4), 1, "IA32_X2APIC_LVT_PMI", KIND_LVT, NULL},
    {MSR_X2APIC_BASE + (APIC_LVT_LINT0 >> 4), 2, "IA32_X2APIC_LVT_LINT", KIND_LVT, NULL},
    {MSR_X2APIC_BASE + (APIC_LVT_ERROR >> 4), 1, "IA32_X2APIC_LVT_ERROR", KIND_LVT, NULL},
    {MSR_X2APIC_BASE + (APIC_TIMER_INITIAL >> 4), 1, "IA32_X2APIC_INIT_COUNT", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_TIMER_CURRENT >> 4), 1, "IA32_X2APIC_CUR_COUNT", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_TIMER_DIVIDE >> 4), 1, "IA32_X2APIC_DIV_CONF", KIND_PLAIN, NULL},
    {MSR_X2APIC_BASE + (APIC_SELF_IPI >> 4), 1, "IA32_X2APIC_SELF_IPI", KIND_PLAIN, NULL},
    {MSR_IA32_EFER, 1, "IA32_EFER", KIND_BITS, efer},
    {MSR_IA32_STAR, 1, "IA32_STAR", KIND_PLAIN, NULL},
    {MSR_IA32_LSTAR, 1, "IA32_LSTAR", KIND_PLAIN, NULL},
    {MSR_IA32_CSTAR, 1, "IA32_CSTAR", KIND_PLAIN, NULL},
    {MSR_IA32_FMASK, 1, "IA32_FMASK", KIND_PLAIN, NULL},
    {MSR_IA32_FS_BASE, 1, "IA32_FS_BASE", KIND_PLAIN, NULL},
    {MSR_IA32_GS_BASE, 1, "IA32_GS_BASE", KIND_PLAIN, NULL},
    {MSR_IA32_KERNEL_GS_BASE, 1, "IA32_KERNEL_GS_BASE", KIND_PLAIN, NULL},
    {MSR_IA32_TSC_AUX, 1, "IA32_TSC_AUX", KIND_PLAIN, NULL},
};

static int find(uint32_t msr)
{
    for (size_t i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++)
        if (msr - msrs[i].first < msrs[i].count)
            return i;
    return -1;
}

void msr_name(char *buf, size_t size, uint32_t msr)
{
    int i = find(msr);

    if (i < 0)
        snprintf(buf, size, "MSR");
    else if (msrs[i].count == 1)
        snprintf(buf, size, "%s", msrs[i].name);
    else
        snprintf(buf, size, "%s%u", msrs[i].name, msr - msrs[i].first);
}

/* Appends one word, with a blank before it. */
__attribute__((format(printf, 3, 4))) static void word(char *buf, size_t size, const char *format,
                                                       ...)
{
    size_t used = strlen(buf);
    va_list args;

    if (used && used + 1 < size) {
        buf[used++] = ' ';
        buf[used] = '\0';
    }
    va_start(args, format);
    vsnprintf(buf + used, size - used, format, args);
    va_end(args);
}

static void bits(char *buf, size_t size, const struct bit_name *names, uint64_t value)
{
    for (; names->name; names++)
        if (value & names->mask)
            word(buf, size, "%s", names->name);
}

static void perfevtsel(char *buf, size_t size, const struct profile *p, uint64_t value)
{
    static const struct bit_name flags[] = {
        {PERFEVTSEL_USR, "USR"}, {PERFEVTSEL_OS, "OS"},   {PERFEVTSEL_E, "E"},
        {PERFEVTSEL_PC, "PC"},   {PERFEVTSEL_INT, "INT"}, {PERFEVTSEL_ANY, "ANY"},
        {PERFEVTSEL_EN, "EN"},   {PERFEVTSEL_INV, "INV"}, END};
    uint8_t event = value & PERFEVTSEL_EVENT;
    uint8_t umask = (value & PERFEVTSEL_UMASK) >> PERFEVTSEL_UMASK_SHIFT;
    const char *name = NULL;

    if (!value)
        return;
    for (unsigned i = 0; i < p->n_events && !name; i++)
        if (p->events[i].event == event && p->events[i].umask == umask)
            name = p->events[i].name;
    if (name)
        word(buf, size, "%s", name);
    else
        word(buf, size, "event %02XH umask %02XH", event, umask);
    bits(buf, size, flags, value);
    if (value & PERFEVTSEL_CMASK)
        word(buf, size, "CMASK=%u",
             (unsigned)((value & PERFEVTSEL_CMASK) >> PERFEVTSEL_CMASK_SHIFT));
}

static void fixed_ctrl(char *buf, size_t size, uint64_t value)
{
    static const struct bit_name flags[] = {{FIXED_CTR_CTRL_OS, "OS"},
                                            {FIXED_CTR_CTRL_USR, "USR"},
                                            {FIXED_CTR_CTRL_ANY, "ANY"},
                                            {FIXED_CTR_CTRL_PMI, "PMI"},
                                            END};

    for (unsigned i = 0; i < 64 / FIXED_CTR_CTRL_BITS; i++) {
        char one[32] = "";
        bits(one, sizeof(one), flags, value >> (FIXED_CTR_CTRL_BITS * i) & 0xf);
        if (*one)
            word(buf, size, "FIXED_CTR%u(%s)", i, one);
    }
}

static void counters(char *buf, size_t size, const struct bit_name *names, uint64_t value)
{
    for (unsigned i = 0; i < PROFILE_MAX_GENERAL; i++)
        if (value >> i & 1)
            word(buf, size, "PMC%u", i);
    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (value >> (GLOBAL_FIXED_SHIFT + i) & 1)
            word(buf, size, "FIXED_CTR%u", i);
    bits(buf, size, names, value);
}

static void lvt(char *buf, size_t size, uint64_t value)
{
    static const char *const mode[] = {"fixed", "001B", "SMI",  "011B",
                                       "NMI",   "INIT", "110B", "ExtINT"};

    word(buf, size, "vector %02XH", (unsigned)(value & APIC_LVT_VECTOR));
    word(buf, size, "%s", mode[(value & APIC_LVT_DELIVERY) >> 8]);
    if (value & APIC_LVT_MASK)
        word(buf, size, "masked");
}

void msr_fields(char *buf, size_t size, const struct profile *p, uint32_t msr, uint64_t value)
{
    int i = find(msr);

    buf[0] = '\0';
    switch (i < 0 ? KIND_PLAIN : msrs[i].kind) {
    case KIND_PLAIN:
        break;
    case KIND_BITS:
        bits(buf, size, msrs[i].bits, value);
        break;
    case KIND_PERFEVTSEL:
        perfevtsel(buf, size, p, value);
        break;
    case KIND_FIXED_CTRL:
        fixed_ctrl(buf, size, value);
        break;
    case KIND_COUNTERS:
        counters(buf, size, msrs[i].bits, value);
        break;
    case KIND_LVT:
        lvt(buf, size, value);
        break;
    }
}
