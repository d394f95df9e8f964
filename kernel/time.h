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

/* Finds the TSC's frequency: CPUID 15H, else 16H, else channel 2 of the 8254. */
void time_init(void);
/* In Hz; 0 when nothing could tell it. */
uint64_t tsc_hz(void);
/* Where it came from, for the header: "CPUID 15H", "8254". */
const char *tsc_hz_source(void);
/* TSC ticks in that many microseconds; assumes 1 GHz when the frequency is unknown. */
uint64_t tsc_ticks_us(uint64_t microseconds);
void delay_us(uint64_t microseconds);

#endif
