/* CPUID. */
#ifndef PMULAB_CPUID_H
#define PMULAB_CPUID_H

#include <stdbool.h>
#include <stdint.h>

struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};

/* CPUID with EAX = leaf, ECX = subleaf. A leaf above the maximum of its range gives all zeros (on
 * real processors it would repeat the highest basic leaf, SDM vol. 2 "CPUID"). */
struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf);

/* Firmware that has old systems in mind may limit the basic leaves to 2 or 3
 * (IA32_MISC_ENABLE[22]): takes the limit away on this processor, for good. Before anything asks
 * for a later leaf. */
void cpuid_unlimit(void);
/* Did the firmware leave it so, on any processor? */
bool cpuid_was_limited(void);

struct cpu_ident {
    char vendor[13];
    char brand[49]; /* leading blanks removed; "" when CPUID has none */
    uint32_t family, model, stepping;
};
void cpu_identify(struct cpu_ident *ident);

#endif
