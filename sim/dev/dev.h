/* Devices: local APIC, 16550, 8254, 8259 pair, debug exit, VGA text memory, fw_cfg; the machine
 * that holds them together. */
#ifndef PMUSIM_DEV_H
#define PMUSIM_DEV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/cpu/cpu.h"
#include "sim/sim.h"

#define MACHINE_MAX_CPUS SIM_MAX_CPUS

/* What the ACPI tables say of the devices. */
#define IOAPIC_BASE    0xfec00000
#define HPET_BASE      0xfed00000
#define HPET_ID        0x8086a201 /* vendor, legacy replacement, 64 bits, 3 timers, revision 1 */
#define HPET_MIN_TICKS 128        /* of its clock; what is nearer may be missed */
#define ACPI_IOAPIC_ID SIM_MAX_CPUS
#define ACPI_SCI_IRQ   9
#define ACPI_PM_BASE   0x600
#define ACPI_PM_SIZE   12
#define ACPI_S5_TYPE   5

struct machine {
    const struct profile *profile; /* of processor 0: its slots are the machine's time */
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
    struct sim_host host;
    struct profile *own_profiles; /* freed with the machine; NULL: profile is another's */
    struct symbols *symbols;      /* of the guest; NULL: none */
    struct trace *trace;          /* NULL: never asked for */
    struct faults *faults;        /* NULL: none chosen */
    /* The round in which the processors have their turns, so that a run can be cut anywhere. */
    struct {
        bool open, in_turn;
        unsigned cpu;                       /* whose turn it is, or comes next */
        uint64_t first, quantum_end, until; /* until: the end of the turn */
    } round;
};

/* p: of each of its kinds of core the profile, in their order (profile.h). They must outlive the
 * machine. NULL: no memory. */
struct machine *machine_new(const struct profile *p, unsigned n_cpus, uint64_t ram_size);
void machine_free(struct machine *m);
/* Runs all processors round-robin by simulated time for this many slots of processor time, or until
 * machine->stop is set. */
void machine_run(struct machine *m, uint64_t slots);
/* sim_pass_time() and sim_instructions(). */
bool machine_pass_time(struct machine *m);
uint64_t machine_instructions(const struct machine *m);
/* The processor's clock, in slots of the machine's time: those of another processor may be longer
 * or shorter. */
uint64_t machine_time(const struct cpu *cpu);
/* Lets a processor idle until that machine's time, if it is before it. */
void machine_idle_until(struct cpu *cpu, uint64_t time);
/* The value of now at which a timer of the processor's local APIC is due, a device, or what --fault
 * has come; UINT64_MAX: none. machine_tick does what is due. */
uint64_t machine_deadline(const struct cpu *cpu);
void machine_tick(struct cpu *cpu);
/* A processor reaches another one at this point of the machine's time: one that idles goes on from
 * here, and it is its turn now. */
void machine_reach(struct cpu *from, struct cpu *to);
/* Processors run one after the other, so that one sees what another has stored later. Who reads the
 * time must not notice: the one that is ahead ends its turn, and reads when it is not. True: now is
 * not yet the time. */
bool machine_lets_others_catch_up(struct cpu *cpu);
/* Do all processors wait? */
bool machine_idles(const struct machine *m);
/* Can anything but another processor ever wake this one? */
bool machine_wakes(struct cpu *cpu);
/* Sets machine->stop and makes every processor leave cpu_run. */
void machine_stop(struct machine *m, enum stop_reason reason);

/* Gives the host a note (sim_host.note). */
void machine_note(struct machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Hands the host what the guest has printed so far. */
void machine_flush(struct machine *m);

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
/* What of it a snapshot has: all but its links. */
void *lapic_state(struct lapic *l, size_t *size);
bool lapic_rdmsr(struct lapic *l, uint32_t msr,
                 uint64_t *value); /* IA32_APIC_BASE, TSC_DEADLINE, 800H-8FFH; false: #GP */
bool lapic_wrmsr(struct lapic *l, uint32_t msr, uint64_t value);
/* The performance counters' request: goes through LVT perfmon, which masks itself. */
void lapic_pmi(struct lapic *l);
/* The same without the faults of --fault; true when it was delivered (enabled and not masked). */
bool lapic_pmi_raise(struct lapic *l);
/* An interrupt by that entry of AMD's extended LVT. */
void lapic_extended(struct lapic *l, unsigned entry);
/* Is there an interrupt for the processor, above its priority or from the 8259s? lapic_ack takes
 * it: its vector. */
bool lapic_pending(struct lapic *l);
uint8_t lapic_ack(struct lapic *l);
/* Timer: next expiry as a value of cpu->now (UINT64_MAX: none), or what --fault has come before;
 * lapic_tick fires what is due. */
uint64_t lapic_deadline(struct lapic *l);
void lapic_tick(struct lapic *l);
/* CR8 is bits 7:4 of the TPR. */
void lapic_set_tpr(struct lapic *l, uint8_t tpr);
uint8_t lapic_get_tpr(const struct lapic *l);

#endif
