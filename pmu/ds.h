/*
 * The debug store (DS): the memory in which the processor keeps branch trace (BTS) and precise
 * sampling (PEBS) records. A management area of quadwords, to which IA32_DS_AREA points, says where
 * the two buffers lie. SDM vol. 3 "BTS and DS Save Area", "64 Bit Format of the DS Save Area",
 * "Setting Up the DS Save Area", "Setting Up the PEBS Buffer".
 */
#ifndef PMULAB_DS_H
#define PMULAB_DS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DS_REASON   128
#define DS_RESETS   48 /* PEBS reset values, in the order of pebs_reset_index() */
#define DS_CIRCULAR 0  /* a threshold that is never reached */

/* One buffer of the management area. All are linear addresses. */
struct ds_buffer {
    uint64_t base;      /* first byte */
    uint64_t index;     /* where the next record goes; software sets it back */
    uint64_t maximum;   /* first byte past the end ("absolute maximum") */
    uint64_t threshold; /* when the index reaches this, an interrupt is asked for */
};

/* The management area as the processor reads it. */
struct ds_area {
    struct ds_buffer bts, pebs;
    uint64_t reset[DS_RESETS]; /* value that a counter is reloaded with after its PEBS record */
};

/* ---- The layout: pure, also compiled for the host's unit tests ---- */

/* What a buffer is to be. */
struct ds_buffer_plan {
    uint64_t base;      /* linear address of its memory */
    uint64_t size;      /* bytes of memory there */
    unsigned record;    /* bytes of a record */
    unsigned records;   /* room for so many; 0: no such buffer */
    unsigned threshold; /* interrupt when so many are written, 1 to records; or DS_CIRCULAR */
};

struct ds_plan {
    uint64_t area; /* linear address of the management area */
    struct ds_buffer_plan bts, pebs;
    uint64_t code_start, code_end;   /* no part of the area may share a page with code */
    bool (*writable)(uint64_t page); /* is the 4 KiB page mapped for writing? */
};

/* Fills *area from the plan, reset values 0. False, and why[] says which rule of the manual the
 * plan breaks: too small, misaligned, wrapping, not canonical, overlapping, with code in the page,
 * not mapped. */
bool ds_lay_out(const struct ds_plan *plan, struct ds_area *area, char why[DS_REASON]);

/* ---- This processor's debug store ---- */

/* How many records each buffer takes, and at how many it asks for an interrupt (DS_CIRCULAR: never;
 * PEBS buffers are not circular, they just fill). 0 records: no such buffer. */
struct ds_setup {
    unsigned bts_records, bts_threshold;
    unsigned pebs_records, pebs_threshold;
};

/* Lays out this processor's own buffers, clears them (which also marks their pages accessed and
 * dirty, as the manual demands), writes IA32_DS_AREA and reads it back. BTS and PEBS must be off.
 * NULL, or why it was refused; the text lives until the next call. */
const char *ds_setup(const struct ds_setup *setup);

/* The area that ds_setup() made, or NULL when there is none. */
struct ds_area *ds_area(void);

/* Takes the area away: IA32_DS_AREA = 0. BTS and PEBS must be off. */
void ds_reset(void);

/* The buffer's index has reached its threshold: the only sign of a full buffer that every processor
 * gives (SDM vol. 3 "Writing the DS Interrupt Service Routine"). */
bool ds_buffer_full(const struct ds_buffer *buffer);

/* Sets the index back, so that the records are not taken for new ones again. Clears the memory, so
 * that a record that was not written is seen. */
void ds_buffer_drain(struct ds_buffer *buffer);

/* Prints the management area as '#' lines, each pointer explained. */
void ds_dump(const char *title);

#endif
