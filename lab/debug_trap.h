/* #DB under the experiments' control: an entry without a branch, and stepping through a function.
 */
#ifndef PMULAB_DEBUG_TRAP_H
#define PMULAB_DEBUG_TRAP_H

#include <stdint.h>

#include "pmu/window.h"

/* For trap_set_entry(VEC_DB, ...). Writes down what it finds, sets IA32_DEBUGCTL and the MSR
 * debug_trap_switch, which must be set beforehand, to 0 and lets the instruction run. */
extern const char debug_trap_entry[];
struct debug_trap {
    uint64_t count, debugctl, dr6, rip, control; /* of the last one; the value of the switch */
};
extern struct debug_trap debug_trap;
extern uint32_t debug_trap_switch;

/* What a hypervisor puts in the place of a #DB that it has intercepted: SDM vol. 3 "Details of
 * Vectored-Event Injection". KVM does so, and does no more. */
#define DEBUG_INJECTED                                                                             \
    "a #DB that a hypervisor injects is recorded, and leaves LBR and BTF set (KVM)"

/* Runs body(0) with RFLAGS.TF set and interrupts off. TF is on from the call at debug_step_call to
 * the POPF that ends it, the instructions of which are debug_step_insns. */
void debug_step(window_body body);
extern const char debug_step_call[], debug_step_return[];
extern const uint64_t debug_step_insns;

#endif
