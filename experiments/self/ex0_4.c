/*
 * Experiment 0-4 · Loop for ever (self-test: it breaks on purpose).
 *
 * The watchdog on the local APIC timer must end it after watchdog=MS milliseconds: its vector is in
 * the highest priority class and the loop runs with interrupts on.
 */
#include "lab/experiment_old.h"

#include <stddef.h>

static void run(void)
{
    __asm__ volatile("1: jmp 1b");
    check(false);
}

static const char *const checks[] = {"an endless loop", NULL};

const struct experiment ex0_4 = {
    .id = "0-4",
    .title = "Self-test: loop for ever",
    CHECKS_OLD(checks),
    .needs = NEED_LAPIC,
    .run = run,
    .selftest = true,
};
