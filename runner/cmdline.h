/* The kernel's command line (design, "Command line"). Pure: no hardware, so the host tests compile
 * it. */
#ifndef PMULAB_CMDLINE_H
#define PMULAB_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/ending.h"
#include "kernel/time.h"
#include "lapic/lapic.h"

#define CMDLINE_MAX_SELECT 128
#define CMDLINE_MAX_ERRORS 8
#define CMDLINE_WORD       48

struct cmdline {
    char select[CMDLINE_MAX_SELECT][16]; /* run=: "15-3", "14-*"; empty list means all */
    unsigned n_select;
    bool list;                        /* list: print the experiments and run nothing */
    bool menu;                        /* menu, menu=SECONDS: the kernel's own menu */
    uint32_t menu_seconds;            /* how long it waits for the first key; 0: for ever */
    bool trace_msr;                   /* trace=msr */
    enum pmi_mode pmi;                /* pmi=fixed|nmi */
    enum apic_choice apic;            /* apic=x2apic|xapic; AUTO when not said */
    enum clock_choice clock;          /* clock=: what tells the TSC's frequency */
    bool console_serial, console_vga; /* console=serial,vga; both on when not said */
    uint16_t serial_port;             /* serial=0x3f8,115200 */
    uint32_t serial_baud;
    uint32_t watchdog_ms; /* watchdog=MS: how long an experiment may take, 10 to 60000 */
    enum ending end;      /* end=halt|poweroff|reboot: what the machine does after the run */
    bool selftest;        /* selftest: offer the experiments 0-* that break on purpose */
    unsigned n_errors; /* words that were not understood; more than the maximum are only counted */
    char errors[CMDLINE_MAX_ERRORS]
               [2 * CMDLINE_WORD + 64]; /* "pmi=maybe: pmi takes fixed or nmi" */
};

/* Fills in the defaults, then reads text (may be empty, never NULL). Returns n_errors == 0. Whether
 * an experiment that run= names exists is the runner's to say, not this parser's. */
bool cmdline_parse(struct cmdline *cl, const char *text);

/* Adds an error: what was read is not all that was said. */
void cmdline_refuse(struct cmdline *cl, const char *why);

/* Does the list select the experiment with this number ("15-3")? An empty list selects all. */
bool cmdline_selects(const struct cmdline *cl, const char *id);

#endif
