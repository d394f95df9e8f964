/*
 * Experiment 14-11 · BTS filters.
 *
 * DEBUGCTL.BTS_OFF_OS keeps branches of ring 0 out of the buffer, BTS_OFF_USR those of the other
 * rings (SDM vol. 3 "Setting Up CPL-Qualified BTS"). The trace runs around a round trip to ring 3,
 * once with each filter and once with none. To which ring a branch belongs that crosses from one to
 * the other (IRETQ, the interrupt gate) the manual does not say: the dump shows where this
 * processor files it; what is asserted is that no branch lies in the filtered ring with both ends,
 * and that of the other ring none is missing.
 */
#include "lab/ds_bodies.h"
#include "lab/experiment_old.h"
#include "kernel/cpuid.h"
#include "kernel/user.h"
#include "pmu/ds.h"
#include "pmu/pmu.h"

#include <stddef.h>

#define RECORDS       64
#define ROUNDS        3
#define USER_BRANCHES (2 * ROUNDS - 1)

/* The exit included, and the address behind it, where the exit returns to. */
static bool in_user(uint64_t address)
{
    uint64_t size = (uint64_t)(bts_user_end - bts_user) + USER_EXIT_SIZE;
    return address - user_code_address() <= size;
}

/* Where a label of bts_user lies in ring 3. */
static uint64_t user_at(const char *label)
{
    return user_code_address() + (uint64_t)(label - bts_user);
}

static struct bts_record user_branch(unsigned n)
{
    if (n % 2 == 0)
        return (struct bts_record){user_at(bts_user_jump), user_at(bts_user_there), 0};
    return (struct bts_record){user_at(bts_user_again), user_at(bts_user), 0};
}

struct found {
    unsigned user, kernel, crossing; /* records with both ends in ring 3, in ring 0, one in each */
    bool user_in_order;              /* those of ring 3 are the branches of bts_user */
    bool kernel_whole;               /* the window's call is there, and the return to it */
};

static struct found trace(uint64_t filter, const char *title)
{
    struct found f = {.user_in_order = true};
    bool called = false, returned = false;
    ds_buffer_drain(&ds_area()->bts);
    bts_trace(filter, user_enter, ROUNDS);
    unsigned n = bts_count();
    bts_dump(title, bts_records(), n);
    for (unsigned i = 0; i < n; i++) {
        const struct bts_record *r = &bts_records()[i];
        if (in_user(r->from) && in_user(r->to)) {
            struct bts_record wanted = user_branch(f.user);
            f.user_in_order = f.user_in_order && r->from == wanted.from && r->to == wanted.to;
            f.user++;
        } else if (in_user(r->from) || in_user(r->to)) {
            f.crossing++;
        } else {
            f.kernel++;
            called = called || r->from == (uint64_t)pmu_window_call;
            returned = returned || r->to == (uint64_t)pmu_window_return;
        }
    }
    f.kernel_whole = called && returned;
    value_u64("in_ring_3", f.user);
    value_u64("in_ring_0", f.kernel);
    value_u64("crossing", f.crossing);
    return f;
}

static const char *const checks[] = {
    "the debug store and the code of ring 3 can be set up",
    "without a filter the branches of both rings are recorded",
    "BTS_OFF_OS: no branch within ring 0, every branch of ring 3",
    "BTS_OFF_USR: no branch within ring 3, every branch of ring 0",
    "both: nothing is recorded",
    NULL,
};

static void run(void)
{
    if (!(cpuid(1, 0).ecx & CPUID_1_ECX_DS_CPL)) {
        for (size_t i = 0; checks[i] != NULL; i++)
            check_skip("no BTS_OFF_OS and BTS_OFF_USR: CPUID.1:ECX[4] (DS-CPL) = 0");
        return;
    }
    const struct ds_setup setup = {.bts_records = RECORDS, .bts_threshold = DS_CIRCULAR};
    const char *refused = ds_setup(&setup);
    bool loaded = user_load(bts_user, (size_t)(bts_user_end - bts_user), USER_INTERRUPT);
    value_str("ds_setup", "%s", refused != NULL ? refused : "done");
    value_str("user_code", loaded ? "loaded" : "cannot be loaded");
    check(refused == NULL && loaded);
    if (refused != NULL || !loaded)
        return;

    struct found both = trace(0, "both rings");
    check(both.user == USER_BRANCHES && both.user_in_order && both.kernel_whole &&
          both.crossing >= 2);
    struct found user = trace(DEBUGCTL_BTS_OFF_OS, "BTS_OFF_OS");
    check(user.kernel == 0 && user.user == USER_BRANCHES && user.user_in_order);
    struct found kernel = trace(DEBUGCTL_BTS_OFF_USR, "BTS_OFF_USR");
    check(kernel.user == 0 && kernel.kernel == both.kernel && kernel.kernel_whole);
    struct found none = trace(DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR, "both filters");
    check(none.user + none.kernel + none.crossing == 0);
}

const struct experiment ex14_11 = {
    .id = "14-11",
    .title = "BTS filters",
    CHECKS_OLD(checks),
    .needs = NEED_PMU | NEED_BTS,
    .run = run,
};
