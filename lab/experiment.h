/*
 * An experiment: one file, one struct, registered in runner/registry.c. The runner restores
 * the initial state of the curriculum before and after each, runs it guarded and under the
 * watchdog, and reports TAP 14.
 */
#ifndef PMULAB_EXPERIMENT_H
#define PMULAB_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

/* What an experiment needs; the runner turns a missing one into a SKIP that names the CPUID leaf or
 * bit. */
enum need {
    NEED_PMU = 1 << 0,
    NEED_GLOBAL_CTRL = 1 << 1, /* one register opens all counters */
    NEED_FIXED = 1 << 2,
    NEED_LAPIC = 1 << 3,
    NEED_FREEZE = 1 << 4,
    NEED_PEBS = 1 << 5,
    NEED_BTS = 1 << 6,
    NEED_LBR = 1 << 7,
    NEED_SMP = 1 << 8,
    NEED_PMI = 1 << 9,           /* the LVT has a perfmon entry */
    NEED_INSTRUCTIONS = 1 << 10, /* the event PMU_EVENT_INSTRUCTIONS */
    NEED_CLOCKS = 1 << 11,       /* counters of instructions, core and reference cycles:
                                    lab/counter_of.h, with general counters 0 to 2 to spare */
    NEED_GENERAL_3 = 1 << 12,    /* general counters 0 to 2 */
    NEED_LBR_SELECT = 1 << 13,   /* filters for the branch records */
    NEED_BTF = 1 << 14,          /* single-stepping on branches */
    NEED_GENERAL_2 = 1 << 16,    /* 0 and 1 */
    NEED_LOAD_LATENCY = 1 << 15, /* PEBS with latency and data source of loads */
    NEED_APERF = 1 << 20,        /* IA32_APERF and IA32_MPERF */
    NEED_ARCH_LBR = 1 << 21,     /* the branch records are architectural */
    NEED_HYBRID = 1 << 22,       /* a hybrid processor: several kinds of core */
    NEED_CALL_STACK = 1 << 23,   /* their call-stack mode */
    NEED_AMD = 1 << 27,          /* a PMU of one of AMD's kinds */
    NEED_LAST_BRANCH = 1 << 26,  /* the single last branch record */
    NEED_IBS_FETCH = 1 << 24,    /* instruction-based sampling of fetches, */
    NEED_IBS_OP = 1 << 25,       /* and of operations */
};

/* NULL when all that needs names is here, else why the first missing one is not, naming the CPUID
 * leaf or MSR bit that says so. */
const char *need_missing(unsigned needs);

struct experiment {
    const char *id;            /* "15-3" */
    const char *title;         /* "PMI on overflow" */
    const char *const *checks; /* their words, in order: the plan is known beforehand */
    unsigned n_checks;         /* both by CHECKS() */
    unsigned needs;            /* NEED_* */
    void (*run)(void);
    bool selftest;  /* breaks on purpose: offered only with the word selftest on the command line */
    bool elsewhere; /* may use another processor where there is one (lab/elsewhere.h) */
};

/* In the initializer of a struct experiment: the words and how many there are. */
#define CHECKS(words) .checks = (words), .n_checks = sizeof(words) / sizeof((words)[0])

/*
 * The checks of an experiment, each by its place in the words:
 *
 *     enum { START, ONE_PMI };
 *     static const char *const checks[] = {
 *         [START] = "IA32_PMC0 takes the start value in its full width",
 *         [ONE_PMI] = "exactly one PMI arrives",
 *     };
 *     ...
 *     check(START, start == expected);
 *
 * They are made in that order. A check that is passed over is `not ok` and says so; one that comes
 * too late, or twice, too. When an experiment ends early, its next check is `not ok` with the
 * reason and the rest are SKIPs "not reached".
 *
 * Static variables of sheets and of lab/ are 0 whenever an experiment starts: the runner clears
 * them, so that no run sees what the run before left (linker.ld, .lab_state). They have no
 * initializers.
 */
void check(unsigned which, bool ok);
void check_skip(unsigned which, const char *reason_format, ...)
    __attribute__((format(printf, 2, 3)));
/* The checks from first to last, for one reason. */
void check_skip_all(unsigned first, unsigned last, const char *reason_format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * measured == expected, both in the YAML block: the measured value before what value_*() has
 * gathered, the expected one behind it. check_equal() shows what was expected only where it was
 * missed; check_same() compares two things that were measured, or whose expected side has a name
 * of its own. They give back whether it holds.
 */
bool check_equal(unsigned which, const char *key, uint64_t measured, uint64_t expected);
bool check_same(unsigned which, const char *key, uint64_t measured, const char *expected_key,
                uint64_t expected);

/* Values that support the next check, shown in its YAML block. */
void value_u64(const char *key, uint64_t value); /* decimal */
void value_hex(const char *key, uint64_t value);
void value_str(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A decimal fraction numerator / denominator with three digits after the point, rounded to nearest.
 * The numerator is below 2^54; a denominator of 0 gives "no value". */
void value_ratio(const char *key, uint64_t numerator, uint64_t denominator);

/* A '#' comment line. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
