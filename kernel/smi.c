/* System-management interrupts. */
#include "kernel/smi.h"

#include "kernel/msr.h"
#include "kernel/percpu.h"
#include "x86/msr.h"

static bool counted;
static uint32_t at_start, last;

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
    if (this_cpu()->index == 0)
        last = (uint32_t)value;
    return (uint32_t)value;
}

uint32_t smi_total(void)
{
    return last - at_start;
}
