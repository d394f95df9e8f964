/*
 * Experiment 0-2 · Jump to address 0 (self-test: it breaks on purpose).
 *
 * Nothing is mapped at 0, so the instruction fetch raises #PF with CR2 = 0 (SDM vol. 3 "Interrupt
 * 14 - Page-Fault Exception"). The report must come although RIP is no address of the kernel.
 */
#include "lab/experiment_old.h"

#include <stddef.h>

static void run(void)
{
    /* A call, so that the way here stands on the stack. */
    __asm__ volatile("call *%0" ::"r"((uint64_t)0) : "memory");
    check(false);
}

static const char *const checks[] = {"a jump to address 0", NULL};

const struct experiment ex0_2 = {
    .id = "0-2",
    .title = "Self-test: jump to address 0",
    CHECKS_OLD(checks),
    .run = run,
    .selftest = true,
};
