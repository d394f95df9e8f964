/*
 * Experiment 0-5 · Ring 3 and high addresses (self-test: its last check breaks on purpose).
 *
 * Other experiments stand on these: ring 3 must be entered and left by every way, an interrupt must
 * find its way out of it and back, and code that is mapped a second time must run there. Last, HLT
 * in ring 3 raises #GP, which must be reported like any fault of an experiment.
 */
#include "experiments/bodies.h"
#include "experiments/experiment.h"
#include "experiments/ring3.h"
#include "kernel/panic.h"
#include "kernel/paging.h"
#include "kernel/string.h"
#include "kernel/user.h"
#include "lapic/lapic.h"

#include <stddef.h>

#define ARGUMENT    0x123456789
#define CPL_3       3
#define SPIN_ROUNDS 3000000
#define ALARM_US    100

static volatile unsigned alarms;

static void on_alarm(void)
{
    alarms++;
}

static void round_trip(enum user_return how)
{
    uint64_t result = 0;
    const char *missing = user_return_missing(how);
    if (missing) {
        check_skip("%s", missing);
        return;
    }
    bool ran = user_run(user_probe, (size_t)(user_probe_end - user_probe), how, ARGUMENT, &result);
    value_hex("result", result);
    check(ran && result == ARGUMENT * 4 + CPL_3);
}

static void interrupted_in_ring3(void)
{
    alarms = 0;
    lapic_alarm(ALARM_US, on_alarm);
    bool ran =
        user_run(user_spin, (size_t)(user_spin_end - user_spin), USER_INTERRUPT, SPIN_ROUNDS, NULL);
    value_u64("alarms", alarms);
    check(ran && alarms == 1);
}

/* body_chain() at its second address, and its name found by that address. */
static void runs_at(uint64_t base)
{
    uint64_t offset = 1;
    uint64_t alias = paging_alias_text(base) + (uint64_t)body_chain;
    const char *name = symbol_name(alias, &offset);
    value_hex("address", alias);
    ((void (*)(uint64_t))alias)(1);
    check(alias != (uint64_t)body_chain && name && strcmp(name, "body_chain") == 0 && offset == 0);
}

static void run(void)
{
    round_trip(USER_SYSCALL);
    round_trip(USER_SYSENTER);
    round_trip(USER_INTERRUPT);
    interrupted_in_ring3();
    runs_at(PAGING_HIGH);
    runs_at(PAGING_UPPER);
    user_run(user_halt, (size_t)(user_halt_end - user_halt), USER_INTERRUPT, 0, NULL);
    check(true);
}

static const char *const checks[] = {
    "SYSCALL comes back from ring 3",
    "SYSENTER comes back from ring 3",
    "an interrupt gate comes back from ring 3",
    "an interrupt is taken in ring 3",
    "code runs above 4 GiB",
    "code runs in the upper half",
    "HLT in ring 3",
    NULL,
};

const struct experiment ex0_5 = {
    .id = "0-5",
    .title = "Self-test: ring 3 and high addresses, ending in a fault there",
    .checks = checks,
    .needs = NEED_LAPIC,
    .run = run,
    .selftest = true,
};
