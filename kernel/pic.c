/* The 8259A pair of the PC, by its data sheet: firmware leaves it on, with vectors that are
 * exceptions. */
#include "kernel/pic.h"

#include "kernel/io.h"
#include "kernel/trap.h"

#define PIC1_COMMAND   0x20
#define PIC1_DATA      0x21
#define PIC2_COMMAND   0xa0
#define PIC2_DATA      0xa1
#define ICW1_INIT_ICW4 0x11
#define ICW4_8086      0x01
#define PIC1_VECTORS   0x20
#define PIC2_VECTORS   0x28
#define PIC_LINES      8
#define CASCADE_LINE   2

/* A masked 8259 can still raise IRQ 7 or 15 when a request goes away too early; it takes no EOI. */
static void ignore(struct trap_frame *frame)
{
    (void)frame;
}

void pic_disable(void)
{
    static const struct {
        uint16_t port;
        uint8_t value;
    } writes[] = {
        {PIC1_COMMAND, ICW1_INIT_ICW4},
        {PIC2_COMMAND, ICW1_INIT_ICW4},
        {PIC1_DATA, PIC1_VECTORS},
        {PIC2_DATA, PIC2_VECTORS},
        {PIC1_DATA, 1 << CASCADE_LINE},
        {PIC2_DATA, CASCADE_LINE},
        {PIC1_DATA, ICW4_8086},
        {PIC2_DATA, ICW4_8086},
        {PIC1_DATA, 0xff},
        {PIC2_DATA, 0xff},
    };
    for (unsigned i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
        outb(writes[i].port, writes[i].value);
    for (unsigned i = 0; i < 2 * PIC_LINES; i++)
        trap_set_handler(PIC1_VECTORS + i, ignore);
}
