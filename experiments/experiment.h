/*
 * An experiment: one file, one struct, registered in experiments/registry.c. The runner restores the initial
 * state of the curriculum before and after each, runs it guarded and under the watchdog, and reports TAP 14.
 */
#ifndef PMULAB_EXPERIMENT_H
#define PMULAB_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

/* What an experiment needs; the runner turns a missing one into a SKIP that names the CPUID leaf or bit. */
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
};

struct experiment {
    const char *id;    /* "15-3" */
    const char *title; /* "PMI on overflow" */
    const char *const *checks; /* descriptions, in order, ended by NULL: the plan is known beforehand */
    unsigned needs;
    void (*run)(void);
};

/* The checks of an experiment: the next description in its table gets the verdict. An experiment that
 * ends early leaves the rest `not ok` with the reason. */
void check(bool ok);
void check_skip(const char *reason_format, ...) __attribute__((format(printf, 1, 2)));

/* Values that support the next check, shown in its YAML block. */
void value_u64(const char *key, uint64_t value); /* decimal */
void value_hex(const char *key, uint64_t value);
void value_str(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A '#' comment line. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
