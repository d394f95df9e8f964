/* The command line of pmusim. */
#ifndef PMUSIM_OPTIONS_H
#define PMUSIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define OPTIONS_MAX_SET 64

struct options {
    const char *profile, *cmdline, *image;
    const char *trace_from, *trace_to; /* symbols; NULL: none */
    const char *set[OPTIONS_MAX_SET];  /* "key=value" */
    unsigned n_set;
    unsigned cpus;
    uint64_t memory;            /* bytes */
    unsigned trace;             /* TRACE_* */
    uint64_t max_insns, max_ns; /* 0: no limit; max_ns of simulated time */
    bool stats, use_stdin;
};

enum options_result {
    OPTIONS_RUN,
    OPTIONS_DONE, /* --help, --version or --list-profiles has been answered on out */
    OPTIONS_BAD,  /* said on err */
};

/* Reads argv; never exits. Uses getopt_long, which keeps static state: not reentrant. */
enum options_result options_parse(struct options *o, int argc, char **argv, FILE *out, FILE *err);

#endif
