/* Between the parts of the loader (loader.c, linux.c, pvh.c); not for others. */
#ifndef PMUSIM_BOOT_H
#define PMUSIM_BOOT_H

#include "sim/dev/dev.h"
#include "sim/loader.h"

/* Registers that a specification leaves undefined hold this and their number, so that a kernel
 * which relies on them fails here and not on the first real machine. */
#define BOOT_UNDEFINED 0xbadbad00

/* What the firmware says of the memory. type: MB_MEMORY_*, which are those of E820, too. */
struct region {
    uint64_t start, length;
    uint32_t type;
};
#define MAP_MAX 5
unsigned boot_memory_map(const struct machine *m, struct region map[MAP_MAX]);

/* The lowest free pages for size bytes that neither the image nor the initrd uses; 0: none, said on
 * err. */
uint32_t boot_room(const struct machine *m, const struct load_plan *plan, uint32_t size, FILE *err);

/* Copies the initrd to the highest free page up to max and makes it a segment of the plan. *at is 0
 * without one. False, with the reason on err, when it does not fit. */
bool boot_initrd(struct machine *m, struct load_plan *plan, const struct sim_boot *b, uint64_t max,
                 uint64_t *at, FILE *err);

/* Processor 0 at the plan's entry: 32-bit protected mode with flat segments, no paging, registers
 * undefined. */
void boot_protected_mode(struct machine *m, const struct load_plan *plan);

/* Build what the kernel is told and set the state of processor 0. The image is in place. */
bool linux_enter(struct machine *m, struct load_plan *plan, const struct sim_boot *b, FILE *err);
bool pvh_enter(struct machine *m, struct load_plan *plan, const struct sim_boot *b, FILE *err);

#endif
