/*
 * The timing model: what memory accesses and branches cost, and which events they make. It is
 * deterministic and plausible, not cycle-accurate.
 *
 * Caches are set-associative with true LRU, on physical lines. A load that hits L1D costs nothing
 * here; one that goes further is there its level's latency after it began (sim/cpu/window.h says
 * when), a line from memory needs one of some places, and a streamer fetches ahead. A store
 * allocates its line like a load but never stalls: a store buffer of unlimited depth hides it. A
 * page walk costs one L2 latency (without an L2, one L1D latency) for each level of the paging
 * structures.
 *
 * Branches: two-bit saturating counters indexed by the address for conditional ones, the last
 * target for indirect ones, a stack of call sites for returns. Direct jumps and calls are always
 * predicted; far transfers are not predicted at all, their cost is in the instruction's latency.
 */
#include "sim/cpu/uarch.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cpu/window.h"
#include "sim/dev/dev.h"

#define TARGET_BITS      9
#define TARGETS          (1U << TARGET_BITS)
#define PAGE_WALK_LEVELS 5
/* A misaligned access touches two lines, perhaps of two pages. */
#define LINES_PER_ACCESS 2
#define PAGE_4K          4096

#define WEAKLY_NOT_TAKEN 1

/* tag[set * ways + i] holds line + 1, the most recently used way first; 0: empty. */
struct cache {
    uint64_t *tag;
    uint32_t ways, set_mask;
};

/* The streamer follows accesses to neighbouring lines of a page. */
#define STREAMS         32
#define LINES_A_REQUEST 2
struct stream {
    uint64_t page;      /* + 1; 0: none */
    int16_t last, next; /* lines of it: accessed last, to be fetched next */
};
/* Lines on their way, by their lowest bits. */
#define COMING 64
struct coming {
    uint64_t line; /* + 1 */
    uint64_t done;
};

struct model {
    struct cache l1i, l1d, l2, llc;
    uint64_t busy[MAX_MISSES]; /* each place for a line on its way: until when */
    unsigned place;            /* they are taken in turn: the next */
    struct stream stream[STREAMS];
    struct coming coming[COMING];
    unsigned walk_level_cycles;
    struct {
        uint64_t rip, target;
    } indirect[TARGETS];
};

/* False: no memory. */
static bool cache_init(struct cache *c, const struct profile_cache *p)
{
    if (p->size == 0)
        return true;
    uint32_t sets = p->size / (p->ways * p->line);
    c->ways = p->ways;
    c->set_mask = sets - 1;
    c->tag = calloc((size_t)sets * c->ways, sizeof *c->tag);
    return c->tag != NULL;
}

static void cache_clear(struct cache *c)
{
    if (c->tag)
        memset(c->tag, 0, ((size_t)c->set_mask + 1) * c->ways * sizeof *c->tag);
}

/* Looks line (physical >> shift, plus 1) up and makes it the most recently used way of its set,
 * which evicts the least recently used one when it was absent. Returns whether it was there. */
static bool cache_touch(struct cache *c, uint64_t line)
{
    uint64_t *set = c->tag + ((line - 1) & c->set_mask) * c->ways, *end = set + c->ways;
    /* Each way takes what was in the one before it, up to the one that held the line. */
    for (uint64_t moved = line; set < end; set++) {
        uint64_t was = *set;
        *set = moved;
        if (was == line)
            return true;
        moved = was;
    }
    return false;
}

/* The ways behind it move up; its set has one free at the end. Returns whether it was there. */
static bool cache_drop(struct cache *c, uint64_t line)
{
    if (!c->tag)
        return false;
    uint64_t *set = c->tag + ((line - 1) & c->set_mask) * c->ways, *end = set + c->ways;
    for (; set < end && *set != line; set++)
        ;
    if (set == end)
        return false;
    memmove(set, set + 1, (end - set - 1) * sizeof *set);
    end[-1] = 0;
    return true;
}

struct uarch *uarch_new(const struct profile *p)
{
    struct uarch *u = calloc(1, sizeof *u);
    struct model *m = calloc(1, sizeof *m);
    if (!u || !m) {
        free(u);
        free(m);
        return NULL;
    }
    u->profile = p;
    u->model = m;
    bool caches = cache_init(&m->l1i, &p->uarch.l1i) && cache_init(&m->l1d, &p->uarch.l1d) &&
                  cache_init(&m->l2, &p->uarch.l2) && cache_init(&m->llc, &p->uarch.llc);
    u->l1_set_mask = m->l1d.set_mask;
    u->l1i_tag = m->l1i.tag;
    u->l1i_ways = m->l1i.ways;
    u->l1i_set_mask = m->l1i.set_mask;
    u->line_shift = __builtin_ctz(p->uarch.l1d.line);
    u->l1_latency = p->uarch.l1d.latency;
    u->l1_mru = calloc((size_t)u->l1_set_mask + 1, sizeof *u->l1_mru);
    u->taken_mask = (1ULL << p->uarch.predictor_bits) - 1;
    u->taken = malloc(u->taken_mask + 1);
    if (!caches || !u->l1_mru || !u->taken) {
        uarch_free(u);
        return NULL;
    }

    u->window = window_new(p);
    if (!u->window) {
        uarch_free(u);
        return NULL;
    }
    m->walk_level_cycles = p->uarch.l2.size ? p->uarch.l2.latency : p->uarch.l1d.latency;
    /* A line may find all places taken by lines that came there as late as they could. */
    uint64_t worst = (p->uarch.misses ? 3ULL : 1ULL) * p->uarch.memory_latency +
                     PAGE_WALK_LEVELS * m->walk_level_cycles;
    if (worst < p->uarch.lat_io)
        worst = p->uarch.lat_io;
    u->max_access_slots = LINES_PER_ACCESS * worst * p->uarch.retire_width;
    u->max_branch_slots = (uint64_t)p->uarch.mispredict_penalty * p->uarch.retire_width;
    uarch_reset(u);
    return u;
}

void uarch_free(struct uarch *u)
{
    if (!u)
        return;
    struct model *m = u->model;
    window_free(u->window);
    free(m->l1i.tag);
    free(m->l1d.tag);
    free(m->l2.tag);
    free(m->llc.tag);
    free(u->taken);
    free(m);
    free(u->l1_mru);
    free(u);
}

void uarch_reset(struct uarch *u)
{
    struct model *m = u->model;
    cache_clear(&m->l1i);
    u->fetches++;
    cache_clear(&m->l1d);
    cache_clear(&m->l2);
    cache_clear(&m->llc);
    memset(u->l1_mru, 0, ((size_t)u->l1_set_mask + 1) * sizeof *u->l1_mru);
    memset(u->taken, WEAKLY_NOT_TAKEN, u->taken_mask + 1);
    memset(m->indirect, 0, sizeof m->indirect);
    memset(u->call_site, 0, sizeof u->call_site);
    u->call_depth = 0;
    memset(m->busy, 0, sizeof m->busy);
    m->place = 0;
    memset(m->stream, 0, sizeof m->stream);
    memset(m->coming, 0, sizeof m->coming);
}

enum level { LEVEL_L1 = 1, LEVEL_L2, LEVEL_LLC, LEVEL_MEMORY };

/* Finds the level below L1 that holds the line and brings it into all levels above. The last level
 * there is (LLC, else L2) makes the architectural LLC events, by loads, stores and instruction
 * fetches alike (SDM vol. 3 "Pre-defined Architectural Performance Events": "each request ... that
 * references a cache line in the last level cache"). */
static enum level fetch_below(struct cpu *cpu, uint64_t line)
{
    struct model *m = cpu->uarch->model;
    bool l2_is_last = !m->llc.tag;
    if (m->l2.tag) {
        bool in_l2 = cache_touch(&m->l2, line);
        if (l2_is_last) {
            cpu_event(cpu, EV_LLC_REF, 1);
            cpu_event(cpu, in_l2 ? EV_LLC_HIT : EV_LLC_MISS, 1);
        }
        if (in_l2)
            return LEVEL_L2;
    }
    if (!l2_is_last) {
        bool in_llc = cache_touch(&m->llc, line);
        cpu_event(cpu, EV_LLC_REF, 1);
        cpu_event(cpu, in_llc ? EV_LLC_HIT : EV_LLC_MISS, 1);
        if (in_llc)
            return LEVEL_LLC;
    }
    return LEVEL_MEMORY;
}

/* The same for data, from L1D on. */
static enum level fetch_line(struct cpu *cpu, uint64_t line)
{
    struct uarch *u = cpu->uarch;
    struct model *m = u->model;
    bool in_l1 = cache_touch(&m->l1d, line);
    u->l1_mru[(line - 1) & u->l1_set_mask] = line;
    return in_l1 ? LEVEL_L1 : fetch_below(cpu, line);
}

static unsigned level_latency(const struct profile *p, enum level level)
{
    switch (level) {
    case LEVEL_L1:
        return p->uarch.l1d.latency;
    case LEVEL_L2:
        return p->uarch.l2.latency;
    case LEVEL_LLC:
        return p->uarch.llc.latency;
    default:
        return p->uarch.memory_latency;
    }
}

/* When a line that is asked for at start is there. */
static uint64_t arrival(const struct uarch *u, uint64_t line, enum level level, uint64_t start)
{
    struct model *m = u->model;
    uint64_t slots = (uint64_t)level_latency(u->profile, level) * u->profile->uarch.retire_width;
    const struct coming *c = &m->coming[line % COMING];
    if (level != LEVEL_MEMORY)
        return c->line == line && c->done > start + slots ? c->done : start + slots;
    if (!u->profile->uarch.misses)
        return start + slots;
    uint64_t *place = &m->busy[m->place];
    m->place = m->place + 1 < u->profile->uarch.misses ? m->place + 1 : 0;
    *place = (*place > start ? *place : start) + slots;
    return *place;
}

/* Brings a line into L2 and what is below it, if it is not there. No demand: it counts as neither
 * reference nor miss (SDM vol. 3 "Pre-defined Architectural Performance Events" lets "cache line
 * fills due to other hardware-prefetchers" be excluded). False: not now, all places are taken. */
static bool prefetch(const struct uarch *u, uint64_t line, uint64_t start)
{
    struct model *m = u->model;
    uint64_t latency = (uint64_t)u->profile->uarch.memory_latency * u->profile->uarch.retire_width;
    if (m->busy[m->place] > start + latency)
        return false;
    if (cache_touch(&m->l2, line))
        return true;
    bool in_llc = m->llc.tag && cache_touch(&m->llc, line);
    m->coming[line % COMING] = (struct coming){
        .line = line, .done = arrival(u, line, in_llc ? LEVEL_LLC : LEVEL_MEMORY, start)};
    return true;
}

/* An access missed L1D: two neighbouring lines of a page make a stream, upwards or downwards, which
 * is fetched ahead as far as the page goes. */
static void train(const struct uarch *u, uint64_t line, uint64_t start)
{
    struct model *m = u->model;
    unsigned page_lines = PAGE_4K >> u->line_shift;
    if (!u->profile->uarch.prefetch || !m->l2.tag)
        return;
    uint64_t page = (line - 1) / page_lines + 1;
    int at = (line - 1) % page_lines, ahead = u->profile->uarch.prefetch;
    struct stream *s = &m->stream[page % STREAMS];
    int step = at - s->last;
    if (s->page != page || (step != 1 && step != -1)) {
        *s = (struct stream){.page = page, .last = at, .next = at};
        return;
    }
    s->last = at;
    if ((s->next - at) * step <= 0) /* it has caught up, or turned round */
        s->next = at + step;
    for (unsigned i = 0; i < LINES_A_REQUEST; i++) {
        if (s->next < 0 || s->next >= (int)page_lines || (s->next - at) * step > ahead ||
            !prefetch(u, line + s->next - at, start))
            return;
        s->next += step;
    }
}

void uarch_load_slow(struct cpu *cpu, uint64_t linear, uint64_t physical)
{
    const struct uarch *u = cpu->uarch;
    const struct profile *p = u->profile;
    uint64_t line = (physical >> u->line_shift) + 1;
    enum level level = fetch_line(cpu, line);
    cpu->last_load.linear = linear;
    cpu->last_load.level = level;
    cpu->last_load.latency = p->uarch.l1d.latency;
    if (level == LEVEL_L1) {
        cpu_event(cpu, EV_L1_HIT, 1);
        return;
    }
    cpu_event(cpu, EV_L1_MISS, 1);
    if (p->uarch.l2.size)
        cpu_event(cpu, level == LEVEL_L2 ? EV_L2_HIT : EV_L2_MISS, 1);
    struct access_time a;
    uint64_t start = window_start(cpu, &a);
    if (a.op == NOT_IN_FLIGHT) /* what a hit takes has passed or is overlapped */
        start -= (uint64_t)p->uarch.l1d.latency * p->uarch.retire_width;
    uint64_t done = arrival(u, line, level, start);
    cpu->last_load.latency = (done - start) / p->uarch.retire_width;
    /* What had to wait for a place, or for its line, is seen by the streamer when it goes on. */
    train(u, line, done - (uint64_t)level_latency(p, level) * p->uarch.retire_width);
    window_finish(cpu, &a, done);
}

/* Instructions come through L2 and LLC like data. What is fetched ahead hides nothing of it. */
void uarch_fetch(struct cpu *cpu, uint64_t physical, unsigned bytes)
{
    struct uarch *u = cpu->uarch;
    struct model *m = u->model;
    const struct profile *p = u->profile;
    if (!m->l1i.tag)
        return;
    uint64_t line = (physical >> u->line_shift) + 1;
    uint64_t room = PAGE_4K - physical % PAGE_4K; /* a page's; the rest is not looked up */
    uint64_t last = ((physical + (bytes < room ? bytes : room) - 1) >> u->line_shift) + 1;
    for (; line <= last; line++) {
        if (cache_touch(&m->l1i, line))
            continue;
        enum level level = fetch_below(cpu, line);
        u->fetch_miss[u->fetches++ % FETCH_MISSES] =
            (struct fetch_miss){.block = u->n_blocks, .line = line, .level = level};
        uint64_t slots =
            (uint64_t)(level_latency(p, level) - p->uarch.l1i.latency) * p->uarch.retire_width;
        cpu_spend(cpu, EV_SLOTS_FRONTEND, slots);
        cpu_event(cpu, EV_SLOTS_FETCH_LATENCY, slots);
    }
}

unsigned uarch_fetch_missed(const struct uarch *u, uint64_t physical)
{
    uint64_t line = (physical >> u->line_shift) + 1;
    for (unsigned i = 0; i < FETCH_MISSES; i++)
        if (u->fetch_miss[i].line == line && u->fetch_miss[i].block == u->n_blocks - 1)
            return u->fetch_miss[i].level;
    return 0;
}

unsigned uarch_latency(const struct uarch *u, unsigned level)
{
    return level_latency(u->profile, level);
}

void uarch_store_slow(struct cpu *cpu, uint64_t linear, uint64_t physical)
{
    (void)linear;
    uint64_t line = (physical >> cpu->uarch->line_shift) + 1;
    cpu->uarch->store_level = fetch_line(cpu, line);
    if (cpu->uarch->store_level == LEVEL_L1)
        return;
    struct access_time a;
    window_retires(cpu, &a);
    train(cpu->uarch, line, a.retires);
}

/* SDM vol. 2 "CLFLUSH—Flush Cache Line": "Invalidates from every level of the cache hierarchy in
 * the cache coherence domain". */
void uarch_flush(struct cpu *cpu, uint64_t physical)
{
    const struct machine *machine = cpu->machine;
    for (unsigned i = 0; i < machine->n_cpus; i++) {
        struct uarch *u = machine->cpus[i]->uarch;
        struct model *m = u->model;
        uint64_t line = (physical >> u->line_shift) + 1;
        uint64_t *used_last = &u->l1_mru[(line - 1) & u->l1_set_mask];
        if (*used_last == line)
            *used_last = 0;
        cache_drop(&m->l1d, line);
        cache_drop(&m->l2, line);
        cache_drop(&m->llc, line);
        if (cache_drop(&m->l1i, line))
            u->fetches++;
    }
}

void uarch_device_access(struct cpu *cpu)
{
    cpu_wait_memory(cpu, (uint64_t)cpu->profile->uarch.lat_io * cpu->profile->uarch.retire_width);
}

void uarch_tlb_miss(struct cpu *cpu, unsigned levels, bool fetch)
{
    const struct model *m = cpu->uarch->model;
    unsigned width = cpu->profile->uarch.retire_width;
    cpu->last_load.dtlb_miss = true;
    cpu->watch.walk[fetch] = (uint64_t)levels * m->walk_level_cycles;
    struct access_time a;
    uint64_t start = window_start(cpu, &a);
    window_finish(cpu, &a, start + (uint64_t)levels * m->walk_level_cycles * width);
}

static bool predict_indirect(struct model *m, uint64_t rip, uint64_t target)
{
    unsigned i = (rip ^ (rip >> TARGET_BITS)) & (TARGETS - 1);
    bool right = m->indirect[i].rip == rip && m->indirect[i].target == target;
    m->indirect[i].rip = rip;
    m->indirect[i].target = target;
    return right;
}

bool uarch_branch(struct cpu *cpu, enum branch_kind kind, uint64_t rip, uint64_t target, bool taken)
{
    struct model *m = cpu->uarch->model;
    bool right = true;
    switch (kind) {
    case BR_JCC:
        return uarch_branch_conditional(cpu, rip, taken);
    case BR_JMP_IND:
        right = predict_indirect(m, rip, target);
        break;
    case BR_CALL_IND:
        right = predict_indirect(m, rip, target);
        /* fall through */
    case BR_CALL_REL:
        uarch_call(cpu->uarch, rip);
        break;
    case BR_RET:
        right = uarch_predicts_return(cpu->uarch, target);
        break;
    case BR_JMP_REL:
    case BR_FAR:
    case BR_INTERRUPT:
    case BR_EXCEPTION:
        break;
    }
    if (right)
        return false;
    uarch_mispredicted(cpu);
    return true;
}
