/* Experiment 0-9 · Another processor hangs (self-test: it breaks on purpose). */
#include "kernel/trap.h"
#include "lab/experiment.h"
#include "lapic/smp.h"

#include <stddef.h>

enum { TIME_LIMIT, WATCHDOG };

static const char *const checks[] = {
    [TIME_LIMIT] = "the time limit ends a hang on processor 1",
    [WATCHDOG] = "the watchdog ends the wait for processor 1",
};

static void run(void);

const struct experiment ex0_9 = {
    .id = "0-9",
    .title = "Self-test: another processor hangs",
    .needs = NEED_LAPIC | NEED_SMP,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * With interrupts off, so that only an NMI can end it: once by the time limit of the run, once by
 * the watchdog of the boot processor, which waits.
 */
#define SHORT_MS 5
#define LONG_MS  60000

static void hang(void *arg)
{
    (void)arg;
    irq_disable();
    for (;;)
        __asm__ volatile("pause");
}

static void run(void)
{
    bool ran = smp_run_on(1, hang, NULL, SHORT_MS);
    value_str("why", "%s", smp_why(1));
    check(TIME_LIMIT, !ran);
    check(WATCHDOG, smp_run_on(1, hang, NULL, LONG_MS));
}
