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
    NEED_GLOBAL_CTRL = 1 << 1, /* perfmon v2+ */
    NEED_FIXED = 1 << 2,
    NEED_LAPIC = 1 << 3,
    NEED_FREEZE = 1 << 4,
    NEED_PEBS = 1 << 5,
    NEED_BTS = 1 << 6,
    NEED_LBR = 1 << 7,
    NEED_SMP = 1 << 8,
    NEED_PMI = 1 << 9,           /* the LVT has a perfmon entry */
    NEED_INSTRUCTIONS = 1 << 10, /* the architectural event INST_RETIRED.ANY_P */
    NEED_FIXED_3 = 1 << 11,      /* FIXED_CTR0 to 2 */
    NEED_GENERAL_3 = 1 << 12,    /* PMC0 to 2 */
    NEED_LBR_SELECT = 1 << 13,   /* filters for the branch records */
    NEED_BTF = 1 << 14,          /* single-stepping on branches */
    NEED_GENERAL_2 = 1 << 16,    /* PMC0 and PMC1 */
    NEED_LOAD_LATENCY = 1 << 15, /* PEBS with latency and data source of loads */
};

/* NULL when all that needs names is here, else why the first missing one is not, naming the CPUID
 * leaf or MSR bit that says so. */
const char *need_missing(unsigned needs);

struct experiment {
    const char *id;    /* "15-3" */
    const char *title; /* "PMI on overflow" */
    const char *const
        *checks; /* descriptions, in order, ended by NULL: the plan is known beforehand */
    unsigned needs;
    void (*run)(void);
    bool selftest; /* breaks on purpose: offered only with the word selftest on the command line */
};

/* The checks of an experiment: the next description in its table gets the verdict. When an
 * experiment ends early, its next check is `not ok` with the reason and the rest are SKIPs "not
 * reached". */
void check(bool ok);
void check_skip(const char *reason_format, ...) __attribute__((format(printf, 1, 2)));

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
