/* The models, all of family 6, that are known to have HW_INTERRUPTS.MASKED and .PENDING_AND_MASKED.
 * Silvermont has another event in their place; of later cores nothing is known here. */
#include "pmu/interrupt_events.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/cpuid.h"

#define FAMILY_6 6

/* Goldmont, and Goldmont Plus, whose events are Goldmont's and more: Intel's
 * event list for the models 5CH and 5FH (goldmont_core.json), NetBSD's tprof for 7AH. */
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
