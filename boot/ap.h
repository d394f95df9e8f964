/* What the boot processor lays out for one that it starts (boot/ap.S, lapic/smp.c). Read by C and
 * by GNU as. */
#ifndef PMULAB_AP_H
#define PMULAB_AP_H

/* boot/start.S's GDT: its limit and its 32-bit code segment. */
#define BOOT_GDT_LIMIT 31
#define BOOT_CODE32    0x18

#ifndef __ASSEMBLER__

#include <stdint.h>

/* The code to be copied to a page below 1 MiB: position-independent real-mode code. */
extern const char ap_trampoline[], ap_trampoline_end[];

/* The end of the stack for the next processor that comes, which takes it and leaves 0. */
extern uint32_t ap_stack;
/* Bits to be set in IA32_EFER before paging goes on. */
extern uint32_t ap_efer;

/* Where it arrives in C, on that stack. */
_Noreturn void smp_enter(void);

#endif
#endif
