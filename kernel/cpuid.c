/* CPUID, SDM vol. 2 "CPUID". */
#include "kernel/cpuid.h"

#include "kernel/extable.h"
#include "kernel/msr.h"
#include "kernel/string.h"
#include "x86/cpuid.h"
#include "x86/msr.h"

#define EXTENDED      0x80000000u
#define HYPERVISOR    0x40000000u
#define BRAND_FIRST   0x80000002u
#define BRAND_LAST    0x80000004u
#define REGISTER_TEXT 16 /* bytes of text in the four registers */

static struct cpuid_regs execute(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid_regs r;
    uint32_t ok = 0;
    __asm__ volatile("1: cpuid\n\tmovl $1, %[good]\n2:\n" EX_TABLE("1b", "2b")
                     : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx), [good] "+r"(ok)
                     : "a"(leaf), "c"(subleaf)
                     : "memory");
    return ok ? r : (struct cpuid_regs){0};
}

struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf)
{
    /* The start of the leaf's range tells the highest leaf of it. Hypervisors have a range of their
     * own. */
    uint32_t range = leaf >= EXTENDED ? EXTENDED : leaf >= HYPERVISOR ? HYPERVISOR : 0;
    struct cpuid_regs top = execute(range, 0);
    /* A range that does not exist repeats the highest basic leaf: its "maximum" lies outside. */
    if (top.eax < range || (range != EXTENDED && top.eax >= EXTENDED) || leaf > top.eax)
        return (struct cpuid_regs){0};
    return execute(leaf, subleaf);
}

/* SDM vol. 4 "IA-32 Architectural MSRs", IA32_MISC_ENABLE[22], Limit CPUID Maxval: CPUID.0 tells 2,
 * or by older editions 3. A processor with no more leaves may lack the register. */
#define LIMITED_MAX 3

static bool was_limited;

void cpuid_unlimit(void)
{
    struct cpuid_regs top = cpuid(0, 0);
    uint64_t value;
    if (memcmp(&top.ebx, "Genu", 4) != 0 || top.eax > LIMITED_MAX ||
        !rdmsr_safe(MSR_IA32_MISC_ENABLE, &value) || !(value & MISC_ENABLE_LIMIT_CPUID))
        return;
    wrmsr_safe(MSR_IA32_MISC_ENABLE, value & ~MISC_ENABLE_LIMIT_CPUID);
    if (cpuid(0, 0).eax > LIMITED_MAX)
        was_limited = true;
}

bool cpuid_was_limited(void)
{
    return was_limited;
}

/* Linux, Documentation/virt/hyperv and virt/kvm/x86/cpuid.rst: leaves 40000000H to 4FFFFFFFH are
 * left to hypervisors, EAX of the first is the highest, "old hosts set eax value to 0x0", and EBX,
 * ECX, EDX are the name. Where the leaf is missing, CPUID may give the highest basic leaf. */
#define HYPERVISOR_LAST 0x4fffffffu

bool hypervisor_present(void)
{
    return cpuid(1, 0).ecx & CPUID_1_ECX_HYPERVISOR;
}

bool hypervisor_signature(char name[HYPERVISOR_NAME])
{
    memset(name, 0, HYPERVISOR_NAME);
    if (!hypervisor_present())
        return false;
    struct cpuid_regs r = execute(HYPERVISOR, 0);
    if (r.eax != 0 && (r.eax < HYPERVISOR || r.eax > HYPERVISOR_LAST))
        return false;
    memcpy(name, &r.ebx, HYPERVISOR_NAME - 1); /* EBX, ECX, EDX lie behind each other */
    for (size_t i = 0; i < HYPERVISOR_NAME - 1 && name[i] != '\0'; i++)
        if (name[i] < ' ' || name[i] > '~')
            name[i] = '?';
    return name[0] != '\0';
}

/* SDM vol. 2 "CPUID", "INPUT EAX = 01H: Returns Model, Family, Stepping Information". */
static void decode_signature(struct cpu_ident *ident, uint32_t eax)
{
    uint32_t family = eax >> 8 & 0xf, model = eax >> 4 & 0xf;
    if (family == 6 || family == 15)
        model |= (eax >> 16 & 0xf) << 4;
    if (family == 15)
        family += eax >> 20 & 0xff;
    ident->family = family;
    ident->model = model;
    ident->stepping = eax & 0xf;
}

void cpu_identify(struct cpu_ident *ident)
{
    memset(ident, 0, sizeof(*ident));
    struct cpuid_regs r = cpuid(0, 0);
    memcpy(ident->vendor + 0, &r.ebx, 4);
    memcpy(ident->vendor + 4, &r.edx, 4);
    memcpy(ident->vendor + 8, &r.ecx, 4);
    decode_signature(ident, cpuid(1, 0).eax);

    char text[sizeof(ident->brand)] = "";
    for (uint32_t leaf = BRAND_FIRST; leaf <= BRAND_LAST; leaf++) {
        r = cpuid(leaf, 0);
        memcpy(text + (leaf - BRAND_FIRST) * REGISTER_TEXT, &r, REGISTER_TEXT);
    }
    /* Intel pads on the left, AMD on the right. */
    const char *first = text;
    while (*first == ' ')
        first++;
    size_t length = strlen(first);
    while (length > 0 && first[length - 1] == ' ')
        length--;
    memcpy(ident->brand, first, length);
}
