/* The revision of the microcode: x86/maker.h says where it stands. */
#include "kernel/microcode.h"

#include "kernel/cpuid.h"
#include "kernel/msr.h"
#include "x86/maker.h"
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
    enum maker_revision at = maker_revision(cpu.vendor);
    if (at == REVISION_UNKNOWN)
        return;
    if (at == REVISION_UPPER) {
        /* CPUID leaf 1 writes the register only where an update is loaded: without the 0, what was
         * there before would be read. A hypervisor may refuse the write and answer the read. */
        wrmsr_safe(MSR_IA32_BIOS_SIGN_ID, 0);
        cpuid(1, 0);
    }
    update.known = rdmsr_safe(MSR_IA32_BIOS_SIGN_ID, &value);
    if (update.known)
        update.revision = (uint32_t)(at == REVISION_UPPER ? value >> 32 : value);
}

bool microcode_revision(uint32_t *revision)
{
    if (!update.asked)
        ask();
    *revision = update.revision;
    return update.known;
}
