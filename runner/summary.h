/*
 * The summary at the end of a run: what fits on one screen of 80 x 25, so that a photograph of it
 * is a report. Comment lines in plain ASCII, closed by a CRC-32 over all their characters but
 * blanks and the '#' in front; scripts/check-report computes it again from a log or from what
 * somebody typed.
 */
#ifndef PMULAB_SUMMARY_H
#define PMULAB_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bootinfo;
struct experiment;

/* How one experiment went, counted in checks; bit n of failed_checks: check number n + 1 was not
 * ok, of the first 64. Run again, its last time counts. */
struct summary_result {
    const struct experiment *experiment;
    unsigned checks, failed, skipped;
    uint64_t failed_checks;
};
void summary_add(const struct summary_result *result);

/* "ok", "skip" or "FAIL", "" when it was not run. */
const char *summary_verdict(const struct experiment *e);

/* Prints it; nothing when no experiment was run. */
void summary_print(const struct bootinfo *boot);

/*
 * What was printed last, short enough for a QR code: one line of "NAME:VALUE" in the characters of
 * its alphanumeric mode, closed by a CRC-32 of its own (docs/real-hardware.md tells what the names
 * mean, scripts/check-report reads it). Lists are cut so that it fits into size bytes, 160 at
 * least. False: nothing was printed.
 */
bool summary_code(const struct bootinfo *boot, char *text, size_t size);

#endif
