/*
 * The summary at the end of a run: what fits on one screen of 80 x 25, so that a photograph of it
 * is a report. Comment lines in plain ASCII, closed by a CRC-32 over all their characters but
 * blanks and the '#' in front; scripts/check-report computes it again from a log or from what
 * somebody typed.
 */
#ifndef PMULAB_SUMMARY_H
#define PMULAB_SUMMARY_H

struct bootinfo;
struct experiment;

/* How one experiment went, counted in checks; first_failed is the number (from 1 on) of its first
 * check that was not ok. Run again, its last time counts. */
struct summary_result {
    const struct experiment *experiment;
    unsigned checks, failed, skipped, first_failed;
};
void summary_add(const struct summary_result *result);

/* Prints it; nothing when no experiment was run. */
void summary_print(const struct bootinfo *boot);

#endif
