/* The TAP version 14 reporter. One experiment is current at a time; check() and its kin in
 * lab/experiment.h report for it. */
#ifndef PMULAB_TAP_H
#define PMULAB_TAP_H

#include <stdbool.h>

struct experiment;

/* The version line, before anything else. */
void tap_begin(void);
/* The plan: how many checks will be reported in all. */
void tap_plan(unsigned checks);
/* "Bail out!" with one reason; several may follow each other. */
void tap_bail_out(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The plan behind the last check, for a stream whose length nobody knew before. */
void tap_plan_at_end(void);

void tap_start(const struct experiment *e);
/* Every check of the current experiment becomes a SKIP. */
void tap_skip_all(const char *reason);
/* Ends the current experiment: NULL, it returned; else why it ended early. Checks not reached are
 * reported. */
void tap_end(const char *why);
/* Checks that were not ok so far. */
unsigned tap_failures(void);
/* How the current experiment went so far, or the last one. */
struct summary_result;
void tap_result(struct summary_result *result);

#endif
