/* The symbol table that scripts/mksyms.py makes of the linked kernel's functions. */
#include <stddef.h>

#include "kernel/paging.h"
#include "kernel/panic.h"

extern const uint32_t symbol_count;
extern const uint32_t symbol_addresses[];    /* ascending */
extern const uint16_t symbol_name_offsets[]; /* in the same order, into: */
extern const char symbol_names[];
extern const uint8_t text_start[], text_end[];

const char *symbol_name(uint64_t address, uint64_t *offset)
{
    uint32_t low = 0, high = symbol_count;

    address = paging_alias_origin(address);
    if (address < (uint64_t)text_start || address >= (uint64_t)text_end)
        return NULL;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (symbol_addresses[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    *offset = address - symbol_addresses[low - 1];
    return symbol_names + symbol_name_offsets[low - 1];
}
