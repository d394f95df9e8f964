/* Exceptions and interrupts: IDT, handlers, recovery of a failed experiment. */
#ifndef PMULAB_TRAP_H
#define PMULAB_TRAP_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/regs.h"

/* What trap entry pushes, lowest address first. */
struct trap_frame {
    uint64_t r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
    uint64_t vector, error_code;
    uint64_t rip, cs, rflags, rsp, ss;
};

typedef void (*trap_handler)(struct trap_frame *frame);

/* Builds the IDT and loads it with the GDT and TSS of the boot processor; #DF, NMI and #MC use IST
 * stacks. trap_init_cpu(): loads them on another processor, which runs it first of all. */
void trap_init(void);
void trap_init_cpu(unsigned index);

/* Installs a handler for a vector (NULL: the default, which reports and fails the experiment or
 * panics; NMIs have their own, kernel/nmi.h). The handler writes EOI itself where one is due.
 * Returns the handler that was there. */
trap_handler trap_set_handler(unsigned vector, trap_handler handler);

/* Points the vector straight at entry, assembly that ends in IRETQ, past the dispatcher; NULL: to
 * the dispatcher again. For an experiment that must know each instruction of its handler. */
void trap_set_entry(unsigned vector, const char *entry);

/* While held, a refused MSR access does not end the guarded run: an NMI's handler must not break
 * off what is being printed. */
void trap_hold(bool on);

/* Lets ring 3 reach entry by INT n: an interrupt gate with DPL 3 in place of the vector's own. */
void trap_set_user_gate(unsigned vector, const char *entry);

/*
 * Runs fn(arg) on the experiment stack (guard page below it). Returns true when fn returned, false
 * when an unexpected exception, trap_abort() or the watchdog ended it; the report has then been
 * printed as
 * '#' comment lines and *why holds one line ("#PF at 0x0: instruction fetch from 0x0"). Not
 * reentrant.
 */
bool trap_guarded(void (*fn)(void *), void *arg, const char **why);

/* Ends the guarded run from inside it or from an interrupt handler; prints the frame when not NULL.
 */
_Noreturn void trap_abort(const char *why, const struct trap_frame *frame);

static inline void irq_enable(void)
{
    __asm__ volatile("sti" ::: "memory");
}
static inline void irq_disable(void)
{
    __asm__ volatile("cli" ::: "memory");
}
/* Interrupts off; irq_restore() brings back what was before. */
static inline uint64_t irq_save(void)
{
    uint64_t rflags;
    __asm__ volatile("pushfq; popq %0; cli" : "=r"(rflags)::"memory");
    return rflags;
}
static inline void irq_restore(uint64_t rflags)
{
    if (rflags & RFLAGS_IF)
        irq_enable();
}

#endif
