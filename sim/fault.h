/*
 * Faults: machines that differ from the manual, for testing what software makes of them. `--fault
 * WORD` may be given several times; all that the words mean stands in one table in fault.c.
 *
 * Accesses are numbered and periods run by simulated time, so a faulty machine is as deterministic
 * as a good one.
 */
#ifndef PMUSIM_FAULT_H
#define PMUSIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/cpu/cpu.h"

/* What was chosen for a machine, and what of it has come: machine->faults, NULL for one as the
 * manual has it. */
struct faults;
struct faults *faults_new(void); /* NULL: no memory */
void faults_free(struct faults *f);
/* Takes words such as "msr=0x38f" or "pmi=lost:3,no-apic"; false, with a message, for a bad one. */
bool fault_choose(struct faults *f, const char *words, FILE *err);
void fault_list(FILE *out);

/* Changes what CPUID announces: after all assignments, before profile_finish(). */
void fault_profile(const struct faults *f, struct profile *p);
/* Where the boot information says that a linear framebuffer is; 0: there is a text screen. */
uint64_t fault_framebuffer(const struct machine *m);
/* Memory from 1 MiB on that the loader cannot have for the kernel, as --fault memory= says. */
struct fault_memory {
    uint64_t end;  /* 0: all is free */
    bool for_good; /* the memory map says so; else it is free once the kernel runs */
};
struct fault_memory fault_memory(const struct machine *m);
/* Puts the processors into the state that a careless firmware leaves. */
void fault_firmware(struct machine *m);
/* Notes what chosen fault never came; at the end of the run. */
void fault_report(struct machine *m);

enum fault_access { FAULT_NONE, FAULT_GP, FAULT_VE, FAULT_IGNORED };
/* What becomes of the RDMSR or WRMSR that is about to be executed. Counts it. */
enum fault_access fault_msr(struct cpu *cpu, uint32_t msr, bool write);
/* Does CPUID of that leaf raise #VE? And is this a guest that has to ask what a #VE was about? */
bool fault_cpuid(const struct cpu *cpu, uint32_t leaf);
bool fault_trust_domain(const struct cpu *cpu);
/* The same for RDPMC, where only GP is possible. */
enum fault_access fault_rdpmc(const struct cpu *cpu, uint32_t selector);
/* How often the PMI that a counter asks for arrives: 0, 1 or 2; the second time the local APIC is
 * asked by fault_tick(). */
unsigned fault_pmi(struct cpu *cpu);

/* What some hypervisors do between the processor and their guest. */
enum fault_hypervisor {
    FAULT_HV_LVT_OPEN = 1 << 0,   /* no mask bit in LVT perfmon when a PMI is delivered */
    FAULT_HV_UNCOUNTED = 1 << 1,  /* what it executes for the guest is in no count */
    FAULT_HV_INJECTS_DB = 1 << 2, /* SDM vol. 3 "Event Injection" in place of a debug exception */
    FAULT_HV_FIXED_DROPS = 1 << 3 /* what is past a fixed counter's width is no #GP, but dropped */
};
bool fault_hypervisor(const struct cpu *cpu, enum fault_hypervisor kind);

/* Does this processor ignore startup IPIs? */
bool fault_no_startup(const struct cpu *cpu);

/* Value of cpu->now at which an NMI or a PMI comes out of nowhere; UINT64_MAX: none. */
uint64_t fault_deadline(const struct cpu *cpu);
/* Lets what is due arrive. */
void fault_tick(struct cpu *cpu);

#endif
