/* System V ABI "Symbol Table", "String Table". Every offset is checked: the file is not trusted. */
#include "sim/symbols.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FARTHEST 0x100000 /* beyond that an address is no part of a symbol, but a stray one */

struct symbol {
    uint64_t address;
    const char *name, *file; /* in strings; file: of a local symbol, else NULL */
};

struct symbols {
    size_t n;
    struct symbol *symbol; /* by address */
    char *strings;
};

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

/* A symbol of either class. */
struct entry {
    uint32_t name;
    unsigned type, binding, section;
    uint64_t address;
};

static struct entry read_entry(const uint8_t *at, bool elf64)
{
    if (elf64) {
        Elf64_Sym e;
        memcpy(&e, at, sizeof(e));
        return (struct entry){e.st_name, ELF64_ST_TYPE(e.st_info), ELF64_ST_BIND(e.st_info),
                              e.st_shndx, e.st_value};
    }
    Elf32_Sym e;
    memcpy(&e, at, sizeof(e));
    return (struct entry){e.st_name, ELF32_ST_TYPE(e.st_info), ELF32_ST_BIND(e.st_info), e.st_shndx,
                          e.st_value};
}

struct symbols *symbols_load(const uint8_t *image, size_t size)
{
    struct section table, text;
    const char *file = NULL;
    unsigned i = 0;

    if (size < sizeof(Elf64_Ehdr) || memcmp(image, ELFMAG, SELFMAG) != 0)
        return NULL;
    bool elf64 = image[EI_CLASS] == ELFCLASS64;
    do {
        if (i > UINT16_MAX || !read_section(&table, image, size, i++))
            return NULL;
    } while (table.type != SHT_SYMTAB);
    if (!read_section(&text, image, size, table.link) || !inside(size, table.offset, table.size) ||
        !inside(size, text.offset, text.size))
        return NULL;
    size_t entry_size = elf64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    size_t n = table.size / entry_size;
    struct symbols *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->symbol = calloc(n + 1, sizeof(*s->symbol));
    s->strings = malloc(text.size + 1);
    if (!s->symbol || !s->strings) {
        symbols_free(s);
        return NULL;
    }
    memcpy(s->strings, image + text.offset, text.size);
    s->strings[text.size] = '\0';
    for (size_t k = 0; k < n; k++) {
        struct entry e = read_entry(image + table.offset + k * entry_size, elf64);
        if (e.name >= text.size || !s->strings[e.name])
            continue;
        /* "Symbol Table": a file's STT_FILE symbol precedes its local ones. */
        if (e.type == STT_FILE)
            file = s->strings + e.name;
        else if ((e.type == STT_FUNC || e.type == STT_NOTYPE) && e.section != SHN_UNDEF &&
                 e.section != SHN_ABS)
            s->symbol[s->n++] = (struct symbol){e.address, s->strings + e.name,
                                                e.binding == STB_LOCAL ? file : NULL};
    }
    qsort(s->symbol, s->n, sizeof(*s->symbol), by_address);
    return s;
}

void symbols_free(struct symbols *s)
{
    if (!s)
        return;
    free(s->symbol);
    free(s->strings);
    free(s);
}

/* SYMBOL or FILE:SYMBOL. */
static bool is_named(const struct symbol *s, const char *word)
{
    size_t n = s->file ? strlen(s->file) : 0;

    return strcmp(s->name, word) == 0 || (n && strncmp(word, s->file, n) == 0 && word[n] == ':' &&
                                          strcmp(s->name, word + n + 1) == 0);
}

static void list_candidates(const struct symbols *s, const char *word, FILE *err)
{
    const char *separator = "";

    fprintf(err, "several symbols have that name; give one of these (or its address): ");
    for (size_t i = 0; i < s->n; i++) {
        const struct symbol *c = &s->symbol[i];
        if (!is_named(c, word))
            continue;
        fprintf(err, "%s%s%s%s (0x%" PRIx64 ")", separator, c->file ? c->file : "",
                c->file ? ":" : "", c->name, c->address);
        separator = ", ";
    }
    fprintf(err, "\n");
}

bool symbols_find(const struct symbols *s, const char *word, uint64_t *address, FILE *err)
{
    const struct symbol *found = NULL;
    bool several = false;
    char *end;

    if (strncmp(word, "0x", 2) == 0) {
        *address = strtoull(word, &end, 16);
        if (word[2] && !*end)
            return true;
    }
    for (size_t i = 0; s && i < s->n; i++)
        if (is_named(&s->symbol[i], word)) {
            several |= found && found->address != s->symbol[i].address;
            found = &s->symbol[i];
        }
    if (!found)
        fprintf(err, "the image has no such symbol\n");
    else if (several)
        list_candidates(s, word, err);
    else
        *address = found->address;
    return found && !several;
}

const char *symbols_lookup(const struct symbols *s, uint64_t address, uint64_t *offset)
{
    size_t low = 0, high = s ? s->n : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->symbol[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address - s->symbol[low - 1].address > FARTHEST)
        return NULL;
    *offset = address - s->symbol[low - 1].address;
    return s->symbol[low - 1].name;
}
