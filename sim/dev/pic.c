/*
 * The two 8259A interrupt controllers: the slave's INT is the master's IR2, the master's INT is
 * LINT0 of processor 0 and pin 0 of the I/O APIC. Source: Intel 8259A data sheet (231468), whose
 * section names stand below; the edge/level control registers at 4D0H and 4D1H: Intel ICH data
 * sheets, "ELCR1", "ELCR2".
 *
 * The 8080/8085 mode (ICW4 bit 0 clear) and buffered mode are remembered by nobody: the processor
 * is an x86, and nothing is on a buffer.
 */
#include "sim/dev/internal.h"

#define SLAVE_COMMAND     0xa0
#define ELCR_MASTER       0x4d0
#define ELCR_MASTER_FIXED 0x07 /* timer, keyboard, cascade: always edge */
#define ELCR_SLAVE_FIXED  0x21 /* clock, coprocessor error */
#define CASCADE           2
#define SPURIOUS          7 /* "Interrupt Sequence": "the 8259A will issue an interrupt level 7" */
#define NONE              (-1)

#define ICW1      0x10
#define ICW1_LTIM 0x08
#define ICW1_SNGL 0x02
#define ICW1_IC4  0x01
#define ICW4_SFNM 0x10
#define ICW4_AEOI 0x02

#define OCW2_ROTATE   0x80
#define OCW2_SPECIFIC 0x40
#define OCW2_EOI      0x20
#define OCW3          0x08
#define OCW3_ESMM     0x40
#define OCW3_SMM      0x20
#define OCW3_POLL     0x04
#define OCW3_READ     0x02
#define OCW3_ISR      0x01
#define POLL_REQUEST  0x80

static struct pic *master(struct cpu *cpu)
{
    return &devices_of(cpu)->pic[0];
}

static struct pic *slave(struct cpu *cpu)
{
    return &devices_of(cpu)->pic[1];
}

/* ---- Priorities ("Fully Nested Mode", "Automatic Rotation", "Specific Rotation") ---- */

/* The highest of these levels, the one after the lowest first; NONE: there is none. */
static int first(const struct pic *p, uint8_t levels)
{
    for (unsigned i = 1; i <= 8; i++) {
        unsigned level = (p->lowest + i) & 7;
        if (levels >> level & 1)
            return level;
    }
    return NONE;
}

/* How far a level is behind the highest; behind all of them for NONE. */
static unsigned rank(const struct pic *p, int level)
{
    return level == NONE ? 8 : (level - p->lowest - 1) & 7;
}

/* The level for which INT is active. */
static int request(const struct pic *p, bool is_master)
{
    uint8_t serving = p->isr;
    int level = first(p, p->irr & ~p->imr);

    /* "Special Mask Mode": a level masked while in service holds nothing back. */
    if (p->special_mask)
        serving &= ~p->imr;
    /* "Special Fully Nested Mode": a slave in service is not locked out. */
    if (is_master && (p->icw4 & ICW4_SFNM))
        serving &= ~(1 << CASCADE);
    return rank(p, level) < rank(p, first(p, serving)) ? level : NONE;
}

/* ---- Inputs ("Edge and Level Triggered Modes") ---- */

static bool is_level(const struct pic *p, unsigned level)
{
    return p->level_all || (p->elcr >> level & 1);
}

/* A request lasts as long as its input is high: one that falls before it is acknowledged is gone
 * ("Edge and Level Triggered Modes": "the IR inputs must remain high until after the falling edge
 * of the first INTA"). */
static void set_input(struct pic *p, unsigned level, bool high)
{
    uint8_t bit = 1 << level;
    bool rises = high && !(p->inputs & bit);

    p->inputs = high ? p->inputs | bit : p->inputs & ~bit;
    if (!high)
        p->irr &= ~bit;
    else if (rises || is_level(p, level))
        p->irr |= bit;
}

/* The levels that are triggered by their level, after a change of which they are. */
static void set_triggers(struct pic *p)
{
    for (unsigned i = 0; i < 8; i++)
        if (is_level(p, i))
            set_input(p, i, p->inputs >> i & 1);
}

static void update(struct cpu *cpu)
{
    set_input(master(cpu), CASCADE, request(slave(cpu), false) != NONE);
    intr_line(cpu, request(master(cpu), true) != NONE);
}

void pic_line(struct cpu *cpu, unsigned irq, bool high)
{
    set_input(&devices_of(cpu)->pic[irq >> 3], irq & 7, high);
    update(cpu);
}

bool pic_hears(struct cpu *cpu, unsigned irq)
{
    return !(devices_of(cpu)->pic[irq >> 3].imr >> (irq & 7) & 1);
}

/* ---- INTA ("Interrupt Sequence") ---- */

static void acknowledge(struct pic *p, unsigned level)
{
    uint8_t bit = 1 << level;

    if (!is_level(p, level))
        p->irr &= ~bit;
    if (!(p->icw4 & ICW4_AEOI))
        p->isr |= bit;
    else if (p->rotates)
        p->lowest = level;
}

/* Of one chip: the level, in service from now on or spurious. */
static unsigned take(struct pic *p, bool is_master)
{
    int level = request(p, is_master);

    if (level == NONE)
        return SPURIOUS;
    acknowledge(p, level);
    return level;
}

uint8_t pic_acknowledge(struct cpu *cpu)
{
    struct pic *p = master(cpu);
    bool cascade = request(p, true) == CASCADE;
    unsigned level = take(p, true);

    if (cascade) {
        p = slave(cpu);
        level = take(p, false);
    }
    intr_line(cpu, false); /* INT falls with INTA, whatever else waits */
    update(cpu);
    return p->vector | level;
}

/* ---- Programming ---- */

/* "Initialization Command Words": ICW1 clears the mask and what was requested by an edge, IR7 is
 * the lowest, special mask mode is off and IRR is what is read; without ICW4 its functions are off.
 */
static void begin(struct pic *p, uint8_t icw1)
{
    p->imr = p->irr = p->isr = p->icw4 = 0;
    p->lowest = 7;
    p->special_mask = p->rotates = p->poll = p->reads_isr = false;
    p->level_all = icw1 & ICW1_LTIM;
    p->single = icw1 & ICW1_SNGL;
    p->needs_icw4 = icw1 & ICW1_IC4;
    p->icw_next = 2;
    set_triggers(p);
}

/* OCW2: "End of Interrupt", "Automatic Rotation", "Specific Rotation". */
static void end_or_rotate(struct pic *p, uint8_t ocw2)
{
    uint8_t serving = p->special_mask ? p->isr & ~p->imr : p->isr;
    int level = ocw2 & OCW2_SPECIFIC ? ocw2 & 7 : first(p, serving);

    if (ocw2 & OCW2_EOI) {
        if (level == NONE)
            return;
        p->isr &= ~(1 << level);
        if (ocw2 & OCW2_ROTATE)
            p->lowest = level;
    } else if (!(ocw2 & OCW2_SPECIFIC)) {
        p->rotates = ocw2 & OCW2_ROTATE; /* in automatic EOI mode: set or clear */
    } else if (ocw2 & OCW2_ROTATE) {
        p->lowest = level; /* set priority; without the bit it is no operation */
    }
}

static void command(struct pic *p, uint8_t value)
{
    if (value & ICW1) {
        begin(p, value);
    } else if (!(value & OCW3)) {
        end_or_rotate(p, value);
    } else {
        if (value & OCW3_ESMM)
            p->special_mask = value & OCW3_SMM;
        p->poll = value & OCW3_POLL;
        if (value & OCW3_READ)
            p->reads_isr = value & OCW3_ISR;
    }
}

static void data(struct pic *p, uint8_t value)
{
    switch (p->icw_next) {
    case 2:
        p->vector = value & 0xf8;
        p->icw_next = !p->single ? 3 : p->needs_icw4 ? 4 : 0;
        break;
    case 3: /* who is whose slave is wired here */
        p->icw_next = p->needs_icw4 ? 4 : 0;
        break;
    case 4:
        p->icw4 = value;
        p->icw_next = 0;
        break;
    default:
        p->imr = value;
        break;
    }
}

static struct pic *pic_of(struct cpu *cpu, uint16_t port)
{
    return port >= SLAVE_COMMAND ? slave(cpu) : master(cpu);
}

uint32_t pic_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct pic *p = pic_of(cpu, port);

    (void)bytes;
    /* "Poll Command": the next read of either port is the acknowledgement. */
    if (p->poll) {
        int level = request(p, p == master(cpu));
        p->poll = false;
        if (level == NONE)
            return 0;
        acknowledge(p, level);
        update(cpu);
        return POLL_REQUEST | level;
    }
    if (port & 1)
        return p->imr;
    return p->reads_isr ? p->isr : p->irr;
}

void pic_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    (void)bytes;
    (port & 1 ? data : command)(pic_of(cpu, port), value);
    update(cpu);
}

uint32_t elcr_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    (void)bytes;
    return devices_of(cpu)->pic[port != ELCR_MASTER].elcr;
}

void elcr_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct pic *p = &devices_of(cpu)->pic[port != ELCR_MASTER];

    (void)bytes;
    p->elcr = value & ~(port == ELCR_MASTER ? ELCR_MASTER_FIXED : ELCR_SLAVE_FIXED);
    set_triggers(p);
    update(cpu);
}

void pic_init(struct pic *p)
{
    p->imr = 0xff; /* as firmware leaves them */
    p->lowest = 7;
}
