/* Names of registers and of their fields. Two tables: the registers, and the layouts that they
 * have. */
#include "x86/decode.h"

#include "x86/apic.h"
#include "x86/events.h"
#include "x86/msr.h"
#include "x86/pmu.h"
#include "x86/text.h"

struct field {
    uint64_t mask;
    const char *name;
    enum decode_kind kind;
    const char *const *choices;
};

/* clang-format off */
#define FLAG(mask, name)            {mask, name, DECODE_FLAG, NULL}
#define COUNTERS(mask, name)        {mask, name, DECODE_COUNTERS, NULL}
#define NUMBER(mask, name)          {mask, name, DECODE_NUMBER, NULL}
#define AMOUNT(mask, name)          {mask, name, DECODE_AMOUNT, NULL}
#define ADDRESS(mask, name)         {mask, name, DECODE_ADDRESS, NULL}
#define CHOICE(mask, name, choices) {mask, name, DECODE_CHOICE, choices}
#define EVENT(mask, name)           {mask, name, DECODE_EVENT, NULL}
#define UMASK(mask, name)           {mask, name, DECODE_UMASK, NULL}
#define END                         {0, NULL, DECODE_FLAG, NULL}
/* clang-format on */

struct decode_layout {
    const struct field *fields;
    /* The fields once more for each counter, every time so many bits higher; 0 groups: once. */
    unsigned groups, stride;
    const char *group;
    bool partial; /* many more bits have a meaning in some model: they are not called reserved */
};

/* clang-format off */
static const char *const delivery_modes[8] = {
    "fixed", "mode-1", "SMI", "mode-3", "NMI", "INIT", "mode-6", "ExtINT"};
static const char *const masks[2] = {"unmasked", "masked"};
static const char *const timer_modes[4] = {"", "periodic", "TSC-deadline", "mode-3"};
static const char *const ipi_delivery_modes[8] = {
    "fixed", "lowest", "SMI", "mode-3", "NMI", "INIT", "startup", "mode-7"};
static const char *const shorthands[4] = {"", "self", "all", "all-but-self"};

static const struct decode_layout perfevtsel = {.fields = (const struct field[]){
    EVENT(PERFEVTSEL_EVENT,   "EVENT"),
    UMASK(PERFEVTSEL_UMASK,   "UMASK"),
    FLAG(PERFEVTSEL_USR,      "USR"),
    FLAG(PERFEVTSEL_OS,       "OS"),
    FLAG(PERFEVTSEL_E,        "E"),
    FLAG(PERFEVTSEL_PC,       "PC"),
    FLAG(PERFEVTSEL_INT,      "INT"),
    FLAG(PERFEVTSEL_ANY,      "ANY"),
    FLAG(PERFEVTSEL_EN,       "EN"),
    FLAG(PERFEVTSEL_INV,      "INV"),
    AMOUNT(PERFEVTSEL_CMASK,  "CMASK"),
    FLAG(PERFEVTSEL_ADAPTIVE, "Adaptive_Record"),
    END,
}};

/* Four bits a counter, SDM vol. 3 "FIXED_CTR_CTRL MSR"; the fifth is that of adaptive PEBS. There
 * the counters from 8 on would have theirs: no processor has so many. */
static const struct decode_layout fixed_ctr_ctrl = {.fields = (const struct field[]){
    FLAG(FIXED_CTR_CTRL_OS,       "OS"),
    FLAG(FIXED_CTR_CTRL_USR,      "USR"),
    FLAG(FIXED_CTR_CTRL_ANY,      "ANY"),
    FLAG(FIXED_CTR_CTRL_PMI,      "PMI"),
    FLAG(FIXED_CTR_CTRL_ADAPTIVE, "Adaptive_Record"),
    END,
}, .groups = 8, .stride = FIXED_CTR_CTRL_BITS, .group = "FIXED_CTR%u"};

static const struct decode_layout global_ctrl = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL,       "EN_PMC%u"),
    COUNTERS(GLOBAL_FIXED,         "EN_FIXED_CTR%u"),
    FLAG(GLOBAL_CTRL_PERF_METRICS, "EN_PERF_METRICS"),
    END,
}};

static const struct decode_layout global_status = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL,             "Ovf_PMC%u"),
    COUNTERS(GLOBAL_FIXED,               "Ovf_FIXED_CTR%u"),
    FLAG(GLOBAL_STATUS_PERF_METRICS_OVF, "OVF_PERF_METRICS"),
    FLAG(GLOBAL_STATUS_TRACE_TOPA_PMI,   "Trace_ToPA_PMI"),
    FLAG(GLOBAL_STATUS_LBR_FRZ,          "LBR_FRZ"),
    FLAG(GLOBAL_STATUS_CTR_FRZ,          "CTR_FRZ"),
    FLAG(GLOBAL_STATUS_ASCI,             "ASCI"),
    FLAG(GLOBAL_STATUS_OVF_UNCORE,       "Ovf_Uncore"),
    FLAG(GLOBAL_STATUS_OVF_BUF,          "OvfBuf"),
    FLAG(GLOBAL_STATUS_COND_CHGD,        "CondChgd"),
    END,
}};

static const struct decode_layout global_inuse = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL, "PMC%u"),
    COUNTERS(GLOBAL_FIXED,   "FIXED_CTR%u"),
    FLAG(GLOBAL_INUSE_PMI,   "PMI_InUse"),
    END,
}};

static const struct decode_layout pebs_enable = {.fields = (const struct field[]){
    COUNTERS(PEBS_ENABLE_PMC, "PEBS_EN_PMC%u"),
    COUNTERS(PEBS_ENABLE_LL,  "LL_EN_PMC%u"),
    END,
}};

static const struct decode_layout pebs_data_cfg = {.fields = (const struct field[]){
    FLAG(PEBS_DATA_CFG_MEMINFO,       "MEMINFO"),
    FLAG(PEBS_DATA_CFG_GPRS,          "GPRS"),
    FLAG(PEBS_DATA_CFG_XMMS,          "XMMS"),
    FLAG(PEBS_DATA_CFG_LBRS,          "LBRS"),
    AMOUNT(PEBS_DATA_CFG_LBR_ENTRIES, "LBR_ENTRIES-1"),
    END,
}};

static const struct decode_layout debugctl = {.fields = (const struct field[]){
    FLAG(DEBUGCTL_LBR,                   "LBR"),
    FLAG(DEBUGCTL_BTF,                   "BTF"),
    FLAG(DEBUGCTL_TR,                    "TR"),
    FLAG(DEBUGCTL_BTS,                   "BTS"),
    FLAG(DEBUGCTL_BTINT,                 "BTINT"),
    FLAG(DEBUGCTL_BTS_OFF_OS,            "BTS_OFF_OS"),
    FLAG(DEBUGCTL_BTS_OFF_USR,           "BTS_OFF_USR"),
    FLAG(DEBUGCTL_FREEZE_LBRS_ON_PMI,    "FREEZE_LBRS_ON_PMI"),
    FLAG(DEBUGCTL_FREEZE_PERFMON_ON_PMI, "FREEZE_PERFMON_ON_PMI"),
    FLAG(DEBUGCTL_UNCORE_PMI_EN,         "ENABLE_UNCORE_PMI"),
    FLAG(DEBUGCTL_FREEZE_WHILE_SMM,      "FREEZE_WHILE_SMM"),
    FLAG(DEBUGCTL_RTM_DEBUG,             "RTM_DEBUG"),
    END,
}};

static const struct decode_layout lbr_select = {.fields = (const struct field[]){
    FLAG(LBR_SELECT_CPL_EQ_0,      "CPL_EQ_0"),
    FLAG(LBR_SELECT_CPL_NEQ_0,     "CPL_NEQ_0"),
    FLAG(LBR_SELECT_JCC,           "JCC"),
    FLAG(LBR_SELECT_NEAR_REL_CALL, "NEAR_REL_CALL"),
    FLAG(LBR_SELECT_NEAR_IND_CALL, "NEAR_IND_CALL"),
    FLAG(LBR_SELECT_NEAR_RET,      "NEAR_RET"),
    FLAG(LBR_SELECT_NEAR_IND_JMP,  "NEAR_IND_JMP"),
    FLAG(LBR_SELECT_NEAR_REL_JMP,  "NEAR_REL_JMP"),
    FLAG(LBR_SELECT_FAR_BRANCH,    "FAR_BRANCH"),
    FLAG(LBR_SELECT_EN_CALLSTACK,  "EN_CALLSTACK"),
    END,
}};

static const struct decode_layout lbr_info = {.fields = (const struct field[]){
    AMOUNT(LBR_INFO_CYCLES,  "CYCLES"),
    FLAG(LBR_INFO_TSX_ABORT, "TSX_ABORT"),
    FLAG(LBR_INFO_IN_TSX,    "IN_TSX"),
    FLAG(LBR_INFO_MISPRED,   "MISPRED"),
    END,
}};

static const struct decode_layout perf_capabilities = {.fields = (const struct field[]){
    NUMBER(PERF_CAP_LBR_FMT,        "LBR_FMT"),
    FLAG(PERF_CAP_PEBS_TRAP,        "PEBS_TRAP"),
    FLAG(PERF_CAP_PEBS_ARCH_REG,    "PEBS_ARCH_REG"),
    NUMBER(PERF_CAP_PEBS_FMT,       "PEBS_FMT"),
    FLAG(PERF_CAP_FREEZE_WHILE_SMM, "FREEZE_WHILE_SMM"),
    FLAG(PERF_CAP_FW_WRITE,         "FW_WRITE"),
    FLAG(PERF_CAP_PEBS_BASELINE,    "PEBS_BASELINE"),
    FLAG(PERF_CAP_PERF_METRICS,     "PERF_METRICS"),
    FLAG(PERF_CAP_PEBS_OUTPUT_PT,   "PEBS_OUTPUT_PT"),
    END,
}};

static const struct decode_layout perf_metrics = {.fields = (const struct field[]){
    AMOUNT(PERF_METRICS_RETIRING,        "RETIRING"),
    AMOUNT(PERF_METRICS_BAD_SPECULATION, "BAD_SPECULATION"),
    AMOUNT(PERF_METRICS_FRONTEND_BOUND,  "FRONTEND_BOUND"),
    AMOUNT(PERF_METRICS_BACKEND_BOUND,   "BACKEND_BOUND"),
    END,
}, .partial = true};

static const struct decode_layout misc_enable = {.fields = (const struct field[]){
    FLAG(MISC_ENABLE_FAST_STRINGS,     "FAST_STRINGS"),
    FLAG(MISC_ENABLE_TCC,              "TCC"),
    FLAG(MISC_ENABLE_PMU_AVAILABLE,    "PMU_AVAILABLE"),
    FLAG(MISC_ENABLE_BTS_UNAVAILABLE,  "BTS_UNAVAILABLE"),
    FLAG(MISC_ENABLE_PEBS_UNAVAILABLE, "PEBS_UNAVAILABLE"),
    FLAG(MISC_ENABLE_EIST,             "EIST"),
    FLAG(MISC_ENABLE_MONITOR,          "MONITOR"),
    FLAG(MISC_ENABLE_LIMIT_CPUID,      "LIMIT_CPUID_MAXVAL"),
    FLAG(MISC_ENABLE_XTPR_DISABLE,     "XTPR_DISABLE"),
    FLAG(MISC_ENABLE_XD_DISABLE,       "XD_DISABLE"),
    FLAG(MISC_ENABLE_TURBO_DISABLE,    "TURBO_DISABLE"),
    END,
}, .partial = true};

static const struct decode_layout apic_base = {.fields = (const struct field[]){
    ADDRESS(APIC_BASE_ADDRESS, "base"),
    FLAG(APIC_BASE_BSP,        "BSP"),
    FLAG(APIC_BASE_EXTD,       "EXTD"),
    FLAG(APIC_BASE_EN,         "EN"),
    END,
}};

static const struct decode_layout efer = {.fields = (const struct field[]){
    FLAG(EFER_SCE, "SCE"),
    FLAG(EFER_LME, "LME"),
    FLAG(EFER_LMA, "LMA"),
    FLAG(EFER_NXE, "NXE"),
    END,
}};

static const struct decode_layout apic_svr = {.fields = (const struct field[]){
    NUMBER(APIC_SVR_VECTOR, "vector"),
    FLAG(APIC_SVR_ENABLE,   "ENABLE"),
    END,
}, .partial = true};

static const struct decode_layout apic_icr = {.fields = (const struct field[]){
    NUMBER(APIC_ICR_VECTOR,      "vector"),
    CHOICE(APIC_ICR_DELIVERY,    "delivery mode", ipi_delivery_modes),
    FLAG(APIC_ICR_LOGICAL,       "logical"),
    FLAG(APIC_ICR_PENDING,       "pending"),
    FLAG(APIC_ICR_LEVEL_ASSERT,  "assert"),
    FLAG(APIC_ICR_TRIGGER_LEVEL, "level"),
    CHOICE(APIC_ICR_SHORTHAND,   "shorthand", shorthands),
    NUMBER(APIC_ICR_DESTINATION, "destination"),
    END,
}};

/* An LVT entry: which fields it has differs from entry to entry. */
static const struct decode_layout lvt = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR,   "vector"),
    CHOICE(APIC_LVT_DELIVERY, "delivery mode", delivery_modes),
    FLAG(APIC_LVT_PENDING,    "pending"),
    CHOICE(APIC_LVT_MASK,     "mask", masks),
    END,
}};

static const struct decode_layout lvt_lint = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR,      "vector"),
    CHOICE(APIC_LVT_DELIVERY,    "delivery mode", delivery_modes),
    FLAG(APIC_LVT_PENDING,       "pending"),
    FLAG(APIC_LVT_ACTIVE_LOW,    "active-low"),
    FLAG(APIC_LVT_REMOTE_IRR,    "remote-IRR"),
    FLAG(APIC_LVT_TRIGGER_LEVEL, "level"),
    CHOICE(APIC_LVT_MASK,        "mask", masks),
    END,
}};

static const struct decode_layout lvt_error = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR, "vector"),
    FLAG(APIC_LVT_PENDING,  "pending"),
    CHOICE(APIC_LVT_MASK,   "mask", masks),
    END,
}};

static const struct decode_layout lvt_timer = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR,     "vector"),
    FLAG(APIC_LVT_PENDING,      "pending"),
    CHOICE(APIC_LVT_MASK,       "mask", masks),
    CHOICE(APIC_LVT_TIMER_MODE, "timer mode", timer_modes),
    END,
}};

#define ANY_VERSION 0, UINT8_MAX
#define X2APIC(reg) (MSR_X2APIC_BASE + (reg) / 16)

static const struct decode_register registers[] = {
    {MSR_IA32_TIME_STAMP_COUNTER, 1, "IA32_TIME_STAMP_COUNTER", NULL, ANY_VERSION},
    {MSR_IA32_APIC_BASE, 1, "IA32_APIC_BASE", &apic_base, ANY_VERSION},
    {MSR_IA32_FEATURE_CONTROL, 1, "IA32_FEATURE_CONTROL", NULL, ANY_VERSION},
    {MSR_IA32_TSC_ADJUST, 1, "IA32_TSC_ADJUST", NULL, ANY_VERSION},
    {MSR_LASTBRANCH_0_FROM_CORE2, 8, "MSR_LASTBRANCH_%u_FROM_IP", NULL, ANY_VERSION},
    {MSR_LASTBRANCH_0_TO_CORE2, 8, "MSR_LASTBRANCH_%u_TO_IP", NULL, ANY_VERSION},
    {MSR_IA32_BIOS_SIGN_ID, 1, "IA32_BIOS_SIGN_ID", NULL, ANY_VERSION},
    {MSR_IA32_PMC0, 8, "IA32_PMC%u", NULL, ANY_VERSION},
    {MSR_IA32_MTRRCAP, 1, "IA32_MTRRCAP", NULL, ANY_VERSION},
    {MSR_IA32_SYSENTER_CS, 1, "IA32_SYSENTER_CS", NULL, ANY_VERSION},
    {MSR_IA32_SYSENTER_ESP, 1, "IA32_SYSENTER_ESP", NULL, ANY_VERSION},
    {MSR_IA32_SYSENTER_EIP, 1, "IA32_SYSENTER_EIP", NULL, ANY_VERSION},
    {MSR_IA32_MCG_CAP, 1, "IA32_MCG_CAP", NULL, ANY_VERSION},
    {MSR_IA32_PERFEVTSEL0, 16, "IA32_PERFEVTSEL%u", &perfevtsel, ANY_VERSION},
    {MSR_IA32_MISC_ENABLE, 1, "IA32_MISC_ENABLE", &misc_enable, ANY_VERSION},
    {MSR_OFFCORE_RSP_0, 2, "MSR_OFFCORE_RSP_%u", NULL, ANY_VERSION},
    {MSR_LBR_SELECT, 1, "MSR_LBR_SELECT", &lbr_select, ANY_VERSION},
    {MSR_LASTBRANCH_TOS, 1, "MSR_LASTBRANCH_TOS", NULL, ANY_VERSION},
    {MSR_IA32_DEBUGCTL, 1, "IA32_DEBUGCTL", &debugctl, ANY_VERSION},
    {MSR_LER_FROM_LIP, 1, "MSR_LER_FROM_LIP", NULL, ANY_VERSION},
    {MSR_LER_TO_LIP, 1, "MSR_LER_TO_LIP", NULL, ANY_VERSION},
    {MSR_IA32_PAT, 1, "IA32_PAT", NULL, ANY_VERSION},
    {MSR_IA32_FIXED_CTR0, 16, "IA32_FIXED_CTR%u", NULL, ANY_VERSION},
    {MSR_PERF_METRICS, 1, "MSR_PERF_METRICS", &perf_metrics, ANY_VERSION},
    {MSR_IA32_PERF_CAPABILITIES, 1, "IA32_PERF_CAPABILITIES", &perf_capabilities, ANY_VERSION},
    {MSR_IA32_FIXED_CTR_CTRL, 1, "IA32_FIXED_CTR_CTRL", &fixed_ctr_ctrl, ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_STATUS, 1, "IA32_PERF_GLOBAL_STATUS", &global_status, ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_CTRL, 1, "IA32_PERF_GLOBAL_CTRL", &global_ctrl, ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1, "IA32_PERF_GLOBAL_OVF_CTRL", &global_status, 0, 3},
    {MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1, "IA32_PERF_GLOBAL_STATUS_RESET", &global_status,
     4, UINT8_MAX},
    {MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, "IA32_PERF_GLOBAL_STATUS_SET", &global_status,
     ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_INUSE, 1, "IA32_PERF_GLOBAL_INUSE", &global_inuse, ANY_VERSION},
    {MSR_IA32_PEBS_ENABLE, 1, "IA32_PEBS_ENABLE", &pebs_enable, ANY_VERSION},
    {MSR_PEBS_DATA_CFG, 1, "MSR_PEBS_DATA_CFG", &pebs_data_cfg, ANY_VERSION},
    {MSR_PEBS_LD_LAT_THRESHOLD, 1, "MSR_PEBS_LD_LAT_THRESHOLD", NULL, ANY_VERSION},
    {MSR_IA32_A_PMC0, 8, "IA32_A_PMC%u", NULL, ANY_VERSION},
    {MSR_IA32_DS_AREA, 1, "IA32_DS_AREA", NULL, ANY_VERSION},
    {MSR_LASTBRANCH_0_FROM_IP, 32, "MSR_LASTBRANCH_%u_FROM_IP", NULL, ANY_VERSION},
    {MSR_LASTBRANCH_0_TO_IP, 32, "MSR_LASTBRANCH_%u_TO_IP", NULL, ANY_VERSION},
    {MSR_IA32_TSC_DEADLINE, 1, "IA32_TSC_DEADLINE", NULL, ANY_VERSION},
    {X2APIC(APIC_ID), 1, "IA32_X2APIC_APICID", NULL, ANY_VERSION},
    {X2APIC(APIC_VERSION), 1, "IA32_X2APIC_VERSION", NULL, ANY_VERSION},
    {X2APIC(APIC_TPR), 1, "IA32_X2APIC_TPR", NULL, ANY_VERSION},
    {X2APIC(APIC_PPR), 1, "IA32_X2APIC_PPR", NULL, ANY_VERSION},
    {X2APIC(APIC_EOI), 1, "IA32_X2APIC_EOI", NULL, ANY_VERSION},
    {X2APIC(APIC_LDR), 1, "IA32_X2APIC_LDR", NULL, ANY_VERSION},
    {X2APIC(APIC_SVR), 1, "IA32_X2APIC_SIVR", &apic_svr, ANY_VERSION},
    {X2APIC(APIC_ISR), 8, "IA32_X2APIC_ISR%u", NULL, ANY_VERSION},
    {X2APIC(APIC_TMR), 8, "IA32_X2APIC_TMR%u", NULL, ANY_VERSION},
    {X2APIC(APIC_IRR), 8, "IA32_X2APIC_IRR%u", NULL, ANY_VERSION},
    {X2APIC(APIC_ESR), 1, "IA32_X2APIC_ESR", NULL, ANY_VERSION},
    {X2APIC(APIC_LVT_CMCI), 1, "IA32_X2APIC_LVT_CMCI", &lvt, ANY_VERSION},
    {X2APIC(APIC_ICR), 1, "IA32_X2APIC_ICR", &apic_icr, ANY_VERSION},
    {X2APIC(APIC_LVT_TIMER), 1, "IA32_X2APIC_LVT_TIMER", &lvt_timer, ANY_VERSION},
    {X2APIC(APIC_LVT_THERMAL), 1, "IA32_X2APIC_LVT_THERMAL", &lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_PERFMON), 1, "IA32_X2APIC_LVT_PMI", &lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_LINT0), 1, "IA32_X2APIC_LVT_LINT0", &lvt_lint, ANY_VERSION},
    {X2APIC(APIC_LVT_LINT1), 1, "IA32_X2APIC_LVT_LINT1", &lvt_lint, ANY_VERSION},
    {X2APIC(APIC_LVT_ERROR), 1, "IA32_X2APIC_LVT_ERROR", &lvt_error, ANY_VERSION},
    {X2APIC(APIC_TIMER_INITIAL), 1, "IA32_X2APIC_INIT_COUNT", NULL, ANY_VERSION},
    {X2APIC(APIC_TIMER_CURRENT), 1, "IA32_X2APIC_CUR_COUNT", NULL, ANY_VERSION},
    {X2APIC(APIC_TIMER_DIVIDE), 1, "IA32_X2APIC_DIV_CONF", NULL, ANY_VERSION},
    {X2APIC(APIC_SELF_IPI), 1, "IA32_X2APIC_SELF_IPI", NULL, ANY_VERSION},
    {MSR_LBR_INFO_0, 32, "MSR_LBR_INFO_%u", &lbr_info, ANY_VERSION},
    {MSR_IA32_EFER, 1, "IA32_EFER", &efer, ANY_VERSION},
    {MSR_IA32_STAR, 1, "IA32_STAR", NULL, ANY_VERSION},
    {MSR_IA32_LSTAR, 1, "IA32_LSTAR", NULL, ANY_VERSION},
    {MSR_IA32_CSTAR, 1, "IA32_CSTAR", NULL, ANY_VERSION},
    {MSR_IA32_FMASK, 1, "IA32_FMASK", NULL, ANY_VERSION},
    {MSR_IA32_FS_BASE, 1, "IA32_FS_BASE", NULL, ANY_VERSION},
    {MSR_IA32_GS_BASE, 1, "IA32_GS_BASE", NULL, ANY_VERSION},
    {MSR_IA32_KERNEL_GS_BASE, 1, "IA32_KERNEL_GS_BASE", NULL, ANY_VERSION},
    {MSR_IA32_TSC_AUX, 1, "IA32_TSC_AUX", NULL, ANY_VERSION},
};
/* clang-format on */

const struct decode_register *decode_register(unsigned i)
{
    return i < sizeof(registers) / sizeof(registers[0]) ? &registers[i] : NULL;
}

static const struct decode_register *find(uint32_t msr, const struct decode_context *context)
{
    for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
        const struct decode_register *r = &registers[i];
        if (msr - r->first < r->count && context->version >= r->version_min &&
            context->version <= r->version_max)
            return r;
    }
    return NULL;
}

/* A field in its place: which row of the layout, of which group and counter, in which bits. */
struct place {
    const struct field *row;
    unsigned group, counter;
    unsigned low, bits;
};

/* No compiler's builtin: on some processors it calls a library. */
static unsigned lowest_bit(uint64_t mask)
{
    unsigned low = 0;
    while (!(mask >> low & 1))
        low++;
    return low;
}

static unsigned width(uint64_t mask)
{
    unsigned bits = 0;
    for (mask >>= lowest_bit(mask); mask != 0; mask >>= 1)
        bits++;
    return bits;
}

static bool find_place(const struct decode_layout *layout, unsigned index, struct place *place)
{
    unsigned group = 0;
    do {
        for (const struct field *f = layout->fields; f->name != NULL; f++) {
            unsigned bits = width(f->mask), low = lowest_bit(f->mask) + group * layout->stride;
            unsigned parts = f->kind == DECODE_COUNTERS ? bits : 1;
            if (index < parts) {
                *place = (struct place){f, group, index, low + index, bits / parts};
                return true;
            }
            index -= parts;
        }
    } while (++group < layout->groups);
    return false;
}

static uint64_t low_bits(unsigned n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

static void add_event(struct text *t, uint64_t select, const struct decode_context *context)
{
    const char *name = pmu_event_name(select);
    if (select == 0)
        return;
    if (name == NULL && context->event_name != NULL)
        name = context->event_name(context->arg, select);
    text_add_space(t);
    if (name != NULL) {
        text_add(t, name);
        return;
    }
    text_add(t, "event=");
    text_add_hex(t, select & PERFEVTSEL_EVENT, 2);
    text_add(t, " umask=");
    text_add_hex(t, (select & PERFEVTSEL_UMASK) >> PERFEVTSEL_UMASK_SHIFT, 2);
}

static void add_name(struct text *t, const struct place *p)
{
    text_add_space(t);
    text_add_name(t, p->row->name, p->counter);
}

static void add_field(struct text *t, const struct place *p, uint64_t value,
                      const struct decode_context *context)
{
    uint64_t v = value >> p->low & low_bits(p->bits);
    switch (p->row->kind) {
    case DECODE_FLAG:
    case DECODE_COUNTERS:
        if (v != 0)
            add_name(t, p);
        break;
    case DECODE_NUMBER:
        add_name(t, p);
        text_add(t, "=");
        text_add_hex(t, v, p->bits / 4);
        break;
    case DECODE_AMOUNT:
        if (v == 0)
            break;
        add_name(t, p);
        text_add(t, "=");
        text_add_number(t, v, 10, 1);
        break;
    case DECODE_ADDRESS:
        add_name(t, p);
        text_add(t, "=");
        text_add_hex(t, v << p->low, 1);
        break;
    case DECODE_CHOICE:
        if (*p->row->choices[v] == '\0')
            break;
        text_add_space(t);
        text_add(t, p->row->choices[v]);
        break;
    case DECODE_EVENT:
        add_event(t, value, context);
        break;
    case DECODE_UMASK:
        break;
    }
}

static void add_fields(struct text *t, const struct decode_layout *layout, uint64_t value,
                       const struct decode_context *context)
{
    uint64_t known = 0;
    unsigned group = layout->groups; /* the one whose heading stands there: none */
    struct place p;
    for (unsigned i = 0; find_place(layout, i, &p); i++) {
        uint64_t mask = low_bits(p.bits) << p.low;
        known |= mask;
        if (p.group != group && layout->groups > 0 && (value & mask) != 0) {
            group = p.group;
            text_add_space(t);
            text_add_name(t, layout->group, group);
            text_add(t, ":");
        }
        add_field(t, &p, value, context);
    }
    if (!layout->partial && (value & ~known) != 0) {
        text_add_space(t);
        text_add(t, "reserved=");
        text_add_hex(t, value & ~known, 1);
    }
}

bool decode_msr_name(char *buf, size_t size, uint32_t msr, const struct decode_context *context)
{
    const struct decode_register *r = find(msr, context);
    struct text t = text_in(buf, size);
    if (r != NULL)
        text_add_name(&t, r->name, msr - r->first);
    return r != NULL;
}

void decode_msr_fields(char *buf, size_t size, uint32_t msr, uint64_t value,
                       const struct decode_context *context)
{
    const struct decode_register *r = find(msr, context);
    struct text t = text_in(buf, size);
    if (r != NULL && r->layout != NULL)
        add_fields(&t, r->layout, value, context);
}

bool decode_msr_field(struct decode_field *field, uint32_t msr, unsigned index,
                      const struct decode_context *context)
{
    const struct decode_register *r = find(msr, context);
    struct place p;
    if (r == NULL || r->layout == NULL || !find_place(r->layout, index, &p))
        return false;
    field->kind = p.row->kind == DECODE_COUNTERS ? DECODE_FLAG : p.row->kind;
    field->low = p.low;
    field->bits = p.bits;
    field->choices = p.row->choices;
    struct text name = text_in(field->name, sizeof(field->name));
    text_add_name(&name, p.row->name, p.counter);
    struct text group = text_in(field->group, sizeof(field->group));
    if (r->layout->groups > 0)
        text_add_name(&group, r->layout->group, p.group);
    return true;
}

void decode_lvt(char *buf, size_t size, uint32_t value)
{
    const struct decode_context any = {0};
    decode_msr_fields(buf, size, X2APIC(APIC_LVT_PERFMON), value, &any);
}

void decode_msr_address(char *buf, size_t size, uint32_t msr)
{
    uint32_t first = msr;
    while (first >= 16)
        first /= 16;
    struct text t = text_in(buf, size);
    text_add(&t, first >= 10 ? "0" : "");
    text_add_number(&t, msr, 16, 1);
    text_add(&t, "H");
}
