/* Experiment 22-13 · Two kinds of core. */
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "lab/count.h"
#include "lab/experiment.h"
#include "lapic/smp.h"
#include "pmu/lbr.h"
#include "pmu/pebs.h"
#include "pmu/pmu.h"
#include "x86/cpuid.h"

#include <stddef.h>

enum {
    WORKS,
    TOLD,
    ALIKE,
    ZERO_BEFORE,
    EMPTY,
    EXACT,
    RDPMC_AGREES,
    INSTRUCTIONS_AGREE,
    FIXED_EXACT,
    CORE_CYCLES_AGREE,
    REFERENCE_CYCLES,
};

static const char *const checks[] = {
    [WORKS] = "each processor takes work",
    [TOLD] = "CPUID.1AH tells of each processor what kind of core it is",
    [ALIKE] = "processors of one kind have the same PMU",
    [ZERO_BEFORE] = "on each IA32_PMC0 is 0 before the window",
    [EMPTY] = "on each the empty window counts exactly the instructions of its listing",
    [EXACT] = "on each IA32_PMC0 holds exactly the function's known number of instructions",
    [RDPMC_AGREES] = "on each RDPMC reads what RDMSR reads",
    [INSTRUCTIONS_AGREE] = "on each PMC0 equals FIXED_CTR0",
    [FIXED_EXACT] = "on each FIXED_CTR0 holds exactly the function's known number of instructions",
    [CORE_CYCLES_AGREE] = "on each PMC1 and FIXED_CTR1 agree on the core cycles",
    [REFERENCE_CYCLES] = "on each PMC2 and FIXED_CTR2 count reference cycles, each in its unit",
};

static void run(void);

const struct experiment ex22_13 = {
    .id = "22-13",
    .title = "Two kinds of core",
    .needs = NEED_HYBRID | NEED_SMP | NEED_PMU | NEED_INSTRUCTIONS,
    CHECKS(checks),
    .run = run,
};

/*
 * A hybrid processor (CPUID.7:EDX[15]) has cores of several kinds, and leaf 1AH says of which kind
 * the one is that asks (SDM vol. 2 "CPUID"). Each kind has a PMU of its own: leaf 0AH may be what
 * they have in common, leaf 23H, IA32_PERF_CAPABILITIES and leaf 1CH are the core's. So nothing
 * that one processor said of itself may be used on another: here each enumerates itself, and counts
 * by what it found. What 15-2 and 15-11 promise holds on each; how they differ is printed side by
 * side, and no check.
 *
 * What can go wrong: the counters of the first kind taken for those of all, a window that opens
 * what this core lacks, one kind's function counted with the other's events.
 */
#define SELECT        (PERFEVTSEL_USR | PERFEVTSEL_OS)
#define ITERATIONS    1000  /* as 15-2 */
#define ITERATIONS_11 10000 /* as 15-11 */
#define FIXED_BBB     0xbbb
#define SIX           3 /* PMC0 to 2 and FIXED_CTR0 to 2 */
#define ALL_SIX                                                                                    \
    (PMU_MASK(0) | PMU_MASK(1) | PMU_MASK(2) | PMU_MASK(PMU_FIXED(0)) | PMU_MASK(PMU_FIXED(1)) |   \
     PMU_MASK(PMU_FIXED(2)))
#define TIMEOUT_MS 2000
#define MAX_KINDS  4
#define CELL       32

/* What a processor says of itself, and has counted. */
static struct core {
    bool ran;
    const struct pmu_info *pmu;
    const struct lbr_info *lbr;
    const struct pebs_generation *pebs; /* NULL: no PEBS that the driver knows */
    unsigned pebs_format;
    char no_counts[PMU_REASON], no_fixed[PMU_REASON]; /* why it did not count; "" when it did */
    uint64_t before, empty, pmc0, rdpmc;
    uint64_t opening, general[SIX], fixed[SIX];
} cores[MAX_CPUS];

/* The first processor of each kind, in the order of the processors. */
static unsigned kinds[MAX_KINDS], n_kinds;

static const char *const keys[] = {"processor_0", "processor_1", "processor_2", "processor_3",
                                   "processor_4", "processor_5", "processor_6", "processor_7"};
_Static_assert(sizeof(keys) / sizeof(keys[0]) == MAX_CPUS, "a key for each processor");

/* ---- On each processor ---- */

/* As 15-2. */
static void count_general(struct core *core)
{
    pmu_select(0, EVENT_INST_RETIRED_ANY_P | SELECT);
    core->before = pmu_read(0);
    core->empty = count_empty(PMU_MASK(0), 0);
    core->pmc0 = count_exactly(PMU_MASK(0), 0, body_mixed, ITERATIONS,
                               insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS));
    core->rdpmc = pmu_rdpmc(0);
}

/* As 15-11. */
static void count_six(struct core *core)
{
    pmu_select(0, EVENT_INST_RETIRED_ANY_P | SELECT);
    pmu_select(1, EVENT_CPU_CLK_UNHALTED_THREAD_P | SELECT);
    pmu_select(2, EVENT_CPU_CLK_UNHALTED_REF_P | SELECT);
    pmu_select_fixed(FIXED_BBB);
    count_from_0(ALL_SIX, body_mixed, ITERATIONS_11); /* warms caches and predictors */
    count_from_0(ALL_SIX, body_empty, 0);
    uint64_t general = pmu_read(1), fixed = pmu_read(PMU_FIXED(1));
    core->opening = general > fixed ? general : fixed;
    count_exactly(ALL_SIX, PMU_FIXED(0), body_mixed, ITERATIONS_11,
                  insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS_11));
    for (unsigned i = 0; i < SIX; i++) {
        core->general[i] = pmu_read(i);
        core->fixed[i] = pmu_read(PMU_FIXED(i));
    }
}

/* What this processor lacks for the six, or NULL. */
static const char *no_six(void)
{
    const char *why = pmu_info()->global_ctrl ? pmu_no_general(SIX) : pmu_info()->no_global_ctrl;
    for (unsigned i = 0; i < SIX && why == NULL; i++)
        if (!pmu_has_fixed(i))
            why = pmu_no_fixed(i);
    return why;
}

static void look_and_count(void *arg)
{
    struct core *core = arg;
    core->pmu = pmu_info();
    core->lbr = lbr_info();
    core->pebs = pebs_generation(NULL);
    core->pebs_format = pebs_format();
    const char *why = core->pmu->present ? pmu_no_event(PMU_EVENT_INSTRUCTIONS) : core->pmu->no_pmu;
    ksnprintf(core->no_counts, sizeof(core->no_counts), "%s", why != NULL ? why : "");
    if (why == NULL) {
        count_general(core);
        why = no_six();
    }
    ksnprintf(core->no_fixed, sizeof(core->no_fixed), "%s", why != NULL ? why : "");
    if (why == NULL)
        count_six(core);
    core->ran = true;
}

/* ---- The table ---- */

static const char *kind_name(uint32_t core)
{
    uint32_t type = core >> CPUID_1A_CORE_TYPE_SHIFT;
    return type == CPUID_1A_CORE_TYPE_CORE   ? "P core"
           : type == CPUID_1A_CORE_TYPE_ATOM ? "E core"
                                             : "core of another kind";
}

static void cell_processors(char *text, const struct core *core)
{
    const char *separator = "";
    size_t used = 0;
    for (unsigned i = 0; i < smp_count(); i++)
        if (cores[i].ran && cores[i].pmu->core == core->pmu->core) {
            used += (size_t)ksnprintf(text + used, CELL - used, "%s%u", separator, i);
            separator = ", ";
        }
}

static void cell_kind(char *text, const struct core *core)
{
    ksnprintf(text, CELL, "%s (1AH: %08XH)", kind_name(core->pmu->core), (unsigned)core->pmu->core);
}

static void cell_version(char *text, const struct core *core)
{
    ksnprintf(text, CELL, "%u", core->pmu->version);
}

static void cell_general(char *text, const struct core *core)
{
    ksnprintf(text, CELL, "%u x %u bits", core->pmu->n_general, core->pmu->general_width);
}

static void cell_fixed(char *text, const struct core *core)
{
    ksnprintf(text, CELL, "%u (%XH) x %u bits", core->pmu->n_fixed, (unsigned)core->pmu->fixed_mask,
              core->pmu->fixed_width);
}

static void cell_events(char *text, const struct core *core)
{
    ksnprintf(text, CELL, "%XH", (unsigned)core->pmu->events);
}

static void cell_metrics(char *text, const struct core *core)
{
    bool announced = core->pmu->perf_capabilities.value & PERF_CAP_PERF_METRICS;
    ksnprintf(text, CELL, "%s",
              announced            ? "announced"
              : core->pmu->metrics ? "there, not announced"
                                   : "none");
}

static void cell_lbr(char *text, const struct core *core)
{
    const struct lbr_info *lbr = core->lbr;
    if (!lbr->present)
        ksnprintf(text, CELL, "none");
    else if (lbr->format == LBR_FMT_ARCHITECTURAL)
        ksnprintf(text, CELL, "%u, %s addresses", lbr->depth, lbr->linear ? "linear" : "effective");
    else
        ksnprintf(text, CELL, "%u, format %u", lbr->depth, lbr->format);
}

static void cell_pebs(char *text, const struct core *core)
{
    if (core->pebs != NULL)
        ksnprintf(text, CELL, "format %u", core->pebs_format);
    else
        ksnprintf(text, CELL, "none");
}

static void cell_latency(char *text, const struct core *core)
{
    uint32_t there = (uint32_t)(PMU_MASK(core->pmu->n_general) - 1);
    if (core->pebs != NULL && (core->pebs->latency.counters & there) != 0)
        ksnprintf(text, CELL, "%02XH/%02XH on counters %XH", core->pebs->latency.code & 0xffU,
                  core->pebs->latency.code >> 8U, (unsigned)(core->pebs->latency.counters & there));
    else
        ksnprintf(text, CELL, "none");
}

/* In thousandths. */
static void ratio(char *text, uint64_t numerator, uint64_t denominator)
{
    uint64_t thousandths =
        denominator != 0 ? (numerator * 1000 + denominator / 2) / denominator : 0;
    ksnprintf(text, CELL, "%llu.%03llu", (unsigned long long)(thousandths / 1000),
              (unsigned long long)(thousandths % 1000));
}

static void cell_cpi(char *text, const struct core *core)
{
    ratio(text, core->fixed[1], core->fixed[0]);
}

static void cell_clock(char *text, const struct core *core)
{
    ratio(text, core->fixed[1], core->fixed[2]);
}

static const struct {
    const char *name;
    void (*cell)(char *text, const struct core *core);
    bool counted; /* by the fixed counters */
} rows[] = {
    {"kind", cell_kind, false},
    {"processors", cell_processors, false},
    {"perfmon version", cell_version, false},
    {"general counters", cell_general, false},
    {"fixed counters", cell_fixed, false},
    {"architectural events", cell_events, false},
    {"PERF_METRICS", cell_metrics, false},
    {"branch records", cell_lbr, false},
    {"PEBS", cell_pebs, false},
    {"load latency event", cell_latency, false},
    {"CPI of the function", cell_cpi, true},
    {"core / reference cycles", cell_clock, true},
};

static void print_table(void)
{
    note("side by side:");
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        char line[MAX_KINDS * CELL] = "";
        size_t used = 0;
        for (unsigned kind = 0; kind < n_kinds; kind++) {
            const struct core *core = &cores[kinds[kind]];
            char cell[CELL] = "";
            if (!rows[row].counted || core->no_fixed[0] == '\0')
                rows[row].cell(cell, core);
            used += (size_t)ksnprintf(line + used, sizeof(line) - used,
                                      kind + 1 < n_kinds ? "%-28s" : "%s", cell);
        }
        note("  %-25s%s", rows[row].name, line);
    }
}

/* ---- The checks ---- */

/* Sends the work around; false when a processor did not do it. */
static bool work_on_all(void)
{
    bool all = true;
    look_and_count(&cores[0]);
    for (unsigned i = 1; i < smp_count(); i++) {
        if (!smp_run_on(i, look_and_count, &cores[i], TIMEOUT_MS))
            value_str(keys[i], "%s", smp_why(i));
        all = all && cores[i].ran;
    }
    return all;
}

static unsigned kind_of(const struct core *core)
{
    unsigned kind = 0;
    while (kind < n_kinds && cores[kinds[kind]].pmu->core != core->pmu->core)
        kind++;
    return kind;
}

static void find_kinds(void)
{
    for (unsigned i = 0; i < smp_count(); i++)
        if (cores[i].ran && kind_of(&cores[i]) == n_kinds && n_kinds < MAX_KINDS)
            kinds[n_kinds++] = i;
}

static bool all_told(void)
{
    bool all = true;
    for (unsigned i = 0; i < smp_count(); i++)
        if (cores[i].ran) {
            value_hex(keys[i], cores[i].pmu->core);
            all = all && cores[i].pmu->core >> CPUID_1A_CORE_TYPE_SHIFT != 0;
        }
    return all;
}

static bool same_pmu(const struct core *a, const struct core *b)
{
    return a->pmu->version == b->pmu->version && a->pmu->n_general == b->pmu->n_general &&
           a->pmu->general_width == b->pmu->general_width &&
           a->pmu->fixed_mask == b->pmu->fixed_mask && a->pmu->fixed_width == b->pmu->fixed_width &&
           a->pmu->events == b->pmu->events &&
           a->pmu->perf_capabilities.value == b->pmu->perf_capabilities.value &&
           a->lbr->depth == b->lbr->depth && a->lbr->format == b->lbr->format &&
           a->lbr->linear == b->lbr->linear && a->pmu->pebs == b->pmu->pebs &&
           a->pmu->bts == b->pmu->bts;
}

static void check_alike(void)
{
    bool alike = true;
    for (unsigned i = 0; i < smp_count(); i++) {
        unsigned kind = kind_of(&cores[i]);
        if (kind == n_kinds || same_pmu(&cores[i], &cores[kinds[kind]]))
            continue;
        alike = false;
        value_str(keys[i], "not as processor %u", kinds[kind]);
    }
    value_u64("kinds", n_kinds);
    check(ALIKE, alike);
}

/* A count of each processor, wanted on each. */
static void check_counts(unsigned which, uint64_t (*count)(const struct core *), uint64_t expected)
{
    bool all = true;
    for (unsigned i = 0; i < smp_count(); i++) {
        value_u64(keys[i], count(&cores[i]));
        all = all && count(&cores[i]) == expected;
    }
    value_u64("expected", expected);
    value_known_loss(cores[0].empty, count(&cores[0]), expected);
    check(which, all);
}

/* Two counts of each processor, which right() compares. */
static void check_pairs(unsigned which, bool (*right)(const struct core *),
                        uint64_t (*first)(const struct core *),
                        uint64_t (*second)(const struct core *))
{
    bool all = true;
    for (unsigned i = 0; i < smp_count(); i++) {
        value_str(keys[i], "%llu and %llu", (unsigned long long)first(&cores[i]),
                  (unsigned long long)second(&cores[i]));
        all = all && right(&cores[i]);
    }
    check(which, all);
}

// clang-format off
static uint64_t before(const struct core *core) { return core->before; }
static uint64_t empty(const struct core *core) { return core->empty; }
static uint64_t pmc0(const struct core *core) { return core->pmc0; }
static uint64_t by_rdpmc(const struct core *core) { return core->rdpmc; }
static uint64_t general0(const struct core *core) { return core->general[0]; }
static uint64_t general1(const struct core *core) { return core->general[1]; }
static uint64_t general2(const struct core *core) { return core->general[2]; }
static uint64_t fixed0(const struct core *core) { return core->fixed[0]; }
static uint64_t fixed1(const struct core *core) { return core->fixed[1]; }
static uint64_t fixed2(const struct core *core) { return core->fixed[2]; }
// clang-format on

static bool rdpmc_agrees(const struct core *core)
{
    return core->rdpmc == core->pmc0 && core->pmc0 != 0;
}

static bool instructions_agree(const struct core *core)
{
    return core->general[0] == core->fixed[0] && core->fixed[0] != 0;
}

/* One WRMSR need not start both in the same cycle: as far as an empty window. */
static bool cycles_agree(const struct core *core)
{
    uint64_t a = core->general[1], b = core->fixed[1];
    return b > core->opening && (a > b ? a - b : b - a) <= core->opening;
}

static bool reference_counts(const struct core *core)
{
    bool announced = core->pmu->events >> PMU_EVENT_REF_CYCLES & 1;
    return core->fixed[2] != 0 && (core->general[2] != 0 || !announced);
}

/* The first processor that could not; true: the checks from first to last are skipped for it. */
static bool lacking(unsigned first, unsigned last, size_t reason)
{
    for (unsigned i = 0; i < smp_count(); i++) {
        const char *why = (const char *)&cores[i] + reason;
        if (*why == '\0')
            continue;
        check_skip_all(first, last, "processor %u: %s", i, why);
        return true;
    }
    return false;
}

static void run(void)
{
    bool worked = work_on_all();
    find_kinds();
    if (n_kinds == 1 && cores[0].pmu->core >> CPUID_1A_CORE_TYPE_SHIFT != 0 && worked) {
        check_skip_all(WORKS, REFERENCE_CYCLES,
                       "one kind of core runs: CPUID.1AH:EAX = %08XH on all",
                       (unsigned)cores[0].pmu->core);
        return;
    }
    check(WORKS, worked);
    if (!worked)
        return;
    check(TOLD, all_told());
    print_table();
    check_alike();
    if (!lacking(ZERO_BEFORE, RDPMC_AGREES, offsetof(struct core, no_counts))) {
        check_counts(ZERO_BEFORE, before, 0);
        check_counts(EMPTY, empty, insns_in_window(PMU_MASK(0), &body_empty_insns, 0));
        check_counts(EXACT, pmc0, insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS));
        check_pairs(RDPMC_AGREES, rdpmc_agrees, pmc0, by_rdpmc);
    }
    if (!lacking(INSTRUCTIONS_AGREE, REFERENCE_CYCLES, offsetof(struct core, no_fixed))) {
        check_pairs(INSTRUCTIONS_AGREE, instructions_agree, general0, fixed0);
        check_counts(FIXED_EXACT, fixed0,
                     insns_in_window(PMU_MASK(0), &body_mixed_insns, ITERATIONS_11));
        check_pairs(CORE_CYCLES_AGREE, cycles_agree, general1, fixed1);
        check_pairs(REFERENCE_CYCLES, reference_counts, general2, fixed2);
    }
}
