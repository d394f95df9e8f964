/* Experiment 0-2 · Jump to address 0 (self-test: it breaks on purpose). */
#include "lab/experiment.h"

enum { CAME_BACK };

static const char *const checks[] = {
    [CAME_BACK] = "a jump to address 0",
};

static void run(void);

const struct experiment ex0_2 = {
    .id = "0-2",
    .title = "Self-test: jump to address 0",
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * Nothing is mapped at 0, so the instruction fetch raises #PF with CR2 = 0 (SDM vol. 3 "Interrupt
 * 14 - Page-Fault Exception"). The report must come although RIP is no address of the kernel.
 */
static void run(void)
{
    /* A call, so that the way here stands on the stack. */
    __asm__ volatile("call *%0" ::"r"((uint64_t)0) : "memory");
    check(CAME_BACK, false);
}
