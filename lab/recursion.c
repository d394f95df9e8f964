/* The frames of a recursion. */
#include "lab/recursion.h"

extern const char recursion_call[], recursion_even[], recursion_even_call[], recursion_odd[],
    recursion_odd_call[];

static struct branch call(const char *from, const char *to, uint64_t kind)
{
    return (struct branch){(uint64_t)from, (uint64_t)to, kind};
}

unsigned recursion_frames(struct branch *calls, const struct recursion *r)
{
    unsigned n = 0;
    calls[n++] = call(pmu_window_call, (const char *)recursion, LBR_SELECT_NEAR_IND_CALL);
    calls[n++] = call(recursion_call, recursion_even, LBR_SELECT_NEAR_REL_CALL);
    for (uint64_t i = 0; i < r->down - r->up; i++)
        calls[n++] = i % 2 == 0
                         ? call(recursion_even_call, recursion_odd, LBR_SELECT_NEAR_REL_CALL)
                         : call(recursion_odd_call, recursion_even, LBR_SELECT_NEAR_REL_CALL);
    return n;
}
