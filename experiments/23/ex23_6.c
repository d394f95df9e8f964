/* Experiment 23-6 · Call stack mode. */
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/recursion.h"
#include "lab/take.h"

#include <stddef.h>

enum { LIVE, UNWOUND, DEEPER, EMPTY, WITHOUT, NEXT };

static const char *const checks[] = {
    [LIVE] = "the records are the calls into the live frames, innermost first, and nothing else",
    [UNWOUND] = "what has returned has taken its record along",
    [DEEPER] = "of more frames than the stack holds the innermost are there",
    [EMPTY] = "when all have returned there is no record",
    [WITHOUT] = "without the mode the leaf functions fill the stack: the outer frames are gone",
    [NEXT] = "a call to the next instruction makes no frame",
};

static void run(void);

const struct experiment ex23_6 = {
    .id = "23-6",
    .title = "Call stack mode",
    .needs = NEED_LBR | NEED_LBR_SELECT | NEED_CALL_STACK,
    CHECKS(checks),
    .run = run,
};

/*
 * A profiler wants to know who called the function that it has hit. Frame pointers may be missing,
 * and of the branch records the leaf functions' calls and returns push the callers' out. In
 * call-stack mode a near call is recorded, and a near return takes the newest record away: what is
 * left are the frames that are alive. It is MSR_LBR_SELECT.EN_CALLSTACK from Haswell on (SDM vol. 3
 * "Last Branch, Call Stack, Interrupt, and Exception Recording for Processors based on Haswell
 * Microarchitecture"; the filters have to suppress all but near calls and returns) and
 * IA32_LBR_CTL.CALL_STACK of architectural records ("Last Branch Records", "Call-Stack Mode").
 * FREEZE_LBRS_ON_PMI is off: a freeze between a call and its return would leave the stack crooked.
 *
 * Two functions call each other, so that each frame's record differs from its neighbour's, and both
 * call a leaf before they go deeper, one directly, one through a register. The recording ends by a
 * WRMSR in the middle, at the innermost frame or after some have returned. What can go wrong: a
 * return takes the oldest; calls through a register are not matched; TOS does not go back.
 *
 * A call to the next instruction is how code finds its own address, and no RET goes with it. The
 * architectural records leave it out ("excluding" it, table of the branch types). Those of the
 * model do not everywhere, as Linux found when it began to use the mode: there it is not tried.
 */
#define CALL_STACK                                                                                 \
    (LBR_SELECT_EN_CALLSTACK | LBR_SELECT_JCC | LBR_SELECT_NEAR_IND_JMP |                          \
     LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_FAR_BRANCH)
#define PLAIN      (CALL_STACK & ~LBR_SELECT_EN_CALLSTACK)
#define MAX_FRAMES (2 * LBR_MAX_DEPTH)

static struct branch frames[MAX_FRAMES];

/* frames holds what should be there; says whether it is. */
static bool record_frames(uint64_t select, window_body body, struct recursion *r, unsigned n)
{
    r->msr = lbr_info()->control;
    r->off = lbr_switched_off(select);
    struct take take = take_begin();
    do
        lbr_record(select, 0, body, (uint64_t)r);
    while (take_again(&take, branches_held(frames, n, 0, 0)));
    return branches_held(frames, n, 0, 0);
}

static void check_frames(unsigned which, unsigned down, unsigned up, const char *title)
{
    struct recursion r = {.down = down, .up = up};
    unsigned n = recursion_frames(frames, &r);
    record_frames(CALL_STACK, recursion, &r, n);
    lbr_dump(title);
    value_hex(lbr_info()->filter_key, lbr_filter());
    value_u64("frames", n);
    check(which, branches_in_lbr(frames, n, 0, 0));
}

/* To the end, with the recording on: no return that ends it comes. */
static void check_empty(unsigned down)
{
    struct recursion r = {.down = down, .up = UINT64_MAX};
    record_frames(CALL_STACK, recursion, &r, 0);
    lbr_dump("after the last return");
    check(EMPTY, branches_in_lbr(frames, 0, 0, 0));
}

/* The same calls in the same order; the outermost frame's is the one that must be gone. */
static void check_without(unsigned down)
{
    struct branch_record records[LBR_MAX_DEPTH];
    struct recursion r = {.down = down};
    unsigned live = recursion_frames(frames, &r);
    record_frames(PLAIN, recursion, &r, live);
    unsigned n = lbr_read(records, LBR_MAX_DEPTH), there = 0;
    for (unsigned i = 0; i < live; i++)
        there += branch_among(records, n, &frames[i]);
    lbr_dump("without the mode");
    value_u64("records", n);
    value_u64("frames", live);
    value_u64("frames_there", there);
    check(WITHOUT, n == lbr_info()->depth && !branch_among(records, n, &frames[0]));
}

static void check_next(void)
{
    const char *missing = need_missing(NEED_ARCH_LBR);
    if (missing != NULL) {
        check_skip(NEXT, "%s", missing);
        return;
    }
    struct recursion r = {0};
    frames[0] = recursion_next_run.taken[0];
    record_frames(CALL_STACK, recursion_next, &r, 1);
    lbr_dump("after a call to the next instruction");
    check(NEXT, branches_in_lbr(frames, 1, 0, 0));
}

static void run(void)
{
    unsigned depth = lbr_info()->depth, fits = depth - RECURSION_OUTER;
    check_frames(LIVE, fits / 2, 0, "at the innermost frame");
    check_frames(UNWOUND, fits - 2, fits / 2, "after some of them have returned");
    check_frames(DEEPER, depth + depth / 2, 0, "deeper than the stack");
    check_empty(fits / 2);
    check_without(fits / 2);
    check_next();
}
