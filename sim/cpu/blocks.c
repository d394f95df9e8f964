/*
 * The block cache. A block is keyed by physical address, RIP and decoding mode, so that a switch of
 * page tables discards nothing; what RIP maps to is looked up anew at each block entry (one TLB
 * compare).
 */
#include <stdlib.h>
#include <string.h>

#include "sim/cpu/memory.h"
#include "sim/cpu/window.h"
#include "sim/dev/dev.h"

#define HASH_BITS  17
#define MAX_BLOCKS 150000 /* dropped ones included: those are freed with all the rest */

struct block_cache {
    struct block *hash[1 << HASH_BITS];
    struct block **page; /* [physical page]: blocks with bytes in it */
    unsigned n;
};

bool blocks_init(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    struct machine *m = cpu->machine;
    cpu->blocks = calloc(1, sizeof(*cpu->blocks));
    if (!cpu->blocks)
        return false;
    x->n_code_pages = (m->ram_size >> PAGE_SHIFT_4K) + 1;
    cpu->blocks->page = calloc(x->n_code_pages, sizeof(struct block *));
    /* All processors share the marks, so that a store by any of them finds them. */
    if (cpu->index != 0 && m->cpus[0]) {
        x->code_pages = exec_of(m->cpus[0])->code_pages;
    } else {
        x->code_pages = calloc(x->n_code_pages, 1);
        x->owns_code_pages = true;
    }
    return cpu->blocks->page && x->code_pages;
}

static void block_free(struct block *b)
{
    if (b->transition != b->few)
        free(b->transition);
    free(b->insn);
    free(b->flow);
    free(b);
}

static unsigned hash_of(uint64_t physical, uint64_t rip, uint32_t mode)
{
    uint64_t h =
        (physical ^ (rip >> PAGE_SHIFT_4K << 20) ^ ((uint64_t)mode << 40)) * 0x9e3779b97f4a7c15ULL;
    return h >> (64 - HASH_BITS);
}

/* Both linear pages may be the same physical one: then the block stands in its list once. */
static bool in_two_pages(const struct block *b)
{
    return b->second != NO_PAGE && b->second >> PAGE_SHIFT_4K != b->physical >> PAGE_SHIFT_4K;
}

static void unlink_page(struct block_cache *c, struct block *b, unsigned which, uint64_t page)
{
    struct block **p = &c->page[page];
    while (*p != b) {
        struct block *q = *p;
        p = &q->page_next[(q->physical >> PAGE_SHIFT_4K) != page];
    }
    *p = b->page_next[which];
}

/* Takes a block out of the cache. Its handlers are replaced, so that when it is the running one it
 * ends after the present instruction. */
static void drop(struct cpu *cpu, struct block *b)
{
    struct block_cache *c = cpu->blocks;
    struct exec *x = exec_of(cpu);
    struct block **p = &c->hash[hash_of(b->physical, b->rip, b->mode)];
    while (*p != b)
        p = &(*p)->hash_next;
    *p = b->hash_next;
    unlink_page(c, b, 0, b->physical >> PAGE_SHIFT_4K);
    if (in_two_pages(b))
        unlink_page(c, b, 1, b->second >> PAGE_SHIFT_4K);
    b->dead = true;
    b->mode = UINT32_MAX; /* other blocks' successor links may still lead here */
    for (unsigned i = 0; i <= b->n; i++)
        b->op[i].fn = op_leave;
    b->hash_next = x->graveyard;
    x->graveyard = b;
    if (x->last == b)
        x->last = NULL;
    if (x->position == b)
        x->position = NULL;
}

static bool overlaps(const struct block *b, uint64_t physical, unsigned n)
{
    uint64_t first = PAGE_BYTES - (b->physical & (PAGE_BYTES - 1));
    uint64_t in_first = b->bytes < first ? b->bytes : first;
    if (physical < b->physical + in_first && physical + n > b->physical)
        return true;
    return b->second != NO_PAGE && physical < b->second + (b->bytes - in_first) &&
           physical + n > b->second;
}

static void cpu_written(struct cpu *cpu, uint64_t physical, unsigned n)
{
    uint64_t page = physical >> PAGE_SHIFT_4K;
    struct block *b = cpu->blocks->page[page];
    while (b) {
        struct block *next = b->page_next[(b->physical >> PAGE_SHIFT_4K) != page];
        if (overlaps(b, physical, n))
            drop(cpu, b);
        b = next;
    }
}

/* n bytes from physical on, within one page, have been written. */
void blocks_written(struct machine *m, uint64_t physical, unsigned n)
{
    uint64_t page = physical >> PAGE_SHIFT_4K;
    bool left = false;
    uint8_t *marks = NULL;
    for (unsigned i = 0; i < MACHINE_MAX_CPUS; i++) {
        struct cpu *cpu = m->cpus[i];
        if (!cpu || !cpu->blocks)
            continue;
        struct exec *x = exec_of(cpu);
        if (page >= x->n_code_pages || !x->code_pages[page])
            return;
        marks = x->code_pages;
        cpu_written(cpu, physical, n);
        left |= cpu->blocks->page[page] != NULL;
    }
    if (marks && !left)
        marks[page] = 0;
}

void blocks_page_written(struct machine *m, uint64_t physical)
{
    blocks_written(m, physical & ~(uint64_t)(PAGE_BYTES - 1), PAGE_BYTES);
}

static void drop_all(struct cpu *cpu)
{
    exec_unpatch(exec_of(cpu)); /* a branch that stopped its block left the patch behind */
    window_forget_blocks(cpu);
    for (unsigned i = 0; i < 1u << HASH_BITS; i++)
        while (cpu->blocks->hash[i]) {
            struct block *b = cpu->blocks->hash[i];
            cpu->blocks->hash[i] = b->hash_next;
            cpu->blocks->page[b->physical >> PAGE_SHIFT_4K] = NULL;
            if (b->second != NO_PAGE)
                cpu->blocks->page[b->second >> PAGE_SHIFT_4K] = NULL;
            block_free(b);
        }
    struct exec *x = exec_of(cpu);
    while (x->graveyard) {
        struct block *b = x->graveyard;
        x->graveyard = b->hash_next;
        block_free(b);
    }
    cpu->blocks->n = 0;
    x->last = NULL;
    x->position = NULL;
    x->returned = NULL;
    memset(x->caller, 0, sizeof x->caller);
}

void blocks_done(struct cpu *cpu)
{
    if (!cpu->blocks)
        return;
    drop_all(cpu);
    if (exec_of(cpu)->owns_code_pages)
        free(exec_of(cpu)->code_pages);
    free(cpu->blocks->page);
    free(cpu->blocks);
    cpu->blocks = NULL;
}

static inline uint64_t fetch_physical(struct cpu *cpu, uint64_t linear)
{
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_FETCH, cpu->cpl == 3);
    if (unlikely(e->tag != (linear >> PAGE_SHIFT_4K) + 1))
        e = tlb_fill(cpu, linear, ACCESS_FETCH, cpu->cpl == 3);
    return e->physical + (linear & (PAGE_BYTES - 1));
}

static inline bool matches(const struct block *b, uint64_t physical, uint64_t rip, uint32_t mode)
{
    return b && b->physical == physical && b->rip == rip && b->mode == mode;
}

/* The page that the block's last instruction crosses into may have been mapped elsewhere since. */
static bool second_moved(struct cpu *cpu, const struct block *b, uint64_t linear)
{
    return b->second != NO_PAGE &&
           fetch_physical(cpu, (linear | (PAGE_BYTES - 1)) + 1) != b->second;
}

/* The block at cpu->rip, decoded if need be; raises the faults of instruction fetch. */
struct block *blocks_find(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    struct block_cache *c = cpu->blocks;
    uint64_t linear = cpu->rip;
    if ((x->mode & MODE_CODE) != MODE_64)
        linear = (uint32_t)(linear + cpu->seg[SEG_CS].base);
    else if (unlikely(!canonical(linear)))
        cpu_gp0(cpu);
    uint64_t physical = fetch_physical(cpu, linear);

    struct block *last = x->last, *b, *none = NULL, **follows = &none;
    if (last)
        follows = &last->successor[cpu->rip != last->end];
    if (matches(b = *follows, physical, cpu->rip, x->mode))
        return b;
    unsigned h = hash_of(physical, cpu->rip, x->mode);
    for (b = c->hash[h]; b; b = b->hash_next)
        if (matches(b, physical, cpu->rip, x->mode))
            break;
    if (b && second_moved(cpu, b, linear)) {
        drop(cpu, b);
        b = NULL;
    }
    if (!b) {
        if (c->n >= MAX_BLOCKS)
            drop_all(cpu);
        b = decode_block(cpu, linear, physical);
        h = hash_of(physical, cpu->rip, x->mode);
        b->hash_next = c->hash[h];
        c->hash[h] = b;
        b->page_next[0] = c->page[physical >> PAGE_SHIFT_4K];
        c->page[physical >> PAGE_SHIFT_4K] = b;
        x->code_pages[physical >> PAGE_SHIFT_4K] = 1;
        if (in_two_pages(b)) {
            b->page_next[1] = c->page[b->second >> PAGE_SHIFT_4K];
            c->page[b->second >> PAGE_SHIFT_4K] = b;
            x->code_pages[b->second >> PAGE_SHIFT_4K] = 1;
        }
        c->n++;
    }
    /* Others are looked up each time. */
    if (b->second == NO_PAGE && (b->mode & MODE_FLAT_CODE)) {
        if (x->last)
            *follows = b;
        if (x->returned && x->returned->end == b->rip)
            x->returned->successor[0] = b;
    }
    return b;
}
