/*
 * The other processors: found in the ACPI MADT, started by INIT-SIPI-SIPI, asleep in HLT until
 * there is work. SDM vol. 3 "Multiple-Processor (MP) Initialization". A processor has an index: 0
 * is the one that booted, the others follow in the order in which they came.
 */
#ifndef PMULAB_SMP_H
#define PMULAB_SMP_H

#include <stdbool.h>
#include <stdint.h>

struct bootinfo;

/*
 * Starts all other processors, up to MAX_CPUS in all. Last of the initialisation, on the boot
 * processor, with local APIC, time and PMU ready. start(index) is run on each, on its own stack and
 * with interrupts off, and begins with trap_init_cpu(index). What cannot be started is kept for
 * smp_print().
 */
void smp_init(const struct bootinfo *boot, void (*start)(unsigned index));

/* How many processors run: their indexes are 0 to smp_count() - 1. */
unsigned smp_count(void);
/* Why smp_count() is 1 ("one processor in the MADT"); NULL when it is more. */
const char *smp_why_alone(void);
/* The local APIC's ID of a processor. */
uint32_t smp_apic_id(unsigned index);

/*
 * Runs fn(arg) on processor index (1 to smp_count() - 1), guarded and with interrupts on, on that
 * processor's experiment stack; smp_start() returns at once, smp_wait() when it has ended, both
 * together are smp_run_on(). To be called on the boot processor with interrupts on, so that its
 * watchdog works.
 *
 * False when a fault ended the run (reported on the console by then), when it took longer than
 * timeout_ms (it is then ended there, with a report of where it was), or when the processor is
 * not there or busy; smp_why() says which.
 */
bool smp_run_on(unsigned index, void (*fn)(void *), void *arg, uint32_t timeout_ms)
    __attribute__((warn_unused_result));
bool smp_start(unsigned index, void (*fn)(void *), void *arg) __attribute__((warn_unused_result));
bool smp_wait(unsigned index, uint32_t timeout_ms) __attribute__((warn_unused_result));
/* The reason of the last false on that processor; lives until the next run there. */
const char *smp_why(unsigned index);

/* Ends whatever still runs on the other processors: an experiment was aborted. */
void smp_stop_all(void);

/* Prints '#' lines: how many processors, which did not come. Nothing when the machine has one. */
void smp_print(void);

#endif
