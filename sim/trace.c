/* A line for the host for each thing traced: processor (when there are several), address, symbol,
 * what happened. */
#include "sim/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include <Zydis/Zydis.h>

#include "sim/cpu/internal.h"
#include "sim/dev/dev.h"
#include "sim/symbols.h"
#include "x86/decode.h"
#include "x86/pmu.h"

#define MSR_INSN_LENGTH 2 /* RDMSR and WRMSR */

#define LINE_LENGTH 2048

struct trace {
    unsigned wanted; /* the kinds asked for */
    bool has_from, has_to;
    uint64_t from, to;
    bool active;
    uint64_t last_rip[MACHINE_MAX_CPUS];
    ZydisFormatter formatter;
};

const char *sim_symbol(const struct cpu *cpu, uint64_t address, uint64_t *offset)
{
    return symbols_lookup(cpu->machine->symbols, address, offset);
}

static void switch_kinds(struct machine *m, unsigned kinds)
{
    for (unsigned i = 0; i < m->n_cpus; i++)
        m->cpus[i]->trace = kinds;
}

bool trace_start(struct machine *m, unsigned kinds, const uint64_t *from, const uint64_t *to)
{
    struct trace *t = calloc(1, sizeof(*t));

    if (!t)
        return false;
    t->wanted = kinds;
    t->has_from = from != NULL;
    t->has_to = to != NULL;
    t->from = from ? *from : 0;
    t->to = to ? *to : 0;
    t->active = !from;
    ZydisFormatterInit(&t->formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    trace_free(m->trace);
    m->trace = t;
    /* With a range, each instruction is looked at to find its ends. */
    switch_kinds(m, kinds | (kinds && (from || to) ? TRACE_INSN : 0));
    return true;
}

void trace_free(struct trace *t)
{
    free(t);
}

static bool want(const struct cpu *cpu, unsigned kind)
{
    const struct trace *t = cpu->machine->trace;

    return t->active && (t->wanted & kind);
}

struct line {
    char text[LINE_LENGTH];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *l, const char *format, ...)
{
    size_t room = sizeof(l->text) - l->length;
    va_list args;

    va_start(args, format);
    size_t n = vsnprintf(l->text + l->length, room, format, args);
    va_end(args);
    l->length += n < room ? n : room - 1;
}

static void begin(struct line *l, const struct cpu *cpu, uint64_t rip)
{
    uint64_t offset;
    const char *symbol = sim_symbol(cpu, rip, &offset);

    l->length = 0;
    if (cpu->machine->n_cpus > 1)
        add(l, "cpu%u ", cpu->index);
    add(l, "%016" PRIx64 " ", rip);
    if (symbol)
        add(l, "%s+%" PRIx64 "  ", symbol, offset);
}

static void target(struct line *l, const struct cpu *cpu, uint64_t address)
{
    uint64_t offset;
    const char *symbol = sim_symbol(cpu, address, &offset);

    add(l, "%016" PRIx64, address);
    if (symbol)
        add(l, " %s+%" PRIx64, symbol, offset);
}

/* A line comes after what the guest has printed so far. */
static void end(const struct line *l, struct cpu *cpu)
{
    struct machine *m = cpu->machine;

    machine_flush(m);
    if (m->host.trace && !m->host.trace(m->host.context, l->text))
        machine_stop(m, STOP_HOST);
}

/* The names that the profile gives to its own events. */
static const char *event_name(const void *arg, uint64_t select)
{
    const struct profile *p = arg;

    for (unsigned i = 0; i < p->n_events; i++)
        if (p->events[i].event == (select & PERFEVTSEL_EVENT) &&
            p->events[i].umask == (select & PERFEVTSEL_UMASK) >> PERFEVTSEL_UMASK_SHIFT)
            return p->events[i].name;
    return NULL;
}

static struct decode_context context_of(const struct profile *p)
{
    return (struct decode_context){.version = p->pmu.version, .event_name = event_name, .arg = p};
}

void trace_msr_name(const struct cpu *cpu, uint32_t msr, char *buf, size_t size)
{
    const struct decode_context context = context_of(cpu->profile);

    if (!decode_msr_name(buf, size, msr, &context))
        snprintf(buf, size, "MSR");
}

void trace_msr(struct cpu *cpu, bool write, uint32_t msr, uint64_t value, bool fault)
{
    const struct decode_context context = context_of(cpu->profile);
    struct line line;
    char name[48], address[16], fields[1024];

    if (!want(cpu, TRACE_MSR))
        return;
    trace_msr_name(cpu, msr, name, sizeof(name));
    decode_msr_address(address, sizeof(address), msr);
    begin(&line, cpu, cpu->rip - MSR_INSN_LENGTH);
    add(&line, "%s %s (%s)", write ? "WRMSR" : "RDMSR", name, address);
    if (write || !fault) {
        decode_msr_fields(fields, sizeof(fields), msr, value, &context);
        add(&line, " %s %" PRIX64 "H%s%s", write ? "<-" : "->", value, *fields ? "  " : "", fields);
    }
    add(&line, "%s", fault ? "  #GP" : "");
    end(&line, cpu);
}

void trace_pmi(struct cpu *cpu, const char *what)
{
    struct line line;
    if (!want(cpu, TRACE_PMI))
        return;
    begin(&line, cpu, cpu->rip);
    add(&line, "PMI %s", what);
    end(&line, cpu);
}

void trace_irq(struct cpu *cpu, unsigned vector, bool nmi)
{
    struct line line;
    if (!want(cpu, TRACE_IRQ))
        return;
    begin(&line, cpu, cpu->rip);
    if (nmi)
        add(&line, "NMI");
    else
        add(&line, "INTERRUPT vector %02XH", vector);
    end(&line, cpu);
}

void trace_exc(struct cpu *cpu, unsigned vector, uint32_t error_code)
{
    struct line line;
    static const char *const names[] = {"#DE", "#DB", "NMI", "#BP", "#OF", "#BR", "#UD",
                                        "#NM", "#DF", "",    "#TS", "#NP", "#SS", "#GP",
                                        "#PF", "",    "#MF", "#AC", "#MC", "#XM", "#VE"};

    if (!want(cpu, TRACE_EXC))
        return;
    begin(&line, cpu, cpu->rip);
    add(&line, "EXCEPTION %u %s error code %XH", vector,
        vector < sizeof(names) / sizeof(names[0]) ? names[vector] : "", error_code);
    if (vector == VEC_PF)
        add(&line, " CR2 %" PRIX64 "H", cpu->cr2);
    end(&line, cpu);
}

void trace_branch(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to)
{
    struct line line;
    static const char *const names[] = {
        [BR_JCC] = "Jcc",
        [BR_JMP_REL] = "JMP",
        [BR_JMP_IND] = "JMP indirect",
        [BR_CALL_REL] = "CALL",
        [BR_CALL_IND] = "CALL indirect",
        [BR_RET] = "RET",
        [BR_FAR] = "FAR",
        [BR_INTERRUPT] = "INTERRUPT",
        [BR_EXCEPTION] = "EXCEPTION",
    };

    if (!want(cpu, TRACE_BRANCH))
        return;
    begin(&line, cpu, from);
    add(&line, "%s -> ", names[kind]);
    target(&line, cpu, to);
    end(&line, cpu);
}

void trace_insn(struct cpu *cpu, uint64_t rip, const uint8_t *bytes, unsigned length)
{
    struct line line;
    struct trace *t = cpu->machine->trace;
    bool again;
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    char text[128] = "?";
    bool wide = cpu->seg[SEG_CS].attr & SEG_ATTR_DB;

    if (t->has_from && !t->active && rip == t->from)
        t->active = true;
    if (t->has_to && t->active && rip == t->to) {
        t->active = false;
        /* The range is done for good, unless its beginning is met again. */
        if (!t->has_from)
            switch_kinds(cpu->machine, 0);
    }
    if (!want(cpu, TRACE_INSN))
        return;
    again = t->last_rip[cpu->index] == rip;
    t->last_rip[cpu->index] = rip;
    ZydisDecoderInit(&decoder,
                     cpu_64bit(cpu) ? ZYDIS_MACHINE_MODE_LONG_64
                     : wide         ? ZYDIS_MACHINE_MODE_LEGACY_32
                                    : ZYDIS_MACHINE_MODE_LEGACY_16,
                     cpu_64bit(cpu) ? ZYDIS_STACK_WIDTH_64
                     : wide         ? ZYDIS_STACK_WIDTH_32
                                    : ZYDIS_STACK_WIDTH_16);
    if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, length, &insn, op))) {
        /* The iterations of a REP string instruction are one instruction. */
        if (again && (insn.attributes &
                      (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
            return;
        ZydisFormatterFormatInstruction(&t->formatter, &insn, op, insn.operand_count_visible, text,
                                        sizeof(text), rip, NULL);
    }
    begin(&line, cpu, rip);
    add(&line, "%s", text);
    end(&line, cpu);
}
