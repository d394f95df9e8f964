/* The machine whose PMU the tests drive. */
#include "tests/model/rig.h"

#include <stdio.h>
#include <string.h>

#include "sim/dev/internal.h"
#include "x86/cpuid.h"
#include "x86/pmu.h"
#include "x86/apic.h"
#include "x86/msr.h"

#define RAM_BYTES (2u << 20)

const char *const all_profiles[16] = {"merom",          "core2",       "kvm",         "westmere",
                                      "sandybridge",    "haswell",     "skylake",     "icelake",
                                      "sapphirerapids", "alderlake",   "goldmont",    "gracemont",
                                      "arrowlake",      "alderlake/e", "arrowlake/e", "none"};
const char *const pmu_profiles[14] = {"core2",       "kvm",        "westmere",  "sandybridge",
                                      "haswell",     "skylake",    "icelake",   "sapphirerapids",
                                      "alderlake",   "goldmont",   "gracemont", "arrowlake",
                                      "alderlake/e", "arrowlake/e"};
struct rig rig;

int rig_stop(void **state)
{
    (void)state;
    machine_free(rig.machine);
    rig.machine = NULL;
    return 0;
}

/* Leaf 23H, if sub-leaf 1 of leaf 7 announces it and its own sub-leaf 0 the sub-leaf. */
static void read_leaf_23h(uint32_t highest)
{
    uint32_t seven[4] = {0};
    if (highest >= 0x23)
        cpu_cpuid(rig.cpu, 7, 1, seven);
    if (!(seven[0] & CPUID_7_1_EAX_ARCH_PERFMON_EXT))
        return;
    cpu_cpuid(rig.cpu, 0x23, 0, rig.leaf_23h[0]);
    for (unsigned i = 1; i < LENGTH(rig.leaf_23h); i++)
        if (rig.leaf_23h[0][0] >> i & 1)
            cpu_cpuid(rig.cpu, 0x23, i, rig.leaf_23h[i]);
}

static unsigned highest_bit(uint32_t bitmap)
{
    return bitmap ? 32 - __builtin_clz(bitmap) : 0;
}

/* Nothing announces what the P cores of Alder Lake (model 97H, CPUID.1AH:EAX[31:24] = 40H) have and
 * its E cores have not: two general counters, fixed counter 3 and PERF_METRICS. Linux
 * arch/x86/events/intel/core.c, intel_pmu_init(). */
static void add_unannounced(void)
{
    uint32_t core[4];
    if (rig.model != 0x97 || rig.leaf_23h[1][0])
        return;
    cpu_cpuid(rig.cpu, 0x1a, 0, core);
    if (core[0] >> 24 != 0x40)
        return;
    rig.general += 2;
    rig.fixed_bitmap |= 1 << 3;
    rig.metrics = true;
}

static void read_cpuid(void)
{
    uint32_t out[4], one[4];
    cpu_cpuid(rig.cpu, 1, 0, one);
    rig.family = one[0] >> 8 & 0xf;
    rig.model = (one[0] >> 4 & 0xf) | (one[0] >> 12 & 0xf0);
    cpu_cpuid(rig.cpu, 0, 0, out);
    read_leaf_23h(out[0]);
    if (out[0] < 0xa)
        memset(out, 0, sizeof out);
    else
        cpu_cpuid(rig.cpu, 0xa, 0, out);
    memcpy(rig.leaf_0ah, out, sizeof out);
    rig.version = out[0] & 0xff;
    rig.general = highest_bit(rig.leaf_23h[1][0]);
    if (rig.general < (out[0] >> 8 & 0xff))
        rig.general = out[0] >> 8 & 0xff;
    rig.general_width = out[0] >> 16 & 0xff;
    rig.ebx = out[1];
    rig.fixed_bitmap = rig.leaf_23h[1][1] | (rig.version >= 5 ? out[2] : 0);
    rig.fixed = rig.version >= 2 ? out[3] & 0x1f : 0;
    rig.fixed_width = rig.version >= 2 ? out[3] >> 5 & 0xff : 0;
    rig.anythread_deprecated = out[3] >> 15 & 1;
    rig.capabilities = one[2] & CPUID_1_ECX_PDCM ? read_msr(MSR_IA32_PERF_CAPABILITIES) : 0;
    rig.metrics = rig.capabilities & PERF_CAP_PERF_METRICS;
    add_unannounced();
}

void rig_start(const char *profile, ...)
{
    va_list words;
    const char *word;
    rig_stop(NULL);
    memset(&rig, 0, sizeof rig);
    rig.name = profile;
    char name[32];
    snprintf(name, sizeof name, "%s", profile);
    char *kind = strchr(name, '/');
    if (kind)
        *kind = 0;
    assert_true(profile_load(&rig.profile, name, kind != NULL, stderr));
    va_start(words, profile);
    while ((word = va_arg(words, const char *)))
        assert_true(profile_set(&rig.profile, word, stderr));
    va_end(words);
    assert_true(profile_finish(&rig.profile, stderr));
    rig.machine = machine_new(&rig.profile, 1, RAM_BYTES);
    assert_non_null(rig.machine);
    rig.cpu = rig.machine->cpus[0];
    rig.pmu = rig.cpu->pmu;
    read_cpuid();
}

void rig_fail(const char *file, int line, const char *what, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_error("%s: %s [%s]\n", rig.name, text, what);
    _fail(file, line);
}

uint64_t read_msr(uint32_t msr)
{
    uint64_t value = 0;
    CHECK(cpu_rdmsr(rig.cpu, msr, &value), "RDMSR %XH faults", msr);
    return value;
}

bool read_faults(uint32_t msr)
{
    uint64_t value;
    return !cpu_rdmsr(rig.cpu, msr, &value);
}

bool write_faults(uint32_t msr, uint64_t value)
{
    return !cpu_wrmsr(rig.cpu, msr, value);
}

void write_msr(uint32_t msr, uint64_t value)
{
    CHECK(cpu_wrmsr(rig.cpu, msr, value), "WRMSR %XH <- %llXH faults", msr,
          (unsigned long long)value);
}

uint64_t low_bits(unsigned n)
{
    return n >= 64 ? UINT64_MAX : (1ULL << n) - 1;
}

/* SDM vol. 3 "Architectural Performance Monitoring Version 5": FxCtr[i]_is_supported := ECX[i] ||
 * (EDX[4:0] > i). */
bool fixed_there(unsigned i)
{
    return i < rig.fixed || (rig.fixed_bitmap >> i & 1);
}

uint64_t counter_enables(void)
{
    uint64_t mask = low_bits(rig.general);
    for (unsigned i = 0; i < 32; i++)
        if (fixed_there(i))
            mask |= ARCH_BIT(GLOBAL_FIXED_SHIFT + i);
    return mask;
}

void pass(unsigned cpl, enum cpu_event event, uint64_t n, uint64_t slots)
{
    rig.cpu->cpl = cpl;
    rig.cpu->total[cpl != 0][event] += n;
    cpu_spend(rig.cpu, EV_SLOTS_RETIRING, slots);
    pmu_update(rig.pmu);
}

void retire(unsigned cpl, uint64_t instructions)
{
    pass(cpl, EV_INSN, instructions, instructions);
}

void pass_skid(void)
{
    pass(0, EV_ABSENT, 0, (uint64_t)rig.profile.pmu.skid * rig.profile.uarch.retire_width);
}

void predicted_branch(enum branch_kind kind, uint64_t from, uint64_t to, bool mispredicted)
{
    if (rig.cpu->want_branches)
        pmu_branch(rig.pmu, kind, from, to, rig.cpu->cpl, mispredicted);
}

void branch(enum branch_kind kind, uint64_t from, uint64_t to)
{
    predicted_branch(kind, from, to, false);
}

unsigned pmis(void)
{
    return rig.cpu->stats.pmis;
}

uint64_t peek(uint64_t address)
{
    uint64_t value = 0;
    CHECK(cpu_read_linear(rig.cpu, address, &value, sizeof value), "%#llx is not mapped",
          (unsigned long long)address);
    return value;
}

void poke(uint64_t address, uint64_t value)
{
    CHECK(cpu_write_linear(rig.cpu, address, &value, sizeof value), "%#llx is not mapped",
          (unsigned long long)address);
}

void map_two_mebibytes(void)
{
    enum { PML4 = 0x1000, PDPT = 0x2000, DIRECTORY = 0x3000 };
    poke(PML4, PDPT | PTE_P | PTE_RW);
    poke(PDPT, DIRECTORY | PTE_P | PTE_RW);
    poke(DIRECTORY, PTE_P | PTE_RW | PTE_PS);
    rig.cpu->cr3 = PML4;
    rig.cpu->cr4 |= CR4_PAE;
    rig.cpu->efer |= EFER_LME | EFER_LMA;
    rig.cpu->cr0 |= CR0_PE | CR0_PG;
}

uint32_t apic_read(uint32_t offset)
{
    return lapic_mmio_read(rig.cpu->lapic, offset, 4);
}

void apic_write(uint32_t offset, uint32_t value)
{
    lapic_mmio_write(rig.cpu->lapic, offset, 4, value);
}

void apic_arm(uint32_t delivery)
{
    apic_write(0xf0, APIC_SVR_ENABLE | 0xff);
    apic_write(LVT_PERFMON, PMI_VECTOR | delivery);
}

void count_instructions(unsigned counter, uint64_t more_bits)
{
    write_msr(MSR_IA32_PERFEVTSEL0 + counter,
              SELECT_INSTRUCTIONS | BOTH_RINGS | PERFEVTSEL_EN | more_bits);
    if (rig.version >= 2)
        write_msr(MSR_IA32_PERF_GLOBAL_CTRL, counter_enables());
}
