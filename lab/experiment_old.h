/* The checks by position, for the sheets that are still written so. */
#ifndef PMULAB_EXPERIMENT_OLD_H
#define PMULAB_EXPERIMENT_OLD_H

#include "lab/experiment.h"

void check_next(bool ok);
void check_skip_next(const char *reason_format, ...) __attribute__((format(printf, 1, 2)));
#define check(ok)         check_next(ok)
#define check_skip(...)   check_skip_next(__VA_ARGS__)
#define CHECKS_OLD(words) .checks = (words), .n_checks = sizeof(words) / sizeof((words)[0]) - 1

#endif
