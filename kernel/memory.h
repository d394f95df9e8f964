/* Memory that nobody uses: what the boot loader's memory map calls available behind the kernel. */
#ifndef PMULAB_MEMORY_H
#define PMULAB_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct bootinfo;

/* Finds the largest available range between the end of the kernel's image and 4 GiB (that far the
 * kernel's identity mapping reaches: readable, writable, no-execute). */
void memory_init(const struct bootinfo *boot);

/* The range, aligned on 4 KiB; *size becomes its length in bytes, 0 when there is none. Its
 * contents are whatever they are; whoever uses it does so until the experiment ends. */
void *memory_scratch(size_t *size);

#endif
