/*
 * Starting the other processors, and giving them work.
 *
 * SDM vol. 3 "Typical BSP Initialization Sequence": INIT to all, 10 ms, then a startup IPI, 200 us,
 * a second one for each that has not come. Each is started alone, because they share one stack
 * slot; one that comes too late finds none and sleeps (boot/ap.S).
 */
#include "lapic/smp.h"

#include "boot/ap.h"
#include "boot/bootinfo.h"
#include "boot/multiboot2.h"
#include "kernel/acpi.h"
#include "x86/apic.h"
#include "x86/msr.h"
#include "kernel/cpuid.h"
#include "kernel/nmi.h"
#include "kernel/paging.h"
#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/string.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"

#define INIT_WAIT_US       10000
#define STARTUP_WAIT_US    200
#define COME_WAIT_US       500000  /* from the second startup IPI to the stack being taken */
#define READY_WAIT_US      1000000 /* from there to the end of its initialisation */
#define STOP_WAIT_US       200000
#define STOP_REPEAT_US     1000
#define CONSOLE_PATIENCE_S 2 /* a report on a slow serial line takes a second */
#define US_PER_MS          1000

/* A startup IPI names a page of the first MiB; A0H to BFH are reserved (SDM vol. 3 "Interrupt
 * Command Register", Vector). The lowest pages are left alone: firmware has been seen to write
 * there. */
#define TRAMPOLINE_LOWEST 0x10000
#define TRAMPOLINE_END    0xa0000

#define CPUID_TOPOLOGY 0x0b
#define WHY_SIZE       160

enum state { ASLEEP, STARTING, IDLE, BUSY, DONE, FAILED };

static struct processor {
    uint32_t apic_id;
    enum state state; /* written by both sides, see set_state() */
    bool stop;        /* the run there is to end at the next NMI */
    void (*fn)(void *);
    void *arg;
    char why[WHY_SIZE];
} processors[MAX_CPUS];

static unsigned n_processors = 1;
static struct acpi_processors found;
static const char *why_alone;
static unsigned starting; /* the index that the next one to come gets */
static void (*start_cpu)(unsigned index);
static bool halting;

/* Those that stay asleep, and why. */
static struct {
    uint32_t apic_id;
    const char *why;
} asleep[ACPI_MAX_PROCESSORS];
static unsigned n_asleep;

uint32_t ap_stack, ap_efer;

static enum state get_state(const struct processor *p)
{
    return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

static void set_state(struct processor *p, enum state state)
{
    __atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
}

/* True when the state is no longer `from`; gives up after so many microseconds. */
static bool leaves_state(const struct processor *p, enum state from, uint64_t us)
{
    uint64_t start = rdtsc(), ticks = tsc_ticks_us(us);
    while (get_state(p) == from)
        if (rdtsc() - start > ticks)
            return get_state(p) != from;
        else
            __builtin_ia32_pause();
    return true;
}

/* ---- on the other processor ---- */

/* The ID before the local APIC is set up: that of the topology leaf, whose low byte leaf 1 has too.
 */
static uint32_t initial_apic_id(void)
{
    struct cpuid_regs topology = cpuid(CPUID_TOPOLOGY, 0);
    return topology.ebx ? topology.edx : cpuid(1, 0).ebx >> 24;
}

static void guarded(void *arg)
{
    struct processor *self = arg;
    irq_enable();
    self->fn(self->arg);
}

static void work(struct processor *self)
{
    const char *why = NULL;
    bool returned = trap_guarded(guarded, self, &why);
    irq_disable();
    lapic_drain(); /* a handler that was ended owes an EOI */
    if (!returned)
        ksnprintf(self->why, sizeof(self->why), "%s", why);
    set_state(self, returned ? DONE : FAILED);
}

_Noreturn void smp_enter(void)
{
    unsigned index = starting;
    struct processor *self = &processors[index];

    /* It is another one, which was given up before: its index is not this one. */
    while (initial_apic_id() != self->apic_id)
        __asm__ volatile("cli; hlt");
    set_state(self, STARTING);
    start_cpu(index);
    set_state(self, IDLE);
    for (;;) {
        irq_disable();
        if (get_state(self) == BUSY)
            work(self);
        else
            __asm__ volatile("sti; hlt" ::: "memory"); /* STI's shadow: no wake-up gets lost */
    }
}

/* Only to end HLT. */
static void wake_interrupt(struct trap_frame *frame)
{
    (void)frame;
    lapic_eoi();
}

/* The boot processor asks by NMI: to end the run, or the machine. */
static bool nmi(struct trap_frame *frame)
{
    struct percpu *cpu = this_cpu();
    struct processor *self = &processors[cpu->index];

    if (__atomic_load_n(&halting, __ATOMIC_RELAXED))
        for (;;)
            __asm__ volatile("cli; hlt");
    if (!__atomic_load_n(&self->stop, __ATOMIC_ACQUIRE))
        return false;
    /* Between two runs there is nothing to end; the sender repeats it. */
    if (cpu->guard_rsp) {
        self->stop = false;
        trap_abort("ended by the boot processor", frame);
    }
    return true;
}

/* ---- on the boot processor ---- */

unsigned smp_count(void)
{
    return n_processors;
}

const char *smp_why_alone(void)
{
    return n_processors > 1 ? NULL : why_alone;
}

uint32_t smp_apic_id(unsigned index)
{
    return processors[index].apic_id;
}

const char *smp_why(unsigned index)
{
    return processors[index].why;
}

/* Ends what runs there, by NMI, so that it works with interrupts off too. */
static bool stop(unsigned index)
{
    struct processor *p = &processors[index];
    __atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
    bool ended = false;
    for (unsigned us = 0; us < STOP_WAIT_US && !ended; us += STOP_REPEAT_US) {
        lapic_send_ipi(p->apic_id, APIC_LVT_DELIVERY_NMI);
        ended = leaves_state(p, BUSY, STOP_REPEAT_US);
    }
    __atomic_store_n(&p->stop, false, __ATOMIC_RELEASE);
    return ended;
}

bool smp_start(unsigned index, void (*fn)(void *), void *arg)
{
    if (index == 0 || index >= n_processors)
        return false;
    struct processor *p = &processors[index];
    p->why[0] = '\0';
    if (get_state(p) == BUSY) {
        ksnprintf(p->why, sizeof(p->why), "processor %u: still busy", index);
        return false;
    }
    p->fn = fn;
    p->arg = arg;
    set_state(p, BUSY);
    lapic_send_ipi(p->apic_id, APIC_LVT_DELIVERY_FIXED | LAPIC_VECTOR_WAKE);
    return true;
}

bool smp_wait(unsigned index, uint32_t timeout_ms)
{
    if (index == 0 || index >= n_processors)
        return false;
    struct processor *p = &processors[index];
    if (!leaves_state(p, BUSY, (uint64_t)timeout_ms * US_PER_MS)) {
        const char *end = stop(index) ? "" : ", and it does not answer to an NMI";
        ksnprintf(p->why, sizeof(p->why), "processor %u: the run took longer than %u ms%s", index,
                  (unsigned)timeout_ms, end);
        return false;
    }
    return get_state(p) == DONE;
}

bool smp_run_on(unsigned index, void (*fn)(void *), void *arg, uint32_t timeout_ms)
{
    return smp_start(index, fn, arg) && smp_wait(index, timeout_ms);
}

void smp_stop_all(void)
{
    for (unsigned i = 1; i < n_processors; i++)
        if (get_state(&processors[i]) == BUSY && !stop(i))
            kprintf("# processor %u does not answer to an NMI\n", i);
}

/* For good: the machine ends. */
static void halt_others(void)
{
    unsigned self = this_cpu()->index;
    __atomic_store_n(&halting, true, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < n_processors; i++)
        if (i != self)
            lapic_send_ipi(processors[i].apic_id, APIC_LVT_DELIVERY_NMI);
}

/* The highest free page that a startup IPI can name; 0 when there is none. */
static uint64_t find_trampoline_page(const struct bootinfo *boot)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < boot->n_memory; i++) {
        const struct memory_range *range = &boot->memory[i];
        if (range->type != MB2_MEMORY_AVAILABLE || range->base >= TRAMPOLINE_END)
            continue;
        uint64_t end = range->length < TRAMPOLINE_END - range->base ? range->base + range->length
                                                                    : TRAMPOLINE_END;
        uint64_t page = (end & ~(uint64_t)(PAGE_SIZE - 1)) - PAGE_SIZE;
        if (end >= TRAMPOLINE_LOWEST + PAGE_SIZE && page >= range->base && page > best)
            best = page;
    }
    return best >= TRAMPOLINE_LOWEST ? best : 0;
}

static void leave_asleep(uint32_t apic_id, const char *why)
{
    asleep[n_asleep].apic_id = apic_id;
    asleep[n_asleep++].why = why;
}

/* Starts one, which has had its INIT. NULL, or why it did not come. *lost: it began and hangs, with
 * the index and its stack. */
static const char *start_one(uint32_t apic_id, uint64_t page, bool *lost)
{
    struct processor *p = &processors[n_processors];
    uint32_t startup = APIC_ICR_STARTUP | (uint32_t)(page / PAGE_SIZE);

    *lost = false;
    p->apic_id = apic_id;
    p->state = ASLEEP;
    starting = n_processors;
    __atomic_store_n(&ap_stack, (uint32_t)(uint64_t)&cpu_stacks[n_processors] + STACK_MAIN_TOP,
                     __ATOMIC_SEQ_CST);
    if (!lapic_send_ipi(apic_id, startup))
        return "the local APIC does not send it a startup IPI";
    if (!leaves_state(p, ASLEEP, STARTUP_WAIT_US)) {
        lapic_send_ipi(apic_id, startup);
        leaves_state(p, ASLEEP, COME_WAIT_US);
    }
    /* Whoever has not taken the stack by now finds none. */
    if (__atomic_exchange_n(&ap_stack, 0, __ATOMIC_SEQ_CST) != 0)
        return "it did not answer to two startup IPIs";
    *lost = !leaves_state(p, ASLEEP, COME_WAIT_US) || !leaves_state(p, STARTING, READY_WAIT_US);
    return *lost ? "it began to start and did not end" : NULL;
}

static void start_all(uint64_t page)
{
    memcpy((void *)page, ap_trampoline, (size_t)(ap_trampoline_end - ap_trampoline));
    ap_efer = (uint32_t)(EFER_LME | (paging_no_execute() ? EFER_NXE : 0));
    for (unsigned i = 0; i < found.n; i++)
        if (found.apic_id[i] != processors[0].apic_id)
            lapic_send_ipi(found.apic_id[i], APIC_ICR_INIT | APIC_ICR_LEVEL_ASSERT);
    delay_us(INIT_WAIT_US);

    bool lost = false;
    for (unsigned i = 0; i < found.n; i++) {
        uint32_t id = found.apic_id[i];
        const char *why;
        if (id == processors[0].apic_id)
            continue;
        if (lost)
            why = "the one before it hangs";
        else if (n_processors == MAX_CPUS)
            why = "all places are taken";
        else
            why = start_one(id, page, &lost);
        if (why)
            leave_asleep(id, why);
        else
            n_processors++;
    }
}

static unsigned my_index(void)
{
    return this_cpu()->index;
}

static uint64_t clock(void)
{
    return rdtsc();
}

void smp_init(const struct bootinfo *boot, void (*start)(unsigned index))
{
    why_alone = lapic_why_absent();
    if (!lapic_present())
        return;
    processors[0].apic_id = lapic_id();
    if (!acpi_find_processors(&found, boot->rsdp, boot->rsdp_size, paging_physical)) {
        why_alone = found.error;
        return;
    }
    why_alone = "one processor in the MADT";
    if (found.n == 1)
        return;
    uint64_t page = find_trampoline_page(boot);
    why_alone = "no free page between 64 KiB and 640 KiB for a startup IPI";
    if (page == 0)
        return;
    why_alone = "no other processor of the MADT started";
    start_cpu = start;
    nmi_add_owner(nmi);
    trap_set_handler(LAPIC_VECTOR_WAKE, wake_interrupt);
    panic_on_enter(halt_others);
    print_share(my_index, clock, tsc_ticks_us(CONSOLE_PATIENCE_S * 1000000ULL));
    start_all(page);
}

void smp_print(void)
{
    if (found.n <= 1)
        return;
    kprintf("# %u of %u processors run, local APIC IDs", n_processors, found.n);
    for (unsigned i = 0; i < n_processors; i++)
        kprintf("%s %u", i ? "," : "", (unsigned)processors[i].apic_id);
    kprintf("\n");
    for (unsigned i = 0; i < n_asleep; i++)
        kprintf("# the processor with local APIC ID %u stays asleep: %s\n",
                (unsigned)asleep[i].apic_id, asleep[i].why);
    if (found.left_out)
        kprintf("# and %u more of the MADT\n", found.left_out);
    if (found.error)
        kprintf("# ACPI: %s\n", found.error);
}
