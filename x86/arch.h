/*
 * Architectural constants of the x86-64: control registers, exceptions, MSRs, CPUID bits, PMU
 * fields.
 *
 * This header is the one thing that the kernel and the simulator share. It holds numbers and names
 * from the Intel SDM and nothing else: no types, no code, no opinion. It is read by C and by GNU
 * as.
 *
 * Source, unless a line says otherwise: Intel SDM vol. 4 "Model-Specific Registers", vol. 3
 * "Performance Monitoring", "Debug, Branch Profile, TSC...", "Interrupt and Exception Handling",
 * "Advanced Programmable Interrupt Controller".
 */
#ifndef PMULAB_ARCH_H
#define PMULAB_ARCH_H

#ifdef __ASSEMBLER__
#define ARCH_U64(x) x
#else
#define ARCH_U64(x) x##ULL
#endif
#define ARCH_BIT(n) (ARCH_U64(1) << (n))

/* Control registers, SDM vol. 3 "Control Registers". */
#define CR0_PE         (1 << 0)
#define CR0_MP         (1 << 1)
#define CR0_EM         (1 << 2)
#define CR0_TS         (1 << 3)
#define CR0_ET         (1 << 4)
#define CR0_NE         (1 << 5)
#define CR0_WP         (1 << 16)
#define CR0_AM         (1 << 18)
#define CR0_NW         (1 << 29)
#define CR0_CD         (1 << 30)
#define CR0_PG         ARCH_BIT(31)
#define CR4_VME        (1 << 0)
#define CR4_PVI        (1 << 1)
#define CR4_TSD        (1 << 2)
#define CR4_DE         (1 << 3)
#define CR4_PSE        (1 << 4)
#define CR4_PAE        (1 << 5)
#define CR4_MCE        (1 << 6)
#define CR4_PGE        (1 << 7)
#define CR4_PCE        (1 << 8)
#define CR4_OSFXSR     (1 << 9)
#define CR4_OSXMMEXCPT (1 << 10)
#define CR4_UMIP       (1 << 11)
#define CR4_FSGSBASE   (1 << 16)
#define CR4_OSXSAVE    (1 << 18)
#define CR4_SMEP       (1 << 20)
#define CR4_SMAP       (1 << 21)

/* RFLAGS, SDM vol. 1 "EFLAGS Register". */
#define RFLAGS_CF     (1 << 0)
#define RFLAGS_FIXED1 (1 << 1)
#define RFLAGS_PF     (1 << 2)
#define RFLAGS_AF     (1 << 4)
#define RFLAGS_ZF     (1 << 6)
#define RFLAGS_SF     (1 << 7)
#define RFLAGS_TF     (1 << 8)
#define RFLAGS_IF     (1 << 9)
#define RFLAGS_DF     (1 << 10)
#define RFLAGS_OF     (1 << 11)
#define RFLAGS_IOPL   (3 << 12)
#define RFLAGS_NT     (1 << 14)
#define RFLAGS_RF     (1 << 16)
#define RFLAGS_VM     (1 << 17)
#define RFLAGS_AC     (1 << 18)
#define RFLAGS_VIF    (1 << 19)
#define RFLAGS_VIP    (1 << 20)
#define RFLAGS_ID     (1 << 21)

/* Debug registers, SDM vol. 3 "Debug Registers". */
#define DR6_B0     (1 << 0)
#define DR6_BD     (1 << 13)
#define DR6_BS     (1 << 14)
#define DR6_BT     (1 << 15)
#define DR6_FIXED1 ARCH_U64(0xffff0ff0)
#define DR7_FIXED1 (1 << 10)
#define DR7_GD     (1 << 13)

/* Paging-structure entries, SDM vol. 3 "Paging". */
#define PTE_P    ARCH_BIT(0)
#define PTE_RW   ARCH_BIT(1)
#define PTE_US   ARCH_BIT(2)
#define PTE_PWT  ARCH_BIT(3)
#define PTE_PCD  ARCH_BIT(4)
#define PTE_A    ARCH_BIT(5)
#define PTE_D    ARCH_BIT(6)
#define PTE_PS   ARCH_BIT(7)
#define PTE_G    ARCH_BIT(8)
#define PTE_XD   ARCH_BIT(63)
#define PTE_ADDR ARCH_U64(0x000ffffffffff000)

/* Page-fault error code, SDM vol. 3 "Interrupt 14 - Page-Fault Exception". */
#define PF_P    (1 << 0)
#define PF_W    (1 << 1)
#define PF_U    (1 << 2)
#define PF_RSVD (1 << 3)
#define PF_I    (1 << 4)

/* Exception vectors, SDM vol. 3 "Exception and Interrupt Vectors". */
#define VEC_DE  0
#define VEC_DB  1
#define VEC_NMI 2
#define VEC_BP  3
#define VEC_OF  4
#define VEC_BR  5
#define VEC_UD  6
#define VEC_NM  7
#define VEC_DF  8
#define VEC_TS  10
#define VEC_NP  11
#define VEC_SS  12
#define VEC_GP  13
#define VEC_PF  14
#define VEC_MF  16
#define VEC_AC  17
#define VEC_MC  18
#define VEC_XM  19

/* CPUID feature bits. */
#define CPUID_1_ECX_DTES64               (1 << 2)
#define CPUID_1_ECX_DS_CPL               (1 << 4)
#define CPUID_1_ECX_PDCM                 (1 << 15)
#define CPUID_1_ECX_X2APIC               (1 << 21)
#define CPUID_1_ECX_TSC_DEADLINE         (1 << 24)
#define CPUID_1_ECX_HYPERVISOR           ARCH_BIT(31)
#define CPUID_1_EDX_TSC                  (1 << 4)
#define CPUID_1_EDX_MSR                  (1 << 5)
#define CPUID_1_EDX_APIC                 (1 << 9)
#define CPUID_1_EDX_SEP                  (1 << 11)
#define CPUID_1_EDX_DS                   (1 << 21)
#define CPUID_6_EAX_ARAT                 (1 << 2)
#define CPUID_80000001_EDX_SYSCALL       (1 << 11)
#define CPUID_80000001_EDX_NX            (1 << 20)
#define CPUID_80000001_EDX_1GB           (1 << 26)
#define CPUID_80000001_EDX_RDTSCP        (1 << 27)
#define CPUID_80000001_EDX_LM            (1 << 29)
#define CPUID_80000007_EDX_INVARIANT_TSC (1 << 8)

/* MSRs outside the PMU. */
#define MSR_IA32_TIME_STAMP_COUNTER  0x10
#define MSR_IA32_APIC_BASE           0x1b
#define MSR_IA32_FEATURE_CONTROL     0x3a
#define MSR_IA32_TSC_ADJUST          0x3b
#define MSR_IA32_BIOS_SIGN_ID        0x8b
#define MSR_IA32_MTRRCAP             0xfe
#define MSR_IA32_SYSENTER_CS         0x174
#define MSR_IA32_SYSENTER_ESP        0x175
#define MSR_IA32_SYSENTER_EIP        0x176
#define MSR_IA32_MCG_CAP             0x179
#define MSR_IA32_MISC_ENABLE         0x1a0
#define MSR_IA32_PAT                 0x277
#define MSR_IA32_TSC_DEADLINE        0x6e0
#define MSR_X2APIC_BASE              0x800
#define MSR_IA32_EFER                0xc0000080
#define MSR_IA32_STAR                0xc0000081
#define MSR_IA32_LSTAR               0xc0000082
#define MSR_IA32_CSTAR               0xc0000083
#define MSR_IA32_FMASK               0xc0000084
#define MSR_IA32_FS_BASE             0xc0000100
#define MSR_IA32_GS_BASE             0xc0000101
#define MSR_IA32_KERNEL_GS_BASE      0xc0000102
#define MSR_IA32_TSC_AUX             0xc0000103
#define EFER_SCE                     ARCH_BIT(0)
#define EFER_LME                     ARCH_BIT(8)
#define EFER_LMA                     ARCH_BIT(10)
#define EFER_NXE                     ARCH_BIT(11)
#define APIC_BASE_BSP                ARCH_BIT(8)
#define APIC_BASE_EXTD               ARCH_BIT(10)
#define APIC_BASE_EN                 ARCH_BIT(11)
#define MISC_ENABLE_FAST_STRINGS     ARCH_BIT(0)
#define MISC_ENABLE_PMU_AVAILABLE    ARCH_BIT(7)
#define MISC_ENABLE_BTS_UNAVAILABLE  ARCH_BIT(11)
#define MISC_ENABLE_PEBS_UNAVAILABLE ARCH_BIT(12)

/* Performance monitoring MSRs, SDM vol. 3 "Architectural Performance Monitoring". */
#define MSR_IA32_PMC0                     0xc1
#define MSR_IA32_PERFEVTSEL0              0x186
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
#define MSR_OFFCORE_RSP_0                 0x1a6
#define MSR_OFFCORE_RSP_1                 0x1a7

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

/* IA32_PERFEVTSELx, SDM vol. 3 "Architectural Performance Monitoring Version 1", version 3 for ANY.
 */
#define PERFEVTSEL_EVENT       ARCH_U64(0xff)
#define PERFEVTSEL_UMASK       ARCH_U64(0xff00)
#define PERFEVTSEL_UMASK_SHIFT 8
#define PERFEVTSEL_USR         ARCH_BIT(16)
#define PERFEVTSEL_OS          ARCH_BIT(17)
#define PERFEVTSEL_E           ARCH_BIT(18)
#define PERFEVTSEL_PC          ARCH_BIT(19)
#define PERFEVTSEL_INT         ARCH_BIT(20)
#define PERFEVTSEL_ANY         ARCH_BIT(21)
#define PERFEVTSEL_EN          ARCH_BIT(22)
#define PERFEVTSEL_INV         ARCH_BIT(23)
#define PERFEVTSEL_CMASK       ARCH_U64(0xff000000)
#define PERFEVTSEL_CMASK_SHIFT 24
#define PERFEVTSEL_ADAPTIVE    ARCH_BIT(34) /* SDM vol. 3 "Adaptive PEBS" */

/* IA32_FIXED_CTR_CTRL: four bits a counter. */
#define FIXED_CTR_CTRL_OS       1
#define FIXED_CTR_CTRL_USR      2
#define FIXED_CTR_CTRL_ANY      4
#define FIXED_CTR_CTRL_PMI      8
#define FIXED_CTR_CTRL_BITS     4
#define FIXED_CTR_CTRL_ADAPTIVE ARCH_BIT(32) /* of counter 0 */

/* IA32_PERF_GLOBAL_STATUS (and its reset and set registers). Bit n: PMCn; bit 32 + i: FIXED_CTRi.
 */
#define GLOBAL_FIXED_SHIFT             32
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

/* IA32_PERF_CAPABILITIES. */
#define PERF_CAP_LBR_FMT          ARCH_U64(0x3f)
#define PERF_CAP_PEBS_TRAP        ARCH_BIT(6)
#define PERF_CAP_PEBS_ARCH_REG    ARCH_BIT(7)
#define PERF_CAP_PEBS_FMT         ARCH_U64(0xf00)
#define PERF_CAP_PEBS_FMT_SHIFT   8
#define PERF_CAP_FREEZE_WHILE_SMM ARCH_BIT(12)
#define PERF_CAP_FW_WRITE         ARCH_BIT(13)
#define PERF_CAP_PEBS_BASELINE    ARCH_BIT(14)
#define PERF_CAP_PERF_METRICS     ARCH_BIT(15)

/* MSR_PEBS_DATA_CFG, SDM vol. 3 "MSR_PEBS_DATA_CFG". */
#define PEBS_DATA_CFG_MEMINFO     ARCH_BIT(0)
#define PEBS_DATA_CFG_GPRS        ARCH_BIT(1)
#define PEBS_DATA_CFG_XMMS        ARCH_BIT(2)
#define PEBS_DATA_CFG_LBRS        ARCH_BIT(3)
#define PEBS_DATA_CFG_LBR_ENTRIES ARCH_U64(0xff000000) /* less one */
#define PEBS_DATA_CFG_LBR_SHIFT   24

/* Architectural events, SDM vol. 3 "Pre-defined Architectural Performance Events": umask << 8 |
 * event. */
#define EVENT_CPU_CLK_UNHALTED_THREAD_P    0x003c
#define EVENT_INST_RETIRED_ANY_P           0x00c0
#define EVENT_CPU_CLK_UNHALTED_REF_P       0x013c
#define EVENT_LONGEST_LAT_CACHE_REFERENCE  0x4f2e
#define EVENT_LONGEST_LAT_CACHE_MISS       0x412e
#define EVENT_BR_INST_RETIRED_ALL_BRANCHES 0x00c4
#define EVENT_BR_MISP_RETIRED_ALL_BRANCHES 0x00c5
#define EVENT_TOPDOWN_SLOTS_P              0x01a4

/* RDPMC's ECX, SDM vol. 2 "RDPMC". */
#define RDPMC_FIXED   (1 << 30)
#define RDPMC_METRICS (1 << 29)

/* Local APIC, SDM vol. 3 "Local APIC Register Address Map" (offsets in the xAPIC page; the x2APIC
 * MSR is MSR_X2APIC_BASE + offset / 16). */
#define APIC_DEFAULT_BASE           0xfee00000
#define APIC_ID                     0x20
#define APIC_VERSION                0x30
#define APIC_TPR                    0x80
#define APIC_PPR                    0xa0
#define APIC_EOI                    0xb0
#define APIC_LDR                    0xd0
#define APIC_DFR                    0xe0
#define APIC_SVR                    0xf0
#define APIC_ISR                    0x100
#define APIC_TMR                    0x180
#define APIC_IRR                    0x200
#define APIC_ESR                    0x280
#define APIC_LVT_CMCI               0x2f0
#define APIC_ICR                    0x300
#define APIC_ICR_HIGH               0x310
#define APIC_LVT_TIMER              0x320
#define APIC_LVT_THERMAL            0x330
#define APIC_LVT_PERFMON            0x340
#define APIC_LVT_LINT0              0x350
#define APIC_LVT_LINT1              0x360
#define APIC_LVT_ERROR              0x370
#define APIC_TIMER_INITIAL          0x380
#define APIC_TIMER_CURRENT          0x390
#define APIC_TIMER_DIVIDE           0x3e0
#define APIC_SELF_IPI               0x3f0
#define APIC_SVR_ENABLE             (1 << 8)
#define APIC_LVT_VECTOR             0xff
#define APIC_LVT_DELIVERY           (7 << 8)
#define APIC_LVT_DELIVERY_FIXED     (0 << 8)
#define APIC_LVT_DELIVERY_SMI       (2 << 8)
#define APIC_LVT_DELIVERY_NMI       (4 << 8)
#define APIC_LVT_DELIVERY_INIT      (5 << 8)
#define APIC_LVT_DELIVERY_EXTINT    (7 << 8)
#define APIC_LVT_PENDING            (1 << 12)
#define APIC_LVT_MASK               (1 << 16)
#define APIC_LVT_TIMER_PERIODIC     (1 << 17)
#define APIC_LVT_TIMER_TSC_DEADLINE (2 << 17)
#define APIC_ICR_INIT               (5 << 8)
#define APIC_ICR_STARTUP            (6 << 8)
#define APIC_ICR_LEVEL_ASSERT       (1 << 14)

/* Exit codes the guest writes to the debug-exit port (design, "Kernel"). */
#define DEBUG_EXIT_PORT   0xf4
#define DEBUG_EXIT_OK     0x10
#define DEBUG_EXIT_NOT_OK 0x11
#define DEBUG_EXIT_PANIC  0x12

#endif
