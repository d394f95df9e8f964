/* The counting window, in assembly so that no compiler adds to it: see pmu/window.S. */
#ifndef PMULAB_WINDOW_H
#define PMULAB_WINDOW_H

#include <stdint.h>

/* Assembly with a known number of instructions; keeps the System V calling convention. */
typedef void (*window_body)(uint64_t arg);

/* What the window itself adds to a count of retired instructions: the listing's sum, without the
 * body. */
extern const uint64_t pmu_window_insns;

/* One WRMSR of on to msr, body(arg), one WRMSR of off. Records nothing; pmu_count() does. */
void pmu_window(uint32_t msr, uint64_t on, uint64_t off, window_body body, uint64_t arg);

/* Addresses of the opening and the closing WRMSR and of the first instruction after it. */
extern const char pmu_window_open[], pmu_window_close[], pmu_window_end[];
/* The window's only branches: the indirect call of the body, and where its RET comes back to. */
extern const char pmu_window_call[], pmu_window_return[];

#endif
