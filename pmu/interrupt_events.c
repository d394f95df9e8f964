/* Intel's event lists (perfmon) name them for these models, all of family 6. Silvermont has another
 * event in their place; lists of later cores were not looked up. */
#include "pmu/interrupt_events.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/cpuid.h"

#define FAMILY_6 6

/* Goldmont (SDM vol. 3 "Performance Monitoring Events for Processors Based on the Goldmont
 * Microarchitecture", until 2018), Goldmont Plus, whose list is Goldmont's and more. */
static const uint8_t models[] = {0x5c, 0x5f, 0x7a};

const char *pmu_why_no_masked_interrupts(void)
{
    struct cpu_ident cpu;
    cpu_identify(&cpu);
    for (size_t i = 0; i < sizeof(models); i++)
        if (cpu.family == FAMILY_6 && cpu.model == models[i])
            return NULL;
    return "no event of masked interrupts is known but of Goldmont and Goldmont Plus (CPUID.1:EAX)";
}
