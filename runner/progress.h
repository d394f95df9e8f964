/* How far a run is, on a row of the screen that does not scroll. Nothing of it is printed. */
#ifndef PMULAB_PROGRESS_H
#define PMULAB_PROGRESS_H

struct experiment;
struct summary_result;

/* A run of so many experiments begins. */
void progress_begin(unsigned experiments);
/* This one is run next. */
void progress_next(const struct experiment *e);
/* So it went. */
void progress_add(const struct summary_result *result);
/* The run is over; the row says what to do now. */
void progress_end(const char *what_now);

#endif
