/* Exceptions by name, for reports. */
#ifndef PMULAB_TRAP_NAMES_H
#define PMULAB_TRAP_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct trap_frame;

/* "#PF", or "vector 0x21" for one without a mnemonic; in a static buffer. */
const char *trap_mnemonic(uint64_t vector);
/* "page fault"; "interrupt" for one that is no exception. */
const char *trap_title(uint64_t vector);
/* What the error code and CR2 say, in words: "instruction fetch from 0x0, page not present". */
void trap_describe(const struct trap_frame *frame, char *text, size_t size);

#endif
