#include "sim/fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"
#include "sim/smi.h"
#include "sim/trace.h"
#include "x86/msr.h"
#include "x86/events.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"

#define NEVER          UINT64_MAX
#define MAX_MSRS       32
#define MAX_GENERAL    8
#define MSR_NAME       48
#define SPURIOUS_EVERY 50000 /* core cycles, where the word gives no number */
#define EVERY_MIN      2000  /* core cycles: a handler must come to its end in between */
/* The second of a double PMI: not at once, because the LVT entry has masked itself, but as soon as
 * the handler has unmasked it; given up when that does not happen. */
#define AGAIN_CYCLES 50
#define AGAIN_TRIES  2000
/* The end of the memory that is taken, where the word gives none; and the highest one. */
#define MEMORY_TAKEN     (UINT64_C(16) << 20)
#define MEMORY_TAKEN_MAX (UINT64_C(64) << 20)

enum msr_kind { MSR_GP, MSR_VE, MSR_WRITE_IGNORED };
#define MAX_LEAVES 8
enum pmi_kind { PMI_GOOD, PMI_LOST, PMI_DOUBLE, PMI_SPURIOUS };

struct faults {
    struct {
        uint32_t msr;
        enum msr_kind kind;
        bool read, write; /* which accesses */
    } msrs[MAX_MSRS];
    unsigned n_msrs;
    uint32_t ve_leaves[MAX_LEAVES];
    unsigned n_ve_leaves;
    bool trust_domain;              /* something raises #VE */
    uint64_t nth_msr, msr_accesses; /* nth 0: none */
    unsigned counters;              /* general counters that answer */
    uint32_t no_cpus;               /* bit n: processor n does not start */
    uint64_t framebuffer;           /* 0: a text screen */
    unsigned hypervisor;            /* enum fault_hypervisor, together */
    struct fault_memory memory;
    bool counters_limited, no_apic, no_x2apic, dirty, x2apic_on, fixed_on, claimed;
    enum pmi_kind pmi;
    uint64_t pmi_nth, pmi_seen; /* nth 0: every one */
    uint64_t nmi_every, spurious_every;
    uint64_t next_nmi, next_spurious; /* in slots, of the first processor */
    uint64_t again_at;
    unsigned again_tries;
    struct cpu *again_cpu;
    bool nth_came;
    struct smi smi;
};

struct faults *faults_new(void)
{
    struct faults *f = calloc(1, sizeof(*f));

    if (f)
        f->next_nmi = f->next_spurious = f->again_at = NEVER;
    return f;
}

void faults_free(struct faults *f)
{
    free(f);
}

/* ---- The words ---- */

static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value >= min &&
           *value <= max;
}

static bool add_msr(struct faults *f, const char *text, enum msr_kind kind, bool read, bool write)
{
    uint64_t msr;

    if (f->n_msrs == MAX_MSRS || !number(text, 0, UINT32_MAX, &msr))
        return false;
    f->msrs[f->n_msrs].msr = msr;
    f->msrs[f->n_msrs].kind = kind;
    f->msrs[f->n_msrs].read = read;
    f->msrs[f->n_msrs++].write = write;
    return true;
}

static bool set_msr(struct faults *f, const char *text)
{
    return add_msr(f, text, MSR_GP, true, true);
}

static bool set_msr_read(struct faults *f, const char *text)
{
    return add_msr(f, text, MSR_GP, true, false);
}

static bool set_msr_write(struct faults *f, const char *text)
{
    return add_msr(f, text, MSR_GP, false, true);
}

static bool set_msr_ignore(struct faults *f, const char *text)
{
    return add_msr(f, text, MSR_WRITE_IGNORED, false, true);
}

static bool set_msr_ve(struct faults *f, const char *text)
{
    return f->trust_domain = add_msr(f, text, MSR_VE, true, true);
}

static bool set_cpuid_ve(struct faults *f, const char *text)
{
    uint64_t leaf;

    if (f->n_ve_leaves == MAX_LEAVES || !number(text, 0, UINT32_MAX, &leaf))
        return false;
    f->ve_leaves[f->n_ve_leaves++] = leaf;
    return f->trust_domain = true;
}

static bool set_nth_msr(struct faults *f, const char *text)
{
    return number(text, 1, INT64_MAX, &f->nth_msr);
}

static bool set_counters(struct faults *f, const char *text)
{
    uint64_t n;

    if (!number(text, 0, MAX_GENERAL, &n))
        return false;
    f->counters = n;
    return f->counters_limited = true;
}

/* "lost", "lost:3": every PMI, or the third. For spurious the number is a period. */
static bool set_pmi(struct faults *f, const char *text)
{
    static const char *const kinds[] = {
        [PMI_LOST] = "lost", [PMI_DOUBLE] = "double", [PMI_SPURIOUS] = "spurious"};
    size_t length = strcspn(text, ":");
    uint64_t n = 0;

    for (enum pmi_kind k = PMI_LOST; k <= PMI_SPURIOUS; k++) {
        if (strlen(kinds[k]) != length || strncmp(kinds[k], text, length) != 0)
            continue;
        if (text[length] &&
            !number(text + length + 1, k == PMI_SPURIOUS ? EVERY_MIN : 1, INT32_MAX, &n))
            return false;
        f->pmi = k;
        if (k == PMI_SPURIOUS)
            f->spurious_every = n ? n : SPURIOUS_EVERY;
        else
            f->pmi_nth = n;
        return true;
    }
    return false;
}

static bool set_nmi(struct faults *f, const char *text)
{
    static const char every[] = "every:";

    return strncmp(text, every, sizeof(every) - 1) == 0 &&
           number(text + sizeof(every) - 1, EVERY_MIN, INT32_MAX, &f->nmi_every);
}

static bool set_smi(struct faults *f, const char *text)
{
    return smi_choose(&f->smi, text);
}

static bool set_smi_spoils(struct faults *f, const char *text)
{
    (void)text;
    return f->smi.spoils = true;
}

static bool set_no_cpu(struct faults *f, const char *text)
{
    uint64_t n;

    if (!number(text, 1, MACHINE_MAX_CPUS - 1, &n))
        return false;
    f->no_cpus |= 1u << n;
    return true;
}

static bool set_framebuffer(struct faults *f, const char *text)
{
    return number(text, 1ULL << 32, (1ULL << 47) - 1, &f->framebuffer);
}

static bool set_memory(struct faults *f, const char *text)
{
    static const char *const kinds[] = {"busy", "reserved"};

    for (unsigned i = 0; i < 2; i++) {
        size_t n = strlen(kinds[i]);
        uint64_t mib = MEMORY_TAKEN >> 20;
        if (strncmp(text, kinds[i], n) != 0 || (text[n] != '\0' && text[n] != ':'))
            continue;
        if (text[n] == ':' && !number(text + n + 1, 2, MEMORY_TAKEN_MAX >> 20, &mib))
            return false;
        f->memory = (struct fault_memory){mib << 20, i == 1};
        return true;
    }
    return false;
}

static bool set_firmware(struct faults *f, const char *text)
{
    if (strcmp(text, "dirty") == 0)
        return f->dirty = true;
    if (strcmp(text, "fixed") == 0)
        return f->fixed_on = true;
    if (strcmp(text, "claimed") == 0)
        return f->claimed = true;
    return strcmp(text, "x2apic") == 0 && (f->x2apic_on = true);
}

static const struct {
    const char *name;
    enum fault_hypervisor kind;
} hypervisor_kinds[] = {
    {"lvt-open", FAULT_HV_LVT_OPEN},
    {"uncounted", FAULT_HV_UNCOUNTED},
    {"injects-db", FAULT_HV_INJECTS_DB},
    {"fixed-drops", FAULT_HV_FIXED_DROPS},
};

static bool set_hypervisor(struct faults *f, const char *text)
{
    for (size_t i = 0; i < sizeof(hypervisor_kinds) / sizeof(hypervisor_kinds[0]); i++)
        if (strcmp(hypervisor_kinds[i].name, text) == 0)
            return f->hypervisor |= hypervisor_kinds[i].kind;
    return false;
}

static bool set_no_apic(struct faults *f, const char *text)
{
    (void)text;
    return f->no_apic = f->no_x2apic = true;
}

static bool set_no_x2apic(struct faults *f, const char *text)
{
    (void)text;
    return f->no_x2apic = true;
}

static const struct {
    const char *name;
    const char *argument; /* NULL: takes none */
    const char *wanted;   /* of the argument, for messages */
    bool (*set)(struct faults *f, const char *argument);
    const char *description;
} words[] = {
    {"msr", "MSR", "the number of an MSR, such as 0x38f", set_msr,
     "RDMSR and WRMSR of that MSR raise #GP"},
    {"msr-read", "MSR", "the number of an MSR, such as 0x38f", set_msr_read,
     "RDMSR of that MSR raises #GP"},
    {"msr-write", "MSR", "the number of an MSR, such as 0x38f", set_msr_write,
     "WRMSR of that MSR raises #GP"},
    {"msr-ignore", "MSR", "the number of an MSR, such as 0x1a0", set_msr_ignore,
     "WRMSR of that MSR changes nothing"},
    {"msr-ve", "MSR", "the number of an MSR, such as 0x1d9", set_msr_ve,
     "RDMSR and WRMSR of that MSR raise #VE, as in a TDX guest"},
    {"cpuid-ve", "LEAF", "the number of a CPUID leaf, such as 0x40000000", set_cpuid_ve,
     "CPUID with that leaf in EAX raises #VE, as in a TDX guest"},
    {"nth-msr", "N", "a number from 1 on", set_nth_msr,
     "the Nth RDMSR or WRMSR of the run raises #GP"},
    {"counters", "N", "a number from 0 to 8", set_counters,
     "only N general counters answer, whatever CPUID announces"},
    {"pmi", "KIND[:N]", "lost, double or spurious, with :N for the Nth (spurious: every N cycles)",
     set_pmi,
     "PMIs are lost, arrive twice (:N only the Nth), or come without an overflow\n"
     "                   every N core cycles"},
    {"nmi", "every:N", "every:N with N from 2000 on", set_nmi,
     "an NMI reaches the first processor every N core cycles"},
    {"smi", "N[:I[:B]]", "N from 2000 on, I from 1 to 1000000, B up to I", set_smi,
     "an SMI comes to each processor every N core cycles; its handler has I instructions\n"
     "                   (2000), B of them taken branches (200)"},
    {"smi-spoils", NULL, NULL, set_smi_spoils,
     "each SMI leaves a branch record that no branch made"},
    {"no-apic", NULL, NULL, set_no_apic, "no local APIC: neither in CPUID nor at its address"},
    {"no-x2apic", NULL, NULL, set_no_x2apic, "no x2APIC mode"},
    {"no-cpu", "N", "a number from 1 to 7", set_no_cpu,
     "processor N does not answer to a startup IPI"},
    {"framebuffer", "ADDRESS", "an address from 4 GiB on, such as 0x4000000000", set_framebuffer,
     "a linear framebuffer there in place of the text screen"},
    {"memory", "KIND[:MIB]", "busy or reserved, with :MIB from 2 to 64 for its end", set_memory,
     "the boot loader cannot have the memory from 1 MiB to 16 MiB (:MIB another end)\n"
     "                   for the kernel: busy, until the kernel runs; reserved, for ever"},
    {"firmware", "KIND", "dirty, fixed, claimed or x2apic", set_firmware,
     "dirty: counters, PEBS and DEBUGCTL were left on, overflows pending, the LVT\n"
     "                   masked; fixed: only the fixed counters were left on; claimed: an event\n"
     "                   was left in IA32_PERFEVTSEL0, which is not on; x2apic: the local APIC\n"
     "                   was left in x2APIC mode"},
    {"hypervisor", "KIND", "lvt-open, uncounted, injects-db or fixed-drops", set_hypervisor,
     "lvt-open: a PMI does not set the mask bit of LVT perfmon (KVM before 2023);\n"
     "                   uncounted: instructions that it executes itself (CPUID, HLT, RDMSR,\n"
     "                   WRMSR, RDPMC, ports) are not counted (KVM before 2022); injects-db: a\n"
     "                   #DB is recorded and leaves IA32_DEBUGCTL.LBR and BTF (KVM);\n"
     "                   fixed-drops: a write to a fixed counter drops what is past the width\n"
     "                   (KVM)"},
};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

void fault_list(FILE *out)
{
    for (size_t i = 0; i < N_WORDS; i++) {
        char word[32];
        snprintf(word, sizeof(word), "%s%s%s", words[i].name, words[i].argument ? "=" : "",
                 words[i].argument ? words[i].argument : "");
        fprintf(out, "%-18s %s\n", word, words[i].description);
    }
}

/* One word; text is NAME or NAME=ARGUMENT. */
static bool choose(struct faults *f, char *text, FILE *err)
{
    char *argument = strchr(text, '=');

    if (argument)
        *argument++ = '\0';
    for (size_t i = 0; i < N_WORDS; i++) {
        if (strcmp(words[i].name, text) != 0)
            continue;
        if (!words[i].argument && argument)
            fprintf(err, "pmusim: --fault %s: takes no argument\n", text);
        else if (words[i].argument && (!argument || !words[i].set(f, argument)))
            fprintf(err, "pmusim: --fault '%s=%s': must be %s\n", text, argument ? argument : "",
                    words[i].wanted);
        else
            return words[i].argument ? true : words[i].set(f, NULL);
        return false;
    }
    fprintf(err, "pmusim: --fault '%s': must be a word of --fault help\n", text);
    return false;
}

bool fault_choose(struct faults *f, const char *list, FILE *err)
{
    char *copy = strdup(list), *save = NULL;
    bool ok = copy != NULL && *list != '\0';

    if (!ok)
        fprintf(err, "pmusim: --fault '%s': must be a word of --fault help\n", list);
    for (char *w = copy ? strtok_r(copy, ",", &save) : NULL; w && ok;
         w = strtok_r(NULL, ",", &save))
        ok = choose(f, w, err);
    free(copy);
    return ok;
}

/* ---- Before the run ---- */

void fault_profile(const struct faults *f, struct profile *p)
{
    for (unsigned i = 0; i < p->n_cpuid; i++) {
        if (p->cpuid[i].leaf != 1)
            continue;
        if (f->no_apic)
            p->cpuid[i].edx &= ~(uint32_t)CPUID_1_EDX_APIC;
        if (f->no_x2apic)
            p->cpuid[i].ecx &= ~(uint32_t)(CPUID_1_ECX_X2APIC | CPUID_1_ECX_TSC_DEADLINE);
    }
}

/* Firmware that counts for itself by the fixed counters, in the way of a watchdog. */
static void leave_fixed_on(struct cpu *cpu)
{
    const unsigned fixed = FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR;
    uint64_t control = 0, all = 0;

    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (cpu_wrmsr(cpu, MSR_IA32_FIXED_CTR_CTRL,
                      control | (uint64_t)fixed << (FIXED_CTR_CTRL_BITS * i))) {
            control |= (uint64_t)fixed << (FIXED_CTR_CTRL_BITS * i);
            all |= ARCH_BIT(GLOBAL_FIXED_SHIFT + i);
        }
    cpu_wrmsr(cpu, MSR_IA32_PERF_GLOBAL_CTRL, all);
}

/* What is left on must be on the processor's list: a write that it refuses is left out. */
static void leave_on(struct cpu *cpu)
{
    static const uint64_t debugctl[] = {DEBUGCTL_LBR, DEBUGCTL_BTF, DEBUGCTL_FREEZE_PERFMON_ON_PMI};
    const uint64_t select =
        EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_OS | PERFEVTSEL_USR | PERFEVTSEL_INT | PERFEVTSEL_EN;
    const unsigned fixed = FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR | FIXED_CTR_CTRL_PMI;
    uint64_t all = 0, pebs = 0, debug = 0;

    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++)
        if (cpu_wrmsr(cpu, MSR_IA32_FIXED_CTR0 + i, UINT32_MAX))
            all |= ARCH_BIT(GLOBAL_FIXED_SHIFT + i);
    for (unsigned i = 0; i < PROFILE_MAX_FIXED; i++) {
        uint64_t on = 0;
        cpu_rdmsr(cpu, MSR_IA32_FIXED_CTR_CTRL, &on);
        cpu_wrmsr(cpu, MSR_IA32_FIXED_CTR_CTRL, on | (uint64_t)fixed << (4 * i));
    }
    /* All ones but a little: they overflow while the kernel starts. */
    for (unsigned i = 0; i < MAX_GENERAL; i++)
        if (cpu_wrmsr(cpu, MSR_IA32_PMC0 + i, UINT32_MAX - 100 * i) &&
            cpu_wrmsr(cpu, MSR_IA32_PERFEVTSEL0 + i, select)) {
            all |= ARCH_BIT(i);
            if (cpu_wrmsr(cpu, MSR_IA32_PEBS_ENABLE, pebs | ARCH_BIT(i)))
                pebs |= ARCH_BIT(i);
        }
    for (size_t i = 0; i < sizeof(debugctl) / sizeof(debugctl[0]); i++)
        if (cpu_wrmsr(cpu, MSR_IA32_DEBUGCTL, debug | debugctl[i]))
            debug |= debugctl[i];
    cpu_wrmsr(cpu, MSR_IA32_PERF_GLOBAL_STATUS_SET, all);
    cpu_wrmsr(cpu, MSR_IA32_PERF_GLOBAL_CTRL, all);
}

uint64_t fault_framebuffer(const struct machine *m)
{
    return m->faults ? m->faults->framebuffer : 0;
}

struct fault_memory fault_memory(const struct machine *m)
{
    return m->faults ? m->faults->memory : (struct fault_memory){0, false};
}

void fault_firmware(struct machine *m)
{
    struct faults *f = m->faults;

    if (!f)
        return;
    for (unsigned i = 0; i < m->n_cpus; i++) {
        struct cpu *cpu = m->cpus[i];
        uint64_t base;
        if (f->dirty)
            leave_on(cpu);
        if (f->fixed_on)
            leave_fixed_on(cpu);
        if (f->claimed)
            cpu_wrmsr(cpu, MSR_IA32_PERFEVTSEL0, EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_OS);
        if (f->no_apic && cpu_rdmsr(cpu, MSR_IA32_APIC_BASE, &base))
            cpu_wrmsr(cpu, MSR_IA32_APIC_BASE, base & ~APIC_BASE_EN);
        smi_start(&f->smi, cpu);
        if (f->x2apic_on && cpu_rdmsr(cpu, MSR_IA32_APIC_BASE, &base))
            cpu_wrmsr(cpu, MSR_IA32_APIC_BASE, base | APIC_BASE_EN | APIC_BASE_EXTD);
    }
    uint64_t width = m->profile->uarch.retire_width; /* of processor 0, which they come to */
    if (f->nmi_every)
        f->next_nmi = f->nmi_every * width;
    if (f->spurious_every)
        f->next_spurious = f->spurious_every * width;
}

void fault_report(struct machine *m)
{
    const struct faults *f = m->faults;

    if (f && f->nth_msr && !f->nth_came)
        machine_note(m, "--fault nth-msr=%" PRIu64 ": the run made only %" PRIu64, f->nth_msr,
                     f->msr_accesses);
}

/* ---- While it runs ---- */

static void say(struct cpu *cpu, uint32_t msr, bool write)
{
    char name[MSR_NAME];
    uint64_t offset = 0;
    const char *symbol = sim_symbol(cpu, cpu->rip, &offset);

    trace_msr_name(cpu, msr, name, sizeof(name));
    machine_note(cpu->machine,
                 "fault: MSR access %" PRIu64 ", %s %XH (%s) near %s+%" PRIx64 ": #GP",
                 cpu->machine->faults->msr_accesses, write ? "WRMSR" : "RDMSR", msr, name,
                 symbol ? symbol : "?", offset);
}

/* A register of a general counter past those that answer. */
static bool past_counters(const struct faults *f, uint32_t msr)
{
    static const uint32_t firsts[] = {MSR_IA32_PMC0, MSR_IA32_PERFEVTSEL0, MSR_IA32_A_PMC0};

    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]); i++)
        if (msr - firsts[i] < MAX_GENERAL && msr - firsts[i] >= f->counters)
            return true;
    return false;
}

enum fault_access fault_msr(struct cpu *cpu, uint32_t msr, bool write)
{
    struct faults *f = cpu->machine->faults;

    if (!f)
        return FAULT_NONE;
    f->msr_accesses++;
    if (f->msr_accesses == f->nth_msr) {
        f->nth_came = true;
        say(cpu, msr, write);
        return FAULT_GP;
    }
    for (unsigned i = 0; i < f->n_msrs; i++)
        if (f->msrs[i].msr == msr && (write ? f->msrs[i].write : f->msrs[i].read))
            return f->msrs[i].kind == MSR_GP   ? FAULT_GP
                   : f->msrs[i].kind == MSR_VE ? FAULT_VE
                                               : FAULT_IGNORED;
    if (f->counters_limited && past_counters(f, msr))
        return FAULT_GP;
    bool apic = msr == MSR_IA32_APIC_BASE || msr == MSR_IA32_TSC_DEADLINE;
    return f->no_apic && apic ? FAULT_GP : FAULT_NONE;
}

bool fault_cpuid(const struct cpu *cpu, uint32_t leaf)
{
    const struct faults *f = cpu->machine->faults;
    for (unsigned i = 0; f && i < f->n_ve_leaves; i++)
        if (f->ve_leaves[i] == leaf)
            return true;
    return false;
}

bool fault_trust_domain(const struct cpu *cpu)
{
    return cpu->machine->faults && cpu->machine->faults->trust_domain;
}

enum fault_access fault_rdpmc(const struct cpu *cpu, uint32_t selector)
{
    const struct faults *f = cpu->machine->faults;
    bool past = f && selector < MAX_GENERAL && selector >= f->counters;
    return past && f->counters_limited ? FAULT_GP : FAULT_NONE;
}

unsigned fault_pmi(struct cpu *cpu)
{
    struct faults *f = cpu->machine->faults;

    if (!f || f->pmi == PMI_GOOD || f->pmi == PMI_SPURIOUS)
        return 1;
    f->pmi_seen++;
    if (f->pmi_nth && f->pmi_nth != f->pmi_seen)
        return 1;
    if (f->pmi == PMI_LOST)
        return 0;
    f->again_cpu = cpu;
    f->again_tries = 0;
    f->again_at = cpu->now + AGAIN_CYCLES * cpu->profile->uarch.retire_width;
    cpu_reschedule(cpu);
    return 2;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t fault_deadline(const struct cpu *cpu)
{
    const struct faults *f = cpu->machine->faults;

    if (!f)
        return NEVER;
    uint64_t at = f->again_cpu == cpu ? f->again_at : NEVER;
    if (cpu->index == 0)
        at = earlier(at, earlier(f->next_nmi, f->next_spurious));
    return earlier(at, smi_deadline(&f->smi, cpu));
}

static bool due(const struct cpu *cpu, uint64_t *next, uint64_t every)
{
    if (*next == NEVER || cpu->index != 0 || cpu->now < *next)
        return false;
    while (*next <= cpu->now)
        *next += every * cpu->profile->uarch.retire_width;
    return true;
}

void fault_tick(struct cpu *cpu)
{
    struct faults *f = cpu->machine->faults;

    if (!f)
        return;
    smi_tick(&f->smi, cpu);
    if (due(cpu, &f->next_nmi, f->nmi_every))
        cpu_attend(cpu, ATTN_NMI);
    if (due(cpu, &f->next_spurious, f->spurious_every))
        lapic_pmi_raise(cpu->lapic);
    if (f->again_cpu != cpu || cpu->now < f->again_at)
        return;
    bool arrived = lapic_pmi_raise(cpu->lapic);
    if (arrived || ++f->again_tries == AGAIN_TRIES)
        f->again_at = NEVER;
    else
        f->again_at = cpu->now + AGAIN_CYCLES * cpu->profile->uarch.retire_width;
}

bool fault_hypervisor(const struct cpu *cpu, enum fault_hypervisor kind)
{
    return cpu->machine->faults && (cpu->machine->faults->hypervisor & kind);
}

bool fault_no_startup(const struct cpu *cpu)
{
    return cpu->machine->faults && (cpu->machine->faults->no_cpus >> cpu->index & 1);
}
