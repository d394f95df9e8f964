/* The guest's symbols, from the ELF's symbol table. */
#ifndef PMUSIM_SYMBOLS_H
#define PMUSIM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the symbols of image, if it is an ELF file that has any; a damaged table is skipped. */
void symbols_load(const uint8_t *image, size_t size);
void symbols_free(void);
/* Address of a symbol; false: there is none of that name. */
bool symbols_find(const char *name, uint64_t *address);
/* Symbol at or below a guest address, and the distance to it; NULL: none. */
const char *symbols_lookup(uint64_t address, uint64_t *offset);

#endif
