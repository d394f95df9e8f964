/* Experiment 0-10 · Print for ever (self-test: it breaks on purpose). */
#include "kernel/print.h"
#include "kernel/time.h"
#include "lab/experiment.h"

enum { PATIENT, ENDED };

static const char *const checks[] = {
    [PATIENT] = "a slow console is no hang",
    [ENDED] = "printing without an end",
};

static void run(void);

const struct experiment ex0_10 = {
    .id = "0-10",
    .title = "Self-test: print for ever",
    .needs = NEED_LAPIC,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

#define TEXTS 20
#define WIDTH 10000

/*
 * The watchdog waits while the console prints: these texts take longer than watchdog=10 allows the
 * whole experiment. It must not wait for ever, or who prints in an endless loop is never ended.
 */
static void run(void)
{
    uint64_t start = rdtsc();
    for (unsigned i = 0; i < TEXTS; i++)
        kprintf("# %*s\n", WIDTH, "long");
    value_u64("microseconds", (rdtsc() - start) / tsc_ticks_us(1));
    check(PATIENT, true);
    for (;;)
        kprintf("#\n");
}
