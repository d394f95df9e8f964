/* Experiment 14-7 · Filter by privilege. */
#include "lab/experiment.h"
#include "lab/round_trip.h"

enum {
    ALL_SYSCALL,
    ALL_SYSENTER,
    ALL_GATE,
    RING_3_SYSCALL,
    RING_3_SYSENTER,
    RING_3_GATE,
    RING_0_SYSCALL,
    RING_0_SYSENTER,
    RING_0_GATE,
};

// clang-format off
static const char *const checks[] = {
    [ALL_SYSCALL] = "no filter, back by SYSCALL: both rings' branches and the two between them",
    [ALL_SYSENTER] = "no filter, back by SYSENTER: both rings' branches and the two between them",
    [ALL_GATE] = "no filter, back through an interrupt gate: both rings' branches and the two between them",
    [RING_3_SYSCALL] = "CPL_EQ_0, back by SYSCALL: all of ring 3, none of ring 0",
    [RING_3_SYSENTER] = "CPL_EQ_0, back by SYSENTER: all of ring 3, none of ring 0",
    [RING_3_GATE] = "CPL_EQ_0, back through an interrupt gate: all of ring 3, none of ring 0",
    [RING_0_SYSCALL] = "CPL_NEQ_0, back by SYSCALL: all of ring 0, none of ring 3",
    [RING_0_SYSENTER] = "CPL_NEQ_0, back by SYSENTER: all of ring 0, none of ring 3",
    [RING_0_GATE] = "CPL_NEQ_0, back through an interrupt gate: all of ring 0, none of ring 3",
};
// clang-format on

static void run(void);

const struct experiment ex14_7 = {
    .id = "14-7",
    .title = "Filter by privilege",
    .needs = NEED_LBR | NEED_LBR_SELECT,
    CHECKS(checks),
    .run = run,
};

/*
 * Round trips to ring 3, out by IRETQ and back by SYSCALL, by SYSENTER and through an interrupt
 * gate: first with no filter, then with CPL_EQ_0 and with CPL_NEQ_0 (of architectural records:
 * without OS, without USR). The manual's words are "branches occurring in ring 0" (SDM vol. 3
 * "Filtering of Last Branch Records"); for a branch that goes from one ring to the other they leave
 * open in which it occurs. So such a branch may be recorded or not, and the run says which; of
 * those within one ring exactly the wanted ones must be there.
 *
 * Architectural records leave nothing open: a branch that changes the ring "is recorded in LBRs
 * only if the CPL at the end of the operation is enabled", and where it comes out of a ring that is
 * filtered out FROM is 0FFFFFFFFFFFFFFFFH (SDM vol. 3 "Last Branch Records").
 */
static const char *how_recorded(const struct branch_record *records, unsigned n,
                                const struct branch *crossing)
{
    for (unsigned i = 0; i < n; i++)
        if (branch_is(&records[i], crossing))
            return records[i].from == UINT64_MAX       ? "recorded, FROM hidden"
                   : records[i].from == crossing->from ? "recorded"
                                                       : "recorded, FROM behind it";
    return "not recorded";
}

static void check_trip(unsigned which, enum user_return how, uint64_t select)
{
    const char *missing = user_return_missing(how);
    if (missing != NULL) {
        check_skip(which, "%s", missing);
        return;
    }
    struct round_trip trip;
    struct branch_record records[LBR_MAX_DEPTH];
    bool loaded = round_trip_load(&trip, how);
    uint64_t may_lack = round_trip_filter(&trip, select);
    if (loaded)
        branches_record(select, user_enter, 0, trip.taken, trip.n, may_lack);
    unsigned n = lbr_read(records, LBR_MAX_DEPTH);
    lbr_dump(trip.name);
    value_hex(lbr_info()->filter_key, lbr_filter());
    value_str("into_ring_3", "%s", how_recorded(records, n, trip.into));
    value_str("back_to_ring_0", "%s", how_recorded(records, n, trip.back));
    check(which, loaded && branches_are(records, n, trip.taken, trip.n, select, may_lack));
}

static void run(void)
{
    note("no filter");
    check_trip(ALL_SYSCALL, USER_SYSCALL, 0);
    check_trip(ALL_SYSENTER, USER_SYSENTER, 0);
    check_trip(ALL_GATE, USER_INTERRUPT, 0);
    note("without ring 0");
    check_trip(RING_3_SYSCALL, USER_SYSCALL, LBR_SELECT_CPL_EQ_0);
    check_trip(RING_3_SYSENTER, USER_SYSENTER, LBR_SELECT_CPL_EQ_0);
    check_trip(RING_3_GATE, USER_INTERRUPT, LBR_SELECT_CPL_EQ_0);
    note("without ring 3");
    check_trip(RING_0_SYSCALL, USER_SYSCALL, LBR_SELECT_CPL_NEQ_0);
    check_trip(RING_0_SYSENTER, USER_SYSENTER, LBR_SELECT_CPL_NEQ_0);
    check_trip(RING_0_GATE, USER_INTERRUPT, LBR_SELECT_CPL_NEQ_0);
}
