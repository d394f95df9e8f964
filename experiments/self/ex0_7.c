/*
 * Experiment 0-7 · Loop for ever in ring 3 (self-test: it breaks on purpose).
 *
 * The watchdog's interrupt arrives in ring 3, on the stack that the TSS names, and must end the
 * experiment from there.
 */
#include "lab/experiment_old.h"
#include "lab/ring3.h"
#include "kernel/user.h"

#include <stddef.h>

#define FOR_EVER UINT64_MAX

static void run(void)
{
    user_run(user_spin, (size_t)(user_spin_end - user_spin), USER_INTERRUPT, FOR_EVER, NULL);
    check(true);
}

static const char *const checks[] = {"an endless loop in ring 3", NULL};

const struct experiment ex0_7 = {
    .id = "0-7",
    .title = "Self-test: loop for ever in ring 3",
    CHECKS_OLD(checks),
    .needs = NEED_LAPIC,
    .run = run,
    .selftest = true,
};
