/*
 * Inside the system part of sim/cpu: what its files share. The interpreter sees internal.h alone.
 *
 * Faults as values: what both instructions and event delivery need (paging, descriptors, stacks)
 * returns false and fills a struct fault. An instruction raises it; deliver() applies the rules of
 * nested faults to it.
 */
#ifndef PMUSIM_SYSTEM_H
#define PMUSIM_SYSTEM_H

#include "sim/cpu/internal.h"

#define MTRR_FIXED 11
#define DEBUG_REGS 4

struct system_state {
    struct tlb_entry scratch;       /* translation that must not be kept, see tlb_fill */
    bool global[2][3][TLB_ENTRIES]; /* which TLB entries survive MOV to CR3 */
    uint64_t pdpte[4];              /* PAE paging: loaded by MOV to CR3 */
    uint64_t tsc_adjust;
    uint64_t feature_control;
    uint64_t bios_sign_id;
    uint64_t mtrr_def_type, mtrr_fixed[MTRR_FIXED], mtrr_var[PROFILE_MAX_MTRR][2];
    uint64_t mcg_ctl, mc_ctl[PROFILE_MAX_BANKS];
    uint64_t test_ctrl, misc_features, perf_ctl;
    uint64_t nb_cfg, syscfg, hwcr, top_mem, top_mem2, de_cfg; /* AMD's */
    uint64_t xcr0, xss;
    /* What IA32_MPERF and IA32_APERF held when the core had run for so many slots. */
    uint64_t mperf, aperf, perf_since;
    bool shadow_ss;      /* cpu->shadow is that of MOV SS or POP SS: blocks #DB and NMI too */
    bool shadow_ends;    /* the instruction that runs now is the one in the shadow */
    bool took_far;       /* a far transfer, for BTF */
    bool step_armed;     /* RFLAGS.TF was set when the instruction that runs now began */
    bool rf_armed;       /* RFLAGS.RF likewise: it ends with this instruction */
    uint32_t debug_hits; /* DR6 bits of data and I/O breakpoints met by this instruction */
    bool watch_data;     /* DR7 arms a data breakpoint */
    uint64_t watch[DEBUG_REGS];
    unsigned ve_reason; /* of the #VE that a trust domain has not asked about yet; 0: none */
};

/* IA32_MPERF and IA32_APERF: perf_clocks.c. */
uint64_t mperf_read(const struct cpu *cpu);
uint64_t aperf_read(const struct cpu *cpu);
bool mperf_write(struct cpu *cpu, uint64_t value);
bool aperf_write(struct cpu *cpu, uint64_t value);

/* mtrr.c, machine_check.c: owns says whether the register is there. */
bool mtrr_owns(const struct cpu *cpu, uint32_t msr);
bool mtrr_read(struct cpu *cpu, uint32_t msr, uint64_t *value);
bool mtrr_write(struct cpu *cpu, uint32_t msr, uint64_t value);
void mtrr_firmware(struct cpu *cpu);
bool machine_check_owns(const struct cpu *cpu, uint32_t msr);
bool machine_check_read(struct cpu *cpu, uint32_t msr, uint64_t *value);
bool machine_check_write(struct cpu *cpu, uint32_t msr, uint64_t value);

/* msr_amd.c: likewise. */
void amd_firmware(struct cpu *cpu);
bool amd_owns(const struct cpu *cpu, uint32_t msr);
bool amd_read(struct cpu *cpu, uint32_t msr, uint64_t *value);
bool amd_write(struct cpu *cpu, uint32_t msr, uint64_t value);

/* xsave.c */
void xsave_cpuid(const struct cpu *cpu, uint32_t subleaf, uint32_t out[4]);
bool has_xss(const struct cpu *cpu);
bool xss_write(struct cpu *cpu, uint64_t value);

/* SDM vol. 3 "Memory Types and Their Properties", "Page Attribute Table (PAT)". */
enum memory_type {
    MEMORY_UC = 0,
    MEMORY_WC = 1,
    MEMORY_WT = 4,
    MEMORY_WP = 5,
    MEMORY_WB = 6,
    MEMORY_UC_MINUS = 7,
};
bool memory_type_valid(unsigned type); /* in an MTRR */

struct fault {
    unsigned vector;
    uint32_t error;
    uint64_t address; /* #PF: the linear address, for CR2 */
};

static inline bool fault_set(struct fault *f, unsigned vector, uint32_t error)
{
    *f = (struct fault){.vector = vector, .error = error};
    return false;
}
/* Raises a fault value as the current instruction's exception; sets CR2 for #PF. */
_Noreturn void fault_raise(struct cpu *cpu, const struct fault *f);

static inline bool protected_mode(const struct cpu *cpu)
{
    return cpu->cr0 & CR0_PE;
}
static inline unsigned iopl(struct cpu *cpu)
{
    return (cpu_rflags(cpu) & RFLAGS_IOPL) >> 12;
}
static inline void require_cpl0(struct cpu *cpu)
{
    if (cpu->cpl != 0)
        cpu_gp0(cpu);
}

/* ---- paging.c ---- */

enum privilege {
    AS_SUPERVISOR, /* explicit access at CPL 0-2 */
    AS_USER,       /* access at CPL 3 */
    AS_IMPLICIT,   /* descriptor tables and TSS at any CPL: supervisor, SMAP without RFLAGS.AC */
    AS_PEEK,       /* a look from outside (tracing): supervisor, leaves no accessed flag */
};
struct translation {
    uint64_t physical; /* of the 4 KiB page */
    bool global, user_page;
    unsigned levels; /* paging structures read */
    unsigned larger; /* than 4 KiB, by so many levels */
};
bool page_translate(struct cpu *cpu, uint64_t linear, enum access access, enum privilege as,
                    struct translation *t, struct fault *f);
/* Loads the four PDPTEs of PAE paging from cr3; false (a #GP for the caller) on reserved bits. */
bool paging_load_pdptes(struct cpu *cpu, uint64_t cr3);

/* Accesses of the system part: any n up to 16, any alignment; the whole range is checked before a
 * byte is written. */
bool sys_read(struct cpu *cpu, uint64_t linear, void *buf, unsigned n, enum privilege as,
              struct fault *f);
bool sys_write(struct cpu *cpu, uint64_t linear, const void *buf, unsigned n, enum privilege as,
               struct fault *f);

/* ---- segment.c ---- */

/* Bits of struct segment.attr, which are those of a descriptor's second doubleword. */
#define DESC_TYPE      (15 << 8)
#define DESC_ACCESSED  (1 << 8)
#define DESC_RW        (1 << 9)  /* data: writable; code: readable */
#define DESC_EXPAND    (1 << 10) /* data: expand-down */
#define DESC_CONFORM   (1 << 10) /* code: conforming */
#define DESC_CODE      (1 << 11)
#define DESC_S         (1 << 12)
#define DESC_DPL_SHIFT 13
#define DESC_P         (1 << 15)
#define DESC_G         (1 << 23)
#define DESC_ATTR      0xf0ff00
#define DESC_TSS_BUSY  (2 << 8)

/* System descriptor types, SDM vol. 3 "System Descriptor Types". */
enum system_type {
    SYS_TSS16 = 1,
    SYS_LDT = 2,
    SYS_TSS16_BUSY = 3,
    SYS_CALL16 = 4,
    SYS_TASK_GATE = 5,
    SYS_INT16 = 6,
    SYS_TRAP16 = 7,
    SYS_TSS = 9,
    SYS_TSS_BUSY = 11,
    SYS_CALL = 12,
    SYS_INT = 14,
    SYS_TRAP = 15,
};

struct descriptor {
    uint32_t word[4]; /* as in memory; the upper two of long-mode system descriptors */
    uint64_t linear;  /* where it stands */
    uint32_t attr;
    struct segment seg; /* as a segment register would hold it */
};
static inline unsigned desc_dpl(uint32_t attr)
{
    return attr >> DESC_DPL_SHIFT & 3;
}
static inline unsigned desc_type(uint32_t attr)
{
    return attr >> 8 & 15;
}
static inline bool desc_is_code(uint32_t attr)
{
    return (attr & (DESC_S | DESC_CODE)) == (DESC_S | DESC_CODE);
}
static inline bool desc_is_writable_data(uint32_t attr)
{
    return (attr & (DESC_S | DESC_CODE | DESC_RW)) == (DESC_S | DESC_RW);
}
/* The error code of a selector: index and TI, without RPL. */
static inline uint32_t selector_error(uint16_t selector)
{
    return selector & ~3u;
}
static inline bool selector_null(uint16_t selector)
{
    return (selector & ~3) == 0;
}

/* Reads the descriptor of a selector that is not null; outside its table: false with
 * vector(selector | ext). In long mode a system descriptor is read with its upper half. */
bool descriptor_read(struct cpu *cpu, uint16_t selector, struct descriptor *d, unsigned vector,
                     unsigned ext, struct fault *f);
/* Sets bits of the descriptor's second doubleword in memory (accessed, busy). */
bool descriptor_set_bits(struct cpu *cpu, struct descriptor *d, uint32_t bits, struct fault *f);

/* MOV and POP to DS, ES, FS, GS, SS with all checks; in real mode too. */
bool segment_load(struct cpu *cpu, enum seg s, uint16_t selector, struct fault *f);
/* The checks of SS for a stack of privilege cpl (ring switches, returns): selector's RPL, DPL,
 * writable, present. */
bool segment_check_ss(struct cpu *cpu, uint16_t selector, unsigned cpl, unsigned bad_vector,
                      unsigned ext, struct segment *out, struct fault *f);
/* A real-mode segment: base from the selector; limit and attributes stay ("unreal"). */
void segment_load_real(struct cpu *cpu, enum seg s, uint16_t selector);
/* After a return to an outer ring: data segments that CPL may not use become null. */
void segment_drop_privileged(struct cpu *cpu);
/* Is [offset, offset + n) within the segment, outside long mode's rules? */
bool segment_limit_ok(const struct segment *s, uint64_t offset, unsigned n);
uint64_t insn_register(struct cpu *cpu, ZydisRegister r);
void insn_set_register(struct cpu *cpu, ZydisRegister r, uint64_t value);

/* ---- stack.c: pushes and pops that become final only when all of them went well ---- */

struct stack {
    struct segment ss;
    uint64_t sp;
    uint64_t mask; /* of the stack pointer: 16, 32 or 64 bits */
    bool flat;     /* 64-bit: no base, no limit, canonical instead */
    enum privilege as;
    uint32_t error; /* of the #SS */
};
void stack_current(struct cpu *cpu, struct stack *st);
void stack_of(struct stack *st, const struct segment *ss, uint64_t sp, unsigned cpl, bool flat);
bool stack_push(struct cpu *cpu, struct stack *st, unsigned n, uint64_t value, struct fault *f);
bool stack_pop(struct cpu *cpu, struct stack *st, unsigned n, uint64_t *value, struct fault *f);
void stack_commit(struct cpu *cpu, const struct stack *st);

/* ---- deliver.c ---- */

struct event {
    enum event_kind kind;
    unsigned vector;
    bool has_error;
    uint32_t error;
    uint64_t rip;    /* to be pushed */
    uint64_t source; /* where the branch record of the delivery begins */
    bool privileged; /* INT1: no DPL check though it is an instruction */
};
/* The stack of an inner ring (or of an IST entry) from the TSS. */
bool inner_stack(struct cpu *cpu, unsigned cpl, unsigned ist, unsigned ext, struct stack *st,
                 struct fault *f);
bool deliver_once(struct cpu *cpu, const struct event *e, struct fault *f);

/* ---- system*.c ---- */

/* The part of a far transfer that all share: bumps the events, spends the time, tells the PMU. Call
 * before CPL changes; cpu_branch_taken after. */
void far_branch_events(struct cpu *cpu);
/* New RFLAGS, with ATTN_STEP brought up to date. */
void flags_write(struct cpu *cpu, uint64_t value);
/* POPF and IRET at the present CPL: the bits of value that they may change. */
uint64_t flags_writable(struct cpu *cpu, unsigned bytes);
void step_attention(struct cpu *cpu);
void interrupt_shadow(struct cpu *cpu, bool stack_segment);

/* Fetches stay within long mode's canonical and legacy modes' limit rules. */
bool code_target_ok(struct cpu *cpu, const struct segment *cs, uint64_t rip);
void code_load(struct cpu *cpu, uint16_t selector, const struct segment *cs, unsigned cpl);

bool cr0_write(struct cpu *cpu, uint64_t value);
bool cr3_write(struct cpu *cpu, uint64_t value);
bool cr4_write(struct cpu *cpu, uint64_t value);
bool efer_write(struct cpu *cpu, uint64_t value);
bool tsc_write(struct cpu *cpu, uint64_t value);
void debug_update(struct cpu *cpu);
void debug_exception_entered(struct cpu *cpu);
void debug_io_access(struct cpu *cpu, uint16_t port, unsigned n);
/* Is a feature of CPUID announced? bit: a mask, CPUID_1_EDX_SEP. */
enum cpuid_reg { CPUID_EAX, CPUID_EBX, CPUID_ECX, CPUID_EDX };
bool cpuid_has(const struct cpu *cpu, uint32_t leaf, uint32_t subleaf, enum cpuid_reg reg,
               uint32_t bit);

typedef void system_op(struct cpu *cpu, const struct insn *in);
system_op op_mov_cr, op_mov_dr, op_smsw, op_lmsw, op_clts, op_invlpg, op_invpcid, op_cache;
system_op op_xgetbv, op_xsetbv, op_xsave, op_xsavec, op_xrstor;
system_op op_lgdt, op_sgdt, op_lldt, op_sldt, op_ltr, op_str, op_lar, op_ver, op_arpl;
system_op op_mov_sreg, op_push_sreg, op_pop_sreg, op_load_far_pointer, op_fsgsbase, op_swapgs;
system_op op_cli_sti, op_popf, op_hlt, op_monitor, op_mwait, op_stac;
system_op op_jmp_far, op_call_far, op_ret_far, op_iret;
system_op op_int, op_syscall, op_sysret, op_sysenter, op_sysexit;
system_op op_in_out, op_ins, op_outs;
system_op op_fxsave, op_fxrstor;
system_op op_rdmsr, op_wrmsr, op_rdtsc, op_rdtscp, op_rdpmc, op_cpuid, op_tdcall, op_ud;

#endif
