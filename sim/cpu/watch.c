/*
 * One instruction of which all is wanted, for instruction-based sampling: what it accessed, where
 * and how long that took, how long it was in flight. Nothing is noted of any other, and an access
 * asks for it only where it has left the fast path; so that the watched one's does, every line is
 * made to be looked up once, which finds it where it was.
 */
#include "sim/cpu/memory.h"
#include "sim/cpu/system.h"
#include "sim/cpu/window.h"

#include <string.h>

void cpu_watch(struct cpu *cpu)
{
    struct uarch *u = cpu->uarch;
    memset(u->l1_mru, 0, ((size_t)u->l1_set_mask + 1) * sizeof *u->l1_mru);
    cpu->watch = (struct watch){.on = true};
}

/* How much larger than 4 KiB, in levels of the paging structures that are left out. */
static unsigned page_of(struct cpu *cpu, uint64_t linear, enum access access)
{
    struct translation t;
    struct fault f;
    return page_translate(cpu, linear, access, AS_PEEK, &t, &f) ? t.larger : 0;
}

void watch_access(struct cpu *cpu, uint64_t linear, uint64_t physical, unsigned bytes, bool write,
                  bool device)
{
    struct watch *w = &cpu->watch;
    bool first = !w->load && !w->store;
    *(write ? &w->store : &w->load) = true;
    if (!first)
        return;
    unsigned shift = cpu->uarch->line_shift;
    w->linear = linear;
    w->physical = physical;
    w->bytes = bytes;
    w->device = device;
    w->split = (linear ^ (linear + bytes - 1)) >> shift;
    w->level = device ? 0 : write ? cpu->uarch->store_level : cpu->last_load.level;
    w->latency = device || write ? 0 : cpu->last_load.latency;
    w->page = page_of(cpu, linear, write ? ACCESS_WRITE : ACCESS_READ);
}

/* ---- Fetches ---- */

static uint64_t fetch_bytes(const struct cpu *cpu)
{
    unsigned bytes = cpu->profile->uarch.fetch_bytes;
    return bytes ? bytes : FETCH_BYTES;
}

uint64_t cpu_fetches(struct cpu *cpu)
{
    struct uarch *u = cpu->uarch;
    uint64_t piece = fetch_bytes(cpu), n = u->n_blocks - u->fetched_to;
    for (uint64_t i = u->n_blocks - (n < FETCHES_KNOWN ? n : FETCHES_KNOWN); i < u->n_blocks; i++) {
        const struct block *b = u->log[i % WINDOW_MAX];
        u->fetched += (b->rip + b->bytes - 1) / piece - b->rip / piece + 1;
    }
    u->fetched_to = u->n_blocks;
    return u->fetched;
}

/* A block's first fetch begins where it begins; the others are aligned, and bring the instruction
 * whose last byte is in them. */
static void note_fetch(struct cpu *cpu, const struct block *b, unsigned index, uint64_t base)
{
    struct watch *w = &cpu->watch;
    uint64_t piece = fetch_bytes(cpu), rip = b->op[index].rip, last = b->op[index + 1].rip - 1;
    w->entered = index == 0;
    w->fetched = index == 0 || last / piece != (rip - 1) / piece;
    uint64_t at = index == 0 ? b->rip : last / piece * piece, past = at - b->rip;
    uint64_t room = PAGE_BYTES - (b->physical & (PAGE_BYTES - 1));
    w->fetch_linear = at + base;
    w->fetch_physical = past < room ? b->physical + past : b->second + past - room;
    w->fetch_level = uarch_fetch_missed(cpu->uarch, w->fetch_physical);
    w->fetch_page = page_of(cpu, w->fetch_linear, ACCESS_FETCH);
}

void watch_retired(struct cpu *cpu, const struct block *b, unsigned index)
{
    struct watch *w = &cpu->watch;
    uint64_t base = cpu_64bit(cpu) ? 0 : cpu->seg[SEG_CS].base;
    w->on = false;
    w->retired = true;
    w->rip = b->op[index].rip + base;
    w->next = cpu->rip + base;
    window_flight(cpu, b, index, &w->dispatched, &w->completed);
    note_fetch(cpu, b, index, base);
}
