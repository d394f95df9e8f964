/*
 * The 8254 timer at 40H-43H and port 61H, which gates its channel 2 and shows its output: what is
 * needed to calibrate a clock. No channel interrupts (channel 0's output leads to the 8259 stub).
 * Counts are derived from simulated time when they are read. Sources: Intel 82C54 data sheet, "Mode
 * Definitions", "Read-Back Command"; Intel ICH data sheets, "NMI Status and Control Register" for
 * port 61H.
 */
#include "sim/dev/internal.h"

#define PIT_HZ          1193182
#define CONTROL_PORT    0x43
#define ACCESS_LATCH    0
#define ACCESS_LOW      1
#define ACCESS_HIGH     2
#define ACCESS_BOTH     3
#define READ_BACK       3
#define MODE_TERMINAL   0
#define MODE_ONE_SHOT   1
#define MODE_RATE       2
#define MODE_SQUARE     3
#define STATUS_OUT      0x80
#define STATUS_NULL     0x40
#define PORT61_GATE2    0x01
#define PORT61_WRITABLE 0x0f
#define PORT61_REFRESH  0x10
#define PORT61_OUT2     0x20
#define REFRESH_TICKS   18 /* a DRAM refresh request each 15.09 us of channel 1 */

void pit_init(struct pit *p)
{
    for (unsigned i = 0; i < 3; i++) {
        p->channel[i].access = ACCESS_BOTH;
        p->channel[i].mode = i == 0 ? MODE_SQUARE : MODE_RATE;
        p->channel[i].reload = 0x10000;
        p->channel[i].gate = i < 2; /* gates 0 and 1 are tied high */
    }
}

/* 8254 clocks since the count was loaded; time with the gate low does not count. */
static uint64_t elapsed(struct cpu *cpu, const struct pit_channel *c)
{
    uint64_t end = c->gate || c->mode == MODE_ONE_SHOT ? machine_time(cpu) : c->stopped;

    return end > c->started ? slots_to_hz(cpu->machine->profile, end - c->started, PIT_HZ) : 0;
}

static uint16_t count(struct cpu *cpu, const struct pit_channel *c)
{
    uint64_t t = elapsed(cpu, c);

    if (!c->reload)
        return 0;
    switch (c->mode) {
    case MODE_RATE:
        return c->reload - t % c->reload;
    case MODE_SQUARE: /* counts by two, twice a period */
        return (c->reload - 2 * t % c->reload) & ~1u;
    default: /* runs on below zero */
        return c->reload - t;
    }
}

static bool output(struct cpu *cpu, const struct pit_channel *c)
{
    uint64_t t = elapsed(cpu, c);

    if (!c->reload)
        return c->mode != MODE_TERMINAL;
    switch (c->mode) {
    case MODE_TERMINAL:
    case MODE_ONE_SHOT:
        return t >= c->reload;
    case MODE_RATE:
        return t % c->reload != c->reload - 1;
    case MODE_SQUARE:
        return t % c->reload < (c->reload + 1) / 2;
    default: /* strobes: low for the one clock at the end of the count */
        return t != c->reload;
    }
}

static void load(struct cpu *cpu, struct pit_channel *c, uint16_t value)
{
    c->reload = value ? value : 0x10000;
    c->started = c->stopped = machine_time(cpu);
}

uint32_t pit_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct pit_channel *c;
    uint16_t value;

    (void)bytes;
    if (port == CONTROL_PORT) /* write-only */
        return 0xff;
    c = &devices_of(cpu)->pit.channel[port & 3];
    if (c->status_latched) {
        c->status_latched = false;
        return c->status;
    }
    value = c->count_latched ? c->latch : count(cpu, c);
    if (c->access == ACCESS_BOTH) {
        bool high = c->read_high_next;
        c->read_high_next = !high;
        if (high)
            c->count_latched = false;
        return high ? value >> 8 : value & 0xff;
    }
    c->count_latched = false;
    return c->access == ACCESS_HIGH ? value >> 8 : value & 0xff;
}

static void latch_count(struct cpu *cpu, struct pit_channel *c)
{
    if (c->count_latched)
        return;
    c->latch = count(cpu, c);
    c->count_latched = true;
}

static void control(struct cpu *cpu, uint8_t word)
{
    struct pit *p = &devices_of(cpu)->pit;
    unsigned select = word >> 6, access = word >> 4 & 3;
    struct pit_channel *c;

    if (select == READ_BACK) {
        for (unsigned i = 0; i < 3; i++) {
            c = &p->channel[i];
            if (!(word & 2 << i))
                continue;
            if (!(word & 0x20))
                latch_count(cpu, c);
            if (!(word & 0x10) && !c->status_latched) {
                c->status = (output(cpu, c) ? STATUS_OUT : 0) | (c->reload ? 0 : STATUS_NULL) |
                            c->access << 4 | c->mode << 1;
                c->status_latched = true;
            }
        }
        return;
    }
    c = &p->channel[select];
    if (access == ACCESS_LATCH) {
        latch_count(cpu, c);
        return;
    }
    c->access = access;
    c->mode = word >> 1 & 7;
    if (c->mode > 5) /* 6 and 7 are 2 and 3 */
        c->mode -= 4;
    c->reload = 0;
    c->write_high_next = c->read_high_next = false;
    c->count_latched = c->status_latched = false;
}

void pit_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct pit_channel *c;

    (void)bytes;
    if (port == CONTROL_PORT) {
        control(cpu, value);
        return;
    }
    c = &devices_of(cpu)->pit.channel[port & 3];
    switch (c->access) {
    case ACCESS_LOW:
        load(cpu, c, value);
        break;
    case ACCESS_HIGH:
        load(cpu, c, value << 8);
        break;
    default:
        if (c->write_high_next)
            load(cpu, c, value << 8 | c->write_low);
        else
            c->write_low = value;
        c->write_high_next = !c->write_high_next;
        break;
    }
}

uint32_t port61_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct pit *p = &devices_of(cpu)->pit;
    uint64_t ticks = slots_to_hz(cpu->profile, cpu->now, PIT_HZ);

    (void)port, (void)bytes;
    return p->port61 | (ticks / REFRESH_TICKS & 1 ? PORT61_REFRESH : 0) |
           (output(cpu, &p->channel[2]) ? PORT61_OUT2 : 0);
}

void port61_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct pit *p = &devices_of(cpu)->pit;
    struct pit_channel *c = &p->channel[2];
    bool gate = value & PORT61_GATE2;

    (void)port, (void)bytes;
    p->port61 = value & PORT61_WRITABLE;
    if (gate && !c->gate) {
        /* A rising gate starts modes 1, 2, 3 and 5 anew; in modes 0 and 4 counting goes on. */
        if (c->mode == MODE_TERMINAL || c->mode == 4)
            c->started += machine_time(cpu) - c->stopped;
        else
            c->started = machine_time(cpu);
    } else if (!gate && c->gate) {
        c->stopped = machine_time(cpu);
    }
    c->gate = gate;
}
