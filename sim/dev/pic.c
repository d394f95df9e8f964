/*
 * The two 8259 interrupt controllers, without inputs: they remember how they were set up, and since
 * nothing is wired to them, they never interrupt. Source: Intel 8259A data sheet, "Programming the
 * 8259A".
 */
#include "sim/dev/internal.h"

#define ICW1          0x10
#define ICW1_IC4      0x01
#define ICW1_SNGL     0x02
#define SLAVE_COMMAND 0xa0

static struct pic *pic_of(struct cpu *cpu, uint16_t port)
{
    return &devices_of(cpu)->pic[port >= SLAVE_COMMAND];
}

uint32_t pic_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    (void)bytes;
    /* The even port reads IRR or ISR: no input is ever raised, so either is 0. */
    return port & 1 ? pic_of(cpu, port)->mask : 0;
}

void pic_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct pic *p = pic_of(cpu, port);

    (void)bytes;
    if (!(port & 1)) { /* OCW2 (EOI) and OCW3 have nothing to act on */
        if (value & ICW1) {
            p->icw_next = 2;
            p->single = value & ICW1_SNGL;
            p->needs_icw4 = value & ICW1_IC4;
            p->mask = 0;
        }
        return;
    }
    switch (p->icw_next) {
    case 2:
        p->vector = value & 0xf8;
        p->icw_next = !p->single ? 3 : p->needs_icw4 ? 4 : 0;
        break;
    case 3:
        p->icw_next = p->needs_icw4 ? 4 : 0;
        break;
    case 4:
        p->icw4 = value;
        p->icw_next = 0;
        break;
    default:
        p->mask = value;
        break;
    }
}
