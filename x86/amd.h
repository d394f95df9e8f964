/*
 * What AMD's processors have of their own for performance monitoring: addresses and bits, event
 * codes, CPUID bits. AMD64 Architecture Programmer's Manual (APM) vol. 2 "Debug and Performance
 * Resources" and appendix A "MSR Cross-Reference"; vol. 3 appendix E for CPUID; the families'
 * Processor Programming References (PPR) for events and IBS. Read by C and by GNU as.
 */
#ifndef PMULAB_X86_AMD_H
#define PMULAB_X86_AMD_H

#include "x86/bits.h"

/* ---- CPUID ---- */

/* Leaf 0: "AuthenticAMD" in EBX, EDX, ECX. */
#define CPUID_0_EBX_AMD 0x68747541
#define CPUID_0_EDX_AMD 0x69746e65
#define CPUID_0_ECX_AMD 0x444d4163

#define CPUID_80000001_ECX_CMP_LEGACY       (1 << 1)
#define CPUID_80000001_ECX_SVM              (1 << 2)
#define CPUID_80000001_ECX_EXTAPIC          (1 << 3) /* the local APIC's extended space */
#define CPUID_80000001_ECX_IBS              (1 << 10)
#define CPUID_80000001_ECX_TOPOLOGY         (1 << 22) /* leaves 8000_001DH and 8000_001EH */
#define CPUID_80000001_ECX_PERFCTR_CORE     (1 << 23) /* PERF_CTL0 to 5 */
#define CPUID_80000001_ECX_PERFCTR_NB       (1 << 24)
#define CPUID_80000001_ECX_PERFCTR_LLC      (1 << 28)
#define CPUID_80000007_EDX_HW_PSTATE        (1 << 7)
#define CPUID_80000007_EDX_RO_EFF_FREQ      (1 << 10) /* MSR_AMD_MPERF_RO, MSR_AMD_APERF_RO */
#define CPUID_80000008_EBX_IRPERF           (1 << 1)
#define CPUID_8000001B_EAX_IBSFFV           (1 << 0) /* these flags count */
#define CPUID_8000001B_EAX_FETCH_SAM        (1 << 1)
#define CPUID_8000001B_EAX_OP_SAM           (1 << 2)
#define CPUID_8000001B_EAX_RDWR_OP_CNT      (1 << 3)
#define CPUID_8000001B_EAX_OP_CNT           (1 << 4) /* IbsOpCtl.CntCtl */
#define CPUID_8000001B_EAX_BRN_TRGT         (1 << 5)
#define CPUID_8000001B_EAX_OP_CNT_EXT       (1 << 6) /* seven more bits of IbsOpCtl's count */
#define CPUID_8000001B_EAX_RIP_INVALID_CHK  (1 << 7)
#define CPUID_8000001B_EAX_OP_BRN_FUSE      (1 << 8)
#define CPUID_8000001B_EAX_FETCH_CTL_EXTD   (1 << 9)
#define CPUID_8000001B_EAX_OP_DATA4         (1 << 10)
#define CPUID_8000001B_EAX_L3_MISS_ONLY     (1 << 11)
#define CPUID_80000021_EAX_NULL_CLEARS_BASE (1 << 6)
#define CPUID_80000021_EAX_PREC_RET         (1 << 12)
#define CPUID_80000022_EAX_PERFMON_V2       (1 << 0)
#define CPUID_80000022_EAX_LBR_V2           (1 << 1)
#define CPUID_80000022_EAX_LBR_PMC_FREEZE   (1 << 2)
#define CPUID_80000022_EBX_CORE             0xf /* core counters */
#define CPUID_80000022_EBX_LBR              0x3f0
#define CPUID_80000022_EBX_LBR_SHIFT        4

/* ---- Core counters ---- */

/* Of old: four, and the first four of the next ones by another address. */
#define MSR_AMD_PERF_EVT_SEL0    0xc0010000 /* PerfEvtSel0 to 3 */
#define MSR_AMD_PERF_LEGACY_CTR0 0xc0010004 /* PerfCtr0 to 3 */
#define AMD_LEGACY_COUNTERS      4
#define MSR_AMD_PERF_CTL0        0xc0010200 /* each with its counter behind it */
#define MSR_AMD_PERF_CTR0        0xc0010201
#define AMD_PERF_STRIDE          2
#define AMD_CORE_COUNTERS        6
#define AMD_COUNTER_WIDTH        48

/* PERF_CTL: bits 31:0 as PERFEVTSEL_* but for 19 and 21, which are reserved. */
#define AMD_PERF_CTL_EVENT_HIGH       ARCH_U64(0xf00000000)
#define AMD_PERF_CTL_EVENT_HIGH_SHIFT 32
#define AMD_PERF_CTL_GUEST_ONLY       ARCH_BIT(40)
#define AMD_PERF_CTL_HOST_ONLY        ARCH_BIT(41)
#define AMD_PERF_CTL_PREC_RET         ARCH_BIT(43) /* of PERF_CTL2 */

/* PerfMonV2. */
#define MSR_AMD_PERF_CNTR_GLOBAL_STATUS     0xc0000300
#define MSR_AMD_PERF_CNTR_GLOBAL_CTL        0xc0000301
#define MSR_AMD_PERF_CNTR_GLOBAL_STATUS_CLR 0xc0000302
#define MSR_AMD_PERF_CNTR_GLOBAL_STATUS_SET 0xc0000303
#define AMD_GLOBAL_COUNTERS                 0x3f         /* their bits in all four */
#define AMD_GLOBAL_STATUS_LBRSF             ARCH_BIT(58) /* the branch records are frozen */
#define AMD_GLOBAL_STATUS_PMCF              ARCH_BIT(59) /* the core counters are */

/* ---- DebugCtl (1D9H) and branch records ---- */

/* LBR and BTF are bits 0 and 1, as Intel's. 1DBH to 1DEH: the single record. */
#define AMD_DEBUGCTL_BUS_LOCK       ARCH_BIT(2)
#define AMD_DEBUGCTL_FLBRI          ARCH_BIT(11) /* freeze the branch records at a PMI */
#define AMD_DEBUGCTL_FPMCI          ARCH_BIT(12) /* freeze the core counters */
#define MSR_AMD_LAST_BRANCH_FROM_IP 0x1db
#define MSR_AMD_LAST_BRANCH_TO_IP   0x1dc
#define MSR_AMD_LAST_INT_FROM_IP    0x1dd
#define MSR_AMD_LAST_INT_TO_IP      0x1de

/* The stack, LbrExtV2; entry i is 2 * i further, 0 the newest. LbrSelect's bits are those of
 * MSR_LBR_SELECT, LBR_SELECT_*, without the call stack. */
#define MSR_AMD_LBR_SELECT      0xc000010e
#define MSR_AMD_DBG_EXTN_CFG    0xc000010f
#define AMD_DBG_EXTN_CFG_LBRSE  ARCH_BIT(6)
#define MSR_AMD_LBR_STACK_FROM0 0xc0010300
#define MSR_AMD_LBR_STACK_TO0   0xc0010301
#define AMD_LBR_STRIDE          2
#define AMD_LBR_FROM_MISPREDICT ARCH_BIT(63)
#define AMD_LBR_TO_VALID        ARCH_BIT(63)
#define AMD_LBR_TO_SPEC         ARCH_BIT(62)
#define AMD_LBR_TO_BOGUS        ARCH_BIT(61) /* reserved: erratum 1452 of family 19H */
#define AMD_LBR_IP              ARCH_U64(0x01ffffffffffffff)

/* ---- IBS ---- */

#define MSR_AMD_IBS_FETCH_CTL      0xc0011030
#define MSR_AMD_IBS_FETCH_LIN_AD   0xc0011031
#define MSR_AMD_IBS_FETCH_PHYS_AD  0xc0011032
#define MSR_AMD_IBS_OP_CTL         0xc0011033
#define MSR_AMD_IBS_OP_RIP         0xc0011034
#define MSR_AMD_IBS_OP_DATA        0xc0011035
#define MSR_AMD_IBS_OP_DATA2       0xc0011036
#define MSR_AMD_IBS_OP_DATA3       0xc0011037
#define MSR_AMD_IBS_DC_LIN_AD      0xc0011038
#define MSR_AMD_IBS_DC_PHYS_AD     0xc0011039
#define MSR_AMD_IBS_CTL            0xc001103a
#define MSR_AMD_IBS_BR_TARGET      0xc001103b
#define MSR_AMD_IBS_FETCH_CTL_EXTD 0xc001103c
#define MSR_AMD_IBS_OP_DATA4       0xc001103d

#define IBS_FETCH_MAX_CNT      ARCH_U64(0xffff) /* bits 19:4 of the count */
#define IBS_FETCH_CNT          ARCH_U64(0xffff0000)
#define IBS_FETCH_CNT_SHIFT    16
#define IBS_FETCH_LAT          ARCH_U64(0xffff00000000)
#define IBS_FETCH_LAT_SHIFT    32
#define IBS_FETCH_EN           ARCH_BIT(48)
#define IBS_FETCH_VAL          ARCH_BIT(49)
#define IBS_FETCH_COMP         ARCH_BIT(50)
#define IBS_FETCH_IC_MISS      ARCH_BIT(51)
#define IBS_FETCH_PHY_VALID    ARCH_BIT(52)
#define IBS_FETCH_PAGE_SIZE    ARCH_U64(0x60000000000000)
#define IBS_FETCH_PAGE_SHIFT   53
#define IBS_FETCH_L1_TLB_MISS  ARCH_BIT(55)
#define IBS_FETCH_L2_TLB_MISS  ARCH_BIT(56)
#define IBS_FETCH_RAND_EN      ARCH_BIT(57)
#define IBS_FETCH_L2_MISS      ARCH_BIT(58)
#define IBS_FETCH_L3_MISS_ONLY ARCH_BIT(59)
#define IBS_FETCH_OC_MISS      ARCH_BIT(60)
#define IBS_FETCH_L3_MISS      ARCH_BIT(61)

#define IBS_OP_MAX_CNT       ARCH_U64(0xffff) /* bits 19:4 of the count */
#define IBS_OP_L3_MISS_ONLY  ARCH_BIT(16)
#define IBS_OP_EN            ARCH_BIT(17)
#define IBS_OP_VAL           ARCH_BIT(18)
#define IBS_OP_CNT_CTL       ARCH_BIT(19)        /* 0: cycles, 1: dispatched ops */
#define IBS_OP_MAX_CNT_EXT   ARCH_U64(0x7f00000) /* bits 26:20 of the count, in their places */
#define IBS_OP_CUR_CNT       ARCH_U64(0x7ffffff00000000)
#define IBS_OP_CUR_CNT_SHIFT 32

#define IBS_OP_DATA_COMP_TO_RET      ARCH_U64(0xffff)
#define IBS_OP_DATA_TAG_TO_RET       ARCH_U64(0xffff0000)
#define IBS_OP_DATA_TAG_TO_RET_SHIFT 16
#define IBS_OP_DATA_RETURN           ARCH_BIT(34)
#define IBS_OP_DATA_BRN_TAKEN        ARCH_BIT(35)
#define IBS_OP_DATA_BRN_MISP         ARCH_BIT(36)
#define IBS_OP_DATA_BRN_RET          ARCH_BIT(37)
#define IBS_OP_DATA_RIP_INVALID      ARCH_BIT(38)
#define IBS_OP_DATA_BRN_FUSE         ARCH_BIT(39)
#define IBS_OP_DATA_MICROCODE        ARCH_BIT(40)

#define IBS_OP_DATA2_SRC_LOW        ARCH_U64(0x7)
#define IBS_OP_DATA2_RMT_NODE       ARCH_BIT(4)
#define IBS_OP_DATA2_CACHE_HIT_ST   ARCH_BIT(5)
#define IBS_OP_DATA2_SRC_HIGH       ARCH_U64(0xc0)
#define IBS_OP_DATA2_SRC_HIGH_SHIFT 6

#define IBS_OP_DATA3_LD_OP                ARCH_BIT(0)
#define IBS_OP_DATA3_ST_OP                ARCH_BIT(1)
#define IBS_OP_DATA3_L1_TLB_MISS          ARCH_BIT(2)
#define IBS_OP_DATA3_L2_TLB_MISS          ARCH_BIT(3)
#define IBS_OP_DATA3_L1_TLB_HIT_2M        ARCH_BIT(4)
#define IBS_OP_DATA3_L1_TLB_HIT_1G        ARCH_BIT(5)
#define IBS_OP_DATA3_DC_MISS              ARCH_BIT(7)
#define IBS_OP_DATA3_MISALIGNED           ARCH_BIT(8)
#define IBS_OP_DATA3_UC                   ARCH_BIT(14)
#define IBS_OP_DATA3_LOCKED               ARCH_BIT(15)
#define IBS_OP_DATA3_LIN_ADDR_VALID       ARCH_BIT(17)
#define IBS_OP_DATA3_PHY_ADDR_VALID       ARCH_BIT(18)
#define IBS_OP_DATA3_L2_MISS              ARCH_BIT(20)
#define IBS_OP_DATA3_SW_PF                ARCH_BIT(21)
#define IBS_OP_DATA3_WIDTH                ARCH_U64(0x3c00000) /* log2 of the bytes, plus 1 */
#define IBS_OP_DATA3_WIDTH_SHIFT          22
#define IBS_OP_DATA3_DC_MISS_LAT          ARCH_U64(0xffff00000000)
#define IBS_OP_DATA3_DC_MISS_LAT_SHIFT    32
#define IBS_OP_DATA3_TLB_REFILL_LAT_SHIFT 48 /* up to bit 63 */

#define IBS_CTL_LVT_OFFSET       ARCH_U64(0xf)
#define IBS_CTL_LVT_OFFSET_VALID ARCH_BIT(8)

/* ---- IRPERF, APERF and MPERF, and others that the PMU needs ---- */

#define MSR_AMD_IRPERF        0xc00000e9
#define MSR_AMD_MPERF_RO      0xc00000e7
#define MSR_AMD_APERF_RO      0xc00000e8
#define MSR_AMD_HWCR          0xc0010015
#define AMD_HWCR_IRPERF_EN    ARCH_BIT(30)
#define AMD_HWCR_TSC_FREQ_SEL ARCH_BIT(24) /* the TSC counts at the frequency of P-state 0 */

/* APM vol. 2 appendix A "MSR Cross-Reference"; the P-states and DE_CFG: PPR. */
#define MSR_AMD_PATCH_LEVEL         0x8b
#define MSR_AMD_SYSCFG              0xc0010010
#define MSR_AMD_TOP_MEM             0xc001001a
#define MSR_AMD_NB_CFG              0xc001001f /* BKDG; Linux writes its bit 46, in vain without PCI */
#define MSR_AMD_TOP_MEM2            0xc001001d
#define MSR_AMD_PSTATE_LIMIT        0xc0010061
#define MSR_AMD_PSTATE_CTL          0xc0010062
#define MSR_AMD_PSTATE_STATUS       0xc0010063
#define MSR_AMD_PSTATE_DEF0         0xc0010064 /* to 7 */
#define MSR_AMD_DE_CFG              0xc0011029
#define AMD_SYSCFG_MTRR             0x7c0000 /* the bits of memory types */
#define AMD_SYSCFG_MTRR_FIX_DRAM_EN ARCH_BIT(18)
#define AMD_SYSCFG_MTRR_VAR_DRAM_EN ARCH_BIT(20)
#define AMD_TOP_MEM_ADDRESS         ARCH_U64(0xffffff800000)
#define AMD_PSTATE_CMD              0x7

/* ---- The local APIC's extended space: offsets in the xAPIC page ---- */

#define APIC_VERSION_EAS           ARCH_BIT(31) /* of APIC_VERSION: there is one */
#define APIC_EXT_FEATURE           0x400        /* [23:16]: how many LVT entries */
#define APIC_EXT_FEATURE_LVT       0xff0000
#define APIC_EXT_FEATURE_LVT_SHIFT 16
#define APIC_EXT_CONTROL           0x410    /* as the feature register's bits 2:0 */
#define APIC_EXT_CONTROL_IERN      (1 << 0) /* the interrupt enable registers count */
#define APIC_EXT_CONTROL_SN        (1 << 1) /* so does the specific end of interrupt */
#define APIC_EXT_CONTROL_XAIDN     (1 << 2) /* APIC IDs of eight bits */
#define APIC_EXT_SEOI              0x420
#define APIC_EXT_IER               0x480 /* eight of them, 10H apart */
#define APIC_EXT_LVT0              0x500 /* the next is 10H further */
#define APIC_EXT_LVT_STRIDE        0x10

/* ---- Events: event 35:32 and 7:0, unit mask 15:8, as PERF_CTL has them ---- */

#define AMD_EVENT_CYCLES_NOT_IN_HALT            0x0076
#define AMD_EVENT_RETIRED_INSTRUCTIONS          0x00c0
#define AMD_EVENT_RETIRED_OPS                   0x00c1
#define AMD_EVENT_RETIRED_BRANCHES              0x00c2
#define AMD_EVENT_RETIRED_BRANCHES_MISPREDICTED 0x00c3
#define AMD_EVENT_RETIRED_TAKEN_BRANCHES        0x00c4
#define AMD_EVENT_RETIRED_FAR_CONTROL_TRANSFERS 0x00c6
#define AMD_EVENT_RETIRED_NEAR_RETURNS          0x00c8
#define AMD_EVENT_RETIRED_CONDITIONAL_BRANCHES  0x00d1 /* Zen and later */
/* Event 120H: at the rate of P0, which is the TSC's. Zen 4 and later (Linux
 * arch/x86/events/amd/core.c: PERF_COUNT_HW_REF_CPU_CYCLES of those processors). */
#define AMD_EVENT_P0_CYCLES_NOT_IN_HALT ARCH_U64(0x100000120)

#endif
