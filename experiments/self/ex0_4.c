/* Experiment 0-4 · Loop for ever (self-test: it breaks on purpose). */
#include "lab/experiment.h"

enum { ENDED };

static const char *const checks[] = {
    [ENDED] = "an endless loop",
};

static void run(void);

const struct experiment ex0_4 = {
    .id = "0-4",
    .title = "Self-test: loop for ever",
    .needs = NEED_LAPIC,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * The watchdog on the local APIC timer must end it after watchdog=MS milliseconds: its vector is in
 * the highest priority class and the loop runs with interrupts on.
 */
static void run(void)
{
    __asm__ volatile("1: jmp 1b");
    check(ENDED, false);
}
