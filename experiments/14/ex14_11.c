/* Experiment 14-11 · BTS filters. */
#include "kernel/cpuid.h"
#include "lab/bts_lab.h"
#include "lab/bts_rings.h"
#include "lab/experiment.h"
#include "x86/cpuid.h"

enum { SET_UP, BOTH_RINGS, NO_RING_0, NO_RING_3, NOTHING };

static const char *const checks[] = {
    [SET_UP] = "the debug store and the code of ring 3 can be set up",
    [BOTH_RINGS] = "without a filter the branches of both rings are recorded",
    [NO_RING_0] = "BTS_OFF_OS: no branch within ring 0, every branch of ring 3",
    [NO_RING_3] = "BTS_OFF_USR: no branch within ring 3, every branch of ring 0",
    [NOTHING] = "both: nothing is recorded",
};

static void run(void);

const struct experiment ex14_11 = {
    .id = "14-11",
    .title = "BTS filters",
    .needs = NEED_PMU | NEED_BTS,
    CHECKS(checks),
    .run = run,
};

/*
 * DEBUGCTL.BTS_OFF_OS keeps branches of ring 0 out of the buffer, BTS_OFF_USR those of the other
 * rings (SDM vol. 3 "Setting Up CPL-Qualified BTS"). The trace runs around a round trip to ring 3,
 * once with each filter and once with none. To which ring a branch belongs that crosses from one to
 * the other (IRETQ, the interrupt gate) the manual does not say: the dump shows where this
 * processor files it; what is asserted is that no branch lies in the filtered ring with both ends,
 * and that of the other ring none is missing.
 */
#define RECORDS 64
#define ROUNDS  3

static void run(void)
{
    if (!(cpuid(1, 0).ecx & CPUID_1_ECX_DS_CPL)) {
        check_skip_all(SET_UP, NOTHING,
                       "no BTS_OFF_OS and BTS_OFF_USR: CPUID.1:ECX[4] (DS-CPL) = 0");
        return;
    }
    bool set_up = bts_set_up(RECORDS, DS_CIRCULAR), loaded = bts_rings_load();
    value_str("user_code", loaded ? "loaded" : "cannot be loaded");
    check(SET_UP, set_up && loaded);
    if (!set_up || !loaded)
        return;

    struct bts_rings both = bts_rings_trace(0, ROUNDS, "both rings");
    check(BOTH_RINGS, both.user_whole && both.kernel_whole && both.crossing >= 2);
    struct bts_rings user = bts_rings_trace(DEBUGCTL_BTS_OFF_OS, ROUNDS, "BTS_OFF_OS");
    check(NO_RING_0, user.kernel == 0 && user.user_whole);
    struct bts_rings kernel = bts_rings_trace(DEBUGCTL_BTS_OFF_USR, ROUNDS, "BTS_OFF_USR");
    check(NO_RING_3, kernel.user == 0 && kernel.kernel == both.kernel && kernel.kernel_whole);
    struct bts_rings none =
        bts_rings_trace(DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR, ROUNDS, "both filters");
    bool traced = both.user + both.kernel != 0; /* it was the filters that kept it all out */
    check(NOTHING, traced && none.user + none.kernel + none.crossing == 0);
}
