/* MSR names and fields as text. Two tables: registers, and the fields of each kind of register. */
#include "x86/decode.h"

#include "x86/arch.h"
#include "kernel/print.h"
#include "x86/events.h"

/* A growing text: whatever does not fit is dropped, the rest stays NUL-terminated. */
struct text {
    char *buf;
    size_t size, length;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
    if (t->length + 1 >= t->size)
        return;
    va_list ap;
    va_start(ap, fmt);
    int n = kvsnprintf(t->buf + t->length, t->size - t->length, fmt, ap);
    va_end(ap);
    if (n > 0)
        t->length += (size_t)n;
}

static const char *space(const struct text *t)
{
    return t->length == 0 ? "" : " ";
}

/* A field: one bit is named when set, a wider one is always given as name=value. */
struct field {
    uint8_t low, bits;
    const char *name;
};

static const struct field perfevtsel_fields[] = {
    {16, 1, "USR"}, {17, 1, "OS"}, {18, 1, "E"},   {19, 1, "PC"}, {20, 1, "INT"},
    {21, 1, "ANY"}, {22, 1, "EN"}, {23, 1, "INV"}, {0, 0, NULL},
};
static const struct field global_status_fields[] = {
    {48, 1, "OVF_PERF_METRICS"}, {55, 1, "TraceToPAPMI"}, {58, 1, "LBR_FRZ"},
    {59, 1, "CTR_FRZ"},          {60, 1, "ASCI"},         {61, 1, "Ovf_Uncore"},
    {62, 1, "OvfBuf"},           {63, 1, "CondChgd"},     {0, 0, NULL},
};
static const struct field global_ctrl_fields[] = {{48, 1, "EN_PERF_METRICS"}, {0, 0, NULL}};
static const struct field global_inuse_fields[] = {{63, 1, "PMI_InUse"}, {0, 0, NULL}};
static const struct field debugctl_fields[] = {
    {0, 1, "LBR"},
    {1, 1, "BTF"},
    {6, 1, "TR"},
    {7, 1, "BTS"},
    {8, 1, "BTINT"},
    {9, 1, "BTS_OFF_OS"},
    {10, 1, "BTS_OFF_USR"},
    {11, 1, "FREEZE_LBRS_ON_PMI"},
    {12, 1, "FREEZE_PERFMON_ON_PMI"},
    {13, 1, "ENABLE_UNCORE_PMI"},
    {14, 1, "FREEZE_WHILE_SMM"},
    {15, 1, "RTM_DEBUG"},
    {0, 0, NULL},
};
static const struct field perf_capabilities_fields[] = {
    {0, 6, "LBR_FMT"},           {6, 1, "PEBS_TRAP"},
    {7, 1, "PEBS_ARCH_REG"},     {8, 4, "PEBS_FMT"},
    {12, 1, "FREEZE_WHILE_SMM"}, {13, 1, "FW_WRITE"},
    {14, 1, "PEBS_BASELINE"},    {15, 1, "PERF_METRICS"},
    {16, 1, "PEBS_OUTPUT_PT"},   {0, 0, NULL},
};
static const struct field misc_enable_fields[] = {
    {0, 1, "FAST_STRINGS"},      {3, 1, "TCC"},
    {7, 1, "PMU_AVAILABLE"},     {11, 1, "BTS_UNAVAILABLE"},
    {12, 1, "PEBS_UNAVAILABLE"}, {16, 1, "EIST"},
    {18, 1, "MONITOR"},          {22, 1, "LIMIT_CPUID_MAXVAL"},
    {23, 1, "XTPR_DISABLE"},     {34, 1, "XD_DISABLE"},
    {38, 1, "TURBO_DISABLE"},    {0, 0, NULL},
};
static const struct field apic_base_fields[] = {
    {8, 1, "BSP"},
    {10, 1, "EXTD"},
    {11, 1, "EN"},
    {0, 0, NULL},
};

static uint64_t field_mask(const struct field *f)
{
    return (ARCH_BIT(f->bits) - 1) << f->low;
}

static void add_fields(struct text *t, const struct field *fields, uint64_t value)
{
    for (const struct field *f = fields; f->name != NULL; f++) {
        uint64_t v = (value & field_mask(f)) >> f->low;
        if (f->bits > 1)
            add(t, "%s%s=0x%llx", space(t), f->name, (unsigned long long)v);
        else if (v)
            add(t, "%s%s", space(t), f->name);
    }
}

static uint64_t known_bits(const struct field *fields)
{
    uint64_t known = 0;
    for (const struct field *f = fields; f->name != NULL; f++)
        known |= field_mask(f);
    return known;
}

static void add_reserved(struct text *t, uint64_t bits)
{
    if (bits != 0)
        add(t, "%sreserved=0x%llx", space(t), (unsigned long long)bits);
}

static void decode_perfevtsel(struct text *t, uint64_t value)
{
    const char *event = pmu_event_name(value);
    unsigned cmask = (unsigned)((value & PERFEVTSEL_CMASK) >> PERFEVTSEL_CMASK_SHIFT);
    if (value == 0)
        return;
    if (event != NULL)
        add(t, "%s", event);
    else
        add(t, "event=0x%02x umask=0x%02x", (unsigned)(value & PERFEVTSEL_EVENT),
            (unsigned)((value & PERFEVTSEL_UMASK) >> PERFEVTSEL_UMASK_SHIFT));
    add_fields(t, perfevtsel_fields, value);
    if (cmask != 0)
        add(t, " CMASK=%u", cmask);
    add_reserved(t, value & ~(ARCH_BIT(32) - 1));
}

/* Four bits a counter, SDM vol. 3 "FIXED_CTR_CTRL MSR": OS, USR, AnyThread, PMI. */
static void decode_fixed_ctr_ctrl(struct text *t, uint64_t value)
{
    static const char *const names[FIXED_CTR_CTRL_BITS] = {"OS", "USR", "ANY", "PMI"};
    for (unsigned i = 0; i * FIXED_CTR_CTRL_BITS < 64; i++) {
        unsigned bits = (unsigned)(value >> (i * FIXED_CTR_CTRL_BITS)) & 0xf;
        if (bits == 0)
            continue;
        add(t, "%sFIXED_CTR%u:", space(t), i);
        for (unsigned b = 0; b < FIXED_CTR_CTRL_BITS; b++)
            if (bits >> b & 1)
                add(t, " %s", names[b]);
    }
}

/* Bit n: PMCn; bit 32 + i: FIXED_CTRi; the rest by table. */
static void decode_per_counter(struct text *t, uint64_t value, const char *prefix,
                               const struct field *rest)
{
    const uint64_t general = ARCH_BIT(32) - 1, fixed = ARCH_U64(0xffff) << GLOBAL_FIXED_SHIFT;
    for (unsigned n = 0; n < 48; n++) {
        if (!(value >> n & 1))
            continue;
        if (n < GLOBAL_FIXED_SHIFT)
            add(t, "%s%sPMC%u", space(t), prefix, n);
        else
            add(t, "%s%sFIXED_CTR%u", space(t), prefix, n - GLOBAL_FIXED_SHIFT);
    }
    add_fields(t, rest, value);
    add_reserved(t, value & ~(general | fixed | known_bits(rest)));
}

static void decode_global_ctrl(struct text *t, uint64_t value)
{
    decode_per_counter(t, value, "EN_", global_ctrl_fields);
}

static void decode_global_status(struct text *t, uint64_t value)
{
    decode_per_counter(t, value, "Ovf_", global_status_fields);
}

static void decode_global_inuse(struct text *t, uint64_t value)
{
    decode_per_counter(t, value, "", global_inuse_fields);
}

static void decode_pebs_enable(struct text *t, uint64_t value)
{
    for (unsigned n = 0; n < 32; n++)
        if (value >> n & 1)
            add(t, "%sPEBS_EN_PMC%u", space(t), n);
    for (unsigned n = 32; n < 64; n++)
        if (value >> n & 1)
            add(t, "%sLL_EN_PMC%u", space(t), n - 32);
}

static void decode_debugctl(struct text *t, uint64_t value)
{
    add_fields(t, debugctl_fields, value);
    add_reserved(t, value & ~known_bits(debugctl_fields));
}

static void decode_perf_capabilities(struct text *t, uint64_t value)
{
    add_fields(t, perf_capabilities_fields, value);
    add_reserved(t, value & ~known_bits(perf_capabilities_fields));
}

/* Much of MISC_ENABLE is model-specific: only what is named here is told. */
static void decode_misc_enable(struct text *t, uint64_t value)
{
    add_fields(t, misc_enable_fields, value);
}

static void decode_apic_base(struct text *t, uint64_t value)
{
    add(t, "base=0x%llx", (unsigned long long)(value & PTE_ADDR));
    add_fields(t, apic_base_fields, value);
}

static void add_lvt(struct text *t, uint64_t value)
{
    static const char *const delivery[] = {"fixed", "mode-1", "SMI",    "mode-3",
                                           "NMI",   "INIT",   "mode-6", "ExtINT"};
    add(t, "vector=0x%02x %s%s %s", (unsigned)(value & APIC_LVT_VECTOR),
        delivery[(value & APIC_LVT_DELIVERY) >> 8], value & APIC_LVT_PENDING ? " pending" : "",
        value & APIC_LVT_MASK ? "masked" : "unmasked");
}

/* Registers: count MSRs from first on; a name with a number takes "%u". Version bounds where a name
 * changed. */
struct msr_name {
    uint32_t first, count;
    const char *name;
    void (*fields)(struct text *t, uint64_t value);
    uint8_t version_min, version_max;
};

#define ANY_VERSION 0, 255
#define X2APIC(reg) (MSR_X2APIC_BASE + (reg) / 16)

static const struct msr_name msr_names[] = {
    {MSR_IA32_TIME_STAMP_COUNTER, 1, "IA32_TIME_STAMP_COUNTER", NULL, ANY_VERSION},
    {MSR_IA32_APIC_BASE, 1, "IA32_APIC_BASE", decode_apic_base, ANY_VERSION},
    {MSR_IA32_FEATURE_CONTROL, 1, "IA32_FEATURE_CONTROL", NULL, ANY_VERSION},
    {MSR_IA32_BIOS_SIGN_ID, 1, "IA32_BIOS_SIGN_ID", NULL, ANY_VERSION},
    {MSR_IA32_PMC0, 8, "IA32_PMC%u", NULL, ANY_VERSION},
    {MSR_IA32_PERFEVTSEL0, 16, "IA32_PERFEVTSEL%u", decode_perfevtsel, ANY_VERSION},
    {MSR_IA32_MISC_ENABLE, 1, "IA32_MISC_ENABLE", decode_misc_enable, ANY_VERSION},
    {MSR_OFFCORE_RSP_0, 2, "MSR_OFFCORE_RSP_%u", NULL, ANY_VERSION},
    {MSR_LBR_SELECT, 1, "MSR_LBR_SELECT", NULL, ANY_VERSION},
    {MSR_LASTBRANCH_TOS, 1, "MSR_LASTBRANCH_TOS", NULL, ANY_VERSION},
    {MSR_IA32_DEBUGCTL, 1, "IA32_DEBUGCTL", decode_debugctl, ANY_VERSION},
    {MSR_IA32_FIXED_CTR0, 16, "IA32_FIXED_CTR%u", NULL, ANY_VERSION},
    {MSR_PERF_METRICS, 1, "MSR_PERF_METRICS", NULL, ANY_VERSION},
    {MSR_IA32_PERF_CAPABILITIES, 1, "IA32_PERF_CAPABILITIES", decode_perf_capabilities,
     ANY_VERSION},
    {MSR_IA32_FIXED_CTR_CTRL, 1, "IA32_FIXED_CTR_CTRL", decode_fixed_ctr_ctrl, ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_STATUS, 1, "IA32_PERF_GLOBAL_STATUS", decode_global_status, ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_CTRL, 1, "IA32_PERF_GLOBAL_CTRL", decode_global_ctrl, ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1, "IA32_PERF_GLOBAL_OVF_CTRL", decode_global_status, 0, 3},
    {MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1, "IA32_PERF_GLOBAL_STATUS_RESET", decode_global_status, 4,
     255},
    {MSR_IA32_PERF_GLOBAL_STATUS_SET, 1, "IA32_PERF_GLOBAL_STATUS_SET", decode_global_status,
     ANY_VERSION},
    {MSR_IA32_PERF_GLOBAL_INUSE, 1, "IA32_PERF_GLOBAL_INUSE", decode_global_inuse, ANY_VERSION},
    {MSR_IA32_PEBS_ENABLE, 1, "IA32_PEBS_ENABLE", decode_pebs_enable, ANY_VERSION},
    {MSR_PEBS_DATA_CFG, 1, "MSR_PEBS_DATA_CFG", NULL, ANY_VERSION},
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
    {X2APIC(APIC_SVR), 1, "IA32_X2APIC_SIVR", NULL, ANY_VERSION},
    {X2APIC(APIC_ISR), 8, "IA32_X2APIC_ISR%u", NULL, ANY_VERSION},
    {X2APIC(APIC_TMR), 8, "IA32_X2APIC_TMR%u", NULL, ANY_VERSION},
    {X2APIC(APIC_IRR), 8, "IA32_X2APIC_IRR%u", NULL, ANY_VERSION},
    {X2APIC(APIC_ESR), 1, "IA32_X2APIC_ESR", NULL, ANY_VERSION},
    {X2APIC(APIC_LVT_CMCI), 1, "IA32_X2APIC_LVT_CMCI", add_lvt, ANY_VERSION},
    {X2APIC(APIC_ICR), 1, "IA32_X2APIC_ICR", NULL, ANY_VERSION},
    {X2APIC(APIC_LVT_TIMER), 1, "IA32_X2APIC_LVT_TIMER", add_lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_THERMAL), 1, "IA32_X2APIC_LVT_THERMAL", add_lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_PERFMON), 1, "IA32_X2APIC_LVT_PMI", add_lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_LINT0), 1, "IA32_X2APIC_LVT_LINT0", add_lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_LINT1), 1, "IA32_X2APIC_LVT_LINT1", add_lvt, ANY_VERSION},
    {X2APIC(APIC_LVT_ERROR), 1, "IA32_X2APIC_LVT_ERROR", add_lvt, ANY_VERSION},
    {X2APIC(APIC_TIMER_INITIAL), 1, "IA32_X2APIC_INIT_COUNT", NULL, ANY_VERSION},
    {X2APIC(APIC_TIMER_CURRENT), 1, "IA32_X2APIC_CUR_COUNT", NULL, ANY_VERSION},
    {X2APIC(APIC_TIMER_DIVIDE), 1, "IA32_X2APIC_DIV_CONF", NULL, ANY_VERSION},
    {X2APIC(APIC_SELF_IPI), 1, "IA32_X2APIC_SELF_IPI", NULL, ANY_VERSION},
    {MSR_IA32_EFER, 1, "IA32_EFER", NULL, ANY_VERSION},
};

static const struct msr_name *find_msr(uint32_t msr, unsigned version)
{
    for (size_t i = 0; i < sizeof(msr_names) / sizeof(msr_names[0]); i++) {
        const struct msr_name *m = &msr_names[i];
        if (msr - m->first < m->count && version >= m->version_min && version <= m->version_max)
            return m;
    }
    return NULL;
}

bool decode_msr_name(char *buf, size_t size, uint32_t msr, unsigned version)
{
    const struct msr_name *m = find_msr(msr, version);
    if (m == NULL) {
        if (size > 0)
            buf[0] = '\0';
        return false;
    }
    /* The number, if the name has one, is printed apart: the format stays a literal. */
    struct text t = {buf, size, 0};
    for (const char *c = m->name; *c != '\0'; c++) {
        if (c[0] == '%' && c[1] == 'u') {
            add(&t, "%u", (unsigned)(msr - m->first));
            c++;
        } else {
            add(&t, "%c", *c);
        }
    }
    return true;
}

void decode_msr_fields(char *buf, size_t size, uint32_t msr, uint64_t value)
{
    struct text t = {buf, size, 0};
    /* The name of 390H depends on the version, its layout does not: any version finds it. */
    const struct msr_name *m = find_msr(msr, 255);
    if (size > 0)
        buf[0] = '\0';
    if (m != NULL && m->fields != NULL)
        m->fields(&t, value);
}

void decode_lvt(char *buf, size_t size, uint32_t value)
{
    struct text t = {buf, size, 0};
    add_lvt(&t, value);
}

void decode_msr_address(char *buf, size_t size, uint32_t msr)
{
    char digits[12];
    int n = ksnprintf(digits, sizeof(digits), "%X", (unsigned)msr);
    bool letter = n > 0 && digits[0] >= 'A';
    ksnprintf(buf, size, "%s%sH", letter ? "0" : "", digits);
}
