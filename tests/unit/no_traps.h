/* In place of kernel/trap.h (gcc -include): a host program may not switch interrupts off. The test
 * that is compiled with it says what the functions do. */
#ifndef PMULAB_TRAP_H
#define PMULAB_TRAP_H

#include <stdbool.h>
#include <stdint.h>

void trap_hold(bool on);
uint64_t irq_save(void);
void irq_restore(uint64_t rflags);

#endif
