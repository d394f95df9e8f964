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

uint64_t load_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n);
void store_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, uint64_t v);

/* Offset in a segment to linear address with all segmentation checks; offset is already masked. */
uint64_t segment_linear(struct cpu *cpu, unsigned seg, uint64_t offset, unsigned n,
                        enum access access);

static inline struct tlb_entry *tlb_slot(struct cpu *cpu, uint64_t linear, enum access access,
                                         bool user)
{
    return &cpu->tlb->e[user][access][(linear >> PAGE_SHIFT_4K) & (TLB_ENTRIES - 1)];
}

/* In our memory, and within one cache line: the fast path. */
static inline bool tlb_hit(struct cpu *cpu, const struct tlb_entry *e, uint64_t linear, unsigned n)
{
    unsigned shift = cpu->uarch->line_shift;
    return likely(e->tag == (linear >> PAGE_SHIFT_4K) + 1 && e->host &&
                  ((linear ^ (linear + n - 1)) >> shift) == 0);
}

static inline uint64_t host_get(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    memcpy(&v, p, n);
    return v;
}

static always_inline uint64_t load(struct cpu *cpu, const struct op *op, uint64_t linear,
                                   unsigned n)
{
    cpu->op = op;
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_READ, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        uarch_load(cpu, linear, e->physical + offset);
        return host_get(e->host + offset, n);
    }
    return load_slow(cpu, op, linear, n);
}

static always_inline void code_check(struct cpu *cpu, uint64_t physical, unsigned n)
{
    if (unlikely(exec_of(cpu)->code_pages[physical >> PAGE_SHIFT_4K]))
        blocks_written(cpu->machine, physical, n);
}

static always_inline void store(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                                uint64_t v)
{
    cpu->op = op;
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_WRITE, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        uarch_store(cpu, linear, e->physical + offset);
        memcpy(e->host + offset, &v, n);
        code_check(cpu, e->physical + offset, n);
        return;
    }
    store_slow(cpu, op, linear, n, v);
}

/* Vectors, of any number of bytes up to 64. */
void load_bytes_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, void *out);
void store_bytes_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                      const void *in);

static always_inline void load_bytes(struct cpu *cpu, const struct op *op, uint64_t linear,
                                     unsigned n, void *out)
{
    cpu->op = op;
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_READ, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        uarch_load(cpu, linear, e->physical + offset);
        memcpy(out, e->host + offset, n);
        return;
    }
    load_bytes_slow(cpu, op, linear, n, out);
}

static always_inline void store_bytes(struct cpu *cpu, const struct op *op, uint64_t linear,
                                      unsigned n, const void *in)
{
    cpu->op = op;
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_WRITE, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        uarch_store(cpu, linear, e->physical + offset);
        memcpy(e->host + offset, in, n);
        code_check(cpu, e->physical + offset, n);
        return;
    }
    store_bytes_slow(cpu, op, linear, n, in);
}

/* Read-modify-write: the page is checked for the write before the read. */
struct rmw {
    uint8_t *host; /* NULL: by span */
    uint64_t linear, physical;
    struct span span;
};
uint64_t rmw_begin_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                        struct rmw *m);

static always_inline uint64_t rmw_begin(struct cpu *cpu, const struct op *op, uint64_t linear,
                                        unsigned n, struct rmw *m)
{
    cpu->op = op;
    struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_WRITE, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        m->host = e->host + offset;
        m->linear = linear;
        m->physical = e->physical + offset;
        uarch_load(cpu, linear, m->physical);
        return host_get(m->host, n);
    }
    return rmw_begin_slow(cpu, op, linear, n, m);
}
static always_inline void rmw_end(struct cpu *cpu, struct rmw *m, unsigned n, uint64_t v)
{
    if (likely(m->host)) {
        uarch_store(cpu, m->linear, m->physical);
        memcpy(m->host, &v, n);
        code_check(cpu, m->physical, n);
        return;
    }
    span_write(cpu, &m->span, v);
}

#endif
