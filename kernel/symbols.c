/* The symbol table that scripts/mksyms.py makes of the linked kernel's functions. */
#include <stddef.h>

#include "kernel/paging.h"
#include "kernel/panic.h"

extern const uint32_t symbol_count;
extern const uint32_t symbol_addresses[];    /* ascending */
extern const uint16_t symbol_name_offsets[]; /* in the same order, into: */
extern const uint8_t symbol_names[];
extern const uint8_t symbol_pairs[][2];
extern const uint8_t text_start[], text_end[];

#define FIRST_PAIR    128
#define SYMBOL_LENGTH 48
#define SYMBOLS_KEPT  8 /* one line of output names two; each processor may print one */

/* Unpacks one byte of a name behind to: itself, or the pair it stands for. A pair holds only pairs
 * made before it, so the depth is small. */
static char *unpack(char *to, uint8_t code)
{
    if (code < FIRST_PAIR) {
        *to = (char)code;
        return to + 1;
    }
    to = unpack(to, symbol_pairs[code - FIRST_PAIR][0]);
    return unpack(to, symbol_pairs[code - FIRST_PAIR][1]);
}

static const char *name_of(uint32_t index)
{
    static char kept[SYMBOLS_KEPT][SYMBOL_LENGTH];
    static unsigned next;
    char *name = kept[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % SYMBOLS_KEPT], *to = name;

    for (const uint8_t *from = symbol_names + symbol_name_offsets[index]; *from != 0; from++)
        to = unpack(to, *from);
    *to = '\0';
    return name;
}

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
    return name_of(low - 1);
}
