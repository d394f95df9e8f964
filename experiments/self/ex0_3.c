/* Experiment 0-3 · Overflow the stack (self-test: it breaks on purpose). */
#include "lab/experiment.h"

enum { CAME_BACK };

static const char *const checks[] = {
    [CAME_BACK] = "a recursion without end",
};

static void run(void);

const struct experiment ex0_3 = {
    .id = "0-3",
    .title = "Self-test: overflow the stack",
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * The recursion runs into the guard page below the experiment stack. The #PF cannot be delivered on
 * that stack, so it becomes #DF on its own IST stack (SDM vol. 3 "Interrupt 8 - Double Fault
 * Exception"), from which the runner must still come back.
 */

/* In assembly, because a compiler may turn a recursion into a loop: pushes without end. */
static void run(void)
{
    __asm__ volatile("1: push %%rax\n\t"
                     "jmp 1b" ::
                         : "memory");
    check(CAME_BACK, false);
}
