/*
 * A 16550 UART at 3F8H, its line on the host's console (struct sim_host).
 * Transmission takes no time: the transmitter is always empty. Its interrupt line leads nowhere.
 * Source: National Semiconductor PC16550D data sheet, "Registers".
 */
#include "sim/dev/internal.h"

enum { RBR_THR, IER, IIR_FCR, LCR, MCR, LSR, MSR, SCR };

#define IER_RDA    0x01
#define IER_THRE   0x02
#define IER_RLS    0x04
#define IIR_NONE   0x01
#define IIR_THRE   0x02
#define IIR_RDA    0x04
#define IIR_RLS    0x06
#define IIR_FIFOS  0xc0
#define FCR_ENABLE 0x01
#define FCR_RX_CLR 0x02
#define LCR_DLAB   0x80
#define MCR_DTR    0x01
#define MCR_RTS    0x02
#define MCR_OUT1   0x04
#define MCR_OUT2   0x08
#define MCR_LOOP   0x10
#define LSR_DR     0x01
#define LSR_OE     0x02
#define LSR_THRE   0x20
#define LSR_TEMT   0x40
#define MSR_CTS    0x10
#define MSR_DSR    0x20
#define MSR_RI     0x40
#define MSR_DCD    0x80

void uart_init(struct uart *u)
{
    u->divisor = 12; /* 9600 baud, as firmware leaves it */
}

bool uart_flush(struct machine *m, struct uart *u)
{
    size_t n = u->out_length;

    u->out_length = 0;
    return n == 0 || !m->host.console_out || m->host.console_out(m->host.context, u->out, n);
}

static void receive(struct uart *u, uint8_t byte)
{
    unsigned room = u->fcr & FCR_ENABLE ? UART_FIFO : 1;

    if (u->rx_count >= room) {
        u->overrun = true;
        return;
    }
    u->rx[(u->rx_head + u->rx_count++) % UART_FIFO] = byte;
}

/* Looks for input only when the guest asks for it, so that a run without any never depends on the
 * host. */
static void poll_input(struct cpu *cpu, struct uart *u)
{
    const struct sim_host *host = &cpu->machine->host;

    if (!host->console_in || u->input_ended || u->rx_count || (u->mcr & MCR_LOOP))
        return;
    int byte = host->console_in(host->context);
    if (byte >= 0)
        receive(u, byte);
    u->input_ended = byte == SIM_INPUT_ENDED;
}

/* The guest looks for input, or waits for something: who reads along should see what it has sent, a
 * prompt for one. One that sends looks at the line status before each byte; it waits when it looks
 * again and has sent nothing. */
static void look(struct cpu *cpu, struct uart *u)
{
    if (!u->sent && u->out_length)
        machine_flush(cpu->machine);
    u->sent = false;
    poll_input(cpu, u);
}

static void put_out(struct cpu *cpu, struct uart *u, uint8_t byte)
{
    u->out[u->out_length++] = byte;
    if (byte == '\n' || u->out_length == sizeof(u->out))
        machine_flush(cpu->machine);
}

static void transmit(struct cpu *cpu, struct uart *u, uint8_t byte)
{
    u->thre_interrupt = true;
    if (u->mcr & MCR_LOOP) {
        receive(u, byte);
        return;
    }
    u->sent = true;
    /* A serial line ends its lines with CR LF, the host's text with LF alone. The CR waits for what
     * follows it, because tracing may flush in between. */
    if (u->held_cr && byte != '\n')
        put_out(cpu, u, '\r');
    u->held_cr = byte == '\r';
    if (!u->held_cr)
        put_out(cpu, u, byte);
}

static uint8_t identify(struct uart *u)
{
    uint8_t fifos = u->fcr & FCR_ENABLE ? IIR_FIFOS : 0;

    if ((u->ier & IER_RLS) && u->overrun)
        return fifos | IIR_RLS;
    if ((u->ier & IER_RDA) && u->rx_count)
        return fifos | IIR_RDA;
    if ((u->ier & IER_THRE) && u->thre_interrupt) {
        u->thre_interrupt = false;
        return fifos | IIR_THRE;
    }
    return fifos | IIR_NONE;
}

/* In loopback the modem outputs drive the modem inputs; else a terminal is there and ready. */
static uint8_t modem_status(const struct uart *u)
{
    if (!(u->mcr & MCR_LOOP))
        return MSR_CTS | MSR_DSR | MSR_DCD;
    return (u->mcr & MCR_RTS ? MSR_CTS : 0) | (u->mcr & MCR_DTR ? MSR_DSR : 0) |
           (u->mcr & MCR_OUT1 ? MSR_RI : 0) | (u->mcr & MCR_OUT2 ? MSR_DCD : 0);
}

uint32_t uart_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct uart *u = &devices_of(cpu)->uart;
    unsigned reg = port - UART_BASE;
    uint8_t value;

    (void)bytes;
    switch (reg) {
    case RBR_THR:
        if (u->lcr & LCR_DLAB)
            return u->divisor & 0xff;
        look(cpu, u);
        if (!u->rx_count)
            return 0;
        value = u->rx[u->rx_head];
        u->rx_head = (u->rx_head + 1) % UART_FIFO;
        u->rx_count--;
        return value;
    case IER:
        return u->lcr & LCR_DLAB ? u->divisor >> 8 : u->ier;
    case IIR_FCR:
        look(cpu, u);
        return identify(u);
    case LCR:
        return u->lcr;
    case MCR:
        return u->mcr;
    case LSR:
        look(cpu, u);
        value = LSR_THRE | LSR_TEMT | (u->rx_count ? LSR_DR : 0) | (u->overrun ? LSR_OE : 0);
        u->overrun = false;
        return value;
    case MSR:
        return modem_status(u);
    default:
        return u->scratch;
    }
}

void uart_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct uart *u = &devices_of(cpu)->uart;
    unsigned reg = port - UART_BASE;

    (void)bytes;
    switch (reg) {
    case RBR_THR:
        if (u->lcr & LCR_DLAB)
            u->divisor = (u->divisor & 0xff00) | value;
        else
            transmit(cpu, u, value);
        break;
    case IER:
        if (u->lcr & LCR_DLAB) {
            u->divisor = (u->divisor & 0xff) | value << 8;
        } else {
            /* Enabling the interrupt with the transmitter empty raises it. */
            if (value & ~u->ier & IER_THRE)
                u->thre_interrupt = true;
            u->ier = value & 0x0f;
        }
        break;
    case IIR_FCR:
        /* Switching the FIFOs on or off empties them. */
        if ((value & FCR_RX_CLR) || ((value ^ u->fcr) & FCR_ENABLE))
            u->rx_count = 0;
        u->fcr = value & (FCR_ENABLE | 0xc8);
        break;
    case LCR:
        u->lcr = value;
        break;
    case MCR:
        u->mcr = value & 0x1f;
        break;
    case SCR:
        u->scratch = value;
        break;
    default: /* LSR and MSR are read-only */
        break;
    }
}
