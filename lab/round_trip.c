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

static struct branch *add(struct round_trip *trip, const void *from, const void *to, uint64_t kind)
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

/* From the ring that from_filter keeps out into the one that to_filter does. */
static void cross(struct branch *crossing, uint64_t from_filter, uint64_t to_filter,
                  uint64_t select)
{
    crossing->kind = to_filter | (crossing->kind & BRANCH_INT_N);
    if (select & from_filter)
        crossing->from = UINT64_MAX;
}

uint64_t round_trip_filter(struct round_trip *trip, uint64_t select)
{
    if (select == 0)
        return 0;
    if (!lbr_info()->hides_from)
        return ROUND_TRIP_CROSSING;
    cross(trip->into, LBR_SELECT_CPL_EQ_0, LBR_SELECT_CPL_NEQ_0, select);
    cross(trip->back, LBR_SELECT_CPL_NEQ_0, LBR_SELECT_CPL_EQ_0, select);
    return 0;
}
