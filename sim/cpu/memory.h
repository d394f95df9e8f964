/* Guest memory as the handlers see it: the TLB is looked up inline, the rest is in memory.c. */
#ifndef PMUSIM_CPU_MEMORY_H
#define PMUSIM_CPU_MEMORY_H

#include <string.h>

#include "sim/cpu/exec.h"
#include "sim/cpu/uarch.h"

#define PAGE_SHIFT_4K 12
#define PAGE_BYTES    (1u << PAGE_SHIFT_4K)

/* Checks the access and gives its pages; nothing has been touched when it faults. op, when not
 * NULL, tells whether a non-canonical address is #SS or #GP. */
void span_open(struct cpu *cpu, struct span *sp, const struct op *op, uint64_t linear, unsigned n,
               enum access access, bool user);
uint64_t span_read(struct cpu *cpu, const struct span *sp);
void span_write(struct cpu *cpu, const struct span *sp, uint64_t value);

/* The same for any number of bytes up to a page. */
void span_read_bytes(struct cpu *cpu, const struct span *sp, void *out);
void span_write_bytes(struct cpu *cpu, const struct span *sp, const void *in);
/* Only the bytes for which selected is not 0. */
void span_write_masked(struct cpu *cpu, const struct span *sp, const uint8_t *in,
                       const uint8_t *selected);

/* Offset in a segment to linear address with all segmentation checks; offset is already masked. */
uint64_t segment_linear(struct cpu *cpu, unsigned seg, uint64_t offset, unsigned n,
                        enum access access);

static inline struct tlb_entry *tlb_slot(struct cpu *cpu, uint64_t linear, enum access access,
                                         bool user)
{
    return &cpu->tlb->e[user][access][(linear >> PAGE_SHIFT_4K) & (TLB_ENTRIES - 1)];
}

static inline struct tlb_entry *tlb_here(struct cpu *cpu, uint64_t linear, enum access access)
{
    return &cpu->tlb_here[access * TLB_ENTRIES + ((linear >> PAGE_SHIFT_4K) & (TLB_ENTRIES - 1))];
}

static always_inline uint64_t host_get(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

/* An operand in our memory, within one cache line, which L1D used last of its set: nearly all are.
 * NULL: it must be gone after by the functions below; nothing has changed. */
static always_inline uint8_t *near_operand(struct cpu *cpu, uint64_t linear, unsigned n,
                                           enum access access, uint64_t *physical)
{
    const struct tlb_entry *e = tlb_here(cpu, linear, access);
    const struct uarch *u = cpu->uarch;
    unsigned offset = linear & (PAGE_BYTES - 1);
    *physical = e->physical + offset;
    if (unlikely(e->tag != (linear >> PAGE_SHIFT_4K) + 1 || !e->host ||
                 (n > 1 && ((linear ^ (linear + n - 1)) >> u->line_shift)) ||
                 !uarch_in_l1(u, *physical)))
        return NULL;
    return e->host + offset;
}

static always_inline bool load_near(struct cpu *cpu, uint64_t linear, unsigned n, uint64_t *v)
{
    uint64_t physical;
    const uint8_t *host = near_operand(cpu, linear, n, ACCESS_READ, &physical);
    if (unlikely(!host))
        return false;
    uarch_hit(cpu, cpu->here, linear);
    *v = host_get(host, n);
    return true;
}
static always_inline bool store_near(struct cpu *cpu, uint64_t linear, unsigned n, uint64_t v)
{
    uint64_t physical;
    uint8_t *host = near_operand(cpu, linear, n, ACCESS_WRITE, &physical);
    if (unlikely(!host || exec_of(cpu)->code_pages[physical >> PAGE_SHIFT_4K]))
        return false;
    memcpy(host, &v, n);
    return true;
}

/* The same for any operand, whatever it takes. */
uint64_t load_far(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n);
void store_far(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, uint64_t v);

static always_inline uint64_t load(struct cpu *cpu, const struct op *op, uint64_t linear,
                                   unsigned n)
{
    uint64_t v;
    cpu->op = op;
    return load_near(cpu, linear, n, &v) ? v : load_far(cpu, op, linear, n);
}
static always_inline void store(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                                uint64_t v)
{
    cpu->op = op;
    if (!store_near(cpu, linear, n, v))
        store_far(cpu, op, linear, n, v);
}

/* Vectors, of any number of bytes up to 64. */
void load_bytes_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, void *out);
void store_bytes_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                      const void *in);

static always_inline void load_bytes(struct cpu *cpu, const struct op *op, uint64_t linear,
                                     unsigned n, void *out)
{
    uint64_t physical;
    const uint8_t *host = near_operand(cpu, linear, n, ACCESS_READ, &physical);
    cpu->op = op;
    if (unlikely(!host)) {
        load_bytes_slow(cpu, op, linear, n, out);
        return;
    }
    uarch_hit(cpu, cpu->here, linear);
    memcpy(out, host, n);
}
static always_inline void store_bytes(struct cpu *cpu, const struct op *op, uint64_t linear,
                                      unsigned n, const void *in)
{
    uint64_t physical;
    uint8_t *host = near_operand(cpu, linear, n, ACCESS_WRITE, &physical);
    cpu->op = op;
    if (unlikely(!host || exec_of(cpu)->code_pages[physical >> PAGE_SHIFT_4K]))
        store_bytes_slow(cpu, op, linear, n, in);
    else
        memcpy(host, in, n);
}

static always_inline void code_check(struct cpu *cpu, uint64_t physical, unsigned n)
{
    if (unlikely(exec_of(cpu)->code_pages[physical >> PAGE_SHIFT_4K]))
        blocks_written(cpu->machine, physical, n);
}

/* Read-modify-write: the page is checked for the write before the read. */
struct rmw {
    uint8_t *host; /* NULL: by span */
    uint64_t linear, physical;
    struct span span;
};
uint64_t rmw_begin(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                   struct rmw *m);
void rmw_end(struct cpu *cpu, struct rmw *m, unsigned n, uint64_t v);
/* NULL: by those two; nothing has changed. Otherwise it may be written as well: the line that has
 * just been read is there. */
static always_inline uint8_t *rmw_near(struct cpu *cpu, uint64_t linear, unsigned n)
{
    uint64_t physical;
    uint8_t *host = near_operand(cpu, linear, n, ACCESS_WRITE, &physical);
    if (unlikely(!host || exec_of(cpu)->code_pages[physical >> PAGE_SHIFT_4K]))
        return NULL;
    uarch_hit(cpu, cpu->here, linear);
    return host;
}

#endif
