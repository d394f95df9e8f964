/* System V ABI "Symbol Table", "String Table". Every offset is checked: the file is not trusted. */
#include "sim/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define FARTHEST 0x100000 /* beyond that an address is no part of a symbol, but a stray one */

struct symbol {
    uint64_t address;
    const char *name; /* in strings */
};

static struct symbol *symbols;
static size_t n_symbols;
static char *strings;

static bool inside(size_t size, uint64_t offset, uint64_t length)
{
    return offset <= size && length <= size - offset;
}

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Where a section lies; not checked yet, since .bss need not lie in the file. */
struct section {
    uint32_t type, link;
    uint64_t offset, size;
};

static bool read_section(struct section *s, const uint8_t *image, size_t size, unsigned index)
{
    uint64_t at;

    if (image[EI_CLASS] == ELFCLASS64) {
        Elf64_Ehdr e;
        Elf64_Shdr h;
        memcpy(&e, image, sizeof(e));
        at = e.e_shoff + (uint64_t)index * sizeof(h);
        if (index >= e.e_shnum || e.e_shentsize != sizeof(h) || e.e_shoff > size ||
            !inside(size, at, sizeof(h)))
            return false;
        memcpy(&h, image + at, sizeof(h));
        *s = (struct section){h.sh_type, h.sh_link, h.sh_offset, h.sh_size};
    } else {
        Elf32_Ehdr e;
        Elf32_Shdr h;
        memcpy(&e, image, sizeof(e));
        at = e.e_shoff + (uint64_t)index * sizeof(h);
        if (index >= e.e_shnum || e.e_shentsize != sizeof(h) || !inside(size, at, sizeof(h)))
            return false;
        memcpy(&h, image + at, sizeof(h));
        *s = (struct section){h.sh_type, h.sh_link, h.sh_offset, h.sh_size};
    }
    return true;
}

static void add(uint32_t name, unsigned type, unsigned section, uint64_t address, uint64_t limit)
{
    if ((type != STT_FUNC && type != STT_NOTYPE) || section == SHN_UNDEF || section == SHN_ABS ||
        name >= limit || !strings[name])
        return;
    symbols[n_symbols++] = (struct symbol){address, strings + name};
}

void symbols_load(const uint8_t *image, size_t size)
{
    struct section table, text;
    unsigned i = 0;
    bool elf64;
    size_t n;

    if (size < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG) != 0)
        return;
    elf64 = image[EI_CLASS] == ELFCLASS64;
    do {
        if (i > UINT16_MAX || !read_section(&table, image, size, i++))
            return;
    } while (table.type != SHT_SYMTAB);
    if (!read_section(&text, image, size, table.link) || !inside(size, table.offset, table.size) ||
        !inside(size, text.offset, text.size))
        return;
    n = table.size / (elf64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
    symbols = calloc(n + 1, sizeof(*symbols));
    strings = malloc(text.size + 1);
    if (!symbols || !strings) {
        symbols_free();
        return;
    }
    memcpy(strings, image + text.offset, text.size);
    strings[text.size] = '\0';
    for (size_t k = 0; k < n; k++) {
        if (elf64) {
            Elf64_Sym s;
            memcpy(&s, image + table.offset + k * sizeof(s), sizeof(s));
            add(s.st_name, ELF64_ST_TYPE(s.st_info), s.st_shndx, s.st_value, text.size);
        } else {
            Elf32_Sym s;
            memcpy(&s, image + table.offset + k * sizeof(s), sizeof(s));
            add(s.st_name, ELF32_ST_TYPE(s.st_info), s.st_shndx, s.st_value, text.size);
        }
    }
    qsort(symbols, n_symbols, sizeof(*symbols), by_address);
}

void symbols_free(void)
{
    free(symbols);
    free(strings);
    symbols = NULL;
    strings = NULL;
    n_symbols = 0;
}

bool symbols_find(const char *name, uint64_t *address)
{
    for (size_t i = 0; i < n_symbols; i++)
        if (strcmp(symbols[i].name, name) == 0) {
            *address = symbols[i].address;
            return true;
        }
    return false;
}

const char *symbols_lookup(uint64_t address, uint64_t *offset)
{
    size_t low = 0, high = n_symbols;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - symbols[low - 1].address > FARTHEST)
        return NULL;
    *offset = address - symbols[low - 1].address;
    return symbols[low - 1].name;
}
