/* The counting window, in assembly so that no compiler adds to it: see pmu/window.S. */
#ifndef PMULAB_WINDOW_H
#define PMULAB_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* Assembly with a known number of instructions; keeps the System V calling convention. */
typedef void (*window_body)(uint64_t arg);

/* What the window itself adds to a count of retired instructions: the listing's sum, without the
 * body. */
extern const uint64_t pmu_window_insns;

/* One WRMSR of on to msr, body(arg), one WRMSR of off. Records nothing; pmu_count() does. */
void pmu_window(uint32_t msr, uint64_t on, uint64_t off, window_body body, uint64_t arg);

/* What opens a counter and what closes it, where no register does so of all. */
struct window_step {
    uint64_t msr, on, off;
};
_Static_assert(offsetof(struct window_step, on) == 8 && offsetof(struct window_step, off) == 16 &&
                   sizeof(struct window_step) == 24,
               "pmu/window.S has these numbers");

/* Several counters, first to last: opened in this order, body(arg), closed in the same order. What
 * it adds to the count of each of n counters is once + n * each. */
void pmu_window_in_turn(const struct window_step *first, const struct window_step *last,
                        window_body body, uint64_t arg);
extern const uint64_t pmu_window_in_turn_once, pmu_window_in_turn_each;

/* Its WRMSRs, and its call of the body. */
extern const char pmu_window_in_turn_open[], pmu_window_in_turn_close[], pmu_window_in_turn_call[];

/* Addresses of the opening and the closing WRMSR and of the first instruction after it. */
extern const char pmu_window_open[], pmu_window_close[], pmu_window_end[];
/* The window's only branches: the indirect call of the body, and where its RET comes back to. */
extern const char pmu_window_call[], pmu_window_return[];

#endif
