/* Devices: local APIC, 16550, 8254, 8259 pair, debug exit, VGA text memory, fw_cfg; the machine
 * that holds them together. */
#ifndef PMUSIM_DEV_H
#define PMUSIM_DEV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/cpu/cpu.h"

#define MACHINE_MAX_CPUS 8

enum stop_reason {
    STOP_NONE,
    STOP_DEBUG_EXIT, /* machine->exit_value holds what was written */
    STOP_TRIPLE_FAULT,
    STOP_UNSUPPORTED, /* an instruction or mode that the simulator lacks; already reported */
    STOP_MAX_INSNS,
    STOP_MAX_TIME,   /* max_slots reached */
    STOP_ALL_HALTED, /* no processor can ever run again */
    STOP_BROKEN_PIPE,
};

struct machine {
    const struct profile *profile;
    uint8_t *ram;      /* physical 0 to ram_size; the hole A0000H-FFFFFH is VGA memory and ROM
                          (machine_write ignores ROM) */
    uint64_t ram_size; /* below 3 GiB, so that device pages are above it */
    uint64_t rom_start, rom_end; /* stores by the guest are ignored here */
    unsigned n_cpus;
    struct cpu *cpus[MACHINE_MAX_CPUS];
    enum stop_reason stop;
    uint8_t exit_value;
    uint64_t max_insns; /* 0: no limit */
    uint64_t max_slots; /* 0: no limit of simulated time */
    void *devices;
    struct symbols *symbols; /* of the guest; NULL: none */
};

struct machine *machine_new(const struct profile *p, unsigned n_cpus, uint64_t ram_size);
void machine_free(struct machine *m);
/* Runs all processors round-robin by simulated time until machine->stop is set. */
void machine_run(struct machine *m);
/* Can anything but another processor ever wake this one? */
bool machine_wakes(struct cpu *cpu);
/* Sets machine->stop and makes every processor leave cpu_run. */
void machine_stop(struct machine *m, enum stop_reason reason);

/* Physical memory. The interpreter reaches RAM directly: NULL when the page is not plain RAM (then
 * use the access functions). *writable is false for ROM. The pointer is to the first byte of the 4
 * KiB page. */
uint8_t *machine_ram_page(struct machine *m, uint64_t physical, bool *writable);
/* Device and other accesses of 1, 2, 4 or 8 bytes within one page; reads of nothing give all ones,
 * writes to nothing are lost. */
uint64_t machine_read(struct cpu *cpu, uint64_t physical, unsigned bytes);
void machine_write(struct cpu *cpu, uint64_t physical, unsigned bytes, uint64_t value);
/* I/O ports, 1, 2 or 4 bytes; nothing there: all ones. */
uint32_t machine_in(struct cpu *cpu, uint16_t port, unsigned bytes);
void machine_out(struct cpu *cpu, uint16_t port, unsigned bytes, uint32_t value);

/* A processor's local APIC, SDM vol. 3 "Advanced Programmable Interrupt Controller (APIC)". */
struct lapic *lapic_new(struct cpu *cpu);
void lapic_free(struct lapic *l);
void lapic_reset(struct lapic *l, bool init);
bool lapic_rdmsr(struct lapic *l, uint32_t msr,
                 uint64_t *value); /* IA32_APIC_BASE, TSC_DEADLINE, 800H-8FFH; false: #GP */
bool lapic_wrmsr(struct lapic *l, uint32_t msr, uint64_t value);
/* The performance counters' request: goes through LVT perfmon, which masks itself. */
void lapic_pmi(struct lapic *l);
/* The same without the faults of --fault; true when it was delivered (enabled and not masked). */
bool lapic_pmi_raise(struct lapic *l);
/* Highest deliverable vector, above the processor priority; -1: none. lapic_ack moves it from IRR
 * to ISR. */
int lapic_pending(struct lapic *l);
int lapic_ack(struct lapic *l);
/* Timer: next expiry as a value of cpu->now (UINT64_MAX: none), or what --fault has come before;
 * lapic_tick fires what is due. */
uint64_t lapic_deadline(const struct lapic *l);
void lapic_tick(struct lapic *l);
/* CR8 is bits 7:4 of the TPR. */
void lapic_set_tpr(struct lapic *l, uint8_t tpr);
uint8_t lapic_get_tpr(const struct lapic *l);

#endif
