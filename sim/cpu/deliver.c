/*
 * Exceptions and interrupts: through the interrupt vector table in real mode, the IDT in protected
 * and long mode. SDM vol. 3 "Interrupt and Exception Handling".
 *
 * What is counted: a delivery is not an instruction, so it adds nothing to
 * BR_INST_RETIRED.ALL_BRANCHES (SDM vol. 3 "Pre-defined Architectural Performance Events": branch
 * *instructions* retired). EV_BRANCH_FAR, which only model-specific events show, does count it.
 */

#include "sim/cpu/system.h"
#include "sim/cpu/uarch.h"
#include "sim/dev/dev.h"
#include "sim/pmu/pmu.h"
#include "sim/trace.h"

#define GATE_DPL(w1)  ((w1) >> 13 & 3)
#define GATE_TYPE(w1) ((w1) >> 8 & 15)
#define GATE_PRESENT  (1u << 15)
#define ERROR_EXT     1u
#define ERROR_IDT     2u
#define STACK_ALIGN   16
#define TSS64_RSP0    4
#define TSS64_IST1    36

/* EXT: the event was not an instruction's. SDM vol. 3 "Error Code". */
static unsigned event_ext(const struct event *e)
{
    return e->kind == EVENT_SOFTWARE && !e->privileged ? 0 : ERROR_EXT;
}

/* SDM vol. 3 "Debug Exceptions", "Instruction-Breakpoint Exception Condition": RF is set in the
 * image of fault-class exceptions; traps, aborts and interrupts leave it. */
static bool event_sets_rf(const struct event *e)
{
    if (e->kind != EVENT_EXCEPTION)
        return false;
    switch (e->vector) {
    case VEC_DB:
    case VEC_BP:
    case VEC_OF:
    case VEC_DF:
    case VEC_MC:
        return false;
    default:
        return true;
    }
}

/* A software interrupt has cleared RF when it pushes. SDM vol. 3, the same section. */
static uint64_t pushed_flags(struct cpu *cpu, const struct event *e)
{
    uint64_t flags = cpu_rflags(cpu);
    if (e->kind == EVENT_SOFTWARE)
        return flags & ~(uint64_t)RFLAGS_RF;
    return flags | (event_sets_rf(e) ? RFLAGS_RF : 0);
}

/* SDM vol. 3 "LBR Stack": an interrupt's record begins at the RIP that is saved, an exception's at
 * the instruction that caused it; both end at the handler's first instruction. */
static void arrive(struct cpu *cpu, const struct event *e, unsigned cpl_from, uint64_t from)
{
    exec_mode_changed(cpu);
    bool interrupt = e->kind == EVENT_INTERRUPT || e->kind == EVENT_NMI;
    cpu_branch_taken(cpu, interrupt ? BR_INTERRUPT : BR_EXCEPTION, from,
                     cpu_64bit(cpu) ? cpu->rip : cpu->seg[SEG_CS].base + cpu->rip, cpl_from, false);
}

/* INT n is an instruction that branches and an interrupt: the manual does not say which of the two
 * places its record begins at. */
static uint64_t begins(const struct cpu *cpu, const struct event *e)
{
    bool behind = e->kind == EVENT_SOFTWARE && cpu->profile->pmu.int_from_behind;
    return behind ? e->rip : e->source;
}

static uint64_t linear_rip(const struct cpu *cpu, uint64_t rip)
{
    return cpu_64bit(cpu) ? rip : (uint32_t)(cpu->seg[SEG_CS].base + rip);
}

/* ---- real mode: SDM vol. 3 "Interrupt and Exception Handling" in "8086 Emulation" ---- */

static bool deliver_real(struct cpu *cpu, const struct event *e, struct fault *f)
{
    if (e->vector * 4 + 3 > cpu->idtr.limit)
        return fault_set(f, VEC_GP, e->vector * 8 + ERROR_IDT + event_ext(e));
    uint16_t vector[2];
    if (!sys_read(cpu, cpu->idtr.base + e->vector * 4, vector, 4, AS_IMPLICIT, f))
        return false;
    struct stack st;
    stack_current(cpu, &st);
    if (!stack_push(cpu, &st, 2, pushed_flags(cpu, e), f) ||
        !stack_push(cpu, &st, 2, cpu->seg[SEG_CS].selector, f) ||
        !stack_push(cpu, &st, 2, e->rip, f))
        return false;
    uint64_t from = linear_rip(cpu, begins(cpu, e));
    stack_commit(cpu, &st);
    flags_write(cpu, cpu_rflags(cpu) & ~(RFLAGS_IF | RFLAGS_TF | RFLAGS_AC | RFLAGS_RF));
    segment_load_real(cpu, SEG_CS, vector[1]);
    cpu->rip = vector[0];
    arrive(cpu, e, cpu->cpl, from);
    return true;
}

/* ---- protected and long mode ---- */

struct gate {
    unsigned type;
    uint16_t selector;
    uint64_t offset;
    unsigned ist;
};

static bool gate_read(struct cpu *cpu, const struct event *e, struct gate *g, struct fault *f)
{
    bool lm = cpu_long_mode(cpu);
    unsigned size = lm ? 16 : 8;
    uint32_t error = e->vector * 8 + ERROR_IDT + event_ext(e);
    uint32_t w[4] = {0};
    if (e->vector * size + size - 1 > cpu->idtr.limit)
        return fault_set(f, VEC_GP, error);
    if (!sys_read(cpu, cpu->idtr.base + e->vector * size, w, size, AS_IMPLICIT, f))
        return false;
    g->type = GATE_TYPE(w[1]);
    bool known =
        !(w[1] & DESC_S) &&
        (g->type == SYS_INT || g->type == SYS_TRAP ||
         (!lm && (g->type == SYS_INT16 || g->type == SYS_TRAP16 || g->type == SYS_TASK_GATE)));
    if (!known)
        return fault_set(f, VEC_GP, error);
    /* SDM vol. 3 "Protection of Exception- and Interrupt-Handler Procedures". */
    if (e->kind == EVENT_SOFTWARE && !e->privileged && GATE_DPL(w[1]) < cpu->cpl)
        return fault_set(f, VEC_GP, error);
    if (!(w[1] & GATE_PRESENT))
        return fault_set(f, VEC_NP, error);
    if (g->type == SYS_TASK_GATE)
        cpu_unsupported(cpu, "interrupt through a task gate");
    g->selector = w[0] >> 16;
    g->offset = (w[0] & 0xffff) | (w[1] & 0xffff0000);
    if (g->type == SYS_INT16 || g->type == SYS_TRAP16)
        g->offset &= 0xffff;
    if (lm)
        g->offset |= (uint64_t)w[2] << 32;
    g->ist = lm ? w[1] & 7 : 0;
    return true;
}

/* The handler's code segment. SDM vol. 2 "INT n", pseudo-code. */
static bool gate_code(struct cpu *cpu, const struct gate *g, unsigned ext, struct descriptor *cs,
                      unsigned *cpl, struct fault *f)
{
    if (selector_null(g->selector))
        return fault_set(f, VEC_GP, ext);
    if (!descriptor_read(cpu, g->selector, cs, VEC_GP, ext, f))
        return false;
    uint32_t error = selector_error(g->selector) | ext;
    if (!desc_is_code(cs->attr) || desc_dpl(cs->attr) > cpu->cpl)
        return fault_set(f, VEC_GP, error);
    if (cpu_long_mode(cpu) && (!(cs->attr & SEG_ATTR_L) || (cs->attr & SEG_ATTR_DB)))
        return fault_set(f, VEC_GP, error);
    if (!(cs->attr & DESC_P))
        return fault_set(f, VEC_NP, error);
    *cpl = cs->attr & DESC_CONFORM ? cpu->cpl : desc_dpl(cs->attr);
    return descriptor_set_bits(cpu, cs, DESC_ACCESSED, f);
}

/* RSP from the 64-bit TSS. SDM vol. 3 "Task Management in 64-bit Mode". */
static bool tss64_stack(struct cpu *cpu, unsigned offset, unsigned ext, uint64_t *rsp,
                        struct fault *f)
{
    const struct segment *tr = &cpu->seg[SEG_TR];
    if (!(tr->attr & DESC_P) || offset + 7 > tr->limit)
        return fault_set(f, VEC_TS, selector_error(tr->selector) | ext);
    if (!sys_read(cpu, tr->base + offset, rsp, 8, AS_IMPLICIT, f))
        return false;
    return canonical(*rsp) || fault_set(f, VEC_SS, ext);
}

/* SS:ESP of an inner ring from a 16- or 32-bit TSS. SDM vol. 3 "Stack Switching". */
static bool tss32_stack(struct cpu *cpu, unsigned cpl, unsigned ext, struct segment *ss,
                        uint64_t *sp, struct fault *f)
{
    const struct segment *tr = &cpu->seg[SEG_TR];
    bool wide = desc_type(tr->attr) == SYS_TSS_BUSY || desc_type(tr->attr) == SYS_TSS;
    unsigned n = wide ? 4 : 2, offset = n + cpl * 2 * n;
    uint32_t esp = 0;
    uint16_t selector;
    if (!(tr->attr & DESC_P) || offset + n + 1 > tr->limit)
        return fault_set(f, VEC_TS, selector_error(tr->selector) | ext);
    if (!sys_read(cpu, tr->base + offset, &esp, n, AS_IMPLICIT, f) ||
        !sys_read(cpu, tr->base + offset + n, &selector, 2, AS_IMPLICIT, f))
        return false;
    *sp = esp;
    return segment_check_ss(cpu, selector, cpl, VEC_TS, ext, ss, f);
}

bool inner_stack(struct cpu *cpu, unsigned cpl, unsigned ist, unsigned ext, struct stack *st,
                 struct fault *f)
{
    uint64_t sp;
    if (cpu_long_mode(cpu)) {
        /* A ring switch in long mode loads a null SS with RPL = CPL. SDM vol. 3 "Stack Switching in
         * IA-32e Mode". */
        struct segment ss = {.selector = cpl, .attr = cpl << DESC_DPL_SHIFT};
        unsigned offset = ist ? TSS64_IST1 + (ist - 1) * 8 : TSS64_RSP0 + cpl * 8;
        if (!tss64_stack(cpu, offset, ext, &sp, f))
            return false;
        stack_of(st, &ss, sp, cpl, true);
    } else {
        struct segment ss;
        if (!tss32_stack(cpu, cpl, ext, &ss, &sp, f))
            return false;
        stack_of(st, &ss, sp, cpl, false);
    }
    return true;
}

static bool deliver_protected(struct cpu *cpu, const struct event *e, struct fault *f)
{
    unsigned ext = event_ext(e);
    struct gate g;
    struct descriptor cs;
    unsigned cpl;
    if (!gate_read(cpu, e, &g, f) || !gate_code(cpu, &g, ext, &cs, &cpl, f))
        return false;

    bool lm = cpu_long_mode(cpu), inner = cpl != cpu->cpl;
    struct stack st;
    if (inner || g.ist) {
        if (!inner_stack(cpu, cpl, g.ist, ext, &st, f))
            return false;
        if (!inner)
            st.ss = cpu->seg[SEG_SS];
    } else {
        stack_of(&st, &cpu->seg[SEG_SS], cpu->r[RSP], cpu->cpl, lm);
    }
    st.error = ext | (inner && !lm ? selector_error(st.ss.selector) : 0);
    if (lm) /* SDM vol. 3 "64-Bit Mode Stack Frame" */
        st.sp &= ~(uint64_t)(STACK_ALIGN - 1);

    unsigned n = lm ? 8 : g.type == SYS_INT || g.type == SYS_TRAP ? 4 : 2;
    if (lm || inner)
        if (!stack_push(cpu, &st, n, cpu->seg[SEG_SS].selector, f) ||
            !stack_push(cpu, &st, n, cpu->r[RSP], f))
            return false;
    if (!stack_push(cpu, &st, n, pushed_flags(cpu, e), f) ||
        !stack_push(cpu, &st, n, cpu->seg[SEG_CS].selector, f) ||
        !stack_push(cpu, &st, n, e->rip, f) ||
        (e->has_error && !stack_push(cpu, &st, n, e->error, f)))
        return false;
    if (!code_target_ok(cpu, &cs.seg, g.offset))
        return fault_set(f, VEC_GP, ext);

    uint64_t from = linear_rip(cpu, begins(cpu, e)), flags = cpu_rflags(cpu);
    unsigned cpl_from = cpu->cpl;
    /* SDM vol. 3 "Flag Usage By Exception- or Interrupt-Handler Procedure". */
    flags &= ~(uint64_t)(RFLAGS_TF | RFLAGS_NT | RFLAGS_RF | RFLAGS_VM);
    if (g.type == SYS_INT || g.type == SYS_INT16)
        flags &= ~(uint64_t)RFLAGS_IF;
    code_load(cpu, g.selector, &cs.seg, cpl);
    if (inner)
        cpu->seg[SEG_SS] = st.ss;
    stack_commit(cpu, &st);
    cpu->rip = g.offset;
    flags_write(cpu, flags);
    arrive(cpu, e, cpl_from, from);
    return true;
}

bool deliver_once(struct cpu *cpu, const struct event *e, struct fault *f)
{
    if (cpu_rflags(cpu) & RFLAGS_VM)
        cpu_unsupported(cpu, "virtual-8086 mode");
    return protected_mode(cpu) ? deliver_protected(cpu, e, f) : deliver_real(cpu, e, f);
}

/* ---- nested faults ---- */

/* SDM vol. 3 "Interrupt 8—Double Fault Exception (#DF)": interrupt and exception classes. */
enum fault_class { BENIGN, CONTRIBUTORY, PAGE_FAULT };
static enum fault_class fault_class(unsigned vector)
{
    switch (vector) {
    case VEC_DE:
    case VEC_TS:
    case VEC_NP:
    case VEC_SS:
    case VEC_GP:
        return CONTRIBUTORY;
    case VEC_PF:
    case VEC_VE:
        return PAGE_FAULT;
    default:
        return BENIGN;
    }
}

static bool makes_double_fault(const struct event *e, const struct fault *f)
{
    if (e->kind != EVENT_EXCEPTION)
        return false;
    enum fault_class first = fault_class(e->vector), second = fault_class(f->vector);
    return (first == CONTRIBUTORY && second == CONTRIBUTORY) ||
           (first == PAGE_FAULT && second != BENIGN);
}

/* Vectors 8, 10-14 and 17 push an error code, in protected mode only. SDM vol. 3 "Exception and
 * Interrupt Reference". */
static bool pushes_error(const struct cpu *cpu, unsigned vector)
{
    const uint32_t with_error = 1u << VEC_DF | 1u << VEC_TS | 1u << VEC_NP | 1u << VEC_SS |
                                1u << VEC_GP | 1u << VEC_PF | 1u << VEC_AC;
    return protected_mode(cpu) && vector < 32 && (with_error >> vector & 1);
}

static void triple_fault(struct cpu *cpu, const struct fault *f, uint64_t rip)
{
    uint64_t offset = 0;
    const char *symbol = sim_symbol(cpu, rip, &offset);
    machine_note(cpu->machine,
                 "cpu %u: triple fault: vector %u (error code %XH, CR2 %lXH) while delivering #DF; "
                 "the first exception was at RIP %lXH%s%s",
                 cpu->index, f->vector, f->error, (unsigned long)cpu->cr2, (unsigned long)rip,
                 symbol ? " " : "", symbol ? symbol : "");
    cpu->state = CPU_SHUTDOWN;
    machine_stop(cpu->machine, STOP_TRIPLE_FAULT);
}

static void announce(struct cpu *cpu, const struct event *e)
{
    if (e->kind == EVENT_INTERRUPT)
        cpu->stats.interrupts++;
    else if (e->kind == EVENT_NMI)
        cpu->stats.nmis++;
    else
        cpu->stats.exceptions++;
    if (e->kind == EVENT_INTERRUPT || e->kind == EVENT_NMI) {
        if (cpu->trace & TRACE_IRQ)
            trace_irq(cpu, e->vector, e->kind == EVENT_NMI);
    } else if (cpu->trace & TRACE_EXC) {
        trace_exc(cpu, e->vector, e->error);
    }
}

void deliver(struct cpu *cpu, enum event_kind kind, unsigned vector, bool has_error,
             uint32_t error_code, uint64_t rip)
{
    struct event e = {.kind = kind,
                      .vector = vector,
                      .has_error = has_error && protected_mode(cpu),
                      .error = error_code,
                      .rip = rip,
                      .source = rip};
    struct fault f;
    if (kind != EVENT_SOFTWARE)
        cpu->watch.on = false;
    window_drain(cpu);
    cpu->shadow = false;
    cpu->system->shadow_ss = cpu->system->shadow_ends = false;
    cpu->system->step_armed = cpu->system->rf_armed = false;
    cpu->system->debug_hits = 0;
    for (;;) {
        announce(cpu, &e);
        /* Counted where the event began, as all that changes CPL. */
        cpu_event(cpu, EV_BRANCH_FAR, 1);
        cpu_event(cpu, EV_DELIVERED, 1);
        cpu_spend_cycles(cpu, cpu->profile->uarch.lat_serialize);
        if (e.kind == EVENT_EXCEPTION && e.vector == VEC_DB)
            pmu_debug_exception(cpu->pmu);
        if (deliver_once(cpu, &e, &f)) {
            if (e.kind == EVENT_EXCEPTION && e.vector == VEC_DB)
                debug_exception_entered(cpu);
            return;
        }
        if (f.vector == VEC_PF)
            cpu->cr2 = f.address;
        if (e.kind == EVENT_EXCEPTION && e.vector == VEC_DF) {
            triple_fault(cpu, &f, rip);
            return;
        }
        bool df = makes_double_fault(&e, &f);
        e.kind = EVENT_EXCEPTION;
        e.vector = df ? VEC_DF : f.vector;
        e.error = df ? 0 : f.error;
        e.has_error = pushes_error(cpu, e.vector);
        e.privileged = false;
    }
}

void fault_raise(struct cpu *cpu, const struct fault *f)
{
    if (f->vector == VEC_PF)
        cpu->cr2 = f->address;
    cpu_fault(cpu, f->vector, f->error);
}
