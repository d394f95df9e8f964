/* Experiment 0-8 · Work and a fault on the other processors (self-test: its last check breaks on
 * purpose). */
#include "kernel/percpu.h"
#include "kernel/user.h"
#include "lab/experiment.h"
#include "lab/ring3.h"
#include "lapic/lapic.h"
#include "lapic/smp.h"

#include <stddef.h>

enum { ALL_WORK, FAULTS_TOLD, WORKS_AGAIN, FAULT };

static const char *const checks[] = {
    [ALL_WORK] = "every processor works, with a stack, a local APIC and a ring 3 of its own",
    [FAULTS_TOLD] = "a fault on each of them is told",
    [WORKS_AGAIN] = "processor 1 works again after its fault",
    [FAULT] = "a fault on processor 1",
};

static void run(void);

const struct experiment ex0_8 = {
    .id = "0-8",
    .title = "Self-test: work and a fault on the other processors",
    .needs = NEED_LAPIC | NEED_SMP,
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * Every processor takes work, has stacks, a local APIC and a ring 3 of its own. A fault on one of
 * them is reported, ends what ran there and fails the experiment; the processor goes on.
 */
#define TIMEOUT_MS 2000
#define CPL_3      3

static struct {
    uint32_t apic_id;
    unsigned index;
    uint64_t user;
    bool own_stack;
} seen[MAX_CPUS];

static void look_around(void *arg)
{
    uint64_t i = (uint64_t)arg;
    struct stack_range stack;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    seen[i].apic_id = lapic_id();
    seen[i].index = this_cpu()->index;
    seen[i].own_stack = stack_find(here, false, &stack) && stack.top == this_cpu()->experiment_top;
    user_run(user_probe, (size_t)(user_probe_end - user_probe), USER_INTERRUPT, i, &seen[i].user);
}

static void fault(void *arg)
{
    (void)arg;
    __asm__ volatile("ud2");
}

static void run(void)
{
    bool good = true;
    for (unsigned i = 1; i < smp_count(); i++) {
        good = smp_run_on(i, look_around, (void *)(uint64_t)i, TIMEOUT_MS) && good;
        good = good && seen[i].apic_id == smp_apic_id(i) && seen[i].index == i &&
               seen[i].own_stack && seen[i].user == i * 4 + CPL_3;
    }
    value_u64("processors", smp_count());
    check(ALL_WORK, good);

    unsigned failed = 0;
    for (unsigned i = 1; i < smp_count(); i++)
        failed += !smp_run_on(i, fault, NULL, TIMEOUT_MS) && smp_why(i)[0] != '\0';
    value_u64("faults", failed);
    check(FAULTS_TOLD, failed == smp_count() - 1);
    check(WORKS_AGAIN, smp_run_on(1, look_around, (void *)1, TIMEOUT_MS));
    bool ran = smp_run_on(1, fault, NULL, TIMEOUT_MS);
    value_str("why", "%s", smp_why(1));
    check(FAULT, ran);
}
