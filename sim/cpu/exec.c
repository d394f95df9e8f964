/* cpu_run: finds blocks, runs them whole or one instruction at a time, keeps totals and deadlines.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/cpu/ops.h"
#include "sim/cpu/window.h"
#include "sim/dev/dev.h"
#include "sim/fault.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"

bool exec_new(struct cpu *cpu)
{
    cpu->exec = calloc(1, sizeof(struct exec));
    if (!cpu->exec)
        return false;
    decode_init(cpu);
    return blocks_init(cpu);
}

void exec_free(struct cpu *cpu)
{
    if (!cpu->exec)
        return;
    blocks_done(cpu);
    free(cpu->exec);
    cpu->exec = NULL;
}

/* ---- flags, faults ---- */

uint64_t cpu_rflags(struct cpu *cpu)
{
    return (cpu->rflags & ~(uint64_t)FLAGS_ARITH) | flags_get_all(cpu) | RFLAGS_FIXED1;
}
void cpu_set_rflags(struct cpu *cpu, uint64_t value)
{
    cpu->rflags = value | RFLAGS_FIXED1;
    cpu_interrupts_changed(cpu);
    flags_set_all(cpu, value);
    exec_update_mode(cpu);
}

_Noreturn void cpu_fault(struct cpu *cpu, unsigned vector, uint32_t error_code)
{
    cpu->fault.vector = vector;
    cpu->fault.error_code = error_code;
    _longjmp(*(jmp_buf *)cpu->fault_env, LEAVE_FAULT);
}

/* Ends the run in the middle of an instruction. */
static _Noreturn void leave_run(struct cpu *cpu, enum stop_reason reason)
{
    machine_stop(cpu->machine, reason);
    _longjmp(exec_of(cpu)->env, LEAVE_STOP);
}

_Noreturn void cpu_unsupported(struct cpu *cpu, const char *what)
{
    const struct op *op = cpu->op;
    uint64_t rip = op ? op->rip : cpu->rip;
    uint64_t linear = cpu_64bit(cpu) ? rip : (uint32_t)(rip + cpu->seg[SEG_CS].base);
    char bytes[3 * ZYDIS_MAX_INSTRUCTION_LENGTH + 1] = "";
    for (unsigned i = 0; i < ZYDIS_MAX_INSTRUCTION_LENGTH; i++) {
        uint8_t byte;
        if (!cpu_read_linear(cpu, linear + i, &byte, 1))
            break;
        snprintf(bytes + 3 * i, sizeof(bytes) - 3 * i, " %02x", byte);
    }
    machine_note(cpu->machine, "the simulator lacks this: %s, at rip %#llx, bytes%s", what,
                 (unsigned long long)rip, bytes);
    cpu->rip = rip;
    leave_run(cpu, STOP_UNSUPPORTED);
}

_Noreturn void exec_no_memory(struct cpu *cpu)
{
    leave_run(cpu, STOP_NO_MEMORY);
}

/* ---- mode ---- */

static bool flat(const struct segment *s)
{
    return s->base == 0 && s->limit == UINT32_MAX && (s->attr >> 15 & 1) &&
           (s->attr & 0xe00) == 0x200; /* present, data, expand-up, writable */
}

void exec_update_mode(struct cpu *cpu)
{
    uint32_t mode;
    const struct segment *cs = &cpu->seg[SEG_CS];
    if (cpu_64bit(cpu)) {
        mode = MODE_64 | MODE_FLAT_CODE;
    } else {
        mode = (cpu->cr0 & CR0_PE) && (cs->attr & SEG_ATTR_DB) ? MODE_32 : MODE_16;
        if (!(cpu->cr0 & CR0_PE))
            mode |= MODE_REAL;
        if (cs->base == 0 && cs->limit == UINT32_MAX)
            mode |= MODE_FLAT_CODE;
        if (cpu->seg[SEG_SS].attr & SEG_ATTR_DB)
            mode |= MODE_STACK32;
        if (flat(&cpu->seg[SEG_DS]) && flat(&cpu->seg[SEG_ES]) && flat(&cpu->seg[SEG_SS]))
            mode |= MODE_FLAT_DATA;
    }
    if (cpu->cpl == 3 && (cpu->cr0 & CR0_AM) && (cpu->rflags & RFLAGS_AC))
        mode |= MODE_ALIGN;
    exec_of(cpu)->mode = mode;
    cpu->here = cpu->total[cpu->cpl != 0];
    cpu->tlb_here = cpu->tlb->e[cpu->cpl == 3][0];
}

void exec_mode_changed(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    exec_update_mode(cpu);
    x->position = NULL;
    cpu->deadline = 0;
}

/* ---- accounting ---- */

/* Adds (or takes back) what the instructions first up to, not including, end cost, which is given
 * with what they wait for their own results. Everything static is added before the instructions
 * run, so that a branch's or a device's view of the time includes the instruction itself. */
static inline void add(struct cpu *cpu, const struct block *b, unsigned first, unsigned end,
                       uint64_t sign, uint64_t wait, uint64_t starved)
{
    uint64_t *total = cpu->total[cpu->cpl != 0];
    const struct op_sum *f = &b->op[first].before, *e = &b->op[end].before;
    uint64_t slots = (e->slots - f->slots + wait) * sign;
    cpu->now += slots;
    total[EV_SLOTS] += slots;
    total[EV_SLOTS_BACKEND] += (e->waits - f->waits + wait - starved) * sign;
    total[EV_SLOTS_FRONTEND] += starved * sign;
    total[EV_INSN] += (uint64_t)(e->insns - f->insns) * sign;
    total[EV_UOPS] += (uint64_t)(e->uops - f->uops) * sign;
    total[EV_LOAD] += (uint64_t)(e->loads - f->loads) * sign;
    total[EV_STORE] += (uint64_t)(e->stores - f->stores) * sign;
}

void exec_settle(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    struct op_sum sum = {.counts = x->counts};
    uint64_t *total = cpu->total[cpu->cpl != 0];
    total[EV_INSN] += sum.insns;
    total[EV_UOPS] += sum.uops;
    total[EV_LOAD] += sum.loads;
    total[EV_STORE] += sum.stores;
    x->counts = 0;
}

static void account(struct cpu *cpu, const struct block *b, unsigned first, unsigned end,
                    uint64_t sign)
{
    const struct transition *t = exec_of(cpu)->transition;
    uint64_t wait = t->wait, starved = t->starved;
    if (end - first != b->n && wait)
        window_part(cpu, b, first, end, &wait, &starved);
    add(cpu, b, first, end, sign, wait, starved);
}

void exec_unpatch(struct exec *x)
{
    if (!x->patched)
        return;
    if (!x->running || !x->running->dead)
        x->patched->fn = x->patched_fn;
    x->patched = NULL;
}

static void take_back_from(struct cpu *cpu, unsigned index)
{
    struct exec *x = exec_of(cpu);
    if (x->accounted > index)
        account(cpu, x->running, index, x->accounted, UINT64_MAX);
    x->accounted = index;
}

/* Stands in for the handler of an instruction before which the block must end. */
void op_leave(struct cpu *cpu, const struct op *op)
{
    struct exec *x = exec_of(cpu);
    unsigned index = op - x->running->op;
    exec_unpatch(x);
    take_back_from(cpu, index);
    cpu->rip = op->rip;
    cpu->deadline = 0; /* no block follows */
    if (!x->running->dead && index < x->running->n) {
        x->position = x->running;
        x->position_index = index;
    }
}
void op_end(struct cpu *cpu, const struct op *op)
{
    cpu->rip = op->rip;
}

static void leave_before(struct exec *x, struct op *op)
{
    exec_unpatch(x);
    x->patched = op;
    x->patched_fn = op->fn;
    op->fn = op_leave;
}

/* Ends the running block after the present instruction, and sets the clock to it. */
void exec_stop_after(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    struct block *b = x->running;
    const struct op *op = cpu->op;
    if (!b || b->dead || op < b->op || op >= b->op + b->n)
        return;
    unsigned index = op - b->op;
    exec_settle(cpu);
    take_back_from(cpu, index + 1);
    if (!x->patched)
        leave_before(x, &b->op[index + 1]);
}

void exec_taken(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to,
                bool mispredicted)
{
    cpu->total[cpu->cpl != 0][EV_BRANCH_TAKEN]++;
    if (unlikely(cpu->want_branches || (cpu->trace & TRACE_BRANCH))) {
        exec_settle(cpu);
        cpu_branch_taken(cpu, kind, from, to, cpu->cpl, mispredicted);
    }
}

void exec_branch(struct cpu *cpu, const struct op *op, enum branch_kind kind, uint64_t target,
                 bool taken)
{
    uint64_t *total = cpu->total[cpu->cpl != 0];
    total[EV_BRANCH]++;
    if (kind == BR_JCC)
        total[EV_BRANCH_COND]++;
    else if (kind == BR_CALL_REL || kind == BR_CALL_IND)
        total[EV_BRANCH_CALL]++;
    else if (kind == BR_RET)
        total[EV_BRANCH_RET]++;
    uint64_t base = (exec_of(cpu)->mode & MODE_CODE) == MODE_64 ? 0 : cpu->seg[SEG_CS].base;
    bool mispredicted = uarch_branch(cpu, kind, op->rip + base, target + base, taken);
    cpu->rip = taken ? target : op[1].rip;
    if (taken)
        exec_taken(cpu, kind, op->rip + base, target + base, mispredicted);
}

/* System instructions see the totals as they were before them; then they count, in the class where
 * they began. */
void op_system(struct cpu *cpu, const struct op *op)
{
    struct exec *x = exec_of(cpu);
    struct block *b = x->running;
    unsigned class = cpu->cpl != 0;
    cpu->op = op;
    b->insn->rip = op->rip;
    cpu->rip = op[1].rip;
    cpu->branched = false;
    if (!system_execute(cpu, b->insn))
        missing_instruction(cpu, b->insn);
    if (cpu->unfinished)
        cpu->rip = op->rip;
    else if (!fault_hypervisor(cpu, FAULT_HV_UNCOUNTED) || !system_exits(b->insn))
        cpu->total[class][EV_INSN]++;
    cpu->unfinished = false;
    cpu->total[class][EV_UOPS]++;
    cpu->total[class][EV_SLOTS]++;
    cpu->total[class][EV_SLOTS_HEAVY]++;
    cpu->now++;
    if (cpu->branched)
        pmu_branch_retired(cpu->pmu);
    window_drain(cpu);
    exec_update_mode(cpu);
    /* What it may have changed: IF, timers, counters, the shadow. */
    cpu->deadline = 0;
}

/* ---- the loop ---- */

static uint64_t min64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Instructions until the machine's limit; UINT64_MAX: none. Each costs a slot at least. */
static uint64_t insns_left(const struct machine *m)
{
    if (m->max_insns == 0)
        return UINT64_MAX;
    uint64_t done = machine_instructions(m);
    return done >= m->max_insns ? 0 : m->max_insns - done;
}

/* Brings timers, counters and events up to date; false: leave cpu_run. */
static bool service(struct cpu *cpu)
{
    if (cpu->now >= pmu_deadline(cpu->pmu))
        pmu_update(cpu->pmu);
    if (cpu->now >= machine_deadline(cpu))
        machine_tick(cpu);
    if (cpu->attention & ATTN_STOP) {
        cpu->attention &= ~(uint32_t)ATTN_STOP;
        return false;
    }
    if (cpu->now >= cpu->until || cpu->now >= cpu->pause || cpu->machine->stop != STOP_NONE)
        return false;
    uint64_t left = insns_left(cpu->machine);
    if (left == 0) {
        machine_stop(cpu->machine, STOP_MAX_INSNS);
        return false;
    }
    if (cpu->attention & (ATTN_INTR | ATTN_NMI | ATTN_INIT | ATTN_SIPI)) {
        if (system_events(cpu)) {
            exec_update_mode(cpu);
            exec_of(cpu)->position = NULL;
            exec_of(cpu)->last = NULL;
        }
    }
    /* Never past what a system instruction's block might cost. */
    uint64_t d = min64(min64(cpu->until, cpu->pause), BOUND_SYSTEM);
    d = min64(d, pmu_deadline(cpu->pmu));
    d = min64(d, machine_deadline(cpu));
    if (left != UINT64_MAX)
        d = min64(d, cpu->now + left);
    /* A deadline that is due now is looked at again after one instruction. */
    cpu->deadline = d > cpu->now ? d : cpu->now + 1;
    return true;
}

/* Time passes without instructions, to the next thing that can happen. False: it would pass for
 * ever, because nothing can wake the processor and nobody else has a turn. */
static bool idle(struct cpu *cpu)
{
    uint64_t to = cpu->until;
    if (to == UINT64_MAX && !machine_wakes(cpu))
        return false;
    to = min64(to, cpu->pause);
    uint64_t timer = machine_deadline(cpu), counters = pmu_deadline(cpu->pmu);
    if (timer > cpu->now)
        to = min64(to, timer);
    if (counters > cpu->now)
        to = min64(to, counters);
    cpu->halted += to - cpu->now;
    cpu->now = to;
    cpu->deadline = 0;
    return true;
}

static inline bool wants_care(const struct cpu *cpu)
{
    return (cpu->attention & (ATTN_CAREFUL | ATTN_STEP)) |
           (cpu->trace & (TRACE_INSN | TRACE_BRANCH)) | cpu->shadow;
}

/* In segments that are not flat, RIP is checked against the limit. */
static void check_code_limit(struct cpu *cpu, const struct block *b, unsigned index)
{
    if (!(b->mode & MODE_FLAT_CODE) && b->op[index + 1].rip - 1 > cpu->seg[SEG_CS].limit)
        cpu_gp0(cpu);
}

static void run_careful(struct cpu *cpu, struct block *b, unsigned index)
{
    struct exec *x = exec_of(cpu);
    const struct op *op = &b->op[index];
    bool stepped = cpu->attention & ATTN_STEP;
    if (stepped)
        system_before_insn(cpu);
    if (cpu->trace & TRACE_INSN) {
        uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
        unsigned length = op[1].rip - op->rip;
        if (length <= sizeof(bytes) &&
            cpu_read_linear(cpu, op->rip + (cpu_64bit(cpu) ? 0 : cpu->seg[SEG_CS].base), bytes,
                            length))
            trace_insn(cpu, op->rip, bytes, length);
    }
    cpu->shadow = false;
    uint64_t *taken = &cpu->total[cpu->cpl != 0][EV_BRANCH_TAKEN], taken_before = *taken;
    x->careful = true;
    if (index + 1 < b->n)
        leave_before(x, &b->op[index + 1]);
    account(cpu, b, index, index + 1, 1);
    x->accounted = index + 1;
    op->fn(cpu, op);
    if (cpu->watch.on)
        watch_retired(cpu, b, index);
    x->running = NULL;
    x->careful = false;
    /* Also when the instruction itself has cleared TF: it is stepped for the last time. */
    if (stepped || (cpu->attention & ATTN_STEP)) {
        cpu->op = NULL;
        system_after_insn(cpu, *taken != taken_before);
        exec_update_mode(cpu);
    }
    if (cpu->attention & ATTN_CAREFUL)
        pmu_update(cpu->pmu);
    if (wants_care(cpu) || cpu->attention)
        cpu->deadline = 0;
}

static void take_fault(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    struct block *b = x->running;
    uint64_t rip = cpu->rip;
    exec_unpatch(x);
    exec_settle(cpu);
    if (b) {
        const struct op *op = cpu->op;
        if (op >= b->op && op < b->op + b->n) {
            rip = op->rip;
            take_back_from(cpu, op - b->op);
        }
    }
    x->running = NULL;
    x->position = NULL;
    x->last = NULL;
    x->careful = false;
    cpu->op = NULL;
    cpu->rip = rip;
    cpu->shadow = false;
    unsigned vector = cpu->fault.vector;
    bool has_error = vector == VEC_DF || (vector >= VEC_TS && vector <= VEC_PF) || vector == VEC_AC;
    deliver(cpu, EVENT_EXCEPTION, vector, has_error, cpu->fault.error_code, rip);
    exec_update_mode(cpu);
    cpu->deadline = 0;
}

/* A block begins. */
static inline void enter(struct cpu *cpu, struct block *b, struct transition *t)
{
    struct uarch *u = cpu->uarch;
    u->log[u->n_blocks++ % WINDOW_MAX] = b;
    u->from = t->from;
    u->state = t->to;
    exec_of(cpu)->transition = t;
}

/* The place of its transition from the present state. */
static inline struct transition *transition_of(const struct uarch *u, const struct block *b)
{
    return &b->transition[u->state & b->transition_mask];
}

/* It is not there. A block that begins in many states needs more places. */
#define MANY_AFTER 16
static struct transition *work_out(struct cpu *cpu, struct block *b)
{
    if (b->transition == b->few && ++b->worked_out == MANY_AFTER) {
        b->transition = exec_zeroed(cpu, MANY_TRANSITIONS * sizeof(struct transition), NULL);
        b->transition_mask = MANY_TRANSITIONS - 1;
        for (unsigned i = 0; i < MANY_TRANSITIONS; i++)
            b->transition[i] = b->few[i % FEW_TRANSITIONS];
    }
    struct transition *t = transition_of(cpu->uarch, b);
    window_enter_slow(cpu, b, t);
    return t;
}

/* The block that comes now, whatever it takes. */
static struct block *begin(struct cpu *cpu)
{
    struct uarch *u = cpu->uarch;
    cpu->op = NULL;
    struct block *b = blocks_find(cpu);
    if (b->fetches != u->fetches) {
        uarch_fetch(cpu, b->physical, b->bytes);
        b->fetches = u->fetches;
    }
    struct transition *t = transition_of(u, b);
    if (t->from != u->state)
        t = work_out(cpu, b);
    enter(cpu, b, t);
    return b;
}

/* After b: the block that came next before, when it comes again and nothing is to be looked at
 * before it, nor while it runs. NULL: begin() finds out what comes. */
static inline struct block *follow(struct cpu *cpu, const struct block *b)
{
    struct uarch *u = cpu->uarch;
    struct block *next = b->successor[cpu->rip != b->end];
    if (unlikely(!next || next->rip != cpu->rip || next->mode != exec_of(cpu)->mode))
        return NULL;
    /* In b's own page nothing can have changed since b began. */
    if (((next->rip ^ b->rip) | (next->physical ^ b->physical)) >> PAGE_SHIFT_4K) {
        const struct tlb_entry *e = tlb_here(cpu, next->rip, ACCESS_FETCH);
        if (unlikely(e->tag != (next->rip >> PAGE_SHIFT_4K) + 1 ||
                     e->physical + (next->rip & (PAGE_BYTES - 1)) != next->physical))
            return NULL;
    }
    struct transition *t = transition_of(u, next);
    if (unlikely(t->from != u->state || cpu->now + next->bound + t->wait >= cpu->deadline))
        return NULL;
    if (next->fetches != u->fetches) {
        if (!uarch_fetched(u, next->physical, next->bytes))
            return NULL;
        next->fetches = u->fetches;
    }
    enter(cpu, next, t);
    return next;
}

/* Runs a block from its first to its last instruction, and those that follow, as far as follow()
 * knows them. */
static inline void run_whole(struct cpu *cpu, struct block *b)
{
    struct exec *x = exec_of(cpu);
    uint64_t *total = cpu->here;
    do {
        const struct transition *t = x->transition;
        uint64_t slots = b->sum.slots + (uint64_t)t->wait;
        cpu->now += slots;
        total[EV_SLOTS] += slots;
        total[EV_SLOTS_BACKEND] += b->sum.waits + (uint64_t)t->wait - t->starved;
        total[EV_SLOTS_FRONTEND] += t->starved;
        x->counts += b->sum.counts;
        x->running = b;
        x->accounted = b->n;
        b->op[0].fn(cpu, b->op);
    } while (likely(!(x->counts & COUNTS_HIGH)) && (b = follow(cpu, b)));
    exec_settle(cpu);
    x->last = x->running;
}

/* Until something ends it. A function of its own: beside _setjmp() the compiler would keep nothing
 * in registers. */
static __attribute__((noinline)) void run_blocks(struct cpu *cpu)
{
    struct exec *x = exec_of(cpu);
    for (;;) {
        if (cpu->now >= cpu->deadline) {
            if (!service(cpu))
                return;
            if (cpu->state != CPU_RUNNING) {
                if (!idle(cpu))
                    return;
                continue;
            }
        }
        struct block *b = x->position;
        unsigned index = x->position_index;
        if (likely(!b)) {
            b = begin(cpu);
            index = 0;
        }
        x->position = NULL;
        x->last = b;
        x->running = b;
        x->accounted = index; /* nothing of it yet, should it fault before it begins */
        cpu->op = &b->op[index];
        check_code_limit(cpu, b, index);
        if (unlikely(wants_care(cpu) ||
                     cpu->now + b->bound + x->transition->wait >= cpu->deadline)) {
            run_careful(cpu, b, index);
            continue;
        }
        if (likely(index == 0)) {
            run_whole(cpu, b);
        } else {
            account(cpu, b, index, b->n, 1);
            x->accounted = b->n;
            b->op[index].fn(cpu, &b->op[index]);
        }
        x->running = NULL;
    }
}

void cpu_run(struct cpu *cpu, uint64_t until)
{
    struct exec *x = exec_of(cpu);
    cpu->until = until;
    cpu->deadline = 0;
    exec_update_mode(cpu);
    cpu->fault_env = &x->env;
    switch (_setjmp(x->env)) {
    case LEAVE_FAULT:
        take_fault(cpu);
        break;
    case LEAVE_STOP:
        exec_unpatch(x);
        exec_settle(cpu);
        x->running = NULL;
        return;
    default:
        break;
    }
    run_blocks(cpu);
}
