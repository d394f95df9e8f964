/*
 * The machine: physical memory, I/O ports, and the order in which the processors run.
 *
 * Memory map: RAM from 0; A0000H-BFFFFH VGA memory, which is plain memory here; C0000H-FFFFFH ROM
 * (stores are ignored); RAM again from 1 MiB to ram_size; the I/O APIC at FEC00000H, the HPET at
 * FED00000H, the local APIC's page where IA32_APIC_BASE says. Elsewhere reads give all ones and
 * writes are lost, as on a bus that nobody answers.
 *
 * Processors run one after the other, each for QUANTUM_SLOTS of simulated time, so that their
 * clocks never differ by more than that (and one instruction). A processor that sends an IPI ends
 * its turn early when it runs a longer stretch. Each has slots of its own length: what several are
 * compared by is the machine's time, in slots of processor 0. The order is fixed and no host clock
 * is looked at: the same image gives the same run. A run may be cut anywhere, within a turn too:
 * who has it and how far it goes stands in machine->round.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/cpu/internal.h"
#include "sim/dev/internal.h"
#include "sim/fault.h"
#include "sim/pmu/pmu.h"
#include "sim/symbols.h"
#include "sim/trace.h"
#include "x86/debug_exit.h"

#define QUANTUM_SLOTS 4096
#define VGA_START     0xa0000
#define ROM_START     0xc0000
#define ROM_END       0x100000
#define PAGE          4096
#define NOTE_LENGTH   512

static const struct port_range ports[] = {
    {0x20, 0x21, false, true, pic_in, pic_out},
    {0x40, 0x43, false, true, pit_in, pit_out},
    {0x61, 0x61, false, true, port61_in, port61_out},
    {0x64, 0x64, false, false, reset_in, reset_out},
    {0x70, 0x71, false, true, rtc_in, rtc_out},
    {0x80, 0x80, false, false, platform_in, platform_out},
    {0x92, 0x92, false, false, platform_in, platform_out},
    {0xa0, 0xa1, false, true, pic_in, pic_out},
    {DEBUG_EXIT_PORT, DEBUG_EXIT_PORT, true, false, NULL, debug_exit_out},
    {UART_BASE, UART_BASE + 7, false, true, uart_in, uart_out},
    {0x4d0, 0x4d1, false, true, elcr_in, elcr_out},
    {0x510, 0x511, true, false, fw_cfg_in, fw_cfg_out},
    {ACPI_PM_BASE, ACPI_PM_BASE + ACPI_PM_SIZE - 1, true, true, acpi_pm_in, acpi_pm_out},
    {0xcf9, 0xcf9, true, false, reset_in, reset_out},
    {0xcf8, 0xcfb, true, false, platform_in, platform_out},
};

struct machine *machine_new(const struct profile *p, unsigned n_cpus, uint64_t ram_size)
{
    struct machine *m = calloc(1, sizeof(*m));
    struct devices *d = calloc(1, sizeof(*d));
    /* Reserved, not committed: a large guest costs only the pages that it touches. */
    uint8_t *ram = mmap(NULL, ram_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (!m || !d || ram == MAP_FAILED) {
        if (ram != MAP_FAILED)
            munmap(ram, ram_size);
        free(d);
        free(m);
        return NULL;
    }
    m->profile = &p[profile_kind_of(p, 0)];
    m->ram = ram;
    m->ram_size = ram_size;
    m->rom_start = ROM_START;
    m->rom_end = ROM_END;
    memset(ram + ROM_START, 0xff, ROM_END - ROM_START);
    m->devices = d;
    uart_init(&d->uart);
    pit_init(&d->pit);
    for (unsigned i = 0; i < 2; i++)
        pic_init(&d->pic[i]);
    rtc_init(&d->rtc, ram_size);
    ioapic_init(&d->ioapic, ACPI_IOAPIC_ID);
    hpet_init(&d->hpet);
    d->next = NEVER;
    m->n_cpus = n_cpus;
    for (unsigned i = 0; i < n_cpus; i++) {
        m->cpus[i] = cpu_new(m, i, &p[profile_kind_of(p, i)]);
        if (!m->cpus[i]) {
            machine_free(m);
            return NULL;
        }
        /* SDM vol. 3 "MP Initialization Protocol Algorithm": application processors wait for a
         * SIPI. */
        if (i > 0)
            m->cpus[i]->state = CPU_WAIT_SIPI;
    }
    return m;
}

void machine_free(struct machine *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < m->n_cpus; i++)
        if (m->cpus[i])
            cpu_free(m->cpus[i]);
    munmap(m->ram, m->ram_size);
    symbols_free(m->symbols);
    trace_free(m->trace);
    faults_free(m->faults);
    free(m->own_profiles);
    free(m->devices);
    free(m);
}

void machine_stop(struct machine *m, enum stop_reason reason)
{
    if (m->stop == STOP_NONE)
        m->stop = reason;
    for (unsigned i = 0; i < m->n_cpus; i++)
        cpu_attend(m->cpus[i], ATTN_STOP);
}

/* ---- Time ---- */

/* A point of a processor's clock in the machine's time, rounded down; the first one of a
 * processor's clock at or after a point of the machine's time. UINT64_MAX is never in both. */
static uint64_t to_machine(const struct cpu *cpu, uint64_t at)
{
    const struct machine *m = cpu->machine;

    return cpu->profile == m->profile || at == UINT64_MAX
               ? at
               : slots_to_hz(cpu->profile, at, slot_rate(m->profile));
}

static uint64_t to_own(const struct cpu *cpu, uint64_t at)
{
    const struct machine *m = cpu->machine;

    return cpu->profile == m->profile || at == UINT64_MAX
               ? at
               : hz_to_slots(cpu->profile, at, slot_rate(m->profile));
}

uint64_t machine_time(const struct cpu *cpu)
{
    return to_machine(cpu, cpu->now);
}

static uint64_t devices_deadline(const struct cpu *cpu)
{
    const struct devices *d = cpu->machine->devices;

    return to_own(cpu, d->next);
}

uint64_t machine_deadline(const struct cpu *cpu)
{
    uint64_t own = lapic_deadline(cpu->lapic), shared = devices_deadline(cpu);

    return own < shared ? own : shared;
}

void machine_tick(struct cpu *cpu)
{
    if (cpu->now >= lapic_deadline(cpu->lapic))
        lapic_tick(cpu->lapic);
    if (cpu->now >= devices_deadline(cpu)) {
        devices_advance(cpu);
        devices_schedule(cpu);
    }
}

/* Something that needs no more time: it is there now. */
static bool has_event(struct cpu *cpu)
{
    if (cpu->attention & (ATTN_INIT | ATTN_SIPI))
        return true;
    if (cpu->state != CPU_HALTED)
        return false;
    if ((cpu->attention & ATTN_NMI) && !cpu->nmi_blocked)
        return true;
    return (cpu_rflags(cpu) & RFLAGS_IF) && lapic_pending(cpu->lapic);
}

/* The value of now at which an idle processor may go on by itself; UINT64_MAX: only another
 * processor can wake it. */
static uint64_t wake_time(struct cpu *cpu)
{
    uint64_t t = UINT64_MAX;

    if (cpu->state == CPU_RUNNING || has_event(cpu))
        return cpu->now;
    if (cpu->state != CPU_HALTED)
        return UINT64_MAX;
    if ((cpu_rflags(cpu) & RFLAGS_IF) && lapic_timer_wakes(cpu->lapic))
        t = lapic_deadline(cpu->lapic);
    if ((cpu_rflags(cpu) & RFLAGS_IF) && lapic_hears_devices(cpu->lapic) &&
        devices_deadline(cpu) < t)
        t = devices_deadline(cpu);
    /* A PMI that is on its way (skid) when the processor halts. */
    if (pmu_deadline(cpu->pmu) < t)
        t = pmu_deadline(cpu->pmu);
    if (fault_deadline(cpu) < t)
        t = fault_deadline(cpu);
    return t;
}

bool machine_idles(const struct machine *m)
{
    for (unsigned i = 0; i < m->n_cpus; i++)
        if (m->cpus[i]->state == CPU_RUNNING || has_event(m->cpus[i]))
            return false;
    return true;
}

bool machine_wakes(struct cpu *cpu)
{
    return wake_time(cpu) != UINT64_MAX;
}

static void idle_until(struct cpu *cpu, uint64_t now)
{
    if (cpu->now < now) {
        cpu->halted += now - cpu->now;
        cpu->now = now;
    }
}

void machine_idle_until(struct cpu *cpu, uint64_t time)
{
    idle_until(cpu, to_own(cpu, time));
}

bool machine_lets_others_catch_up(struct cpu *cpu)
{
    struct machine *m = cpu->machine;
    uint64_t now = machine_time(cpu);

    for (unsigned i = 0; i < m->n_cpus; i++) {
        if (m->cpus[i] == cpu || to_machine(m->cpus[i], wake_time(m->cpus[i])) >= now)
            continue;
        cpu->until = cpu->now;
        cpu_reschedule(cpu);
        return true;
    }
    return false;
}

void machine_reach(struct cpu *from, struct cpu *to)
{
    if (from == to)
        return;
    /* An idle processor's clock stands still until something comes: it comes now. */
    if (to->state != CPU_RUNNING)
        machine_idle_until(to, machine_time(from));
    from->until = from->now;
    cpu_reschedule(from);
}

uint64_t machine_instructions(const struct machine *m)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < m->n_cpus; i++)
        n += m->cpus[i]->total[0][EV_INSN] + m->cpus[i]->total[1][EV_INSN];
    return n;
}

/* How far processor cpu may run now: as long as the others only wait, to the point where the first
 * of them goes on by itself, else one quantum. Whoever wakes one earlier ends the turn
 * (machine_reach). An instruction costs at least one slot, so the instruction limit is also one of
 * slots. */
static uint64_t turn_end(struct machine *m, struct cpu *cpu, uint64_t quantum_end)
{
    uint64_t end = UINT64_MAX;

    for (unsigned i = 0; i < m->n_cpus; i++) {
        if (m->cpus[i] == cpu)
            continue;
        uint64_t wakes = to_machine(m->cpus[i], wake_time(m->cpus[i]));
        if (wakes < end)
            end = wakes > quantum_end ? wakes : quantum_end;
    }
    end = to_own(cpu, end);
    if (m->max_insns) {
        uint64_t left = m->max_insns - machine_instructions(m);
        if (left < end - cpu->now)
            end = cpu->now + left;
    }
    if (m->max_slots && to_own(cpu, m->max_slots) < end)
        end = to_own(cpu, m->max_slots);
    return end;
}

/* False: there is nothing left to wait for. */
static bool begin_round(struct machine *m)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < m->n_cpus; i++) {
        uint64_t t = to_machine(m->cpus[i], wake_time(m->cpus[i]));
        if (t < first)
            first = t;
    }
    if (first == UINT64_MAX)
        return false;
    m->round.open = true;
    m->round.cpu = 0;
    m->round.first = first;
    m->round.quantum_end = first > UINT64_MAX - QUANTUM_SLOTS ? UINT64_MAX : first + QUANTUM_SLOTS;
    return true;
}

/* False: this processor has nothing to do in this round. */
static bool begin_turn(struct machine *m, struct cpu *cpu)
{
    uint64_t wake = wake_time(cpu), first = to_own(cpu, m->round.first);

    if (to_machine(cpu, wake) >= m->round.quantum_end)
        return false;
    /* It idled while the others ran. */
    if (cpu->state != CPU_RUNNING)
        idle_until(cpu, wake > first ? wake : first);
    m->round.until = turn_end(m, cpu, m->round.quantum_end);
    m->round.in_turn = true;
    return true;
}

/* Goes on with a turn for so many slots at most. */
static void take_turn(struct machine *m, struct cpu *cpu, uint64_t *slots)
{
    uint64_t start = cpu->now;

    cpu->pause = *slots > UINT64_MAX - start ? UINT64_MAX : start + *slots;
    cpu_reschedule(cpu);
    cpu_run(cpu, m->round.until);
    if (*slots != SIM_NO_LIMIT)
        *slots -= cpu->now - start < *slots ? cpu->now - start : *slots;
    /* until is its own: sending an IPI ends a turn early. */
    if (cpu->now >= cpu->pause && cpu->now < cpu->until && m->stop == STOP_NONE)
        return;
    m->round.in_turn = false;
    m->round.cpu++;
    if (m->max_insns && machine_instructions(m) >= m->max_insns)
        machine_stop(m, STOP_MAX_INSNS);
    if (m->max_slots && machine_time(cpu) >= m->max_slots)
        machine_stop(m, STOP_MAX_TIME);
}

bool machine_pass_time(struct machine *m)
{
    uint64_t next = UINT64_MAX;

    for (unsigned i = 0; i < m->n_cpus; i++) {
        uint64_t t = to_machine(m->cpus[i], lapic_deadline(m->cpus[i]->lapic));
        next = t < next ? t : next;
    }
    if (next == UINT64_MAX)
        return false;
    for (unsigned i = 0; i < m->n_cpus; i++)
        if (m->cpus[i]->state == CPU_RUNNING || m->cpus[i]->state == CPU_HALTED)
            machine_idle_until(m->cpus[i], next);
    m->round.open = m->round.in_turn = false;
    return true;
}

void machine_run(struct machine *m, uint64_t slots)
{
    while (m->stop == STOP_NONE && slots) {
        if (!m->round.open && !begin_round(m)) {
            machine_stop(m, STOP_ALL_HALTED);
            break;
        }
        if (m->round.cpu == m->n_cpus) {
            m->round.open = false;
            continue;
        }
        struct cpu *cpu = m->cpus[m->round.cpu];
        if (m->round.in_turn || begin_turn(m, cpu))
            take_turn(m, cpu, &slots);
        else
            m->round.cpu++;
    }
    if (m->stop != STOP_NONE)
        machine_flush(m);
}

/* ---- The host ---- */

void machine_note(struct machine *m, const char *format, ...)
{
    char line[NOTE_LENGTH];
    va_list args;

    if (!m->host.note)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    m->host.note(m->host.context, line);
}

void machine_flush(struct machine *m)
{
    struct devices *d = m->devices;

    if (!uart_flush(m, &d->uart)) {
        machine_stop(m, STOP_HOST);
        m->stop = STOP_HOST; /* whatever the guest said: not all of it was heard */
    }
}

/* ---- Memory ---- */

uint8_t *machine_ram_page(struct machine *m, uint64_t physical, bool *writable)
{
    uint64_t page = physical & ~(uint64_t)(PAGE - 1);

    *writable = false;
    if (page >= m->ram_size)
        return NULL;
    *writable = page < m->rom_start || page >= m->rom_end;
    return m->ram + page;
}

static bool in_ram(const struct machine *m, uint64_t physical, unsigned bytes)
{
    return physical < m->ram_size && bytes <= m->ram_size - physical;
}

/* Pages that are devices; each goes by the time, or interrupts. */
static const struct {
    uint64_t base;
    uint32_t size;
    uint64_t (*read)(struct cpu *cpu, uint32_t offset, unsigned bytes);
    void (*write)(struct cpu *cpu, uint32_t offset, unsigned bytes, uint64_t value);
} pages[] = {
    {IOAPIC_BASE, 0x100, ioapic_read, ioapic_write},
    {HPET_BASE, 0x400, hpet_read, hpet_write},
};

static bool page_read(struct cpu *cpu, uint64_t physical, unsigned bytes, uint64_t *value)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (physical - pages[i].base >= pages[i].size)
            continue;
        devices_advance(cpu);
        *value = pages[i].read(cpu, physical - pages[i].base, bytes);
        devices_schedule(cpu);
        return true;
    }
    return false;
}

static bool page_write(struct cpu *cpu, uint64_t physical, unsigned bytes, uint64_t value)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (physical - pages[i].base >= pages[i].size)
            continue;
        devices_advance(cpu);
        pages[i].write(cpu, physical - pages[i].base, bytes, value);
        devices_schedule(cpu);
        return true;
    }
    return false;
}

uint64_t machine_read(struct cpu *cpu, uint64_t physical, unsigned bytes)
{
    struct machine *m = cpu->machine;
    uint64_t value = UINT64_MAX;

    if (lapic_mmio_hit(cpu->lapic, physical))
        return lapic_mmio_read(cpu->lapic, physical & (PAGE - 1), bytes);
    if (in_ram(m, physical, bytes)) {
        value = 0;
        memcpy(&value, m->ram + physical, bytes);
        return value;
    }
    page_read(cpu, physical, bytes, &value);
    return value & (UINT64_MAX >> (64 - 8 * bytes));
}

void machine_write(struct cpu *cpu, uint64_t physical, unsigned bytes, uint64_t value)
{
    struct machine *m = cpu->machine;

    if (lapic_mmio_hit(cpu->lapic, physical)) {
        lapic_mmio_write(cpu->lapic, physical & (PAGE - 1), bytes, value);
        return;
    }
    if (page_write(cpu, physical, bytes, value))
        return;
    if (!in_ram(m, physical, bytes) || (physical >= m->rom_start && physical < m->rom_end))
        return;
    memcpy(m->ram + physical, &value, bytes);
    blocks_page_written(m, physical);
}

/* ---- I/O ports ---- */

static uint32_t range_in(const struct port_range *r, struct cpu *cpu, uint16_t port, unsigned bytes)
{
    uint32_t value;

    if (!r || !r->in)
        return UINT32_MAX;
    if (r->timed)
        devices_advance(cpu);
    value = r->in(cpu, port, bytes);
    if (r->timed)
        devices_schedule(cpu);
    return value;
}

static void range_out(const struct port_range *r, struct cpu *cpu, uint16_t port, unsigned bytes,
                      uint32_t value)
{
    if (!r || !r->out)
        return;
    if (r->timed)
        devices_advance(cpu);
    r->out(cpu, port, bytes, value);
    if (r->timed)
        devices_schedule(cpu);
}

static const struct port_range *find_port(uint16_t port)
{
    for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
        if (port >= ports[i].first && port <= ports[i].last)
            return &ports[i];
    return NULL;
}

uint32_t machine_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    const struct port_range *r = find_port(port);
    uint32_t value = 0;

    if (r && r->wide && r->in)
        return range_in(r, cpu, port, bytes);
    for (unsigned i = 0; i < bytes; i++)
        value |= (range_in(find_port(port + i), cpu, port + i, 1) & 0xff) << (8 * i);
    return value;
}

void machine_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    const struct port_range *r = find_port(port);

    if (r && r->wide) {
        range_out(r, cpu, port, bytes, value);
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        range_out(find_port(port + i), cpu, port + i, 1, value >> (8 * i) & 0xff);
}
