/* The IDT, the dispatch of traps, and guarded runs. */
#include "kernel/trap.h"

#include <stddef.h>

#include "x86/cpuid.h"
#include "x86/regs.h"
#include "kernel/cpuid.h"
#include "kernel/extable.h"
#include "kernel/nmi.h"
#include "kernel/panic.h"
#include "kernel/percpu.h"
#include "kernel/print.h"
#include "kernel/refused.h"
#include "kernel/trap_names.h"

#define VECTORS                256
#define STUB_SIZE              9
#define GATE_INTERRUPT_PRESENT 0x8e00 /* 64-bit interrupt gate, DPL 0, present */
#define GATE_DPL3              0x6000

/* trap_entry.S has these as numbers. */
_Static_assert(offsetof(struct trap_frame, error_code) == 128, "FRAME_ERROR");
_Static_assert(offsetof(struct trap_frame, rip) == 136, "FRAME_RIP");
_Static_assert(offsetof(struct trap_frame, rsp) == 160, "FRAME_RSP");

/* 64-bit gate, SDM vol. 3 "64-Bit Mode IDT". */
struct gate {
    uint16_t offset_low, selector;
    uint16_t attributes; /* IST in bits 2:0 */
    uint16_t offset_middle;
    uint32_t offset_high, reserved;
};

extern const uint8_t trap_stubs[];
extern const uint32_t ex_table_start[], ex_table_end[];
bool guard_enter(void (*fn)(void *), void *arg);
_Noreturn void guard_resume(void);

static struct gate idt[VECTORS] __attribute__((aligned(16)));
static trap_handler handlers[VECTORS] = {[VEC_NMI] = nmi_interrupt};
static volatile bool holding;

static unsigned ist_of(unsigned vector)
{
    switch (vector) {
    case VEC_DF:
        return IST_DF;
    case VEC_NMI:
        return IST_NMI;
    case VEC_MC:
        return IST_MC;
    default:
        return 0;
    }
}

static void load_idt(void)
{
    struct {
        uint16_t limit;
        uint64_t base;
    } __attribute__((packed)) idtr = {sizeof(idt) - 1, (uint64_t)idt};
    __asm__ volatile("lidt %0" ::"m"(idtr) : "memory");
}

/* Without CR4.MCE a machine check is no exception but a shutdown (SDM vol. 3 "Machine-Check
 * Exceptions"). */
static void enable_machine_check(void)
{
    uint64_t cr4;
    if (!(cpuid(1, 0).edx & CPUID_1_EDX_MCE))
        return;
    __asm__ volatile("movq %%cr4, %0" : "=r"(cr4));
    __asm__ volatile("movq %0, %%cr4" ::"r"(cr4 | CR4_MCE) : "memory");
}

static void set_gate(unsigned vector, uint64_t entry, uint16_t attributes)
{
    idt[vector] = (struct gate){
        .offset_low = (uint16_t)entry,
        .selector = SEG_KERNEL_CODE,
        .attributes = attributes,
        .offset_middle = (uint16_t)(entry >> 16),
        .offset_high = (uint32_t)(entry >> 32),
    };
}

void trap_set_entry(unsigned vector, const char *entry)
{
    uint64_t stub = (uint64_t)trap_stubs + vector * STUB_SIZE;
    set_gate(vector, entry != NULL ? (uint64_t)entry : stub,
             (uint16_t)(GATE_INTERRUPT_PRESENT | ist_of(vector)));
}

void trap_set_user_gate(unsigned vector, const char *entry)
{
    set_gate(vector, (uint64_t)entry, GATE_INTERRUPT_PRESENT | GATE_DPL3);
}

void trap_init_cpu(unsigned index)
{
    percpu_init(index);
    load_idt();
    enable_machine_check();
}

void trap_init(void)
{
    for (unsigned vector = 0; vector < VECTORS; vector++)
        set_gate(vector, (uint64_t)trap_stubs + vector * STUB_SIZE,
                 (uint16_t)(GATE_INTERRUPT_PRESENT | ist_of(vector)));
    trap_init_cpu(0);
}

trap_handler trap_set_handler(unsigned vector, trap_handler handler)
{
    trap_handler before = handlers[vector];
    __atomic_store_n(&handlers[vector], handler, __ATOMIC_SEQ_CST);
    return before;
}

/* Only faults of ring 0 can be fixed up: #DB, NMI, #MC, #DF and interrupts say nothing about the
 * instruction. */
static bool fix_up(struct trap_frame *frame)
{
    if (frame->cs & SEG_RPL)
        return false;
    if (frame->vector != VEC_GP && frame->vector != VEC_UD && frame->vector != VEC_PF &&
        frame->vector != VEC_VE)
        return false;
    refused_note(frame);
    for (const uint32_t *entry = ex_table_start; entry < ex_table_end; entry += 2) {
        if (entry[0] == frame->rip) {
            frame->rip = entry[1];
            return true;
        }
    }
    return false;
}

/* A guest of a TDX module has #VE where its host would have to act. Until the guest has asked what
 * it was about, NMIs are held back and the next #VE is #DF (Linux, Documentation/arch/x86/tdx.rst,
 * "Linux #VE handler"): TDCALL (66H 0FH 01H CCH) with TDG.VP.VEINFO.GET in RAX. Elsewhere it is
 * #UD. What it answers is in the frame already: the instruction is at its RIP. */
#define TDG_VP_VEINFO_GET 3

static void take_ve_info(void)
{
    uint64_t rax = TDG_VP_VEINFO_GET;
    __asm__ volatile("1: .byte 0x66, 0x0f, 0x01, 0xcc\n2:\n" EX_TABLE("1b", "2b")
                     : "+a"(rax)
                     :
                     : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory");
}

static void unexpected(const struct trap_frame *frame)
{
    char what[112], why[sizeof(this_cpu()->why)];

    trap_describe(frame, what, sizeof(what));
    ksnprintf(why, sizeof(why), "%s at 0x%llx: %s", trap_mnemonic(frame->vector),
              (unsigned long long)frame->rip, what);
    trap_abort(why, frame);
}

/* A refused MSR access ends the experiment that made it. Outside of one the kernel goes on without
 * it: better a machine that lacks a register than one that does not start. */
static bool go_on_without(struct trap_frame *frame)
{
    return (holding || this_cpu()->guard_rsp == 0) && refused_skip(frame);
}

void trap_dispatch(struct trap_frame *frame)
{
    frame->vector &= 0xff;
    if (frame->vector == VEC_VE)
        take_ve_info();
    if (fix_up(frame) || go_on_without(frame))
        return;
    trap_handler handler = handlers[frame->vector];
    if (handler)
        handler(frame);
    else
        unexpected(frame);
}

void trap_hold(bool on)
{
    holding = on;
}

bool trap_guarded(void (*fn)(void *), void *arg, const char **why)
{
    struct percpu *cpu = this_cpu();
    if (cpu->guard_rsp)
        panic("trap_guarded: called inside a guarded run");
    cpu->reporting = 0;
    if (guard_enter(fn, arg))
        return true;
    print_release(); /* the run may have been ended in the middle of a line */
    *why = cpu->why;
    return false;
}

_Noreturn void trap_abort(const char *why, const struct trap_frame *frame)
{
    struct percpu *cpu = this_cpu();

    irq_disable();
    if (!cpu->guard_rsp) {
        if (frame)
            panic_frame(frame, why);
        panic("%s", why);
    }
    /* A fault in the report itself must not be reported in its turn, and so on for ever. The line
     * that it broke off, a comment, is ended, if that at least can be printed. */
    unsigned before = cpu->reporting++;
    if (before == 1)
        kprintf("# (the report faulted and ends here)\n");
    if (before > 0)
        guard_resume();
    if (cpu->index == 0)
        ksnprintf(cpu->why, sizeof(cpu->why), "%s", why);
    else
        ksnprintf(cpu->why, sizeof(cpu->why), "processor %u: %s", cpu->index, why);
    if (frame) {
        print_lock();
        kprintf("# %s\n", cpu->why);
        trap_frame_print(frame);
        print_unlock();
    }
    guard_resume();
}
