/* CPUID. */
#ifndef PMULAB_CPUID_H
#define PMULAB_CPUID_H

#include <stdbool.h>
#include <stdint.h>

struct cpuid_regs {
    uint32_t eax, ebx, ecx, edx;
};

/* CPUID with EAX = leaf, ECX = subleaf. A leaf above the maximum of its range gives all zeros (on
 * real processors it would repeat the highest basic leaf, SDM vol. 2 "CPUID"), and so does one that
 * raises #VE. */
struct cpuid_regs cpuid(uint32_t leaf, uint32_t subleaf);

/* Firmware that has old systems in mind may limit the basic leaves to 2 or 3
 * (IA32_MISC_ENABLE[22]): takes the limit away on this processor, for good. Before anything asks
 * for a later leaf. */
void cpuid_unlimit(void);
/* Did the firmware leave it so, on any processor? */
bool cpuid_was_limited(void);

#define HYPERVISOR_NAME 13 /* 12 characters and the end */

/* CPUID.1:ECX[31]: always 0 on processors, a hypervisor sets it for its guests. */
bool hypervisor_present(void);
/* The name that a hypervisor gives itself in CPUID.40000000H: "KVMKVMKVM", "Microsoft Hv". What
 * cannot be printed is a '?'. False, and name is "", when there is no hypervisor or it gives none.
 */
bool hypervisor_signature(char name[HYPERVISOR_NAME]);

struct cpu_ident {
    char vendor[13];
    char brand[49]; /* leading blanks removed; "" when CPUID has none */
    uint32_t family, model, stepping;
};
void cpu_identify(struct cpu_ident *ident);

#endif
