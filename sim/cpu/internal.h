/*
 * Between the two halves of sim/cpu: the interpreter (decode, blocks, general-purpose instructions,
 * cpu_run) and the system part (paging, segments, exceptions and interrupts, control registers,
 * system instructions, reset). Not for others.
 */
#ifndef PMUSIM_CPU_INTERNAL_H
#define PMUSIM_CPU_INTERNAL_H

#include <setjmp.h>

#include <Zydis/Zydis.h>

#include "sim/cpu/cpu.h"
#include "x86/msr.h"

enum access { ACCESS_READ = 0, ACCESS_WRITE = 1, ACCESS_FETCH = 2 };

/* ---- TLB: direct-mapped, looked up inline by the interpreter, filled by the system part ---- */

#define TLB_ENTRIES 1024
struct tlb_entry {
    uint64_t tag;      /* linear page number + 1; 0: empty */
    uint8_t *host;     /* start of the page in our memory; NULL: device or ROM write: go through
                          machine_read/machine_write */
    uint64_t physical; /* page's physical address */
};
/* One array for each access kind and for supervisor (0) and user (1): a hit needs no further check
 * of rights. A store entry exists only once the page's dirty bit is set. Flushed as a whole on MOV
 * CR3 (global pages may stay), INVLPG drops a page. */
struct tlb {
    struct tlb_entry e[2][3][TLB_ENTRIES];
};

/* Walks the page tables for the page of linear, checks rights as the access wants, sets accessed
 * and dirty bits, fills the TLB and returns the entry; raises #PF (CR2 set) otherwise. Implicit
 * supervisor accesses (descriptor tables, stacks of a ring switch) pass user = false. Non-canonical
 * addresses are the caller's check. (SDM vol. 3 "Paging") */
struct tlb_entry *tlb_fill(struct cpu *cpu, uint64_t linear, enum access access, bool user);
void tlb_flush(struct cpu *cpu, bool globals_too);
void tlb_flush_page(struct cpu *cpu, uint64_t linear);

/* Data access by linear address with all checks but segmentation; n is 1, 2, 4, 8; may cross a page
 * (both pages are checked before anything is written). These do the timing (uarch_*), events
 * EV_LOAD/EV_STORE are the caller's. user: CPL == 3 rights. */
uint64_t mem_read(struct cpu *cpu, uint64_t linear, unsigned n, bool user);
void mem_write(struct cpu *cpu, uint64_t linear, unsigned n, uint64_t value, bool user);

/* Stores hit decoded code: the interpreter must drop blocks of that physical page. Called by
 * mem_write and the interpreter's own stores when the page holds decoded code; also for stores by
 * devices and by other processors. */
void blocks_page_written(struct machine *m, uint64_t physical);

/* ---- system part ---- */

/* A decoded instruction, as the block cache keeps it for what the interpreter does not do itself.
 */
struct insn {
    ZydisDecodedInstruction z;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT_VISIBLE];
    uint8_t bytes[15];
    uint64_t rip; /* of the instruction; cpu->rip is already the next one's */
};

/* Executes one system instruction (everything the interpreter does not know: MOV CR/DR, LGDT...,
 * LTR, RDMSR, WRMSR, RDTSC(P), RDPMC, CPUID, HLT, IN/OUT/INS/OUTS, CLI, STI, POPF, MOV Sreg, far
 * transfers, INT n, IRET, SYSCALL, SYSRET, SYSENTER, SYSEXIT, INVLPG, WBINVD, SWAPGS, SMSW, LMSW,
 * CLTS, LAR, LSL, VERR, VERW, STR, SLDT, SGDT, SIDT, RDFSBASE..., XGETBV, MONITOR...). Each is a
 * block of its own. RIP has been advanced; on a fault cpu_fault restores it. Unknown:
 * cpu_unsupported; undefined: #UD. Returns false when the instruction is unknown to it. */
bool system_execute(struct cpu *cpu, const struct insn *in);
/* Is it one that a hypervisor usually executes for its guest? */
bool system_exits(const struct insn *in);

/* An instruction that is neither the interpreter's nor the system part's: its exception where CPUID
 * does not announce it or it is not switched on, otherwise cpu_unsupported. */
_Noreturn void missing_instruction(struct cpu *cpu, const struct insn *in);
/* Does CPUID announce it? */
bool instruction_announced(const struct cpu *cpu, const ZydisDecodedInstruction *z);

/* Effective linear address of a memory operand of in, with the segmentation checks (SDM vol. 3
 * "Limit Checking", "Canonical"). */
uint64_t insn_linear(struct cpu *cpu, const struct insn *in, const ZydisDecodedOperand *op,
                     unsigned bytes, enum access access);

/* A taken branch that the system part makes (far, interrupt, exception, IRET...): calls pmu_branch
 * and tracing if wanted. */
void cpu_branch_taken(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to,
                      unsigned cpl_from, bool mispredicted);

/* Delivers an exception, interrupt or software interrupt through the IDT (real, 32-bit protected,
 * long mode), with #DF and triple-fault rules (SDM vol. 3 "Interrupt 8 - Double Fault Exception").
 * rip is the return address to push. */
enum event_kind { EVENT_EXCEPTION, EVENT_INTERRUPT, EVENT_NMI, EVENT_SOFTWARE };
void deliver(struct cpu *cpu, enum event_kind kind, unsigned vector, bool has_error,
             uint32_t error_code, uint64_t rip);

/* Called by cpu_run when attention or deadline asks: takes INIT, SIPI, NMI, interrupts as priority
 * and blocking allow (SDM vol. 3 "Prioritization of Concurrent Events"), wakes from HLT. Returns
 * true when control flow changed. */
bool system_events(struct cpu *cpu);
/* Single step, data and I/O breakpoints after an instruction; instruction breakpoints before one.
 */
void system_after_insn(struct cpu *cpu, bool took_branch);
void system_before_insn(struct cpu *cpu);
/* Data breakpoints: the interpreter calls it for each load and store that misses the TLB; pages
 * with a watched address never enter the TLB while DR7 arms them. */
void debug_data_access(struct cpu *cpu, uint64_t linear, unsigned n, bool write);

/* watch.c: a watched instruction has made an access; has retired. */
void watch_access(struct cpu *cpu, uint64_t linear, uint64_t physical, unsigned bytes, bool write,
                  bool device);
struct block;
void watch_retired(struct cpu *cpu, const struct block *b, unsigned index);

/* Mode helpers. */
static inline bool cpu_long_mode(const struct cpu *cpu)
{
    return cpu->efer & EFER_LMA;
}
static inline bool cpu_64bit(const struct cpu *cpu)
{
    return (cpu->efer & EFER_LMA) && (cpu->seg[SEG_CS].attr & SEG_ATTR_L);
}
static inline bool canonical(uint64_t a)
{
    return (uint64_t)((int64_t)(a << 16) >> 16) == a;
}

/* ---- interpreter ---- */

/*
 * cpu_fault() (exec.c) stores cpu->fault and does _longjmp(*(jmp_buf *)cpu->fault_env,
 * LEAVE_FAULT). cpu_run owns the outermost buffer and answers with deliver(EVENT_EXCEPTION, ...).
 * Whoever must catch a fault himself (deliver: a fault while delivering is #DF) nests: saves
 * cpu->fault_env, points it at his own jmp_buf, restores it on every way out. _setjmp/_longjmp: no
 * signal mask. cpu_unsupported() leaves with LEAVE_STOP through cpu_run's own buffer, never through
 * a nested one.
 */
enum { LEAVE_FAULT = 1, LEAVE_STOP = 2 };

/*
 * The interpreter's private state in cpu->exec, and cpu->blocks. cpu_new calls exec_new after
 * profile, machine, tlb and uarch are set; cpu_reset ends with exec_mode_changed.
 *
 * The interpreter implements: cpu_run, cpu_fault, cpu_unsupported, cpu_rflags, cpu_set_rflags,
 * mem_read, mem_write, blocks_page_written, exec_*. The system part the rest of cpu.h and of this
 * header.
 *
 * To run a user-mode snippet without a kernel (tests): machine_new; in machine->ram build page
 * tables; set cpu->cr0 = PE|PG|..., cr3, cr4 = PAE, efer = LME|LMA|..., seg[CS].attr with L (CPL 3:
 * cpu->cpl = 3), cpu->r[], cpu->rip; cpu_set_rflags(); state = CPU_RUNNING; exec_mode_changed();
 * then cpu_run(cpu, cpu->now + n). End the snippet with HLT at CPL 0 (cpu_run returns once now
 * reaches until; cpu->state is CPU_HALTED), or set machine->max_insns, which stops exactly.
 */
bool exec_new(struct cpu *cpu); /* false: no memory */
void exec_free(struct cpu *cpu);

/* The interpreter's hooks for the system part. */
void exec_mode_changed(
    struct cpu *cpu); /* CS, CR0, CR3, CR4, EFER or CPL changed: blocks are looked up anew */

#endif
