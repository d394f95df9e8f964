/*
 * Experiment 0-3 · Overflow the stack (self-test: it breaks on purpose).
 *
 * The recursion runs into the guard page below the experiment stack. The #PF cannot be delivered on
 * that stack, so it becomes #DF on its own IST stack (SDM vol. 3 "Interrupt 8 - Double Fault
 * Exception"), from which the runner must still come back.
 */
#include "lab/experiment_old.h"

#include <stddef.h>

/* In assembly, because a compiler may turn a recursion into a loop: pushes without end. */
static void run(void)
{
    __asm__ volatile("1: push %%rax\n\t"
                     "jmp 1b" ::
                         : "memory");
    check(false);
}

static const char *const checks[] = {"a recursion without end", NULL};

const struct experiment ex0_3 = {
    .id = "0-3",
    .title = "Self-test: overflow the stack",
    CHECKS_OLD(checks),
    .run = run,
    .selftest = true,
};
