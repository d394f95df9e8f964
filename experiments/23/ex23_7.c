/* Experiment 23-7 · Events in branch records. */
#include "lab/branches.h"
#include "lab/experiment.h"
#include "lab/take.h"
#include "pmu/pmu.h"

enum { EACH, TOGETHER, GO_ON };

static const char *const checks[] = {
    [EACH] = "alone, each counter has in each record the branches since the one before, up to 3",
    [TOGETHER] = "together, each has its own event: branches in one, instructions in the next",
    [GO_ON] = "they count as they do without it",
};

static void run(void);

const struct experiment ex23_7 = {
    .id = "23-7",
    .title = "Events in branch records",
    .needs = NEED_ARCH_LBR | NEED_LBR | NEED_PMU | NEED_GLOBAL_CTRL | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * Where CPUID.1CH:ECX[19:16] names a general counter, its IA32_PERFEVTSELx has EN_LBR_LOG, bit 35:
 * then each new branch record tells in two bits of INFO how many of its events there were since the
 * record before, 3 meaning 3 or more (SDM vol. 3 "Last Branch Records", event logging). A sample so
 * says which of the last blocks of code had the misses, without an interrupt for each.
 *
 * The function has blocks of one instruction and 0 to 4 conditional jumps that are not taken, each
 * with a jump at its end, which makes the record. That jump itself is an event of the block that it
 * ends: it retires before its record is made. So the nth block has n branches and n + 1
 * instructions. The first record, the window's call, also has what came before it, and is left out.
 *
 * What can go wrong: the fields of two counters are exchanged; a count runs on into the next
 * record, or over into the next field past 3; logging takes the events away from the counter.
 */
#define RINGS     (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define LOGGED    PERFEVTSEL_EN_LBR_LOG
#define MAX_COUNT 3

static uint64_t branches(void)
{
    return pmu_events[PMU_EVENT_BRANCHES].code | RINGS;
}

static uint64_t instructions(void)
{
    return EVENT_INST_RETIRED_ANY_P | RINGS;
}

/* ---- The listing ---- */

static unsigned up_to_3(unsigned n)
{
    return n < MAX_COUNT ? n : MAX_COUNT;
}

/* Branches, and instructions, since the record before it, of the list's record i: after the call
 * XOR, JMP; then the blocks; then NOP, RET. */
static unsigned branches_before(unsigned i)
{
    unsigned last = (unsigned)branch_logged_run.n - 1;
    return i == 1 || i == last ? 1 : i - 1;
}

static unsigned instructions_before(unsigned i)
{
    return branches_before(i) + 1;
}

/* ---- The runs ---- */

static struct branch_record records[LBR_MAX_DEPTH];
static unsigned n_records;

static void log_once(uint64_t counters)
{
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        if (counters & PMU_MASK(n))
            pmu_write(n, 0);
    pmu_open(counters);
    lbr_record(0, 0, branch_logged, 0);
    pmu_close();
    n_records = lbr_read(records, LBR_MAX_DEPTH);
}

/* Has the counter, in every record but the oldest, what the listing has before it? */
static bool tells(unsigned counter, unsigned (*before)(unsigned i))
{
    const struct branch_run *all = &branch_logged_run;
    unsigned kept = (unsigned)all->n < lbr_info()->depth ? (unsigned)all->n : lbr_info()->depth;
    bool right = branches_held(all->taken, (unsigned)all->n, 0, 0);
    for (unsigned age = 0; age + 1 < kept && right; age++)
        right = records[age].counts[counter] == up_to_3(before((unsigned)all->n - 1 - age));
    return right;
}

/* While none logs: the manual says what the fields hold when their counters do. */
static const char *without_logging(void)
{
    for (unsigned age = 0; age + 1 < n_records; age++)
        for (unsigned n = 0; n < LBR_LOGGED; n++)
            if (records[age].counts[n] != 0)
                return "not all 0";
    return "0 in every record";
}

static bool logs_alone(unsigned counter)
{
    bool right;
    struct take take = take_begin();
    pmu_select(counter, branches() | LOGGED);
    do {
        log_once(PMU_MASK(counter));
        right = tells(counter, branches_before);
    } while (take_again(&take, right));
    if (!right)
        lbr_dump("of the wrong one");
    pmu_select(counter, 0);
    note("IA32_PMC%u: %s", counter, right ? "as in the listing" : "other counts");
    return right;
}

static void check_each(uint64_t counters)
{
    bool all = true;
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        if (counters & PMU_MASK(n))
            all = logs_alone(n) && all;
    value_hex("counters", counters);
    check(EACH, all);
}

/* Even ones count branches, odd ones instructions. */
static bool is_odd(unsigned n)
{
    return n % 2 != 0;
}

static void select_all(uint64_t counters, uint64_t logged)
{
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        if (counters & PMU_MASK(n))
            pmu_select(n, (is_odd(n) ? instructions() : branches()) | logged);
}

static bool all_tell(uint64_t counters)
{
    bool all = true;
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        if (counters & PMU_MASK(n))
            all = tells(n, is_odd(n) ? instructions_before : branches_before) && all;
    return all;
}

struct counted {
    uint64_t each[LBR_LOGGED];
    bool right;
};

static struct counted count_all(uint64_t counters, uint64_t logged)
{
    struct counted c = {0};
    struct take take = take_begin();
    select_all(counters, logged);
    do {
        log_once(counters);
        c.right = logged == 0 || all_tell(counters);
    } while (take_again(&take, c.right));
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        c.each[n] = counters & PMU_MASK(n) ? pmu_read(n) : 0;
    return c;
}

static void check_together(uint64_t counters)
{
    unsigned first = 0;
    while (!(counters & PMU_MASK(first)))
        first++;
    count_all(counters, LOGGED); /* the way there is the same from now on */
    struct counted logged = count_all(counters, LOGGED);
    lbr_dump("all at once");
    check(TOGETHER, logged.right);
    struct counted plain = count_all(counters, 0);
    value_str("while_none_logs", "%s", without_logging());
    bool same = true;
    for (unsigned n = 0; n < LBR_LOGGED; n++)
        same = same && logged.each[n] == plain.each[n];
    value_u64("with_logging", logged.each[first]);
    value_u64("without", plain.each[first]);
    check(GO_ON, same && plain.each[first] != 0);
}

static void run(void)
{
    uint64_t counters = lbr_logged();
    const char *no_branches = pmu_no_event(PMU_EVENT_BRANCHES);
    if (counters == 0)
        check_skip_all(EACH, GO_ON, "no events in branch records: CPUID.1CH:ECX[19:16] = 0");
    else if (no_branches != NULL)
        check_skip_all(EACH, GO_ON, "%s", no_branches);
    if (counters == 0 || no_branches != NULL)
        return;
    check_each(counters);
    check_together(counters);
}
