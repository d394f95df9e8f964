/*
 * Auto counter reload: a counter is set back to a value by the overflow of another, or by its own.
 * So an event is sampled only where it comes often enough before something else has happened so
 * many times. SDM vol. 3 "Auto Counter Reload"; which counters: CPUID leaf 23H, sub-leaf 2.
 */
#ifndef PMULAB_RELOAD_H
#define PMULAB_RELOAD_H

#include <stdbool.h>
#include <stdint.h>

/* NULL when there are counters that can be reloaded, else the CPUID bit that says no. */
const char *reload_missing(void);

/* Those that can be reloaded, and those whose overflow can do it: bits as in
 * IA32_PERF_GLOBAL_CTRL. */
uint64_t reload_targets(void);
uint64_t reload_causes(void);

/*
 * From now on an overflow of any counter of causes sets this one to overflow at its event number n
 * from there, 1 to 2^31. What stands in the counter stays. A counter that is among its own causes
 * shows no overflow in the status: a PMI of its own would be of no cause, so its INT is to be
 * clear. False, and the counter is not reloaded, when it cannot be or a cause cannot cause it.
 * Until causes is 0 or pmu_reset().
 */
bool reload_on(unsigned counter, uint64_t causes, uint32_t n);

/* The addresses of what reloads a counter, and with what; for dumps. */
uint32_t reload_causes_msr(unsigned counter);
uint32_t reload_value_msr(unsigned counter);

/* The driver's: no counter is reloaded. */
void reload_reset(void);

#endif
