/*
 * The serial port: a 16550 UART or one of its descendants. Registers by the names of the PC16550D
 * data sheet. A PC may have none: then reads give FFH, and nothing here may wait for ever.
 */
#include <stdbool.h>
#include <stddef.h>

#include "kernel/console/console.h"
#include "kernel/io.h"

enum {
    UART_THR = 0,
    UART_RBR = 0,
    UART_DLL = 0,
    UART_IER = 1,
    UART_DLM = 1,
    UART_FCR = 2,
    UART_LCR = 3
};
enum { UART_MCR = 4, UART_LSR = 5, UART_SCR = 7 };
#define LCR_8N1              0x03
#define LCR_DLAB             0x80
#define FCR_ENABLE_AND_CLEAR 0x07
#define MCR_DTR_RTS          0x03
#define LSR_DR               0x01
#define LSR_ERRORS           0x1e /* overrun, parity, framing, break */
#define LSR_THRE             0x20
#define LSR_TEMT             0x40   /* the FIFO and the shift register are empty */
#define UART_CLOCK           115200 /* the baud rate of divisor 1 */

/* How often LSR is read for one byte: a read takes about 1 us on the ISA or LPC bus, a byte at 1200
 * baud 8 ms, and a FIFO of 16 of them has to drain. */
#define WAIT_READS 200000

static uint16_t base;
static bool gone = true; /* not there, or a byte once never got out: not asked again */

static bool scratch_holds(uint8_t value)
{
    outb(base + UART_SCR, value);
    return inb(base + UART_SCR) == value;
}

static void send(uint8_t byte)
{
    if (gone)
        return;
    for (unsigned i = 0; i < WAIT_READS; i++) {
        if (inb(base + UART_LSR) & LSR_THRE) {
            outb(base + UART_THR, byte);
            return;
        }
        __builtin_ia32_pause();
    }
    gone = true;
}

void serial_putc(char byte)
{
    if (byte == '\n')
        send('\r');
    send((uint8_t)byte);
}

/* A line that nobody drives gives errors, not characters. */
int serial_getc(void)
{
    if (gone)
        return -1;
    uint8_t status = inb(base + UART_LSR);
    if (!(status & LSR_DR))
        return -1;
    uint8_t byte = inb(base + UART_RBR);
    return status & LSR_ERRORS ? -1 : byte;
}

static void flush(void)
{
    for (unsigned i = 0; i < WAIT_READS && !gone && !(inb(base + UART_LSR) & LSR_TEMT); i++)
        __builtin_ia32_pause();
}

static struct console_sink sink = {.name = "serial", .putc = serial_putc, .flush = flush};

struct console_sink *serial_init(uint16_t port, uint32_t baud)
{
    uint16_t divisor = (uint16_t)(UART_CLOCK / baud);

    base = port;
    gone = false;
    if (inb(base + UART_LSR) == 0xff || !scratch_holds(0x5a) || !scratch_holds(0xa5)) {
        gone = true;
        return NULL;
    }
    outb(base + UART_IER, 0);
    outb(base + UART_LCR, LCR_DLAB | LCR_8N1);
    outb(base + UART_DLL, (uint8_t)divisor);
    outb(base + UART_DLM, (uint8_t)(divisor >> 8));
    outb(base + UART_LCR, LCR_8N1);
    outb(base + UART_FCR, FCR_ENABLE_AND_CLEAR);
    outb(base + UART_MCR, MCR_DTR_RTS);
    return &sink;
}
