/*
 * MSR access. Every access of the kernel goes through here, so that each can be traced (trace=msr)
 * and the ones that may fault are caught (SDM vol. 2 "RDMSR", "WRMSR": #GP on a reserved address or
 * bit). The exceptions are the counting window (pmu/window.S), which records its two writes itself,
 * and the loops that measure what an access costs (lab/bodies.h).
 */
#ifndef PMULAB_MSR_H
#define PMULAB_MSR_H

#include <stdbool.h>
#include <stdint.h>

/* For MSRs known to exist: a #GP here is an unexpected exception and ends the experiment. */
uint64_t rdmsr(uint32_t msr);
void wrmsr(uint32_t msr, uint64_t value);

/* False when the access raised #GP (then *value is left alone / nothing was written). */
bool rdmsr_safe(uint32_t msr, uint64_t *value);
bool wrmsr_safe(uint32_t msr, uint64_t value);

/* Does the register take the value and give it back? It is 0 afterwards. Never faults. */
bool msr_holds(uint32_t msr, uint64_t value);

/* RDPMC with ECX = selector. The safe form is false when it raised #GP. */
uint64_t rdpmc(uint32_t selector);
bool rdpmc_safe(uint32_t selector, uint64_t *value);

/* The trace: a ring of the newest accesses, kept in memory, printed by the runner after an
 * experiment. */
enum msr_access_kind { MSR_READ, MSR_WRITE, MSR_RDPMC };
struct msr_access {
    uint64_t rip, value;
    uint32_t msr;
    uint8_t kind;
    bool faulted;
    uint8_t cpu; /* the processor that made it */
};
void msr_trace_enable(bool on);
void msr_trace_reset(void);
void msr_trace_record(enum msr_access_kind kind, uint32_t msr, uint64_t value, bool faulted,
                      uint64_t rip);
/* Calls fn for each kept access, oldest first; returns how many older ones were overwritten. */
uint64_t msr_trace_each(void (*fn)(const struct msr_access *access, void *arg), void *arg);

#endif
