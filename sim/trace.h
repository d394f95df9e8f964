/* Tracing (--trace msr,pmi,irq,exc,branch,insn) and the guest's symbols. Tracing changes no count.
 */
#ifndef PMUSIM_TRACE_H
#define PMUSIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cpu/cpu.h"

enum trace_kind {
    TRACE_MSR = 1 << 0,
    TRACE_PMI = 1 << 1,
    TRACE_IRQ = 1 << 2,
    TRACE_EXC = 1 << 3,
    TRACE_BRANCH = 1 << 4,
    TRACE_INSN = 1 << 5,
};
/* Kinds switched on now (0 outside --trace-from/--trace-to). Callers test it before they call a
 * trace function. */
extern unsigned trace_on;

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
