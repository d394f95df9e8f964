/*
 * Paging: 4-level tables (SDM vol. 3 "4-Level Paging and 5-Level Paging"). The low 4 GiB are
 * identity- mapped; the kernel image in 4 KiB pages with the rights of its sections, the rest
 * read-write and no-execute in pages of 2 MiB. Page 0 and the guard pages of the stacks are not
 * present.
 */
#ifndef PMULAB_PAGING_H
#define PMULAB_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_SIZE 4096

/* Gives every page its rights and turns CR0.WP and, where CPUID has NX, EFER.NXE on. */
void paging_init(void);

/* Maps the 4 KiB page at virt (canonical, page-aligned) to phys. flags: PTE_RW, PTE_US, PTE_PWT,
 * PTE_PCD, PTE_XD (ignored on a processor without NX); PTE_P is implied. What was mapped there is
 * replaced. False when the static pool of page tables is used up. Other processors must flush their
 * TLB themselves. */
bool paging_map(uint64_t virt, uint64_t phys, uint64_t flags);

/* Takes the 4 KiB page at virt out. False as above (a large page may have to be split). */
bool paging_unmap(uint64_t virt);

/* Maps [phys, phys + size) uncached (PCD and PWT: UC whatever the MTRRs say), data only, at its own
 * address, also above 4 GiB. NULL when the pool of page tables is used up. */
volatile void *paging_map_mmio(uint64_t phys, size_t size);

#endif
