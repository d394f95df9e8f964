/* The command line of pmusim. */
#ifndef PMUSIM_OPTIONS_H
#define PMUSIM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/sim.h"

#define OPTIONS_MAX_WORDS 64

struct options {
    const char *set[OPTIONS_MAX_WORDS], *fault[OPTIONS_MAX_WORDS];
    struct sim_options machine;           /* points into this structure: not to be copied */
    const char *cmdline, *image, *initrd; /* initrd: NULL: none */
    const char *save, *save_when, *load;  /* NULL: none */
    const char *trace_from, *trace_to;    /* words of sim_find(); NULL: none */
    unsigned trace;                       /* TRACE_* */
    uint64_t patience; /* instructions without a word from the guest; 0: endless */
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
