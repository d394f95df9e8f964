/*
 * One simulated logical processor. This header is the contract between sim/cpu (the interpreter and
 * its system part), sim/pmu (counters, branch records), sim/dev (local APIC, devices) and
 * sim/sim.c.
 *
 * Time. The unit is the *slot*: one retirement opportunity; a core cycle is
 * profile->uarch.retire_width slots. cpu->now is the processor's own clock in slots since power-on,
 * halted time included. Every instruction (every iteration of a REP string instruction) costs at
 * least one slot and makes at most EVENTS_PER_SLOT of any event, so that each counter's and timer's
 * next deadline can be given as one value of cpu->now.
 *
 * Blocks. Instructions are decoded once into blocks; before it runs a block, the interpreter
 * compares now + block->bound (the most that the block can cost) with cpu->deadline. If the block
 * might reach it, instructions are run one at a time with everything brought up to date after each
 * ("careful"). So events are exact, and the fast path pays one compare. A run in careful mode from
 * start to end must give the same counts and times (tracing does that).
 *
 * Totals. An event only bumps cpu->total[class][event]; class is 0 at CPL 0, 1 otherwise. An
 * instruction that changes CPL counts in the class where it began. Counters are derived from the
 * totals by sim/pmu.
 */
#ifndef PMUSIM_CPU_H
#define PMUSIM_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/regs.h"
#include "sim/fpu/state.h"
#include "sim/profile.h"

struct machine;
struct pmu;
struct lapic;
struct uarch;
struct block_cache;
struct tlb;
struct system_state;

#define EVENTS_PER_SLOT 4

enum reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
enum seg { SEG_ES, SEG_CS, SEG_SS, SEG_DS, SEG_FS, SEG_GS, SEG_LDTR, SEG_TR, SEG_N };

struct segment {
    uint16_t selector;
    uint64_t base;
    uint32_t limit; /* in bytes, granularity applied */
    uint32_t attr;  /* bits 8-15 and 20-23 of the descriptor's second doubleword, in place (type, S,
                       DPL, P, AVL, L, D/B, G) */
};
#define SEG_ATTR_L  (1 << 21)
#define SEG_ATTR_DB (1 << 22)

/* Why the interpreter must stop and look before the next instruction. */
enum attention {
    ATTN_INTR = 1 << 0, /* the local APIC has a deliverable interrupt (IF decides) */
    ATTN_NMI = 1 << 1,
    ATTN_INIT = 1 << 2,
    ATTN_SIPI = 1 << 3,
    ATTN_CAREFUL = 1 << 4, /* sim/pmu or tracing wants every instruction (see pmu_update) */
    ATTN_STEP = 1 << 5,    /* TF, debug registers armed, interrupt shadow: system part wants it */
    ATTN_STOP = 1 << 6,    /* leave cpu_run now: machine->stop says why */
};

enum cpu_state { CPU_RUNNING, CPU_HALTED, CPU_WAIT_SIPI, CPU_SHUTDOWN };

/* Kinds of taken branch, for LBR, BTS, BTF, statistics. */
enum branch_kind {
    BR_JCC,
    BR_JMP_REL,
    BR_JMP_IND,
    BR_CALL_REL,
    BR_CALL_IND,
    BR_RET,
    BR_FAR,       /* far jump, call, return; SYSCALL, SYSRET, SYSENTER, SYSEXIT, IRET */
    BR_INTERRUPT, /* hardware interrupt, NMI */
    BR_EXCEPTION, /* exception or software interrupt */
};

/* What is known of the watched instruction, sim/cpu/watch.c. Times in slots. */
struct watch {
    bool on;      /* the next instruction is the one */
    bool retired; /* it was, and all that follows is valid */
    /* Its first access, if it made one, and of which kinds it made any. */
    bool load, store, locked;
    bool device; /* no memory: what a level is means nothing */
    bool split;  /* two lines */
    uint8_t level, page;
    unsigned bytes;
    uint64_t linear, physical;
    uint32_t latency;               /* of a load, core cycles */
    uint64_t rip, next;             /* linear: its own, and where it went on */
    uint64_t dispatched, completed; /* so long before it retired */
    /* The fetch that brought it: */
    bool fetched;        /* no other instruction came with it before */
    bool entered;        /* the first of its block */
    uint8_t fetch_level; /* where the line was found; 0: in L1I */
    uint8_t fetch_page;
    uint64_t fetch_linear, fetch_physical;
    uint64_t walk[2]; /* core cycles of page walks: [1] for instructions */
};

/* A condition whose slots are counted: it is looked at when it changes. */
struct slot_condition {
    bool holds;
    uint64_t began[2]; /* EV_SLOTS of each class when it last changed */
};

struct cpu {
    /* General state. rip is that of the next instruction; in the fast path it is current only at
     * block ends. */
    uint64_t r[16];
    uint64_t zero; /* always 0: the absent base or index of an address */
    uint64_t rip;
    uint64_t rflags; /* see cpu_rflags(): arithmetic flags may be kept lazily by the interpreter */
    struct {
        uint64_t result, carry;
        uint32_t aux;
    } lazy;         /* the arithmetic flags in the interpreter's form, see sim/cpu/flags.h */
    const void *op; /* the interpreter's: decoded instruction in execution, for faults */
    struct segment seg[SEG_N];
    unsigned cpl;
    uint64_t cr0, cr2, cr3, cr4, cr8;
    uint64_t efer;
    uint64_t dr[8];
    struct {
        uint64_t base;
        uint16_t limit;
    } gdtr, idtr;
    uint64_t sysenter_cs, sysenter_esp, sysenter_eip;
    uint64_t star, lstar, cstar, fmask, kernel_gs_base, tsc_aux, pat;
    struct fpu fpu;
    uint64_t tsc_offset; /* added to the time since power-on, for WRMSR IA32_TIME_STAMP_COUNTER */

    enum cpu_state state;
    bool nmi_blocked; /* between NMI delivery and IRET */
    bool
        shadow; /* the instruction just done blocks interrupts for one more (STI, MOV SS, POP SS) */
    /* The system instruction in execution has done a part and goes on after what is due: REP INS.
     */
    bool unfinished;
    uint8_t sipi_vector;
    uint64_t smi_count; /* MSR_SMI_COUNT: SMIs since power-on */

    /* Time and events. */
    uint64_t now;      /* slots since power-on */
    uint64_t halted;   /* of those, spent in HLT */
    uint64_t deadline; /* value of now that a block must not reach; 0: look at once */
    uint64_t until;    /* value of now at which cpu_run returns: the end of its turn */
    uint32_t attention;
    unsigned trace; /* TRACE_* that are on: asked before a function of sim/trace.h is called */
    uint64_t total[2][EV_COUNT]; /* [CPL > 0][event], valid after each block and each careful
                                    instruction */

    uint64_t *here; /* the totals of the present class, for instructions that cannot change it */
    struct slot_condition masked, waiting; /* EV_SLOTS_MASKED, EV_SLOTS_WAITING */

    /* The last retired load and store, for PEBS; kept up to date by uarch_load/uarch_store. */
    struct {
        uint64_t linear;
        uint32_t latency; /* core cycles */
        uint8_t level;    /* 1 L1, 2 L2, 3 LLC, 4 memory */
        bool dtlb_miss;
    } last_load;

    struct watch watch;

    bool want_branches; /* sim/pmu or tracing wants pmu_branch() for each taken branch */
    bool branched;      /* and has been told of one by this system instruction */

    /* The exception that cpu_fault() raised, and the innermost _setjmp() that takes it (a jmp_buf;
     * see internal.h). */
    struct {
        unsigned vector;
        uint32_t error_code;
    } fault;
    void *fault_env;

    /* For --stats alone; PMIs are counted where the local APIC takes them. */
    struct {
        uint64_t interrupts, nmis, exceptions, pmis;
    } stats;

    uint64_t pause; /* cpu_run returns here too, though its turn is not over; UINT64_MAX: nowhere */

    /* The parts. */
    unsigned index; /* 0: the bootstrap processor */
    struct machine *machine;
    const struct profile *profile;
    struct pmu *pmu;
    struct lapic *lapic;
    struct uarch *uarch;
    struct block_cache *blocks;
    struct tlb *tlb;
    struct tlb_entry *tlb_here;  /* those of the present CPL's accesses, likewise */
    void *exec;                  /* the interpreter's own */
    struct system_state *system; /* the system part's own */
};

/* ---- sim/cpu ---- */

struct cpu *cpu_new(struct machine *m, unsigned index, const struct profile *p);
void cpu_free(struct cpu *cpu);
/* Power-on or INIT state (SDM vol. 3 "Processor State After Reset"); INIT keeps what the manual
 * keeps. */
void cpu_reset(struct cpu *cpu, bool init);

/* Runs until cpu->now >= until (or >= cpu->pause), the processor halts with nothing to wake it, or
 * ATTN_STOP. */
void cpu_run(struct cpu *cpu, uint64_t until);

/* The whole RFLAGS with lazy flags evaluated; setting them. */
uint64_t cpu_rflags(struct cpu *cpu);
void cpu_set_rflags(struct cpu *cpu, uint64_t value);

/* Sets attention bits and makes the interpreter look before its next instruction. */
static inline void cpu_attend(struct cpu *cpu, uint32_t bits)
{
    cpu->attention |= bits;
    cpu->deadline = 0;
}

/* Says that a deadline moved earlier (timer or counter programmed): recomputed before the next
 * instruction. */
static inline void cpu_reschedule(struct cpu *cpu)
{
    cpu->deadline = 0;
}

/* Spends time in which the core is not halted: adds to now, to EV_SLOTS of the current class and to
 * the event that says where those slots went. */
static inline void cpu_spend(struct cpu *cpu, enum cpu_event where, uint64_t slots)
{
    uint64_t *total = cpu->total[cpu->cpl != 0];
    cpu->now += slots;
    total[EV_SLOTS] += slots;
    total[where] += slots;
}
/* The cycles of a long instruction: nothing behind it can go on. */
static inline void cpu_spend_cycles(struct cpu *cpu, uint64_t cycles)
{
    cpu_spend(cpu, EV_SLOTS_BACKEND, cycles * cpu->profile->uarch.retire_width);
}
/* Waits for memory. */
static inline void cpu_wait_memory(struct cpu *cpu, uint64_t slots)
{
    cpu_spend(cpu, EV_SLOTS_BACKEND, slots);
    cpu->total[cpu->cpl != 0][EV_SLOTS_MEMORY] += slots;
}
/* An event's total in a class (0: CPL 0, 1: above). */
static inline uint64_t cpu_total(const struct cpu *cpu, unsigned class, enum cpu_event e)
{
    const uint64_t *total = cpu->total[class];
    switch (e) {
    case EV_SLOTS_RETIRING:
        return total[EV_SLOTS] - total[EV_SLOTS_BAD_SPEC] - total[EV_SLOTS_FRONTEND] -
               total[EV_SLOTS_BACKEND];
    case EV_SLOTS_MASKED:
        return total[e] + (cpu->masked.holds ? total[EV_SLOTS] - cpu->masked.began[class] : 0);
    case EV_SLOTS_WAITING:
        return total[e] + (cpu->waiting.holds ? total[EV_SLOTS] - cpu->waiting.began[class] : 0);
    default:
        return total[e];
    }
}
/* After a change of RFLAGS.IF or ATTN_INTR: EV_SLOTS_MASKED, EV_SLOTS_WAITING. */
void cpu_interrupts_changed(struct cpu *cpu);
static inline void cpu_event(struct cpu *cpu, enum cpu_event e, uint64_t n)
{
    cpu->total[cpu->cpl != 0][e] += n;
}

/* Slots a second. */
uint64_t slot_rate(const struct profile *p);
/* Conversions of wall time in slots; exact, by 128-bit arithmetic. */
uint64_t slots_to_hz(const struct profile *p, uint64_t slots,
                     uint64_t hz); /* ticks of a clock of hz, rounded down */
uint64_t hz_to_slots(const struct profile *p, uint64_t ticks,
                     uint64_t hz); /* first slot at which that many ticks have passed */
uint64_t cpu_tsc(const struct cpu *cpu);

/* Guest memory by linear address, as privileged data accesses (DS area, PEBS, BTS, tracing,
 * symbols). False: not mapped; with fault: no exception is raised, the caller decides. */
bool cpu_read_linear(struct cpu *cpu, uint64_t linear, void *buf, unsigned n);
bool cpu_write_linear(struct cpu *cpu, uint64_t linear, const void *buf, unsigned n);

/* The next instruction that begins is watched; ATTN_CAREFUL must be set until it has retired. An
 * interrupt or exception ends it: cpu->watch.on is false then, and retired too. */
void cpu_watch(struct cpu *cpu);
/* Fetches of code so far: aligned pieces of uarch.fetch_bytes (FETCH_BYTES), for each block anew,
 * as the block begins. To be asked for again before FETCHES_KNOWN blocks have run, when each
 * counts. */
#define FETCH_BYTES   32
#define FETCHES_KNOWN 512
uint64_t cpu_fetches(struct cpu *cpu);

/* Leaves the current instruction with an exception (longjmp). error_code is ignored where the
 * vector has none. */
_Noreturn void cpu_fault(struct cpu *cpu, unsigned vector, uint32_t error_code);
static inline _Noreturn void cpu_gp0(struct cpu *cpu)
{
    cpu_fault(cpu, VEC_GP, 0);
}

/* Ends the simulation: an instruction or mode that the simulator lacks (exit 3), with its bytes and
 * RIP. */
_Noreturn void cpu_unsupported(struct cpu *cpu, const char *what);

/* RDMSR/WRMSR: dispatches by number to the system part, sim/pmu and the local APIC. False: #GP. */
bool cpu_rdmsr(struct cpu *cpu, uint32_t msr, uint64_t *value);
bool cpu_wrmsr(struct cpu *cpu, uint32_t msr, uint64_t value);
void cpu_cpuid(struct cpu *cpu, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
/* MAXPHYADDR, 32 to 52: CPUID.80000008H:EAX[7:0]. */
unsigned max_physical_bits(const struct cpu *cpu);

#endif
