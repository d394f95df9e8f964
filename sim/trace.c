/* One line on stderr for each thing traced: processor (when there are several), address, symbol,
 * what happened. */
#include "sim/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "sim/cpu/internal.h"
#include "sim/dev/internal.h"
#include "sim/symbols.h"
#include "sim/trace_control.h"
#include "x86/decode.h"
#include "x86/pmu.h"

#define MSR_INSN_LENGTH 2 /* RDMSR and WRMSR */

unsigned trace_on;

static struct {
    unsigned wanted; /* the kinds asked for */
    bool has_from, has_to;
    uint64_t from, to;
    bool active;
} control;

const char *sim_symbol(const struct cpu *cpu, uint64_t address, uint64_t *offset)
{
    return symbols_lookup(cpu->machine->symbols, address, offset);
}

void trace_start(unsigned kinds, const uint64_t *from, const uint64_t *to)
{
    control.wanted = kinds;
    control.has_from = from != NULL;
    control.has_to = to != NULL;
    control.from = from ? *from : 0;
    control.to = to ? *to : 0;
    control.active = !from;
    /* With a range, each instruction is looked at to find its ends. */
    trace_on = kinds | (kinds && (from || to) ? TRACE_INSN : 0);
}

static bool want(unsigned kind)
{
    return control.active && (control.wanted & kind);
}

/* Begins a line, after what the guest has printed so far. */
static void begin(struct cpu *cpu, uint64_t rip)
{
    uint64_t offset;
    const char *symbol = sim_symbol(cpu, rip, &offset);

    uart_flush(&devices_of(cpu)->uart);
    if (cpu->machine->n_cpus > 1)
        fprintf(stderr, "cpu%u ", cpu->index);
    fprintf(stderr, "%016" PRIx64 " ", rip);
    if (symbol)
        fprintf(stderr, "%s+%" PRIx64 "  ", symbol, offset);
}

static void target(const struct cpu *cpu, uint64_t address)
{
    uint64_t offset;
    const char *symbol = sim_symbol(cpu, address, &offset);

    fprintf(stderr, "%016" PRIx64, address);
    if (symbol)
        fprintf(stderr, " %s+%" PRIx64, symbol, offset);
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
    return (struct decode_context){p->pmu.version, event_name, p};
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
    char name[48], address[16], fields[1024];

    if (!want(TRACE_MSR))
        return;
    trace_msr_name(cpu, msr, name, sizeof(name));
    decode_msr_address(address, sizeof(address), msr);
    begin(cpu, cpu->rip - MSR_INSN_LENGTH);
    fprintf(stderr, "%s %s (%s)", write ? "WRMSR" : "RDMSR", name, address);
    if (write || !fault) {
        decode_msr_fields(fields, sizeof(fields), msr, value, &context);
        fprintf(stderr, " %s %" PRIX64 "H%s%s", write ? "<-" : "->", value, *fields ? "  " : "",
                fields);
    }
    fprintf(stderr, "%s\n", fault ? "  #GP" : "");
}

void trace_pmi(struct cpu *cpu, const char *what)
{
    if (!want(TRACE_PMI))
        return;
    begin(cpu, cpu->rip);
    fprintf(stderr, "PMI %s\n", what);
}

void trace_irq(struct cpu *cpu, unsigned vector, bool nmi)
{
    if (!want(TRACE_IRQ))
        return;
    begin(cpu, cpu->rip);
    if (nmi)
        fprintf(stderr, "NMI\n");
    else
        fprintf(stderr, "INTERRUPT vector %02XH\n", vector);
}

void trace_exc(struct cpu *cpu, unsigned vector, uint32_t error_code)
{
    static const char *const names[] = {"#DE", "#DB", "NMI", "#BP", "#OF", "#BR", "#UD",
                                        "#NM", "#DF", "",    "#TS", "#NP", "#SS", "#GP",
                                        "#PF", "",    "#MF", "#AC", "#MC", "#XM"};

    if (!want(TRACE_EXC))
        return;
    begin(cpu, cpu->rip);
    fprintf(stderr, "EXCEPTION %u %s error code %XH", vector,
            vector < sizeof(names) / sizeof(names[0]) ? names[vector] : "", error_code);
    if (vector == VEC_PF)
        fprintf(stderr, " CR2 %" PRIX64 "H", cpu->cr2);
    fputc('\n', stderr);
}

void trace_branch(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to)
{
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

    if (!want(TRACE_BRANCH))
        return;
    begin(cpu, from);
    fprintf(stderr, "%s -> ", names[kind]);
    target(cpu, to);
    fputc('\n', stderr);
}

void trace_insn(struct cpu *cpu, uint64_t rip, const uint8_t *bytes, unsigned length)
{
    static ZydisFormatter formatter;
    static bool ready;
    static uint64_t last_rip[MACHINE_MAX_CPUS];
    bool again;
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
    char text[128] = "?";
    bool wide = cpu->seg[SEG_CS].attr & SEG_ATTR_DB;

    if (control.has_from && !control.active && rip == control.from)
        control.active = true;
    if (control.has_to && control.active && rip == control.to) {
        control.active = false;
        /* The range is done for good, unless its beginning is met again. */
        if (!control.has_from)
            trace_on = 0;
    }
    if (!want(TRACE_INSN))
        return;
    again = last_rip[cpu->index] == rip;
    last_rip[cpu->index] = rip;
    if (!ready) {
        ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
        ready = true;
    }
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
        ZydisFormatterFormatInstruction(&formatter, &insn, op, insn.operand_count_visible, text,
                                        sizeof(text), rip, NULL);
    }
    begin(cpu, rip);
    fprintf(stderr, "%s\n", text);
}
