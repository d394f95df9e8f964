/* Experiment 0-7 · Loop for ever in ring 3 (self-test: it breaks on purpose). */
#include "kernel/user.h"
#include "lab/experiment.h"
#include "lab/ring3.h"

#include <stddef.h>

enum { ENDED };

static const char *const checks[] = {
    [ENDED] = "an endless loop in ring 3",
};

static void run(void);

const struct experiment ex0_7 = {
    .id = "0-7",
    .title = "Self-test: loop for ever in ring 3",
    .needs = NEED_LAPIC,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * The watchdog's interrupt arrives in ring 3, on the stack that the TSS names, and must end the
 * experiment from there.
 */
#define FOR_EVER UINT64_MAX

static void run(void)
{
    user_run(user_spin, (size_t)(user_spin_end - user_spin), USER_INTERRUPT, FOR_EVER, NULL);
    check(ENDED, true);
}
