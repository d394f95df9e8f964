/*
 * The fixed hardware of ACPI and the reset register. Sources: ACPI Specification, "ACPI Hardware
 * Specification": "PM1 Event Grouping", "PM1 Control Grouping", "Power Management Timer"; Intel ICH
 * data sheets, "RST_CNT Reset Control Register" for port CF9H; IBM AT Technical Reference, "8042",
 * of which there is only the line that resets the processor.
 *
 * ACPI mode is on from the beginning: there is no SMI command port. The power button is never
 * pressed, and nothing sleeps but for good (S5). The system control interrupt is IRQ 9, a level.
 */
#include "sim/dev/internal.h"

#define PM_TIMER_HZ 3579545
#define TMR_STS     0x0001
#define EN_BITS     0x0721 /* timer, global lock, buttons, clock: the last three never come */
#define SCI_EN      0x0001
#define CNT_BITS    0x1c03 /* SCI_EN, BM_RLD, SLP_TYP */
#define SLP_TYP(x)  ((x) >> 10 & 7)
#define SLP_EN      0x2000
#define HALF_PERIOD (1u << 31) /* TMR_STS: each change of the timer's highest bit */

#define KEYBOARD_COMMAND 0x64
#define PULSE_RESET      0xfe
#define RESET_CPU        0x04
#define RESET_BITS       0x0e

enum { PM1_STS = 0, PM1_EN = 2, PM1_CNT = 4, PM_TMR = 8 };

static struct acpi_pm *pm_of(struct cpu *cpu)
{
    return &devices_of(cpu)->acpi_pm;
}

static void set_line(struct cpu *cpu)
{
    struct acpi_pm *pm = pm_of(cpu);
    bool line = pm->status & pm->enable;

    if (line != pm->line)
        irq_line(cpu, ACPI_SCI_IRQ, line);
    pm->line = line;
}

void acpi_pm_advance(struct cpu *cpu)
{
    struct acpi_pm *pm = pm_of(cpu);
    uint64_t halves = machine_ticks(cpu, PM_TIMER_HZ) / HALF_PERIOD;

    if (halves > pm->halves) {
        pm->halves = halves;
        pm->status |= TMR_STS;
    }
    set_line(cpu);
}

uint64_t acpi_pm_next(struct cpu *cpu)
{
    const struct acpi_pm *pm = pm_of(cpu);

    if (pm->line || !(pm->enable & TMR_STS) || !irq_heard(cpu, ACPI_SCI_IRQ))
        return NEVER;
    return machine_when(cpu, (pm->halves + 1) * HALF_PERIOD, PM_TIMER_HZ);
}

/* The 16-bit registers, and the timer's 32 bits, as bytes. */
static uint32_t read_register(struct cpu *cpu, unsigned reg)
{
    const struct acpi_pm *pm = pm_of(cpu);

    switch (reg) {
    case PM1_STS:
        return pm->status;
    case PM1_EN:
        return pm->enable;
    case PM1_CNT:
        return pm->control | SCI_EN;
    case PM_TMR:
        return machine_ticks(cpu, PM_TIMER_HZ);
    default:
        return 0;
    }
}

uint32_t acpi_pm_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    unsigned offset = port - ACPI_PM_BASE;
    uint32_t value = 0;

    for (unsigned i = 0; i < bytes; i++, offset++) {
        unsigned reg = offset >= PM_TMR ? PM_TMR : offset & ~1u;
        uint32_t byte = 0xff; /* behind the timer there is nothing */
        if (offset - reg < sizeof(uint32_t))
            byte = read_register(cpu, reg) >> (8 * (offset - reg)) & 0xff;
        value |= byte << (8 * i);
    }
    return value;
}

static void write_byte(struct cpu *cpu, unsigned offset, uint8_t value)
{
    struct acpi_pm *pm = pm_of(cpu);
    unsigned shift = 8 * (offset & 1);
    uint16_t at = value << shift, others = 0xff00 >> shift;

    switch (offset & ~1u) {
    case PM1_STS: /* a written 1 clears */
        pm->status &= ~at;
        break;
    case PM1_EN:
        pm->enable = ((pm->enable & others) | at) & EN_BITS;
        break;
    case PM1_CNT:
        pm->control = ((pm->control & others) | at) & CNT_BITS;
        if ((at & SLP_EN) && SLP_TYP(pm->control) == ACPI_S5_TYPE)
            machine_stop(cpu->machine, STOP_POWER_OFF);
        break;
    default:
        break;
    }
}

void acpi_pm_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        write_byte(cpu, port - ACPI_PM_BASE + i, value >> (8 * i));
    set_line(cpu);
}

/* ---- Reset ---- */

uint32_t reset_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    (void)bytes;
    return port == KEYBOARD_COMMAND ? 0xff : devices_of(cpu)->reset_control;
}

void reset_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct devices *d = devices_of(cpu);
    bool resets = value == PULSE_RESET;

    (void)bytes;
    if (port != KEYBOARD_COMMAND) { /* the reset comes with RST_CPU's rising edge */
        resets = (value & ~(uint32_t)d->reset_control) & RESET_CPU;
        d->reset_control = value & RESET_BITS;
    }
    if (resets)
        machine_stop(cpu->machine, STOP_RESET);
}
