/* SDM vol. 3 "Determining the Signature" (of a microcode update). AMD's processors have the patch
 * level in the lower half of the same register, at any time (Linux,
 * arch/x86/kernel/cpu/microcode/amd.c, MSR_AMD64_PATCH_LEVEL). */
#include "kernel/microcode.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "kernel/string.h"
#include "x86/msr.h"

static struct {
    bool asked, known;
    uint32_t revision;
} update;

static void ask(void)
{
    struct cpu_ident cpu;
    uint64_t value;

    update.asked = true;
    cpu_identify(&cpu);
    if (strcmp(cpu.vendor, "AuthenticAMD") == 0) {
        update.known = rdmsr_safe(MSR_IA32_BIOS_SIGN_ID, &value);
        if (update.known)
            update.revision = (uint32_t)value;
        return;
    }
    if (strcmp(cpu.vendor, "GenuineIntel") != 0)
        return;
    /* CPUID leaf 1 writes the register only where an update is loaded: without the 0, what was
     * there before would be read. A hypervisor may refuse the write and answer the read. */
    wrmsr_safe(MSR_IA32_BIOS_SIGN_ID, 0);
    cpuid(1, 0);
    update.known = rdmsr_safe(MSR_IA32_BIOS_SIGN_ID, &value);
    if (update.known)
        update.revision = (uint32_t)(value >> 32);
}

bool microcode_revision(uint32_t *revision)
{
    if (!update.asked)
        ask();
    *revision = update.revision;
    return update.known;
}
