/*
 * Addresses of the MSRs, and the bits of those that are not the PMU's (those are in x86/pmu.h).
 * Intel SDM vol. 4 "Model-Specific Registers". Read by C and by GNU as.
 */
#ifndef PMULAB_X86_MSR_H
#define PMULAB_X86_MSR_H

#include "x86/bits.h"

/* MSRs outside the PMU. */
#define MSR_IA32_TIME_STAMP_COUNTER 0x10
#define MSR_IA32_PLATFORM_ID        0x17
#define MSR_IA32_APIC_BASE          0x1b
#define MSR_TEST_CTRL               0x33 /* Ice Lake, Tremont and later */
#define MSR_SMI_COUNT               0x34 /* Nehalem, Silvermont and later */
#define MSR_IA32_FEATURE_CONTROL    0x3a
#define MSR_IA32_TSC_ADJUST         0x3b
#define MSR_IA32_BIOS_SIGN_ID       0x8b
#define MSR_PLATFORM_INFO           0xce /* Nehalem, Silvermont and later */
#define MSR_IA32_MPERF              0xe7
#define MSR_IA32_APERF              0xe8
#define MSR_IA32_MTRRCAP            0xfe
#define MSR_MISC_FEATURES_ENABLES   0x140 /* with PLATFORM_INFO_CPUID_FAULTING */
#define MSR_IA32_SYSENTER_CS        0x174
#define MSR_IA32_SYSENTER_ESP       0x175
#define MSR_IA32_SYSENTER_EIP       0x176
#define MSR_IA32_MCG_CAP            0x179
#define MSR_IA32_MCG_STATUS         0x17a
#define MSR_IA32_MCG_CTL            0x17b
#define MSR_IA32_PERF_STATUS        0x198
#define MSR_IA32_PERF_CTL           0x199
#define MSR_IA32_MISC_ENABLE        0x1a0
#define MSR_TURBO_RATIO_LIMIT       0x1ad /* Nehalem and later */
#define MSR_IA32_MTRR_PHYSBASE0     0x200 /* then its mask, and the next pair */
#define MSR_IA32_MTRR_PHYSMASK0     0x201
#define MSR_IA32_MTRR_FIX64K_00000  0x250
#define MSR_IA32_MTRR_FIX16K_80000  0x258
#define MSR_IA32_MTRR_FIX16K_A0000  0x259
#define MSR_IA32_MTRR_FIX4K_C0000   0x268 /* and seven more, each for the next 32 KiB */
#define MSR_IA32_PAT                0x277
#define MSR_IA32_MTRR_DEF_TYPE      0x2ff
#define MSR_IA32_MC0_CTL            0x400 /* then STATUS, ADDR, MISC, and the next bank */
#define MSR_IA32_TSC_DEADLINE       0x6e0
#define MSR_X2APIC_BASE             0x800
#define MSR_X2APIC_LAST             0x8ff
#define MSR_IA32_XSS                0xda0
#define MSR_IA32_EFER               0xc0000080
#define MSR_IA32_STAR               0xc0000081
#define MSR_IA32_LSTAR              0xc0000082
#define MSR_IA32_CSTAR              0xc0000083
#define MSR_IA32_FMASK              0xc0000084
#define MSR_IA32_FS_BASE            0xc0000100
#define MSR_IA32_GS_BASE            0xc0000101
#define MSR_IA32_KERNEL_GS_BASE     0xc0000102
#define MSR_IA32_TSC_AUX            0xc0000103

/* Performance monitoring MSRs, SDM vol. 3 "Architectural Performance Monitoring". */
#define MSR_IA32_PMC0                     0xc1
#define MSR_IA32_PERFEVTSEL0              0x186
#define MSR_OFFCORE_RSP_0                 0x1a6
#define MSR_IA32_FIXED_CTR0               0x309
#define MSR_PERF_METRICS                  0x329
#define MSR_IA32_PERF_CAPABILITIES        0x345
#define MSR_IA32_FIXED_CTR_CTRL           0x38d
#define MSR_IA32_PERF_GLOBAL_STATUS       0x38e
#define MSR_IA32_PERF_GLOBAL_CTRL         0x38f
#define MSR_IA32_PERF_GLOBAL_OVF_CTRL     0x390
#define MSR_IA32_PERF_GLOBAL_STATUS_RESET 0x390 /* the name from version 4 on */
#define MSR_IA32_PERF_GLOBAL_STATUS_SET   0x391
#define MSR_IA32_PERF_GLOBAL_INUSE        0x392
#define MSR_IA32_PEBS_ENABLE              0x3f1
#define MSR_PEBS_DATA_CFG                 0x3f2
#define MSR_PEBS_LD_LAT_THRESHOLD         0x3f6
#define MSR_IA32_A_PMC0                   0x4c1
#define MSR_IA32_DS_AREA                  0x600

/* The same counters from version 6 on, and what is new: SDM vol. 4 "Architectural MSRs". Those of
 * the next counter are MSR_IA32_PMC_STRIDE further; a fixed one has no CFG_A. */
#define MSR_IA32_PMC_GP0_CTR   0x1900
#define MSR_IA32_PMC_GP0_CFG_A 0x1901 /* IA32_PERFEVTSEL0 */
#define MSR_IA32_PMC_GP0_CFG_B 0x1902 /* whose overflow reloads it */
#define MSR_IA32_PMC_GP0_CFG_C 0x1903 /* what it is reloaded with */
#define MSR_IA32_PMC_FX0_CTR   0x1980
#define MSR_IA32_PMC_FX0_CFG_B 0x1982
#define MSR_IA32_PMC_FX0_CFG_C 0x1983
#define MSR_IA32_PMC_STRIDE    4

/* Last branch records, SDM vol. 3 "Last Branch, Interrupt, and Exception Recording". */
#define MSR_LBR_SELECT              0x1c8
#define MSR_LASTBRANCH_TOS          0x1c9
#define MSR_IA32_DEBUGCTL           0x1d9
#define MSR_LER_FROM_LIP            0x1dd
#define MSR_LER_TO_LIP              0x1de
#define MSR_LASTBRANCH_0_FROM_IP    0x680
#define MSR_LASTBRANCH_0_TO_IP      0x6c0
#define MSR_LASTBRANCH_0_FROM_CORE2 0x40
#define MSR_LASTBRANCH_0_TO_CORE2   0x60
#define MSR_LBR_INFO_0              0xdc0

/* Architectural last branch records, SDM vol. 3 "Last Branch Records". */
#define MSR_IA32_LER_INFO      0x1e0
#define MSR_IA32_LBR_0_INFO    0x1200
#define MSR_IA32_LBR_CTL       0x14ce
#define MSR_IA32_LBR_DEPTH     0x14cf
#define MSR_IA32_LBR_0_FROM_IP 0x1500
#define MSR_IA32_LBR_0_TO_IP   0x1600

/* Machine checks, SDM vol. 3 "IA32_MCG_CAP MSR". */
#define MCG_CAP_COUNT 0xff
#define MCG_CAP_CTL_P (1 << 8)
#define MCG_CAP_TES_P (1 << 11)
#define MCG_CAP_SER_P (1 << 24)

/* IA32_PLATFORM_ID, MSR_PLATFORM_INFO, MSR_MISC_FEATURES_ENABLES, MSR_TEST_CTRL,
 * IA32_PERF_STATUS. */
#define PLATFORM_ID_SHIFT            50
#define PLATFORM_INFO_CPUID_FAULTING ARCH_BIT(31)
#define MISC_FEATURES_CPUID_FAULTING (1 << 0)
#define TEST_CTRL_SPLIT_LOCK         (1 << 29)
#define PERF_RATIO_SHIFT             8

/* IA32_EFER, IA32_APIC_BASE, IA32_MISC_ENABLE. */
#define EFER_SCE                     ARCH_BIT(0)
#define EFER_LME                     ARCH_BIT(8)
#define EFER_LMA                     ARCH_BIT(10)
#define EFER_NXE                     ARCH_BIT(11)
#define APIC_BASE_BSP                ARCH_BIT(8)
#define APIC_BASE_EXTD               ARCH_BIT(10)
#define APIC_BASE_EN                 ARCH_BIT(11)
#define APIC_BASE_ADDRESS            ARCH_U64(0x000ffffffffff000)
#define MISC_ENABLE_FAST_STRINGS     ARCH_BIT(0)
#define MISC_ENABLE_TCC              ARCH_BIT(3)
#define MISC_ENABLE_PMU_AVAILABLE    ARCH_BIT(7)
#define MISC_ENABLE_BTS_UNAVAILABLE  ARCH_BIT(11)
#define MISC_ENABLE_PEBS_UNAVAILABLE ARCH_BIT(12)
#define MISC_ENABLE_EIST             ARCH_BIT(16)
#define MISC_ENABLE_MONITOR          ARCH_BIT(18)
#define MISC_ENABLE_LIMIT_CPUID      ARCH_BIT(22)
#define MISC_ENABLE_XTPR_DISABLE     ARCH_BIT(23)
#define MISC_ENABLE_XD_DISABLE       ARCH_BIT(34)
#define MISC_ENABLE_TURBO_DISABLE    ARCH_BIT(38)

#endif
