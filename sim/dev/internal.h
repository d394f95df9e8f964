/* Between the device models of sim/dev; not for others. */
#ifndef PMUSIM_DEV_INTERNAL_H
#define PMUSIM_DEV_INTERNAL_H

#include "sim/dev/dev.h"

/* ---- I/O ports: one byte at a time unless a device says otherwise ---- */

/* A device answers for the ports first..last. bytes is 1, 2 or 4; a device that knows only bytes is
 * asked once for each byte (wide = false), as an 8-bit device on the ISA bus is. */
struct port_range {
    uint16_t first, last;
    bool wide;
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
uint32_t cmos_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void cmos_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t fw_cfg_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void fw_cfg_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
uint32_t platform_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void platform_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);
void debug_exit_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);

/* ---- State, all in machine->devices ---- */

#define UART_BASE 0x3f8
#define UART_FIFO 16

struct uart {
    uint8_t ier, fcr, lcr, mcr, scratch;
    uint16_t divisor;
    uint8_t rx[UART_FIFO];
    unsigned rx_head, rx_count;
    bool overrun;
    bool thre_interrupt; /* "transmitter empty" not yet seen by a read of IIR */
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
    uint8_t write_low;    /* low byte that waits for the high one */
    bool write_high_next, read_high_next;
    bool status_latched, count_latched;
    uint8_t status;
    uint16_t latch;
    uint32_t reload;  /* 1 to 65536; 0: no count written since the control word */
    uint64_t started; /* value of now when counting began */
    uint64_t stopped; /* with the gate low: value of now when it fell */
    bool gate;
};
struct pit {
    struct pit_channel channel[3];
    uint8_t port61;
};
void pit_init(struct pit *p);

struct pic {
    uint8_t mask, vector, icw4;
    uint8_t icw_next; /* 0: OCW1 at the odd port; else which ICW comes there */
    bool single, needs_icw4;
};

struct devices {
    struct uart uart;
    struct pit pit;
    struct pic pic[2];
    uint8_t cmos_index;
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
/* Could the timer's next expiry wake the processor from HLT (unmasked, above the processor
 * priority)? */
bool lapic_timer_wakes(struct lapic *l);

#endif
