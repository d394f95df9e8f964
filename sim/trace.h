/* Tracing (--trace msr,pmi,irq,exc,branch,insn). Tracing changes no count. */
#ifndef PMUSIM_TRACE_H
#define PMUSIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cpu/cpu.h"
#include "sim/sim.h"

/* machine->trace. */
struct trace;
/* Traces these kinds (TRACE_*), from the first execution of *from on and until that of *to; NULL:
 * from the start, to the end. False: no memory. */
bool trace_start(struct machine *m, unsigned kinds, const uint64_t *from, const uint64_t *to);
void trace_free(struct trace *t);

/* Callers ask cpu->trace for the kind first. */
void trace_msr(struct cpu *cpu, bool write, uint32_t msr, uint64_t value, bool fault);
/* The SDM's name of an MSR ("IA32_PERFEVTSEL0"), or "MSR". */
void trace_msr_name(const struct cpu *cpu, uint32_t msr, char *buf, size_t size);
void trace_pmi(struct cpu *cpu,
               const char *what); /* "overflow IA32_PMC0", "delivered vector e0H", ... */
void trace_irq(struct cpu *cpu, unsigned vector, bool nmi);
void trace_exc(struct cpu *cpu, unsigned vector, uint32_t error_code);
void trace_branch(struct cpu *cpu, enum branch_kind kind, uint64_t from, uint64_t to);
void trace_insn(struct cpu *cpu, uint64_t rip, const uint8_t *bytes, unsigned length);

/* Symbol of a guest address, NULL when none. */
const char *sim_symbol(const struct cpu *cpu, uint64_t address, uint64_t *offset);

#endif
