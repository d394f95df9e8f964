/* What follows from a processor's maker, as tables. */
#include "x86/maker.h"

#include <stddef.h>

/* SYSENTER: AMD64 Architecture Programmer's Manual vol. 3 "SYSENTER", #UD in long mode. Revision:
 * SDM vol. 3 "Determining the Signature" (of a microcode update); AMD's patch level, Linux
 * arch/x86/kernel/cpu/microcode/amd.c, MSR_AMD64_PATCH_LEVEL. */
static const struct {
    const char *vendor;
    enum maker maker;
    bool no_sysenter64;
    enum maker_revision revision;
} makers[] = {
    {"GenuineIntel", MAKER_INTEL, false, REVISION_UPPER},
    {"AuthenticAMD", MAKER_AMD, true, REVISION_LOWER},
    {"HygonGenuine", MAKER_AMD, true, REVISION_LOWER},
    {"", MAKER_OTHER, false, REVISION_UNKNOWN}, /* and all others */
};

static bool same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static size_t row_of(const char *vendor)
{
    size_t i = 0;
    while (i + 1 < sizeof(makers) / sizeof(makers[0]) && !same(makers[i].vendor, vendor))
        i++;
    return i;
}

enum maker maker_of(const char *vendor)
{
    return makers[row_of(vendor)].maker;
}

bool maker_has_sysenter64(const char *vendor)
{
    return !makers[row_of(vendor)].no_sysenter64;
}

enum maker_revision maker_revision(const char *vendor)
{
    return makers[row_of(vendor)].revision;
}

/* SDM vol. 3 "Determining the Processor Base Frequency", the table "Nominal Core Crystal Clock
 * Frequency". All family 6. Not 55H: the table gives 25 MHz for the Xeon Scalable, but Core X and
 * Xeon W have the same signature and 24 MHz (Linux: "Fix erroneous TSC rate on Skylake Xeon", "Use
 * CPUID.0x16 to calculate missing crystal frequency"). */
static const struct {
    uint8_t model;
    uint32_t hz;
} crystals[] = {
    {0x4e, 24000000}, {0x5e, 24000000}, {0x8e, 24000000},
    {0x9e, 24000000}, {0x5c, 19200000}, {0x5f, 25000000},
};

uint32_t maker_crystal_hz(const char *vendor, uint32_t family, uint32_t model)
{
    if (family != 6 || maker_of(vendor) != MAKER_INTEL)
        return 0;
    for (size_t i = 0; i < sizeof(crystals) / sizeof(crystals[0]); i++)
        if (crystals[i].model == model)
            return crystals[i].hz;
    return 0;
}
