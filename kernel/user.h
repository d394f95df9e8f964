/*
 * Ring 3: user code with pages and a stack of its own, entered by IRETQ and left by SYSCALL,
 * SYSENTER or an interrupt gate. Each processor has its own user pages. SDM vol. 3 "Fast System
 * Calls in 64-Bit Mode", "Performing Fast Calls to System Procedures with the SYSENTER and SYSEXIT
 * Instructions", "Interrupt and Exception Handling in 64-bit Mode". Read by C and by GNU as.
 */
#ifndef PMULAB_USER_H
#define PMULAB_USER_H

#define USER_VECTOR 0x80 /* the interrupt gate with DPL 3 */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The way back to ring 0. */
enum user_return { USER_SYSCALL, USER_SYSENTER, USER_INTERRUPT };

#define USER_EXIT_SIZE 2    /* SYSCALL, SYSENTER and INT n all have two bytes */
#define USER_CODE_MAX  4092 /* the page, without the exit and the UD2 behind it */

/* Why this processor has not that way back, naming the CPUID bit; NULL when it has it. */
const char *user_return_missing(enum user_return how);

/*
 * Copies size bytes of code to the user's text page (read and execute in ring 3) and puts the
 * instruction that `how` names right behind: the code ends by running off its own end. It must be
 * position-independent and call nothing outside of itself. It starts with RDI = the argument, RSP =
 * the top of the user's stack (16-byte aligned, read and write, no-execute, 8 KiB with a guard
 * page below), the rest 0 but RFLAGS, where IF is that of the caller; all registers may be used. It
 * ends with RAX = the result. False when the code is too long, the way back is missing or no page
 * can be mapped.
 */
bool user_load(const void *code, size_t size, enum user_return how);

/*
 * Enters what user_load() left on this processor, and comes back when it has left ring 3: a
 * window_body (pmu/window.h), so that counters and branch records can be opened right around it.
 * Its branches are, in order: the IRETQ at user_iretq to user_code_address(); those of the user
 * code; its exit, at user_code_address() + size, to user_syscall_entry, user_sysenter_entry or
 * user_interrupt_entry; the RET to the caller. Interrupts, NMIs and PMIs are taken in ring 3. A
 * fault there ends the guarded run as one in ring 0 does, with a report.
 */
void user_enter(uint64_t arg);
/* RAX of the last run that came back, on this processor. */
uint64_t user_result(void);

/* Both in one: false as user_load(); *result (may be NULL) is what the code left in RAX. */
bool user_run(const void *code, size_t size, enum user_return how, uint64_t arg, uint64_t *result);

/* Where this processor's user code starts; symbol_name() knows the code loaded there. */
uint64_t user_code_address(void);

/* What is copied behind the code, for the symbols of its address: see enum user_return. */
extern const char user_exit_syscall[], user_exit_sysenter[], user_exit_interrupt[];

/* The IRETQ, and the first instruction in ring 0 after each way back. No breakpoint may be set on
 * the first instructions of these entries: GS is the user's there. */
extern const char user_iretq[], user_syscall_entry[], user_sysenter_entry[], user_interrupt_entry[];
/* The RET to the caller of user_enter(), of each way back. */
extern const char user_syscall_ret[], user_sysenter_ret[], user_interrupt_ret[];

/* Maps this processor's user pages and writes its SYSCALL and SYSENTER MSRs. Once, by each
 * processor, after trap_init() and paging_init(). */
void user_init(void);

#endif
#endif
