/*
 * A 16550 UART at 3F8H, on IRQ 4, its line on the host's console (struct sim_host). Source:
 * National Semiconductor PC16550D data sheet, "Registers".
 *
 * Whoever polls finds the transmitter always empty: a guest that waits for it would only spend
 * instructions. Whoever goes by interrupts is told so after the time that the characters take on
 * the line; so there is never more than one interrupt for a FIFO.
 */
#include "sim/dev/internal.h"

enum { RBR_THR, IER, IIR_FCR, LCR, MCR, LSR, MSR, SCR };

#define IER_RDA    0x01
#define IER_THRE   0x02
#define IER_RLS    0x04
#define IER_MSI    0x08
#define IIR_MSI    0x00
#define IIR_NONE   0x01
#define IIR_THRE   0x02
#define IIR_RDA    0x04
#define IIR_RLS    0x06
#define IIR_STALE  0x0c
#define IIR_FIFOS  0xc0
#define FCR_ENABLE 0x01
#define FCR_RX_CLR 0x02
#define FCR_KEPT   0xc9 /* the others clear, or are for a DMA that nobody does */
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
#define MSR_LINES  0xf0

#define UART_IRQ    4
#define BAUD        115200 /* with a divisor of 1 */
#define FRAME_BITS  10     /* a start bit, 8 bits, a stop bit */
#define STALE_CHARS 4      /* "FIFO Interrupt Mode Operation": "4 continuous character times" */
#define ASK_MS      1      /* between two questions to the host for input that does not come */

void uart_init(struct uart *u)
{
    u->divisor = 12; /* 9600 baud, as firmware leaves it */
    u->empties = NEVER;
}

/* A point of the machine's time, so many characters from now. */
static uint64_t characters(const struct cpu *cpu, const struct uart *u, unsigned n)
{
    return machine_time(cpu) +
           machine_when(cpu, n * FRAME_BITS * (u->divisor ? u->divisor : 1), BAUD);
}

bool uart_flush(struct machine *m, struct uart *u)
{
    size_t n = u->out_length;

    u->out_length = 0;
    return n == 0 || !m->host.console_out || m->host.console_out(m->host.context, u->out, n);
}

static unsigned room(const struct uart *u)
{
    return u->fcr & FCR_ENABLE ? UART_FIFO : 1;
}

static void receive(struct cpu *cpu, struct uart *u, uint8_t byte)
{
    if (u->rx_count >= room(u)) {
        u->overrun = true;
        return;
    }
    u->rx[(u->rx_head + u->rx_count++) % UART_FIFO] = byte;
    u->stale = characters(cpu, u, STALE_CHARS);
}

static void ask(struct cpu *cpu, struct uart *u)
{
    const struct sim_host *host = &cpu->machine->host;
    int byte = host->console_in(host->context);

    if (byte >= 0)
        receive(cpu, u, byte);
    u->input_ended = byte == SIM_INPUT_ENDED;
    u->asks =
        byte >= 0 ? characters(cpu, u, 1) : machine_time(cpu) + machine_when(cpu, ASK_MS, 1000);
    if (byte == SIM_INPUT_NONE && host->console_wait && machine_idles(cpu->machine))
        host->console_wait(host->context, ASK_MS);
}

static bool open_to_host(const struct cpu *cpu, const struct uart *u)
{
    return cpu->machine->host.console_in && !u->input_ended && !(u->mcr & MCR_LOOP);
}

/* Looks for input only when the guest asks for it, so that a run without any never depends on the
 * host. */
static void poll_input(struct cpu *cpu, struct uart *u)
{
    if (open_to_host(cpu, u) && !u->rx_count)
        ask(cpu, u);
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
    uint64_t now = machine_time(cpu), one = characters(cpu, u, 1) - now;

    u->thre_interrupt = false;
    u->empties = (u->empties != NEVER && u->empties > now ? u->empties : now) + one;
    /* Who polls sends faster than the line: no more can wait for it than there is room for. */
    if (u->empties > now + room(u) * one)
        u->empties = now + room(u) * one;
    if (u->mcr & MCR_LOOP) {
        receive(cpu, u, byte);
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

/* The interrupt of highest priority, "Interrupt Control Functions" table. */
static uint8_t interrupt(const struct cpu *cpu, const struct uart *u)
{
    static const uint8_t trigger[] = {1, 4, 8, 14};
    unsigned wanted = u->fcr & FCR_ENABLE ? trigger[u->fcr >> 6] : 1;

    if ((u->ier & IER_RLS) && u->overrun)
        return IIR_RLS;
    if ((u->ier & IER_RDA) && u->rx_count >= wanted)
        return IIR_RDA;
    if ((u->ier & IER_RDA) && u->rx_count && machine_time(cpu) >= u->stale)
        return IIR_STALE;
    if ((u->ier & IER_THRE) && u->thre_interrupt)
        return IIR_THRE;
    if ((u->ier & IER_MSI) && u->modem_changes)
        return IIR_MSI;
    return IIR_NONE;
}

/* In a PC, OUT2 lets the interrupt through; loopback takes the modem outputs off their pins. */
static bool interrupts(const struct uart *u)
{
    return (u->mcr & (MCR_OUT2 | MCR_LOOP)) == MCR_OUT2;
}

static void set_line(struct cpu *cpu, struct uart *u)
{
    bool line = interrupts(u) && interrupt(cpu, u) != IIR_NONE;

    if (line != u->line)
        irq_line(cpu, UART_IRQ, line);
    u->line = line;
}

static uint8_t identify(const struct cpu *cpu, struct uart *u)
{
    uint8_t which = interrupt(cpu, u);

    if (which == IIR_THRE)
        u->thre_interrupt = false;
    return which | (u->fcr & FCR_ENABLE ? IIR_FIFOS : 0);
}

/* In loopback the modem outputs drive the modem inputs; else a terminal is there and ready. */
static uint8_t modem_lines(const struct uart *u)
{
    if (!(u->mcr & MCR_LOOP))
        return MSR_CTS | MSR_DSR | MSR_DCD;
    return (u->mcr & MCR_RTS ? MSR_CTS : 0) | (u->mcr & MCR_DTR ? MSR_DSR : 0) |
           (u->mcr & MCR_OUT1 ? MSR_RI : 0) | (u->mcr & MCR_OUT2 ? MSR_DCD : 0);
}

/* "Modem Status Register": bits 3:0 say what changed; of RI, its end alone. */
static void set_modem(struct uart *u, uint8_t mcr)
{
    uint8_t before = modem_lines(u), after;

    u->mcr = mcr;
    after = modem_lines(u);
    u->modem_changes |= ((before ^ after) & ~(after & MSR_RI) & MSR_LINES) >> 4;
}

static uint8_t read_register(struct cpu *cpu, struct uart *u, unsigned reg)
{
    uint8_t value;

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
        u->stale = characters(cpu, u, STALE_CHARS);
        return value;
    case IER:
        return u->lcr & LCR_DLAB ? u->divisor >> 8 : u->ier;
    case IIR_FCR:
        look(cpu, u);
        return identify(cpu, u);
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
        value = modem_lines(u) | u->modem_changes;
        u->modem_changes = 0;
        return value;
    default:
        return u->scratch;
    }
}

static void write_register(struct cpu *cpu, struct uart *u, unsigned reg, uint8_t value)
{
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
            u->ier = value & (IER_RDA | IER_THRE | IER_RLS | IER_MSI);
        }
        break;
    case IIR_FCR:
        /* Switching the FIFOs on or off empties them; without them the other bits do nothing. */
        if ((value & FCR_RX_CLR) || ((value ^ u->fcr) & FCR_ENABLE))
            u->rx_count = 0;
        u->fcr = value & FCR_ENABLE ? value & FCR_KEPT : 0;
        break;
    case LCR:
        u->lcr = value;
        break;
    case MCR:
        set_modem(u, value & 0x1f);
        break;
    case SCR:
        u->scratch = value;
        break;
    default: /* LSR and MSR are read-only */
        break;
    }
}

uint32_t uart_in(struct cpu *cpu, uint16_t port, unsigned bytes)
{
    struct uart *u = &devices_of(cpu)->uart;
    uint8_t value = read_register(cpu, u, port - UART_BASE);

    (void)bytes;
    set_line(cpu, u);
    return value;
}

void uart_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value)
{
    struct uart *u = &devices_of(cpu)->uart;

    (void)bytes;
    write_register(cpu, u, port - UART_BASE, value);
    set_line(cpu, u);
}

/* ---- Time ---- */

/* A guest that goes by interrupts does not look: then the host is asked in its place, at points of
 * simulated time, as long as the guest would take what comes. */
static bool awaits_input(struct cpu *cpu, const struct uart *u)
{
    return open_to_host(cpu, u) && interrupts(u) && (u->ier & IER_RDA) && u->rx_count < room(u) &&
           irq_heard(cpu, UART_IRQ);
}

void uart_advance(struct cpu *cpu)
{
    struct uart *u = &devices_of(cpu)->uart;

    if (machine_time(cpu) >= u->empties) {
        u->thre_interrupt = true;
        u->empties = NEVER;
    }
    if (awaits_input(cpu, u) && machine_time(cpu) >= u->asks) {
        /* Whoever is asked for input should see what he is asked. */
        machine_flush(cpu->machine);
        ask(cpu, u);
    }
    set_line(cpu, u);
}

uint64_t uart_next(struct cpu *cpu)
{
    const struct uart *u = &devices_of(cpu)->uart;
    uint64_t next = NEVER;

    if (!interrupts(u) || !irq_heard(cpu, UART_IRQ))
        return NEVER;
    if (u->ier & IER_THRE)
        next = u->empties;
    if (awaits_input(cpu, u) && u->asks < next)
        next = u->asks;
    if ((u->ier & IER_RDA) && u->rx_count && machine_time(cpu) < u->stale && u->stale < next)
        next = u->stale;
    return next;
}
