/* The local APIC: mode, registers, local vector table. The timer is in lapic/timer.c. */
#include "lapic/lapic.h"

#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/cpuid.h"
#include "x86/msr.h"
#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/paging.h"
#include "kernel/print.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/timer.h"

#include <stddef.h>

#define APIC_PAGE             0x1000
#define VERSION_MAX_LVT_SHIFT 16
#define VERSION_MAX_LVT       0xffu
#define XAPIC_ID_SHIFT        24
#define ISR_STEP              0x10 /* each 32 bits of ISR, TMR and IRR have an own 16-byte slot */
#define N_VECTORS             256
#define LEAF_EXTENDED         0x80000001
#define XAPIC_IDS             0xff /* IDs below; 0xff is the broadcast */
#define ICR_PENDING           APIC_LVT_PENDING
#define ICR_WAIT_US           1000

static struct {
    bool present, x2apic;
    const char *why_absent;
    unsigned max_lvt;
    volatile uint8_t *page; /* xAPIC only */
    enum pmi_mode pmi;
    uint32_t lvt_perfmon; /* what lapic_pmi_setup() wrote */
} lapic;

/* The LVT entries in the order in which Max LVT Entry counts them (SDM vol. 3 "Local APIC Version
 * Register", "Local Vector Table"): entry n exists when Max LVT Entry >= n. */
static const struct {
    uint16_t reg;
    uint8_t from_max;
} lvt_entries[] = {
    {APIC_LVT_TIMER, 0},   {APIC_LVT_LINT0, 1},   {APIC_LVT_LINT1, 2}, {APIC_LVT_ERROR, 3},
    {APIC_LVT_PERFMON, 4}, {APIC_LVT_THERMAL, 5}, {APIC_LVT_CMCI, 6},
};
#define LVT_PERFMON_FROM_MAX 4

bool lapic_present(void)
{
    return lapic.present;
}

bool lapic_is_x2apic(void)
{
    return lapic.x2apic;
}

bool lapic_has_pmi(void)
{
    return lapic.present && lapic.max_lvt >= LVT_PERFMON_FROM_MAX;
}

uint32_t lapic_read(uint32_t reg)
{
    if (!lapic.present)
        return 0;
    if (lapic.x2apic)
        return (uint32_t)rdmsr(MSR_X2APIC_BASE + reg / 16);
    return *(volatile uint32_t *)(lapic.page + reg);
}

/* A write to the uncached xAPIC page is strongly ordered after earlier stores, but may be posted;
 * one to an x2APIC MSR is not serializing (SDM vol. 3 "x2APIC Register Address Space"). Who relies
 * on the effect, not the order, reads the register back. */
void lapic_write(uint32_t reg, uint32_t value)
{
    if (!lapic.present)
        return;
    if (lapic.x2apic)
        wrmsr(MSR_X2APIC_BASE + reg / 16, value);
    else
        *(volatile uint32_t *)(lapic.page + reg) = value;
}

static void lvt_write(uint32_t reg, uint32_t value)
{
    lapic_write(reg, value);
    (void)lapic_read(reg);
}

void lapic_eoi(void)
{
    lapic_write(APIC_EOI, 0); /* x2APIC: any other value raises #GP */
}

uint32_t lapic_id(void)
{
    uint32_t id = lapic_read(APIC_ID);
    return lapic.x2apic ? id : id >> XAPIC_ID_SHIFT;
}

static bool in_service(void)
{
    for (uint32_t i = 0; i < N_VECTORS / 32; i++)
        if (lapic_read(APIC_ISR + i * ISR_STEP) != 0)
            return true;
    return false;
}

void lapic_drain(void)
{
    /* Each EOI ends the highest interrupt in service, and there are at most as many as vectors. */
    for (unsigned i = 0; lapic.present && i < N_VECTORS && in_service(); i++)
        lapic_eoi();
}

/* A spurious interrupt sets no ISR bit: an EOI would end somebody else's (SDM vol. 3 "Spurious
 * Interrupt"). */
static void spurious_interrupt(struct trap_frame *frame)
{
    (void)frame;
}

static void error_interrupt(struct trap_frame *frame)
{
    (void)frame;
    /* The write makes the ESR show what has gathered since the last one (SDM vol. 3 "Error
     * Handling"). */
    lapic_write(APIC_ESR, 0);
    kprintf("# local APIC error: ESR = 0x%x\n", (unsigned)lapic_read(APIC_ESR));
    lapic_eoi();
}

/* Brings IA32_APIC_BASE to enabled xAPIC or x2APIC mode from whatever the firmware left (SDM vol. 3
 * "x2APIC State Transitions"): disabled -> xAPIC -> x2APIC go one way; back from x2APIC there is
 * only disabled. */
static bool set_mode(bool x2apic, uint64_t *base, const char **why)
{
    *why = "IA32_APIC_BASE (1BH) raises #GP";
    if (!rdmsr_safe(MSR_IA32_APIC_BASE, base))
        return false;
    uint64_t off = *base & ~(APIC_BASE_EN | APIC_BASE_EXTD);
    if (!x2apic && (*base & APIC_BASE_EXTD)) {
        *why = "the firmware's x2APIC mode cannot be left: WRMSR IA32_APIC_BASE raises #GP";
        if (!wrmsr_safe(MSR_IA32_APIC_BASE, off))
            return false;
        *base = off;
    }
    if (!(*base & APIC_BASE_EN)) {
        *why = "the local APIC cannot be enabled: WRMSR IA32_APIC_BASE raises #GP";
        if (!wrmsr_safe(MSR_IA32_APIC_BASE, off | APIC_BASE_EN))
            return false;
        *base = off | APIC_BASE_EN;
    }
    if (x2apic && !(*base & APIC_BASE_EXTD)) {
        *why = "x2APIC mode cannot be entered: WRMSR IA32_APIC_BASE raises #GP";
        if (!wrmsr_safe(MSR_IA32_APIC_BASE, *base | APIC_BASE_EXTD))
            return false;
        *base |= APIC_BASE_EXTD;
    }
    return true;
}

static void set_up_vectors(void)
{
    /* Enabled by software first: while it is not, every LVT mask bit is stuck at 1 (SDM vol. 3
     * "Local APIC State After It Has Been Software Disabled"). */
    lapic_write(APIC_SVR, APIC_SVR_ENABLE | LAPIC_VECTOR_SPURIOUS);
    (void)lapic_read(APIC_SVR);
    lapic_write(APIC_TPR, 0);
    lapic.max_lvt = lapic_read(APIC_VERSION) >> VERSION_MAX_LVT_SHIFT & VERSION_MAX_LVT;
    for (size_t i = 0; i < sizeof(lvt_entries) / sizeof(lvt_entries[0]); i++)
        if (lapic.max_lvt >= lvt_entries[i].from_max)
            lvt_write(lvt_entries[i].reg, APIC_LVT_MASK | LAPIC_VECTOR_SPURIOUS);
    lapic_drain();
    lapic_write(APIC_ESR, 0);
    lvt_write(APIC_LVT_ERROR, LAPIC_VECTOR_ERROR);
}

const char *lapic_why_absent(void)
{
    return lapic.why_absent;
}

static bool init(enum apic_choice choice, const char **why)
{
    struct cpuid_regs features = cpuid(1, 0);
    bool has_x2apic = features.ecx & CPUID_1_ECX_X2APIC;
    *why = "no local APIC: CPUID.1:EDX[9] = 0";
    if (!(features.edx & CPUID_1_EDX_APIC))
        return false;
    *why = "no x2APIC: CPUID.1:ECX[21] = 0";
    if (choice == APIC_X2APIC && !has_x2apic)
        return false;
    uint64_t base;
    bool x2apic = has_x2apic && choice != APIC_XAPIC;
    if (!set_mode(x2apic, &base, why))
        return false;
    if (!x2apic) {
        *why = "the page of the local APIC cannot be mapped";
        lapic.page = paging_map_mmio(base & APIC_BASE_ADDRESS, APIC_PAGE);
        if (lapic.page == NULL)
            return false;
    }
    lapic.x2apic = x2apic;
    lapic.present = true;
    trap_set_handler(LAPIC_VECTOR_SPURIOUS, spurious_interrupt);
    trap_set_handler(LAPIC_VECTOR_ERROR, error_interrupt);
    set_up_vectors();
    lapic_timer_init();
    *why = NULL;
    return true;
}

bool lapic_init(enum apic_choice choice, enum pmi_mode pmi, const char **why)
{
    lapic.pmi = pmi;
    bool ok = init(choice, why);
    lapic.why_absent = *why;
    return ok;
}

bool lapic_init_cpu(void)
{
    const char *why;
    uint64_t base;
    if (!lapic.present || !set_mode(lapic.x2apic, &base, &why))
        return false;
    set_up_vectors();
    return true;
}

/* In x2APIC mode the whole command is one WRMSR, which is not ordered after earlier stores: what
 * the receiver is to find in memory must be there before (SDM vol. 3 "x2APIC Register Address
 * Space"). */
bool lapic_send_ipi(uint32_t apic_id, uint32_t command)
{
    if (lapic.x2apic) {
        __asm__ volatile("mfence; lfence" ::: "memory");
        return wrmsr_safe(MSR_X2APIC_BASE + APIC_ICR / 16, (uint64_t)apic_id << 32 | command);
    }
    if (!lapic.present || apic_id >= XAPIC_IDS)
        return false;
    lapic_write(APIC_ICR_HIGH, apic_id << XAPIC_ID_SHIFT);
    lapic_write(APIC_ICR, command);
    uint64_t end = rdtsc() + tsc_ticks_us(ICR_WAIT_US);
    while (lapic_read(APIC_ICR) & ICR_PENDING)
        if (rdtsc() > end)
            return false;
    return true;
}

enum pmi_mode lapic_pmi_mode(void)
{
    return lapic.pmi;
}

void lapic_pmi_setup(void)
{
    if (!lapic_has_pmi())
        return;
    /* The vector field is ignored for an NMI (SDM vol. 3 "Local Vector Table", Delivery Mode). */
    lapic.lvt_perfmon =
        lapic.pmi == PMI_NMI ? APIC_LVT_DELIVERY_NMI : APIC_LVT_DELIVERY_FIXED | LAPIC_VECTOR_PMI;
    lapic_pmi_unmask();
}

bool lapic_pmi_ready(void)
{
    return (lapic_read(APIC_LVT_PERFMON) & (APIC_LVT_MASK | APIC_LVT_DELIVERY | APIC_LVT_VECTOR)) ==
           lapic.lvt_perfmon;
}

void lapic_pmi_unmask(void)
{
    if (lapic_has_pmi())
        lvt_write(APIC_LVT_PERFMON, lapic.lvt_perfmon);
}

/* CPUID tells of it before the version register may be asked: on other processors that bit is
 * reserved. */
unsigned lapic_extended_lvts(void)
{
    if (!lapic.present || !(cpuid(LEAF_EXTENDED, 0).ecx & CPUID_80000001_ECX_EXTAPIC) ||
        !(lapic_read(APIC_VERSION) & APIC_VERSION_EAS))
        return 0;
    return (lapic_read(APIC_EXT_FEATURE) & APIC_EXT_FEATURE_LVT) >> APIC_EXT_FEATURE_LVT_SHIFT;
}

void lapic_extended_setup(unsigned n, unsigned vector)
{
    lvt_write(APIC_EXT_LVT0 + n * APIC_EXT_LVT_STRIDE,
              lapic.pmi == PMI_NMI ? APIC_LVT_DELIVERY_NMI : APIC_LVT_DELIVERY_FIXED | vector);
}
