/* CPUID. */
#ifndef PMULAB_CPUID_H
#define PMULAB_CPUID_H

#include <stdint.h>

struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};

/* CPUID with EAX = leaf, ECX = subleaf. A leaf above the maximum of its range gives all zeros (on
 * real processors it would repeat the highest basic leaf, SDM vol. 2 "CPUID"). */
struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf);

struct cpu_ident {
    char vendor[13];
    char brand[49]; /* leading blanks removed; "" when CPUID has none */
    uint32_t family, model, stepping;
};
void cpu_identify(struct cpu_ident *ident);

#endif
