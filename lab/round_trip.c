/* Round trips to ring 3 whose branches are known. */
#include "lab/round_trip.h"

#include <stddef.h>

static const struct {
    const char *name;
    const char *entry, *ret;
} ways[] = {
    [USER_SYSCALL] = {"SYSCALL", user_syscall_entry, user_syscall_ret},
    [USER_SYSENTER] = {"SYSENTER", user_sysenter_entry, user_sysenter_ret},
    [USER_INTERRUPT] = {"an interrupt gate", user_interrupt_entry, user_interrupt_ret},
};

static const struct branch *add(struct round_trip *trip, const void *from, const void *to,
                                uint64_t kind)
{
    trip->taken[trip->n] = (struct branch){(uint64_t)from, (uint64_t)to, kind};
    return &trip->taken[trip->n++];
}

bool round_trip_load(struct round_trip *trip, enum user_return how)
{
    size_t size = (size_t)(branch_user_end - branch_user);
    bool loaded = user_load(branch_user, size, how);
    const char *user = (const char *)user_code_address();
    int64_t moved = user - branch_user;

    *trip = (struct round_trip){.name = ways[how].name};
    add(trip, pmu_window_call, (const void *)user_enter, LBR_SELECT_CPL_EQ_0);
    trip->into = add(trip, user_iretq, user, ROUND_TRIP_CROSSING);
    for (unsigned i = 0; i < branch_user_run.n; i++) {
        const struct branch *b = &branch_user_run.taken[i];
        add(trip, (const char *)b->from + moved, (const char *)b->to + moved, LBR_SELECT_CPL_NEQ_0);
    }
    uint64_t int_n = how == USER_INTERRUPT ? BRANCH_INT_N : 0;
    trip->back = add(trip, user + size, ways[how].entry, ROUND_TRIP_CROSSING | int_n);
    add(trip, ways[how].ret, pmu_window_return, LBR_SELECT_CPL_EQ_0);
    return loaded;
}
