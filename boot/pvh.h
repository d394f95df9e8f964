/*
 * PVH, the direct boot of Xen, QEMU, Firecracker and cloud-hypervisor: a note in the ELF file names
 * a 32-bit entry, which finds the address of a start info in EBX. Source: Xen,
 * docs/misc/pvh.pandoc; xen/include/public/elfnote.h; xen/include/public/arch-x86/hvm/start_info.h.
 * Read by C and by GNU as.
 */
#ifndef PMULAB_PVH_H
#define PMULAB_PVH_H

#define PVH_NOTE_PHYS32_ENTRY 18
#define PVH_START_MAGIC       0x336ec578

#ifndef __ASSEMBLER__

#include "boot/bootinfo.h"

/*
 * Reads the start info at that physical address into *out, as bootinfo_parse() does with the
 * Multiboot2 boot information: the command line, the memory map and the RSDP; modules are of no use
 * here, and there is no framebuffer. read gives size bytes of physical memory, or NULL where they
 * cannot be read. Returns n_errors == 0.
 */
bool pvh_parse(struct bootinfo *out, uint64_t start_info,
               const uint8_t *(*read)(uint64_t address, size_t size));

#endif
#endif
