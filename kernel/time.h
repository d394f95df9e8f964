/* Time: the TSC, its frequency, delays. */
#ifndef PMULAB_TIME_H
#define PMULAB_TIME_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t rdtsc(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

struct bootinfo;

/* What tells the TSC's frequency: AUTO, the first that can. */
enum clock_choice { CLOCK_AUTO, CLOCK_CPUID, CLOCK_HPET, CLOCK_ACPI, CLOCK_8254, CLOCK_NONE };

/* Finds the TSC's frequency: CPUID 15H, else 16H, else measured against the HPET, the ACPI power
 * management timer or channel 2 of the 8254; or only by the way that choice names. */
void time_init(const struct bootinfo *boot, enum clock_choice choice);
/* In Hz; 0 when nothing could tell it. */
uint64_t tsc_hz(void);
/* Where it came from, for the reports: "CPUID 15H", "8254", "nothing" when it is not known. */
const char *tsc_hz_source(void);
/* TSC ticks in that many microseconds; assumes 1 GHz when the frequency is unknown. */
uint64_t tsc_ticks_us(uint64_t microseconds);
void delay_us(uint64_t microseconds);

#endif
