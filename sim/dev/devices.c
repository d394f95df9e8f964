/*
 * The devices' time and interrupts. A device says when it wants to be brought up to date next, in
 * the machine's time; whichever processor comes there first does it. In between nothing runs. Only
 * what somebody would notice has a point of time of its own: the state of the rest is worked out
 * when it is looked at.
 */
#include "sim/dev/internal.h"

static const struct {
    void (*advance)(struct cpu *cpu);
    uint64_t (*next)(struct cpu *cpu);
} timed[] = {
    {pit_advance, pit_next},   {rtc_advance, rtc_next},         {uart_advance, uart_next},
    {hpet_advance, hpet_next}, {acpi_pm_advance, acpi_pm_next},
};
#define N_TIMED (sizeof(timed) / sizeof(timed[0]))

uint64_t machine_ticks(const struct cpu *cpu, uint64_t hz)
{
    return slots_to_hz(cpu->machine->profile, machine_time(cpu), hz);
}

uint64_t machine_when(const struct cpu *cpu, uint64_t tick, uint64_t hz)
{
    return hz_to_slots(cpu->machine->profile, tick, hz);
}

void devices_advance(struct cpu *cpu)
{
    for (unsigned i = 0; i < N_TIMED; i++)
        timed[i].advance(cpu);
}

void devices_schedule(struct cpu *cpu)
{
    struct devices *d = devices_of(cpu);

    d->next = NEVER;
    for (unsigned i = 0; i < N_TIMED; i++) {
        uint64_t t = timed[i].next(cpu);
        d->next = t < d->next ? t : d->next;
    }
    cpu_reschedule(cpu);
}

/* IRQ 0 is at pin 2 of the I/O APIC, because pin 0 is the 8259s' own. */
static unsigned pin_of(unsigned irq)
{
    return irq == 0 ? 2 : irq;
}

void irq_line(struct cpu *cpu, unsigned irq, bool level)
{
    pic_line(cpu, irq, level);
    ioapic_line(cpu, pin_of(irq), level);
}

bool irq_heard(struct cpu *cpu, unsigned irq)
{
    return pic_hears(cpu, irq) || ioapic_hears(cpu, pin_of(irq));
}

void intr_line(struct cpu *cpu, bool level)
{
    lapic_lint0(cpu, level);
    ioapic_line(cpu, 0, level);
}
