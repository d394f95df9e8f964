/* Names of registers and of their fields. Two tables: the registers, and the layouts that they
 * have. */
#include "x86/decode.h"

#include "x86/amd.h"
#include "x86/apic.h"
#include "x86/events.h"
#include "x86/msr.h"
#include "x86/pmu.h"
#include "x86/text.h"

struct field {
    uint64_t mask;
    const char *name;
    enum decode_kind kind;
    const char *const *choices;
};

/* clang-format off */
#define FLAG(mask, name)            {mask, name, DECODE_FLAG, NULL}
#define COUNTERS(mask, name)        {mask, name, DECODE_COUNTERS, NULL}
#define NUMBER(mask, name)          {mask, name, DECODE_NUMBER, NULL}
#define AMOUNT(mask, name)          {mask, name, DECODE_AMOUNT, NULL}
#define ADDRESS(mask, name)         {mask, name, DECODE_ADDRESS, NULL}
#define CHOICE(mask, name, choices) {mask, name, DECODE_CHOICE, choices}
#define EVENT(mask, name)           {mask, name, DECODE_EVENT, NULL}
#define UMASK(mask, name)           {mask, name, DECODE_UMASK, NULL}
#define END                         {0, NULL, DECODE_FLAG, NULL}
/* clang-format on */

struct decode_layout {
    const struct field *fields;
    /* The fields once more for each counter, every time so many bits higher; 0 groups: once. */
    unsigned groups, stride;
    const char *group;
    const struct field *exceptions; /* fields of a group that are something else there; or NULL */
    bool partial; /* many more bits have a meaning in some model: they are not called reserved */
};

/* clang-format off */
static const char *const delivery_modes[8] = {
    "fixed", "mode-1", "SMI", "mode-3", "NMI", "INIT", "mode-6", "ExtINT"};
static const char *const masks[2] = {"unmasked", "masked"};
static const char *const timer_modes[4] = {"", "periodic", "TSC-deadline", "mode-3"};
static const char *const ipi_delivery_modes[8] = {
    "fixed", "lowest", "SMI", "mode-3", "NMI", "INIT", "startup", "mode-7"};
static const char *const shorthands[4] = {"", "self", "all", "all-but-self"};

static const struct decode_layout perfevtsel = {.fields = (const struct field[]){
    EVENT(PERFEVTSEL_EVENT,   "EVENT"),
    UMASK(PERFEVTSEL_UMASK,   "UMASK"),
    FLAG(PERFEVTSEL_USR,      "USR"),
    FLAG(PERFEVTSEL_OS,       "OS"),
    FLAG(PERFEVTSEL_E,        "E"),
    FLAG(PERFEVTSEL_PC,       "PC"),
    FLAG(PERFEVTSEL_INT,      "INT"),
    FLAG(PERFEVTSEL_ANY,      "ANY"),
    FLAG(PERFEVTSEL_EN,       "EN"),
    FLAG(PERFEVTSEL_INV,      "INV"),
    AMOUNT(PERFEVTSEL_CMASK,  "CMASK"),
    FLAG(PERFEVTSEL_ADAPTIVE, "Adaptive_Record"),
    FLAG(PERFEVTSEL_EN_LBR_LOG, "EN_LBR_LOG"),
    FLAG(PERFEVTSEL_EQ,       "EQ"),
    FLAG(PERFEVTSEL_RDPMC_USR_DISABLE, "RDPMC_USR_DISABLE"),
    AMOUNT(PERFEVTSEL_UMASK2, "UMASK2"),
    END,
}};

/* Four bits a counter, SDM vol. 3 "FIXED_CTR_CTRL MSR"; from 32 on there are two more. There the
 * counters from 8 on would have theirs: no processor has so many. */
static const struct decode_layout fixed_ctr_ctrl = {.fields = (const struct field[]){
    FLAG(FIXED_CTR_CTRL_OS,       "OS"),
    FLAG(FIXED_CTR_CTRL_USR,      "USR"),
    FLAG(FIXED_CTR_CTRL_ANY,      "ANY"),
    FLAG(FIXED_CTR_CTRL_PMI,      "PMI"),
    FLAG(FIXED_CTR_CTRL_ADAPTIVE, "Adaptive_Record"),
    FLAG(FIXED_CTR_CTRL_RDPMC_USR_DISABLE, "RDPMC_USR_DISABLE"),
    END,
}, .exceptions = (const struct field[]){
    FLAG(FIXED_CTR_CTRL_METRICS_CLEAR_EN, "METRICS_CLEAR_EN"),
    END,
}, .groups = 8, .stride = FIXED_CTR_CTRL_BITS, .group = "FIXED_CTR%u"};

static const struct decode_layout global_ctrl = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL,       "EN_PMC%u"),
    COUNTERS(GLOBAL_FIXED,         "EN_FIXED_CTR%u"),
    FLAG(GLOBAL_CTRL_PERF_METRICS, "EN_PERF_METRICS"),
    END,
}};

static const struct decode_layout global_status = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL,             "Ovf_PMC%u"),
    COUNTERS(GLOBAL_FIXED,               "Ovf_FIXED_CTR%u"),
    FLAG(GLOBAL_STATUS_PERF_METRICS_OVF, "OVF_PERF_METRICS"),
    FLAG(GLOBAL_STATUS_TRACE_TOPA_PMI,   "Trace_ToPA_PMI"),
    FLAG(GLOBAL_STATUS_LBR_FRZ,          "LBR_FRZ"),
    FLAG(GLOBAL_STATUS_CTR_FRZ,          "CTR_FRZ"),
    FLAG(GLOBAL_STATUS_ASCI,             "ASCI"),
    FLAG(GLOBAL_STATUS_OVF_UNCORE,       "Ovf_Uncore"),
    FLAG(GLOBAL_STATUS_OVF_BUF,          "OvfBuf"),
    FLAG(GLOBAL_STATUS_COND_CHGD,        "CondChgd"),
    END,
}};

static const struct decode_layout global_inuse = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL, "PMC%u"),
    COUNTERS(GLOBAL_FIXED,   "FIXED_CTR%u"),
    FLAG(GLOBAL_INUSE_PMI,   "PMI_InUse"),
    END,
}};

static const struct decode_layout pebs_enable = {.fields = (const struct field[]){
    COUNTERS(PEBS_ENABLE_PMC, "PEBS_EN_PMC%u"),
    COUNTERS(PEBS_ENABLE_LL,  "LL_EN_PMC%u"),
    END,
}};

static const struct decode_layout extended_pebs_enable = {.fields = (const struct field[]){
    COUNTERS(PEBS_ENABLE_PMC,   "PEBS_EN_PMC%u"),
    COUNTERS(PEBS_ENABLE_FIXED, "PEBS_EN_FIXED_CTR%u"),
    END,
}};

static const struct decode_layout pebs_data_cfg = {.fields = (const struct field[]){
    FLAG(PEBS_DATA_CFG_MEMINFO,       "MEMINFO"),
    FLAG(PEBS_DATA_CFG_GPRS,          "GPRS"),
    FLAG(PEBS_DATA_CFG_XMMS,          "XMMS"),
    FLAG(PEBS_DATA_CFG_LBRS,          "LBRS"),
    FLAG(PEBS_DATA_CFG_CNTR,          "CNTR"),
    FLAG(PEBS_DATA_CFG_METRICS,       "METRICS"),
    AMOUNT(PEBS_DATA_CFG_LBR_ENTRIES, "LBR_ENTRIES-1"),
    COUNTERS(PEBS_DATA_CFG_GENERAL,   "PMC%u"),
    COUNTERS(PEBS_DATA_CFG_FIXED,     "FIXED_CTR%u"),
    END,
}};

static const struct decode_layout debugctl = {.fields = (const struct field[]){
    FLAG(DEBUGCTL_LBR,                   "LBR"),
    FLAG(DEBUGCTL_BTF,                   "BTF"),
    FLAG(DEBUGCTL_TR,                    "TR"),
    FLAG(DEBUGCTL_BTS,                   "BTS"),
    FLAG(DEBUGCTL_BTINT,                 "BTINT"),
    FLAG(DEBUGCTL_BTS_OFF_OS,            "BTS_OFF_OS"),
    FLAG(DEBUGCTL_BTS_OFF_USR,           "BTS_OFF_USR"),
    FLAG(DEBUGCTL_FREEZE_LBRS_ON_PMI,    "FREEZE_LBRS_ON_PMI"),
    FLAG(DEBUGCTL_FREEZE_PERFMON_ON_PMI, "FREEZE_PERFMON_ON_PMI"),
    FLAG(DEBUGCTL_UNCORE_PMI_EN,         "ENABLE_UNCORE_PMI"),
    FLAG(DEBUGCTL_FREEZE_WHILE_SMM,      "FREEZE_WHILE_SMM"),
    FLAG(DEBUGCTL_RTM_DEBUG,             "RTM_DEBUG"),
    END,
}};

static const struct decode_layout lbr_select = {.fields = (const struct field[]){
    FLAG(LBR_SELECT_CPL_EQ_0,      "CPL_EQ_0"),
    FLAG(LBR_SELECT_CPL_NEQ_0,     "CPL_NEQ_0"),
    FLAG(LBR_SELECT_JCC,           "JCC"),
    FLAG(LBR_SELECT_NEAR_REL_CALL, "NEAR_REL_CALL"),
    FLAG(LBR_SELECT_NEAR_IND_CALL, "NEAR_IND_CALL"),
    FLAG(LBR_SELECT_NEAR_RET,      "NEAR_RET"),
    FLAG(LBR_SELECT_NEAR_IND_JMP,  "NEAR_IND_JMP"),
    FLAG(LBR_SELECT_NEAR_REL_JMP,  "NEAR_REL_JMP"),
    FLAG(LBR_SELECT_FAR_BRANCH,    "FAR_BRANCH"),
    FLAG(LBR_SELECT_EN_CALLSTACK,  "EN_CALLSTACK"),
    END,
}};

static const struct decode_layout lbr_info = {.fields = (const struct field[]){
    AMOUNT(LBR_INFO_CYCLES,  "CYCLES"),
    FLAG(LBR_INFO_TSX_ABORT, "TSX_ABORT"),
    FLAG(LBR_INFO_IN_TSX,    "IN_TSX"),
    FLAG(LBR_INFO_MISPRED,   "MISPRED"),
    END,
}};

static const struct decode_layout lbr_ctl = {.fields = (const struct field[]){
    FLAG(LBR_CTL_LBREN,         "LBREn"),
    FLAG(LBR_CTL_OS,            "OS"),
    FLAG(LBR_CTL_USR,           "USR"),
    FLAG(LBR_CTL_CALL_STACK,    "CALL_STACK"),
    FLAG(LBR_CTL_JCC,           "JCC"),
    FLAG(LBR_CTL_NEAR_REL_JMP,  "NEAR_REL_JMP"),
    FLAG(LBR_CTL_NEAR_IND_JMP,  "NEAR_IND_JMP"),
    FLAG(LBR_CTL_NEAR_REL_CALL, "NEAR_REL_CALL"),
    FLAG(LBR_CTL_NEAR_IND_CALL, "NEAR_IND_CALL"),
    FLAG(LBR_CTL_NEAR_RET,      "NEAR_RET"),
    FLAG(LBR_CTL_OTHER_BRANCH,  "OTHER_BRANCH"),
    END,
}};

/* The types above OTHER are other branches too. */
static const char *const branch_types[16] = {
    [LBR_BR_TYPE_COND] = "COND",
    [LBR_BR_TYPE_NEAR_IND_JMP] = "NEAR_IND_JMP",
    [LBR_BR_TYPE_NEAR_REL_JMP] = "NEAR_REL_JMP",
    [LBR_BR_TYPE_NEAR_IND_CALL] = "NEAR_IND_CALL",
    [LBR_BR_TYPE_NEAR_REL_CALL] = "NEAR_REL_CALL",
    [LBR_BR_TYPE_NEAR_RET] = "NEAR_RET",
    [6] = "reserved-type-6", "reserved-type-7",
    [LBR_BR_TYPE_OTHER] = "OTHER_BRANCH", "OTHER_BRANCH", "OTHER_BRANCH", "OTHER_BRANCH",
    "OTHER_BRANCH", "OTHER_BRANCH", "OTHER_BRANCH", "OTHER_BRANCH",
};

static const struct decode_layout lbr_arch_info = {.fields = (const struct field[]){
    AMOUNT(LBR_INFO_CYCLES,      "CYC_CNT"),
    AMOUNT(LBR_INFO_PMC_COUNTS,  "PMC_CNT"),
    CHOICE(LBR_INFO_BR_TYPE,     "branch type", branch_types),
    FLAG(LBR_INFO_CYC_CNT_VALID, "CYC_CNT_VALID"),
    FLAG(LBR_INFO_TSX_ABORT,     "TSX_ABORT"),
    FLAG(LBR_INFO_IN_TSX,        "IN_TSX"),
    FLAG(LBR_INFO_MISPRED,       "MISPRED"),
    END,
}};

static const struct decode_layout perf_capabilities = {.fields = (const struct field[]){
    NUMBER(PERF_CAP_LBR_FMT,        "LBR_FMT"),
    FLAG(PERF_CAP_PEBS_TRAP,        "PEBS_TRAP"),
    FLAG(PERF_CAP_PEBS_ARCH_REG,    "PEBS_ARCH_REG"),
    NUMBER(PERF_CAP_PEBS_FMT,       "PEBS_FMT"),
    FLAG(PERF_CAP_FREEZE_WHILE_SMM, "FREEZE_WHILE_SMM"),
    FLAG(PERF_CAP_FW_WRITE,         "FW_WRITE"),
    FLAG(PERF_CAP_PEBS_BASELINE,    "PEBS_BASELINE"),
    FLAG(PERF_CAP_PERF_METRICS,     "PERF_METRICS"),
    FLAG(PERF_CAP_PEBS_OUTPUT_PT,   "PEBS_OUTPUT_PT"),
    FLAG(PERF_CAP_PEBS_TIMING_INFO, "PEBS_TIMING_INFO"),
    FLAG(PERF_CAP_RDPMC_METRICS_CLEAR, "RDPMC_METRICS_CLEAR"),
    END,
}};

static const struct decode_layout perf_metrics = {.fields = (const struct field[]){
    AMOUNT(PERF_METRICS_RETIRING,        "RETIRING"),
    AMOUNT(PERF_METRICS_BAD_SPECULATION, "BAD_SPECULATION"),
    AMOUNT(PERF_METRICS_FRONTEND_BOUND,  "FRONTEND_BOUND"),
    AMOUNT(PERF_METRICS_BACKEND_BOUND,   "BACKEND_BOUND"),
    AMOUNT(PERF_METRICS_HEAVY_OPERATIONS,   "HEAVY_OPERATIONS"),
    AMOUNT(PERF_METRICS_BRANCH_MISPREDICTS, "BRANCH_MISPREDICTS"),
    AMOUNT(PERF_METRICS_FETCH_LATENCY,      "FETCH_LATENCY"),
    AMOUNT(PERF_METRICS_MEMORY_BOUND,       "MEMORY_BOUND"),
    END,
}};

/* Whose overflow reloads the counter. */
static const struct decode_layout pmc_cfg_b = {.fields = (const struct field[]){
    COUNTERS(GLOBAL_GENERAL, "PMC%u"),
    COUNTERS(GLOBAL_FIXED,   "FIXED_CTR%u"),
    END,
}};

/* The upper half is architectural PEBS's. */
static const struct decode_layout pmc_cfg_c = {.fields = (const struct field[]){
    NUMBER(PMC_CFG_C_RELOAD, "RELOAD"),
    END,
}, .partial = true};

static const struct decode_layout misc_enable = {.fields = (const struct field[]){
    FLAG(MISC_ENABLE_FAST_STRINGS,     "FAST_STRINGS"),
    FLAG(MISC_ENABLE_TCC,              "TCC"),
    FLAG(MISC_ENABLE_PMU_AVAILABLE,    "PMU_AVAILABLE"),
    FLAG(MISC_ENABLE_BTS_UNAVAILABLE,  "BTS_UNAVAILABLE"),
    FLAG(MISC_ENABLE_PEBS_UNAVAILABLE, "PEBS_UNAVAILABLE"),
    FLAG(MISC_ENABLE_EIST,             "EIST"),
    FLAG(MISC_ENABLE_MONITOR,          "MONITOR"),
    FLAG(MISC_ENABLE_LIMIT_CPUID,      "LIMIT_CPUID_MAXVAL"),
    FLAG(MISC_ENABLE_XTPR_DISABLE,     "XTPR_DISABLE"),
    FLAG(MISC_ENABLE_XD_DISABLE,       "XD_DISABLE"),
    FLAG(MISC_ENABLE_TURBO_DISABLE,    "TURBO_DISABLE"),
    END,
}, .partial = true};

static const struct decode_layout apic_base = {.fields = (const struct field[]){
    ADDRESS(APIC_BASE_ADDRESS, "base"),
    FLAG(APIC_BASE_BSP,        "BSP"),
    FLAG(APIC_BASE_EXTD,       "EXTD"),
    FLAG(APIC_BASE_EN,         "EN"),
    END,
}};

static const struct decode_layout efer = {.fields = (const struct field[]){
    FLAG(EFER_SCE, "SCE"),
    FLAG(EFER_LME, "LME"),
    FLAG(EFER_LMA, "LMA"),
    FLAG(EFER_NXE, "NXE"),
    END,
}};

static const struct decode_layout apic_esr = {.fields = (const struct field[]){
    FLAG(APIC_ESR_SEND_CHECKSUM,    "Send_Checksum_Error"),
    FLAG(APIC_ESR_RECEIVE_CHECKSUM, "Receive_Checksum_Error"),
    FLAG(APIC_ESR_SEND_ACCEPT,      "Send_Accept_Error"),
    FLAG(APIC_ESR_RECEIVE_ACCEPT,   "Receive_Accept_Error"),
    FLAG(APIC_ESR_REDIRECTIBLE_IPI, "Redirectible_IPI"),
    FLAG(APIC_ESR_SEND_ILLEGAL,     "Send_Illegal_Vector"),
    FLAG(APIC_ESR_RECEIVE_ILLEGAL,  "Receive_Illegal_Vector"),
    FLAG(APIC_ESR_ILLEGAL_REGISTER, "Illegal_Register_Address"),
    END,
}};

static const struct decode_layout apic_svr = {.fields = (const struct field[]){
    NUMBER(APIC_SVR_VECTOR, "vector"),
    FLAG(APIC_SVR_ENABLE,   "ENABLE"),
    END,
}, .partial = true};

static const struct decode_layout apic_icr = {.fields = (const struct field[]){
    NUMBER(APIC_ICR_VECTOR,      "vector"),
    CHOICE(APIC_ICR_DELIVERY,    "delivery mode", ipi_delivery_modes),
    FLAG(APIC_ICR_LOGICAL,       "logical"),
    FLAG(APIC_ICR_PENDING,       "pending"),
    FLAG(APIC_ICR_LEVEL_ASSERT,  "assert"),
    FLAG(APIC_ICR_TRIGGER_LEVEL, "level"),
    CHOICE(APIC_ICR_SHORTHAND,   "shorthand", shorthands),
    NUMBER(APIC_ICR_DESTINATION, "destination"),
    END,
}};

/* An LVT entry: which fields it has differs from entry to entry. */
static const struct decode_layout lvt = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR,   "vector"),
    CHOICE(APIC_LVT_DELIVERY, "delivery mode", delivery_modes),
    FLAG(APIC_LVT_PENDING,    "pending"),
    CHOICE(APIC_LVT_MASK,     "mask", masks),
    END,
}};

static const struct decode_layout lvt_lint = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR,      "vector"),
    CHOICE(APIC_LVT_DELIVERY,    "delivery mode", delivery_modes),
    FLAG(APIC_LVT_PENDING,       "pending"),
    FLAG(APIC_LVT_ACTIVE_LOW,    "active-low"),
    FLAG(APIC_LVT_REMOTE_IRR,    "remote-IRR"),
    FLAG(APIC_LVT_TRIGGER_LEVEL, "level"),
    CHOICE(APIC_LVT_MASK,        "mask", masks),
    END,
}};

static const struct decode_layout lvt_error = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR, "vector"),
    FLAG(APIC_LVT_PENDING,  "pending"),
    CHOICE(APIC_LVT_MASK,   "mask", masks),
    END,
}};

static const struct decode_layout lvt_timer = {.fields = (const struct field[]){
    NUMBER(APIC_LVT_VECTOR,     "vector"),
    FLAG(APIC_LVT_PENDING,      "pending"),
    CHOICE(APIC_LVT_MASK,       "mask", masks),
    CHOICE(APIC_LVT_TIMER_MODE, "timer mode", timer_modes),
    END,
}};

/* ---- AMD's: APM vol. 2 "Performance Monitoring Counters", "Debug Control MSR", "Instruction-Based
 * Sampling"; the PPRs ---- */

static const struct decode_layout perf_ctl = {.fields = (const struct field[]){
    EVENT(PERFEVTSEL_EVENT,       "EVENT"),
    UMASK(PERFEVTSEL_UMASK,       "UMASK"),
    FLAG(PERFEVTSEL_USR,          "USR"),
    FLAG(PERFEVTSEL_OS,           "OS"),
    FLAG(PERFEVTSEL_E,            "EDGE"),
    FLAG(PERFEVTSEL_INT,          "INT"),
    FLAG(PERFEVTSEL_EN,           "EN"),
    FLAG(PERFEVTSEL_INV,          "INV"),
    AMOUNT(PERFEVTSEL_CMASK,      "CNT_MASK"),
    UMASK(AMD_PERF_CTL_EVENT_HIGH, "EVENT_HIGH"),
    FLAG(AMD_PERF_CTL_GUEST_ONLY, "GuestOnly"),
    FLAG(AMD_PERF_CTL_HOST_ONLY,  "HostOnly"),
    FLAG(AMD_PERF_CTL_PREC_RET,   "PREC_RET"),
    END,
}};

static const struct decode_layout perf_cntr_global_ctl = {.fields = (const struct field[]){
    COUNTERS(AMD_GLOBAL_COUNTERS, "PERF_CNT_EN_%u"),
    END,
}};

static const struct decode_layout perf_cntr_global_status = {.fields = (const struct field[]){
    COUNTERS(AMD_GLOBAL_COUNTERS, "CNT_OF_%u"),
    FLAG(AMD_GLOBAL_STATUS_LBRSF, "LBRSF"),
    FLAG(AMD_GLOBAL_STATUS_PMCF,  "PMCF"),
    END,
}};

static const struct decode_layout amd_debugctl = {.fields = (const struct field[]){
    FLAG(DEBUGCTL_LBR,          "LBR"),
    FLAG(DEBUGCTL_BTF,          "BTF"),
    FLAG(AMD_DEBUGCTL_BUS_LOCK, "BUS_LOCK_DETECT"),
    FLAG(AMD_DEBUGCTL_FLBRI,    "FLBRI"),
    FLAG(AMD_DEBUGCTL_FPMCI,    "FPMCI"),
    END,
}, .partial = true};

static const struct decode_layout amd_lbr_select = {.fields = (const struct field[]){
    FLAG(LBR_SELECT_CPL_EQ_0,      "CPL_EQ_0"),
    FLAG(LBR_SELECT_CPL_NEQ_0,     "CPL_NEQ_0"),
    FLAG(LBR_SELECT_JCC,           "JCC"),
    FLAG(LBR_SELECT_NEAR_REL_CALL, "NEAR_REL_CALL"),
    FLAG(LBR_SELECT_NEAR_IND_CALL, "NEAR_IND_CALL"),
    FLAG(LBR_SELECT_NEAR_RET,      "NEAR_RET"),
    FLAG(LBR_SELECT_NEAR_IND_JMP,  "NEAR_IND_JMP"),
    FLAG(LBR_SELECT_NEAR_REL_JMP,  "NEAR_REL_JMP"),
    FLAG(LBR_SELECT_FAR_BRANCH,    "FAR_BRANCH"),
    END,
}};

static const struct decode_layout debug_extn_ctl = {.fields = (const struct field[]){
    FLAG(AMD_DBG_EXTN_CFG_LBRSE, "LBRSE"),
    END,
}};

static const struct decode_layout amd_lbr_from = {.fields = (const struct field[]){
    ADDRESS(AMD_LBR_IP,           "ip"),
    FLAG(AMD_LBR_FROM_MISPREDICT, "MISPREDICT"),
    END,
}};

static const struct decode_layout amd_lbr_to = {.fields = (const struct field[]){
    ADDRESS(AMD_LBR_IP,    "ip"),
    FLAG(AMD_LBR_TO_SPEC,  "SPEC"),
    FLAG(AMD_LBR_TO_VALID, "VALID"),
    END,
}};

static const struct decode_layout ibs_fetch_ctl = {.fields = (const struct field[]){
    AMOUNT(IBS_FETCH_MAX_CNT,    "IbsFetchMaxCnt"),
    AMOUNT(IBS_FETCH_CNT,        "IbsFetchCnt"),
    AMOUNT(IBS_FETCH_LAT,        "IbsFetchLat"),
    FLAG(IBS_FETCH_EN,           "IbsFetchEn"),
    FLAG(IBS_FETCH_VAL,          "IbsFetchVal"),
    FLAG(IBS_FETCH_COMP,         "IbsFetchComp"),
    FLAG(IBS_FETCH_IC_MISS,      "IbsIcMiss"),
    FLAG(IBS_FETCH_PHY_VALID,    "IbsPhyAddrValid"),
    AMOUNT(IBS_FETCH_PAGE_SIZE,  "IbsL1TlbPgSz"),
    FLAG(IBS_FETCH_L1_TLB_MISS,  "IbsL1TlbMiss"),
    FLAG(IBS_FETCH_L2_TLB_MISS,  "IbsL2TlbMiss"),
    FLAG(IBS_FETCH_RAND_EN,      "IbsRandEn"),
    FLAG(IBS_FETCH_L2_MISS,      "IbsFetchL2Miss"),
    FLAG(IBS_FETCH_L3_MISS_ONLY, "IbsFetchL3MissOnly"),
    FLAG(IBS_FETCH_OC_MISS,      "IbsFetchOcMiss"),
    FLAG(IBS_FETCH_L3_MISS,      "IbsFetchL3Miss"),
    END,
}, .partial = true};

static const struct decode_layout ibs_op_ctl = {.fields = (const struct field[]){
    AMOUNT(IBS_OP_MAX_CNT,     "IbsOpMaxCnt"),
    FLAG(IBS_OP_L3_MISS_ONLY,  "IbsOpL3MissOnly"),
    FLAG(IBS_OP_EN,            "IbsOpEn"),
    FLAG(IBS_OP_VAL,           "IbsOpVal"),
    FLAG(IBS_OP_CNT_CTL,       "IbsOpCntCtl"),
    AMOUNT(IBS_OP_MAX_CNT_EXT, "IbsOpMaxCntExt"),
    AMOUNT(IBS_OP_CUR_CNT,     "IbsOpCurCnt"),
    END,
}, .partial = true};

static const struct decode_layout ibs_op_data = {.fields = (const struct field[]){
    AMOUNT(IBS_OP_DATA_COMP_TO_RET, "IbsCompToRetCtr"),
    AMOUNT(IBS_OP_DATA_TAG_TO_RET,  "IbsTagToRetCtr"),
    FLAG(IBS_OP_DATA_RETURN,        "IbsOpReturn"),
    FLAG(IBS_OP_DATA_BRN_TAKEN,     "IbsOpBrnTaken"),
    FLAG(IBS_OP_DATA_BRN_MISP,      "IbsOpBrnMisp"),
    FLAG(IBS_OP_DATA_BRN_RET,       "IbsOpBrnRet"),
    FLAG(IBS_OP_DATA_RIP_INVALID,   "IbsRipInvalid"),
    FLAG(IBS_OP_DATA_BRN_FUSE,      "IbsOpBrnFuse"),
    FLAG(IBS_OP_DATA_MICROCODE,     "IbsOpMicrocode"),
    END,
}, .partial = true};

static const struct decode_layout ibs_op_data2 = {.fields = (const struct field[]){
    AMOUNT(IBS_OP_DATA2_SRC_LOW,      "DataSrcLo"),
    FLAG(IBS_OP_DATA2_RMT_NODE,       "RmtNode"),
    FLAG(IBS_OP_DATA2_CACHE_HIT_ST,   "CacheHitSt"),
    AMOUNT(IBS_OP_DATA2_SRC_HIGH,     "DataSrcHi"),
    END,
}, .partial = true};

static const struct decode_layout ibs_op_data3 = {.fields = (const struct field[]){
    FLAG(IBS_OP_DATA3_LD_OP,          "IbsLdOp"),
    FLAG(IBS_OP_DATA3_ST_OP,          "IbsStOp"),
    FLAG(IBS_OP_DATA3_L1_TLB_MISS,    "IbsDcL1TlbMiss"),
    FLAG(IBS_OP_DATA3_L2_TLB_MISS,    "IbsDcL2TlbMiss"),
    FLAG(IBS_OP_DATA3_DC_MISS,        "IbsDcMiss"),
    FLAG(IBS_OP_DATA3_MISALIGNED,     "IbsDcMisAcc"),
    FLAG(IBS_OP_DATA3_LOCKED,         "IbsDcLockedOp"),
    FLAG(IBS_OP_DATA3_LIN_ADDR_VALID, "IbsDcLinAddrValid"),
    FLAG(IBS_OP_DATA3_PHY_ADDR_VALID, "IbsDcPhyAddrValid"),
    FLAG(IBS_OP_DATA3_L2_MISS,        "IbsL2Miss"),
    FLAG(IBS_OP_DATA3_SW_PF,          "IbsSwPf"),
    AMOUNT(IBS_OP_DATA3_WIDTH,        "IbsOpMemWidth"),
    AMOUNT(IBS_OP_DATA3_DC_MISS_LAT,  "IbsDcMissLat"),
    END,
}, .partial = true};

static const struct decode_layout ibs_ctl = {.fields = (const struct field[]){
    NUMBER(IBS_CTL_LVT_OFFSET,     "LvtOffset"),
    FLAG(IBS_CTL_LVT_OFFSET_VALID, "LvtOffsetVal"),
    END,
}};

static const struct decode_layout hwcr = {.fields = (const struct field[]){
    FLAG(AMD_HWCR_IRPERF_EN, "IRPerfEn"),
    END,
}, .partial = true};

#define ANY_VERSION                             0, UINT8_MAX
#define ONE(msr, name, layout)                  {msr, 1, 1, name, layout, ANY_VERSION, DECODE_INTEL}
#define MANY(msr, count, stride, name, layout)                                                     \
    {msr, count, stride, name, layout, ANY_VERSION, DECODE_INTEL}
#define AMD(msr, name, layout)                  {msr, 1, 1, name, layout, ANY_VERSION, DECODE_AMD}
#define AMDS(msr, count, stride, name, layout)                                                     \
    {msr, count, stride, name, layout, ANY_VERSION, DECODE_AMD}
#define X2APIC(reg) (MSR_X2APIC_BASE + (reg) / 16)

static const struct decode_register registers[] = {
    AMD(MSR_IA32_DEBUGCTL, "DebugCtl", &amd_debugctl),
    AMD(MSR_AMD_LAST_BRANCH_FROM_IP, "LastBranchFromIP", NULL),
    AMD(MSR_AMD_LAST_BRANCH_TO_IP, "LastBranchToIP", NULL),
    AMD(MSR_AMD_LAST_INT_FROM_IP, "LastIntFromIP", NULL),
    AMD(MSR_AMD_LAST_INT_TO_IP, "LastIntToIP", NULL),
    AMD(MSR_AMD_MPERF_RO, "MPerfReadOnly", NULL),
    AMD(MSR_AMD_APERF_RO, "APerfReadOnly", NULL),
    AMD(MSR_AMD_IRPERF, "IRPerfCount", NULL),
    AMD(MSR_AMD_LBR_SELECT, "LastBranchStackSelect", &amd_lbr_select),
    AMD(MSR_AMD_DBG_EXTN_CFG, "DebugExtnCtl", &debug_extn_ctl),
    AMD(MSR_AMD_PERF_CNTR_GLOBAL_STATUS, "PerfCntrGlobalStatus", &perf_cntr_global_status),
    AMD(MSR_AMD_PERF_CNTR_GLOBAL_CTL, "PerfCntrGlobalCtl", &perf_cntr_global_ctl),
    AMD(MSR_AMD_PERF_CNTR_GLOBAL_STATUS_CLR, "PerfCntrGlobalStatusClr", &perf_cntr_global_status),
    AMD(MSR_AMD_PERF_CNTR_GLOBAL_STATUS_SET, "PerfCntrGlobalStatusSet", &perf_cntr_global_status),
    AMDS(MSR_AMD_PERF_EVT_SEL0, AMD_LEGACY_COUNTERS, 1, "PerfEvtSel%u", &perf_ctl),
    AMDS(MSR_AMD_PERF_LEGACY_CTR0, AMD_LEGACY_COUNTERS, 1, "PerfCtr%u", NULL),
    AMD(MSR_AMD_HWCR, "HWCR", &hwcr),
    AMDS(MSR_AMD_PERF_CTL0, AMD_CORE_COUNTERS, AMD_PERF_STRIDE, "PERF_CTL%u", &perf_ctl),
    AMDS(MSR_AMD_PERF_CTR0, AMD_CORE_COUNTERS, AMD_PERF_STRIDE, "PERF_CTR%u", NULL),
    AMDS(MSR_AMD_LBR_STACK_FROM0, 16, AMD_LBR_STRIDE, "LastBranchStackFromIp%u", &amd_lbr_from),
    AMDS(MSR_AMD_LBR_STACK_TO0, 16, AMD_LBR_STRIDE, "LastBranchStackToIp%u", &amd_lbr_to),
    AMD(MSR_AMD_IBS_FETCH_CTL, "IbsFetchCtl", &ibs_fetch_ctl),
    AMD(MSR_AMD_IBS_FETCH_LIN_AD, "IbsFetchLinAd", NULL),
    AMD(MSR_AMD_IBS_FETCH_PHYS_AD, "IbsFetchPhysAd", NULL),
    AMD(MSR_AMD_IBS_OP_CTL, "IbsOpCtl", &ibs_op_ctl),
    AMD(MSR_AMD_IBS_OP_RIP, "IbsOpRip", NULL),
    AMD(MSR_AMD_IBS_OP_DATA, "IbsOpData", &ibs_op_data),
    AMD(MSR_AMD_IBS_OP_DATA2, "IbsOpData2", &ibs_op_data2),
    AMD(MSR_AMD_IBS_OP_DATA3, "IbsOpData3", &ibs_op_data3),
    AMD(MSR_AMD_IBS_DC_LIN_AD, "IbsDcLinAd", NULL),
    AMD(MSR_AMD_IBS_DC_PHYS_AD, "IbsDcPhysAd", NULL),
    AMD(MSR_AMD_IBS_CTL, "IbsCtl", &ibs_ctl),
    AMD(MSR_AMD_IBS_BR_TARGET, "BpIbsTgtRip", NULL),
    AMD(MSR_AMD_IBS_FETCH_CTL_EXTD, "IcIbsExtdCtl", NULL),
    AMD(MSR_AMD_IBS_OP_DATA4, "IbsOpData4", NULL),
    ONE(MSR_IA32_TIME_STAMP_COUNTER, "IA32_TIME_STAMP_COUNTER", NULL),
    ONE(MSR_IA32_PLATFORM_ID, "IA32_PLATFORM_ID", NULL),
    ONE(MSR_IA32_APIC_BASE, "IA32_APIC_BASE", &apic_base),
    ONE(MSR_IA32_FEATURE_CONTROL, "IA32_FEATURE_CONTROL", NULL),
    ONE(MSR_IA32_TSC_ADJUST, "IA32_TSC_ADJUST", NULL),
    MANY(MSR_LASTBRANCH_0_FROM_CORE2, 8, 1, "MSR_LASTBRANCH_%u_FROM_IP", NULL),
    MANY(MSR_LASTBRANCH_0_TO_CORE2, 8, 1, "MSR_LASTBRANCH_%u_TO_IP", NULL),
    ONE(MSR_TEST_CTRL, "MSR_TEST_CTRL", NULL),
    ONE(MSR_SMI_COUNT, "MSR_SMI_COUNT", NULL),
    ONE(MSR_IA32_BIOS_SIGN_ID, "IA32_BIOS_SIGN_ID", NULL),
    MANY(MSR_IA32_PMC0, 10, 1, "IA32_PMC%u", NULL),
    ONE(MSR_PLATFORM_INFO, "MSR_PLATFORM_INFO", NULL),
    ONE(MSR_IA32_MTRRCAP, "IA32_MTRRCAP", NULL),
    ONE(MSR_MISC_FEATURES_ENABLES, "MSR_MISC_FEATURES_ENABLES", NULL),
    ONE(MSR_IA32_SYSENTER_CS, "IA32_SYSENTER_CS", NULL),
    ONE(MSR_IA32_SYSENTER_ESP, "IA32_SYSENTER_ESP", NULL),
    ONE(MSR_IA32_SYSENTER_EIP, "IA32_SYSENTER_EIP", NULL),
    ONE(MSR_IA32_MCG_CAP, "IA32_MCG_CAP", NULL),
    ONE(MSR_IA32_MCG_STATUS, "IA32_MCG_STATUS", NULL),
    ONE(MSR_IA32_MCG_CTL, "IA32_MCG_CTL", NULL),
    MANY(MSR_IA32_PERFEVTSEL0, 16, 1, "IA32_PERFEVTSEL%u", &perfevtsel),
    ONE(MSR_IA32_PERF_STATUS, "IA32_PERF_STATUS", NULL),
    ONE(MSR_IA32_PERF_CTL, "IA32_PERF_CTL", NULL),
    ONE(MSR_IA32_MISC_ENABLE, "IA32_MISC_ENABLE", &misc_enable),
    MANY(MSR_OFFCORE_RSP_0, 2, 1, "MSR_OFFCORE_RSP_%u", NULL),
    ONE(MSR_TURBO_RATIO_LIMIT, "MSR_TURBO_RATIO_LIMIT", NULL),
    ONE(MSR_LBR_SELECT, "MSR_LBR_SELECT", &lbr_select),
    ONE(MSR_LASTBRANCH_TOS, "MSR_LASTBRANCH_TOS", NULL),
    ONE(MSR_IA32_DEBUGCTL, "IA32_DEBUGCTL", &debugctl),
    ONE(MSR_LER_FROM_LIP, "MSR_LER_FROM_LIP", NULL),
    ONE(MSR_LER_TO_LIP, "MSR_LER_TO_LIP", NULL),
    ONE(MSR_IA32_LER_INFO, "IA32_LER_INFO", &lbr_arch_info),
    MANY(MSR_IA32_MTRR_PHYSBASE0, 10, 2, "IA32_MTRR_PHYSBASE%u", NULL),
    MANY(MSR_IA32_MTRR_PHYSMASK0, 10, 2, "IA32_MTRR_PHYSMASK%u", NULL),
    ONE(MSR_IA32_MTRR_FIX64K_00000, "IA32_MTRR_FIX64K_00000", NULL),
    ONE(MSR_IA32_MTRR_FIX16K_80000, "IA32_MTRR_FIX16K_80000", NULL),
    ONE(MSR_IA32_MTRR_FIX16K_A0000, "IA32_MTRR_FIX16K_A0000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000, "IA32_MTRR_FIX4K_C0000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 1, "IA32_MTRR_FIX4K_C8000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 2, "IA32_MTRR_FIX4K_D0000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 3, "IA32_MTRR_FIX4K_D8000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 4, "IA32_MTRR_FIX4K_E0000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 5, "IA32_MTRR_FIX4K_E8000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 6, "IA32_MTRR_FIX4K_F0000", NULL),
    ONE(MSR_IA32_MTRR_FIX4K_C0000 + 7, "IA32_MTRR_FIX4K_F8000", NULL),
    ONE(MSR_IA32_PAT, "IA32_PAT", NULL),
    ONE(MSR_IA32_MTRR_DEF_TYPE, "IA32_MTRR_DEF_TYPE", NULL),
    MANY(MSR_IA32_FIXED_CTR0, 16, 1, "IA32_FIXED_CTR%u", NULL),
    ONE(MSR_PERF_METRICS, "MSR_PERF_METRICS", &perf_metrics),
    ONE(MSR_IA32_PERF_CAPABILITIES, "IA32_PERF_CAPABILITIES", &perf_capabilities),
    ONE(MSR_IA32_FIXED_CTR_CTRL, "IA32_FIXED_CTR_CTRL", &fixed_ctr_ctrl),
    ONE(MSR_IA32_PERF_GLOBAL_STATUS, "IA32_PERF_GLOBAL_STATUS", &global_status),
    ONE(MSR_IA32_PERF_GLOBAL_CTRL, "IA32_PERF_GLOBAL_CTRL", &global_ctrl),
    {MSR_IA32_PERF_GLOBAL_OVF_CTRL, 1, 1, "IA32_PERF_GLOBAL_OVF_CTRL", &global_status, 0, 3,
     DECODE_INTEL},
    {MSR_IA32_PERF_GLOBAL_STATUS_RESET, 1, 1, "IA32_PERF_GLOBAL_STATUS_RESET", &global_status,
     4, UINT8_MAX, DECODE_INTEL},
    ONE(MSR_IA32_PERF_GLOBAL_STATUS_SET, "IA32_PERF_GLOBAL_STATUS_SET", &global_status),
    ONE(MSR_IA32_PERF_GLOBAL_INUSE, "IA32_PERF_GLOBAL_INUSE", &global_inuse),
    {MSR_IA32_PEBS_ENABLE, 1, 1, "IA32_PEBS_ENABLE", &pebs_enable, 0, 4, DECODE_INTEL},
    {MSR_IA32_PEBS_ENABLE, 1, 1, "IA32_PEBS_ENABLE", &extended_pebs_enable, 5, UINT8_MAX,
     DECODE_INTEL},
    ONE(MSR_PEBS_DATA_CFG, "MSR_PEBS_DATA_CFG", &pebs_data_cfg),
    ONE(MSR_PEBS_LD_LAT_THRESHOLD, "MSR_PEBS_LD_LAT_THRESHOLD", NULL),
    MANY(MSR_IA32_A_PMC0, 10, 1, "IA32_A_PMC%u", NULL),
    ONE(MSR_IA32_DS_AREA, "IA32_DS_AREA", NULL),
    MANY(MSR_LASTBRANCH_0_FROM_IP, 32, 1, "MSR_LASTBRANCH_%u_FROM_IP", NULL),
    MANY(MSR_LASTBRANCH_0_TO_IP, 32, 1, "MSR_LASTBRANCH_%u_TO_IP", NULL),
    ONE(MSR_IA32_TSC_DEADLINE, "IA32_TSC_DEADLINE", NULL),
    ONE(X2APIC(APIC_ID), "IA32_X2APIC_APICID", NULL),
    ONE(X2APIC(APIC_VERSION), "IA32_X2APIC_VERSION", NULL),
    ONE(X2APIC(APIC_TPR), "IA32_X2APIC_TPR", NULL),
    ONE(X2APIC(APIC_PPR), "IA32_X2APIC_PPR", NULL),
    ONE(X2APIC(APIC_EOI), "IA32_X2APIC_EOI", NULL),
    ONE(X2APIC(APIC_LDR), "IA32_X2APIC_LDR", NULL),
    ONE(X2APIC(APIC_SVR), "IA32_X2APIC_SIVR", &apic_svr),
    MANY(X2APIC(APIC_ISR), 8, 1, "IA32_X2APIC_ISR%u", NULL),
    MANY(X2APIC(APIC_TMR), 8, 1, "IA32_X2APIC_TMR%u", NULL),
    MANY(X2APIC(APIC_IRR), 8, 1, "IA32_X2APIC_IRR%u", NULL),
    ONE(X2APIC(APIC_ESR), "IA32_X2APIC_ESR", &apic_esr),
    ONE(X2APIC(APIC_LVT_CMCI), "IA32_X2APIC_LVT_CMCI", &lvt),
    ONE(X2APIC(APIC_ICR), "IA32_X2APIC_ICR", &apic_icr),
    ONE(X2APIC(APIC_LVT_TIMER), "IA32_X2APIC_LVT_TIMER", &lvt_timer),
    ONE(X2APIC(APIC_LVT_THERMAL), "IA32_X2APIC_LVT_THERMAL", &lvt),
    ONE(X2APIC(APIC_LVT_PERFMON), "IA32_X2APIC_LVT_PMI", &lvt),
    ONE(X2APIC(APIC_LVT_LINT0), "IA32_X2APIC_LVT_LINT0", &lvt_lint),
    ONE(X2APIC(APIC_LVT_LINT1), "IA32_X2APIC_LVT_LINT1", &lvt_lint),
    ONE(X2APIC(APIC_LVT_ERROR), "IA32_X2APIC_LVT_ERROR", &lvt_error),
    ONE(X2APIC(APIC_TIMER_INITIAL), "IA32_X2APIC_INIT_COUNT", NULL),
    ONE(X2APIC(APIC_TIMER_CURRENT), "IA32_X2APIC_CUR_COUNT", NULL),
    ONE(X2APIC(APIC_TIMER_DIVIDE), "IA32_X2APIC_DIV_CONF", NULL),
    ONE(X2APIC(APIC_SELF_IPI), "IA32_X2APIC_SELF_IPI", NULL),
    MANY(MSR_LBR_INFO_0, 32, 1, "MSR_LBR_INFO_%u", &lbr_info),
    MANY(MSR_IA32_LBR_0_INFO, 32, 1, "IA32_LBR_%u_INFO", &lbr_arch_info),
    ONE(MSR_IA32_LBR_CTL, "IA32_LBR_CTL", &lbr_ctl),
    ONE(MSR_IA32_LBR_DEPTH, "IA32_LBR_DEPTH", NULL),
    MANY(MSR_IA32_LBR_0_FROM_IP, 32, 1, "IA32_LBR_%u_FROM_IP", NULL),
    MANY(MSR_IA32_LBR_0_TO_IP, 32, 1, "IA32_LBR_%u_TO_IP", NULL),
    MANY(MSR_IA32_PMC_GP0_CTR, 10, MSR_IA32_PMC_STRIDE, "IA32_PMC_GP%u_CTR", NULL),
    MANY(MSR_IA32_PMC_GP0_CFG_A, 10, MSR_IA32_PMC_STRIDE, "IA32_PMC_GP%u_CFG_A", &perfevtsel),
    MANY(MSR_IA32_PMC_GP0_CFG_B, 10, MSR_IA32_PMC_STRIDE, "IA32_PMC_GP%u_CFG_B", &pmc_cfg_b),
    MANY(MSR_IA32_PMC_GP0_CFG_C, 10, MSR_IA32_PMC_STRIDE, "IA32_PMC_GP%u_CFG_C", &pmc_cfg_c),
    MANY(MSR_IA32_PMC_FX0_CTR, 7, MSR_IA32_PMC_STRIDE, "IA32_PMC_FX%u_CTR", NULL),
    MANY(MSR_IA32_PMC_FX0_CFG_B, 7, MSR_IA32_PMC_STRIDE, "IA32_PMC_FX%u_CFG_B", &pmc_cfg_b),
    MANY(MSR_IA32_PMC_FX0_CFG_C, 7, MSR_IA32_PMC_STRIDE, "IA32_PMC_FX%u_CFG_C", &pmc_cfg_c),
    ONE(MSR_IA32_XSS, "IA32_XSS", NULL),
    ONE(MSR_IA32_EFER, "IA32_EFER", &efer),
    ONE(MSR_IA32_STAR, "IA32_STAR", NULL),
    ONE(MSR_IA32_LSTAR, "IA32_LSTAR", NULL),
    ONE(MSR_IA32_CSTAR, "IA32_CSTAR", NULL),
    ONE(MSR_IA32_FMASK, "IA32_FMASK", NULL),
    ONE(MSR_IA32_FS_BASE, "IA32_FS_BASE", NULL),
    ONE(MSR_IA32_GS_BASE, "IA32_GS_BASE", NULL),
    ONE(MSR_IA32_KERNEL_GS_BASE, "IA32_KERNEL_GS_BASE", NULL),
    ONE(MSR_IA32_TSC_AUX, "IA32_TSC_AUX", NULL),
};
/* clang-format on */

const struct decode_register *decode_register(unsigned i)
{
    return i < sizeof(registers) / sizeof(registers[0]) ? &registers[i] : NULL;
}

static const struct decode_register *find(uint32_t msr, const struct decode_context *context)
{
    for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
        const struct decode_register *r = &registers[i];
        if ((msr - r->first) / r->stride < r->count && (msr - r->first) % r->stride == 0 &&
            context->version >= r->version_min && context->version <= r->version_max &&
            (r->vendor == DECODE_INTEL || r->vendor == context->vendor))
            return r;
    }
    return NULL;
}

/* A field in its place: which row of the layout, of which group and counter, in which bits. */
struct place {
    const struct field *row;
    unsigned group, counter;
    unsigned low, bits;
};

/* No compiler's builtin: on some processors it calls a library. */
static unsigned lowest_bit(uint64_t mask)
{
    unsigned low = 0;
    while (!(mask >> low & 1))
        low++;
    return low;
}

static unsigned width(uint64_t mask)
{
    unsigned bits = 0;
    for (mask >>= lowest_bit(mask); mask != 0; mask >>= 1)
        bits++;
    return bits;
}

static const struct field *exception(const struct decode_layout *layout, uint64_t mask)
{
    for (const struct field *f = layout->exceptions; f != NULL && f->name != NULL; f++)
        if (f->mask == mask)
            return f;
    return NULL;
}

static bool find_place(const struct decode_layout *layout, unsigned index, struct place *place)
{
    unsigned group = 0;
    do {
        for (const struct field *f = layout->fields; f->name != NULL; f++) {
            unsigned bits = width(f->mask), low = lowest_bit(f->mask) + group * layout->stride;
            unsigned parts = f->kind == DECODE_COUNTERS ? bits : 1;
            if (index < parts) {
                const struct field *other = exception(layout, f->mask << group * layout->stride);
                *place = (struct place){other != NULL ? other : f, group, index, low + index,
                                        bits / parts};
                return true;
            }
            index -= parts;
        }
    } while (++group < layout->groups);
    return false;
}

static uint64_t low_bits(unsigned n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

static void add_event(struct text *t, uint64_t select, const struct decode_context *context)
{
    bool amd = context->vendor == DECODE_AMD;
    const char *name = amd ? amd_event_name(select) : pmu_event_name(select, context->version);
    if (select == 0)
        return;
    if (name == NULL && context->event_name != NULL)
        name = context->event_name(context->arg, select);
    text_add_space(t);
    if (name != NULL) {
        text_add(t, name);
        return;
    }
    text_add(t, "event=");
    text_add_hex(t, amd ? amd_event_select(select) : select & PERFEVTSEL_EVENT, 2);
    text_add(t, " umask=");
    text_add_hex(t, (select & PERFEVTSEL_UMASK) >> PERFEVTSEL_UMASK_SHIFT, 2);
}

static void add_name(struct text *t, const struct place *p)
{
    text_add_space(t);
    text_add_name(t, p->row->name, p->counter);
}

static void add_field(struct text *t, const struct place *p, uint64_t value,
                      const struct decode_context *context)
{
    uint64_t v = value >> p->low & low_bits(p->bits);
    switch (p->row->kind) {
    case DECODE_FLAG:
    case DECODE_COUNTERS:
        if (v != 0)
            add_name(t, p);
        break;
    case DECODE_NUMBER:
        add_name(t, p);
        text_add(t, "=");
        text_add_hex(t, v, p->bits / 4);
        break;
    case DECODE_AMOUNT:
        if (v == 0)
            break;
        add_name(t, p);
        text_add(t, "=");
        text_add_number(t, v, 10, 1);
        break;
    case DECODE_ADDRESS:
        add_name(t, p);
        text_add(t, "=");
        text_add_hex(t, v << p->low, 1);
        break;
    case DECODE_CHOICE:
        if (*p->row->choices[v] == '\0')
            break;
        text_add_space(t);
        text_add(t, p->row->choices[v]);
        break;
    case DECODE_EVENT:
        add_event(t, value, context);
        break;
    case DECODE_UMASK:
        break;
    }
}

static void add_fields(struct text *t, const struct decode_layout *layout, uint64_t value,
                       const struct decode_context *context)
{
    uint64_t known = 0;
    unsigned group = layout->groups; /* the one whose heading stands there: none */
    struct place p;
    for (unsigned i = 0; find_place(layout, i, &p); i++) {
        uint64_t mask = low_bits(p.bits) << p.low;
        known |= mask;
        if (p.group != group && layout->groups > 0 && (value & mask) != 0) {
            group = p.group;
            text_add_space(t);
            text_add_name(t, layout->group, group);
            text_add(t, ":");
        }
        add_field(t, &p, value, context);
    }
    if (!layout->partial && (value & ~known) != 0) {
        text_add_space(t);
        text_add(t, "reserved=");
        text_add_hex(t, value & ~known, 1);
    }
}

bool decode_msr_name(char *buf, size_t size, uint32_t msr, const struct decode_context *context)
{
    const struct decode_register *r = find(msr, context);
    struct text t = text_in(buf, size);
    if (r != NULL)
        text_add_name(&t, r->name, (msr - r->first) / r->stride);
    return r != NULL;
}

void decode_msr_fields(char *buf, size_t size, uint32_t msr, uint64_t value,
                       const struct decode_context *context)
{
    const struct decode_register *r = find(msr, context);
    struct text t = text_in(buf, size);
    if (r != NULL && r->layout != NULL)
        add_fields(&t, r->layout, value, context);
}

bool decode_msr_field(struct decode_field *field, uint32_t msr, unsigned index,
                      const struct decode_context *context)
{
    const struct decode_register *r = find(msr, context);
    struct place p;
    if (r == NULL || r->layout == NULL || !find_place(r->layout, index, &p))
        return false;
    field->kind = p.row->kind == DECODE_COUNTERS ? DECODE_FLAG : p.row->kind;
    field->low = p.low;
    field->bits = p.bits;
    field->choices = p.row->choices;
    struct text name = text_in(field->name, sizeof(field->name));
    text_add_name(&name, p.row->name, p.counter);
    struct text group = text_in(field->group, sizeof(field->group));
    if (r->layout->groups > 0)
        text_add_name(&group, r->layout->group, p.group);
    return true;
}

void decode_lvt(char *buf, size_t size, uint32_t value)
{
    const struct decode_context any = {0};
    decode_msr_fields(buf, size, X2APIC(APIC_LVT_PERFMON), value, &any);
}

void decode_msr_address(char *buf, size_t size, uint32_t msr)
{
    uint32_t first = msr;
    while (first >= 16)
        first /= 16;
    struct text t = text_in(buf, size);
    text_add(&t, first >= 10 ? "0" : "");
    text_add_number(&t, msr, 16, 1);
    text_add(&t, "H");
}
