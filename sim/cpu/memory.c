/* Data accesses of the interpreter that leave the fast path: TLB misses, line and page crossings,
 * devices, segments that are not flat. */
#include "sim/cpu/memory.h"
#include "sim/cpu/system.h"
#include "sim/dev/dev.h"

static struct tlb_entry lookup(struct cpu *cpu, uint64_t linear, enum access access, bool user)
{
    struct tlb_entry *e = tlb_slot(cpu, linear, access, user);
    if (e->tag != (linear >> PAGE_SHIFT_4K) + 1)
        e = tlb_fill(cpu, linear, access, user);
    return *e;
}

/* A non-canonical address is #SS for stack references, #GP otherwise (SDM vol. 1 "Canonical
 * Addressing"). Stack references that are not operands (PUSH...) have op->seg SEG_SS as well. */
static _Noreturn void not_canonical(struct cpu *cpu, const struct op *op)
{
    cpu_fault(cpu, op && op->seg == SEG_SS ? VEC_SS : VEC_GP, 0);
}

void span_open(struct cpu *cpu, struct span *sp, const struct op *op, uint64_t linear, unsigned n,
               enum access access, bool user)
{
    uint64_t last = linear + n - 1;
    if (cpu_64bit(cpu)) {
        if (!canonical(linear) || !canonical(last))
            not_canonical(cpu, op);
    } else {
        /* Outside 64-bit mode linear addresses are 32 bits and wrap around. */
        linear = (uint32_t)linear;
        last = (uint32_t)last;
    }
    unsigned room = PAGE_BYTES - (linear & (PAGE_BYTES - 1));
    sp->linear = linear;
    sp->n = n;
    sp->first = n < room ? n : room;
    sp->page[0] = lookup(cpu, linear, access, user);
    if (sp->first < n)
        sp->page[1] = lookup(cpu, last & ~(uint64_t)(PAGE_BYTES - 1), access, user);
    debug_data_access(cpu, linear, n, access == ACCESS_WRITE);
}

static inline void watch(struct cpu *cpu, uint64_t linear, uint64_t physical, unsigned n,
                         bool write, bool device)
{
    if (unlikely(cpu->watch.on))
        watch_access(cpu, linear, physical, n, write, device);
}

/* The model sees each line once. */
static void span_timing(struct cpu *cpu, const struct span *sp, bool write)
{
    uint64_t line = 1ULL << cpu->uarch->line_shift;
    for (unsigned done = 0; done < sp->n;) {
        uint64_t linear = sp->linear + done;
        const struct tlb_entry *e = &sp->page[done >= sp->first];
        uint64_t physical = e->physical + (linear & (PAGE_BYTES - 1));
        if (!e->host) {
            uarch_device_access(cpu);
        } else if (write) {
            uarch_store(cpu, linear, physical);
        } else if (done == 0) {
            uarch_load(cpu, linear, physical);
        } else {
            /* A split load is one load: its second line moves the caches but counts no hit. */
            uint64_t hits = cpu->total[cpu->cpl != 0][EV_L1_HIT];
            uint64_t misses = cpu->total[cpu->cpl != 0][EV_L1_MISS];
            uarch_load(cpu, linear, physical);
            cpu->total[cpu->cpl != 0][EV_L1_HIT] = hits;
            cpu->total[cpu->cpl != 0][EV_L1_MISS] = misses;
            cpu->last_load.linear = sp->linear;
        }
        if (done == 0)
            watch(cpu, linear, physical, sp->n, write, !e->host);
        done += line - (linear & (line - 1));
    }
}

/* A device must see the time of this very instruction, and what it does to interrupts and deadlines
 * must be looked at before the next. */
static void before_device(struct cpu *cpu)
{
    exec_stop_after(cpu);
}

static uint64_t part_read(struct cpu *cpu, const struct tlb_entry *e, unsigned offset, unsigned n)
{
    if (e->host)
        return host_get(e->host + offset, n);
    before_device(cpu);
    if ((n & (n - 1)) == 0)
        return machine_read(cpu, e->physical + offset, n);
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v |= machine_read(cpu, e->physical + offset + i, 1) << (8 * i);
    return v;
}

static void part_write(struct cpu *cpu, const struct tlb_entry *e, unsigned offset, unsigned n,
                       uint64_t v)
{
    if (e->host) {
        memcpy(e->host + offset, &v, n);
        code_check(cpu, e->physical + offset, n);
        return;
    }
    before_device(cpu);
    if ((n & (n - 1)) == 0) {
        machine_write(cpu, e->physical + offset, n, v);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        machine_write(cpu, e->physical + offset + i, 1, v >> (8 * i) & 0xff);
}

uint64_t span_read(struct cpu *cpu, const struct span *sp)
{
    span_timing(cpu, sp, false);
    uint64_t v = part_read(cpu, &sp->page[0], sp->linear & (PAGE_BYTES - 1), sp->first);
    if (sp->first < sp->n)
        v |= part_read(cpu, &sp->page[1], 0, sp->n - sp->first) << (8 * sp->first);
    return v;
}

void span_write(struct cpu *cpu, const struct span *sp, uint64_t value)
{
    span_timing(cpu, sp, true);
    part_write(cpu, &sp->page[0], sp->linear & (PAGE_BYTES - 1), sp->first, value);
    if (sp->first < sp->n)
        part_write(cpu, &sp->page[1], 0, sp->n - sp->first, value >> (8 * sp->first));
}

/* A device sees quadwords. */
static unsigned piece(unsigned left)
{
    return left < 8 ? left : 8;
}
static void part_read_bytes(struct cpu *cpu, const struct tlb_entry *e, unsigned offset, unsigned n,
                            uint8_t *out)
{
    for (unsigned i = 0; i < n; i += 8) {
        uint64_t v = part_read(cpu, e, offset + i, piece(n - i));
        memcpy(out + i, &v, piece(n - i));
    }
}
static void part_write_bytes(struct cpu *cpu, const struct tlb_entry *e, unsigned offset,
                             unsigned n, const uint8_t *in)
{
    for (unsigned i = 0; i < n; i += 8)
        part_write(cpu, e, offset + i, piece(n - i), host_get(in + i, piece(n - i)));
}

void span_read_bytes(struct cpu *cpu, const struct span *sp, void *out)
{
    span_timing(cpu, sp, false);
    part_read_bytes(cpu, &sp->page[0], sp->linear & (PAGE_BYTES - 1), sp->first, out);
    if (sp->first < sp->n)
        part_read_bytes(cpu, &sp->page[1], 0, sp->n - sp->first, (uint8_t *)out + sp->first);
}

void span_write_bytes(struct cpu *cpu, const struct span *sp, const void *in)
{
    span_timing(cpu, sp, true);
    part_write_bytes(cpu, &sp->page[0], sp->linear & (PAGE_BYTES - 1), sp->first, in);
    if (sp->first < sp->n)
        part_write_bytes(cpu, &sp->page[1], 0, sp->n - sp->first, (const uint8_t *)in + sp->first);
}

void span_write_masked(struct cpu *cpu, const struct span *sp, const uint8_t *in,
                       const uint8_t *selected)
{
    span_timing(cpu, sp, true);
    for (unsigned i = 0; i < sp->n; i++)
        if (selected[i])
            part_write(cpu, &sp->page[i >= sp->first], (sp->linear + i) & (PAGE_BYTES - 1), 1,
                       in[i]);
}

void load_bytes_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, void *out)
{
    struct span sp;
    span_open(cpu, &sp, op, linear, n, ACCESS_READ, cpu->cpl == 3);
    span_read_bytes(cpu, &sp, out);
}

void store_bytes_slow(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n,
                      const void *in)
{
    struct span sp;
    span_open(cpu, &sp, op, linear, n, ACCESS_WRITE, cpu->cpl == 3);
    span_write_bytes(cpu, &sp, in);
}

/* In our memory, and within one cache line. */
static bool tlb_hit(struct cpu *cpu, const struct tlb_entry *e, uint64_t linear, unsigned n)
{
    unsigned shift = cpu->uarch->line_shift;
    return e->tag == (linear >> PAGE_SHIFT_4K) + 1 && e->host &&
           ((linear ^ (linear + n - 1)) >> shift) == 0;
}

uint64_t load_far(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n)
{
    cpu->op = op;
    const struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_READ, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        uarch_load(cpu, linear, e->physical + offset);
        watch(cpu, linear, e->physical + offset, n, false, false);
        return host_get(e->host + offset, n);
    }
    struct span sp;
    span_open(cpu, &sp, op, linear, n, ACCESS_READ, cpu->cpl == 3);
    return span_read(cpu, &sp);
}

void store_far(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, uint64_t v)
{
    cpu->op = op;
    const struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_WRITE, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        uarch_store(cpu, linear, e->physical + offset);
        watch(cpu, linear, e->physical + offset, n, true, false);
        memcpy(e->host + offset, &v, n);
        code_check(cpu, e->physical + offset, n);
        return;
    }
    struct span sp;
    span_open(cpu, &sp, op, linear, n, ACCESS_WRITE, cpu->cpl == 3);
    span_write(cpu, &sp, v);
}

/* Does it lock the bus: a LOCK prefix, or XCHG? Read again where it stands, for op does not say. */
static bool locks(struct cpu *cpu, const struct op *op)
{
    enum { LOCK = 0xf0, REPNE = 0xf2, REP = 0xf3, XCHG = 0x86, REX = 0x40 };
    uint64_t at = (cpu_64bit(cpu) ? 0 : cpu->seg[SEG_CS].base) + op->rip;
    static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, REPNE, REP};
    uint8_t byte;
    while (cpu_read_linear(cpu, at++, &byte, 1)) {
        if (byte == LOCK || (byte & ~1) == XCHG)
            return true;
        if (!memchr(prefixes, byte, sizeof prefixes) && (!cpu_64bit(cpu) || (byte & 0xf0) != REX))
            return false;
    }
    return false;
}

/* SDM vol. 3 "Features to Disable Bus Locks", vol. 4 MSR_TEST_CTRL[29]: a locked access to two
 * cache lines is #AC(0), in every ring. */
static void check_split_lock(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n)
{
    unsigned shift = cpu->uarch->line_shift;
    if ((cpu->system->test_ctrl & TEST_CTRL_SPLIT_LOCK) &&
        ((linear ^ (linear + n - 1)) >> shift) != 0 && locks(cpu, op))
        cpu_fault(cpu, VEC_AC, 0);
}

uint64_t rmw_begin(struct cpu *cpu, const struct op *op, uint64_t linear, unsigned n, struct rmw *m)
{
    cpu->op = op;
    const struct tlb_entry *e = tlb_slot(cpu, linear, ACCESS_WRITE, cpu->cpl == 3);
    if (tlb_hit(cpu, e, linear, n)) {
        unsigned offset = linear & (PAGE_BYTES - 1);
        m->host = e->host + offset;
        m->linear = linear;
        m->physical = e->physical + offset;
        uarch_load(cpu, linear, m->physical);
        watch(cpu, linear, m->physical, n, false, false);
        return host_get(m->host, n);
    }
    m->host = NULL;
    span_open(cpu, &m->span, op, linear, n, ACCESS_WRITE, cpu->cpl == 3);
    check_split_lock(cpu, op, linear, n);
    return span_read(cpu, &m->span);
}

void rmw_end(struct cpu *cpu, struct rmw *m, unsigned n, uint64_t v)
{
    if (unlikely(cpu->watch.on))
        cpu->watch.locked = locks(cpu, cpu->op);
    if (!m->host) {
        span_write(cpu, &m->span, v);
        return;
    }
    uarch_store(cpu, m->linear, m->physical);
    watch(cpu, m->linear, m->physical, n, true, false);
    memcpy(m->host, &v, n);
    code_check(cpu, m->physical, n);
}

uint64_t mem_read(struct cpu *cpu, uint64_t linear, unsigned n, bool user)
{
    struct span sp;
    span_open(cpu, &sp, NULL, linear, n, ACCESS_READ, user);
    return span_read(cpu, &sp);
}

void mem_write(struct cpu *cpu, uint64_t linear, unsigned n, uint64_t value, bool user)
{
    struct span sp;
    span_open(cpu, &sp, NULL, linear, n, ACCESS_WRITE, user);
    span_write(cpu, &sp, value);
}

/* SDM vol. 3 "Limit Checking", "Type Checking", "Null Segment Selector Checking"; vol. 2
 * "Interrupt 17 - Alignment Check Exception". */
uint64_t segment_linear(struct cpu *cpu, unsigned seg, uint64_t offset, unsigned n,
                        enum access access)
{
    const struct segment *s = &cpu->seg[seg];
    unsigned vector = seg == SEG_SS ? VEC_SS : VEC_GP;
    uint64_t linear;
    if (cpu_64bit(cpu)) {
        linear = offset + (seg == SEG_FS || seg == SEG_GS ? s->base : 0);
        if (!canonical(linear) || !canonical(linear + n - 1))
            cpu_fault(cpu, vector, 0);
    } else {
        if (cpu->cr0 & CR0_PE) {
            bool code = s->attr & DESC_CODE;
            if (!(s->attr & DESC_P) || (code && !(s->attr & DESC_RW)))
                cpu_fault(cpu, vector, 0);
            if (access == ACCESS_WRITE && (code || !(s->attr & DESC_RW)))
                cpu_fault(cpu, vector, 0);
        }
        if (!segment_limit_ok(s, offset, n))
            cpu_fault(cpu, vector, 0);
        linear = (uint32_t)(s->base + offset);
    }
    /* Of x87's larger operands, 80 bits have the boundary of 8 bytes, an environment that of its
     * words. Vectors have that of quadwords: what must be aligned on more asks for it itself, by
     * #GP. */
    unsigned boundary = n == 10 || n % 16 == 0 ? 8 : n & -n;
    if ((exec_of(cpu)->mode & MODE_ALIGN) && (linear & (boundary - 1)) && cpu->cpl == 3)
        cpu_fault(cpu, VEC_AC, 0);
    return linear;
}
