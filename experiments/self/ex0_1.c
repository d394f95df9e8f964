/* Experiment 0-1 · Read a missing MSR (self-test: it breaks on purpose). */
#include "kernel/msr.h"
#include "lab/experiment.h"

enum { NO_FAULT };

static const char *const checks[] = {
    [NO_FAULT] = "a plain RDMSR of a missing MSR",
};

static void run(void);

const struct experiment ex0_1 = {
    .id = "0-1",
    .title = "Self-test: read a missing MSR",
    CHECKS(checks),
    .run = run,
    .selftest = true,
};

/*
 * A plain RDMSR of a reserved address raises #GP (SDM vol. 2 "RDMSR"), and plain means that nobody
 * expects it. The runner must report one `not ok` with vector, registers and backtrace, and go on.
 */

/* SDM vol. 4 "Architectural MSRs": 40000000H to 400000FFH are reserved for software, never
 * implemented by a processor. Hypervisors use some of the first addresses, so this is the last. */
#define MSR_NEVER_IMPLEMENTED 0x400000ff

static void run(void)
{
    /* Some emulators answer 0 where a processor raises #GP: not ok either way. */
    value_hex("no_fault_value", rdmsr(MSR_NEVER_IMPLEMENTED));
    check(NO_FAULT, false);
}
