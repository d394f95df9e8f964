/* Precise event based sampling on this processor. */
#include "pmu/pebs.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

#define LATENCY_MIN 4
#define LATENCY_MAX 0x10000
/* IA32_PEBS_ENABLE.LL_EN_PMCn. With adaptive PEBS the bits are the fixed counters', and the event
 * alone selects load latency (SDM vol. 3 "Extended PEBS", "Adaptive PEBS"). */
#define LL_EN_SHIFT    32
#define FIELDS_PER_ROW 4

#define AUX_COUNTER 0

/* The groups that each processor's records have, and those that pebs_init_cpu() chose for it; of
 * meaning in the adaptive formats only. */
static struct {
    uint64_t now, chosen;
} data_cfgs[MAX_CPUS];
#define data_cfg (data_cfgs[this_cpu()->index].now)
#define chosen   (data_cfgs[this_cpu()->index].chosen)

unsigned pebs_format(void)
{
    return (unsigned)((pmu_info()->perf_capabilities.value & PERF_CAP_PEBS_FMT) >>
                      PERF_CAP_PEBS_FMT_SHIFT);
}

/* MSR_PEBS_DATA_CFG and IA32_PERFEVTSELx.Adaptive_Record come with PEBS_BASELINE (SDM vol. 3
 * "Adaptive PEBS"); a hypervisor may show format 4 without it. Records then are the basic group. */
static bool adaptive(void)
{
    return pebs_format_is_adaptive(pebs_format()) &&
           (pmu_info()->perf_capabilities.value & PERF_CAP_PEBS_BASELINE);
}

static bool data_cfg_takes(uint64_t groups)
{
    uint64_t value = 0;
    return wrmsr_safe(MSR_PEBS_DATA_CFG, groups) && rdmsr_safe(MSR_PEBS_DATA_CFG, &value) &&
           value == groups;
}

void pebs_init_cpu(void)
{
    static const uint64_t choices[] = {PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS,
                                       PEBS_DATA_CFG_GPRS, 0};
    unsigned i = 0;
    if (!pmu_info()->pebs || !adaptive())
        return;
    while (choices[i] != 0 && !data_cfg_takes(choices[i]))
        i++;
    chosen = choices[i];
    pebs_reset();
}

void pebs_reset(void)
{
    pebs_disable();
    data_cfg = chosen;
    if (adaptive())
        wrmsr_safe(MSR_PEBS_DATA_CFG, data_cfg);
}

bool pebs_set_groups(uint64_t groups)
{
    if (!data_cfg_takes(groups)) {
        wrmsr_safe(MSR_PEBS_DATA_CFG, data_cfg);
        return false;
    }
    data_cfg = groups;
    return true;
}

unsigned pebs_record_size(void)
{
    return pebs_format_size(pebs_format(), data_cfg);
}

/* One that says nothing of its kind is none of the small cores of a hybrid. */
static bool is_atom(void)
{
    return pmu_info()->core >> CPUID_1A_CORE_TYPE_SHIFT == CPUID_1A_CORE_TYPE_ATOM;
}

const struct pebs_generation *pebs_generation(const char **why)
{
    static char text[PMU_REASON];
    const struct pmu_info *info = pmu_info();
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    const struct pebs_generation *g = pebs_find_generation(cpu.family, cpu.model, is_atom());
    const char *reason = NULL;
    if (!info->pebs) {
        reason = info->no_pebs;
    } else if (pebs_format_size(pebs_format(), 0) == 0) {
        ksnprintf(text, sizeof(text),
                  "PEBS record format %u is not known: IA32_PERF_CAPABILITIES[11:8]",
                  pebs_format());
        reason = text;
    } else if (g == NULL) {
        ksnprintf(text, sizeof(text),
                  "no precise event is known of family %u model 0x%x (CPUID.1:EAX)",
                  (unsigned)cpu.family, (unsigned)cpu.model);
        reason = text;
    }
    if (why != NULL)
        *why = reason;
    return reason == NULL ? g : NULL;
}

bool pebs_enable_takes(uint64_t bit)
{
    bool taken = wrmsr_safe(MSR_IA32_PEBS_ENABLE, bit);
    wrmsr_safe(MSR_IA32_PEBS_ENABLE, 0);
    return taken;
}

uint32_t pebs_counters(const struct pebs_event *event)
{
    uint32_t usable = 0;
    unsigned resets = pebs_reset_index(pebs_format(), PMU_FIXED(0)); /* of so many there is room */
    for (unsigned n = 0; n < pmu_info()->n_general && n < resets; n++)
        if ((event->counters >> n & 1) && pebs_enable_takes(PMU_MASK(n)))
            usable |= 1U << n;
    return usable;
}

const char *pebs_no_baseline(void)
{
    const char *why = NULL;
    if (pebs_generation(&why) == NULL)
        return why;
    return adaptive() ? NULL
                      : "neither extended PEBS nor adaptive records: "
                        "IA32_PERF_CAPABILITIES[14] = 0";
}

const char *pebs_no_retire_latency(void)
{
    const char *why = NULL;
    if (pebs_generation(&why) == NULL)
        return why;
    return pmu_info()->perf_capabilities.value & PERF_CAP_PEBS_TIMING_INFO
               ? pebs_no_baseline()
               : "no retire latency: IA32_PERF_CAPABILITIES[17] = 0";
}

#define BASIC_ONLY "the records are the basic group, IA32_PERF_CAPABILITIES[14] = 0"

const char *pebs_no_registers(void)
{
    if (!pebs_format_is_adaptive(pebs_format()) || (data_cfg & PEBS_DATA_CFG_GPRS))
        return NULL;
    return adaptive() ? "no registers: MSR_PEBS_DATA_CFG[1] (GPR group) cannot be set"
                      : "no registers: " BASIC_ONLY;
}

const char *pebs_no_latency(void)
{
    static char text[PMU_REASON];
    const char *why = NULL;
    const struct pebs_generation *g = pebs_generation(&why);
    if (g == NULL)
        return why;
    if (pebs_format() == 0)
        return "no load latency: PEBS record format 0 (IA32_PERF_CAPABILITIES[11:8] = 0)";
    if (g->latency.name == NULL) {
        ksnprintf(text, sizeof(text), "no load latency: %s has no such event (CPUID.1:EAX)",
                  g->name);
        return text;
    }
    if (pebs_counters(&g->latency) == 0)
        return "no load latency: no counter can be enabled for it in IA32_PEBS_ENABLE";
    if (!wrmsr_safe(MSR_PEBS_LD_LAT_THRESHOLD, LATENCY_MIN - 1))
        return "no load latency: MSR_PEBS_LD_LAT_THRESHOLD (3F6H) raises #GP";
    if (hypervisor_present() && !msr_holds(MSR_PEBS_LD_LAT_THRESHOLD, LATENCY_MIN))
        return "no load latency: MSR_PEBS_LD_LAT_THRESHOLD (3F6H) cannot be set";
    if (pebs_format_is_adaptive(pebs_format()) && !adaptive())
        return "no load latency: " BASIC_ONLY;
    if (adaptive() && !(data_cfg & PEBS_DATA_CFG_MEMINFO))
        return "no load latency: MSR_PEBS_DATA_CFG[0] (memory group) cannot be set";
    return NULL;
}

bool pebs_set_latency(unsigned cycles)
{
    return cycles >= LATENCY_MIN && cycles <= LATENCY_MAX &&
           wrmsr_safe(MSR_PEBS_LD_LAT_THRESHOLD, cycles - 1);
}

/* The event that must count beside this one; 0: none. */
static uint16_t aux_of(const struct pebs_event *event)
{
    const struct pebs_generation *g = pebs_generation(NULL);
    return g != NULL && event == &g->latency ? g->latency_aux : 0;
}

uint64_t pebs_mask(unsigned counter, const struct pebs_event *event)
{
    return PMU_MASK(counter) | (aux_of(event) != 0 ? PMU_MASK(AUX_COUNTER) : 0);
}

/* SDM vol. 3 "Adaptive PEBS": a fixed counter's Adaptive_Record is 32 bits above its other four. */
static bool select_fixed(unsigned i)
{
    uint64_t field = (uint64_t)(FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR) | FIXED_CTR_CTRL_ADAPTIVE;
    uint64_t all = FIXED_CTR_CTRL_PMI | FIXED_CTR_CTRL_ANY | field, value = 0;
    unsigned shift = FIXED_CTR_CTRL_BITS * i;
    return rdmsr_safe(MSR_IA32_FIXED_CTR_CTRL, &value) &&
           wrmsr_safe(MSR_IA32_FIXED_CTR_CTRL, (value & ~(all << shift)) | field << shift);
}

static void select_general(unsigned counter, const struct pebs_event *event)
{
    uint64_t select = event->code | PERFEVTSEL_USR | PERFEVTSEL_OS;
    if (adaptive())
        select |= PERFEVTSEL_ADAPTIVE;
    if (aux_of(event) != 0)
        pmu_select(AUX_COUNTER, aux_of(event) | PERFEVTSEL_USR | PERFEVTSEL_OS);
    pmu_select(counter, select);
}

bool pebs_enable(unsigned counter, const struct pebs_event *event, uint64_t period)
{
    const struct pebs_generation *g = pebs_generation(NULL);
    uint64_t enable = rdmsr(MSR_IA32_PEBS_ENABLE) | PMU_MASK(counter);
    if (g != NULL && event == &g->latency && !adaptive())
        enable |= PMU_MASK(counter) << LL_EN_SHIFT;
    if (event != NULL)
        select_general(counter, event);
    else if (!select_fixed(counter - PMU_FIXED(0)))
        return false;
    if (!pmu_write_overflow_in(counter, period))
        return false;
    ds_area()->reset[pebs_reset_index(pebs_format(), counter)] =
        pmu_counter_max(counter) - period + 1;
    return wrmsr_safe(MSR_IA32_PEBS_ENABLE, enable);
}

void pebs_disable(void)
{
    wrmsr_safe(MSR_IA32_PEBS_ENABLE, 0);
}

/* The processor moves the index behind the compiler's back. */
static uint64_t used_bytes(void)
{
    const struct ds_buffer *b = &ds_area()->pebs;
    return *(const volatile uint64_t *)&b->index - b->base;
}

unsigned pebs_count(void)
{
    return (unsigned)(used_bytes() / pebs_record_size());
}

bool pebs_read(unsigned n, struct pebs_record *out)
{
    unsigned size = pebs_record_size();
    uint64_t at = (uint64_t)n * size;
    if (at + size > used_bytes())
        return false;
    if (pebs_decode(pebs_format(), (const void *)(ds_area()->pebs.base + at), size, out) != size)
        return false;
    if (!(pmu_info()->perf_capabilities.value & PERF_CAP_PEBS_TIMING_INFO))
        out->present &= ~(1U << PEBS_RETIRE_LATENCY);
    return true;
}

static void dump_rip(const char *name, uint64_t address)
{
    uint64_t offset = 0;
    const char *symbol = symbol_name(address, &offset);
    kprintf("#     %s = 0x%016llx", name, (unsigned long long)address);
    if (symbol != NULL)
        kprintf("  %s+0x%llx", symbol, (unsigned long long)offset);
    kprintf("\n");
}

/* The general registers fill whole rows, what follows them begins a new one. */
static void dump_record(unsigned n, const struct pebs_record *r)
{
    unsigned column = 0;
    kprintf("#   record %u\n", n);
    if (pebs_has(r, PEBS_RIP))
        dump_rip(pebs_field_name(PEBS_RIP), r->value[PEBS_RIP]);
    if (pebs_has(r, PEBS_EVENTING_IP))
        dump_rip(pebs_field_name(PEBS_EVENTING_IP), r->value[PEBS_EVENTING_IP]);
    for (unsigned f = PEBS_RAX; f < PEBS_N_FIELDS; f++) {
        if (!pebs_has(r, f) || f == PEBS_EVENTING_IP)
            continue;
        kprintf("%s%s = 0x%016llx", column == 0 ? "#     " : "  ", pebs_field_name(f),
                (unsigned long long)r->value[f]);
        column = (column + 1) % FIELDS_PER_ROW;
        if (column == 0)
            kprintf("\n");
    }
    if (pebs_has(r, PEBS_RFLAGS))
        kprintf("%s%s = 0x%016llx", column++ == 0 ? "#     " : "  ", pebs_field_name(PEBS_RFLAGS),
                (unsigned long long)r->value[PEBS_RFLAGS]);
    if (column != 0)
        kprintf("\n");
}

void pebs_dump_records(const char *title, const struct pebs_record *records, unsigned n)
{
    kprintf("# %s: PEBS records of %u bytes, format %u\n", title, pebs_record_size(),
            pebs_format());
    for (unsigned i = 0; i < n; i++)
        dump_record(i, &records[i]);
}
