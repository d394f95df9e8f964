/*
 * The high-precision event timer at FED00000H: a counter of 64 bits, three timers. Source: Intel,
 * "IA-PC HPET Specification" 1.0a, "Register Definitions"; sizes and routes as in the ICH data
 * sheets ("High Precision Event Timer Registers"): timer 0 has 64 bits and may be periodic, 1 and 2
 * have 32 bits and may not; pins 20 to 23 of the I/O APIC. No front-side bus delivery.
 */
#include "sim/dev/internal.h"

#define HPET_HZ     14318180
#define PERIOD_FS   69841279ull
#define CAPABILITY  (PERIOD_FS << 32 | HPET_ID)
#define ROUTES      0x00f00000
#define CONF_ENABLE 0x01
#define CONF_LEGACY 0x02

enum {
    GCAP_ID = 0x00,
    GEN_CONF = 0x10,
    GINTR_STA = 0x20,
    MAIN_CNT = 0xf0,
    TIMERS = 0x100,
    TIMER_SIZE = 0x20
};
enum { T_CONF, T_COMPARATOR = 8 };

#define T_LEVEL        (1u << 1)
#define T_INT_ENB      (1u << 2)
#define T_PERIODIC     (1u << 3)
#define T_PERIODIC_CAP (1u << 4)
#define T_SIZE_CAP     (1u << 5)
#define T_VAL_SET      (1u << 6)
#define T_32MODE       (1u << 8)
#define T_ROUTE_SHIFT  9
#define T_ROUTE        (0x1fu << T_ROUTE_SHIFT)
#define T_WRITABLE     (T_LEVEL | T_INT_ENB | T_ROUTE)

static struct hpet *hpet_of(struct cpu *cpu)
{
    return &devices_of(cpu)->hpet;
}

bool hpet_replaces_legacy(struct cpu *cpu)
{
    return (hpet_of(cpu)->conf & (CONF_ENABLE | CONF_LEGACY)) == (CONF_ENABLE | CONF_LEGACY);
}

/* ---- The counter and the matches; time is the tick of the counter's clock since power-on ---- */

static bool running(const struct hpet *h)
{
    return h->conf & CONF_ENABLE;
}

static uint64_t counter(const struct hpet *h, uint64_t tick)
{
    return running(h) ? h->offset + tick : h->offset;
}

static bool wide(const struct hpet_timer *t)
{
    return (t->conf & T_SIZE_CAP) && !(t->conf & T_32MODE);
}

static uint64_t size_mask(const struct hpet_timer *t)
{
    return wide(t) ? UINT64_MAX : UINT32_MAX;
}

/* When the counter comes to the comparator next: not now, but when it has gone round. */
static void arm(const struct hpet *h, struct hpet_timer *t, uint64_t tick)
{
    uint64_t ahead = (t->comparator - counter(h, tick)) & size_mask(t);

    if (!ahead)
        ahead = wide(t) ? NEVER : UINT64_C(1) << 32;
    t->matches = !running(h) || ahead > NEVER - tick ? NEVER : tick + ahead;
}

static void arm_all(struct hpet *h, uint64_t tick)
{
    for (unsigned i = 0; i < HPET_TIMERS; i++)
        arm(h, &h->timer[i], tick);
}

static bool repeats(const struct hpet_timer *t)
{
    return (t->conf & T_PERIODIC) && t->period;
}

/* ---- Interrupts ---- */

/* The I/O APIC's pin; with the legacy replacement the lines of the 8254 and the clock. */
static void set_line(struct cpu *cpu, unsigned n, bool level)
{
    static const uint8_t legacy[] = {0, 8};
    struct hpet_timer *t = &hpet_of(cpu)->timer[n];
    unsigned pin = (t->conf & T_ROUTE) >> T_ROUTE_SHIFT;

    if (level == t->line)
        return;
    t->line = level;
    if (n < sizeof(legacy) && hpet_replaces_legacy(cpu))
        irq_line(cpu, legacy[n], level);
    else if (ROUTES >> pin & 1)
        ioapic_line(cpu, pin, level);
}

static bool heard(struct cpu *cpu, unsigned n)
{
    const struct hpet_timer *t = &hpet_of(cpu)->timer[n];
    unsigned pin = (t->conf & T_ROUTE) >> T_ROUTE_SHIFT;

    if (!(t->conf & T_INT_ENB))
        return false;
    if (n < 2 && hpet_replaces_legacy(cpu))
        return irq_heard(cpu, n == 0 ? 0 : 8);
    return (ROUTES >> pin & 1) && ioapic_hears(cpu, pin);
}

/* An edge is one from low to high: the line stays high up to the next. */
static void match(struct cpu *cpu, unsigned n)
{
    struct hpet *h = hpet_of(cpu);
    struct hpet_timer *t = &h->timer[n];

    if (t->conf & T_LEVEL)
        h->status |= 1u << n;
    if (!(t->conf & T_INT_ENB))
        return;
    if (!(t->conf & T_LEVEL))
        set_line(cpu, n, false);
    set_line(cpu, n, true);
}

void hpet_advance(struct cpu *cpu)
{
    struct hpet *h = hpet_of(cpu);
    uint64_t tick = machine_ticks(cpu, HPET_HZ);

    for (unsigned i = 0; i < HPET_TIMERS; i++) {
        struct hpet_timer *t = &h->timer[i];
        if (t->matches > tick)
            continue;
        if (repeats(
                t)) /* "the value is increased by the last value written", as often as it is due */
            t->comparator =
                (t->comparator + ((tick - t->matches) / t->period + 1) * t->period) & size_mask(t);
        arm(h, t, tick);
        match(cpu, i);
    }
}

uint64_t hpet_next(struct cpu *cpu)
{
    const struct hpet *h = hpet_of(cpu);
    uint64_t next = NEVER;

    for (unsigned i = 0; i < HPET_TIMERS; i++)
        if (h->timer[i].matches < next && heard(cpu, i))
            next = h->timer[i].matches;
    return next == NEVER ? NEVER : machine_when(cpu, next, HPET_HZ);
}

/* ---- Registers: 64 bits, of which 32 may be read or written alone ---- */

static uint64_t read_register(struct cpu *cpu, unsigned reg)
{
    const struct hpet *h = hpet_of(cpu);
    unsigned n = (reg - TIMERS) / TIMER_SIZE;

    switch (reg) {
    case GCAP_ID:
        return CAPABILITY;
    case GEN_CONF:
        return h->conf;
    case GINTR_STA:
        return h->status;
    case MAIN_CNT:
        return counter(h, machine_ticks(cpu, HPET_HZ));
    default:
        break;
    }
    if (reg < TIMERS || n >= HPET_TIMERS)
        return 0;
    switch (reg % TIMER_SIZE) {
    case T_CONF:
        return h->timer[n].conf | (uint64_t)ROUTES << 32;
    case T_COMPARATOR:
        return h->timer[n].comparator;
    default: /* front-side bus: none */
        return 0;
    }
}

static void write_conf(struct cpu *cpu, uint64_t value)
{
    struct hpet *h = hpet_of(cpu);
    uint64_t tick = machine_ticks(cpu, HPET_HZ), now = counter(h, tick);

    for (unsigned i = 0; i < HPET_TIMERS; i++) /* whose lines may be others now */
        set_line(cpu, i, false);
    h->conf = value & (CONF_ENABLE | CONF_LEGACY);
    h->offset = running(h) ? now - tick : now;
    arm_all(h, tick);
    pit_advance(cpu);
    rtc_advance(cpu);
}

static void write_timer_conf(struct cpu *cpu, unsigned n, uint32_t value)
{
    struct hpet *h = hpet_of(cpu);
    struct hpet_timer *t = &h->timer[n];
    uint32_t writable = T_WRITABLE;

    if (t->conf & T_PERIODIC_CAP)
        writable |= T_PERIODIC;
    if (t->conf & T_SIZE_CAP)
        writable |= T_32MODE;
    if (value & T_PERIODIC & writable)
        writable |= T_VAL_SET;
    if (!(value & T_INT_ENB) || ((value ^ t->conf) & (T_ROUTE | T_LEVEL)))
        set_line(cpu, n, false);
    t->conf = (t->conf & (T_PERIODIC_CAP | T_SIZE_CAP)) | (value & writable);
    t->comparator &= size_mask(t);
    arm(h, t, machine_ticks(cpu, HPET_HZ));
    if ((t->conf & T_LEVEL) && (t->conf & T_INT_ENB))
        set_line(cpu, n, h->status >> n & 1);
}

/* "Timer N Comparator": a periodic timer's value is the period, and the comparator itself only
 * after VAL_SET. */
static void write_comparator(struct cpu *cpu, unsigned n, uint64_t value)
{
    struct hpet *h = hpet_of(cpu);
    struct hpet_timer *t = &h->timer[n];

    value &= size_mask(t);
    if (!(t->conf & T_PERIODIC) || (t->conf & T_VAL_SET))
        t->comparator = value;
    if (t->conf & T_PERIODIC)
        t->period = value;
    t->conf &= ~T_VAL_SET;
    arm(h, t, machine_ticks(cpu, HPET_HZ));
}

static void write_register(struct cpu *cpu, unsigned reg, uint64_t value)
{
    struct hpet *h = hpet_of(cpu);
    unsigned n = (reg - TIMERS) / TIMER_SIZE;

    if (reg == GEN_CONF) {
        write_conf(cpu, value);
    } else if (reg == GINTR_STA) {
        for (unsigned i = 0; i < HPET_TIMERS; i++)
            if ((value & h->status) >> i & 1)
                set_line(cpu, i, false);
        h->status &= ~value;
    } else if (reg == MAIN_CNT) { /* "should only be done while the counter is halted" */
        h->offset = running(h) ? value - machine_ticks(cpu, HPET_HZ) : value;
        arm_all(h, machine_ticks(cpu, HPET_HZ));
    } else if (reg >= TIMERS && n < HPET_TIMERS) {
        if (reg % TIMER_SIZE == T_CONF)
            write_timer_conf(cpu, n, value);
        else if (reg % TIMER_SIZE == T_COMPARATOR)
            write_comparator(cpu, n, value);
    }
}

uint64_t hpet_read(struct cpu *cpu, uint32_t offset, unsigned bytes)
{
    uint64_t value = read_register(cpu, offset & ~7u) >> (8 * (offset & 7));

    return value & (UINT64_MAX >> (64 - 8 * bytes));
}

/* A half that is written alone leaves the other as it is. */
void hpet_write(struct cpu *cpu, uint32_t offset, unsigned bytes, uint64_t value)
{
    unsigned reg = offset & ~7u;
    uint64_t old = reg == GINTR_STA ? 0 : read_register(cpu, reg);

    if (bytes == 4 && (offset & 7) == 4)
        value = value << 32 | (old & UINT32_MAX);
    else if (bytes == 4 && reg != GINTR_STA)
        value |= old & ~(uint64_t)UINT32_MAX;
    else if (bytes < 4)
        return; /* "software must not": nothing happens */
    write_register(cpu, reg, value);
}

void hpet_init(struct hpet *h)
{
    for (unsigned i = 0; i < HPET_TIMERS; i++) {
        h->timer[i].matches = NEVER;
        h->timer[i].comparator = size_mask(&h->timer[i]);
    }
    h->timer[0].conf = T_PERIODIC_CAP | T_SIZE_CAP;
    h->timer[0].comparator = UINT64_MAX;
}
