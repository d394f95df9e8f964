/* System-management interrupts. */
#include "kernel/smi.h"

#include "kernel/msr.h"
#include "x86/msr.h"

static bool counted;
static uint32_t at_start;

void smi_init(void)
{
    uint64_t value;
    counted = rdmsr_safe(MSR_SMI_COUNT, &value);
    at_start = smi_count();
}

bool smi_counted(void)
{
    return counted;
}

uint32_t smi_count(void)
{
    uint64_t value = 0;
    if (counted)
        rdmsr_safe(MSR_SMI_COUNT, &value);
    return (uint32_t)value;
}

uint32_t smi_total(void)
{
    return smi_count() - at_start;
}
