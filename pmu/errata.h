/*
 * What processors are known to do against the manual, as data: the table in errata.c. The driver
 * asks it for what needs a work-around or must not be relied on; the runner names what explains a
 * `not ok`; docs/real-hardware.md shows all of it. An erratum never makes a check ok.
 *
 * Table and lookup are pure, also compiled for the host. errata_here.c asks this processor.
 */
#ifndef PMULAB_ERRATA_H
#define PMULAB_ERRATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ERRATA_TEXT 96 /* bytes for a condition in words */

/* Processors of Intel's family 6, or of one of AMD's: a model's steppings from first to last, and
 * the microcode revision from which on they are right: 0 when none mends them. */
struct erratum_machine {
    uint8_t model, first, last;
    uint32_t fixed_from;
};

/* What the driver does about it. */
enum erratum_use {
    ERRATUM_NAMED,        /* nothing */
    ERRATUM_COUNTERS,     /* resets the general counters: pmu/errata_here.c */
    ERRATUM_LBR_UNFROZEN, /* FREEZE_LBRS_ON_PMI is not relied on: a SKIP */
};

struct erratum {
    /* Its numbers in the processors' specification updates; where no public one is known, the name
     * that Linux has for it. */
    const char *number;
    const char *processors;
    const char *what;
    /* Experiments that it makes fail, "15-4,15-*"; "" when none of them meets it. */
    const char *shows_in;
    const char *source;
    enum erratum_use use;
    uint32_t amd_family;                    /* 0: Intel's family 6 */
    const struct erratum_machine *machines; /* ended by one of model 0 */
};

extern const struct erratum errata[];
extern const size_t n_errata;

/* Who is asked about. */
struct erratum_cpu {
    bool intel, amd;
    uint32_t family, model, stepping;
    bool guest;         /* the revision is what a hypervisor says */
    bool known;         /* there is a revision */
    uint32_t microcode; /* 0: no update is loaded */
};

enum erratum_applies {
    ERRATUM_NOT,
    ERRATUM_PERHAPS, /* by family, model and stepping, and the revision cannot be known */
    ERRATUM_APPLIES,
};
/* Does it? By which row, in *row (NULL: not asked for). */
enum erratum_applies erratum_applies(const struct erratum *e, const struct erratum_cpu *cpu,
                                     const struct erratum_machine **row);
/* Can it make that experiment ("15-4") fail? */
bool erratum_shows_in(const struct erratum *e, const char *experiment);
/* A row's condition in words: "model 0x1c before stepping 10", "model 0x2a stepping 7, microcode
 * before 0x28". */
void erratum_condition(const struct erratum_machine *row, char text[ERRATA_TEXT]);

/* ---- errata_here.c: on this processor. After errata_init(), from any processor. ---- */

/* Finds out which processor this is. */
void errata_init(void);
/* The first erratum with that use that applies, or perhaps applies, here; NULL: none. */
const struct erratum *errata_here(enum erratum_use use, char condition[ERRATA_TEXT]);
/* One '#' line for each erratum that can explain why that experiment is not ok. */
void errata_explain(const char *experiment);
/* The numbers of those that apply here, "AAK100, AAP53, BD53; AAJ80"; one that perhaps applies has
 * a question mark; "" when there are none. Cut at size. */
void errata_list(char *text, size_t size);
/* The work-around of ERRATUM_COUNTERS, on a processor that needs it, with its counters and PEBS
 * off: their selects and values are 0 afterwards. */
void errata_reset_counters(void);

#endif
