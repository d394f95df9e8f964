/*
 * What this processor's PMU is: of Intel's and of all that tell it as they do, from CPUID.0AH,
 * CPUID.1, IA32_PERF_CAPABILITIES and IA32_MISC_ENABLE. SDM vol. 2 "CPUID", vol. 3 "Architectural
 * Performance Monitoring". Hypervisors and early processors report contradictions: they are cut
 * down to what can be used, with a note, and never trusted.
 */
#include "pmu/info.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "lapic/lapic.h"
#include "pmu/bts.h"
#include "pmu/debugctl.h"
#include "pmu/info_amd.h"
#include "pmu/kind.h"
#include "x86/msr.h"
#include "x86/cpuid.h"

#define LEAF_FEATURES 0x07
#define LEAF_CORE     0x1a
#define LEAF_PMU      0x0a
#define WIDTH_MIN     32 /* a write by the old address takes 32 bits */
#define WIDTH_MAX     64
#define FIXED_USUAL   3 /* fixed counters of every processor with version 2 */
#define FIXED_SLOTS   3 /* the fixed counter of TOPDOWN.SLOTS */
#define NAME_SIZE     40
#define HYBRID_MORE   2 /* general counters of a P core that leaf 0AH does not name */

static struct pmu_info infos[MAX_CPUS];
#define info (infos[this_cpu()->index])

const struct pmu_info *pmu_info(void)
{
    return &info;
}

void info_note(const char *fmt, ...)
{
    if (info.n_notes == PMU_MAX_NOTES)
        return;
    va_list ap;
    va_start(ap, fmt);
    kvsnprintf(info.notes[info.n_notes++], PMU_REASON, fmt, ap);
    va_end(ap);
}

void info_why(char text[PMU_REASON], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvsnprintf(text, PMU_REASON, fmt, ap);
    va_end(ap);
}

struct decode_context pmu_decode_context(void)
{
    return (struct decode_context){.vendor = info.kind->vendor, .version = info.version};
}

static const char *name_of(uint32_t msr)
{
    static char name[NAME_SIZE];
    const struct decode_context context = pmu_decode_context();
    decode_msr_name(name, sizeof(name), msr, &context);
    return name;
}

static struct pmu_msr_value msr_value(uint32_t msr, const char *name)
{
    struct pmu_msr_value v = {0};
    v.answered = rdmsr_safe(msr, &v.value);
    if (!v.answered)
        info_note("%s (%XH) raises #GP", name, (unsigned)msr);
    return v;
}

static unsigned usable_width(unsigned width, const char *kind)
{
    if (width >= WIDTH_MIN && width <= WIDTH_MAX)
        return width;
    info_note("CPUID.0AH gives %s counters a width of %u bits: taken as %u", kind, width,
              WIDTH_MIN);
    return WIDTH_MIN;
}

/* Why leaf 0AH gives no PMU, or NULL. */
static bool find_version(void)
{
    uint32_t max_leaf = cpuid(0, 0).eax;
    if (max_leaf < LEAF_PMU) {
        info_why(info.no_pmu, "no PMU: CPUID maximum leaf is %02XH < 0AH", (unsigned)max_leaf);
        return false;
    }
    struct cpuid_regs r = cpuid(LEAF_PMU, 0);
    info.leaf_eax = r.eax;
    info.leaf_ebx = r.ebx;
    info.leaf_ecx = r.ecx;
    info.leaf_edx = r.edx;
    info.version = r.eax & 0xff;
    if (info.version == 0) {
        info_why(info.no_pmu, "no architectural PMU: CPUID.0AH:EAX[7:0] = 0");
        return false;
    }
    if (info.version > PMU_VERSION_KNOWN)
        info_note("perfmon version %u is used as version %u", info.version, PMU_VERSION_KNOWN);
    info.kind = pmu_kind_of_version(info.version);
    return true;
}

/* Sub-leaf 1 of leaf 23H names the counters: then leaf 0AH is only what all kinds of core have. */
static bool named_by_leaf_23h(void)
{
    return info.leaf_23h.general != 0;
}

/* The driver's general counters have no gaps; no processor's have. */
static void find_general_by_leaf_23h(void)
{
    uint32_t counters = info.leaf_23h.general;
    info.general_end = 32 - (unsigned)__builtin_clz(counters);
    unsigned n = ~counters != 0 ? (unsigned)__builtin_ctz(~counters) : 32;
    if (n != info.general_end)
        info_note("CPUID.23H.1:EAX = 0x%x has gaps: the first %u are used", (unsigned)counters, n);
    if (n == 0)
        return; /* leaf 0AH's number, then */
    if (n < info.n_general)
        info_note("CPUID.23H.1:EAX = 0x%x, but CPUID.0AH:EAX[15:8] = %u", (unsigned)counters,
                  info.n_general);
    info.n_general = n;
}

/* A hybrid processor without leaf 23H names in leaf 0AH what its two kinds of core have in common:
 * the P cores of Alder Lake and Raptor Lake, and they alone, have two general counters more (Linux
 * arch/x86/events/intel/core.c, intel_pmu_init()). */
static unsigned general_end_of_hybrid(void)
{
    bool more = (cpuid(LEAF_FEATURES, 0).edx & CPUID_7_EDX_HYBRID) &&
                info.core >> CPUID_1A_CORE_TYPE_SHIFT == CPUID_1A_CORE_TYPE_CORE &&
                info.n_general + HYBRID_MORE <= PMU_MAX_GENERAL;
    return info.n_general + (more ? HYBRID_MORE : 0);
}

/* The P cores of these processors have the performance metrics, the fixed counter of their slots
 * and the event for the others, and neither leaf 0AH nor IA32_PERF_CAPABILITIES[15] says so (Linux
 * arch/x86/events/intel/core.c, intel_pmu_init(): it takes them from the model). Alder
 * Lake, Raptor Lake, Meteor Lake. A hypervisor may show the model and not the registers, so these
 * must answer. */
static bool has_silent_metrics(void)
{
    static const uint8_t models[] = {0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xaa, 0xac};
    struct cpu_ident cpu;
    uint64_t value;
    cpu_identify(&cpu);
    bool listed = false;
    for (size_t i = 0; i < sizeof(models); i++)
        listed |= cpu.family == 6 && cpu.model == models[i];
    return listed && info.core >> CPUID_1A_CORE_TYPE_SHIFT == CPUID_1A_CORE_TYPE_CORE &&
           info.kind->fixed_bitmap && rdmsr_safe(MSR_PERF_METRICS, &value) &&
           rdmsr_safe(pmu_bank_msr(&info.kind->fixed, FIXED_SLOTS), &value);
}

static bool find_general(void)
{
    info.n_general = info.leaf_eax >> 8 & 0xff;
    if (info.n_general == 0) {
        info_why(info.no_pmu, "no general counter: CPUID.0AH:EAX[15:8] = 0");
        return false;
    }
    if (info.n_general > PMU_MAX_GENERAL) {
        info_note("CPUID.0AH:EAX[15:8] = %u general counters: the first %u are used",
                  info.n_general, PMU_MAX_GENERAL);
        info.n_general = PMU_MAX_GENERAL;
    }
    info.general_width = usable_width(info.leaf_eax >> 16 & 0xff, "general");
    info.leaf_23h = leaf_23h_read();
    if (named_by_leaf_23h())
        find_general_by_leaf_23h();
    else
        info.general_end = general_end_of_hybrid();
    if (named_by_leaf_23h())
        info_why(info.general_by, "CPUID.23H.1:EAX = 0x%x", (unsigned)info.leaf_23h.general);
    else
        info_why(info.general_by, "CPUID.0AH:EAX[15:8] = %u", info.n_general);
    return true;
}

/* A hypervisor may announce version 6 and not have its addresses: Linux calls such a PMU broken,
 * but all that was there before still is. */
static void find_own_addresses(void)
{
    uint64_t value;
    const struct pmu_own *own = &info.kind->own_general;
    info.own_addresses = own->counters.base != 0 && rdmsr_safe(own->counters.base, &value) &&
                         rdmsr_safe(own->selects.base, &value);
    if (own->counters.base != 0 && !info.own_addresses)
        info_note("the counters' own addresses from %XH on raise #GP, against CPUID.0AH:EAX[7:0]"
                  " = %u",
                  (unsigned)own->counters.base, info.version);
}

/* EBX bit n set says that event n is absent; so does a vector (EAX[31:24]) too short to hold bit n.
 * Leaf 23H says it the other way round. */
static void find_events(void)
{
    unsigned length = info.leaf_eax >> 24;
    uint32_t covered = length >= 32 ? ~0u : (1u << length) - 1;
    info.events = info.leaf_23h.subleaves & CPUID_23_EAX_EVENTS ? info.leaf_23h.events
                                                                : ~info.leaf_ebx & covered;
    info.events &= (1u << PMU_N_EVENTS) - 1;
}

/* Some early processors with version 2 report no fixed counters although they have the three (SDM
 * vol. 3 "Architectural Performance Monitoring Version 2", note). The registers themselves decide;
 * a hypervisor is believed, because it may hide them on purpose. */
static uint32_t fixed_by_probe(void)
{
    uint64_t value;
    if (!info.kind->fixed_may_be_3 || hypervisor_present())
        return 0;
    for (unsigned i = 0; i < FIXED_USUAL; i++)
        if (!rdmsr_safe(pmu_bank_msr(&info.kind->fixed, i), &value))
            return 0;
    if (!rdmsr_safe(info.kind->fixed_ctrl, &value))
        return 0;
    info_note("CPUID.0AH:EDX[4:0] = 0, but %u fixed counters answer: used", FIXED_USUAL);
    return (1u << FIXED_USUAL) - 1;
}

/* EDX is defined only where there can be fixed counters; counter i exists if ECX[i] (where that is
 * defined) or EDX[4:0] > i. */
static void find_fixed(void)
{
    if (info.kind->fixed.base == 0) {
        info_why(info.no_fixed, "no fixed counters: CPUID.0AH:EAX[7:0] = 1");
        return;
    }
    info.anythread_deprecated = info.leaf_edx >> 15 & 1;
    unsigned contiguous = info.leaf_edx & 0x1f;
    unsigned width = info.leaf_edx >> 5 & 0xff;
    uint32_t mask = (uint32_t)(ARCH_BIT(contiguous) - 1);
    if (info.kind->fixed_bitmap)
        mask |= info.leaf_ecx;
    if (named_by_leaf_23h())
        mask = info.leaf_23h.fixed;
    bool silent = has_silent_metrics();
    if (silent) {
        mask |= 1u << FIXED_SLOTS;
        info.events |= 1u << PMU_EVENT_SLOTS; /* which every core with FIXED_SLOTS has */
    }
    info.metrics = silent || info.perf_capabilities.value & PERF_CAP_PERF_METRICS;
    if (mask >> PMU_MAX_FIXED)
        info_note("CPUID.0AH names fixed counters past %u: not used", PMU_MAX_FIXED - 1);
    mask &= (1u << PMU_MAX_FIXED) - 1;
    if (mask == 0) {
        mask = fixed_by_probe();
        width = info.general_width;
    }
    if (mask == 0 && named_by_leaf_23h()) {
        info_why(info.no_fixed, "no fixed counters: CPUID.23H.1:EBX = 0");
        return;
    }
    if (mask == 0) {
        info_why(info.no_fixed, "no fixed counters: CPUID.0AH:EDX[4:0] = 0%s",
                 info.kind->fixed_bitmap ? ", ECX = 0" : "");
        return;
    }
    info.no_fixed[0] = '\0';
    info.fixed_mask = mask;
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
        info.n_fixed++;
    info.fixed_width = usable_width(width, "fixed");
}

static void find_debug_store(void)
{
    if (!info.kind->debug_store || !info.ds) {
        info_why(info.no_pebs, "no PEBS: CPUID.1:EDX[21] = 0");
        info_why(info.no_bts, "no BTS: CPUID.1:EDX[21] = 0");
        return;
    }
    if (!info.dtes64) {
        info_why(info.no_pebs, "no 64-bit debug store for PEBS: CPUID.1:ECX[2] (DTES64) = 0");
        info_why(info.no_bts, "no 64-bit debug store for BTS: CPUID.1:ECX[2] (DTES64) = 0");
        return;
    }
    info.pebs =
        info.misc_enable.answered && !(info.misc_enable.value & MISC_ENABLE_PEBS_UNAVAILABLE);
    info.bts = info.misc_enable.answered && !(info.misc_enable.value & MISC_ENABLE_BTS_UNAVAILABLE);
    info.no_pebs[0] = info.no_bts[0] = '\0';
    if (!info.pebs)
        info_why(info.no_pebs, "no PEBS: IA32_MISC_ENABLE%s",
                 info.misc_enable.answered ? "[12] = 1" : " raises #GP");
    if (info.pebs && info.pdcm && !info.perf_capabilities.answered) {
        info.pebs = false;
        info_why(info.no_pebs,
                 "no PEBS: IA32_PERF_CAPABILITIES raises #GP, the record format is unknown");
    }
    if (!info.bts)
        info_why(info.no_bts, "no BTS: IA32_MISC_ENABLE%s",
                 info.misc_enable.answered ? "[11] = 1" : " raises #GP");
}

static void take_away(bool *feature, char reason[PMU_REASON], const char *name, const char *lacks)
{
    if (!*feature)
        return;
    *feature = false;
    info_why(reason, "no %s: %s cannot be set", name, lacks);
    info_note("%s, against CPUID.1:EDX[21] (DS) = 1", reason);
}

/* KVM shows -cpu host the debug store of Ice Lake-SP and Sapphire Rapids, leaves IA32_MISC_ENABLE
 * at 0 and refuses the registers, or drops what is written. On a processor that would be a fault,
 * and the experiments show it. */
static void probe_debug_store(void)
{
    if (!msr_holds(MSR_IA32_DS_AREA, (uint64_t)&info)) { /* an address as good as any: all is off */
        take_away(&info.pebs, info.no_pebs, "PEBS", "IA32_DS_AREA (600H)");
        take_away(&info.bts, info.no_bts, "BTS", "IA32_DS_AREA (600H)");
    }
    if (info.pebs && !msr_holds(MSR_IA32_PEBS_ENABLE, 1))
        take_away(&info.pebs, info.no_pebs, "PEBS", "IA32_PEBS_ENABLE[0]");
}

/* Hypervisors are known to announce counters and to drop what is written (Linux says "Broken PMU
 * hardware detected" then, arch/x86/events/core.c, check_hw_exists()). That is no SKIP: the
 * counters are what the experiments are about. But it is said at once, for everything fails then.
 */
static void probe_core(void)
{
    const uint64_t value = 0x1234567;
    const struct pmu_kind *kind = info.kind;
    const char *leaf = kind->vendor == DECODE_AMD ? info.general_by : "CPUID.0AH";
    unsigned fixed = info.fixed_mask != 0 ? (unsigned)__builtin_ctz(info.fixed_mask) : 0;
    const struct {
        bool announced;
        uint32_t msr;
        uint64_t value;
        const char *by;
    } core[] = {
        {true, pmu_old_counter_msr(0), value, leaf},
        {true, pmu_old_select_msr(0), pmu_event(PMU_EVENT_INSTRUCTIONS) | PERFEVTSEL_OS, leaf},
        {info.full_width_write, kind->full_width.base, value, "IA32_PERF_CAPABILITIES[13]"},
        {info.fixed_mask != 0, pmu_old_counter_msr(PMU_FIXED(fixed)), value, leaf},
        {info.fixed_mask != 0, kind->fixed_ctrl,
         (uint64_t)FIXED_CTR_CTRL_OS << (FIXED_CTR_CTRL_BITS * fixed), leaf},
        {info.global_ctrl, kind->enable, 1, leaf},
    };
    for (size_t i = 0; i < sizeof(core) / sizeof(core[0]); i++)
        if (core[i].announced && !msr_holds(core[i].msr, core[i].value))
            info_note("%s (%XH) cannot be set, against %s", name_of(core[i].msr),
                      (unsigned)core[i].msr, core[i].by);
    if (lapic_has_pmi() && !lapic_pmi_ready())
        info_note("LVT perfmon (340H) cannot be set: no PMI can come");
}

void pmu_info_probe(void)
{
    if (!info.present)
        return;
    probe_core();
    if ((info.pebs || info.bts) && hypervisor_present())
        probe_debug_store();
    if (info.bts && debugctl_lacks(DEBUGCTL_BTS_ON, "BTS", info.no_bts)) {
        info_note("%s, against CPUID.1:EDX[21] (DS) = 1", info.no_bts);
        info.bts = false;
    }
}

/* Branch records are there without a PMU too, and their format stands here. */
static void find_capabilities(void)
{
    info.pdcm = cpuid(1, 0).ecx & CPUID_1_ECX_PDCM;
    if (info.pdcm)
        info.perf_capabilities = msr_value(MSR_IA32_PERF_CAPABILITIES, "IA32_PERF_CAPABILITIES");
}

static void find_debug_store_bits(void)
{
    struct cpuid_regs features = cpuid(1, 0);
    info.ds = features.edx & CPUID_1_EDX_DS;
    info.dtes64 = features.ecx & CPUID_1_ECX_DTES64;
    info.full_width_write = info.perf_capabilities.value & PERF_CAP_FW_WRITE;
    info.misc_enable = msr_value(MSR_IA32_MISC_ENABLE, "IA32_MISC_ENABLE");
    if (info.misc_enable.answered && !(info.misc_enable.value & MISC_ENABLE_PMU_AVAILABLE))
        info_note("IA32_MISC_ENABLE[7] = 0 (PMU not available), against CPUID.0AH");
}

static void find_global(void)
{
    info.global_ctrl = info.kind->enable_bit == 0;
    if (info.global_ctrl)
        info.no_global_ctrl[0] = '\0';
    /* SDM vol. 4 "IA-32 Architectural MSRs", IA32_DEBUGCTL[12:11]: PDCM and version 2. */
    info.freeze = info.kind->freeze != 0 && info.pdcm;
    if (info.freeze)
        info.no_freeze[0] = '\0';
    else if (info.kind->freeze != 0)
        info_why(info.no_freeze, "no FREEZE_PERFMON_ON_PMI: CPUID.1:ECX[15] (PDCM) = 0");
    info.freeze_in_status = info.kind->frozen != 0;
}

/* The fixed counters whose enable field is not 0, as bits of IA32_PERF_GLOBAL_CTRL. */
static uint64_t fixed_on(uint64_t fixed_ctrl)
{
    uint64_t on = 0;
    for (unsigned i = 0; i < PMU_MAX_FIXED; i++)
        if (fixed_ctrl >> (FIXED_CTR_CTRL_BITS * i) & (FIXED_CTR_CTRL_OS | FIXED_CTR_CTRL_USR))
            on |= ARCH_BIT(GLOBAL_FIXED_SHIFT + i);
    return on;
}

/* Some firmware counts for itself, and may do so again from SMM whatever is written here: what goes
 * wrong then looks like a wrong processor. At reset every select and control register is 0.
 * IA32_PERF_GLOBAL_CTRL says nothing: the bits of the general counters are 1 at reset.
 * IA32_PERF_GLOBAL_INUSE also has those that are taken and do not count now (SDM vol. 3
 * "IA32_PERF_GLOBAL_INUSE MSR"). */
static void note_counters_in_use(void)
{
    uint64_t value, on = 0;
    if (info.fixed_mask != 0 && rdmsr_safe(info.kind->fixed_ctrl, &value) &&
        (on = fixed_on(value)) != 0)
        info_note("the firmware left IA32_FIXED_CTR_CTRL = 0x%llx on: it may use the counters",
                  (unsigned long long)value);
    for (unsigned n = 0; n < info.n_general; n++)
        if (rdmsr_safe(pmu_bank_msr(&info.kind->selects, n), &value) && (value & PERFEVTSEL_EN)) {
            on |= PMU_MASK(n);
            info_note("the firmware left %s = 0x%llx on: it may use the counters",
                      name_of(pmu_bank_msr(&info.kind->selects, n)), (unsigned long long)value);
        }
    if (info.kind->in_use != 0 && rdmsr_safe(info.kind->in_use, &value) &&
        (value & ~GLOBAL_INUSE_PMI & ~on) != 0)
        info_note("IA32_PERF_GLOBAL_INUSE = 0x%llx: the firmware may use the counters",
                  (unsigned long long)value);
}

static void read_architectural(void)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    info_why(info.no_amd, "no PMU of AMD's: the vendor in CPUID.0 is %s", cpu.vendor);
    info_why(info.no_global_ctrl, "no IA32_PERF_GLOBAL_CTRL: CPUID.0AH:EAX[7:0] < 2");
    info_why(info.no_freeze, "no FREEZE_PERFMON_ON_PMI: CPUID.0AH:EAX[7:0] < 2");
    info_why(info.no_fixed, "no fixed counters: CPUID.0AH:EAX[7:0] < 2");
    info_why(info.no_pebs, "no PEBS: CPUID.0AH:EAX[7:0] = 0");
    info_why(info.no_bts, "no BTS: CPUID.0AH:EAX[7:0] = 0");
    if (cpuid_was_limited())
        info_note("CPUID was limited to leaf 2 or 3 by IA32_MISC_ENABLE[22]: cleared");
    find_capabilities();
    if (!find_version() || !find_general())
        return;
    info.present = true;
    ksnprintf(info.title, sizeof(info.title), "perfmon v%u", info.version);
    ksnprintf(info.code, sizeof(info.code), "%u", info.version);
    find_own_addresses();
    find_debug_store_bits();
    find_events();
    find_fixed();
    find_debug_store();
    find_global();
}

void pmu_info_read(void)
{
    info = (struct pmu_info){.kind = pmu_kind_of_version(0), .core = cpuid(LEAF_CORE, 0).eax};
    if (info_amd_here())
        info_amd_read(&info);
    else
        read_architectural();
    if (info.present)
        note_counters_in_use();
}

bool pmu_has_fixed(unsigned i)
{
    return i < PMU_MAX_FIXED && (info.fixed_mask >> i & 1);
}

const char *pmu_no_fixed(unsigned i)
{
    static char text[PMU_REASON];
    if (info.fixed_mask == 0)
        return info.no_pmu[0] ? info.no_pmu : info.no_fixed;
    if (named_by_leaf_23h())
        info_why(text, "no fixed counter %u: CPUID.23H.1:EBX[%u] = 0", i, i);
    else if (info.kind->fixed_bitmap)
        info_why(text, "no fixed counter %u: CPUID.0AH:ECX[%u] = 0 and EDX[4:0] = %u", i, i,
                 (unsigned)(info.leaf_edx & 0x1f));
    else
        info_why(text, "no fixed counter %u: CPUID.0AH:EDX[4:0] = %u", i,
                 (unsigned)(info.leaf_edx & 0x1f));
    return text;
}

const char *pmu_no_general(unsigned wanted)
{
    static char text[PMU_REASON];
    info_why(text, "fewer than %u general counters: %s", wanted, info.general_by);
    return info.n_general < wanted ? text : NULL;
}

uint64_t pmu_event(unsigned event)
{
    return info.kind->events[event].code;
}

const char *pmu_event_title(unsigned event)
{
    return info.kind->events[event].name;
}

const char *pmu_no_event(unsigned event)
{
    static char text[PMU_REASON];
    unsigned length = info.leaf_eax >> 24;
    const struct pmu_event *own = &info.kind->events[event];
    if (info.events >> event & 1)
        return NULL;
    if (info.kind->vendor == DECODE_AMD && own->name != NULL) { /* with PerfMonV2: x86/events.h */
        info_why(text, "no %s: %s", own->name, info.no_global_ctrl);
        return text;
    }
    if (info.leaf_23h.subleaves & CPUID_23_EAX_EVENTS)
        info_why(text, "no %s event: CPUID.23H.3:EAX[%u] = 0", pmu_events[event].name, event);
    else if (length <= event)
        info_why(text, "no %s event: CPUID.0AH:EAX[31:24] = %u", pmu_events[event].name, length);
    else
        info_why(text, "no %s event: CPUID.0AH:EBX[%u] = 1", pmu_events[event].name, event);
    return text;
}
