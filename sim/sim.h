/*
 * libpmusim: simulated machines for any program.
 *
 *     struct machine *m = sim_new(&(struct sim_options){.profile = "skylake", .cpus = 1, .memory =
 * 256 << 20}, &host, stderr); if (m && sim_load(m, &(struct sim_boot){.image = image, .size = size,
 * .cmdline = "run=15-1"}, stderr)) sim_run(m, SIM_NO_LIMIT); sim_free(m);
 *
 * A machine holds all of its state: several may exist in a process, run in turns (or each in a
 * thread of its own), and none knows of another. What a guest prints or reads and what the
 * simulator has to say while it runs goes through the host table; the library itself opens, prints,
 * reads and ends nothing.
 */
#ifndef PMUSIM_SIM_H
#define PMUSIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SIM_NO_LIMIT    UINT64_MAX
#define SIM_MAX_CPUS    8
#define SIM_MEMORY_UNIT (UINT64_C(1) << 20)
#define SIM_MEMORY_MIN  (2 * SIM_MEMORY_UNIT)
#define SIM_MEMORY_MAX  (3071 * SIM_MEMORY_UNIT) /* device pages lie above 3 GiB */

struct machine;

/* What surrounds a machine; context goes to each function. A function may be NULL: then what comes
 * is dropped, and there is no input. None may call back into the machine. */
struct sim_host {
    void *context;
    /* What the guest's serial line sent: whole lines where it can wait for their end. False: it
     * cannot be taken, and the machine stops with STOP_HOST. */
    bool (*console_out)(void *context, const char *text, size_t length);
    /* A byte for the serial line, or one of SIM_INPUT_*. Called when the guest looks; and for one
     * that would be interrupted by it, now and then. */
    int (*console_in)(void *context);
    /* There was no byte, and the guest does nothing but wait, for about so long in its own time:
     * the host may sleep as long, or until there is one. */
    void (*console_wait)(void *context, unsigned ms);
    /* A line of the trace, without its newline. False: as for console_out. */
    bool (*trace)(void *context, const char *line);
    /* Something to be known about the run: an instruction that the simulator lacks, a triple fault,
     * a chosen fault that came. One line, without newline. */
    void (*note)(void *context, const char *line);
};
enum { SIM_INPUT_NONE = -1 /* not yet */, SIM_INPUT_ENDED = -2 /* never again */ };

/* A machine before power-on. Words are as on pmusim's command line. */
struct sim_options {
    const char *profile; /* one of the built-in ones; with profile_text what messages call it */
    const char *profile_text; /* NULL: the built-in one of that name */
    const char *const *set;   /* "key=value" */
    unsigned n_set;
    const char *const *fault; /* "msr=0x38f" */
    unsigned n_fault;
    unsigned cpus;      /* 1 to SIM_MAX_CPUS */
    uint64_t memory;    /* bytes, whole MiB from SIM_MEMORY_MIN to SIM_MEMORY_MAX */
    uint64_t max_insns; /* of all processors; 0: no limit */
    uint64_t max_ns;    /* of simulated time; 0: no limit */
};

/* The kinds of trace. */
enum trace_kind {
    TRACE_MSR = 1 << 0,
    TRACE_PMI = 1 << 1,
    TRACE_IRQ = 1 << 2,
    TRACE_EXC = 1 << 3,
    TRACE_BRANCH = 1 << 4,
    TRACE_INSN = 1 << 5,
};

/* Why a machine runs no more. */
enum stop_reason {
    STOP_NONE,         /* it can go on */
    STOP_DEBUG_EXIT,   /* the guest wrote sim_exit_value() to the debug-exit port */
    STOP_TRIPLE_FAULT, /* noted */
    STOP_UNSUPPORTED,  /* an instruction or mode that the simulator lacks; noted */
    STOP_MAX_INSNS,
    STOP_MAX_TIME,
    STOP_POWER_OFF,  /* the guest switched the machine off (ACPI S5) */
    STOP_RESET,      /* the guest reset it, by port 64H or CF9H */
    STOP_ALL_HALTED, /* no processor can ever run again */
    STOP_HOST,       /* the host table refused output */
    STOP_NO_MEMORY,  /* the host has none left */
};

/* NULL, with a line on err that names what is wrong. host is copied; NULL: a host that does
 * nothing. */
struct machine *sim_new(const struct sim_options *o, const struct sim_host *host, FILE *err);
void sim_free(struct machine *m);

/* What a boot loader is given. */
struct sim_boot {
    const uint8_t *image;
    size_t size;
    const uint8_t *initrd; /* a file for the kernel, such as Linux's initial file system */
    size_t initrd_size;    /* 0: there is none */
    const char *cmdline;
};

/* Places a kernel image (Multiboot2, Multiboot, Linux or PVH, see sim/loader.h) and puts processor
 * 0 at its entry. False, with the reason on err, when the image is wrong or does not fit. Nothing
 * of what b points to is needed afterwards. */
bool sim_load(struct machine *m, const struct sim_boot *b, FILE *err);

/* The address that a word names in the loaded image: SYMBOL, FILE:SYMBOL for one that several files
 * have, or 0xADDRESS. False, with the reason on err. */
bool sim_find(const struct machine *m, const char *word, uint64_t *address, FILE *err);
/* Traces these kinds (TRACE_*), from the first execution of *from on and until that of *to; NULL:
 * from the start, to the end. Tracing changes no count. False: no memory. */
bool sim_trace(struct machine *m, unsigned kinds, const uint64_t *from, const uint64_t *to);

/* Runs for this many slots of processor time (x86: core cycles times the profile's
 * uarch.retire_width), or to the end with SIM_NO_LIMIT. How a run is cut into slices changes
 * nothing in it. */
enum stop_reason sim_run(struct machine *m, uint64_t slots);
/* Lets the processors idle until the next timer of a local APIC is due, whatever they are at: what
 * a guest waits for in a loop without end then comes at once. False: no timer is set. */
bool sim_pass_time(struct machine *m);
/* Instructions retired so far, by all processors. */
uint64_t sim_instructions(const struct machine *m);
/* Why it stopped; what the guest wrote to the debug-exit port. */
enum stop_reason sim_stop_reason(const struct machine *m);
uint8_t sim_exit_value(const struct machine *m);

/* Writes the machine's state, for sim_restore() on a machine that sim_new() made of the same
 * options with the same build of the library; in place of sim_load(). Caches, TLBs and branch
 * predictors are not in it: who wants a run that is the same whether it goes on or is loaded goes
 * on from the snapshot, too. Symbols and trace are not either. False, with the reason on err. */
bool sim_save(struct machine *m, FILE *out, FILE *err);
bool sim_restore(struct machine *m, FILE *in, FILE *err);

/* Notes each chosen fault that never came. */
void sim_note_faults(struct machine *m);

/* The guest's memory from physical address 0 on, and its size. Its code may be read, not written,
 * once it ran. */
uint8_t *sim_memory(struct machine *m, uint64_t *size);

#endif
