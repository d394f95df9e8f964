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

/* Pages can be closed to fetches: IA32_EFER.NXE is on, as it must be on every processor. */
bool paging_no_execute(void);

/* Maps the 4 KiB page at virt (canonical, page-aligned) to phys. flags: PTE_RW, PTE_US, PTE_PWT,
 * PTE_PCD, PTE_XD (ignored on a processor without NX); PTE_P is implied. What was mapped there is
 * replaced. False when the static pool of page tables is used up, or the processor has no such
 * physical address. Other processors must flush their TLB themselves. */
bool paging_map(uint64_t virt, uint64_t phys, uint64_t flags);

/* Takes the 4 KiB page at virt out. False as above (a large page may have to be split). */
bool paging_unmap(uint64_t virt);

/* Is the page that holds this address mapped, and may ring 0 write to it? Changes nothing. */
bool paging_is_writable(uint64_t virt);

/* Maps [phys, phys + size) uncached (PCD and PWT: UC whatever the MTRRs say), data only, at its own
 * address, also above 4 GiB. NULL when the pool of page tables is used up. */
volatile void *paging_map_mmio(uint64_t phys, size_t size);

/* Physical memory for reading, as the identity map shows it; NULL for what is not mapped there:
 * page 0, all above 4 GiB, and the image with its guard pages. */
const uint8_t *paging_physical(uint64_t address, size_t size);

/* Where the experiments map code a second time: above 4 GiB, and in the upper half of the linear
 * addresses (bits 63:47 all ones). Above 4 GiB a screen or a device may be mapped at its own
 * address: this is the highest 512 GiB of the lower half where nothing was mapped when it was first
 * asked for. A processor with fewer than 47 physical address bits has nothing there. */
uint64_t paging_high(void);
#define PAGING_UPPER 0xffff900000000000ULL

/*
 * Maps the 4 KiB pages of [start, start + size), a part of the kernel, a second time at base +
 * their own address: base is paging_high(), PAGING_UPPER or another canonical multiple of 4 KiB.
 * flags as for paging_map(): 0 for code (read and execute), PTE_RW | PTE_XD for
 * data. Returns start's second address; the same again when it is already there; NULL when
 * something else is mapped there, or the pool of page tables or the list of aliases is used up. A
 * relative jump or call in the alias reaches only what lies in the pages mapped with it, an
 * absolute one (through a register) leaves it. For code over the whole kernel text:
 * paging_alias_text(base), which gives base, or 0.
 */
void *paging_alias(uint64_t base, const void *start, size_t size, uint64_t flags);
uint64_t paging_alias_text(uint64_t base);

/* Says that size bytes at virt are those at origin (a copy, or a second mapping); false when the
 * list is full. What begins in [virt, virt + size) is forgotten again by the second. */
bool paging_alias_note(uint64_t virt, uint64_t origin, size_t size);
void paging_alias_forget(uint64_t virt, size_t size);
/* The original of an address in an alias; any other address comes back as it is. symbol_name() asks
 * here, so aliases have symbols in every dump and backtrace. */
uint64_t paging_alias_origin(uint64_t virt);

#endif
