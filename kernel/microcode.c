/* SDM vol. 3 "Determining the Signature" (of a microcode update). */
#include "kernel/microcode.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/string.h"
#include "x86/msr.h"

bool microcode_revision(uint32_t *revision)
{
    struct cpu_ident cpu;
    uint64_t value;

    *revision = 0;
    cpu_identify(&cpu);
    if (memcmp(cpu.vendor, "Genu", 4) != 0)
        return false;
    /* CPUID leaf 1 writes the register only where an update is loaded: without the 0, what was
     * there before would be read. A hypervisor may refuse the write and answer the read. */
    wrmsr_safe(MSR_IA32_BIOS_SIGN_ID, 0);
    cpuid(1, 0);
    if (!rdmsr_safe(MSR_IA32_BIOS_SIGN_ID, &value))
        return false;
    *revision = (uint32_t)(value >> 32);
    return true;
}
