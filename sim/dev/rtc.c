/*
 * The clock with its memory at 70H and 71H, on IRQ 8. Source: Motorola MC146818A data sheet, whose
 * section names stand below; what firmware leaves in the memory: IBM AT Technical Reference, "CMOS
 * RAM".
 *
 * The clock is set to Wednesday, 1 January 2020, 00:00:00 at power-on and goes by simulated time:
 * the host's date would make each run another.
 */
#include "sim/dev/internal.h"

#define RTC_HZ     32768
#define RTC_IRQ    8
#define CENTURY    0x32
#define UIP_TICKS  8 /* "Update in Progress": 244 us before the update */
#define HALF       (RTC_HZ / 2)
#define INDEX_BITS 0x7f /* bit 7 of port 70H masks the NMI pin, to which nothing is wired */

enum {
    SECONDS,
    SECONDS_ALARM,
    MINUTES,
    MINUTES_ALARM,
    HOURS,
    HOURS_ALARM,
    WEEKDAY,
    DAY,
    MONTH,
    YEAR,
    A,
    B,
    C,
    D
};

#define A_UIP       0x80
#define A_DIVIDER   0x70
#define A_RUNS      0x20 /* divider for 32.768 kHz */
#define A_RATE      0x0f
#define B_SET       0x80
#define B_PIE       0x40
#define B_AIE       0x20
#define B_UIE       0x10
#define B_BINARY    0x04
#define B_24H       0x02
#define C_IRQF      0x80
#define C_PF        0x40
#define C_AF        0x20
#define C_UF        0x10
#define D_VALID     0x80
#define HOURS_PM    0x80
#define DO_NOT_CARE 0xc0

static struct rtc *rtc_of(struct cpu *cpu)
{
    return &devices_of(cpu)->rtc;
}

/* ---- The calendar, in the registers' own format ("Time, Calendar and Alarm Locations") ---- */

static unsigned get(const struct rtc *r, unsigned i)
{
    uint8_t v = r->memory[i];

    return r->memory[B] & B_BINARY ? v : (v >> 4) * 10 + (v & 15);
}

static void put(struct rtc *r, unsigned i, unsigned value)
{
    r->memory[i] = r->memory[B] & B_BINARY ? value : value / 10 << 4 | value % 10;
}

/* One more, back to first after last; true: it began anew. */
static bool count_up(struct rtc *r, unsigned i, unsigned first, unsigned last)
{
    unsigned value = get(r, i);

    put(r, i, value >= last ? first : value + 1);
    return value >= last;
}

/* In 12-hour mode 12 comes before 1, and bit 7 is PM. True: a day is over. */
static bool count_hour(struct rtc *r)
{
    uint8_t pm = r->memory[HOURS] & HOURS_PM;
    bool noon;

    if (r->memory[B] & B_24H)
        return count_up(r, HOURS, 0, 23);
    r->memory[HOURS] &= ~HOURS_PM;
    count_up(r, HOURS, 1, 12);
    noon = get(r, HOURS) == 12;
    r->memory[HOURS] |= noon ? pm ^ HOURS_PM : pm;
    return noon && pm;
}

static unsigned days(const struct rtc *r)
{
    static const uint8_t of_month[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    unsigned month = get(r, MONTH);

    if (month == 2 && get(r, YEAR) % 4 == 0)
        return 29;
    return month >= 1 && month <= 12 ? of_month[month - 1] : 31;
}

static void count_second(struct rtc *r)
{
    if (!count_up(r, SECONDS, 0, 59) || !count_up(r, MINUTES, 0, 59) || !count_hour(r))
        return;
    count_up(r, WEEKDAY, 1, 7);
    if (count_up(r, DAY, 1, days(r)) && count_up(r, MONTH, 1, 12) && count_up(r, YEAR, 0, 99))
        count_up(r, CENTURY, 0, 99);
}

static bool alarm_matches(const struct rtc *r)
{
    for (unsigned i = SECONDS; i <= HOURS; i += 2)
        if (r->memory[i + 1] < DO_NOT_CARE && r->memory[i + 1] != r->memory[i])
            return false;
    return true;
}

/* ---- Time ---- */

static bool runs(const struct rtc *r)
{
    return (r->memory[A] & A_DIVIDER) == A_RUNS;
}

/* "Periodic Interrupt Rate": ticks of a period; 0: none. */
static unsigned period(const struct rtc *r)
{
    unsigned rate = r->memory[A] & A_RATE;

    return rate == 0 ? 0 : 1u << (rate <= 2 ? rate + 6 : rate - 1);
}

/* How many periods of so many ticks are over. */
static uint64_t periods(const struct rtc *r, uint64_t tick, unsigned n)
{
    return (tick + r->phase) / n;
}

static void set_line(struct cpu *cpu)
{
    struct rtc *r = rtc_of(cpu);
    bool asks = r->memory[C] & r->memory[B] & (C_PF | C_AF | C_UF);
    bool line = asks && !hpet_replaces_legacy(cpu);

    r->memory[C] = (r->memory[C] & ~C_IRQF) | (asks ? C_IRQF : 0);
    if (line != r->line)
        irq_line(cpu, RTC_IRQ, line);
    r->line = line;
}

static void pass(struct rtc *r, uint64_t tick)
{
    unsigned n = period(r);

    if (n && periods(r, tick, n) != periods(r, r->at, n))
        r->memory[C] |= C_PF;
    for (uint64_t s = periods(r, r->at, RTC_HZ); s < periods(r, tick, RTC_HZ); s++) {
        if (r->memory[B] & B_SET) /* no updates, and so no flags of them */
            break;
        count_second(r);
        r->memory[C] |= C_UF | (alarm_matches(r) ? C_AF : 0);
    }
    r->at = tick;
}

void rtc_advance(struct cpu *cpu)
{
    struct rtc *r = rtc_of(cpu);
    uint64_t tick = machine_ticks(cpu, RTC_HZ);

    if (runs(r) && tick > r->at)
        pass(r, tick);
    set_line(cpu);
}

uint64_t rtc_next(struct cpu *cpu)
{
    const struct rtc *r = rtc_of(cpu);
    unsigned n = RTC_HZ;

    if (!runs(r) || r->line || !(r->memory[B] & (B_PIE | B_AIE | B_UIE)) ||
        !irq_heard(cpu, RTC_IRQ))
        return NEVER;
    if ((r->memory[B] & B_PIE) && period(r))
        n = period(r);
    return machine_when(cpu, (periods(r, r->at, n) + 1) * n - r->phase, RTC_HZ);
}

/* ---- Registers ---- */

static uint8_t read_a(struct cpu *cpu)
{
    struct rtc *r = rtc_of(cpu);
    bool soon = (r->at + r->phase) % RTC_HZ >= RTC_HZ - UIP_TICKS;

    return r->memory[A] | (runs(r) && soon && !(r->memory[B] & B_SET) ? A_UIP : 0);
}

static uint8_t read_c(struct cpu *cpu)
{
    struct rtc *r = rtc_of(cpu);
    uint8_t value = r->memory[C];

    r->memory[C] = 0;
    set_line(cpu);
    return value;
}

/* "Divider Stages": when the reset is removed, the first update comes half a second later. */
static void write_a(struct cpu *cpu, uint8_t value)
{
    struct rtc *r = rtc_of(cpu);
    bool ran = runs(r);

    r->memory[A] = value & ~A_UIP;
    if (runs(r) && !ran) {
        r->at = machine_ticks(cpu, RTC_HZ);
        r->phase = (HALF - r->at) % RTC_HZ;
    }
}

/* "Set": also clears the update-ended interrupt's enable. */
static void write_b(struct cpu *cpu, uint8_t value)
{
    rtc_of(cpu)->memory[B] = value & B_SET ? value & ~B_UIE : value;
    set_line(cpu);
}

uint32_t rtc_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct rtc *r = rtc_of(cpu);

    (void)bytes;
    if (!(port & 1)) /* the index is write-only */
        return 0xff;
    switch (r->index) {
    case A:
        return read_a(cpu);
    case C:
        return read_c(cpu);
    default:
        return r->memory[r->index];
    }
}

void rtc_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct rtc *r = rtc_of(cpu);

    (void)bytes;
    if (!(port & 1)) {
        r->index = value & INDEX_BITS;
        return;
    }
    switch (r->index) {
    case A:
        write_a(cpu, value);
        break;
    case B:
        write_b(cpu, value);
        break;
    case C:
    case D: /* read-only */
        break;
    default:
        r->memory[r->index] = value;
        break;
    }
}

/* ---- Power-on ---- */

static void put_word(struct rtc *r, unsigned low, uint64_t value)
{
    value = value < 0xffff ? value : 0xffff;
    r->memory[low] = value;
    r->memory[low + 1] = value >> 8;
}

void rtc_init(struct rtc *r, uint64_t ram_size)
{
    uint64_t above_1m = (ram_size >> 10) - 1024;

    r->memory[WEEKDAY] = 4;
    r->memory[DAY] = r->memory[MONTH] = 1;
    r->memory[YEAR] = r->memory[CENTURY] = 0x20;
    r->memory[A] = A_RUNS | 6; /* 1024 Hz, should somebody ask for it */
    r->memory[B] = B_24H;
    r->memory[D] = D_VALID;
    put_word(r, 0x15, 640); /* KiB of base memory */
    put_word(r, 0x17, above_1m);
    put_word(r, 0x30, above_1m);
    put_word(r, 0x34, ram_size > 16 << 20 ? (ram_size - (16 << 20)) >> 16 : 0);
}
