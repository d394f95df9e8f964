/* Experiment 23-9 · Adaptive records. */
#include "lab/experiment.h"
#include "lab/pebs_lab.h"
#include "lab/take.h"
#include "pmu/lbr.h"
#include "pmu/pmu.h"

enum { SELECTS, BASIC, MEMORY, REGISTERS, XMM, ONE_BRANCH, BRANCHES, COUNTERS, ALL };

static const char *const checks[] = {
    [SELECTS] = "a counter samples the event, and MSR_PEBS_DATA_CFG takes each group",
    [BASIC] = "no group: the basic one alone, which names a load of the run",
    [MEMORY] = "the memory group: the address of what the load loaded",
    [REGISTERS] = "the general registers: RIP in the run, each as loaded there",
    [XMM] = "the XMM registers: 16 bytes for each",
    [ONE_BRANCH] = "one branch record: the newest",
    [BRANCHES] = "all branch records: newest first, the rounds of the loop and the way into it",
    [COUNTERS] = "counters, with registers: they go on from record to record as the run does",
    [ALL] = "all groups together: each as it is alone, and they agree",
};

static void run(void);

const struct experiment ex23_9 = {
    .id = "23-9",
    .title = "Adaptive records",
    .needs = NEED_PMU | NEED_GLOBAL_CTRL | NEED_GENERAL_2 | NEED_PEBS,
    CHECKS(checks),
    .run = run,
};

/*
 * A record of the formats up to 3 holds all that there is. Since Ice Lake MSR_PEBS_DATA_CFG says
 * which groups are wanted beside the basic one (eventing IP, counters, TSC): memory, general
 * registers, XMM registers, branch records, and with format 6 counters. They stand in the record in
 * this order, those that are not wanted take no room, and the first quadword names groups and size
 * (SDM vol. 3 "Adaptive PEBS", "PEBS Record Format"; the counters' group is known from Linux).
 *
 * The loop of 15-5 makes each of them known: the eventing IP names a load, whose entry of the table
 * is the data address; RAX tells which load came last; and the branch records hold one JNZ for each
 * round that is over, and before those the call of the window. All together RCX, which counts the
 * rounds, must agree with the number of these branches: samples are taken in the first rounds.
 *
 * The kernel does not use the XMM registers: what they hold is whatever the firmware left. Only
 * their room is looked at.
 */
#define RECORDS 8
#define PERIOD  330 /* loads: five rounds and a bit */
#define ROUNDS  30  /* five samples, the last in a round that 32 branch records reach back from */
/* The second counter counts instructions. */
#define PLAIN_SELECT (EVENT_INST_RETIRED_ANY_P | PERFEVTSEL_USR | PERFEVTSEL_OS)
#define LOOP_GROUPS                                                                                \
    (PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_XMMS | PEBS_DATA_CFG_LBRS)
#define GENERAL_SHIFT 32 /* of PEBS_DATA_CFG_GENERAL */

static struct pebs_run the_run;
static unsigned sampler, plain;

/* What the record before this one had, in the same run. */
static struct {
    uint64_t counted, instructions;
    unsigned rounds;
} before;

static uint64_t branches(unsigned n)
{
    return PEBS_DATA_CFG_LBRS | (uint64_t)(n - 1) << PEBS_DATA_CFG_LBR_SHIFT;
}

static uint64_t counters(void)
{
    return PEBS_DATA_CFG_CNTR | PMU_MASK(plain) << GENERAL_SHIFT;
}

/* ---- Is this group right? NULL, or what is wrong ---- */

static bool is_load(uint64_t ip)
{
    uint64_t offset = ip - (uint64_t)pebs_loads_loop;
    return offset % PEBS_LOAD_SIZE == 0 && offset / PEBS_LOAD_SIZE < PEBS_LOADS;
}

/* Other events than loads have no data address. */
static const char *memory_wrong(const struct pebs_record *r)
{
    uint64_t load =
        (r->value[PEBS_EVENTING_IP] - (uint64_t)pebs_loads_loop) / PEBS_LOAD_SIZE % PEBS_LOADS;
    return r->value[PEBS_DATA_ADDRESS] == (uint64_t)&the_run.table[load] ? NULL : "data address";
}

static const char *registers_wrong(const struct pebs_record *r)
{
    if (!pebs_record_agrees(r, &the_run, (uint64_t)pebs_loads))
        return "registers";
    return r->value[PEBS_RIP] == r->value[PEBS_EVENTING_IP] + PEBS_LOAD_SIZE
               ? NULL
               : "RIP is not behind the eventing IP";
}

static bool is_branch(const struct pebs_record *r, unsigned n, const char *from, const void *to)
{
    struct pebs_branch raw;
    struct branch_record b;
    return pebs_branch(r, n, &raw) &&
           lbr_decode(lbr_info()->format, raw.from, raw.to, raw.info, &b) &&
           b.from == (uint64_t)from && b.to == (uint64_t)to;
}

/* So many rounds are over: a JNZ for each, and before them the window's call, as far as the record
 * reaches back. */
static const char *branches_wrong(const struct pebs_record *r, unsigned *rounds)
{
    unsigned n = 0;
    while (n < r->n_branches && is_branch(r, n, pebs_loads_again, pebs_loads_loop))
        n++;
    *rounds = n;
    if (n == 0)
        return "the newest branch record";
    if (n < r->n_branches && !is_branch(r, n, pmu_window_call, (const void *)pebs_loads))
        return "the branch record before the loop";
    return r->n_branches == 1 || n > before.rounds || n == r->n_branches ? NULL : "no newer rounds";
}

/* Both have gone on since the record before, by half as much again at most. */
static const char *counters_wrong(const struct pebs_record *r)
{
    uint64_t value = 0, at = pebs_place_of(r, &the_run).instructions;
    if (!pebs_counter_value(r, plain, &value))
        return "the counter is not there";
    uint64_t counted = value - before.counted, done = at - before.instructions;
    before.counted = value;
    before.instructions = at;
    return 2 * counted >= done && 2 * counted <= 3 * done + PERIOD ? NULL : "the counter's value";
}

static const char *wrong_with(const struct pebs_record *r, uint64_t groups)
{
    const char *wrong = NULL;
    unsigned rounds = 0;
    if (r->size != pebs_record_size())
        return "size";
    if (r->groups != (uint32_t)groups)
        return "groups";
    if (!is_load(r->value[PEBS_EVENTING_IP]))
        return "the eventing IP is no load";
    if (groups & PEBS_DATA_CFG_MEMINFO)
        wrong = memory_wrong(r);
    if (wrong == NULL && (groups & PEBS_DATA_CFG_GPRS))
        wrong = registers_wrong(r);
    if (wrong == NULL && (groups & PEBS_DATA_CFG_LBRS))
        wrong = branches_wrong(r, &rounds);
    if (wrong == NULL && (groups & PEBS_DATA_CFG_CNTR))
        wrong = counters_wrong(r);
    before.rounds = rounds;
    if (wrong == NULL && (groups & PEBS_DATA_CFG_LBRS) && (groups & PEBS_DATA_CFG_GPRS) &&
        rounds < r->n_branches && rounds != pebs_place_of(r, &the_run).loads / PEBS_LOADS)
        wrong = "rounds by the branch records and by RCX";
    return wrong;
}

/* ---- The samples ---- */

static struct {
    unsigned records, branches;
    const char *wrong; /* of the first that is, */
    unsigned at;       /* which */
} seen;

static void sample_once(uint64_t groups)
{
    struct pebs_record r;
    seen = (typeof(seen)){0};
    before = (typeof(before)){0};
    pmu_select(plain, PLAIN_SELECT);
    pmu_write(plain, 0);
    if (groups & PEBS_DATA_CFG_LBRS)
        lbr_start(0, 0);
    pebs_lab_sample(sampler, pebs_lab_event(), PERIOD, &the_run, ROUNDS, PMU_MASK(plain));
    if (groups & PEBS_DATA_CFG_LBRS)
        lbr_stop();
    for (unsigned n = pebs_count(); seen.records < n && seen.wrong == NULL; seen.records++) {
        seen.at = seen.records;
        seen.wrong = pebs_read(seen.records, &r) ? wrong_with(&r, groups) : "unreadable";
        seen.branches = r.n_branches;
    }
}

static bool lay_out(uint64_t groups)
{
    return pebs_set_groups(groups) &&
           ds_setup(&(struct ds_setup){.pebs_records = RECORDS, .pebs_threshold = DS_CIRCULAR}) ==
               NULL;
}

static bool good(void)
{
    return seen.records > 1 && seen.wrong == NULL;
}

static void check_groups(unsigned which, uint64_t groups)
{
    bool ready = lay_out(groups);
    if (ready) {
        struct take take = take_begin();
        do
            sample_once(groups);
        while (take_again(&take, good()));
    }
    value_hex("data_cfg", groups);
    value_u64("record_bytes", pebs_record_size());
    value_u64("records", seen.records);
    if (seen.branches != 0)
        value_u64("branches_in_each", seen.branches);
    if (seen.wrong != NULL) {
        value_str("wrong", "%s", seen.wrong);
        value_u64("record", seen.at);
    }
    check(which, ready && good());
}

static bool takes_each(uint64_t groups)
{
    bool all = true;
    for (uint64_t bit = 1; bit <= groups; bit <<= 1)
        if ((groups & LOOP_GROUPS & bit) && !pebs_set_groups(bit)) {
            value_hex("refused", bit);
            all = false;
        }
    return all;
}

static const char *no_branches(void)
{
    return lbr_info()->present ? NULL : lbr_info()->why;
}

static void check_branches(void)
{
    if (no_branches() != NULL) {
        check_skip_all(ONE_BRANCH, BRANCHES, "%s", no_branches());
        return;
    }
    check_groups(ONE_BRANCH, branches(1));
    check_groups(BRANCHES, branches(lbr_info()->depth));
}

static void run(void)
{
    if (pebs_no_baseline() != NULL) {
        check_skip_all(SELECTS, ALL, "%s", pebs_no_baseline());
        return;
    }
    uint32_t usable = pebs_counters(pebs_lab_event());
    value_hex("counters", usable);
    bool ready = usable != 0 && takes_each(LOOP_GROUPS);
    check(SELECTS, ready);
    if (!ready)
        return;
    sampler = (unsigned)__builtin_ctz(usable);
    plain = sampler == 0 ? 1 : 0;
    uint64_t all = PEBS_DATA_CFG_MEMINFO | PEBS_DATA_CFG_GPRS | PEBS_DATA_CFG_XMMS;
    check_groups(BASIC, 0);
    check_groups(MEMORY, PEBS_DATA_CFG_MEMINFO);
    check_groups(REGISTERS, PEBS_DATA_CFG_GPRS);
    check_groups(XMM, PEBS_DATA_CFG_XMMS);
    check_branches();
    if (no_branches() == NULL)
        all |= branches(lbr_info()->depth);
    if (pebs_format() >= PEBS_FMT_LION_COVE) {
        check_groups(COUNTERS, counters() | PEBS_DATA_CFG_GPRS);
        all |= counters();
    } else {
        check_skip(COUNTERS,
                   "no counters in records: PEBS record format %u (IA32_PERF_CAPABILITIES[11:8])",
                   pebs_format());
    }
    check_groups(ALL, all);
    pebs_reset();
}
