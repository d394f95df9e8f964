/* Between the device models of sim/dev; not for others. */
#ifndef PMUSIM_DEV_INTERNAL_H
#define PMUSIM_DEV_INTERNAL_H

#include "sim/dev/dev.h"

/* ---- I/O ports: one byte at a time unless a device says otherwise ---- */

/* A device answers for the ports first..last. bytes is 1, 2 or 4; a device that knows only bytes is
 * asked once for each byte (wide = false), as an 8-bit device on the ISA bus is. timed: it goes by
 * the time, or interrupts. */
struct port_range {
    uint16_t first, last;
    bool wide, timed;
    uint32_t (*in)(struct cpu *cpu, uint16_t port, unsigned bytes);
    void (*out)(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
};

uint32_t uart_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void uart_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t pit_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void pit_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t port61_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void port61_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t pic_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void pic_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t elcr_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void elcr_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t rtc_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void rtc_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t fw_cfg_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void fw_cfg_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t platform_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void platform_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t acpi_pm_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void acpi_pm_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t reset_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void reset_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
void debug_exit_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);

/* ---- Pages of memory that are devices ---- */

uint64_t ioapic_read(struct cpu *cpu, uint32_t offset, unsigned bytes);
void ioapic_write(struct cpu *cpu, uint32_t offset, unsigned bytes, uint64_t value);
uint64_t hpet_read(struct cpu *cpu, uint32_t offset, unsigned bytes);
void hpet_write(struct cpu *cpu, uint32_t offset, unsigned bytes, uint64_t value);

/* ---- Time and interrupts (devices.c) ---- */

#define NEVER UINT64_MAX

/* Ticks of a clock of hz since power-on; the machine's time at which it has made that many. */
uint64_t machine_ticks(const struct cpu *cpu, uint64_t hz);
uint64_t machine_when(const struct cpu *cpu, uint64_t tick, uint64_t hz);

/* An ISA interrupt line; cpu is the processor whose doing it is, or that came first to this point
 * of time. */
void irq_line(struct cpu *cpu, unsigned irq, bool level);
/* Would a change of the line be seen now? A device whose interrupt nobody hears need not say when
 * it comes next: it is brought up to date when somebody looks. */
bool irq_heard(struct cpu *cpu, unsigned irq);

/* Brings all devices up to the processor's time, before they are looked at or changed; says anew
 * when they want it next, afterwards. */
void devices_advance(struct cpu *cpu);
void devices_schedule(struct cpu *cpu);

/* Of each device: both, for itself; the next time is the machine's. */
void pit_advance(struct cpu *cpu);
uint64_t pit_next(struct cpu *cpu);
void rtc_advance(struct cpu *cpu);
uint64_t rtc_next(struct cpu *cpu);
void uart_advance(struct cpu *cpu);
uint64_t uart_next(struct cpu *cpu);
void hpet_advance(struct cpu *cpu);
uint64_t hpet_next(struct cpu *cpu);
void acpi_pm_advance(struct cpu *cpu);
uint64_t acpi_pm_next(struct cpu *cpu);

/* The inputs of the interrupt controllers, and the 8259s' output. */
void pic_line(struct cpu *cpu, unsigned irq, bool high);
void ioapic_line(struct cpu *cpu, unsigned pin, bool level);
void intr_line(struct cpu *cpu, bool level);
bool ioapic_hears(struct cpu *cpu, unsigned pin);
/* Is any pin not masked? */
bool ioapic_open(struct cpu *cpu);
/* A local APIC's EOI message. */
void ioapic_eoi(struct cpu *cpu, uint8_t vector);
/* An interrupt message to the local APICs; false: nobody accepted it. */
bool lapic_message(struct cpu *from, unsigned mode, uint8_t vector, bool logical, uint8_t to,
                   bool level);
/* Does the HPET stand for the 8254 and the clock? */
bool hpet_replaces_legacy(struct cpu *cpu);

/* ---- State, all in machine->devices ---- */

#define UART_BASE 0x3f8
#define UART_FIFO 16

struct uart {
    uint8_t ier, fcr, lcr, mcr, scratch;
    uint16_t divisor;
    uint8_t rx[UART_FIFO];
    unsigned rx_head, rx_count;
    uint8_t modem_changes; /* MSR 3:0 */
    bool overrun;
    bool thre_interrupt; /* "transmitter empty" not yet seen by a read of IIR */
    bool line;           /* IRQ 4 */
    /* Points of the machine's time; NEVER. */
    uint64_t empties; /* the transmitter will say that it is empty */
    uint64_t asks;    /* the host will be asked for input */
    uint64_t stale;   /* what is in the receiver's FIFO has been there for long */
    bool input_ended;
    bool sent;    /* since the guest last looked at the line */
    bool held_cr; /* a CR sent, not yet known whether LF follows */
    size_t out_length;
    char out[1 << 16];
};
void uart_init(struct uart *u);
/* Gives the host what the guest has sent so far; false: it does not take it. */
bool uart_flush(struct machine *m, struct uart *u);

struct pit_channel {
    uint8_t mode, access; /* the control word's M and RW fields */
    bool bcd;
    uint8_t write_low; /* low byte that waits for the high one */
    bool write_high_next, read_high_next;
    bool status_latched, count_latched;
    uint8_t status;
    uint16_t latch;
    uint32_t count;  /* the last one written, 1 to 65536; 0: none since the control word */
    uint32_t loaded; /* what the counting element began with; 0: none */
    bool waits;      /* count is not yet loaded */
    bool gate, out;
    bool rose;        /* out has gone from low to high since somebody looked */
    uint64_t started; /* the tick at which loaded was loaded */
    uint64_t changes; /* the tick at which out will change; NEVER */
    uint64_t held;    /* the tick at which the gate stopped the count; NEVER: it runs */
};
struct pit {
    struct pit_channel channel[3];
    uint8_t port61;
    bool line; /* IRQ 0 */
};
void pit_init(struct pit *p);

struct pic {
    uint8_t irr, isr, imr;
    uint8_t inputs; /* levels now */
    uint8_t elcr;   /* inputs triggered by their level */
    uint8_t vector, icw4;
    uint8_t icw_next; /* 0: OCW1 at the odd port; else which ICW comes there */
    uint8_t lowest;   /* the level of lowest priority */
    bool level_all, single, needs_icw4;
    bool special_mask, rotates, poll, reads_isr;
};
void pic_init(struct pic *p);
bool pic_hears(struct cpu *cpu, unsigned irq);
/* The processor's INTA: the vector. */
uint8_t pic_acknowledge(struct cpu *cpu);

struct rtc {
    uint8_t index;
    uint8_t memory[128];
    bool line;      /* IRQ 8 */
    uint64_t at;    /* ticks up to which it has been brought */
    unsigned phase; /* ticks to be added to those since power-on, so that seconds begin at 0 */
};
void rtc_init(struct rtc *r, uint64_t ram_size);

#define IOAPIC_PINS 24
struct ioapic {
    uint8_t index, id;
    uint32_t lines; /* levels of the pins */
    uint64_t entry[IOAPIC_PINS];
};
void ioapic_init(struct ioapic *io, unsigned id);

#define HPET_TIMERS 3
struct hpet_timer {
    uint32_t conf;
    uint64_t comparator, period;
    uint64_t matches; /* the tick at which the counter comes to the comparator; NEVER */
    bool line;
};
struct hpet {
    uint8_t conf, status;
    uint64_t offset; /* the counter, less the ticks since power-on while it runs */
    struct hpet_timer timer[HPET_TIMERS];
};
void hpet_init(struct hpet *h);

struct acpi_pm {
    uint16_t status, enable, control;
    uint64_t halves; /* of the timer's periods, over when somebody looked last */
    bool line;       /* the system control interrupt */
};

struct devices {
    uint64_t next; /* the machine's time at which a device wants to be brought up to date; NEVER */
    struct uart uart;
    struct pit pit;
    struct pic pic[2];
    struct rtc rtc;
    struct ioapic ioapic;
    struct hpet hpet;
    struct acpi_pm acpi_pm;
    uint8_t reset_control;
    uint8_t port80, port92;
    uint32_t pci_address;
    uint16_t fw_cfg_key;
    uint32_t fw_cfg_offset;
};
static inline struct devices *devices_of(struct cpu *cpu)
{
    return cpu->machine->devices;
}

/* ---- Local APIC ---- */

/* The xAPIC page, when the processor has it enabled in xAPIC mode; false: no such page. */
bool lapic_mmio_hit(const struct lapic *l, uint64_t physical);
uint64_t lapic_mmio_read(struct lapic *l, uint32_t offset, unsigned bytes);
void lapic_mmio_write(struct lapic *l, uint32_t offset, unsigned bytes, uint64_t value);
/* The level of LINT0 of processor 0, to which the 8259s are wired, after it may have changed by
 * what from does. */
void lapic_lint0(struct cpu *from, bool level);
/* Could an interrupt of a device reach this processor? */
bool lapic_hears_devices(const struct lapic *l);
/* Could the timer's next expiry wake the processor from HLT (unmasked, above the processor
 * priority)? */
bool lapic_timer_wakes(struct lapic *l);

#endif
