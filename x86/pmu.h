/*
 * The bits of the PMU's registers; their addresses are in x86/msr.h, the event codes in
 * x86/events.h. Intel SDM vol. 3 "Performance Monitoring" and "Debug, Branch Profile, TSC...",
 * vol. 4. Read by C and by GNU as.
 */
#ifndef PMULAB_X86_PMU_H
#define PMULAB_X86_PMU_H

#include "x86/bits.h"

/* IA32_PERFEVTSELx, SDM vol. 3 "Architectural Performance Monitoring Version 1", version 3 for ANY.
 */
#define PERFEVTSEL_EVENT             ARCH_U64(0xff)
#define PERFEVTSEL_UMASK             ARCH_U64(0xff00)
#define PERFEVTSEL_UMASK_SHIFT       8
#define PERFEVTSEL_USR               ARCH_BIT(16)
#define PERFEVTSEL_OS                ARCH_BIT(17)
#define PERFEVTSEL_E                 ARCH_BIT(18)
#define PERFEVTSEL_PC                ARCH_BIT(19)
#define PERFEVTSEL_INT               ARCH_BIT(20)
#define PERFEVTSEL_ANY               ARCH_BIT(21)
#define PERFEVTSEL_EN                ARCH_BIT(22)
#define PERFEVTSEL_INV               ARCH_BIT(23)
#define PERFEVTSEL_CMASK             ARCH_U64(0xff000000)
#define PERFEVTSEL_CMASK_SHIFT       24
#define PERFEVTSEL_ADAPTIVE          ARCH_BIT(34) /* SDM vol. 3 "Adaptive PEBS" */
#define PERFEVTSEL_EN_LBR_LOG        ARCH_BIT(35) /* SDM vol. 3 "Last Branch Records" */
#define PERFEVTSEL_EQ                ARCH_BIT(36) /* this and the next two: version 6 */
#define PERFEVTSEL_RDPMC_USR_DISABLE ARCH_BIT(37)
#define PERFEVTSEL_UMASK2            ARCH_U64(0xff0000000000)
#define PERFEVTSEL_UMASK2_SHIFT      40

/* IA32_FIXED_CTR_CTRL: four bits a counter. */
#define FIXED_CTR_CTRL_OS                1
#define FIXED_CTR_CTRL_USR               2
#define FIXED_CTR_CTRL_ANY               4
#define FIXED_CTR_CTRL_PMI               8
#define FIXED_CTR_CTRL_BITS              4
#define FIXED_CTR_CTRL_ADAPTIVE          ARCH_BIT(32) /* of counter 0, and so the next one */
#define FIXED_CTR_CTRL_RDPMC_USR_DISABLE ARCH_BIT(33)
/* In the place of counter 3's ANY; SDM vol. 2 "RDPMC". */
#define FIXED_CTR_CTRL_METRICS_CLEAR_EN ARCH_BIT(14)

/* IA32_PMC_GPn_CFG_B and IA32_PMC_FXm_CFG_B have a bit for each counter, as IA32_PERF_GLOBAL_CTRL;
 * of _CFG_C, SDM vol. 3 "Auto Counter Reload". */
#define PMC_CFG_C_RELOAD ARCH_U64(0xffffffff)

/* IA32_PERF_GLOBAL_CTRL, _STATUS (with its reset and set registers), _INUSE. Bit n: PMCn; bit
 * 32 + i: FIXED_CTRi. */
#define GLOBAL_GENERAL                 ARCH_U64(0xffffffff)
#define GLOBAL_FIXED                   ARCH_U64(0xffff00000000)
#define GLOBAL_FIXED_SHIFT             32
#define GLOBAL_CTRL_PERF_METRICS       ARCH_BIT(48)
#define GLOBAL_STATUS_PERF_METRICS_OVF ARCH_BIT(48)
#define GLOBAL_STATUS_TRACE_TOPA_PMI   ARCH_BIT(55)
#define GLOBAL_STATUS_LBR_FRZ          ARCH_BIT(58)
#define GLOBAL_STATUS_CTR_FRZ          ARCH_BIT(59)
#define GLOBAL_STATUS_ASCI             ARCH_BIT(60)
#define GLOBAL_STATUS_OVF_UNCORE       ARCH_BIT(61)
#define GLOBAL_STATUS_OVF_BUF          ARCH_BIT(62)
#define GLOBAL_STATUS_COND_CHGD        ARCH_BIT(63)
#define GLOBAL_INUSE_PMI               ARCH_BIT(63)

/* IA32_DEBUGCTL. */
#define DEBUGCTL_LBR                   ARCH_BIT(0)
#define DEBUGCTL_BTF                   ARCH_BIT(1)
#define DEBUGCTL_TR                    ARCH_BIT(6)
#define DEBUGCTL_BTS                   ARCH_BIT(7)
#define DEBUGCTL_BTINT                 ARCH_BIT(8)
#define DEBUGCTL_BTS_OFF_OS            ARCH_BIT(9)
#define DEBUGCTL_BTS_OFF_USR           ARCH_BIT(10)
#define DEBUGCTL_FREEZE_LBRS_ON_PMI    ARCH_BIT(11)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI ARCH_BIT(12)
#define DEBUGCTL_UNCORE_PMI_EN         ARCH_BIT(13)
#define DEBUGCTL_FREEZE_WHILE_SMM      ARCH_BIT(14)
#define DEBUGCTL_RTM_DEBUG             ARCH_BIT(15)

/* MSR_LBR_SELECT: a bit set suppresses the kind (SDM vol. 3 "Filtering of Last Branch Records"). */
#define LBR_SELECT_CPL_EQ_0      ARCH_BIT(0)
#define LBR_SELECT_CPL_NEQ_0     ARCH_BIT(1)
#define LBR_SELECT_JCC           ARCH_BIT(2)
#define LBR_SELECT_NEAR_REL_CALL ARCH_BIT(3)
#define LBR_SELECT_NEAR_IND_CALL ARCH_BIT(4)
#define LBR_SELECT_NEAR_RET      ARCH_BIT(5)
#define LBR_SELECT_NEAR_IND_JMP  ARCH_BIT(6)
#define LBR_SELECT_NEAR_REL_JMP  ARCH_BIT(7)
#define LBR_SELECT_FAR_BRANCH    ARCH_BIT(8)
#define LBR_SELECT_EN_CALLSTACK  ARCH_BIT(9)

/* MSR_LBR_INFO_x, SDM vol. 3 "MSR_LBR_INFO_x MSR". */
#define LBR_INFO_CYCLES    ARCH_U64(0xffff)
#define LBR_INFO_TSX_ABORT ARCH_BIT(61)
#define LBR_INFO_IN_TSX    ARCH_BIT(62)
#define LBR_INFO_MISPRED   ARCH_BIT(63)

/* IA32_LBR_CTL: a bit set records the kind, or the ring (SDM vol. 3 "Last Branch Records"). */
#define LBR_CTL_LBREN         ARCH_BIT(0)
#define LBR_CTL_OS            ARCH_BIT(1)
#define LBR_CTL_USR           ARCH_BIT(2)
#define LBR_CTL_CALL_STACK    ARCH_BIT(3)
#define LBR_CTL_JCC           ARCH_BIT(16)
#define LBR_CTL_NEAR_REL_JMP  ARCH_BIT(17)
#define LBR_CTL_NEAR_IND_JMP  ARCH_BIT(18)
#define LBR_CTL_NEAR_REL_CALL ARCH_BIT(19)
#define LBR_CTL_NEAR_IND_CALL ARCH_BIT(20)
#define LBR_CTL_NEAR_RET      ARCH_BIT(21)
#define LBR_CTL_OTHER_BRANCH  ARCH_BIT(22)

/* IA32_LBR_x_INFO: MISPRED, IN_TSX, TSX_ABORT and the cycles as in MSR_LBR_INFO_x, and these. */
#define LBR_INFO_PMC_COUNTS       ARCH_U64(0xff00000000) /* two bits for each of four counters */
#define LBR_INFO_PMC_SHIFT        32
#define LBR_INFO_PMC_BITS         2
#define LBR_INFO_BR_TYPE          ARCH_U64(0xf00000000000000)
#define LBR_INFO_BR_TYPE_SHIFT    56
#define LBR_INFO_CYC_CNT_VALID    ARCH_BIT(60)
#define LBR_BR_TYPE_COND          0
#define LBR_BR_TYPE_NEAR_IND_JMP  1
#define LBR_BR_TYPE_NEAR_REL_JMP  2
#define LBR_BR_TYPE_NEAR_IND_CALL 3
#define LBR_BR_TYPE_NEAR_REL_CALL 4
#define LBR_BR_TYPE_NEAR_RET      5
#define LBR_BR_TYPE_OTHER         8 /* to LAST: other branches */
#define LBR_BR_TYPE_LAST          15

/* IA32_PERF_CAPABILITIES. */
#define PERF_CAP_LBR_FMT             ARCH_U64(0x3f)
#define PERF_CAP_PEBS_TRAP           ARCH_BIT(6)
#define PERF_CAP_PEBS_ARCH_REG       ARCH_BIT(7)
#define PERF_CAP_PEBS_FMT            ARCH_U64(0xf00)
#define PERF_CAP_PEBS_FMT_SHIFT      8
#define PERF_CAP_FREEZE_WHILE_SMM    ARCH_BIT(12)
#define PERF_CAP_FW_WRITE            ARCH_BIT(13)
#define PERF_CAP_PEBS_BASELINE       ARCH_BIT(14)
#define PERF_CAP_PERF_METRICS        ARCH_BIT(15)
#define PERF_CAP_PEBS_OUTPUT_PT      ARCH_BIT(16)
#define PERF_CAP_PEBS_TIMING_INFO    ARCH_BIT(17)
#define PERF_CAP_RDPMC_METRICS_CLEAR ARCH_BIT(19)

/* IA32_PEBS_ENABLE, SDM vol. 3 "Processor Event Based Sampling (PEBS)": PMCn samples; it samples
 * load latencies, or, with extended PEBS (from Ice Lake on), FIXED_CTRn samples. */
#define PEBS_ENABLE_PMC   ARCH_U64(0xffffffff)
#define PEBS_ENABLE_LL    ARCH_U64(0xffffffff00000000)
#define PEBS_ENABLE_FIXED ARCH_U64(0xffff00000000)

/* MSR_PEBS_DATA_CFG, SDM vol. 3 "MSR_PEBS_DATA_CFG". */
#define PEBS_DATA_CFG_MEMINFO     ARCH_BIT(0)
#define PEBS_DATA_CFG_GPRS        ARCH_BIT(1)
#define PEBS_DATA_CFG_XMMS        ARCH_BIT(2)
#define PEBS_DATA_CFG_LBRS        ARCH_BIT(3)
#define PEBS_DATA_CFG_CNTR        ARCH_BIT(4) /* this and the next one: format 6 */
#define PEBS_DATA_CFG_METRICS     ARCH_BIT(5)
#define PEBS_DATA_CFG_LBR_ENTRIES ARCH_U64(0xff000000) /* less one */
#define PEBS_DATA_CFG_LBR_SHIFT   24
#define PEBS_DATA_CFG_GENERAL     ARCH_U64(0xffff00000000) /* which counters' values, format 6 */
#define PEBS_DATA_CFG_FIXED       ARCH_U64(0xff000000000000)

/* MSR_PERF_METRICS: parts of 255, SDM vol. 3 "Performance Metrics". */
#define PERF_METRICS_RETIRING        ARCH_U64(0xff)
#define PERF_METRICS_BAD_SPECULATION ARCH_U64(0xff00)
#define PERF_METRICS_FRONTEND_BOUND  ARCH_U64(0xff0000)
#define PERF_METRICS_BACKEND_BOUND   ARCH_U64(0xff000000)
/* The second level: each is part of one above, in the same order. */
#define PERF_METRICS_HEAVY_OPERATIONS   ARCH_U64(0xff00000000)
#define PERF_METRICS_BRANCH_MISPREDICTS ARCH_U64(0xff0000000000)
#define PERF_METRICS_FETCH_LATENCY      ARCH_U64(0xff000000000000)
#define PERF_METRICS_MEMORY_BOUND       ARCH_U64(0xff00000000000000)
#define PERF_METRICS_LEVEL_2_SHIFT      32
#define PERF_METRICS_BITS               8
#define PERF_METRICS_WHOLE              0xff

/* RDPMC's ECX, SDM vol. 2 "RDPMC". */
#define RDPMC_FIXED   (1 << 30)
#define RDPMC_METRICS (1 << 29)

#endif
