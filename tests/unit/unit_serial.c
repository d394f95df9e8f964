/* The serial port, against a UART of the test's own: what is printed gets out, and a UART that
 * hangs holds nobody up for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernel/console/console.h"

uint8_t inb(uint16_t port);
void outb(uint16_t port, uint8_t value);

#define PORT     0x2f8
#define LSR      5
#define SCR      7
#define THRE     0x20
#define TEMT     0x40
#define SLOWNESS 50 /* reads of LSR that a byte takes to leave */

static struct {
    bool present, stuck;
    uint8_t scratch;
    unsigned waiting; /* bytes in the holding and the shift register */
    unsigned sent, reads;
} uart;

uint8_t inb(uint16_t port)
{
    if (!uart.present)
        return 0xff;
    if (port == PORT + SCR)
        return uart.scratch;
    if (port != PORT + LSR)
        return 0;
    if (++uart.reads % SLOWNESS == 0 && uart.waiting && !uart.stuck)
        uart.waiting--, uart.sent++;
    return (uint8_t)((uart.waiting < 2 ? THRE : 0) | (uart.waiting == 0 ? TEMT : 0));
}

void outb(uint16_t port, uint8_t value)
{
    if (port == PORT + SCR)
        uart.scratch = value;
    if (port == PORT)
        uart.waiting++;
}

static struct console_sink *open_port(bool present)
{
    uart.present = present;
    uart.stuck = false;
    uart.waiting = uart.sent = uart.reads = 0;
    return serial_init(PORT, 115200);
}

static void test_flush_waits_for_the_last_bit(void **state)
{
    (void)state;
    struct console_sink *sink = open_port(true);
    assert_non_null(sink);
    uart.waiting = uart.sent = 0; /* the divisor went to the same port */
    for (unsigned i = 0; i < 10; i++)
        sink->putc('x');
    assert_true(uart.sent < 10);
    sink->flush();
    assert_int_equal(uart.sent, 10);
}

static void test_flush_ends_when_nothing_gets_out(void **state)
{
    (void)state;
    struct console_sink *sink = open_port(true);
    uart.waiting = 1;
    uart.stuck = true;
    sink->flush();
    assert_in_range(uart.reads, 100000, 1000000);
    assert_null(open_port(false));
    uart.present = true; /* whoever asks, nobody answers: not even asked */
    sink->flush();
    assert_int_equal(uart.reads, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flush_waits_for_the_last_bit),
        cmocka_unit_test(test_flush_ends_when_nothing_gets_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
