/* Inside the driver: reads what pmu_info() gives. */
#ifndef PMULAB_PMU_INFO_H
#define PMULAB_PMU_INFO_H

#include "pmu/pmu.h"

void pmu_info_read(void);

/* For it: a line among the notes, and the reason for something that is absent. */
void info_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void info_why(char text[PMU_REASON], const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Takes out of it what is announced and cannot be set. The PMU must be off. */
void pmu_info_probe(void);

#endif
