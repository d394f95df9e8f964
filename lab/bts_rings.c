/* A round trip to ring 3, traced. */
#include "lab/bts_rings.h"

#include <stddef.h>

#include "kernel/user.h"
#include "lab/ds_bodies.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/bts.h"
#include "pmu/ds.h"

#define USER_SIZE (size_t)(bts_user_end - bts_user)

bool bts_rings_load(void)
{
    return user_load(bts_user, USER_SIZE, USER_INTERRUPT);
}

/* The exit included, and the address behind it, where the exit returns to. */
static bool in_user(uint64_t address)
{
    return address - user_code_address() <= USER_SIZE + USER_EXIT_SIZE;
}

/* Where a label of bts_user lies in ring 3. */
static uint64_t user_at(const char *label)
{
    return user_code_address() + (uint64_t)(label - bts_user);
}

/* Is this branch number n of bts_user? They are a jump and one back in turn. */
static bool is_user_branch(const struct bts_record *r, unsigned n)
{
    if (n % 2 == 0)
        return r->from == user_at(bts_user_jump) && r->to == user_at(bts_user_there);
    return r->from == user_at(bts_user_again) && r->to == user_at(bts_user);
}

static struct bts_rings sort_records(unsigned rounds)
{
    struct bts_rings f = {0};
    bool in_order = true, called = false, returned = false;
    for (unsigned i = 0; i < bts_count(); i++) {
        const struct bts_record *r = &bts_records()[i];
        if (in_user(r->from) && in_user(r->to)) {
            in_order = in_order && is_user_branch(r, f.user);
            f.user++;
        } else if (in_user(r->from) || in_user(r->to)) {
            f.crossing++;
        } else {
            f.kernel++;
            called = called || r->from == (uint64_t)pmu_window_call;
            returned = returned || r->to == (uint64_t)pmu_window_return;
        }
    }
    f.user_whole = in_order && f.user == 2 * rounds - 1; /* the last round has none back */
    f.kernel_whole = called && returned;
    return f;
}

/* Each ring whole, or with its filter on not there. */
static bool as_filtered(const struct bts_rings *f, uint64_t flags)
{
    return (flags & DEBUGCTL_BTS_OFF_USR ? f->user == 0 : f->user_whole) &&
           (flags & DEBUGCTL_BTS_OFF_OS ? f->kernel == 0 : f->kernel_whole);
}

struct bts_rings bts_rings_trace(uint64_t flags, unsigned rounds, const char *title)
{
    struct bts_rings f;
    struct take take = take_begin();
    do {
        ds_buffer_drain(&ds_area()->bts);
        bts_trace(flags, user_enter, rounds);
        f = sort_records(rounds);
    } while (take_again(&take, as_filtered(&f, flags)));
    bts_dump(title, bts_records(), bts_count());
    value_u64("in_ring_3", f.user);
    value_u64("in_ring_0", f.kernel);
    value_u64("crossing", f.crossing);
    return f;
}
