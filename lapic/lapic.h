/*
 * The local APIC: xAPIC (page at IA32_APIC_BASE) or x2APIC (MSRs 800H...), its timer, the LVT entry
 * of the performance counters, EOI, IPIs. SDM vol. 3 "Advanced Programmable Interrupt Controller
 * (APIC)".
 */
#ifndef PMULAB_LAPIC_H
#define PMULAB_LAPIC_H

#include <stdbool.h>
#include <stdint.h>

/* Vectors. Bits 7:4 are the priority class: the watchdog is above the PMI. */
#define LAPIC_VECTOR_LAB      0xc0 /* of experiments, which install its handler */
#define LAPIC_VECTOR_WAKE     0xd0
#define LAPIC_VECTOR_PMI      0xe0
#define LAPIC_VECTOR_IBS      0xe1 /* pmu/ibs.h */
#define LAPIC_VECTOR_TIMER    0xf0
#define LAPIC_VECTOR_ERROR    0xf1
#define LAPIC_VECTOR_SPURIOUS 0xff

enum apic_choice { APIC_AUTO, APIC_XAPIC, APIC_X2APIC };
/* How the performance counters' interrupt is delivered. */
enum pmi_mode { PMI_FIXED, PMI_NMI };

/* Enables the APIC in the mode chosen (AUTO: x2APIC where CPUID has it), masks every LVT entry but
 * the timer's and the error's, installs their handlers, calibrates the timer against the TSC. Wants
 * trap_init(), paging and time_init() done. False, with the reason in *why, when CPUID shows no
 * local APIC or the mode wished is missing. */
bool lapic_init(enum apic_choice choice, enum pmi_mode pmi, const char **why);
/* The same, in the mode that lapic_init() chose, for another processor that runs this. Its timer
 * stays masked: the deadlines below are the boot processor's. False when IA32_APIC_BASE refuses the
 * mode. */
bool lapic_init_cpu(void);
bool lapic_present(void);
bool lapic_is_x2apic(void);
/* Why lapic_init() failed, naming the CPUID or MSR bit; NULL when it did not. */
const char *lapic_why_absent(void);
/* The timer counts; without it there is neither watchdog nor alarm. */
bool lapic_has_timer(void);
uint32_t lapic_id(void);
uint32_t lapic_read(uint32_t reg); /* reg: an APIC_* offset */
void lapic_write(uint32_t reg, uint32_t value);
void lapic_eoi(void);
/* Writes EOI until no interrupt is in service: what an aborted handler left behind would block its
 * class. */
void lapic_drain(void);

/* Sends an interrupt to the processor with that local APIC ID; command is the lower half of the ICR
 * (APIC_LVT_DELIVERY_FIXED | vector, APIC_LVT_DELIVERY_NMI, APIC_ICR_INIT | APIC_ICR_LEVEL_ASSERT,
 * APIC_ICR_STARTUP | page). False when an xAPIC cannot name the ID, or the local APIC does not take
 * the command within a millisecond. SDM vol. 3 "Interrupt Command Register (ICR)". */
bool lapic_send_ipi(uint32_t apic_id, uint32_t command);

/* LVT perfmon: unmasked, with the PMI vector as fixed or as NMI: as lapic_init() was told, once. */
void lapic_pmi_setup(void);
enum pmi_mode lapic_pmi_mode(void);
/* The entry holds that: unmasked, with its delivery. Wants lapic_pmi_setup() done. */
bool lapic_pmi_ready(void);
void lapic_pmi_unmask(void);
/* The LVT has a perfmon entry (version register, Max LVT Entry >= 4). */
bool lapic_has_pmi(void);

/* The LVT entries of AMD's extended APIC space: how many; 0: there is no such space. Entry n,
 * unmasked, with that vector, or an NMI where the PMI is one too. APM vol. 2 "Extended APIC
 * Registers". */
unsigned lapic_extended_lvts(void);
void lapic_extended_setup(unsigned n, unsigned vector);

/* One-shot deadlines on the boot processor's LAPIC timer, from interrupt context; each is
 * independent of the other. On another processor the functions do nothing.
 * The watchdog's ends the experiment, and waits while the console prints; the alarm only wakes HLT
 * and calls fn (may be NULL). */
void lapic_watchdog_start(uint32_t milliseconds);
void lapic_watchdog_stop(void);
void lapic_alarm(uint32_t microseconds, void (*fn)(void));

#endif
