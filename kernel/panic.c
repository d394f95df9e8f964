/* Panic and exit. */
#include "kernel/panic.h"

#include <stdarg.h>

#include "x86/debug_exit.h"
#include "kernel/backtrace.h"
#include "kernel/ending.h"
#include "kernel/io.h"
#include "kernel/print.h"
#include "kernel/trap.h"

/* How often panic was entered: a panic in the report of a panic must end, not repeat. */
static unsigned panics;
static void (*on_enter)(void);

void panic_on_enter(void (*fn)(void))
{
    on_enter = fn;
}

void debug_exit(uint8_t code)
{
    irq_disable();
    outb(DEBUG_EXIT_PORT, code);
}

_Noreturn void machine_exit(uint8_t code)
{
    debug_exit(code);
    /* Still here: a machine without that device. */
    ending_perform();
    kprintf("# The machine may be switched off.\n");
    for (;;)
        __asm__ volatile("cli; hlt");
}

/* The first panic goes on to print, the second says so in one line, a third only exits. */
static void enter_panic(void)
{
    irq_disable();
    if (panics++ == 0 && on_enter)
        on_enter();
    if (panics == 2)
        kprintf("\n# a second panic while the first was reported\n");
    if (panics > 1)
        machine_exit(DEBUG_EXIT_PANIC);
}

_Noreturn void panic(const char *fmt, ...)
{
    va_list ap;

    enter_panic();
    kprintf("Bail out! panic: ");
    va_start(ap, fmt);
    kvprintf(fmt, ap);
    va_end(ap);
    kprintf("\n");
    backtrace_print((uint64_t)__builtin_frame_address(0));
    machine_exit(DEBUG_EXIT_PANIC);
}

_Noreturn void panic_frame(const struct trap_frame *frame, const char *why)
{
    enter_panic();
    kprintf("Bail out! panic: %s\n", why);
    trap_frame_print(frame);
    machine_exit(DEBUG_EXIT_PANIC);
}
