/* CPUID feature bits, SDM vol. 2 "CPUID": CPUID_leaf_register_NAME. Read by C and by GNU as. */
#ifndef PMULAB_X86_CPUID_H
#define PMULAB_X86_CPUID_H

#include "x86/bits.h"

#define CPUID_1_ECX_DTES64         (1 << 2)
#define CPUID_1_ECX_DS_CPL         (1 << 4)
#define CPUID_1_ECX_PDCM           (1 << 15)
#define CPUID_1_ECX_X2APIC         (1 << 21)
#define CPUID_1_ECX_TSC_DEADLINE   (1 << 24)
#define CPUID_1_ECX_HYPERVISOR     ARCH_BIT(31)
#define CPUID_1_EDX_MCE            (1 << 7)
#define CPUID_1_EDX_APIC           (1 << 9)
#define CPUID_1_EDX_SEP            (1 << 11)
#define CPUID_1_EDX_DS             (1 << 21)
#define CPUID_7_EDX_ARCH_LBR       (1 << 19)
#define CPUID_80000001_EDX_SYSCALL (1 << 11)
#define CPUID_80000001_EDX_NX      (1 << 20)
#define CPUID_80000001_EDX_LM      (1 << 29)

#endif
