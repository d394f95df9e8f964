/* The guest's symbols, from the ELF's symbol table. */
#ifndef PMUSIM_SYMBOLS_H
#define PMUSIM_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct symbols;

/* Reads the symbols of image. NULL: it is no ELF file, has none, or its table is damaged; all that
 * follows takes NULL for a guest without symbols. */
struct symbols *symbols_load(const uint8_t *image, size_t size);
void symbols_free(struct symbols *s);
/* Address of what word names: SYMBOL, FILE:SYMBOL for one that several files have, or a number
 * 0x... . False, with the reason on err, when it names nothing or more than one address. */
bool symbols_find(const struct symbols *s, const char *word, uint64_t *address, FILE *err);
/* Symbol at or below a guest address, and the distance to it; NULL: none. */
const char *symbols_lookup(const struct symbols *s, uint64_t address, uint64_t *offset);

#endif
