/*
 * The 8254 timer at 40H-43H, its channel 0 on IRQ 0, and port 61H, which gates channel 2 and shows
 * its output. Sources: Intel 82C54 data sheet (231244), "Mode Definitions", "Read-Back Command";
 * Intel ICH data sheets, "NMI Status and Control Register" for port 61H.
 *
 * Time is the tick of the 8254's own clock, counted from power-on. Nothing runs between two
 * accesses: a channel knows when its output changes next, and is brought up to date before it is
 * looked at.
 */
#include "sim/dev/internal.h"

#define PIT_HZ          1193182
#define CONTROL_PORT    0x43
#define ACCESS_LATCH    0
#define ACCESS_LOW      1
#define ACCESS_HIGH     2
#define ACCESS_BOTH     3
#define READ_BACK       3
#define CONTROL_BCD     0x01
#define STATUS_OUT      0x80
#define STATUS_NULL     0x40
#define PORT61_GATE2    0x01
#define PORT61_WRITABLE 0x0f
#define PORT61_REFRESH  0x10
#define PORT61_OUT2     0x20
#define REFRESH_TICKS   18 /* a DRAM refresh request each 15.09 us of channel 1 */
#define TIMER_IRQ       0

enum { TERMINAL_COUNT, ONE_SHOT, RATE, SQUARE, SOFTWARE_STROBE, HARDWARE_STROBE };

static uint64_t tick_of(struct cpu *cpu)
{
    return machine_ticks(cpu, PIT_HZ);
}

/* ---- Counting ---- */

/* For how long the output stays as it is, in a mode that repeats. */
static uint32_t half(const struct pit_channel *c)
{
    if (c->mode == RATE)
        return c->out ? c->loaded - 1 : 1;
    return c->out ? (c->loaded + 1) / 2 : c->loaded / 2;
}

static bool repeats(const struct pit_channel *c)
{
    return c->mode == RATE || c->mode == SQUARE;
}

/* The counting element takes the count at this tick. */
static void begin(struct pit_channel *c, uint64_t tick)
{
    c->loaded = c->count;
    c->waits = false;
    c->started = tick;
    c->held = NEVER;
    if (repeats(c))
        c->changes = tick + half(c);
    else if (c->mode == ONE_SHOT && c->out) /* low from here on */
        c->changes = tick;
    else
        c->changes = tick + c->loaded;
}

/* The output changes, at c->changes. */
static void change(struct pit_channel *c)
{
    uint64_t at = c->changes;

    c->out = !c->out;
    c->rose |= c->out;
    c->changes = NEVER;
    switch (c->mode) {
    case ONE_SHOT:
        if (!c->out)
            c->changes = at + c->loaded;
        break;
    case RATE: /* the count is loaded with the end of the pulse */
        if (c->out)
            begin(c, at);
        else
            c->changes = at + half(c);
        break;
    case SQUARE: /* and here with each edge */
        begin(c, at);
        break;
    case SOFTWARE_STROBE:
    case HARDWARE_STROBE:
        if (!c->out)
            c->changes = at + 1;
        break;
    default:
        break;
    }
}

static void advance(struct pit_channel *c, uint64_t tick)
{
    if (c->held != NEVER)
        return;
    /* Whole periods at once. */
    if (c->changes <= tick && repeats(c) && !c->waits) {
        uint64_t skipped = (tick - c->changes) / c->loaded * c->loaded;
        c->started += skipped;
        c->changes += skipped;
        c->rose |= skipped != 0;
    }
    while (c->changes <= tick)
        change(c);
}

static void set_out(struct pit_channel *c, bool out)
{
    c->rose |= out && !c->out;
    c->out = out;
}

/* "Writing": a new count, complete. The next clock loads it, or the one after a trigger. */
static void load(struct pit_channel *c, uint16_t value, uint64_t tick)
{
    c->count = value ? value : 0x10000;
    if (c->bcd && !value)
        c->count = 10000;
    else if (c->bcd)
        c->count =
            (value >> 12) * 1000 + (value >> 8 & 15) * 100 + (value >> 4 & 15) * 10 + (value & 15);
    c->waits = true;
    if (c->mode == TERMINAL_COUNT || c->mode == SOFTWARE_STROBE) {
        set_out(c, c->mode == SOFTWARE_STROBE);
        begin(c, tick + 1);
        if (!c->gate)
            c->held = tick + 1;
    } else if (repeats(c) && !c->loaded && c->gate) {
        begin(c, tick + 1); /* one that counts goes on to the end of its period or half */
    }
}

/* "Gate Pin Operations Summary". */
static void set_gate(struct pit_channel *c, bool gate, uint64_t tick)
{
    bool rises = gate && !c->gate, falls = !gate && c->gate;

    c->gate = gate;
    if (c->mode == TERMINAL_COUNT || c->mode == SOFTWARE_STROBE) {
        if (falls && c->loaded) {
            c->held = tick;
        } else if (rises && c->held != NEVER) {
            uint64_t pause = tick > c->held ? tick - c->held : 0;
            c->started += pause;
            c->changes += c->changes == NEVER ? 0 : pause;
            c->held = NEVER;
        }
    } else if (falls && repeats(c)) {
        set_out(c, true);
        c->held = tick;
    } else if (rises && c->count) {
        begin(c, tick + 1);
    }
}

static uint16_t bcd(unsigned n)
{
    return n / 1000 << 12 | n / 100 % 10 << 8 | n / 10 % 10 << 4 | n % 10;
}

static uint16_t count(const struct pit_channel *c, uint64_t tick)
{
    uint64_t end = tick < c->held ? tick : c->held;
    uint64_t t = end > c->started ? end - c->started : 0;
    uint64_t value = c->mode == SQUARE ? (c->loaded & ~1u) - 2 * t : c->loaded - t;

    /* Those that do not repeat run on below zero. */
    if (c->bcd)
        return bcd((c->loaded + 10000 - t % 10000) % 10000);
    return value;
}

/* ---- Registers ---- */

static struct pit *pit_of(struct cpu *cpu)
{
    return &devices_of(cpu)->pit;
}

static void latch_count(struct pit_channel *c, uint64_t tick)
{
    if (c->count_latched)
        return;
    c->latch = count(c, tick);
    c->count_latched = true;
}

/* "Read-Back Command": null count is set while a count written is not yet in the counting element.
 */
static void latch_status(struct pit_channel *c, uint64_t tick)
{
    bool null = !c->count || c->waits || tick < c->started;

    if (c->status_latched)
        return;
    c->status = (c->out ? STATUS_OUT : 0) | (null ? STATUS_NULL : 0) | c->access << 4 |
                c->mode << 1 | c->bcd;
    c->status_latched = true;
}

static void read_back(struct pit *p, uint8_t word, uint64_t tick)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!(word & 2 << i))
            continue;
        if (!(word & 0x20))
            latch_count(&p->channel[i], tick);
        if (!(word & 0x10))
            latch_status(&p->channel[i], tick);
    }
}

static void control(struct pit *p, uint8_t word, uint64_t tick)
{
    unsigned select = word >> 6, access = word >> 4 & 3;
    struct pit_channel *c = &p->channel[select];

    if (select == READ_BACK) {
        read_back(p, word, tick);
        return;
    }
    if (access == ACCESS_LATCH) {
        latch_count(c, tick);
        return;
    }
    c->access = access;
    c->mode = word >> 1 & 7;
    if (c->mode > HARDWARE_STROBE) /* 6 and 7 are 2 and 3 */
        c->mode -= 4;
    c->bcd = word & CONTROL_BCD;
    c->count = c->loaded = 0;
    c->changes = c->held = NEVER;
    c->waits = c->write_high_next = c->read_high_next = false;
    c->count_latched = c->status_latched = false;
    set_out(c, c->mode != TERMINAL_COUNT);
}

static void write_count(struct pit_channel *c, uint8_t value, uint64_t tick)
{
    if (c->access != ACCESS_BOTH) {
        load(c, c->access == ACCESS_LOW ? value : value << 8, tick);
        return;
    }
    c->write_high_next = !c->write_high_next;
    if (!c->write_high_next) {
        load(c, value << 8 | c->write_low, tick);
        return;
    }
    c->write_low = value;
    /* "Mode 0": "Writing the first byte disables counting. Out is set low immediately." */
    if (c->mode == TERMINAL_COUNT) {
        set_out(c, false);
        c->changes = NEVER;
    }
}

static uint8_t read_count(struct pit_channel *c, uint64_t tick)
{
    uint16_t value = c->count_latched ? c->latch : count(c, tick);
    bool high = c->access == ACCESS_HIGH;

    if (c->status_latched) {
        c->status_latched = false;
        return c->status;
    }
    if (c->access == ACCESS_BOTH) {
        high = c->read_high_next;
        c->read_high_next = !high;
    }
    if (high || c->access != ACCESS_BOTH)
        c->count_latched = false;
    return high ? value >> 8 : value & 0xff;
}

uint32_t pit_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    (void)bytes;
    if (port == CONTROL_PORT) /* write-only */
        return 0xff;
    return read_count(&pit_of(cpu)->channel[port & 3], tick_of(cpu));
}

void pit_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    (void)bytes;
    if (port == CONTROL_PORT)
        control(pit_of(cpu), value, tick_of(cpu));
    else
        write_count(&pit_of(cpu)->channel[port & 3], value, tick_of(cpu));
    pit_advance(cpu);
}

uint32_t port61_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct pit *p = pit_of(cpu);

    (void)port, (void)bytes;
    return p->port61 | (tick_of(cpu) / REFRESH_TICKS & 1 ? PORT61_REFRESH : 0) |
           (p->channel[2].out ? PORT61_OUT2 : 0);
}

void port61_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct pit *p = pit_of(cpu);

    (void)port, (void)bytes;
    p->port61 = value & PORT61_WRITABLE;
    set_gate(&p->channel[2], value & PORT61_GATE2, tick_of(cpu));
}

/* ---- Time ---- */

void pit_advance(struct cpu *cpu)
{
    struct pit *p = pit_of(cpu);
    struct pit_channel *timer = &p->channel[0];
    uint64_t tick = tick_of(cpu);

    for (unsigned i = 0; i < 3; i++)
        advance(&p->channel[i], tick);
    bool line = timer->out && !hpet_replaces_legacy(cpu);
    if (line && timer->rose)
        irq_line(cpu, TIMER_IRQ, p->line = false);
    if (line != p->line)
        irq_line(cpu, TIMER_IRQ, line);
    timer->rose = false;
    p->line = line;
}

uint64_t pit_next(struct cpu *cpu)
{
    const struct pit_channel *timer = &pit_of(cpu)->channel[0];

    if (timer->changes == NEVER || !irq_heard(cpu, TIMER_IRQ) || hpet_replaces_legacy(cpu))
        return NEVER;
    return machine_when(cpu, timer->changes, PIT_HZ);
}

/* As firmware leaves it: channel 0 as the clock of 18.2 Hz, channel 1 refreshes memory. */
void pit_init(struct pit *p)
{
    for (unsigned i = 0; i < 3; i++) {
        struct pit_channel *c = &p->channel[i];
        c->access = ACCESS_BOTH;
        c->mode = i == 0 ? SQUARE : RATE;
        c->out = true;
        c->changes = c->held = NEVER;
        c->gate = i < 2; /* gates 0 and 1 are tied high */
        c->count = i == 1 ? REFRESH_TICKS : 0x10000;
        if (c->gate)
            begin(c, 0);
    }
}
