/* Last branch records: those of the model, and what both kinds share. */
#include "pmu/lbr.h"

#include <stddef.h>

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/trap.h"
#include "pmu/debugctl.h"
#include "pmu/lbr_amd.h"
#include "pmu/lbr_arch.h"
#include "x86/maker.h"
#include "x86/msr.h"

#define FLAGS_TEXT    128
#define SYMBOL_COLUMN 24

/* What differs between generations and cannot be asked for. */
struct lbr_kind {
    const char *name;
    unsigned depth;
    uint32_t from, to;
    bool select, not_with_tr, wide_jump_filters;
};

#define AT_CORE2   MSR_LASTBRANCH_0_FROM_CORE2, MSR_LASTBRANCH_0_TO_CORE2
#define AT_NEHALEM MSR_LASTBRANCH_0_FROM_IP, MSR_LASTBRANCH_0_TO_IP

enum { CORE2, BONNELL, SILVERMONT, NEHALEM, SANDY_BRIDGE, KNIGHTS_LANDING, SKYLAKE, KINDS };

/* SDM vol. 3 "LBR Stack", table "LBR Stack Size and TOS Pointer Range", and the sections by
 * processor; vol. 4 for the addresses. */
static const struct lbr_kind kinds[KINDS] = {
    [CORE2] = {"Core 2", 4, AT_CORE2, false, true, false},
    [BONNELL] = {"Atom (45 and 32 nm)", 8, AT_CORE2, false, false, false},
    [SILVERMONT] = {"Silvermont and Airmont", 8, AT_CORE2, true, false, true},
    [NEHALEM] = {"Nehalem and Westmere", 16, AT_NEHALEM, true, false, true},
    [SANDY_BRIDGE] = {"Sandy Bridge to Broadwell", 16, AT_NEHALEM, true, false, false},
    [KNIGHTS_LANDING] = {"Xeon Phi", 8, AT_NEHALEM, true, false, false},
    [SKYLAKE] = {"Skylake on, Goldmont on", 32, AT_NEHALEM, true, false, false},
};

/* DisplayModel of family 6, SDM vol. 4, table "CPUID Signature Values of DisplayFamily and
 * DisplayModel". */
static const struct {
    uint8_t model, kind;
} models[] = {
    {0x0f, CORE2},           {0x16, CORE2},        {0x17, CORE2},        {0x1d, CORE2},
    {0x1c, BONNELL},         {0x26, BONNELL},      {0x27, BONNELL},      {0x35, BONNELL},
    {0x36, BONNELL},         {0x37, SILVERMONT},   {0x4a, SILVERMONT},   {0x4c, SILVERMONT},
    {0x4d, SILVERMONT},      {0x5a, SILVERMONT},   {0x5d, SILVERMONT},   {0x75, SILVERMONT},
    {0x1a, NEHALEM},         {0x1e, NEHALEM},      {0x1f, NEHALEM},      {0x25, NEHALEM},
    {0x2c, NEHALEM},         {0x2e, NEHALEM},      {0x2f, NEHALEM},      {0x2a, SANDY_BRIDGE},
    {0x2d, SANDY_BRIDGE},    {0x3a, SANDY_BRIDGE}, {0x3e, SANDY_BRIDGE}, {0x3c, SANDY_BRIDGE},
    {0x3f, SANDY_BRIDGE},    {0x45, SANDY_BRIDGE}, {0x46, SANDY_BRIDGE}, {0x3d, SANDY_BRIDGE},
    {0x47, SANDY_BRIDGE},    {0x4f, SANDY_BRIDGE}, {0x56, SANDY_BRIDGE}, {0x57, KNIGHTS_LANDING},
    {0x85, KNIGHTS_LANDING}, {0x4e, SKYLAKE},      {0x55, SKYLAKE},      {0x5e, SKYLAKE},
    {0x66, SKYLAKE},         {0x6a, SKYLAKE},      {0x6c, SKYLAKE},      {0x7d, SKYLAKE},
    {0x7e, SKYLAKE},         {0x8c, SKYLAKE},      {0x8d, SKYLAKE},      {0x8e, SKYLAKE},
    {0x9e, SKYLAKE},         {0xa5, SKYLAKE},      {0xa6, SKYLAKE},      {0xa7, SKYLAKE},
    {0x5c, SKYLAKE},         {0x5f, SKYLAKE},      {0x7a, SKYLAKE},      {0x86, SKYLAKE},
    {0x8a, SKYLAKE},         {0x96, SKYLAKE},      {0x9c, SKYLAKE},      {0x9d, SKYLAKE},
};

/* Of each processor its own: the kinds of core of a hybrid one differ. */
static struct lbr_info infos[MAX_CPUS];
#define here (infos[this_cpu()->index])

const struct lbr_info *lbr_info(void)
{
    return &here;
}

static const struct lbr_kind *kind_of(const struct cpu_ident *cpu)
{
    if (maker_of(cpu->vendor) != MAKER_INTEL || cpu->family != 6)
        return NULL;
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++)
        if (models[i].model == cpu->model)
            return &kinds[models[i].kind];
    return NULL;
}

/* The address of an MSR that answers at both ends of its range and can be cleared there. */
static uint32_t first_missing(uint32_t first)
{
    uint64_t value;
    const uint32_t ends[] = {first, first + (here.depth - 1) * here.stride};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (!rdmsr_safe(ends[i], &value) || !wrmsr_safe(ends[i], 0))
            return ends[i];
    return 0;
}

/* The first register of the stack that is not there, or 0. */
static uint32_t missing_msr(void)
{
    uint64_t value;
    uint32_t msr;
    if (here.tos != 0 && !rdmsr_safe(here.tos, &value))
        return here.tos;
    if ((msr = first_missing(here.from)) != 0 || (msr = first_missing(here.to)) != 0)
        return msr;
    return here.info != 0 ? first_missing(here.info) : 0;
}

static void find_select(const struct lbr_kind *kind)
{
    uint64_t value;
    bool answers = kind->select && rdmsr_safe(MSR_LBR_SELECT, &value);
    /* A processor that has it must take it; a hypervisor may drop what is written. */
    here.select = answers && (!hypervisor_present() || msr_holds(MSR_LBR_SELECT, LBR_SELECT_JCC));
    if (here.select)
        return;
    if (kind->select)
        ksnprintf(here.no_select, sizeof(here.no_select), "no LBR filter: MSR_LBR_SELECT (1C8H) %s",
                  answers ? "cannot be set" : "raises #GP");
    else
        ksnprintf(here.no_select, sizeof(here.no_select), "no LBR filter (MSR_LBR_SELECT) on %s",
                  kind->name);
}

/* From Haswell on; before, the bit is reserved: #GP. */
static void find_call_stack(void)
{
    if (!here.select)
        ksnprintf(here.no_call_stack, sizeof(here.no_call_stack), "%s", here.no_select);
    else if (!msr_holds(MSR_LBR_SELECT, LBR_SELECT_EN_CALLSTACK))
        ksnprintf(here.no_call_stack, sizeof(here.no_call_stack),
                  "no call-stack mode: MSR_LBR_SELECT[9] cannot be set");
}

/* The records of the model, into what there is here. */
static void find_by_model(const struct cpu_ident *cpu, const struct lbr_kind *kind)
{
    const struct pmu_msr_value *caps = &pmu_info()->perf_capabilities;
    here.depth = kind->depth;
    here.from = kind->from;
    here.to = kind->to;
    here.tos = MSR_LASTBRANCH_TOS;
    here.control = MSR_IA32_DEBUGCTL;
    here.control_key = "debugctl";
    here.enable = DEBUGCTL_LBR;
    here.filter = MSR_LBR_SELECT;
    here.filter_key = "lbr_select";
    here.not_with_tr = kind->not_with_tr;
    here.wide_jump_filters = kind->wide_jump_filters;
    /* Without PDCM it is an early Core 2, whose records are plain linear addresses. */
    here.format = caps->answered ? caps->value & PERF_CAP_LBR_FMT : LBR_FMT_LIP;
    /* Xeon Phi says that, and has MISPRED all the same (Linux, intel_pmu_lbr_init_knl()). */
    if (kind == &kinds[KNIGHTS_LANDING] && here.format == LBR_FMT_LIP)
        here.format = LBR_FMT_EIP_FLAGS;
    if (lbr_format_has_info(here.format))
        here.info = MSR_LBR_INFO_0;
    uint32_t missing = missing_msr();
    if (missing != 0)
        ksnprintf(here.why, sizeof(here.why), "no LBR stack: MSR %XH raises #GP on model 0x%x",
                  (unsigned)missing, (unsigned)cpu->model);
    else if (here.format >= LBR_FMT_COUNT)
        ksnprintf(here.why, sizeof(here.why),
                  "LBR format unknown: IA32_PERF_CAPABILITIES[5:0] = 0x%x", here.format);
    else
        here.present = !debugctl_lacks(DEBUGCTL_LBR, "LBR", here.why);
    find_select(kind);
    find_call_stack();
}

/* The registers of those that CPUID announces must be there. */
static void check_announced(const char *bit)
{
    uint32_t missing = missing_msr();
    if (missing == 0)
        return;
    here.present = false;
    ksnprintf(here.why, sizeof(here.why), "no LBR stack: MSR %XH raises #GP, %s announces it",
              (unsigned)missing, bit);
}

static void find_architectural(void)
{
    if (lbr_arch_find(&here))
        check_announced("CPUID.7:EDX[19] = 1");
    if (here.present)
        here.present = lbr_arch_clears(&here);
}

static void find_amd(void)
{
    if (lbr_amd_find(&here))
        check_announced("CPUID.80000022H:EAX[1] = 1");
}

void lbr_init(void)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    here = (struct lbr_info){.stride = 1};
    const struct lbr_kind *kind = kind_of(&cpu);
    if (kind != NULL)
        find_by_model(&cpu, kind);
    else if (lbr_arch_announced())
        find_architectural();
    else if (lbr_amd_announced())
        find_amd();
    else if (maker_of(cpu.vendor) == MAKER_AMD)
        ksnprintf(here.why, sizeof(here.why),
                  "no LBR stack: CPUID.80000022H:EAX[1] (LbrExtV2) = 0");
    else
        ksnprintf(here.why, sizeof(here.why), "no LBR stack known of %s family %u model 0x%x",
                  cpu.vendor, (unsigned)cpu.family, (unsigned)cpu.model);
}

unsigned lbr_logged(void)
{
    return lbr_arch_logged(here.info_fields);
}

/* The switch when all is off: IA32_LBR_CTL keeps its filters. */
static uint64_t off(uint64_t on)
{
    return here.control == MSR_IA32_DEBUGCTL ? debugctl_with(0) : on & ~here.enable;
}

void lbr_reset(void)
{
    if (!here.present)
        return;
    wrmsr_safe(here.control, off(0));
    wrmsr_safe(MSR_IA32_DEBUGCTL, debugctl_with(0));
    if (here.select)
        wrmsr_safe(here.filter, 0);
    if (here.depths != 0)
        lbr_set_depth(lbr_arch_deepest(here.depths));
}

void lbr_clear(void)
{
    if (here.depths != 0) {
        wrmsr(MSR_IA32_LBR_DEPTH, here.depth);
        return;
    }
    for (unsigned i = 0; i < here.depth; i++) {
        wrmsr(here.from + i * here.stride, 0);
        wrmsr(here.to + i * here.stride, 0);
        if (here.info != 0)
            wrmsr(here.info + i * here.stride, 0);
    }
}

bool lbr_set_depth(unsigned depth)
{
    if (depth == 0 || depth % LBR_DEPTH_STEP != 0 || depth > LBR_MAX_DEPTH ||
        !(here.depths >> (depth / LBR_DEPTH_STEP - 1) & 1) ||
        !wrmsr_safe(MSR_IA32_LBR_DEPTH, depth))
        return false;
    here.depth = depth;
    return true;
}

unsigned lbr_tos(void)
{
    return here.tos != 0 ? rdmsr(here.tos) % here.depth : 0;
}

uint64_t lbr_control(void)
{
    return rdmsr(here.control);
}

uint64_t lbr_filter(void)
{
    return rdmsr(here.filter);
}

/* The records' entry that is so many branches old. */
static unsigned entry_of(unsigned newest, unsigned age)
{
    return here.tos != 0 ? (newest + here.depth - age) % here.depth : age;
}

bool lbr_read_entry(unsigned entry, struct branch_record *record)
{
    uint32_t past = entry * here.stride;
    uint64_t from = rdmsr(here.from + past), to = rdmsr(here.to + past);
    *record = (struct branch_record){0};
    if (from == 0 && to == 0)
        return false;
    lbr_decode(here.format, from, to, here.info != 0 ? rdmsr(here.info + past) : 0, record);
    if (here.format == LBR_FMT_ARCHITECTURAL)
        lbr_arch_limit(here.info_fields, record);
    return true;
}

unsigned lbr_read(struct branch_record *records, unsigned max)
{
    unsigned newest = lbr_tos(), n = 0;
    for (unsigned age = 0; age < here.depth && n < max; age++) {
        if (!lbr_read_entry(entry_of(newest, age), &records[n]))
            break;
        n += !records[n].wrong_path;
    }
    return n;
}

/* The filter's bits of the switch, where it has them. */
static uint64_t filter_in_control(uint64_t select)
{
    return here.filter == here.control ? lbr_arch_control(select) : 0;
}

/* Clears the stack and sets the filter, and IA32_DEBUGCTL where it is not the switch itself;
 * returns what the switch is to hold. */
static uint64_t prepare(uint64_t select, uint64_t debugctl)
{
    lbr_clear();
    if (here.select && here.filter != here.control)
        wrmsr(here.filter, select);
    if (here.control == MSR_IA32_DEBUGCTL)
        return debugctl_with(here.enable | debugctl);
    wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(debugctl | here.beside));
    return here.enable | filter_in_control(select);
}

/* What the switch held in the last window. */
static uint64_t recorded_with;

static void run_recorded(uint64_t on, window_body body, uint64_t arg)
{
    recorded_with = on;
    msr_trace_record(MSR_WRITE, here.control, on, false, (uint64_t)pmu_window_open);
    irq_disable();
    pmu_window(here.control, on, off(on), body, arg);
    irq_enable();
    msr_trace_record(MSR_WRITE, here.control, off(on), false, (uint64_t)pmu_window_close);
    if (here.control != MSR_IA32_DEBUGCTL)
        wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(0));
}

uint64_t lbr_switched_off(uint64_t select)
{
    return off(filter_in_control(select));
}

void lbr_record(uint64_t select, uint64_t debugctl, window_body body, uint64_t arg)
{
    run_recorded(prepare(select, debugctl), body, arg);
}

void lbr_record_more(window_body body, uint64_t arg)
{
    run_recorded(recorded_with, body, arg);
}

void lbr_start(uint64_t select, uint64_t debugctl)
{
    wrmsr(here.control, prepare(select, debugctl));
}

void lbr_stop(void)
{
    wrmsr(here.control, off(lbr_control()));
    wrmsr(MSR_IA32_DEBUGCTL, debugctl_with(0));
}

void lbr_finish(window_body body, uint64_t arg)
{
    uint64_t on = lbr_control();
    pmu_window(here.control, on, on & ~here.enable, body, arg);
}

void lbr_thaw(void)
{
    if (pmu_info()->freeze_in_status)
        pmu_status_reset(GLOBAL_STATUS_LBR_FRZ);
    else
        wrmsr(here.control, lbr_control() | here.enable);
}

/* An address with its symbol, padded to a column of that width. */
static void print_address(uint64_t address, int width)
{
    uint64_t offset;
    const char *name = symbol_name(address, &offset);
    char symbol[48] = "";
    if (name != NULL)
        ksnprintf(symbol, sizeof(symbol), offset != 0 ? "%s+0x%llx" : "%s", name,
                  (unsigned long long)offset);
    kprintf(" 0x%016llx %-*s", (unsigned long long)address, width, symbol);
}

static void print_record(unsigned age, const struct branch_record *record)
{
    char flags[FLAGS_TEXT];
    lbr_flags_text(flags, sizeof(flags), record);
    bool more = flags[0] != '\0';
    kprintf("#   %2u ", age);
    print_address(record->from, SYMBOL_COLUMN);
    kprintf(" ->");
    print_address(record->to, more ? SYMBOL_COLUMN : 0);
    kprintf("%s%s\n", more ? "  " : "", flags);
}

void lbr_dump(const char *title)
{
    struct branch_record records[LBR_MAX_DEPTH];
    unsigned n = lbr_read(records, LBR_MAX_DEPTH);
    kprintf("# %s\n#   LBR stack, newest first: %u of %u, ", title, n, here.depth);
    if (here.tos != 0)
        kprintf("TOS %u, ", lbr_tos());
    kprintf("format %u (%s)\n", here.format, lbr_format_name(here.format));
    for (unsigned i = 0; i < n; i++)
        print_record(i, &records[i]);
}
