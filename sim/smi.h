/*
 * System-management interrupts that a machine's firmware handles: `--fault smi=N`. There is no SMM
 * to run: an SMI comes between two instructions, whatever is masked, the time and the events of a
 * handler pass, and the program goes on where it was. SDM vol. 3 "System Management Mode".
 */
#ifndef PMUSIM_SMI_H
#define PMUSIM_SMI_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/cpu/cpu.h"
#include "sim/sim.h"

struct smi {
    uint64_t every;           /* core cycles of the program between two; 0: none */
    uint64_t insns, branches; /* of the handler; a cycle for each instruction */
    bool spoils;              /* afterwards the processor records a branch that nobody took */
    uint64_t next[SIM_MAX_CPUS];
};

/* Takes "N[:INSNS[:BRANCHES]]"; false for anything else. */
bool smi_choose(struct smi *s, const char *text);
/* The processors begin to run. */
void smi_start(struct smi *s, const struct cpu *cpu);
/* Value of cpu->now at which one is due; UINT64_MAX: none. A processor that halts takes what was
 * due meanwhile when something else has woken it. */
uint64_t smi_deadline(const struct smi *s, const struct cpu *cpu);
/* Takes it when it is due. Between two instructions. */
void smi_tick(struct smi *s, struct cpu *cpu);

#endif
