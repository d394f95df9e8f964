/*
 * Two clocks run over the instructions, both in slots: dispatch, at which an instruction can begin,
 * and retirement, which is cpu->now. Retirement is in order: each instruction takes its slots when
 * the one before it has, and not before it is done. Dispatch runs ahead of it, by what retirement
 * has waited (the lead), as far as the window reaches.
 *
 * What a block waits for its own results (not for memory) follows from the state of the window at
 * its begin alone: the lead, and when each register was ready. These states are numbered, and what
 * a block made of one is kept, in the block for the last one and in a table for others; so a loop
 * that has settled costs one compare.
 *
 * What goes beyond L1D is worked out when it happens, by clocks: an access begins when it is
 * dispatched and those accesses are done on which its address depends, and retirement waits until
 * it is done. In that wait the lead grows; it shrinks again when the instruction that waited is a
 * whole window back.
 */
#include "sim/cpu/window.h"

#include <stdlib.h>
#include <string.h>

/* Places in memory whose last store is still in flight. */
#define PLACES 4
struct state {
    uint32_t lead;           /* so that there is no padding: states are compared as memory */
    uint16_t age[N_RESULTS]; /* slots for which it has been ready; at most the lead */
    uint16_t place_age[PLACES];
    uint32_t place[PLACES]; /* 0: none */
};

#define STATES 4096
#define HASH   (2 * STATES)
#define KNOWN  4096

/* A transition that its block has no room for. */
struct known {
    const struct block *block;
    struct transition transition;
};

struct waited {
    uint32_t wait, starved;
    uint32_t dispatched, completed; /* so long before it retires */
};

/* Retirement waited for an access to memory. */
struct record {
    uint64_t block;    /* number of the block in the order in which they ran */
    uint64_t position; /* of the instruction, in slots of retiring instructions */
    uint64_t done;
    uint64_t waited;
    unsigned op;
};

/* From the begin of a block back: when what these results depend on is done. */
struct way {
    uint64_t number, done;
    uint32_t results;
};

struct window {
    int64_t size;
    unsigned width, forward;
    /* State i has the number uarch.empty + i. In state 0 nothing is in flight and all is ready. */
    struct state state[STATES];
    unsigned n_states;
    uint16_t hash[HASH]; /* index into state; 0: free */
    struct known known[KNOWN];
    /* The youngest last. */
    struct record record[WINDOW_MAX];
    uint64_t first_record, n_records; /* both count on */
    uint64_t waited;                  /* of all records */
    struct way way;
    /* What the first i instructions of a block wait that begins in a state. */
    const struct block *part_of;
    uint64_t part_from;
    struct waited part[BLOCK_MAX_OPS + 1];
};

static const struct record *record_at(const struct window *w, uint64_t i)
{
    return &w->record[i % WINDOW_MAX];
}

struct window *window_new(const struct profile *p)
{
    struct window *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->size = p->uarch.window;
    w->width = p->uarch.retire_width;
    w->forward = p->uarch.lat_forward * w->width;
    w->n_states = 1;
    return w;
}

void window_free(struct window *w)
{
    free(w);
}

void window_forget_blocks(struct cpu *cpu)
{
    struct uarch *u = cpu->uarch;
    cpu_fetches(cpu); /* theirs */
    u->drained_at = u->n_blocks;
    u->window->part_of = NULL;
    memset(u->window->known, 0, sizeof u->window->known);
}

/* ---- The numbers of states ---- */

static const struct state *state_of(const struct uarch *u, uint64_t number)
{
    return &u->window->state[number - u->empty];
}

static unsigned hash_of(const struct state *s)
{
    uint64_t h = s->lead;
    for (unsigned i = 0; i < N_RESULTS; i++)
        h = (h ^ s->age[i]) * 0x9e3779b97f4a7c15ULL;
    for (unsigned i = 0; i < PLACES; i++)
        h = (h ^ s->place[i] ^ s->place_age[i]) * 0x9e3779b97f4a7c15ULL;
    return (h >> 32) % HASH;
}

/* Numbers are never used twice, so that what blocks remember of forgotten states does no harm. */
static void forget_states(struct uarch *u)
{
    struct window *w = u->window;
    u->empty += w->n_states;
    w->n_states = 1;
    memset(w->hash, 0, sizeof w->hash);
}

static uint64_t number_of(struct uarch *u, const struct state *s)
{
    struct window *w = u->window;
    if (s->lead == 0)
        return u->empty;
    if (w->n_states == STATES)
        forget_states(u);
    unsigned h = hash_of(s);
    while (w->hash[h] && memcmp(&w->state[w->hash[h]], s, sizeof *s) != 0)
        h = (h + 1) % HASH;
    if (!w->hash[h]) {
        w->hash[h] = w->n_states++;
        w->state[w->hash[h]] = *s;
    }
    return u->empty + w->hash[h];
}

/* ---- A block's own results ---- */

static int64_t latest(int64_t t, const int64_t *ready, uint32_t results)
{
    for (; results; results &= results - 1) {
        int64_t r = ready[__builtin_ctz(results)];
        t = r > t ? r : t;
    }
    return t;
}

static unsigned slot_of(uint32_t place)
{
    return (place >> 11 ^ place >> 1) % PLACES;
}

/* Times are relative to retirement at the block's begin. */
static void evaluate(const struct window *w, const struct flow *f, unsigned n,
                     const struct state *in, struct state *out, struct transition *t,
                     struct waited *each)
{
    int64_t retired = 0, dispatch = -(int64_t)in->lead, begin = dispatch, ready[N_RESULTS];
    for (unsigned i = 0; i < N_RESULTS; i++)
        ready[i] = -(int64_t)in->age[i];
    uint32_t place[PLACES];
    int64_t stored[PLACES];
    for (unsigned i = 0; i < PLACES; i++) {
        place[i] = in->place[i];
        stored[i] = -(int64_t)in->place_age[i];
    }
    t->wait = t->starved = 0;
    for (const struct step *s = f->step; s < f->step + n; s++) {
        dispatch += s->slots;
        retired += s->slots;
        if (dispatch < begin + s->fetched)
            dispatch = begin + s->fetched;
        int64_t start = dispatch;
        if (s->load) {
            start = latest(start, ready, s->address);
            unsigned i = slot_of(s->loads);
            if (s->loads && place[i] == s->loads)
                start = (start > stored[i] ? start : stored[i]) + w->forward;
            else
                start += s->load;
        }
        int64_t done = latest(start, ready, s->sources) + s->latency;
        for (uint32_t r = s->results; r; r &= r - 1)
            ready[__builtin_ctz(r)] = done;
        for (unsigned i = 0; i < PLACES; i++)
            if (place[i] && (place_registers(place[i]) & s->changes))
                place[i] = 0;
        if (s->stores) {
            place[slot_of(s->stores)] = s->stores;
            stored[slot_of(s->stores)] = done;
        }
        if (done > retired) {
            /* So far it was not there yet, and then it takes a cycle at least. */
            int64_t wait = done - retired, starved = dispatch + w->width - retired;
            starved = starved < 0 ? 0 : starved < wait ? starved : wait;
            t->wait += wait;
            t->starved += starved;
            retired = done;
        }
        /* Of all instructions up to this one. */
        if (each)
            *++each = (struct waited){t->wait, t->starved, retired - dispatch, retired - done};
        if (dispatch < retired - w->size)
            dispatch = retired - w->size;
    }
    int64_t lead = retired - dispatch;
    memset(out, 0, sizeof *out);
    out->lead = lead;
    for (unsigned i = 0; i < N_RESULTS; i++)
        out->age[i] = retired - ready[i] < lead ? retired - ready[i] : lead;
    for (unsigned i = 0; i < PLACES; i++)
        if (place[i] && retired - stored[i] < lead) {
            out->place[i] = place[i];
            out->place_age[i] = retired - stored[i];
        }
}

void window_enter_slow(struct cpu *cpu, struct block *b, struct transition *t)
{
    struct uarch *u = cpu->uarch;
    struct window *w = u->window;
    t->from = u->state;
    if (!b->flow) { /* it drains the window */
        t->to = u->empty;
        return;
    }
    uint64_t h = ((uintptr_t)b >> 6 ^ u->state << 20) * 0x9e3779b97f4a7c15ULL;
    struct known *k = &w->known[(h >> 32) % KNOWN];
    if (k->block != b || k->transition.from != u->state) {
        struct state in = *state_of(u, u->state), out;
        k->block = b;
        k->transition.from = u->state;
        evaluate(w, b->flow, b->n, &in, &out, &k->transition, NULL);
        k->transition.to = number_of(u, &out);
        if (k->transition.to == u->empty + 1 && w->n_states == 2) {
            /* All states have been forgotten: this one must be known while the block runs. */
            k->transition.from = u->from = number_of(u, &in);
        }
    }
    *t = k->transition;
}

static void work_out_parts(struct uarch *u, const struct block *b)
{
    struct window *w = u->window;
    if (w->part_of == b && w->part_from == u->from)
        return;
    struct state in = *state_of(u, u->from), out;
    struct transition t;
    evaluate(w, b->flow, b->n, &in, &out, &t, w->part);
    w->part_of = b;
    w->part_from = u->from;
}

void window_part(struct cpu *cpu, const struct block *b, unsigned first, unsigned end,
                 uint64_t *wait, uint64_t *starved)
{
    struct window *w = cpu->uarch->window;
    work_out_parts(cpu->uarch, b);
    *wait = w->part[end].wait - w->part[first].wait;
    *starved = w->part[end].starved - w->part[first].starved;
}

/* ---- Memory ---- */

static uint64_t retired_slots(const struct cpu *cpu)
{
    return cpu_total(cpu, 0, EV_SLOTS_RETIRING) + cpu_total(cpu, 1, EV_SLOTS_RETIRING);
}

/* When the accesses are done on which the address of the running block's instruction op depends.
 * Goes back through the blocks that ran, as far as there are records, or to where the way back of
 * the access before began with the same results. */
static uint64_t done_before(const struct uarch *u, const struct block *b, unsigned op)
{
    struct window *w = u->window;
    const struct step *self = &b->flow->step[op];
    uint32_t results = self->address;
    if (!self->behind_load) {
        results = self->from;
        op = 0;
    }
    uint64_t done = 0, number = u->n_blocks - 1, r = w->n_records;
    struct way back = {.number = WINDOW_NEVER};
    /* The block last gone through whole, and from what to what: in a loop it is the same again. */
    const struct block *through = NULL;
    uint32_t behind = 0, before = 0;
    for (;;) {
        const struct flow *f = b->flow;
        if (op == b->n && (!(results & f->loaded) || r == w->first_record ||
                           record_at(w, r - 1)->block != number)) {
            if (b != through || results != behind) {
                through = b;
                behind = results;
                before = results & ~f->writes;
                for (uint32_t m = results & f->writes; m; m &= m - 1)
                    before |= f->from[__builtin_ctz(m)];
            }
            results = before;
            op = 0;
        }
        while (op-- > 0) {
            const struct step *s = &f->step[op];
            if (!(s->results & results))
                continue;
            results = (results & ~s->results) | s->sources;
            bool recorded = false;
            for (; r > w->first_record; r--) {
                const struct record *at = record_at(w, r - 1);
                if (at->block != number || at->op < op)
                    break;
                if (at->op > op)
                    continue;
                recorded = true;
                done = at->done > done ? at->done : done;
            }
            if (!recorded) /* otherwise what it waited for was there before it */
                results |= s->address;
        }
        while (r > w->first_record && record_at(w, r - 1)->block == number)
            r--;
        if (number == w->way.number && number >= u->drained_at && results == w->way.results) {
            done = w->way.done > done ? w->way.done : done;
            break;
        }
        if (back.number == WINDOW_NEVER)
            back = (struct way){.number = number, .results = results};
        if (r == w->first_record || !results)
            break;
        b = u->log[--number % WINDOW_MAX];
        op = b->n;
    }
    back.done = done;
    w->way = back;
    return done;
}

/* Records that are a whole window back are forgotten, the oldest first. */
static void forget_record(struct window *w)
{
    w->waited -= record_at(w, w->first_record++)->waited;
}

void window_retires(struct cpu *cpu, struct access_time *a)
{
    const struct exec *x = exec_of(cpu);
    const struct block *b = x->running;
    const struct op *op = cpu->op;
    a->op = NOT_IN_FLIGHT;
    a->retires = cpu->now;
    if (!b || op < b->op || op >= b->op + b->n)
        return;
    /* What comes behind it in its block has been added already. */
    const struct op_sum *end = &b->op[x->accounted].before, *here = &op[1].before;
    a->behind = end->slots - here->slots;
    a->retires -= a->behind;
    a->behind -= end->waits - here->waits;
    if (!b->flow)
        return;
    a->op = op - b->op;
    if (x->transition->wait && a->op + 1 < x->accounted) {
        uint64_t wait, starved;
        window_part(cpu, b, a->op + 1, x->accounted, &wait, &starved);
        a->retires -= wait;
    }
}

uint64_t window_start(struct cpu *cpu, struct access_time *a)
{
    struct uarch *u = cpu->uarch;
    struct window *w = u->window;
    window_retires(cpu, a);
    if (a->op == NOT_IN_FLIGHT)
        return a->retires;
    const struct block *b = exec_of(cpu)->running;
    a->position = retired_slots(cpu) - a->behind;
    uint64_t lead = state_of(u, u->state)->lead;
    if (w->first_record < w->n_records && record_at(w, w->n_records - 1)->block < u->drained_at) {
        w->first_record = w->n_records;
        w->waited = 0;
    }
    while (w->first_record < w->n_records &&
           record_at(w, w->first_record)->position + w->size <= a->position)
        forget_record(w);
    uint64_t start = a->retires - lead - w->waited;
    uint64_t known = done_before(u, b, a->op);
    /* The same instruction's page walk, or its access to the line before. */
    if (w->first_record < w->n_records) {
        const struct record *last = record_at(w, w->n_records - 1);
        if (last->block == u->n_blocks - 1 && last->op == a->op && last->done > known)
            known = last->done;
    }
    return start > known ? start : known;
}

void window_finish(struct cpu *cpu, const struct access_time *a, uint64_t done)
{
    struct uarch *u = cpu->uarch;
    struct window *w = u->window;
    uint64_t waits = done > a->retires ? done - a->retires : 0;
    if (waits)
        cpu_wait_memory(cpu, waits);
    if (a->op == NOT_IN_FLIGHT)
        return;
    if (w->n_records - w->first_record == WINDOW_MAX)
        forget_record(w);
    w->waited += waits;
    w->record[w->n_records++ % WINDOW_MAX] = (struct record){.block = u->n_blocks - 1,
                                                             .position = a->position,
                                                             .done = done,
                                                             .waited = waits,
                                                             .op = a->op};
}

/* Accesses that still are in the window have held retirement up, and dispatch went on meanwhile;
 * one of its own is what it completed with. */
void window_flight(struct cpu *cpu, const struct block *b, unsigned op, uint64_t *dispatched,
                   uint64_t *completed)
{
    struct uarch *u = cpu->uarch;
    struct window *w = u->window;
    *dispatched = *completed = 0;
    if (!b->flow)
        return;
    work_out_parts(u, b);
    const struct waited *self = &w->part[op + 1];
    uint64_t position = retired_slots(cpu);
    *dispatched = self->dispatched;
    *completed = self->completed;
    for (uint64_t i = w->n_records; i > w->first_record; i--) {
        const struct record *r = record_at(w, i - 1);
        if (r->block < u->drained_at || r->position + w->size <= position)
            break;
        *dispatched += r->waited;
        if (r->block == u->n_blocks - 1 && r->op == op && cpu->now - r->done < *completed)
            *completed = cpu->now - r->done;
    }
}
