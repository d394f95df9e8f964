/*
 * Deadlines on the local APIC timer in one-shot mode (SDM vol. 3 "APIC Timer").
 *
 * Both deadlines are kept as TSC values; the timer is armed for the nearer one, and its interrupt
 * looks at the TSC to see which is due. So an interrupt that comes early, late or for a deadline
 * that has moved since does no harm. One-shot mode is on every local APIC; TSC-deadline mode would
 * be more exact than needed.
 */
#include "x86/apic.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/time.h"
#include "kernel/trap.h"
#include "lapic/lapic.h"
#include "lapic/timer.h"

#include <stddef.h>

#define DIVIDE_BY_16   0x3  /* SDM vol. 3 "Divide Configuration Register" */
#define CALIBRATION_US 2000 /* 3000 ticks of a 24 MHz crystal: far more exact than is needed */
#define COUNT_MAX      0xffffffffu
#define WHY_SIZE       80
#define NO_DEADLINE    0
/* How many texts an experiment may print without that their time counts. The longest dump has some
 * hundred; who prints for ever must not hold the watchdog off for ever. */
#define PATIENT_PRINTS 4096

static struct {
    uint64_t tsc_ticks, timer_ticks; /* how far each went during calibration; 0: no timer */
    uint64_t watchdog_at, alarm_at;  /* TSC values, NO_DEADLINE when off */
    /* The console is writing, so deep in interrupts; since when; its interrupt came meanwhile. */
    unsigned printing;
    uint64_t printing_since;
    bool missed;
    unsigned patience;
    uint32_t watchdog_ms;
    bool interrupts; /* its LVT entry took the vector and is unmasked */
    void (*alarm_fn)(void);
} timer;

/* Arms the hardware for the nearer deadline, or stops it. Interrupts are off or the handler runs.
 */
static void timer_arm(void)
{
    uint64_t at = timer.watchdog_at;
    timer.missed = timer.printing > 0;
    if (timer.missed)
        at = NO_DEADLINE;
    if (at == NO_DEADLINE || (timer.alarm_at != NO_DEADLINE && timer.alarm_at < at))
        at = timer.alarm_at;
    if (at == NO_DEADLINE) {
        lapic_write(APIC_TIMER_INITIAL, 0);
        return;
    }
    uint64_t now = rdtsc();
    uint64_t ticks = at > now ? (at - now) * timer.timer_ticks / timer.tsc_ticks + 1 : 1;
    lapic_write(APIC_TIMER_INITIAL, ticks > COUNT_MAX ? COUNT_MAX : (uint32_t)ticks);
}

static bool timer_take(uint64_t *deadline)
{
    if (*deadline == NO_DEADLINE || rdtsc() < *deadline)
        return false;
    *deadline = NO_DEADLINE;
    return true;
}

static _Noreturn void watchdog_expired(const struct trap_frame *frame)
{
    char why[WHY_SIZE];
    ksnprintf(why, sizeof(why), "watchdog: the experiment took longer than %u ms",
              (unsigned)timer.watchdog_ms);
    trap_abort(why, frame); /* copies the text */
}

static void timer_interrupt(struct trap_frame *frame)
{
    bool alarm = timer_take(&timer.alarm_at);
    bool watchdog = timer.printing == 0 && timer_take(&timer.watchdog_at);
    timer_arm();
    /* Before the handlers: trap_abort() does not come back, and EOI must not be owed then. */
    lapic_eoi();
    if (alarm && timer.alarm_fn != NULL)
        timer.alarm_fn();
    if (watchdog)
        watchdog_expired(frame);
}

bool lapic_has_timer(void)
{
    return lapic_present() && timer.interrupts && timer.timer_ticks != 0 && timer.tsc_ticks != 0;
}

/* The deadlines are the boot processor's. */
static bool is_mine(void)
{
    return lapic_has_timer() && this_cpu()->index == 0;
}

/* The deadlines are shared with the interrupt: changed with interrupts off. */
static void watchdog_set(uint64_t at)
{
    uint64_t rflags = irq_save();
    timer.watchdog_at = at;
    timer_arm();
    irq_restore(rflags);
}

void lapic_watchdog_start(uint32_t milliseconds)
{
    if (!is_mine())
        return;
    timer.printing = 0; /* an aborted run may have been printing */
    timer.patience = PATIENT_PRINTS;
    timer.watchdog_ms = milliseconds;
    watchdog_set(rdtsc() + tsc_ticks_us((uint64_t)milliseconds * 1000));
}

void lapic_watchdog_stop(void)
{
    if (!is_mine())
        return;
    watchdog_set(NO_DEADLINE);
}

void lapic_alarm(uint32_t microseconds, void (*fn)(void))
{
    if (!is_mine())
        return;
    uint64_t rflags = irq_save();
    timer.alarm_fn = fn;
    timer.alarm_at = rdtsc() + tsc_ticks_us(microseconds);
    timer_arm();
    irq_restore(rflags);
}

/* The console of a real PC is slow, and an interrupt that prints in the middle of a text must not
 * end the pause. The timer itself is left alone: no MSR is written for each text. */
static void before_print(void)
{
    if (!is_mine() || (timer.printing == 0 && timer.patience == 0))
        return;
    if (timer.printing++ > 0)
        return;
    timer.patience--;
    timer.printing_since = rdtsc();
}

static void after_print(void)
{
    if (!is_mine() || timer.printing == 0)
        return;
    uint64_t rflags = irq_save();
    if (--timer.printing == 0 && timer.watchdog_at != NO_DEADLINE) {
        timer.watchdog_at += rdtsc() - timer.printing_since;
        if (timer.missed)
            timer_arm();
    }
    irq_restore(rflags);
}

void lapic_timer_init(void)
{
    trap_set_handler(LAPIC_VECTOR_TIMER, timer_interrupt);
    lapic_write(APIC_TIMER_DIVIDE, DIVIDE_BY_16);
    lapic_write(APIC_LVT_TIMER, APIC_LVT_MASK | LAPIC_VECTOR_TIMER);
    lapic_write(APIC_TIMER_INITIAL, COUNT_MAX);
    uint64_t tsc = rdtsc();
    uint32_t count = lapic_read(APIC_TIMER_CURRENT);
    delay_us(CALIBRATION_US);
    timer.timer_ticks = count - lapic_read(APIC_TIMER_CURRENT);
    timer.tsc_ticks = rdtsc() - tsc;
    lapic_write(APIC_TIMER_INITIAL, 0);
    lapic_write(APIC_LVT_TIMER, LAPIC_VECTOR_TIMER);
    /* A timer that counts and cannot interrupt would let HLT sleep for ever. */
    timer.interrupts = lapic_read(APIC_LVT_TIMER) == LAPIC_VECTOR_TIMER;
    print_around(before_print, after_print);
}
