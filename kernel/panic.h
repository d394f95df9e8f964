/* The end: panic, symbols, backtrace, exit. */
#ifndef PMULAB_PANIC_H
#define PMULAB_PANIC_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame;

/* Prints the message, a backtrace with symbols, exits with DEBUG_EXIT_PANIC and halts. */
_Noreturn void panic(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for an exception outside of a guarded run: with its registers and its backtrace. */
_Noreturn void panic_frame(const struct trap_frame *frame, const char *why);

/* Called before the first panic prints: it stops what would print in between. */
void panic_on_enter(void (*fn)(void));

/* Symbol of a kernel address: name and offset, or NULL. Made from the ELF at link time. The text is
 * good for printing at once: it lives for seven more calls. */
const char *symbol_name(uint64_t address, uint64_t *offset);

/* Prints '#' lines: registers of the frame and the backtrace from its RBP; never faults on a bad
 * chain. */
void trap_frame_print(const struct trap_frame *frame);

/* Ends a run in an emulator; a machine without the debug-exit port goes on. */
void debug_exit(uint8_t code);

/* Writes code to the debug-exit port, then ends the machine as end= says; one that is still on it
 * halts, and says that it may be switched off. */
_Noreturn void machine_exit(uint8_t code);

#endif
