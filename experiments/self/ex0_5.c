/* Experiment 0-5 · Ring 3 and high addresses (self-test: its last check breaks on purpose). */
#include "kernel/paging.h"
#include "kernel/panic.h"
#include "kernel/string.h"
#include "kernel/trap.h"
#include "kernel/user.h"
#include "lab/bodies.h"
#include "lab/experiment.h"
#include "lab/pmi_wait.h"
#include "lab/ring3.h"
#include "lapic/lapic.h"
#include "pmu/pmu.h"

#include <stddef.h>

enum { SYSCALL, SYSENTER, GATE, INTERRUPT, PMI, ABOVE_4_GIB, UPPER_HALF, HALT };

static const char *const checks[] = {
    [SYSCALL] = "SYSCALL comes back from ring 3",
    [SYSENTER] = "SYSENTER comes back from ring 3",
    [GATE] = "an interrupt gate comes back from ring 3",
    [INTERRUPT] = "an interrupt is taken in ring 3",
    [PMI] = "a PMI is taken in ring 3",
    [ABOVE_4_GIB] = "code runs above 4 GiB",
    [UPPER_HALF] = "code runs in the upper half",
    [HALT] = "HLT in ring 3",
};

static void run(void);

const struct experiment ex0_5 = {
    .id = "0-5",
    .title = "Self-test: ring 3 and high addresses, ending in a fault there",
    .needs = NEED_LAPIC,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * Other experiments stand on these: ring 3 must be entered and left by every way, an interrupt must
 * find its way out of it and back, and code that is mapped a second time must run there. Last, HLT
 * in ring 3 raises #GP, which must be reported like any fault of an experiment.
 */
#define ARGUMENT       0x123456789
#define CPL_3          3
#define SPIN_ROUNDS    3000000
#define ALARM_US       100
#define OVERFLOW_AFTER 200000 /* user instructions: a loop of millions */
#define USER_SELECT    (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_INT)

static volatile unsigned alarms;
static uint64_t pmi_rip, pmi_cs;

static void on_alarm(void)
{
    alarms++;
}

static void round_trip(unsigned which, enum user_return how)
{
    uint64_t result = 0;
    const char *missing = user_return_missing(how);
    if (missing) {
        check_skip(which, "%s", missing);
        return;
    }
    bool ran = user_run(user_probe, (size_t)(user_probe_end - user_probe), how, ARGUMENT, &result);
    value_hex("result", result);
    check(which, ran && result == ARGUMENT * 4 + CPL_3);
}

static void interrupted_in_ring3(void)
{
    lapic_alarm(ALARM_US, on_alarm);
    bool ran =
        user_run(user_spin, (size_t)(user_spin_end - user_spin), USER_INTERRUPT, SPIN_ROUNDS, NULL);
    value_u64("alarms", alarms);
    check(INTERRUPT, ran && alarms == 1);
}

static void on_pmi(const struct pmi *pmi)
{
    pmi_rip = pmi->frame->rip;
    pmi_cs = pmi->frame->cs;
}

/* PMC0 counts in ring 3 only, so it is there that it overflows. */
static void pmi_in_ring3(void)
{
    const char *missing = need_missing(NEED_PMU | NEED_INSTRUCTIONS | NEED_PMI);
    if (missing) {
        check_skip(PMI, "%s", missing);
        return;
    }
    pmu_set_pmi_handler(on_pmi, PMI_KEEP_RUNNING);
    pmu_select(0, USER_SELECT);
    bool ready = pmu_write_overflow_in(0, OVERFLOW_AFTER) &&
                 user_load(user_spin, (size_t)(user_spin_end - user_spin), USER_INTERRUPT);
    pmu_count(PMU_MASK(0), user_enter, SPIN_ROUNDS);
    wait_for_pmi(1);
    uint64_t size = (uint64_t)(user_spin_end - user_spin);
    value_hex("rip", pmi_rip);
    value_hex("cs", pmi_cs);
    value_u64("pmis", pmu_pmi_count());
    check(PMI, ready && pmu_pmi_count() == 1 && (pmi_cs & CPL_3) == CPL_3 &&
                   pmi_rip - user_code_address() <= size && user_result() == 1);
}

/* body_chain() at its second address, and its name found by that address. */
static void runs_at(unsigned which, uint64_t base)
{
    uint64_t offset = 1;
    uint64_t alias = paging_alias_text(base) + (uint64_t)body_chain;
    const char *name = symbol_name(alias, &offset);
    value_hex("address", alias);
    ((void (*)(uint64_t))alias)(1);
    check(which,
          alias != (uint64_t)body_chain && name && strcmp(name, "body_chain") == 0 && offset == 0);
}

static void run(void)
{
    round_trip(SYSCALL, USER_SYSCALL);
    round_trip(SYSENTER, USER_SYSENTER);
    round_trip(GATE, USER_INTERRUPT);
    interrupted_in_ring3();
    pmi_in_ring3();
    runs_at(ABOVE_4_GIB, paging_high());
    runs_at(UPPER_HALF, PAGING_UPPER);
    user_run(user_halt, (size_t)(user_halt_end - user_halt), USER_INTERRUPT, 0, NULL);
    check(HALT, true);
}
