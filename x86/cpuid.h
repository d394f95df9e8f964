/* CPUID feature bits, SDM vol. 2 "CPUID": CPUID_leaf_register_NAME. Read by C and by GNU as. */
#ifndef PMULAB_X86_CPUID_H
#define PMULAB_X86_CPUID_H

#include "x86/bits.h"

#define CPUID_1_EAX_EXTENDED_FAMILY    0xff00000
#define CPUID_1_ECX_SSE3               (1 << 0)
#define CPUID_1_ECX_DTES64             (1 << 2)
#define CPUID_1_ECX_MONITOR            (1 << 3)
#define CPUID_1_ECX_DS_CPL             (1 << 4)
#define CPUID_1_ECX_VMX                (1 << 5)
#define CPUID_1_ECX_SMX                (1 << 6)
#define CPUID_1_ECX_PDCM               (1 << 15)
#define CPUID_1_ECX_PCID               (1 << 17)
#define CPUID_1_ECX_X2APIC             (1 << 21)
#define CPUID_1_ECX_TSC_DEADLINE       (1 << 24)
#define CPUID_1_ECX_XSAVE              (1 << 26)
#define CPUID_1_ECX_OSXSAVE            (1 << 27)
#define CPUID_1_ECX_AVX                (1 << 28)
#define CPUID_1_ECX_HYPERVISOR         ARCH_BIT(31)
#define CPUID_1_EDX_VME                (1 << 1)
#define CPUID_1_EDX_DE                 (1 << 2)
#define CPUID_1_EDX_PSE                (1 << 3)
#define CPUID_1_EDX_TSC                (1 << 4)
#define CPUID_1_EDX_PAE                (1 << 6)
#define CPUID_1_EDX_MCE                (1 << 7)
#define CPUID_1_EDX_APIC               (1 << 9)
#define CPUID_1_EDX_SEP                (1 << 11)
#define CPUID_1_EDX_MTRR               (1 << 12)
#define CPUID_1_EDX_PGE                (1 << 13)
#define CPUID_1_EDX_MCA                (1 << 14)
#define CPUID_1_EDX_PAT                (1 << 16)
#define CPUID_1_EDX_DS                 (1 << 21)
#define CPUID_1_EDX_FXSR               (1 << 24)
#define CPUID_1_EDX_SSE                (1 << 25)
#define CPUID_1_EDX_HTT                (1 << 28)
#define CPUID_6_ECX_HW_COORD_FEEDBACK  (1 << 0)
#define CPUID_7_EBX_FSGSBASE           (1 << 0)
#define CPUID_7_EBX_TSC_ADJUST         (1 << 1)
#define CPUID_7_EBX_SGX                (1 << 2)
#define CPUID_7_EBX_FDP_EXCPTN_ONLY    (1 << 6)
#define CPUID_7_EBX_SMEP               (1 << 7)
#define CPUID_7_EBX_INVPCID            (1 << 10)
#define CPUID_7_EBX_NO_FCS_FDS         (1 << 13)
#define CPUID_7_EBX_SMAP               (1 << 20)
#define CPUID_7_EBX_INTEL_PT           (1 << 25)
#define CPUID_7_ECX_UMIP               (1 << 2)
#define CPUID_7_EDX_HYBRID             (1 << 15)
#define CPUID_7_EDX_ARCH_LBR           (1 << 19)
#define CPUID_7_1_EAX_ARCH_PERFMON_EXT (1 << 8) /* sub-leaf 1: there is leaf 23H */
#define CPUID_A_EDX_SLOTS_PER_CYCLE    0xf0000
#define CPUID_23_EAX_COUNTERS          (1 << 1) /* there is its sub-leaf 1: the counters */
#define CPUID_23_EAX_RELOAD            (1 << 2) /* 2: which are reloaded, and by which */
#define CPUID_23_EAX_EVENTS            (1 << 3) /* 3: the architectural events, 1: available */
#define CPUID_23_EAX_PEBS              (1 << 4) /* 4: what architectural PEBS can do */
#define CPUID_23_EAX_PEBS_COUNTERS     (1 << 5) /* 5: of which counters */
#define CPUID_23_EBX_UMASK2            (1 << 0)
#define CPUID_23_EBX_EQ                (1 << 1)
#define CPUID_23_EBX_RDPMC_USR_DISABLE (1 << 2)
#define CPUID_23_ECX_SLOTS_PER_CYCLE   0xff
#define CPUID_D_1_EAX_XSAVEOPT         (1 << 0)
#define CPUID_D_1_EAX_XSAVEC           (1 << 1)
#define CPUID_D_1_EAX_XGETBV_1         (1 << 2)
#define CPUID_D_1_EAX_XSAVES           (1 << 3)
#define CPUID_D_ECX_SUPERVISOR         (1 << 0) /* sub-leaves of components: by IA32_XSS, not XCR0 */
#define CPUID_1A_CORE_TYPE_SHIFT       24       /* EAX[31:24]; below it the native model ID */
#define CPUID_1A_CORE_TYPE_ATOM        0x20
#define CPUID_1A_CORE_TYPE_CORE        0x40
#define CPUID_1C_EAX_DEPTHS            0xff /* bit n: 8 * (n + 1) records */
#define CPUID_1C_EAX_DEEP_C_RESET      (1 << 30)
#define CPUID_1C_EAX_LIP               ARCH_BIT(31)
#define CPUID_1C_EBX_CPL               (1 << 0)
#define CPUID_1C_EBX_BRANCH            (1 << 1)
#define CPUID_1C_EBX_CALL_STACK        (1 << 2)
#define CPUID_1C_ECX_MISPRED           (1 << 0)
#define CPUID_1C_ECX_CYCLES            (1 << 1)
#define CPUID_1C_ECX_BR_TYPE           (1 << 2)
#define CPUID_1C_ECX_EVENT_LOGGING     0xf0000 /* general counters that can be logged */
#define CPUID_1C_ECX_LOGGING_SHIFT     16
#define CPUID_80000001_EDX_SYSCALL     (1 << 11)
#define CPUID_80000001_EDX_NX          (1 << 20)
#define CPUID_80000001_EDX_1GB         (1 << 26)
#define CPUID_80000001_EDX_RDTSCP      (1 << 27)
#define CPUID_80000001_EDX_LM          (1 << 29)

#endif
