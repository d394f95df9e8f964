/*
 * The I/O APIC at FEC00000H, 24 pins. Sources: Intel 82093AA data sheet (290566), "Register
 * Description"; Intel ICH data sheets, "Advanced Programmable Interrupt Controller (APIC)", for the
 * EOI register that version 20H has.
 *
 * Pin 0 is the 8259s' INT, pin 2 is IRQ 0; the other ISA lines are at their own numbers.
 */
#include "sim/dev/internal.h"
#include "x86/apic.h"

#define INDEX    0x00
#define WINDOW   0x10
#define EOI      0x40
#define VERSION  (0x20 | (IOAPIC_PINS - 1) << 16)
#define ID_SHIFT 24
#define ID_BITS  0x0f

enum { REGISTER_ID, REGISTER_VERSION, REGISTER_ARBITRATION, REGISTER_ENTRIES = 0x10 };

/* The redirection table's entry. */
#define ENTRY_VECTOR     0xff
#define ENTRY_MODE_SHIFT 8
#define ENTRY_LOGICAL    (1 << 11)
#define ENTRY_ACTIVE_LOW (1 << 13)
#define ENTRY_REMOTE_IRR (1 << 14)
#define ENTRY_LEVEL      (1 << 15)
#define ENTRY_MASK       (1 << 16)
#define ENTRY_WRITABLE   0xff0000000001afffull
#define ENTRY_TO_SHIFT   56

static struct ioapic *ioapic_of(struct cpu *cpu)
{
    return &devices_of(cpu)->ioapic;
}

static bool asserted(const struct ioapic *io, unsigned pin)
{
    return (io->lines >> pin & 1) != !!(io->entry[pin] & ENTRY_ACTIVE_LOW);
}

static bool message(struct cpu *cpu, uint64_t entry)
{
    return lapic_message(cpu, entry >> ENTRY_MODE_SHIFT & 7, entry & ENTRY_VECTOR,
                         entry & ENTRY_LOGICAL, entry >> ENTRY_TO_SHIFT, entry & ENTRY_LEVEL);
}

/* A level asks for as long as it lasts, but not while one that was accepted awaits its EOI. */
static void ask(struct cpu *cpu, unsigned pin)
{
    uint64_t *entry = &ioapic_of(cpu)->entry[pin];

    if (!(*entry & ENTRY_LEVEL) || (*entry & (ENTRY_MASK | ENTRY_REMOTE_IRR)) ||
        !asserted(ioapic_of(cpu), pin))
        return;
    if (message(cpu, *entry))
        *entry |= ENTRY_REMOTE_IRR;
}

/* "Interrupt Mask": an edge on a masked pin is ignored. */
void ioapic_line(struct cpu *cpu, unsigned pin, bool level)
{
    struct ioapic *io = ioapic_of(cpu);
    uint64_t entry = io->entry[pin];
    bool was = asserted(io, pin);

    io->lines = (io->lines & ~(1u << pin)) | (uint32_t)level << pin;
    if (entry & ENTRY_LEVEL)
        ask(cpu, pin);
    else if (!was && asserted(io, pin) && !(entry & ENTRY_MASK))
        message(cpu, entry);
}

bool ioapic_hears(struct cpu *cpu, unsigned pin)
{
    return !(ioapic_of(cpu)->entry[pin] & ENTRY_MASK);
}

bool ioapic_open(struct cpu *cpu)
{
    for (unsigned i = 0; i < IOAPIC_PINS; i++)
        if (ioapic_hears(cpu, i))
            return true;
    return false;
}

void ioapic_eoi(struct cpu *cpu, uint8_t vector)
{
    struct ioapic *io = ioapic_of(cpu);

    for (unsigned i = 0; i < IOAPIC_PINS; i++) {
        if (!(io->entry[i] & ENTRY_LEVEL) || (io->entry[i] & ENTRY_VECTOR) != vector)
            continue;
        io->entry[i] &= ~(uint64_t)ENTRY_REMOTE_IRR;
        ask(cpu, i);
    }
}

/* ---- Registers ---- */

static uint32_t read_register(const struct ioapic *io)
{
    unsigned n = io->index - REGISTER_ENTRIES;

    switch (io->index) {
    case REGISTER_ID:
    case REGISTER_ARBITRATION: /* "is loaded when the ID register is written" */
        return (uint32_t)io->id << ID_SHIFT;
    case REGISTER_VERSION:
        return VERSION;
    default:
        if (io->index < REGISTER_ENTRIES || n >= 2 * IOAPIC_PINS)
            return UINT32_MAX;
        return io->entry[n / 2] >> (n & 1 ? 32 : 0);
    }
}

static void write_entry(struct cpu *cpu, unsigned pin, bool high, uint32_t value)
{
    uint64_t *entry = &ioapic_of(cpu)->entry[pin];
    uint64_t half = high ? 0xffffffff00000000 : 0xffffffff;
    uint64_t writable = ENTRY_WRITABLE & half;

    *entry = (*entry & ~writable) | (((uint64_t)value << (high ? 32 : 0)) & writable);
    /* "Remote IRR": "undefined for edge triggered interrupts"; a level begins anew. */
    if (!(*entry & ENTRY_LEVEL))
        *entry &= ~(uint64_t)ENTRY_REMOTE_IRR;
    ask(cpu, pin);
}

static void write_register(struct cpu *cpu, uint32_t value)
{
    struct ioapic *io = ioapic_of(cpu);
    unsigned n = io->index - REGISTER_ENTRIES;

    if (io->index == REGISTER_ID)
        io->id = value >> ID_SHIFT & ID_BITS;
    else if (io->index >= REGISTER_ENTRIES && n < 2 * IOAPIC_PINS)
        write_entry(cpu, n / 2, n & 1, value);
}

uint64_t ioapic_read(struct cpu *cpu, uint32_t offset, unsigned bytes)
{
    const struct ioapic *io = ioapic_of(cpu);

    (void)bytes;
    return offset == INDEX ? io->index : offset == WINDOW ? read_register(io) : UINT32_MAX;
}

void ioapic_write(struct cpu *cpu, uint32_t offset, unsigned bytes, uint64_t value)
{
    (void)bytes;
    if (offset == INDEX)
        ioapic_of(cpu)->index = value;
    else if (offset == WINDOW)
        write_register(cpu, value);
    else if (offset == EOI)
        ioapic_eoi(cpu, value);
}

void ioapic_init(struct ioapic *io, unsigned id)
{
    io->id = id;
    for (unsigned i = 0; i < IOAPIC_PINS; i++)
        io->entry[i] = ENTRY_MASK;
}
