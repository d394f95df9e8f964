/* In place of kernel/io.h and kernel/trap.h (gcc -include): a host program has no I/O ports and may
 * not switch interrupts off. The test that is compiled with it says what the functions do. */
#ifndef PMULAB_IO_H
#define PMULAB_IO_H
#define PMULAB_TRAP_H

#include <stdbool.h>
#include <stdint.h>

uint8_t inb(uint16_t port);
uint16_t inw(uint16_t port);
uint32_t inl(uint16_t port);
void outb(uint16_t port, uint8_t value);
void outw(uint16_t port, uint16_t value);
void outl(uint16_t port, uint32_t value);
void irq_disable(void);

#endif
