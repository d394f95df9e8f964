/*
 * Experiment 14-7 · Filter by privilege.
 *
 * Round trips to ring 3, out by IRETQ and back by SYSCALL, by SYSENTER and through an interrupt
 * gate: first with no filter, then with CPL_EQ_0 and with CPL_NEQ_0. The manual's words are
 * "branches occurring in ring 0" (SDM vol. 3 "Filtering of Last Branch Records"); for a branch that
 * goes from one ring to the other they leave open in which it occurs. So such a branch may be
 * recorded or not, and the run says which; of those within one ring exactly the wanted ones must be
 * there.
 */
#include "lab/branches.h"
#include "lab/experiment_old.h"
#include "kernel/msr.h"
#include "kernel/user.h"

#include <stddef.h>

#define MAX_BRANCHES 8
/* What a branch between two rings is filtered by: nothing here, but it may be absent. */
#define CROSSING LBR_SELECT_FAR_BRANCH

static const struct {
    enum user_return how;
    const char *name;
    const char *entry, *ret;
} ways[] = {
    {USER_SYSCALL, "SYSCALL", user_syscall_entry, user_syscall_ret},
    {USER_SYSENTER, "SYSENTER", user_sysenter_entry, user_sysenter_ret},
    {USER_INTERRUPT, "an interrupt gate", user_interrupt_entry, user_interrupt_ret},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const struct {
    uint64_t select;
    const char *title;
} filters[] = {
    {0, "no filter"},
    {LBR_SELECT_CPL_EQ_0, "without ring 0"},
    {LBR_SELECT_CPL_NEQ_0, "without ring 3"},
};

/* The branches of one round trip (kernel/user.h): kind says in which ring. */
static unsigned write_down(struct branch *taken, size_t way)
{
    const struct branch_run *run = &branch_user_run;
    uint64_t moved = user_code_address() - (uint64_t)branch_user;
    uint64_t user_end = user_code_address() + (uint64_t)(branch_user_end - branch_user);
    unsigned n = 0;
    taken[n++] =
        (struct branch){(uint64_t)pmu_window_call, (uint64_t)user_enter, LBR_SELECT_CPL_EQ_0};
    taken[n++] = (struct branch){(uint64_t)user_iretq, user_code_address(), CROSSING};
    for (unsigned i = 0; i < run->n; i++)
        taken[n++] = (struct branch){run->taken[i].from + moved, run->taken[i].to + moved,
                                     LBR_SELECT_CPL_NEQ_0};
    taken[n++] = (struct branch){user_end, (uint64_t)ways[way].entry, CROSSING};
    taken[n++] =
        (struct branch){(uint64_t)ways[way].ret, (uint64_t)pmu_window_return, LBR_SELECT_CPL_EQ_0};
    return n;
}

static const char *recorded(const struct branch *branch)
{
    struct branch_record records[LBR_MAX_DEPTH];
    unsigned n = lbr_read(records, LBR_MAX_DEPTH);
    for (unsigned i = 0; i < n; i++)
        if (records[i].from == branch->from && records[i].to == branch->to)
            return "recorded";
    return "not recorded";
}

static void check_way(size_t way, uint64_t select)
{
    const char *missing = user_return_missing(ways[way].how);
    if (missing != NULL) {
        check_skip("%s", missing);
        return;
    }
    struct branch taken[MAX_BRANCHES];
    bool loaded = user_load(branch_user, (size_t)(branch_user_end - branch_user), ways[way].how);
    unsigned n = write_down(taken, way);
    if (loaded)
        lbr_record(select, 0, user_enter, 0);
    lbr_dump(ways[way].name);
    value_hex("lbr_select", rdmsr(MSR_LBR_SELECT));
    value_str("into_ring_3", "%s", recorded(&taken[1]));
    value_str("back_to_ring_0", "%s", recorded(&taken[n - 2]));
    check(loaded && branches_in_lbr(taken, n, select, select != 0 ? CROSSING : 0));
}

static void run(void)
{
    for (size_t filter = 0; filter < sizeof(filters) / sizeof(filters[0]); filter++) {
        note("%s", filters[filter].title);
        for (size_t way = 0; way < WAYS; way++)
            check_way(way, filters[filter].select);
    }
}

static const char *const checks[] = {
    "no filter, back by SYSCALL: both rings' branches and the two between them",
    "no filter, back by SYSENTER: both rings' branches and the two between them",
    "no filter, back through an interrupt gate: both rings' branches and the two between them",
    "CPL_EQ_0, back by SYSCALL: all of ring 3, none of ring 0",
    "CPL_EQ_0, back by SYSENTER: all of ring 3, none of ring 0",
    "CPL_EQ_0, back through an interrupt gate: all of ring 3, none of ring 0",
    "CPL_NEQ_0, back by SYSCALL: all of ring 0, none of ring 3",
    "CPL_NEQ_0, back by SYSENTER: all of ring 0, none of ring 3",
    "CPL_NEQ_0, back through an interrupt gate: all of ring 0, none of ring 3",
    NULL,
};

const struct experiment ex14_7 = {
    .id = "14-7",
    .title = "Filter by privilege",
    CHECKS_OLD(checks),
    .needs = NEED_LBR | NEED_LBR_SELECT,
    .run = run,
};
